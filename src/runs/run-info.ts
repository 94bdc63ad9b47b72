/** Information on runs for display. */

import type { ValueCodec } from '../codec/codec.ts';
import { errorOf, type TaskError } from '../codec/task-error.ts';
import { type DecryptionError, isOwn } from '../domain/errors/errors.ts';
import type { Inspect } from '../domain/port/backend.ts';
import { type Cause, readableCause } from '../domain/task/cause.ts';
import { type RunPause, readablePause } from '../domain/task/pause.ts';
import type { Level, TaskRecord, TaskRow, TaskState } from '../domain/task/task.ts';
import { causesOf } from './failure-cause.ts';
import {
  GROUP_TASK,
  isRun,
  JOIN_TASK,
  RUN_TASK,
  type RunPlace,
  runInputOf,
  runPlaceOf,
} from './record.ts';
import type { RunForm } from './run-options.ts';

/** One run. Moments are ms since the epoch by the backend's clock. */
export interface RunInfo {
  /** Id of the run. */
  readonly id: string;
  /** Name of its pipeline. */
  readonly name: string;
  /** Its form. */
  readonly form: RunForm;
  /** State of the run; `deferred` while it waits for its nodes. */
  readonly state: TaskState;
  /** User of its tasks. */
  readonly user: string;
  /** Queue of the run; nodes may have other queues. */
  readonly queue: string;
  /** Priority of its tasks unless they have their own, 1 to 6. */
  readonly priority: Level;
  /** Hash of its graph; see `loom.graphs.get`. */
  readonly graph: string;
  /** Moment of the enqueue. */
  readonly createdAt: number;
  /** Moment of the end. */
  readonly endedAt?: number;
  /** Input of the run; absent when it cannot be read. */
  readonly input?: unknown;
  /** Id of the key with which the input is encrypted, if it cannot be read here. */
  readonly encryptedWith?: string;
  /** Why it did not finish. */
  readonly cause?: Cause;
  /** `failed`: the error of the task that failed first; absent without one, as after a timeout. */
  readonly error?: TaskError;
  /** Runs whose results it uses, the newest first. */
  readonly past?: readonly string[];
  /** The run of which it is a fork. */
  readonly forkedFrom?: string;
  /** The pause, during which none of its tasks starts. */
  readonly paused?: RunPause;
}

/** One run with its nodes. */
export interface RunDetails extends RunInfo {
  /** Values of `ctx.metadata`; absent without any. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** `finished`: the output of its pipeline; absent when a part of it is removed. */
  readonly result?: unknown;
  /**
   * Its nodes in the order of the graph, each after its dependencies; a group is listed at its end.
   * Empty when the graph cannot be read here.
   */
  readonly nodes: readonly RunNodeInfo[];
}

/**
 * The state of the node's task; or `pending`: a driven run has not reached it; `skipped`: it never ran,
 * because its run ended before or another node did not finish; `gone`: retention has removed its
 * record.
 */
export type RunNodeState = TaskState | 'pending' | 'skipped' | 'gone';

/** One node of a run. */
export interface RunNodeInfo {
  /** Name of the node in the graph. */
  readonly node: string;
  /** Key of the member of a `parallel`, if it differs from the node's name. */
  readonly member?: string;
  /** State of the node. */
  readonly state: RunNodeState;
  /** Id for `loom.tasks`; absent when it is not a task of the queue. */
  readonly taskId?: string;
  /** Error of its latest failure. */
  readonly error?: TaskError;
}

/** A run's own task, decoded. */
export interface RunFacts {
  readonly root: TaskRow;
  readonly place: RunPlace;
  readonly form: RunForm;
  /** Input of the run. May throw. */
  readonly input: unknown;
}

/** The run of a row in a listing; `undefined` for another task. */
export function listedRun(codec: ValueCodec, root: TaskRow): RunFacts | undefined {
  const place = runPlaceOf(root.options);
  if (place === undefined || !isRun(root)) return undefined;
  return {
    root,
    place,
    form: formOf(root),
    get input() {
      return runInputOf(codec, root.payload ?? '');
    },
  };
}

/** The form of a run, by its own task. */
export function formOf({ name }: Pick<TaskRow, 'name'>): RunForm {
  return name === RUN_TASK ? 'dispatched' : 'driven';
}

/** Information on runs, without nodes. */
export async function runInfos(
  inspect: Inspect,
  runs: readonly RunFacts[],
): Promise<readonly RunInfo[]> {
  const failed = runs.map(({ root }) => root).filter(({ state }) => state === 'failed');
  const behind = new Map<TaskRow, TaskRow>();
  for (const [at, record] of (await causesOf(inspect, failed)).entries()) {
    const root = failed[at];
    if (root !== undefined) behind.set(root, record);
  }
  return runs.map((run) => runInfo(run, behind.get(run.root) ?? run.root));
}

/** `culprit`: the record of the task that caused the run not to finish. */
function runInfo(facts: RunFacts, culprit: TaskRow): RunInfo {
  const { root, place, form } = facts;
  const { id, state, user, queue, level, createdAt, endedAt, cause } = root;
  const error = state === 'failed' ? (errorOf(culprit.error) ?? errorOf(root.error)) : undefined;
  return {
    id,
    name: place.name ?? '',
    form,
    state,
    user,
    queue,
    priority: level,
    graph: place.graph,
    createdAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(root.payload === undefined ? {} : readable(() => facts.input)),
    ...(cause === undefined ? {} : { cause: readableCause(cause) }),
    ...(error === undefined ? {} : { error }),
    ...(place.past === undefined ? {} : { past: place.past }),
    ...(place.forkedFrom === undefined ? {} : { forkedFrom: place.forkedFrom }),
    ...(root.paused === undefined ? {} : { paused: readablePause(root.paused) }),
  };
}

/** Information on a node, from its record. */
export function nodeInfo(node: string, record: TaskRecord | undefined): RunNodeInfo {
  if (record === undefined) return { node, state: 'gone' };
  const error = errorOf(record.error);
  const { id: taskId } = record;
  const state = neverRan(record) ? 'skipped' : record.state;
  return error === undefined ? { node, state, taskId } : { node, state, taskId, error };
}

/** It ended because another did not finish. For groups and joins this is a failure of their own. */
function neverRan({ name, cause }: TaskRecord): boolean {
  return cause?.type === 'upstream' && name !== GROUP_TASK && name !== JOIN_TASK;
}

/** A run with a damaged input must still be listed. */
function readable(input: () => unknown): Pick<RunInfo, 'input' | 'encryptedWith'> {
  try {
    return { input: input() };
  } catch (error) {
    if (!isOwn<DecryptionError>(error, 'DECRYPTION_FAILED')) return {};
    return { encryptedWith: error.keyId ?? '' };
  }
}
