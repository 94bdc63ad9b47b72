/** The queues, and how many tasks of each are where. */
import type { VNode } from 'preact';
import type { QueueStatus } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Empty, Shown } from '../../parts/shown.tsx';
import { address, goTo, linkHere } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';
import { has, may } from '../../state/session.ts';
import { SeriesPanel } from '../overview/series-panel.tsx';
import { QueueDrawer } from './queue-drawer.tsx';
import { QueueTable } from './queue-table.tsx';

interface DrawerProps {
  readonly queues: readonly QueueStatus[];
}

/** Of the queue that the address names, for those who may change it. */
function Drawer({ queues }: DrawerProps): VNode | null {
  const name = address.value.query.get('drawer');
  const queue = queues.find((one) => one.queue === name);
  if (queue === undefined || !may('configure')) return null;
  return (
    <QueueDrawer
      key={queue.queue}
      queue={queue}
      onClose={() => goTo(linkHere({ drawer: undefined }))}
    />
  );
}

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
            <Drawer queues={items} />
          </div>
        )
      }
    </Shown>
  );
}
