/** What can be done to runs. */
import { commandAbout } from '../words/commands.ts';
import { type Action, callPath } from './actions.ts';
import type { RunDetails } from './shapes.ts';

/** What makes sense where a run stands, the main one first. */
export function runActions(run: RunDetails): readonly Action[] {
  const { id, state, paused } = run;
  if (state === 'failed')
    return [resumeRun(id, 'What has failed runs again; what has finished is kept.'), rerunRun(id)];
  if (state === 'finished' || state === 'canceled') return [rerunRun(id)];
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

function rerunRun(id: string): Action {
  return {
    name: 'Run again',
    icon: 'play',
    about:
      'It runs again as a new run, with the same input. What has finished is not run again where it need not.',
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
