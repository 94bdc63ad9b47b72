/** What a customer sees: its own users, in each queue that knows them. */
import type { VNode } from 'preact';
import type { UserRow } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { UserLink } from '../../parts/links.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { useReading } from '../../state/readings.ts';
import { countText } from '../../words/numbers.ts';
import { IN_LINE, LATER } from './count-columns.tsx';
import { WhyText } from './remedy.tsx';

/** Shows nothing of other users. */
export function MineTable(): VNode {
  const reading = useReading(source('GET /overview'));
  return (
    <Shown reading={reading} what="your users">
      {({ users = [] }) => (
        <Panel title="Yours" meta="in each queue">
          {users.length === 0 ? (
            <Empty title="You have no task here yet">
              <p>What is stored for you is shown here.</p>
            </Empty>
          ) : (
            <Mine rows={users} />
          )}
        </Panel>
      )}
    </Shown>
  );
}

function Mine({ rows }: { readonly rows: readonly UserRow[] }): VNode {
  return (
    <DataTable
      label="Your users"
      kind="mine"
      rows={rows}
      keyOf={({ user, queue }) => `${queue} ${user}`}
      columns={[
        {
          key: 'user',
          title: 'User',
          isName: true,
          cell: ({ user, queue }) => <UserLink user={user} queue={queue} names="with-queue" />,
        },
        IN_LINE,
        {
          key: 'run',
          title: 'Running',
          isNumber: true,
          label: 'running',
          cell: ({ running }) => countText(running),
        },
        LATER,
        { key: 'why', title: 'Why', cell: (row) => <WhyText row={row} /> },
      ]}
    />
  );
}
