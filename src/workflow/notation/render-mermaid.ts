import { blocksOf, type GraphBlock, type GraphNode, type TaskGraph } from '../../graph/graph.ts';
import { flatten, sorted } from '../../graph/graph-plan.ts';
import { type Drawable, graphOf, labelOf, type NodeStates, STATE_COLORS } from './drawing.ts';

/**
 * Draws a workflow as a Mermaid flowchart. Groups, named pipelines and flows are frames; a small
 * circle is the end of a group.
 */
export function toMermaid(drawable: Drawable, states: NodeStates = new Map()): string {
  const graph = graphOf(drawable, states);
  const drawing = new Mermaid(graph, states);
  drawing.block(graph, '  ');
  drawing.edges();
  return `${['flowchart LR', ...drawing.lines].join('\n')}\n`;
}

class Mermaid {
  readonly lines: string[] = [];
  readonly #states: NodeStates;
  readonly #flat: ReturnType<typeof flatten>;
  /** Generated names of nodes: ids may contain operators of Mermaid. */
  readonly #names = new Map<string, string>();

  constructor(graph: TaskGraph, states: NodeStates) {
    this.#states = states;
    this.#flat = flatten(graph);
    for (const [at, { id }] of this.#flat.nodes.entries()) this.#names.set(id, `n${at}`);
  }

  block(block: GraphBlock, indent: string): void {
    for (const node of sorted(block.nodes)) this.#node(node, indent);
  }

  edges(): void {
    const used = new Set<string>();
    for (const { id, kind, dependsOn } of this.#flat.nodes) {
      const name = this.#name(id);
      if (kind === 'join') this.lines.push(`  ${name}(( ))`);
      for (const from of dependsOn) this.lines.push(`  ${this.#name(from)} --> ${name}`);
      const state = this.#states.get(id);
      if (state !== undefined && STATE_COLORS.has(state)) {
        used.add(state);
        this.lines.push(`  class ${name} ${state}`);
      }
    }
    for (const state of [...used].sort()) {
      this.lines.push(`  classDef ${state} fill:${STATE_COLORS.get(state)}`);
    }
  }

  #node(node: GraphNode, indent: string): void {
    const label = escaped(this.#label(node));
    if (node.kind === 'task') {
      const [open, close] = node.dynamic === undefined ? ['[', ']'] : ['{{', '}}'];
      this.lines.push(`${indent}${this.#name(node.id)}${open}"${label}"${close}`);
      return;
    }
    this.lines.push(`${indent}subgraph s${this.lines.length}["${label}"]`);
    for (const [, block] of blocksOf(node)) this.block(block, `${indent}  `);
    if (node.kind !== 'block') this.lines.push(`${indent}  ${this.#name(node.id)}(( ))`);
    this.lines.push(`${indent}end`);
  }

  #label(node: GraphNode): string {
    const state = this.#states.get(node.id);
    return state === undefined ? labelOf(node) : `${labelOf(node)}: ${state}`;
  }

  #name(id: string): string {
    return this.#names.get(id) ?? 'n';
  }
}

/** Text between quotes, with special characters as numeric entities. */
function escaped(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N} .,:_-]/gu, (sign) => `#${sign.codePointAt(0)};`);
}
