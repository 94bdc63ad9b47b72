/** What drawings of a graph have in common. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { GraphNode, TaskGraph } from '../../graph/graph.ts';
import { compile } from '../compile.ts';
import { StepDefinition } from '../pipeline-definition.ts';
import type { AnyStep } from '../step.ts';

/** What can be drawn: a step, or a graph that was made before. */
export type Drawable = AnyStep | TaskGraph;

/** States of nodes by id, such as `finished`; nodes without one are drawn plainly. */
export type NodeStates = ReadonlyMap<string, string>;

/**
 * The graph of a step, or the graph itself.
 *
 * @throws {@link InvalidOptionError} for what is neither, or for states that are no map.
 */
export function graphOf(drawable: Drawable, states: NodeStates): TaskGraph {
  if (typeof states?.get !== 'function') {
    throw new InvalidOptionError('states', 'a map of states by the ids of nodes', states);
  }
  if (drawable instanceof StepDefinition) return compile(drawable);
  if (isGraph(drawable)) return drawable;
  throw new InvalidOptionError('drawable', 'a step, or a graph', drawable);
}

function isGraph(value: Drawable): value is TaskGraph {
  if (typeof value !== 'object' || value === null || !('nodes' in value)) return false;
  return typeof value.name === 'string' && Array.isArray(value.nodes);
}

/** What a node is called in a drawing: groups without a name by what they do. */
export function labelOf(node: GraphNode): string {
  if (node.id.startsWith('~')) return kindOf(node);
  const words = [node.id];
  const isAlias = node.kind === 'task' && !`.${node.id}`.endsWith(`.${node.task}`);
  if (isAlias) words.push(`(${node.task})`);
  if (node.kind === 'parallel' || node.kind === 'each') words.push(`(${kindOf(node)})`);
  return words.join(' ');
}

function kindOf(node: GraphNode): string {
  if (node.kind !== 'parallel' && node.kind !== 'each') return node.kind;
  const { policy } = node;
  switch (policy.kind) {
    case 'strict':
      return node.kind;
    case 'bestEffort':
      return `${node.kind}, best effort`;
    case 'atLeast':
      return `${node.kind}, at least ${policy.count}`;
    case 'critical':
      return `${node.kind}, critical: ${policy.members.join(', ')}`;
    case 'registered':
      return `${node.kind}, policy ${policy.name}`;
  }
}

/** Keys of members and states are any text: what would move a cursor is shown as an escape. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Colors of states, for those that drawings know; others are drawn plainly. */
export const STATE_COLORS: ReadonlyMap<string, string> = new Map([
  ['deferred', '#eeeeee'],
  ['scheduled', '#e8e0f5'],
  ['queued', '#fff4cc'],
  ['started', '#cfe4ff'],
  ['finished', '#d5f0d5'],
  ['failed', '#f8d0d0'],
  ['canceled', '#dddddd'],
]);
