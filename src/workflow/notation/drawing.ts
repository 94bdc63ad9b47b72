/** Shared parts of the drawings of a graph. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import type { GraphNode, TaskGraph } from '../../graph/graph.ts';
import { compile } from '../compile.ts';
import { StepDefinition } from '../pipeline-definition.ts';
import type { AnyStep } from '../step.ts';

/** Values that can be drawn: a step or a graph. */
export type Drawable = AnyStep | TaskGraph;

/** States of nodes by id, such as `finished`; nodes without one get no color. */
export type NodeStates = ReadonlyMap<string, string>;

/**
 * The graph of a step, or the graph itself.
 *
 * @throws {@link InvalidOptionError} for any other value, or when `states` is not a map.
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

/** The label of a node; a group without a name is labeled by its kind. */
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

/** Escapes control characters: keys of members and states are arbitrary text. */
export function printable(text: string): string {
  return text.replaceAll(
    /[\p{C}\p{Zl}\p{Zp}]/gu,
    (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Colors by state; other states have none. */
export const STATE_COLORS: ReadonlyMap<string, string> = new Map([
  ['deferred', '#eeeeee'],
  ['scheduled', '#e8e0f5'],
  ['queued', '#fff4cc'],
  ['started', '#cfe4ff'],
  ['finished', '#d5f0d5'],
  ['failed', '#f8d0d0'],
  ['canceled', '#dddddd'],
]);
