/** What can be done to schedules. */
import { commandAbout } from '../words/commands.ts';
import { type Action, callPath } from './actions.ts';
import type { ScheduleInfo } from './shapes.ts';

/** What makes sense where a schedule stands. */
export function scheduleActions({ id, state, task }: ScheduleInfo): readonly Action[] {
  const toggle = state === 'paused' ? resume(id) : pause(id);
  return state === 'over' ? [fire(id, task)] : [fire(id, task), toggle];
}

function fire(id: string, task: string): Action {
  return {
    name: 'Run now',
    icon: 'play',
    about: `It starts ${task} once, now. Its slots stay as they are.`,
    needs: 'schedule',
    method: 'POST',
    path: callPath('schedules', id, 'run'),
    command: commandAbout(id, 'schedules', 'run'),
    leads: (answer) =>
      answer.id === undefined ? '#/schedules' : `#/tasks/${encodeURIComponent(answer.id)}`,
  };
}

function pause(id: string): Action {
  return {
    name: 'Pause',
    icon: 'paused',
    about: 'It fires nothing until it is resumed. What it has started goes on.',
    needs: 'schedule',
    method: 'POST',
    path: callPath('schedules', id, 'pause'),
    command: commandAbout(id, 'schedules', 'pause'),
  };
}

function resume(id: string): Action {
  return {
    name: 'Resume',
    icon: 'play',
    about: 'It goes on from its next slot.',
    needs: 'schedule',
    method: 'POST',
    path: callPath('schedules', id, 'resume'),
    command: commandAbout(id, 'schedules', 'resume'),
  };
}

/** Takes it away; tasks that it has made stay. */
export function removeSchedule(id: string): Action {
  return {
    name: 'Remove',
    icon: 'close',
    about:
      'It goes for good, and fires nothing more. Tasks that it has made stay. One that code sets comes back when that starts.',
    needs: 'schedule',
    method: 'DELETE',
    path: callPath('schedules', id),
    command: commandAbout(id, 'schedules', 'remove'),
    isDestructive: true,
    leads: () => '#/schedules',
  };
}
