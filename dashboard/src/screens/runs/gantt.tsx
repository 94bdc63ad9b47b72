/** When the nodes of a run waited and ran. */

import type { VNode } from 'preact';
import type { RunDetails, Timeline, TimelineSpan } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Icon } from '../../parts/icon.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { iconOf, toneOf } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { lengthText } from '../../words/lengths.ts';

interface Row {
  readonly node: string;
  readonly taskId: string;
  readonly state: string;
  readonly spans: readonly TimelineSpan[];
}

interface Scale {
  readonly from: number;
  readonly to: number;
}

const TICKS = 6;

/** Waits are hatched, attempts solid. */
export function Gantt({ run }: { readonly run: RunDetails }): VNode {
  const reading = useReading(source('GET /runs/{id}/timeline', [run.id]));
  return (
    <Shown reading={reading} what="the times of the nodes">
      {(timeline) => <Rows timeline={timeline} run={run} />}
    </Shown>
  );
}

function Rows({ timeline, run }: { readonly timeline: Timeline; readonly run: RunDetails }): VNode {
  const scale = { from: timeline.from, to: Math.max(timeline.to ?? now.value, timeline.from + 1) };
  const rows = rowsOf(timeline, run);
  if (rows.length === 0) {
    return (
      <Empty title="No node is a task of its own">
        <p>A driven run is one task that walks its graph.</p>
      </Empty>
    );
  }
  return (
    <Scroller label="Times of the nodes">
      <div class="gantt">
        <Ticks scale={scale} />
        <ul>
          {rows.map((row) => (
            <GanttRow key={row.node} row={row} scale={scale} />
          ))}
        </ul>
        <GanttLegend />
        {timeline.isCut ? <p class="dim small">There are more nodes than are shown.</p> : null}
      </div>
    </Scroller>
  );
}

function rowsOf({ spans }: Timeline, run: RunDetails): readonly Row[] {
  const states = new Map(run.nodes.map(({ node, state }) => [node, state]));
  const rows = new Map<string, TimelineSpan[]>();
  for (const span of spans) rows.set(span.node, [...(rows.get(span.node) ?? []), span]);
  // Groups without a name are nobody's work.
  const named = [...rows].filter(([node]) => !node.startsWith('~'));
  return named.map(([node, own]) => ({
    node,
    taskId: own[0]?.taskId ?? '',
    state: states.get(node) ?? 'pending',
    spans: own,
  }));
}

function Ticks({ scale }: { readonly scale: Scale }): VNode {
  const each = (scale.to - scale.from) / TICKS;
  return (
    <div class="g-ticks" aria-hidden="true">
      {Array.from({ length: TICKS + 1 }, (_, at) => (
        <span key={at} style={{ left: `${(at / TICKS) * 100}%` }}>
          +{lengthText(at * each)}
        </span>
      ))}
    </div>
  );
}

function GanttRow({ row, scale }: { readonly row: Row; readonly scale: Scale }): VNode {
  const { node, taskId, state, spans } = row;
  return (
    <li class={state === 'failed' ? 'is-cause' : ''}>
      <a class={`g-name t-${toneOf(state)}`} href={linkTo('tasks', taskId)}>
        <Icon name={iconOf(state)} size={12} />
        <span class="cut">{node}</span>
      </a>
      <span class="g-track" role="img" aria-label={spoken(row)}>
        {spans.map((span) => (
          <Mark key={`${span.kind} ${span.from}`} span={span} scale={scale} />
        ))}
      </span>
    </li>
  );
}

function Mark({ span, scale }: { readonly span: TimelineSpan; readonly scale: Scale }): VNode {
  const { kind, from, to, outcome, attempt } = span;
  const length = scale.to - scale.from;
  const end = Math.min(to ?? scale.to, scale.to);
  const isRun = kind === 'attempt' || kind === 'running';
  const place = {
    left: `${((from - scale.from) / length) * 100}%`,
    width: `${Math.max(0, (end - from) / length) * 100}%`,
  };
  return (
    <i class={isRun ? `g-run o-${outcome ?? 'running'}` : 'g-wait hatched'} style={place}>
      {isRun ? attempt : ''}
    </i>
  );
}

function GanttLegend(): VNode {
  return (
    <p class="legend">
      <span>
        <i class="hatched" /> waits
      </span>
      <span>
        <i class="g-run o-running" /> runs
      </span>
      <span>
        <i class="g-run o-succeeded" /> succeeded
      </span>
      <span>
        <i class="g-run o-failed" /> failed
      </span>
      <span>
        <i class="g-run o-lost" /> lost
      </span>
    </p>
  );
}

function spoken({ spans, state }: Row): string {
  const runs = spans.filter(({ kind }) => kind !== 'task');
  const ran = runs.reduce((sum, { from, to }) => sum + Math.max(0, (to ?? now.value) - from), 0);
  return `${state}, ran ${runs.length} times for ${lengthText(ran)}`;
}
