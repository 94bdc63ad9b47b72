/** Users of one queue: who is in line, with what share of the turns, and who is held back, and why. */

import type { VNode } from 'preact';
import type { Export } from '../../api/exports.ts';
import type { QueueStatus, UserPage, UserRow } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Tabs } from '../../parts/button.tsx';
import { ExportButton } from '../../parts/export.tsx';
import { ListFoot, StandsStill } from '../../parts/list-foot.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { address, linkTo } from '../../state/address.ts';
import { type Pages, usePages } from '../../state/pages.ts';
import { useReading } from '../../state/readings.ts';
import { isLimited } from '../../state/session.ts';
import { FairHead } from './fair-head.tsx';
import { FairTable } from './fair-table.tsx';
import { MineTable } from './mine-table.tsx';
import { UserFilter, type UserGroup } from './user-filter.tsx';

/** Rows of the first page: what a screen shows, and the shares are over. */
const ROWS = 500;

/** Of the page as of the library, unless it is said. */
const DEFAULT_QUEUE = 'default';

/** The picture of fairness; who sees some users alone gets these. */
export function UsersScreen(): VNode {
  return isLimited.value ? <MineTable /> : <Everybody />;
}

function Everybody(): VNode {
  const asked = address.value.query.get('queue') ?? DEFAULT_QUEUE;
  const queues = useReading(source('GET /queues'));
  const busiestFirst = [...(queues.value?.items ?? [])].sort(
    (a, b) => b.counts.queued - a.counts.queued,
  );
  const queue = busiestFirst.find((one) => one.queue === asked) ?? busiestFirst[0];
  // Read beside the queues, not after them: they rarely say that it is another one.
  const name = queue?.queue ?? asked;
  const pages = usePages(source('GET /users', [], { queue: name, limit: ROWS }));
  return (
    <Shown reading={queues} what="the queues">
      {() =>
        queue === undefined ? (
          <Empty title="No users yet">
            <p>A user is there as soon as a task is stored for it.</p>
          </Empty>
        ) : (
          <QueueUsers queues={busiestFirst} queue={queue} pages={pages} />
        )
      }
    </Shown>
  );
}

interface QueueUsersProps {
  readonly queues: readonly QueueStatus[];
  readonly queue: QueueStatus;
  readonly pages: Pages<UserPage>;
}

function QueueUsers({ queues, queue, pages }: QueueUsersProps): VNode {
  return (
    <div class="stack users">
      <Tabs
        label="Queues"
        chosen={queue.queue}
        choices={queues.map((one) => ({
          key: one.queue,
          text: one.queue,
          count: one.counts.queued,
          href: linkTo('users', undefined, { queue: one.queue }),
        }))}
      />
      <Shown reading={pages.first} what="the users">
        {({ sharesOf }) => (
          <>
            <FairHead queue={queue} rows={pages.items} sharesOf={sharesOf} />
            <UserList pages={pages} queue={queue.queue} />
          </>
        )}
      </Shown>
    </div>
  );
}

interface UserListProps {
  readonly pages: Pages<UserPage>;
  readonly queue: string;
}

function UserList({ pages, queue }: UserListProps): VNode {
  const { query } = address.value;
  const text = query.get('user') ?? '';
  const only = query.get('only') ?? 'all';
  const named = pages.items.filter(({ user }) => user.toLowerCase().includes(text.toLowerCase()));
  const found = named.filter((row) => only === 'all' || groupOf(row) === only);
  const counts = { all: named.length, line: 0, held: 0, idle: 0 };
  for (const row of named) counts[groupOf(row)] += 1;
  return (
    <Panel
      title="Users"
      meta={queue}
      tools={
        <>
          <StandsStill pages={pages} />
          <UserFilter counts={counts} only={only} text={text} />
          <ExportButton of={exportOf(queue)} />
        </>
      }
    >
      {found.length === 0 ? (
        <Empty title={text === '' ? 'No users here' : `No user is called ${text}`}>
          <p>
            {text === ''
              ? 'No user of this queue has work or settings.'
              : 'Try a part of its name.'}
          </p>
        </Empty>
      ) : (
        <>
          <FairTable
            rows={inOrder(found)}
            more={pages.stoodAt === undefined ? undefined : pages.more}
          />
          <ListFoot pages={pages} />
        </>
      )}
    </Panel>
  );
}

function exportOf(queue: string): Export {
  return {
    list: 'users',
    what: `users of ${queue}`,
    query: { queue },
    command: ['users', 'list', '--queue', queue],
  };
}

const ORDER: readonly UserGroup[] = ['line', 'held', 'idle'];

/** Those in line first, by weight; the others by how much waits. */
function inOrder(rows: readonly UserRow[]): readonly UserRow[] {
  const rank = (row: UserRow): number => ORDER.indexOf(groupOf(row));
  return [...rows].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      b.settings.weight - a.settings.weight ||
      b.queued - a.queued ||
      (a.user < b.user ? -1 : 1),
  );
}

/** In line, held back, or without work. */
function groupOf({ queued, ready }: UserRow): UserGroup {
  if (ready) return 'line';
  return queued > 0 ? 'held' : 'idle';
}
