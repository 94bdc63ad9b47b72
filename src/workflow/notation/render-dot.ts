import { blocksOf, type GraphBlock, type GraphNode, type TaskGraph } from '../../graph/graph.ts';
import { flatten, sorted } from '../../graph/graph-plan.ts';
import {
  type Drawable,
  graphOf,
  labelOf,
  type NodeStates,
  printable,
  STATE_COLORS,
} from './drawing.ts';

/** Draws a workflow for Graphviz. Groups, named pipelines and flows are clusters. */
export function toDot(drawable: Drawable, states: NodeStates = new Map()): string {
  const graph = graphOf(drawable, states);
  const drawing = new Dot(states);
  drawing.block(graph, '  ');
  drawing.edges(graph);
  const head = [`digraph ${quoted(graph.name)} {`, '  rankdir=LR;', '  node [shape=box];'];
  return `${[...head, ...drawing.lines, '}'].join('\n')}\n`;
}

class Dot {
  readonly lines: string[] = [];
  readonly #states: NodeStates;

  constructor(states: NodeStates) {
    this.#states = states;
  }

  block(block: GraphBlock, indent: string): void {
    for (const node of sorted(block.nodes)) this.#node(node, indent);
  }

  edges(graph: TaskGraph): void {
    for (const { id, kind, dependsOn } of flatten(graph).nodes) {
      if (kind === 'join') this.lines.push(`  ${quoted(id)} [shape=point];`);
      for (const from of dependsOn) this.lines.push(`  ${quoted(from)} -> ${quoted(id)};`);
    }
  }

  #node(node: GraphNode, indent: string): void {
    const state = this.#states.get(node.id);
    const label = quoted(state === undefined ? labelOf(node) : `${labelOf(node)}: ${state}`);
    if (node.kind === 'task') {
      const color = STATE_COLORS.get(state ?? '');
      const fill = color === undefined ? '' : `, style=filled, fillcolor="${color}"`;
      const shape = node.dynamic === undefined ? '' : ', shape=hexagon';
      this.lines.push(`${indent}${quoted(node.id)} [label=${label}${shape}${fill}];`);
      return;
    }
    this.lines.push(`${indent}subgraph ${quoted(`cluster_${node.id}`)} {`);
    this.lines.push(`${indent}  label=${label};`);
    for (const [, block] of blocksOf(node)) this.block(block, `${indent}  `);
    if (node.kind !== 'block') this.lines.push(`${indent}  ${quoted(node.id)} [shape=point];`);
    this.lines.push(`${indent}}`);
  }
}

/** A quoted string of Graphviz; backslashes are escaped. */
function quoted(text: string): string {
  return `"${printable(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}
