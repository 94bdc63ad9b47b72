/** Users with work that is not in line, and why. */
import type { VNode } from 'preact';
import type { QueueStatus, UserRow } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Icon } from '../../parts/icon.tsx';
import { UserLink } from '../../parts/links.tsx';
import { Panel } from '../../parts/panel.tsx';
import { useReading } from '../../state/readings.ts';
import { IN_LINE } from '../users/count-columns.tsx';
import { Remedy, WhyText } from '../users/remedy.tsx';

/** Of each queue so many users are looked at. */
const LOOKED_AT = 200;
/** Fewer rows say more. */
const SHOWN = 8;

/** Of the three busiest queues, so that looking costs the same however many there are. */
export function HeldUsers({ queues }: { readonly queues: readonly QueueStatus[] }): VNode {
  const [first, second, third] = queues;
  const held = [useHeld(first), useHeld(second), useHeld(third)].flat();
  const worst = held.sort((a, b) => b.queued - a.queued).slice(0, SHOWN);
  return (
    <Panel
      title="Needs a look"
      meta={held.length === 0 ? undefined : `${held.length} users have work, and no turn`}
    >
      {worst.length === 0 ? (
        <p class="all-well state t-ok">
          <Icon name="ok" />
          <span>Everybody with work is in line.</span>
        </p>
      ) : (
        <DataTable
          label="Users that are held back"
          kind="look"
          rows={worst}
          keyOf={({ queue, user }) => `${queue} ${user}`}
          columns={[
            {
              key: 'who',
              title: 'User',
              isName: true,
              cell: ({ user, queue }) => <UserLink user={user} queue={queue} names="with-queue" />,
            },
            {
              key: 'why',
              title: 'What holds it',
              cell: (row) => <WhyText row={row} />,
            },
            IN_LINE,
            {
              key: 'do',
              title: <span class="sr">What helps</span>,
              cell: (row) => <Remedy row={row} />,
            },
          ]}
        />
      )}
    </Panel>
  );
}

function useHeld(queue: QueueStatus | undefined): readonly UserRow[] {
  const name = queue !== undefined && queue.counts.queued > 0 ? queue.queue : undefined;
  const wanted =
    name === undefined ? undefined : source('GET /users', [], { queue: name, limit: LOOKED_AT });
  const { value } = useReading(wanted);
  return value?.items.filter(({ ready, queued }) => queued > 0 && !ready) ?? [];
}
