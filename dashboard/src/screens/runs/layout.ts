/** Where the boxes of a graph stand: from left to right, frames around what is in them. */
import { Graph, layout } from '@dagrejs/dagre';
import { type Box, type FlatGraph, MOST_CELLS } from './flat-graph.ts';

interface Point {
  readonly x: number;
  readonly y: number;
}

/** A rectangle with its upper left corner. */
export interface Area extends Point {
  readonly width: number;
  readonly height: number;
}

/** A box, or a frame around others. */
export type PlacedBox = Area & Box;

/** A line between two boxes. */
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
  /** Outer ones first. */
  readonly frames: readonly PlacedBox[];
  readonly boxes: readonly PlacedBox[];
  readonly edges: readonly PlacedEdge[];
}

const CHARACTER = 7.5;
const NODE = { least: 112, most: 240, height: 44, beside: 44 };
const FOLDED = { least: 216, most: 340, height: 84, beside: 160 };
const MARGIN = 24;
/** Of a box with its members in rows. */
const GRID = { cell: 132, row: 30, head: 28, edge: 8, mostColumns: 12 };

/** So many cells stand beside each other. */
function gridColumns(cells: number): number {
  return Math.max(3, Math.min(GRID.mostColumns, Math.round(Math.sqrt(cells / 3))));
}

/** Every box has a place of its own. */
export function placedGraph({ frames, boxes, edges, parents }: FlatGraph): Placed {
  const drawing = new Graph({ compound: true });
  drawing.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 48, marginx: MARGIN, marginy: MARGIN });
  drawing.setDefaultEdgeLabel(() => ({}));
  for (const { id } of frames) drawing.setNode(id, {});
  for (const box of boxes) drawing.setNode(box.id, sizeOf(box));
  for (const [id, frame] of parents) drawing.setParent(id, frame);
  for (const [from, to] of edges) drawing.setEdge(from, to);
  layout(drawing);
  const placed = (box: Box): PlacedBox => ({ ...areaOf(drawing.node(box.id)), ...box });
  const { width = 0, height = 0 } = drawing.graph();
  return {
    width,
    height,
    frames: frames.map(placed),
    boxes: boxes.map(placed),
    edges: edges.map(([from, to]) => {
      const between = drawing.edge(from, to).points ?? [];
      return {
        from,
        to,
        line: lineOf(areaOf(drawing.node(from)), areaOf(drawing.node(to)), between),
      };
    }),
  };
}

function sizeOf({ id, form, members }: Box): { readonly width: number; readonly height: number } {
  if (form === 'grid') {
    const cells = Math.min(members.length, MOST_CELLS);
    const columns = gridColumns(cells);
    const rows = Math.ceil(cells / columns);
    return {
      width: columns * GRID.cell + 2 * GRID.edge,
      height: rows * GRID.row + GRID.head + GRID.edge,
    };
  }
  const { least, most, height, beside } = form === 'folded' ? FOLDED : NODE;
  return { width: Math.max(least, Math.min(most, id.length * CHARACTER + beside)), height };
}

/** The library gives middles. */
function areaOf({
  x = 0,
  y = 0,
  width,
  height,
}: Partial<Area> & Pick<Area, 'height' | 'width'>): Area {
  return { x: x - width / 2, y: y - height / 2, width, height };
}

/** Nodes that the library bends a line around. */
const STRAIGHT_POINTS = 3;

/** Out at the right, in at the left; around what lies between. */
function lineOf(from: Area, to: Area, between: readonly Point[]): string {
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
