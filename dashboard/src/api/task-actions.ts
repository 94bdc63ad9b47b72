/** What can be done to tasks. */
import { commandAbout, commandText } from '../words/commands.ts';
import { type Action, callPath } from './actions.ts';
import type { TaskDetails } from './shapes.ts';

/** What makes sense in the state of a task, the main one first. */
export function taskActions(task: TaskDetails): readonly Action[] {
  switch (task.state) {
    case 'failed':
      return [redriveTask(task.id), ...enqueueAgain(task), removeTask(task.id)];
    case 'finished':
    case 'canceled':
      return [...enqueueAgain(task), removeTask(task.id)];
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

const PRIORITIES = ['very-low', 'low', 'normal', 'high', 'very-high', 'critical'] as const;

/** What is stored for a run is enqueued with that run alone. */
function enqueueAgain({
  id,
  name,
  user,
  queue,
  priority: level,
  input,
}: TaskDetails): readonly Action[] {
  if (id.startsWith('~') || name.startsWith('~')) return [];
  const priority = PRIORITIES[level - 1] ?? 'normal';
  const flags = ['--user', user, '--queue', queue, '--priority', priority];
  const body = { name, user, queue, priority };
  const text = input === undefined ? '' : JSON.stringify(input, null, 2);
  return [
    {
      name: 'Enqueue again',
      icon: 'play',
      about: `A new ${name} goes to the end of the line of ${user}, with its own attempts. This one stays as it is.`,
      needs: 'enqueue',
      method: 'POST',
      path: 'tasks',
      body,
      command: commandText('enqueue', name, ...flags),
      edit: {
        label: 'Input, as JSON',
        hint:
          input === undefined
            ? 'It had none, or it is not shown here. Empty: without one.'
            : 'Empty: without one.',
        text,
        isWhole: true,
        command: ({ input: word }) =>
          commandText(
            'enqueue',
            ...flags,
            ...(word?.startsWith('-') === true ? ['--'] : []),
            name,
            ...(word === undefined ? [] : [word]),
          ),
      },
      leads: (answer) => `#/tasks/${encodeURIComponent(answer.id ?? id)}`,
    },
  ];
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
