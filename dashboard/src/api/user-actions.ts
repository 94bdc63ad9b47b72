/** What can be done to users and queues. */
import { commandAbout } from '../words/commands.ts';
import { countOf } from '../words/numbers.ts';
import { type Action, callPath } from './actions.ts';

/** Starts nothing more of a user. */
export function pauseUser(user: string, queue: string): Action {
  return {
    name: 'Pause',
    icon: 'paused',
    about: `Nothing more of ${user} starts in ${queue}; what runs goes on. The others take its turns, and none is made up for later.`,
    needs: 'pause',
    method: 'POST',
    path: inQueue(callPath('users', user, 'pause'), queue),
    command: commandAbout(user, 'users', 'pause', '--queue', queue),
  };
}

/** Lets it go on. */
export function resumeUser(user: string, queue: string): Action {
  return {
    name: 'Resume',
    icon: 'play',
    about: `${user} takes turns in ${queue} again, from now on.`,
    needs: 'pause',
    method: 'POST',
    path: inQueue(callPath('users', user, 'resume'), queue),
    command: commandAbout(user, 'users', 'resume', '--queue', queue),
  };
}

/** Starts nothing more of a queue. */
export function pauseQueue(queue: string, queued: number): Action {
  return {
    name: 'Pause',
    icon: 'paused',
    about: `Nothing more of ${queue} starts: ${countOf(queued, 'task')} in line wait. What runs goes on.`,
    needs: 'pause',
    method: 'POST',
    path: callPath('queues', queue, 'pause'),
    command: commandAbout(queue, 'queues', 'pause'),
  };
}

/** Lets it go on. */
export function resumeQueue(queue: string): Action {
  return {
    name: 'Resume',
    icon: 'play',
    about: `Tasks of ${queue} start again.`,
    needs: 'pause',
    method: 'POST',
    path: callPath('queues', queue, 'resume'),
    command: commandAbout(queue, 'queues', 'resume'),
  };
}

function inQueue(path: string, queue: string): string {
  return `${path}?${new URLSearchParams({ queue })}`;
}
