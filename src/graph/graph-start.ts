/** A graph whose runs begin at one of its nodes: it and what follows it runs, the rest is left out. */
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

/** Graphs that begin at nodes of others, so that each is made once. */
const STARTED = new WeakMap<TaskGraph, Map<string, TaskGraph>>();

/** What runs of graphs that begin at a node. */
const BEGUN = new WeakMap<TaskGraph, TaskGraph>();

/** Names that a message shows at most. */
const SHOWN = 20;

/**
 * The same graph, whose runs begin at a node of its outermost level. The input of such a run is that
 * node's.
 *
 * @throws {@link InvalidOptionError} when it has no such node, or when what runs needs what does not.
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
  // What a node gets that takes all of its pipeline's input is that input.
  const hasInput = first.input.from === 'input' && first.input.path === undefined;
  const demand = (who: string, binding: Binding): void => {
    const lost = nodesRead(binding).find((id) => !runs.has(id));
    const what = lost === undefined ? undefined : `the output of ${shownNode(lost)}`;
    const missing = what ?? (!hasInput && readsInput(binding) ? 'the input of all' : undefined);
    if (missing === undefined) return;
    const wanted = `a node that lacks nothing after it: ${shownNode(who)} reads ${missing}`;
    throw new InvalidOptionError('startAt', wanted, start);
  };
  for (const { id, input } of nodes) if (id !== start && runs.has(id)) demand(id, input);
  demand(`the end of ${name}`, graph.output);
}

/** What of a graph runs: all of it, unless it begins at a node. */
export function begun(graph: TaskGraph): TaskGraph {
  const { start, ...whole } = graph;
  if (start === undefined) return graph;
  const known = BEGUN.get(graph);
  if (known !== undefined) return known;
  const runs = following(graph, start);
  const nodes = graph.nodes.flatMap((node): readonly GraphNode[] => {
    if (node.id === start) return [{ ...node, input: { from: 'input' }, after: [] }];
    if (!runs.has(node.id)) return [];
    return [{ ...node, after: node.after.filter((id) => runs.has(id)) }];
  });
  const made = { ...whole, nodes };
  BEGUN.set(graph, made);
  return made;
}

/** The ids of nodes that no run of a graph comes to, with those inside of them. */
export function leftOut(graph: TaskGraph): ReadonlySet<string> {
  if (graph.start === undefined) return NONE;
  const runs = following(graph, graph.start);
  const ids = new Set<string>();
  for (const node of graph.nodes) if (!runs.has(node.id)) for (const id of idsIn(node)) ids.add(id);
  return ids;
}

const NONE: ReadonlySet<string> = new Set();

/** A node of a block, and all that wait for it, however far. */
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
  // Grows while it is walked.
  for (const one of all) for (const reader of readers.get(one) ?? []) all.add(reader);
  return all;
}

/** The ids of a node and of all inside of it. */
export function idsIn(node: GraphNode): Set<string> {
  const ids = new Set([node.id]);
  for (const [, block] of blocksOf(node)) {
    for (const { id } of allNodes(block)) ids.add(id);
  }
  return ids;
}

/** How many tasks and groups the longest walk through a graph comes to when nothing goes another way. */
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
      // Each member is walked by itself.
      for (const [, member] of blocksOf(node)) longest = Math.max(longest, longestWalk(member));
    }
  }
  return Math.max(own, longest);
}
