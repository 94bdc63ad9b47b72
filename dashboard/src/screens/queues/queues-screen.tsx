/** The queues, and how many tasks of each are where. */
import type { VNode } from 'preact';
import { source } from '../../api/sources.ts';
import { Empty, Shown } from '../../parts/shown.tsx';
import { useReading } from '../../state/readings.ts';
import { has } from '../../state/session.ts';
import { SeriesPanel } from '../overview/series-panel.tsx';
import { QueueTable } from './queue-table.tsx';

/** All of them, by name. */
export function QueuesScreen(): VNode {
  const reading = useReading(source('GET /queues'));
  return (
    <Shown reading={reading} what="the queues">
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="There is no queue yet">
            <p>The first task that is stored in one makes it.</p>
          </Empty>
        ) : (
          <div class="stack">
            <QueueTable queues={[...items].sort((a, b) => (a.queue < b.queue ? -1 : 1))} />
            {has('series') ? <SeriesPanel /> : null}
          </div>
        )
      }
    </Shown>
  );
}
