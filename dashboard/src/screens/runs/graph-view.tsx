/** The graph of a run, with the states of its nodes; groups of many are folded into one box. */
import type { VNode } from 'preact';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { GraphStates, RunDetails, RunNodeInfo } from '../../api/shapes.ts';
import { source } from '../../api/sources.ts';
import { Button } from '../../parts/button.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { Empty, Shown } from '../../parts/shown.tsx';
import { address, linkHere, lookBy } from '../../state/address.ts';
import { useReading } from '../../state/readings.ts';
import { countText } from '../../words/numbers.ts';
import { type FlatGraph, flatGraph, type Members } from './flat-graph.ts';
import { FoldedBox, Frame, GridBox, type GroupProps, NodeBox, stateOf } from './graph-boxes.tsx';
import { type PlacedEdge, placedGraph } from './layout.ts';

/** More boxes are no picture any more. */
const MOST_BOXES = 300;

/** From left to right. */
export function GraphView({ run }: { readonly run: RunDetails }): VNode {
  const reading = useReading(source('GET /runs/{id}/graph', [run.id]));
  return (
    <Shown reading={reading} what="the graph">
      {({ graph, states }) => <Folding graph={graph} states={states} run={run} />}
    </Shown>
  );
}

interface DrawnProps extends GraphStates {
  readonly run: RunDetails;
}

/** Which groups are open stands in the address. */
function Folding({ graph, states, run }: DrawnProps): VNode {
  const text = address.value.query.get('turned') ?? '';
  const each = openMembers(run.nodes);
  const eachText = [...each].flat(2).join(' ');
  // One run has one graph; readings of it differ in their states alone.
  const flat = useMemo(() => flatGraph(graph, each, idsIn(text)), [run.graph, text, eachText]);
  const isAnyOpen = [...flat.folds.values()].includes(false);
  return (
    <>
      {flat.folds.size === 0 ? null : (
        <div class="graph-tools">
          <Button
            small={true}
            icon={isAnyOpen ? 'right' : 'down'}
            shortcut="e"
            onPress={() => turnAll(flat, idsIn(text), isAnyOpen)}
          >
            {isAnyOpen ? 'Fold groups' : 'Unfold groups'}
          </Button>
        </div>
      )}
      {flat.boxes.length > MOST_BOXES ? (
        <Empty title={`${countText(flat.boxes.length)} nodes are too many for a picture`}>
          <p>
            Fold groups, or see them in the <a href={linkHere({ view: 'table' })}>table</a>.
          </p>
        </Empty>
      ) : (
        <Drawn flat={flat} states={states} run={run} />
      )}
    </>
  );
}

interface FlatProps {
  readonly flat: FlatGraph;
  readonly states: GraphStates['states'];
  readonly run: RunDetails;
}

function Drawn({ flat, states, run }: FlatProps): VNode {
  const placed = useMemo(() => placedGraph(flat), [flat]);
  const { width, height, frames, boxes, edges } = placed;
  const [area, turn] = useTurning();
  const known = new Map(run.nodes.map((node) => [node.node, node]));
  const byBox = new Map(boxes.map((box) => [box.id, stateOf(box, states)]));
  const shared = (id: string): Omit<GroupProps, 'box'> => ({
    frame: flat.parents.get(id),
    states,
    known,
    turn: () => turn(id),
  });
  return (
    <Scroller label="The graph, from left to right">
      <div class="graph" ref={area} style={{ width: `${width}px`, height: `${height}px` }}>
        {frames.map((box) => (
          <Frame key={box.id} box={box} {...shared(box.id)} />
        ))}
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          {edges.map((edge) => (
            <Edge key={`${edge.from} ${edge.to}`} edge={edge} states={byBox} />
          ))}
        </svg>
        {boxes.map((box) => {
          if (box.form === 'folded')
            return <FoldedBox key={box.id} box={box} {...shared(box.id)} />;
          if (box.form === 'grid') return <GridBox key={box.id} box={box} {...shared(box.id)} />;
          return <NodeBox key={box.id} box={box} {...shared(box.id)} />;
        })}
      </div>
    </Scroller>
  );
}

/** The focus stays on a group that is turned, though its button is another one then. */
function useTurning(): readonly [{ current: HTMLDivElement | null }, (id: string) => void] {
  const area = useRef<HTMLDivElement>(null);
  const turned = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const id = turned.current;
    if (id === undefined) return;
    turned.current = undefined;
    const buttons = [...(area.current?.querySelectorAll<HTMLElement>('[data-group]') ?? [])];
    buttons.find(({ dataset }) => dataset['group'] === id)?.focus();
  });
  return [
    area,
    (id) => {
      turned.current = id;
      const ids = new Set(idsIn(address.peek().query.get('turned') ?? ''));
      if (!ids.delete(id)) ids.add(id);
      lookBy({ turned: textOf(ids) });
    },
  ];
}

/** All groups that are shown are folded, or none is. */
function turnAll({ folds }: FlatGraph, turned: ReadonlySet<string>, toFolded: boolean): void {
  const ids = new Set(turned);
  for (const [id, isFolded] of folds) {
    if (isFolded !== toFolded && !ids.delete(id)) ids.add(id);
  }
  lookBy({ turned: textOf(ids) });
}

function idsIn(text: string): ReadonlySet<string> {
  return new Set(new URLSearchParams(text).keys());
}

function textOf(ids: ReadonlySet<string>): string {
  return new URLSearchParams([...ids].map((id) => [id, ''])).toString();
}

/** Those of an `each` that have not ended, by their group: they are called `group/3`. */
function openMembers(nodes: readonly RunNodeInfo[]): Members {
  const found = new Map<string, string[]>();
  for (const { node } of nodes) {
    const at = node.lastIndexOf('/');
    if (at === -1) continue;
    const group = node.slice(0, at);
    const own = found.get(group);
    if (own === undefined) found.set(group, [node]);
    else own.push(node);
  }
  return found;
}

interface EdgeProps {
  readonly edge: PlacedEdge;
  readonly states: ReadonlyMap<string, RunNodeInfo['state']>;
}

function Edge({ edge, states }: EdgeProps): VNode {
  const kind = edgeKind(states.get(edge.from), states.get(edge.to));
  return <path class={`edge ${kind}`} d={edge.line} />;
}

function edgeKind(from: string | undefined, to: string | undefined): string {
  if (to === 'skipped' || to === 'canceled') return 'e-cut';
  return from === 'finished' ? 'e-done' : 'e-wait';
}
