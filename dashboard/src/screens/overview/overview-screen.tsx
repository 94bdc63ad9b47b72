/** Is it well, and if not: where to go. */
import type { VNode } from 'preact';
import type { Overview } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Ledger } from '../../parts/panel.tsx';
import { Shown } from '../../parts/shown.tsx';
import { linkTo } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';
import { has } from '../../state/session.ts';
import { countOf, countText } from '../../words/numbers.ts';
import { ErrorsPanel } from '../dead/errors-panel.tsx';
import { QueueTable } from '../queues/queue-table.tsx';
import { FirstSteps } from './first-steps.tsx';
import { HeldUsers } from './held-users.tsx';
import { Problems } from './problems.tsx';
import { SeriesPanel } from './series-panel.tsx';

/** The first screen. */
export function OverviewScreen(): VNode {
  const reading = useReading(source('GET /overview'));
  return (
    <Shown reading={reading} what="the overview">
      {(overview) => <Whole overview={overview} />}
    </Shown>
  );
}

function Whole({ overview }: { readonly overview: Overview }): VNode {
  const { counts, queues = [] } = overview;
  const stored = Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0);
  if (stored === 0) return <FirstSteps />;
  const busiest = [...queues].sort((a, b) => b.counts.queued - a.counts.queued);
  return (
    <div class="stack">
      <Problems overview={overview} />
      <Figures overview={overview} />
      <div class="cols c75">
        <HeldUsers queues={busiest} />
        <ErrorsPanel />
      </div>
      {has('series') ? <SeriesPanel /> : null}
      <QueueTable queues={busiest} />
    </div>
  );
}

function Figures({ overview }: { readonly overview: Overview }): VNode {
  const { counts, totals = {}, dead = 0, workers = 0, slots = 0, queues = [] } = overview;
  const ready = queues.reduce((sum, { readyUsers }) => sum + readyUsers, 0);
  const waits = overview.waiting?.filter(({ count }) => count > 0) ?? [];
  return (
    <Ledger
      figures={[
        { name: 'In line', value: countText(counts?.queued ?? 0), below: countOf(ready, 'user') },
        {
          name: 'Running',
          value: countText(counts?.started ?? 0),
          of: `of ${countOf(slots, 'slot')}`,
          below: countOf(workers, 'live worker'),
        },
        {
          name: 'Later',
          value: countText((counts?.scheduled ?? 0) + (counts?.deferred ?? 0)),
          below: waits.map(({ kind, count }) => `${countText(count)} for ${kind}`).join(', '),
        },
        {
          name: 'Dead letters',
          value: <a href={linkTo('dead')}>{countText(dead)}</a>,
          below: 'wait for a redrive, or their removal',
        },
        { name: 'Finished', value: countText(totals['finished'] ?? 0), below: 'ever since' },
        {
          name: 'Attempts again',
          value: countText(totals['retried'] ?? 0),
          below: `${countOf(totals['lost'] ?? 0, 'lease')} lost`,
        },
      ]}
    />
  );
}
