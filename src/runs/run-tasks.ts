/** The tasks of one run, as they are stored. */

import { impossible } from '../base/never.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { shownNode } from '../domain/task/node-name.ts';
import type { EdgePolicies, NewTask } from '../domain/task/task.ts';
import { scopedKey } from '../domain/task/task-name.ts';
import { isSharedKey, type Place } from '../enqueue/enqueue-options.ts';
import type { GraphNode, TaskGraph } from '../graph/graph.ts';
import type { PlanTask } from '../graph/graph-plan.ts';
import { executedGraph } from '../graph/graph-start.ts';
import { codeKept, codeOfNode } from '../graph/node-code.ts';
import { RunWalk } from '../graph/run-walk.ts';
import type { DispatchTask } from './dispatch.ts';
import type { KnownGraph } from './known-graph.ts';
import {
  driveTaskFor,
  type Edits,
  editOf,
  GIVEN_TASK,
  GROUP_TASK,
  JOIN_TASK,
  LATE_PAYLOAD,
  nodeScope,
  nodeTaskId,
  RUN_TASK,
  type RunPlace,
  runOptions,
  runPayload,
  type Seed,
  sha256,
} from './record.ts';
import { placeOfNode, type RunSettings } from './run-options.ts';

/** A run to store. */
export interface RunCall {
  readonly known: KnownGraph;
  readonly input: unknown;
  readonly settings: RunSettings;
  readonly codec: ValueCodec;
  /** Default place of tasks. */
  readonly base: Place;
  /** Nodes whose results another run has, with the ids of their tasks. */
  readonly reused?: ReadonlyMap<string, string>;
  /** Those other runs. */
  readonly past?: readonly string[];
  /** Nodes that have finished elsewhere, with their outputs as text. */
  readonly given?: ReadonlyMap<string, string>;
  /** Entries from which a driven run continues. */
  readonly seed?: Seed;
  /** Edited inputs of nodes. */
  readonly edits?: Edits;
  /** The run of which it is a fork. */
  readonly forkedFrom?: string;
  /** See `RunPlace`. */
  readonly turn?: number;
}

/** Edges of a task that ends as its dependencies do. */
const STRICT: EdgePolicies = {
  onFailure: 'fail',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};

/** Edges of a task that reads the outcomes of its dependencies itself. */
const LENIENT: EdgePolicies = { ...STRICT, onFailure: 'run', onCancel: 'run' };

/** The tasks of a dispatched run, each after its dependencies, its own last. */
export function dispatchedTasks(call: RunCall): readonly NewTask[] {
  const { known, reused } = call;
  const { tasks, ends } = known.dispatch;
  const needed = neededOf(call);
  const made = tasks.flatMap((task) => {
    const text = call.given?.get(task.id);
    if (text !== undefined) return [givenTask(call, task, text)];
    return needed.has(task.id) ? [nodeTask(call, task)] : [];
  });
  const idOf = (node: string): string => reused?.get(node) ?? idOfNode(call, node);
  return [...made, joinOfAll(call, ends.map(idOf))];
}

/** The task of a driven run. */
export function drivenTask(call: RunCall): NewTask {
  const { settings, known, input, codec } = call;
  const { checkpoint } = settings;
  const often = checkpoint === undefined ? {} : { checkpoint };
  const stored = { retries: 0, timeoutMs: 0, ...settings.stored, ...often };
  return {
    ...ownTask(
      call,
      driveTaskFor(executedGraph(known.graph), settings.overrides),
      runOptions(stored, placeOfRun(call)),
    ),
    payload: runPayload(codec, { input, seed: call.seed, edits: call.edits }),
    graph: known.hash,
    dependsOn: settings.dependsOn,
    edges: settings.edges,
    ...settings.start,
    ...drivenExpiry(call),
  };
}

/** The start of the run is the start of its first node, so that node's expiry applies. */
function drivenExpiry({ settings, known: { graph }, input }: RunCall): {
  readonly expiresInMs?: number;
} {
  const hasExpiry = (node: GraphNode): boolean =>
    node.kind === 'task' && node.options['expiresInMs'] !== undefined;
  if (settings.options.expiresIn !== undefined || !graph.nodes.some(hasExpiry))
    return expiry(settings.place);
  const first = new RunWalk({ graph, block: graph, input, isMember: false }).next();
  const expiresInMs = first.type === 'task' ? first.node.options['expiresInMs'] : undefined;
  return typeof expiresInMs === 'number' ? { expiresInMs } : expiry(settings.place);
}

/** Nodes that must run: all, except those needed only for results that another run has. */
function neededOf({ known, reused, given }: RunCall): ReadonlySet<string> {
  const { tasks, byId, ends } = known.dispatch;
  if (reused === undefined && given === undefined) return new Set(tasks.map(({ id }) => id));
  const needed = new Set<string>();
  const left = [...ends];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (needed.has(id) || reused?.has(id) === true || given?.has(id) === true) continue;
    needed.add(id);
    left.push(...(byId.get(id)?.dependsOn ?? []));
  }
  return needed;
}

function nodeTask(call: RunCall, task: DispatchTask): NewTask {
  const { settings, reused } = call;
  const { id, kind, plan } = task;
  const isTask = plan?.kind === 'task';
  const place = isTask ? placeOfNode(plan.task, settings, call.base) : settings.place;
  const edited = isTask ? editOf(call.edits, id) : undefined;
  const isLate = edited === undefined && (kind === 'group' || task.reads.length > 0);
  const { maxSteps } = settings.overrides ?? {};
  const run: RunPlace = {
    ...{ id: settings.id, graph: call.known.hash, node: id, ...turnOf(call) },
    ...(isLate ? { late: true } : {}),
    ...(isTask && maxSteps !== undefined ? { said: { maxSteps } } : {}),
    ...(isLate && call.past !== undefined ? { past: call.past } : {}),
  };
  const inside = task.dependsOn.map((node) => reused?.get(node) ?? idOfNode(call, node));
  const isEntry = inside.length === 0;
  return {
    id: idOfNode(call, id),
    name: isTask
      ? codeOfNode(plan.task, settings.overrides)
      : kind === 'group'
        ? GROUP_TASK
        : JOIN_TASK,
    queue: place.queue,
    user: settings.user,
    level: place.level,
    cost: isTask ? place.cost : 1,
    payload: edited ?? (isTask ? payloadOf(call, plan, isLate) : LATE_PAYLOAD),
    options: runOptions(isTask ? settings.stored : {}, run),
    dependsOn: isEntry ? settings.dependsOn : inside,
    edges: isEntry ? settings.edges : task.isStrict ? STRICT : LENIENT,
    ...(kind === 'join' ? { join: true } : {}),
    ...(isEntry && kind !== 'join' ? settings.start : {}),
    ...(isTask ? nodeExpiry(call, plan.task, isEntry) : {}),
  };
}

/** Expiry: the enqueue's for entries; the definition's for others, from when nothing blocks them. */
function nodeExpiry(
  { settings, base }: RunCall,
  node: PlanTask['task'],
  isEntry: boolean,
): Pick<NewTask, 'expiresInMs' | 'expiresFrom'> {
  if (isEntry) return expiry(placeOfNode(node, settings, base));
  const { expiresInMs = base.expiresInMs } = node.options;
  return typeof expiresInMs === 'number' ? { expiresInMs, expiresFrom: 'release' } : {};
}

/** A node that has finished elsewhere has no dependencies. */
function givenTask(call: RunCall, task: DispatchTask, text: string): NewTask {
  const { settings } = call;
  const isTask = task.plan?.kind === 'task';
  const place = isTask ? placeOfNode(task.plan.task, settings, call.base) : settings.place;
  const { traceparent } = settings.stored;
  const options = traceparent === undefined ? {} : { traceparent };
  return {
    id: idOfNode(call, task.id),
    name: GIVEN_TASK,
    queue: place.queue,
    user: settings.user,
    level: place.level,
    cost: 1,
    payload: text,
    options: runOptions(options, {
      ...{ id: settings.id, graph: call.known.hash, node: task.id, ...turnOf(call) },
    }),
    dependsOn: [],
    edges: STRICT,
  };
}

/** The input of a node without dependencies is known already. */
function payloadOf({ known, codec, input }: RunCall, plan: PlanTask, isLate: boolean): string {
  if (isLate) return LATE_PAYLOAD;
  const value = known.values.build(plan.input, {
    input,
    outcome: (node) => impossible(`node "${shownNode(node)}" has not run`),
  });
  return codec.payload(plan.task.task, value);
}

function joinOfAll(call: RunCall, ends: readonly string[]): NewTask {
  const { settings, known } = call;
  const isEmpty = ends.length === 0;
  return {
    ...ownTask(call, RUN_TASK, runOptions(settings.stored, placeOfRun(call))),
    payload: runPayload(call.codec, { input: call.input, edits: call.edits }),
    graph: known.hash,
    dependsOn: isEmpty ? settings.dependsOn : ends,
    edges: isEmpty ? settings.edges : STRICT,
    join: true,
  };
}

function ownTask(
  { settings, known: { graph } }: RunCall,
  name: string,
  options: string,
): Pick<NewTask, 'id' | 'name' | 'queue' | 'user' | 'level' | 'cost' | 'options' | 'idempotency'> {
  const { id, user, place, key } = settings;
  const { queue, level } = place;
  // The client checks for a stored run itself, so that no other task of this one is stored.
  const idempotency =
    key === undefined
      ? {}
      : {
          idempotency: { ...key, key: keyFor(graph, settings, key.key), policy: 'reject' } as const,
        };
  return { id, name, queue, user, level, cost: 1, options, ...idempotency };
}

/** A key applies to runs of one name; runs that keep other code have separate keys. */
function keyFor(graph: TaskGraph, { options, overrides }: RunSettings, key: string): string {
  if (isSharedKey(options)) return key;
  const kept = [...codeKept(graph, overrides)];
  if (kept.length === 0) return scopedKey(graph.name, key);
  const code = sha256(kept.sort().join('\n')).slice(0, SCOPE_DIGITS);
  return scopedKey(`${graph.name}@${code}`, key);
}

/** Hexadecimal digits of a hash that distinguishes versions: 96 bits. */
const SCOPE_DIGITS = 24;

function placeOfRun(call: RunCall): RunPlace {
  const { settings, known, past } = call;
  return {
    ...turnOf(call),
    id: settings.id,
    graph: known.hash,
    node: '',
    name: known.graph.name,
    ...(past === undefined ? {} : { past }),
    ...(call.forkedFrom === undefined ? {} : { forkedFrom: call.forkedFrom }),
    ...(settings.overrides === undefined ? {} : { said: settings.overrides }),
  };
}

/** The id of a node's task. */
function idOfNode(call: RunCall, node: string): string {
  return nodeTaskId(nodeScope({ id: call.settings.id, ...turnOf(call) }), node);
}

function turnOf({ turn = 0 }: Pick<RunCall, 'turn'>): Pick<RunPlace, 'turn'> {
  return turn === 0 ? {} : { turn };
}

function expiry({ expiresInMs }: Place): { readonly expiresInMs?: number } {
  return expiresInMs === undefined ? {} : { expiresInMs };
}
