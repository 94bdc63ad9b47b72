/** Schedules: did it fire, will it. */
import type { VNode } from 'preact';
import { scheduleActions } from '../../api/schedule-actions.ts';
import type { ScheduleInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { ActionButton } from '../../parts/action.tsx';
import { CommandLine } from '../../parts/command-line.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { ListPanel } from '../../parts/list-panel.tsx';
import { Empty } from '../../parts/shown.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { usePages } from '../../state/pages.ts';
import { commandText } from '../../words/commands.ts';
import { agoText } from '../../words/lengths.ts';
import { countText } from '../../words/numbers.ts';
import { whenText } from './when.ts';

const COLUMNS: readonly Column<ScheduleInfo>[] = [
  {
    key: 'task',
    title: 'Schedule',
    isName: true,
    cell: ({ id, task, user }) => (
      <a class="two name" href={linkTo('schedules', id)}>
        <span class="cut">{id}</span>
        <span class="cut">
          starts {task}, as {user}
        </span>
      </a>
    ),
  },
  { key: 'state', title: 'State', cell: ({ state }) => <StateLabel state={state} /> },
  {
    key: 'when',
    title: 'When',
    cell: (schedule) => <span class="mono">{whenText(schedule)}</span>,
  },
  {
    key: 'next',
    title: 'Next',
    label: 'next',
    cell: ({ nextAt, state }) =>
      nextAt === undefined || state !== 'active' ? '–' : agoText(nextAt, now.value),
  },
  {
    key: 'last',
    title: 'Last',
    label: 'last',
    cell: ({ lastAt, lastTaskId }) => {
      if (lastAt === undefined) return '–';
      const text = agoText(lastAt, now.value);
      return lastTaskId === undefined ? text : <a href={linkTo('tasks', lastTaskId)}>{text}</a>;
    },
  },
  {
    key: 'fired',
    title: 'Fired',
    isNumber: true,
    label: 'fired',
    cell: ({ fired }) => countText(fired),
  },
  {
    key: 'missed',
    title: 'Missed, passed over',
    isNumber: true,
    label: 'missed, passed over',
    cell: ({ missedSlots, overlappedSlots }) =>
      `${countText(missedSlots)}, ${countText(overlappedSlots)}`,
  },
  {
    key: 'do',
    title: <span class="sr">What can be done</span>,
    cell: (schedule) => (
      <span class="line">
        {scheduleActions(schedule).map((action) => (
          <ActionButton key={action.name} small={true} action={action} />
        ))}
      </span>
    ),
  },
];

/** By name. */
export function SchedulesScreen(): VNode {
  const pages = usePages(source('GET /schedules'));
  return (
    <ListPanel
      title="Schedules"
      tools={<CommandLine text={commandText('schedules', 'list')} />}
      kind="sched"
      pages={pages}
      columns={COLUMNS}
      keyOf={({ id }) => id}
    >
      <Empty title="There is no schedule yet">
        <p>One starts a task by the clock, or at events:</p>
        <CommandLine text="fairloom schedules set nightly report --cron '0 3 * * *'" wide={true} />
      </Empty>
    </ListPanel>
  );
}
