/** Changes of what holds for users and queues, by what was written into a form. */
import { commandAbout } from '../words/commands.ts';
import { type Action, callPath } from './actions.ts';
import { queueChange, type Texts, userChange } from './setting-changes.ts';

/** Weight and limits of a user in one queue. */
export function changeUser(user: string, queue: string, before: Texts, after: Texts): Action {
  const { body, flags } = userChange(before, after);
  return {
    name: 'Change',
    icon: 'weight',
    about: `It holds for the next turn of ${user} in ${queue}; what runs goes on.`,
    needs: 'configure',
    method: 'PATCH',
    path: `${callPath('users', user)}?${new URLSearchParams({ queue })}`,
    body,
    command: commandAbout(user, 'users', 'set', '--queue', queue, ...flags),
  };
}

/** Settings of a queue, and of its users without settings of their own. */
export function changeQueue(queue: string, before: Texts, after: Texts): Action {
  const { body, flags } = queueChange(before, after);
  return {
    name: 'Change',
    icon: 'limit',
    about: `It holds for the next turn in ${queue}; what runs goes on.`,
    needs: 'configure',
    method: 'PATCH',
    path: callPath('queues', queue),
    body,
    command: commandAbout(queue, 'queues', 'set', ...flags),
  };
}
