import {
  blocksOf,
  dependenciesOf,
  type GraphBlock,
  type GraphNode,
  isCalled,
  onlyNodeOf,
} from '../../graph/graph.ts';
import { sorted } from '../../graph/graph-plan.ts';
import { type Drawable, graphOf, labelOf, type NodeStates, printable } from './drawing.ts';

/**
 * Draws a workflow as text: one node per line, after the nodes that it waits for; parts of groups
 * and named pipelines are below them. `<-` lists the nodes that a node waits for, unless that is
 * only the line before it on the same level.
 *
 * @example
 * ```ts
 * import { task, toAscii } from 'fairloom';
 *
 * const extract = task('extract', async (n: number) => n);
 * const load = task('load', async (n: number) => n);
 * console.log(toAscii(extract.pipe(load).as('etl')).split('\n')[0]); // prints etl
 * ```
 */
export function toAscii(drawable: Drawable, states: NodeStates = new Map()): string {
  const graph = graphOf(drawable, states);
  const lines = [graph.name];
  drawBlock(graph, '', { lines, states });
  return `${lines.join('\n')}\n`;
}

interface Canvas {
  readonly lines: string[];
  readonly states: NodeStates;
}

function drawBlock(block: GraphBlock, indent: string, canvas: Canvas): void {
  const nodes = sorted(block.nodes);
  for (const [at, node] of nodes.entries()) {
    const isLast = at === nodes.length - 1;
    const waits = waitsOf(node, nodes[at - 1]);
    drawNode(node, { indent, isLast, waits, title: '' }, canvas);
  }
}

interface Line {
  readonly indent: string;
  readonly isLast: boolean;
  /** The nodes that it waits for, as text. */
  readonly waits: string;
  /** Prefix of its own label. */
  readonly title: string;
}

function drawNode(node: GraphNode, line: Line, canvas: Canvas): void {
  const state = canvas.states.get(node.id);
  const shown = state === undefined ? '' : ` [${printable(state)}]`;
  const branch = line.isLast ? '`-- ' : '|-- ';
  const star = node.kind === 'task' && node.dynamic !== undefined ? '*' : '';
  const label = `${line.title}${printable(labelOf(node))}${star}`;
  canvas.lines.push(`${line.indent}${branch}${label}${shown}${line.waits}`);
  const inner = `${line.indent}${line.isLast ? '    ' : '|   '}`;
  if (node.kind !== 'parallel') {
    for (const [, block] of blocksOf(node)) drawBlock(block, inner, canvas);
    return;
  }
  for (const [at, { key, block }] of node.members.entries()) {
    drawMember(key, block, {
      indent: inner,
      isLast: at === node.members.length - 1,
      canvas,
    });
  }
}

function drawMember(
  key: string,
  block: GraphBlock,
  at: { readonly indent: string; readonly isLast: boolean; readonly canvas: Canvas },
): void {
  const only = onlyNodeOf(block);
  if (only !== undefined) {
    const { indent, isLast, canvas } = at;
    const title = isCalled(only, key) ? '' : `${printable(key)}: `;
    drawNode(only, { indent, isLast, waits: '', title }, canvas);
    return;
  }
  at.canvas.lines.push(`${at.indent}${at.isLast ? '`-- ' : '|-- '}${printable(key)}:`);
  drawBlock(block, `${at.indent}${at.isLast ? '    ' : '|   '}`, at.canvas);
}

/** The dependencies that the order of the lines does not show. */
function waitsOf(node: GraphNode, before: GraphNode | undefined): string {
  const waits = dependenciesOf(node);
  const isObvious = waits.length === 0 ? before === undefined : waits.join() === before?.id;
  if (isObvious) return '';
  return ` <- ${waits.length === 0 ? 'input' : waits.map(printable).join(', ')}`;
}
