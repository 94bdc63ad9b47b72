/** What was stored, and what has ended, over time; and how long it waited. */
import type { VNode } from 'preact';
import type { SeriesPoint, SeriesReport } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Segments } from '../../parts/button.tsx';
import { LineChart } from '../../parts/line-chart.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Shown } from '../../parts/shown.tsx';
import { address, linkHere } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { lengthText } from '../../words/lengths.ts';
import { countText } from '../../words/numbers.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

interface Span {
  readonly key: string;
  readonly text: string;
  readonly step: 'hour' | 'minute';
  readonly ms: number;
}

const SPANS: readonly Span[] = [
  { key: '1h', text: '1 h', step: 'minute', ms: HOUR },
  { key: '6h', text: '6 h', step: 'minute', ms: 6 * HOUR },
  { key: '24h', text: '24 h', step: 'minute', ms: 24 * HOUR },
  { key: '30d', text: '30 d', step: 'hour', ms: 720 * HOUR },
];

/** Of all queues, or of one queue or user. */
export function SeriesPanel({
  of = {},
}: {
  readonly of?: { queue?: string; user?: string };
}): VNode {
  const key = address.value.query.get('span') ?? '1h';
  const span = SPANS.find((one) => one.key === key);
  const { step, ms } = span ?? { step: 'minute', ms: HOUR };
  // By the minute, so that the address of the reading stays the same for one.
  const to = Math.ceil(now.value / MINUTE) * MINUTE;
  const reading = useReading(source('GET /series', [], { step, from: to - ms, ...of }));
  return (
    <Panel
      title="Stored and ended"
      meta={`per ${step}`}
      tools={
        <Segments
          label="How far back"
          chosen={key}
          choices={SPANS.map((one) => ({ ...one, href: linkHere({ span: one.key }) }))}
        />
      }
    >
      <Shown reading={reading} what="the series">
        {(report) => <Charts report={report} />}
      </Shown>
    </Panel>
  );
}

function Charts({ report: { points, step } }: { readonly report: SeriesReport }): VNode {
  const at = points.map((point) => point.at);
  const ended = (point: SeriesPoint): number => point.finished + point.failed + point.canceled;
  const failed = points.reduce((sum, point) => sum + point.failed, 0);
  const stored = points.reduce((sum, point) => sum + point.enqueued, 0);
  const done = points.reduce((sum, point) => sum + ended(point), 0);
  const waited = points.findLast(({ wait }) => wait !== undefined)?.wait;
  return (
    <div class="cols c66 body">
      <LineChart
        label={`${countText(stored)} stored, ${countText(done)} ended, ${countText(failed)} failed, per ${step}`}
        at={at}
        unit={countText}
        lines={[
          {
            name: 'stored',
            ink: '--ink-2',
            values: points.map((one) => one.enqueued),
            isDashed: true,
          },
          { name: 'ended', ink: '--woad', values: points.map(ended) },
          { name: 'failed', ink: '--madder', values: points.map((one) => one.failed) },
        ]}
      />
      <LineChart
        label={
          waited === undefined
            ? 'Nothing has started'
            : `of what started last, half waited ${lengthText(waited.p50)} at most, and 95 of 100 ${lengthText(waited.p95)}`
        }
        at={at}
        unit={lengthText}
        lines={[
          { name: 'wait p50', ink: '--woad', values: points.map(({ wait }) => wait?.p50) },
          { name: 'wait p95', ink: '--weld', values: points.map(({ wait }) => wait?.p95) },
          {
            name: 'run p95',
            ink: '--ash',
            values: points.map(({ run }) => run?.p95),
            isDashed: true,
          },
        ]}
      />
    </div>
  );
}
