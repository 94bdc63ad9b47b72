/** Where the nodes of a graph stand: from left to right, groups around their members. */
import { Graph, layout } from '@dagrejs/dagre';
import {
  blocksOf,
  dependenciesOf,
  entriesOf,
  exitsOf,
  type GraphBlock,
  type GraphNode,
} from '../../../../src/graph/graph.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A rectangle with its upper left corner. */
export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** One node, or a group around others. */
export interface PlacedNode extends Box {
  readonly id: string;
  readonly kind: GraphNode['kind'];
  readonly task: string | undefined;
}

/** A line between two nodes. */
export interface PlacedEdge {
  readonly from: string;
  readonly to: string;
  /** As a path. */
  readonly line: string;
}

/** A graph that can be drawn. */
export interface Placed {
  readonly width: number;
  readonly height: number;
  /** Groups before what is in them. */
  readonly groups: readonly PlacedNode[];
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

const CHARACTER = 7.5;
const NODE = { least: 112, most: 240, height: 44, beside: 44, eachHeight: 64 };
const MARGIN = 16;

/** Tasks and `each` are drawn as one, whatever is in them; blocks and `parallel` as frames. */
export function placedGraph(graph: GraphBlock): Placed {
  const found = new Found();
  found.visit(graph, undefined);
  const drawing = new Graph({ compound: true });
  drawing.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 48, marginx: MARGIN, marginy: MARGIN });
  drawing.setDefaultEdgeLabel(() => ({}));
  for (const { id } of found.groups) drawing.setNode(id, {});
  for (const node of found.leaves) drawing.setNode(node.id, sizeOf(node));
  for (const [id, group] of found.parents) drawing.setParent(id, group);
  for (const [from, to] of found.edges) drawing.setEdge(from, to);
  layout(drawing);
  const placed = (node: GraphNode): PlacedNode => ({
    ...boxOf(drawing.node(node.id)),
    ...factsOf(node),
  });
  const { width = 0, height = 0 } = drawing.graph();
  return {
    width,
    height,
    groups: found.groups.map(placed),
    nodes: found.leaves.map(placed),
    edges: found.edges.map(([from, to]) => {
      const between = drawing.edge(from, to).points ?? [];
      return {
        from,
        to,
        line: lineOf(boxOf(drawing.node(from)), boxOf(drawing.node(to)), between),
      };
    }),
  };
}

/** The flat graph that a nested one is. */
class Found {
  readonly groups: GraphNode[] = [];
  readonly leaves: GraphNode[] = [];
  readonly edges: [from: string, to: string][] = [];
  readonly parents = new Map<string, string>();

  visit(block: GraphBlock, parent: string | undefined): void {
    for (const node of block.nodes) {
      if (parent !== undefined) this.parents.set(node.id, parent);
      if (isLeaf(node)) {
        this.leaves.push(node);
        continue;
      }
      this.groups.push(node);
      for (const [, inner] of blocksOf(node)) this.visit(inner, node.id);
    }
    const byId = new Map(block.nodes.map((node) => [node.id, node]));
    for (const node of block.nodes) {
      for (const id of dependenciesOf(node)) {
        const before = byId.get(id);
        if (before !== undefined) this.#join(ends(before, exitsOf), ends(node, entriesOf));
      }
    }
  }

  #join(from: readonly string[], to: readonly string[]): void {
    for (const one of from) for (const other of to) this.edges.push([one, other]);
  }
}

/** The leaves at which a node begins or ends. */
function ends(node: GraphNode, of: (block: GraphBlock) => readonly string[]): readonly string[] {
  if (isLeaf(node)) return [node.id];
  return blocksOf(node).flatMap(([, block]) => {
    const ids = new Set(of(block));
    return block.nodes.filter(({ id }) => ids.has(id)).flatMap((inner) => ends(inner, of));
  });
}

function isLeaf(node: GraphNode): boolean {
  return node.kind === 'task' || node.kind === 'each';
}

function factsOf(node: GraphNode): Pick<PlacedNode, 'id' | 'kind' | 'task'> {
  return { id: node.id, kind: node.kind, task: node.kind === 'task' ? node.task : undefined };
}

function sizeOf({ id, kind }: GraphNode): { readonly width: number; readonly height: number } {
  const width = Math.max(NODE.least, Math.min(NODE.most, id.length * CHARACTER + NODE.beside));
  return { width, height: kind === 'each' ? NODE.eachHeight : NODE.height };
}

/** The library gives middles. */
function boxOf({ x = 0, y = 0, width, height }: Partial<Box> & Pick<Box, 'height' | 'width'>): Box {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** Nodes that the library bends a line around. */
const STRAIGHT_POINTS = 3;

/** Out at the right, in at the left; around what lies between. */
function lineOf(from: Box, to: Box, between: readonly Point[]): string {
  const start = { x: from.x + from.width, y: from.y + from.height / 2 };
  const end = { x: to.x, y: to.y + to.height / 2 };
  const bends = between.length > STRAIGHT_POINTS ? between.slice(1, -1) : [];
  const stops = [...bends, end];
  let at = start;
  return stops.reduce((line, next) => {
    const middle = (at.x + next.x) / 2;
    const curve = `C${middle} ${at.y} ${middle} ${next.y} ${next.x} ${next.y}`;
    at = next;
    return `${line}${curve}`;
  }, `M${start.x} ${start.y}`);
}
