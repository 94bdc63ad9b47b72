/** What is shown of a run. */

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

/** One run. Moments are ms since the epoch on the backend's clock. */
export interface RunInfo {
  /** The run. */
  readonly id: string;
  /** The name of its pipeline. */
  readonly name: string;
  /** How it is carried out. */
  readonly form: RunForm;
  /** `deferred` while it waits for its nodes. */
  readonly state: TaskState;
  /** Whose turns its tasks take. */
  readonly user: string;
  /** Of the run; nodes may have queues of their own. */
  readonly queue: string;
  /** Of its tasks unless they have their own, 1 to 6. */
  readonly priority: Level;
  /** Hash of its graph; see `loom.graphs.get`. */
  readonly graph: string;
  /** When it was enqueued. */
  readonly createdAt: number;
  /** In an end state. */
  readonly endedAt?: number;
  /** What it was enqueued with; absent when it cannot be read. */
  readonly input?: unknown;
  /** It cannot be read here: the id of the key with which it is encrypted. */
  readonly encryptedWith?: string;
  /** Why it did not finish. */
  readonly cause?: Cause;
  /** `failed`: what was thrown where that began; absent when nothing was, as when time ran out. */
  readonly error?: TaskError;
  /** Runs whose results it goes on from, the newest first. */
  readonly past?: readonly string[];
  /** The run of which it is a fork. */
  readonly forkedFrom?: string;
  /** Nothing of it is started until it is resumed. */
  readonly paused?: RunPause;
}

/** One run with its nodes. */
export interface RunDetails extends RunInfo {
  /** What it tells of itself by `ctx.metadata`; absent when it does not. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** `finished`: what its pipeline gave; absent when a part of it is not stored any more. */
  readonly result?: unknown;
  /**
   * In the order of the graph, each after those that it waits for; groups where they end. Empty when
   * the graph cannot be read here.
   */
  readonly nodes: readonly RunNodeInfo[];
}

/**
 * The state of the task that the node is; or `pending`: a driven run has not come to it; `skipped`: it
 * never ran, because its run ended before or another node did not finish; `gone`: retention has removed
 * its record.
 */
export type RunNodeState = TaskState | 'pending' | 'skipped' | 'gone';

/** One node of a run. */
export interface RunNodeInfo {
  /** Its name in the graph. */
  readonly node: string;
  /** The key of the member of a `parallel` that it is, where that is called otherwise. */
  readonly member?: string;
  /** Where it stands. */
  readonly state: RunNodeState;
  /** For `loom.tasks`; absent when it is no task of the queue. */
  readonly taskId?: string;
  /** Of its newest failure. */
  readonly error?: TaskError;
}

/** What a run's own task says of it. */
export interface RunFacts {
  readonly root: TaskRow;
  readonly place: RunPlace;
  readonly form: RunForm;
  /** May throw. */
  readonly input: unknown;
}

/** The run that a row of a listing is; `undefined` when it is another task. */
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

/** How a run is carried out, by the task that stands for it. */
export function formOf({ name }: Pick<TaskRow, 'name'>): RunForm {
  return name === RUN_TASK ? 'dispatched' : 'driven';
}

/** Runs without their nodes. */
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

/** `culprit`: the record of the task at which it began not to finish. */
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

/** One node, as its record says. */
export function nodeInfo(node: string, record: TaskRecord | undefined): RunNodeInfo {
  if (record === undefined) return { node, state: 'gone' };
  const error = errorOf(record.error);
  const { id: taskId } = record;
  const state = neverRan(record) ? 'skipped' : record.state;
  return error === undefined ? { node, state, taskId } : { node, state, taskId, error };
}

/** It ended since another did not finish. Groups and joins run nothing themselves, and fail so. */
function neverRan({ name, cause }: TaskRecord): boolean {
  return cause?.type === 'upstream' && name !== GROUP_TASK && name !== JOIN_TASK;
}

/** A listing must show a run also when its text is damaged. */
function readable(input: () => unknown): Pick<RunInfo, 'input' | 'encryptedWith'> {
  try {
    return { input: input() };
  } catch (error) {
    if (!isOwn<DecryptionError>(error, 'DECRYPTION_FAILED')) return {};
    return { encryptedWith: error.keyId ?? '' };
  }
}
