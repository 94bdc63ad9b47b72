/** When the nodes of a run waited and ran. */

import type { VNode } from 'preact';
import type { GraphStates, RunDetails, Timeline, TimelineSpan } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Icon } from '../../parts/icon.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { iconOf, toneOf } from '../../parts/state-label.tsx';
import { linkTo } from '../../state/address.ts';
import { now } from '../../state/clock.ts';
import { useReading } from '../../state/readings.ts';
import { lengthText } from '../../words/lengths.ts';
import { endPath, type PathStep, spansByNode } from './end-path.ts';
import { EndPath } from './end-path-line.tsx';
import { shortName } from './node-names.ts';

interface Row {
  readonly node: string;
  readonly taskId: string;
  readonly state: string;
  readonly spans: readonly TimelineSpan[];
  /** For how long the end waited for it. */
  readonly step: PathStep | undefined;
}

interface Scale {
  readonly from: number;
  readonly to: number;
}

const TICKS = 6;

/** Waits are hatched, attempts solid. */
export function Gantt({ run }: { readonly run: RunDetails }): VNode {
  const reading = useReading(source('GET /runs/{id}/timeline', [run.id]));
  const { value } = useReading(source('GET /runs/{id}/graph', [run.id]));
  return (
    <Shown reading={reading} what="the times of the nodes">
      {(timeline) => <Rows timeline={timeline} run={run} graph={value?.graph} />}
    </Shown>
  );
}

interface RowsProps {
  readonly timeline: Timeline;
  readonly run: RunDetails;
  readonly graph: GraphStates['graph'] | undefined;
}

function Rows({ timeline, run, graph }: RowsProps): VNode {
  const scale = { from: timeline.from, to: Math.max(timeline.to ?? now.value, timeline.from + 1) };
  // A chain with holes would say something else.
  const isKnown = graph !== undefined && !timeline.isCut;
  const path = isKnown ? endPath(graph, run.nodes, timeline, scale.to) : [];
  const rows = rowsOf(timeline, run, path);
  if (rows.length === 0) {
    return (
      <Empty title="No node is a task of its own">
        <p>A driven run is one task that walks its graph.</p>
      </Empty>
    );
  }
  return (
    <>
      <EndPath path={path} run={run} end={scale.to} />
      <Scroller label="Times of the nodes">
        <div class="gantt">
          <Ticks scale={scale} />
          <ul>
            {rows.map((row) => (
              <GanttRow key={row.node} row={row} scale={scale} />
            ))}
          </ul>
          <GanttLegend />
          {timeline.isCut ? (
            <p class="dim small">
              There are more nodes than are shown; so what the end waited for is not known.
            </p>
          ) : null}
        </div>
      </Scroller>
    </>
  );
}

function rowsOf(timeline: Timeline, run: RunDetails, path: readonly PathStep[]): readonly Row[] {
  const states = new Map(run.nodes.map(({ node, state }) => [node, state]));
  const steps = new Map(path.map((step) => [step.node, step]));
  // Groups without a name do no work; their members do.
  const named = [...spansByNode(timeline)].filter(([node]) => shortName(node) !== '');
  return named.map(([node, own]) => ({
    node,
    taskId: own[0]?.taskId ?? '',
    state: states.get(node) ?? 'pending',
    // What another run has done before is not of this one's time.
    spans: own.filter(({ to }) => to === undefined || to > timeline.from),
    step: steps.get(node),
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
  const { node, taskId, state, spans, step } = row;
  return (
    <li class={state === 'failed' ? 'is-cause' : ''}>
      <a class={`g-name t-${toneOf(state)}`} href={linkTo('tasks', taskId)}>
        <Icon name={iconOf(state)} size={12} />
        <span class="cut">{shortName(node)}</span>
      </a>
      <span class="g-track" role="img" aria-label={spoken(row)}>
        {spans.map((span) => (
          <Mark key={`${span.kind} ${span.from}`} span={span} scale={scale} />
        ))}
        {step === undefined ? null : <i class="g-path" style={placeOf(step, scale)} />}
      </span>
    </li>
  );
}

function Mark({ span, scale }: { readonly span: TimelineSpan; readonly scale: Scale }): VNode {
  const { kind, outcome, attempt } = span;
  const isRun = kind === 'attempt' || kind === 'running';
  return (
    <i
      class={isRun ? `g-run o-${outcome ?? 'running'}` : 'g-wait hatched'}
      style={placeOf(span, scale)}
    >
      {isRun ? attempt : ''}
    </i>
  );
}

interface Stretch {
  readonly from: number;
  readonly to?: number | undefined;
}

/** A part of the track; what is open goes on to its end. */
function placeOf({ from, to }: Stretch, scale: Scale): Readonly<Record<string, string>> {
  const length = scale.to - scale.from;
  const start = Math.max(from, scale.from);
  const end = Math.min(to ?? scale.to, scale.to);
  return {
    left: `${((start - scale.from) / length) * 100}%`,
    width: `${Math.max(0, (end - start) / length) * 100}%`,
  };
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
      <span>
        <i class="g-path" /> what the end waited for
      </span>
    </p>
  );
}

function spoken({ spans, state, step }: Row): string {
  const runs = spans.filter(({ kind }) => kind !== 'task');
  const ran = runs.reduce((sum, { from, to }) => sum + Math.max(0, (to ?? now.value) - from), 0);
  const held = step === undefined ? '' : '; the end waited for it';
  return `${state}, ran ${runs.length} times for ${lengthText(ran)}${held}`;
}
