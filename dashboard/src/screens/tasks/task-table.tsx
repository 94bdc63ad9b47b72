/** Tasks, one to a row. */
import type { VNode } from 'preact';
import type { TaskInfo } from '../../api/shapes.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorLine, NameLink, UserLink } from '../../parts/links.tsx';
import { StateLabel } from '../../parts/state-label.tsx';
import { now } from '../../state/clock.ts';
import { agoText, lengthText } from '../../words/lengths.ts';

/** Rows that are picked, and what changes that. */
export interface Picks {
  readonly has: (id: string) => boolean;
  readonly toggle: (id: string) => void;
}

interface TaskTableProps {
  readonly tasks: readonly TaskInfo[];
  readonly label: string;
  readonly more?: (() => void) | undefined;
  /** Absent: rows cannot be picked. */
  readonly picks?: Picks | undefined;
}

/** In the order that is given. */
export function TaskTable({ tasks, label, more, picks }: TaskTableProps): VNode {
  return (
    <DataTable
      label={label}
      kind="tasks"
      rows={tasks}
      columns={picks === undefined ? COLUMNS : [pickColumn(picks), ...COLUMNS]}
      keyOf={({ id }) => id}
      rowKind={({ id }) => (picks?.has(id) === true ? 'is-on' : '')}
      more={more}
    />
  );
}

const COLUMNS: readonly Column<TaskInfo>[] = [
  { key: 'state', title: 'State', cell: ({ state }) => <StateLabel state={state} /> },
  {
    key: 'task',
    title: 'Task',
    isName: true,
    cell: ({ id, name }) => <NameLink place="tasks" id={id} name={name} />,
  },
  {
    key: 'who',
    title: 'User',
    cell: ({ user, queue }) => <UserLink user={user} queue={queue} />,
  },
  {
    key: 'age',
    title: 'Age',
    isNumber: true,
    cell: ({ createdAt }) => lengthText(now.value - createdAt),
  },
  {
    key: 'att',
    title: 'Attempts',
    isNumber: true,
    label: 'attempts',
    cell: ({ failures, state }) => failures + (state === 'started' || state === 'finished' ? 1 : 0),
  },
  { key: 'err', title: 'Error, or what it waits for', cell: (task) => <Reason task={task} /> },
];

function pickColumn({ has, toggle }: Picks): Column<TaskInfo> {
  return {
    key: 'check',
    title: <span class="sr">Picked</span>,
    cell: ({ id, name }) => (
      <input
        type="checkbox"
        class="check"
        aria-label={`Pick ${name} ${id}`}
        checked={has(id)}
        onChange={() => toggle(id)}
      />
    ),
  };
}

/** One line: what it threw, when it is due, whom it waits for, how far it is. */
function Reason({ task }: { readonly task: TaskInfo }): VNode | null {
  const { state, error, failureType, dueAt, blockedBy, progress, worker, leasedAt } = task;
  if (state === 'scheduled' && dueAt !== undefined) {
    return <span class="cut">due {agoText(dueAt, now.value)}</span>;
  }
  if (state === 'deferred') return <span class="cut">waits for {blockedBy.join(', ')}</span>;
  if (state === 'started') {
    const said =
      progress === undefined
        ? ''
        : `${Math.round(progress.fraction * 100)} % ${progress.message ?? ''}`;
    const since = leasedAt === undefined ? '' : `for ${lengthText(now.value - leasedAt)}`;
    return (
      <span class="cut">
        {said} {since} on {worker}
      </span>
    );
  }
  if (error !== undefined) return <ErrorLine error={error} />;
  return failureType === undefined ? null : <span class="cut">{failureType}</span>;
}
