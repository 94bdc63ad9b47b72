/** The graph of a run, with the states of its nodes. */

import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { GraphStates, RunDetails, RunNodeInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Icon } from '../../parts/icon.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { iconOf, toneOf } from '../../parts/state-label.tsx';
import { linkHere, linkTo } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';
import { countText } from '../../words/numbers.ts';
import { type PlacedEdge, type PlacedNode, placedGraph } from './layout.ts';

/** Larger ones are no picture any more. */
const MOST_NODES = 400;
/** Of one `each`. */
const MOST_SQUARES = 24;

type States = GraphStates['states'];

/** From left to right. */
export function GraphView({ run }: { readonly run: RunDetails }): VNode {
  const reading = useReading(source('GET /runs/{id}/graph', [run.id]));
  if (run.nodes.length > MOST_NODES) {
    return (
      <Empty title={`${countText(run.nodes.length)} nodes are too many for a picture`}>
        <p>
          See them in the <a href={linkHere({ view: 'table' })}>table</a>.
        </p>
      </Empty>
    );
  }
  return (
    <Shown reading={reading} what="the graph">
      {({ graph, states }) => <Drawn graph={graph} states={states} run={run} />}
    </Shown>
  );
}

function Drawn({ graph, states, run }: GraphStates & { readonly run: RunDetails }): VNode {
  // One run has one graph; readings of it differ in their states alone.
  const placed = useMemo(() => placedGraph(graph), [run.graph]);
  const { width, height, groups, nodes, edges } = placed;
  const known = new Map(run.nodes.map((node) => [node.node, node]));
  return (
    <Scroller label="The graph, from left to right">
      <div class="graph" style={{ width: `${width}px`, height: `${height}px` }}>
        {groups.map((group) => (
          <Frame key={group.id} group={group} />
        ))}
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          {edges.map((edge) => (
            <Edge key={`${edge.from} ${edge.to}`} edge={edge} states={states} />
          ))}
        </svg>
        {nodes.map((node) => (
          <Node
            key={node.id}
            node={node}
            state={states[node.id] ?? 'pending'}
            info={known.get(node.id)}
            members={run.nodes.filter((one) => one.node.startsWith(`${node.id}[`))}
          />
        ))}
      </div>
    </Scroller>
  );
}

function Frame({ group }: { readonly group: PlacedNode }): VNode {
  return (
    <div class="frame" style={boxStyle(group)}>
      <span class="frame-name">
        <span class="cut">{nameOf(group.id)}</span>
        <span class="dim">{group.kind}</span>
      </span>
    </div>
  );
}

function Edge({ edge, states }: { readonly edge: PlacedEdge; readonly states: States }): VNode {
  const kind = edgeKind(states[edge.from], states[edge.to]);
  return <path class={`edge ${kind}`} d={edge.line} />;
}

function edgeKind(from: string | undefined, to: string | undefined): string {
  if (to === 'skipped' || to === 'canceled') return 'e-cut';
  return from === 'finished' ? 'e-done' : 'e-wait';
}

interface NodeProps {
  readonly node: PlacedNode;
  readonly state: RunNodeInfo['state'];
  readonly info: RunNodeInfo | undefined;
  readonly members: readonly RunNodeInfo[];
}

function Node({ node, state, info, members }: NodeProps): VNode {
  const hasStarted = state !== 'skipped' && state !== 'pending' && state !== 'deferred';
  const kind = `node t-${toneOf(state)} ${hasStarted ? '' : 'hatched'} ${state === 'failed' ? 'is-cause' : ''}`;
  const inner = (
    <>
      <span class="node-name cut">{info?.member ?? nameOf(node.id)}</span>
      <span class="node-state">
        <Icon name={iconOf(state)} size={12} />
        {state === 'skipped' ? 'did not start' : state}
        {node.kind === 'each' ? `, each of ${members.length}` : ''}
      </span>
      {members.length > 0 ? <Squares members={members} /> : null}
    </>
  );
  if (info?.taskId === undefined) {
    return (
      <div class={kind} style={boxStyle(node)}>
        {inner}
      </div>
    );
  }
  return (
    <a class={kind} style={boxStyle(node)} href={linkTo('tasks', info.taskId)}>
      {inner}
    </a>
  );
}

function Squares({ members }: { readonly members: readonly RunNodeInfo[] }): VNode {
  return (
    <span class="squares" aria-hidden="true">
      {members.slice(0, MOST_SQUARES).map(({ node, state }) => (
        <i key={node} class={`sq t-${toneOf(state)}`} />
      ))}
    </span>
  );
}

function boxStyle({ x, y, width, height }: PlacedNode): Readonly<Record<string, string>> {
  return { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` };
}

/** Groups without a name have one of the graph's. */
function nameOf(id: string): string {
  return id.startsWith('~') ? '' : id;
}
