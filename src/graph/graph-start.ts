/** Graphs with a start: runs execute one node and its successors, and leave out the rest. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { isNamed, shownNode } from '../domain/task/node-name.ts';
import {
  allNodes,
  blocksOf,
  dependenciesOf,
  type GraphBlock,
  type GraphNode,
  type TaskGraph,
} from './graph.ts';
import { type Binding, nodesRead, readsInput } from './graph-binding.ts';

/** Graphs with a start, by graph and node, so that each is made once. */
const STARTED = new WeakMap<TaskGraph, Map<string, TaskGraph>>();

/** The part that runs execute, by graph with a start. */
const EXECUTED = new WeakMap<TaskGraph, TaskGraph>();

/** Largest number of names in a message. */
const SHOWN = 20;

/**
 * The same graph with a start at an outermost node, which gets the input of the run.
 *
 * @throws {@link InvalidOptionError} when there is no such node, or when an executed node depends on
 * one that is left out.
 */
export function startedAt(graph: TaskGraph, given: string): TaskGraph {
  const start = graph.nodes.find(({ id }) => isNamed(id, given))?.id ?? given;
  const known = STARTED.get(graph) ?? new Map<string, TaskGraph>();
  STARTED.set(graph, known);
  const before = known.get(start);
  if (before !== undefined) return before;
  const started: TaskGraph = Object.freeze({ ...graph, start });
  checkStart(started);
  known.set(start, started);
  return started;
}

/** @throws {@link InvalidOptionError} as {@link startedAt}. */
export function checkStart(graph: TaskGraph): void {
  const { start, nodes, name } = graph;
  const first = nodes.find(({ id }) => id === start);
  if (start === undefined || first === undefined) {
    const names = nodes.slice(0, SHOWN).map(({ id }) => shownNode(id));
    const more = nodes.length > SHOWN ? ' …' : '';
    throw new InvalidOptionError('startAt', `a node of ${name}: ${names.join(', ')}${more}`, start);
  }
  const runs = following(graph, start);
  // A node that takes the whole input of its pipeline gets exactly the input of the run.
  const hasInput = first.input.from === 'input' && first.input.path === undefined;
  const demand = (who: string, binding: Binding): void => {
    const lost = nodesRead(binding).find((id) => !runs.has(id));
    const what = lost === undefined ? undefined : `the output of ${shownNode(lost)}`;
    const missing =
      what ?? (!hasInput && readsInput(binding) ? 'the input of the pipeline' : undefined);
    if (missing === undefined) return;
    const wanted = `a node whose successors need nothing else: ${shownNode(who)} reads ${missing}`;
    throw new InvalidOptionError('startAt', wanted, start);
  };
  for (const { id, input } of nodes) if (id !== start && runs.has(id)) demand(id, input);
  demand(`the end of ${name}`, graph.output);
}

/** The part of a graph that runs execute: all of it, or the start and its successors. */
export function executedGraph(graph: TaskGraph): TaskGraph {
  const { start, ...whole } = graph;
  if (start === undefined) return graph;
  const known = EXECUTED.get(graph);
  if (known !== undefined) return known;
  const runs = following(graph, start);
  const nodes = graph.nodes.flatMap((node): readonly GraphNode[] => {
    if (node.id === start) return [{ ...node, input: { from: 'input' }, after: [] }];
    if (!runs.has(node.id)) return [];
    return [{ ...node, after: node.after.filter((id) => runs.has(id)) }];
  });
  const made = { ...whole, nodes };
  EXECUTED.set(graph, made);
  return made;
}

/** Ids of the nodes that no run executes, including nested ones. */
export function leftOut(graph: TaskGraph): ReadonlySet<string> {
  if (graph.start === undefined) return NONE;
  const runs = following(graph, graph.start);
  const ids = new Set<string>();
  for (const node of graph.nodes) if (!runs.has(node.id)) for (const id of idsIn(node)) ids.add(id);
  return ids;
}

const NONE: ReadonlySet<string> = new Set();

/** A node of a block and all its direct and indirect dependents. */
function following(block: GraphBlock, id: string): ReadonlySet<string> {
  const readers = new Map<string, string[]>();
  for (const node of block.nodes) {
    for (const before of dependenciesOf(node)) {
      const known = readers.get(before);
      if (known === undefined) readers.set(before, [node.id]);
      else known.push(node.id);
    }
  }
  const all = new Set([id]);
  // The loop extends the set.
  for (const one of all) for (const reader of readers.get(one) ?? []) all.add(reader);
  return all;
}

/** Ids of a node and of all nodes inside it. */
export function idsIn(node: GraphNode): Set<string> {
  const ids = new Set([node.id]);
  for (const [, block] of blocksOf(node)) {
    for (const { id } of allNodes(block)) ids.add(id);
  }
  return ids;
}

/** Number of tasks and groups on the longest walk through a graph without jumps or cycles. */
export function longestWalk(block: GraphBlock): number {
  let own = 0;
  let longest = 0;
  const left: GraphBlock[] = [block];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    for (const node of next.nodes) {
      if (node.kind === 'block') {
        left.push(node.block);
        continue;
      }
      own++;
      // Each member has its own walk.
      for (const [, member] of blocksOf(node)) longest = Math.max(longest, longestWalk(member));
    }
  }
  return Math.max(own, longest);
}
