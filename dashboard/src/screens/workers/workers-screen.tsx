/** Who does the work: slots, for whom, and what became of the attempts. */
import type { VNode } from 'preact';
import type { WorkerInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { CommandLine } from '../../parts/command-line.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { commandText } from '../../words/commands.ts';
import { agoText, lengthText } from '../../words/lengths.ts';
import { countOf, countText } from '../../words/numbers.ts';
import { TaskListPanel } from '../tasks/task-list-panel.tsx';

/** More are a number. */
const MOST_SLOTS = 48;

const COLUMNS: readonly Column<WorkerInfo>[] = [
  {
    key: 'task',
    title: 'Worker',
    isName: true,
    cell: ({ id, host, startedAt }) => (
      <span class="two">
        <span class="cut">{id}</span>
        <span class="cut">
          {host}, up {lengthText(now.value - startedAt)}
        </span>
      </span>
    ),
  },
  { key: 'slots', title: 'Slots', cell: (worker) => <Slots worker={worker} /> },
  {
    key: 'busy',
    title: 'Busy',
    isNumber: true,
    label: 'busy',
    cell: ({ running, concurrency }) => (
      <>
        {countText(running)}
        <span class="of">/{countText(concurrency)}</span>
      </>
    ),
  },
  {
    key: 'whom',
    title: 'For whom',
    cell: ({ assignedUsers, stealTargets }) => (
      <span class="cut">{scopeText(assignedUsers, stealTargets)}</span>
    ),
  },
  {
    key: 'queues',
    title: 'Queues',
    cell: ({ queues }) => <span class="cut">{queues.join(', ')}</span>,
  },
  {
    key: 'done',
    title: 'Succeeded, failed, lost',
    isNumber: true,
    label: 'succeeded, failed, lost',
    cell: ({ attempts: { succeeded, failed, lost } }) =>
      [succeeded, failed, lost].map(countText).join(', '),
  },
  {
    key: 'seen',
    title: 'Last seen',
    isNumber: true,
    label: 'seen',
    cell: ({ lastSeenAt }) => agoText(Math.min(lastSeenAt, now.value), now.value),
  },
];

/** Every live one, wherever it runs. */
export function WorkersScreen(): VNode {
  const reading = useReading(source('GET /workers'));
  return (
    <Shown reading={reading} what="the workers">
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No worker is live">
            <p>Tasks wait until one is. It may run in your program, or by itself:</p>
            <CommandLine text={commandText('worker', './tasks.ts')} wide={true} />
          </Empty>
        ) : (
          <div class="stack">
            <Summary workers={items} />
            <Panel title="Workers" tools={<CommandLine text={commandText('workers', 'list')} />}>
              <DataTable
                label="Workers"
                kind="work"
                rows={[...items].sort((a, b) => (a.id < b.id ? -1 : 1))}
                columns={COLUMNS}
                keyOf={({ id }) => id}
              />
            </Panel>
            <TaskListPanel title="Running now" where="state:started" />
          </div>
        )
      }
    </Shown>
  );
}

function Summary({ workers }: { readonly workers: readonly WorkerInfo[] }): VNode {
  const busy = workers.reduce((sum, { running }) => sum + running, 0);
  const slots = workers.reduce((sum, { concurrency }) => sum + concurrency, 0);
  return (
    <p class="say-2">
      <b>{countOf(workers.length, 'live worker')}</b>,{' '}
      <b>
        {countText(busy)} of {countText(slots)} slots
      </b>{' '}
      busy.
    </p>
  );
}

function Slots({ worker: { running, concurrency } }: { readonly worker: WorkerInfo }): VNode {
  return (
    <span class="slots" aria-hidden="true">
      {Array.from({ length: Math.min(concurrency, MOST_SLOTS) }, (_, at) => (
        <i key={at} class={at < running ? 'slot is-busy' : 'slot'} />
      ))}
    </span>
  );
}

function scopeText(
  assigned: readonly string[] | undefined,
  others: readonly string[] | 'any' | undefined,
): string {
  if (assigned === undefined) return 'everybody alike';
  const first = assigned.join(', ');
  if (others === 'any') return `${first} first, then any user`;
  return others === undefined || others.length === 0
    ? `${first} alone`
    : `${first} first, then ${others.join(', ')}`;
}
