/** A run that goes on from another one's results. */
import { InvalidOptionError, TaskNotFoundError } from '../../domain/errors.ts';
import { allNodes, blocksOf, type GraphNode } from '../../domain/graph.ts';
import type { KnownGraph } from './known-graph.ts';
import { storedOptionsOf } from './record.ts';
import type { RunHandle } from './run-handle.ts';
import { runTerms } from './run-options.ts';
import { type RunTools, submitCall } from './run-submission.ts';
import { RunView } from './run-view.ts';

/** How a run is run again. */
export interface RerunOptions {
  /**
   * A node or group, by its name in the graph: it and all that follows it run again, also what had
   * finished. Default: only what had not finished does.
   */
  readonly from?: string | undefined;
  /** The new run's id. Default: a new one. */
  readonly id?: string | undefined;
}

/** Runs whose results one run may go on from: a chain of reruns is no longer than this. */
const MOST_PAST = 16;

/** Stores a new run with the input and the graph of another. */
export async function rerun(
  tools: RunTools,
  id: string,
  options: RerunOptions,
): Promise<RunHandle<unknown>> {
  const { handles, maker } = tools;
  const view = await RunView.find(handles, id);
  if (view === undefined) throw new TaskNotFoundError(id);
  const known = await view.known();
  const { user, options: stored } = view.root;
  const { queue, level, cost } = view.place.said ?? {};
  const said = { user, queue, priority: level, cost, id: options.id };
  const terms = { ...runTerms(tools, said), stored: storedOptionsOf(stored) };
  const call = { known, input: view.input, terms, codec: handles.codec, base: maker.base };
  if (view.form === 'driven') {
    if (options.from === undefined) return submitCall(tools, call, 'driven');
    throw new InvalidOptionError('from', 'nothing: a driven run begins anew', options.from);
  }
  const again = options.from === undefined ? new Set<string>() : fromNode(known, options.from);
  const reused = new Map<string, string>();
  for (const [node, { id: taskId, state }] of await view.records()) {
    if (state === 'finished' && !again.has(node)) reused.set(node, taskId);
  }
  const past = [id, ...(view.place.past ?? [])].slice(0, MOST_PAST);
  return submitCall(tools, { ...call, reused, past }, 'dispatched');
}

/** Tasks of a node and of everything that follows it. */
function fromNode({ graph, dispatch }: KnownGraph, from: string): ReadonlySet<string> {
  const start = [...allNodes(graph)].find(({ id }) => id === from);
  if (start === undefined) {
    throw new InvalidOptionError('from', `a node of ${graph.name}`, from);
  }
  const again = idsIn(start);
  // Tasks stand after those that they wait for, so one pass finds all that follow.
  for (const { id, dependsOn } of dispatch.tasks) {
    if (dependsOn.some((one) => again.has(one))) again.add(id);
  }
  return again;
}

/** The ids of a node and of all inside of it. */
function idsIn(node: GraphNode): Set<string> {
  const ids = new Set([node.id]);
  for (const [, block] of blocksOf(node)) {
    for (const { id } of allNodes(block)) ids.add(id);
  }
  return ids;
}
