/** What can be done to runs. */
import { commandAbout } from '../words/commands.ts';
import { type Action, type ActionEdit, callPath } from './actions.ts';
import type { RunDetails } from './shapes.ts';

/** What makes sense where a run stands, the main one first. */
export function runActions(run: RunDetails): readonly Action[] {
  const { id, state, paused } = run;
  if (state === 'failed') return [resumeFailed(run), rerunRun(run)];
  if (state === 'finished' || state === 'canceled') return [rerunRun(run)];
  const toggle =
    paused === undefined
      ? pauseRun(id)
      : resumeRun(id, 'Its nodes start again, where they stopped.');
  return [toggle, cancelRun(run)];
}

function resumeRun(id: string, about: string): Action {
  return {
    name: 'Resume',
    icon: 'again',
    about,
    needs: 'redrive',
    method: 'POST',
    path: callPath('runs', id, 'resume'),
    command: commandAbout(id, 'runs', 'resume'),
  };
}

/** A node at which it failed may get another input; groups have none. */
function resumeFailed({ id, nodes }: RunDetails): Action {
  const resume = resumeRun(id, 'What has failed runs again; what has finished is kept.');
  const names = nodesThat(nodes, (state) => state === 'failed');
  if (names.length === 0) return resume;
  const edit: ActionEdit = {
    label: 'Input, as JSON',
    hint: '',
    text: '',
    nodes: { key: 'node', label: 'Node that failed', names, none: '', isNeeded: true },
    command: ({ node, input }) =>
      commandAbout(id, 'runs', 'resume', ...flagsOf('--node', node, input)),
  };
  return { ...resume, edit };
}

function nodesThat(
  nodes: RunDetails['nodes'],
  isWanted: (state: string) => boolean,
): readonly string[] {
  return nodes.flatMap(({ node, state }) => {
    const isTask = !node.startsWith('~') && !node.includes('/');
    return isTask && isWanted(state) ? [node] : [];
  });
}

function flagsOf(
  flag: string,
  node: string | undefined,
  input: string | undefined,
): readonly string[] {
  return [
    ...(node === undefined ? [] : [flag, node]),
    ...(input === undefined ? [] : ['--input', input]),
  ];
}

function rerunRun({ id, input, nodes }: RunDetails): Action {
  return {
    name: 'Run again',
    icon: 'play',
    about:
      'It runs again as a new run. What has finished is not run again where it need not; with another input it begins anew.',
    edit: {
      label: 'Input, as JSON',
      hint: 'As it is, or empty: the same input.',
      text: input === undefined ? '' : JSON.stringify(input, null, 2),
      nodes: {
        key: 'from',
        label: 'From',
        names: nodesThat(nodes, () => true),
        none: 'what has not finished',
        isNeeded: false,
      },
      command: ({ node, input: word }) =>
        commandAbout(id, 'runs', 'rerun', ...flagsOf('--from', node, word)),
    },
    needs: 'enqueue',
    method: 'POST',
    path: callPath('runs', id, 'rerun'),
    command: commandAbout(id, 'runs', 'rerun'),
    leads: (answer) => `#/runs/${encodeURIComponent(answer.id ?? id)}`,
  };
}

function pauseRun(id: string): Action {
  return {
    name: 'Pause',
    icon: 'paused',
    about: 'Nothing more of it starts until it is resumed; what runs goes on.',
    needs: 'pause',
    method: 'POST',
    path: callPath('runs', id, 'pause'),
    command: commandAbout(id, 'runs', 'pause'),
  };
}

function cancelRun({ id, nodes }: RunDetails): Action {
  const open = nodes.filter(
    ({ state }) => !['finished', 'failed', 'canceled', 'gone', 'skipped'].includes(state),
  );
  return {
    name: 'Cancel',
    icon: 'canceled',
    about: `It ends as canceled, with its ${open.length} nodes that have not ended; running ones are asked to stop.`,
    needs: 'cancel',
    method: 'POST',
    path: callPath('runs', id, 'cancel'),
    command: commandAbout(id, 'runs', 'cancel'),
    isDestructive: true,
    count: open.length,
  };
}
