/** What can be done to tasks. */
import { commandAbout } from '../words/commands.ts';
import { type Action, callPath } from './actions.ts';
import type { TaskDetails } from './shapes.ts';

/** What makes sense in the state of a task, the main one first. */
export function taskActions(task: TaskDetails): readonly Action[] {
  switch (task.state) {
    case 'failed':
      return [redriveTask(task.id), removeTask(task.id)];
    case 'finished':
    case 'canceled':
      return [removeTask(task.id)];
    case 'scheduled':
      return [runTaskNow(task.id), cancelTask(task)];
    default:
      return [cancelTask(task)];
  }
}

function redriveTask(id: string): Action {
  return {
    name: 'Redrive',
    icon: 'again',
    about:
      'It goes back to the end of its line, with fresh attempts. Those that wait for it go on when it has finished.',
    needs: 'redrive',
    method: 'POST',
    path: callPath('tasks', id, 'redrive'),
    command: commandAbout(id, 'tasks', 'redrive'),
  };
}

function cancelTask({ id, state, dependents }: TaskDetails): Action {
  const others = dependents === undefined ? 0 : dependents.count;
  const follows = others === 0 ? '' : ` ${others} that wait for it may end with it.`;
  const what =
    state === 'started'
      ? 'Its handler is asked to stop, and it ends as canceled when that has.'
      : 'It ends as canceled, and never starts.';
  return {
    name: 'Cancel',
    icon: 'canceled',
    about: `${what}${follows}`,
    needs: 'cancel',
    method: 'POST',
    path: callPath('tasks', id, 'cancel'),
    command: commandAbout(id, 'tasks', 'cancel'),
    isDestructive: true,
    count: 1 + others,
  };
}

function runTaskNow(id: string): Action {
  return {
    name: 'Run now',
    icon: 'play',
    about: 'It is due at once, and takes its place in line.',
    needs: 'run-now',
    method: 'POST',
    path: callPath('tasks', id, 'run-now'),
    command: commandAbout(id, 'tasks', 'run-now'),
  };
}

function removeTask(id: string): Action {
  return {
    name: 'Remove',
    icon: 'close',
    about: 'Its record goes for good, with its attempts, its log, its input and its result.',
    needs: 'remove',
    method: 'POST',
    path: callPath('tasks', id, 'remove'),
    command: commandAbout(id, 'tasks', 'remove'),
    isDestructive: true,
    leads: () => '#/tasks',
  };
}
