import { utf8Bytes } from '../../base/json.ts';
import type { Cause } from './cause.ts';
import type { RunPause } from './pause.ts';
import type { WindowSpec } from './window.ts';

/** The seven states of a task; a record is in exactly one. Drawn in `transition.ts`. */
export type TaskState =
  | 'scheduled'
  | 'deferred'
  | 'queued'
  | 'started'
  | 'finished'
  | 'failed'
  | 'canceled';

/** The end states. Only `failed` can be left, by a redrive. */
export type EndState = 'finished' | 'failed' | 'canceled';

/** All states in the order of a task's life: before the start, running, ended. */
export const TASK_STATES: readonly TaskState[] = [
  'scheduled',
  'deferred',
  'queued',
  'started',
  'finished',
  'failed',
  'canceled',
];

/** Whether a state is an end state. */
export function isEnd(state: TaskState): state is EndState {
  return state === 'finished' || state === 'failed' || state === 'canceled';
}

/** Order within one user: 6 is critical, 3 is normal, 1 is very low. */
export type Level = 1 | 2 | 3 | 4 | 5 | 6;

/** The level that precedes all other levels of its user. */
export const CRITICAL: Level = 6;

/** All levels, the lowest first. */
export const LEVELS: readonly Level[] = [1, 2, 3, 4, 5, 6];

/** Whether a value is a level. */
export function isLevel(value: unknown): value is Level {
  return LEVELS.some((level) => level === value);
}

/** Reaction of a task to a dependency that failed or was canceled. */
export type EdgePolicy = 'wait' | 'cancel' | 'fail' | 'run';

/** Reaction of a task to a dependency that is unknown. */
export type MissingPolicy = 'refuse' | 'satisfied' | 'block';

/** Reactions of a task to its dependencies. */
export interface EdgePolicies {
  /** To one that ends `failed`. */
  readonly onFailure: EdgePolicy;
  /** To one that ends `canceled`. */
  readonly onCancel: EdgePolicy;
  /** To one that is not stored. */
  readonly onMissing: MissingPolicy;
  /** Dependencies may be tasks of other users. */
  readonly allowCrossUser: boolean;
}

/** What happens to a task whose idempotency key is held by another. */
export type KeyPolicy = 'return' | 'reject' | 'replace-queued' | 'run-once-more';

/** A key and its policy: one task for all calls under it, for some time. */
export type KeySpec = {
  /** Chosen by the caller; unique within one user and queue. */
  readonly key: string;
} & (HoldSpec | WindowSpec);

/** A key that rejects or merges later calls. */
export interface HoldSpec {
  /** Effect of a later call under the same key. */
  readonly policy: KeyPolicy;
  /** Duration of the key from the enqueue, in ms; absent: until its task has ended. */
  readonly ttlMs?: number;
}

/**
 * A task as the client hands it to a backend: checked, with every default filled in. All lengths
 * are milliseconds; a moment is milliseconds since the epoch on the backend's clock.
 */
export interface NewTask {
  /** Unique among all tasks. */
  readonly id: string;
  /** Name of the task; it selects the handler. */
  readonly name: string;
  /** Queue of the task. */
  readonly queue: string;
  /** User of the task. */
  readonly user: string;
  /** Its priority among its user's tasks. */
  readonly level: Level;
  /** Cost of its turn, above 0; default 1. */
  readonly cost: number;
  /** JSON text; the backend never reads it. */
  readonly payload: string;
  /** JSON text of settings for the worker (retries, backoff, timeout, trace…); the backend never reads it. */
  readonly options: string;
  /** Delay before the first start; at most one of `delayMs` and `executeAfter`. */
  readonly delayMs?: number;
  /** Earliest moment of the first start. */
  readonly executeAfter?: number;
  /** Counted from the later of enqueue and due time: a task not started by then ends `failed(expired)`. */
  readonly expiresInMs?: number;
  /** `release`: `expiresInMs` counts from the moment when nothing blocks it any more, also after a redrive. */
  readonly expiresFrom?: 'release';
  /** Distinct ids, at most `LIMITS.dependencies`; the client has refused cycles within a batch. */
  readonly dependsOn: readonly string[];
  /** Reactions to its dependencies. */
  readonly edges: EdgePolicies;
  /** Its key (debounce and throttle only in calls that are not atomic); absent: none. */
  readonly idempotency?: KeySpec;
  /** Never queued: it ends `finished` as soon as nothing blocks it. Keeps its dependencies readable. */
  readonly join?: true;
  /** The run it belongs to; it does not start after the run's end. */
  readonly owner?: string;
  /** Hash of the graph snapshot that is kept while this task is stored. */
  readonly graph?: string;
}

/** Record fields that `inspect.status` reads. */
export type TaskStatus = Pick<TaskRecord, 'state' | 'result' | 'error' | 'cause'>;

/** All stored fields of one task. Fields without a meaning in its state are absent. */
export interface TaskRecord {
  /** Unique among all tasks. */
  readonly id: string;
  /** Name of the task; it selects the handler. */
  readonly name: string;
  /** Queue of the task. */
  readonly queue: string;
  /** User of the task. */
  readonly user: string;
  /** Its priority among its user's tasks. */
  readonly level: Level;
  /** Cost of its turn; default 1. */
  readonly cost: number;
  /** JSON text of its input. */
  readonly payload: string;
  /** JSON text; see {@link NewTask.options}. */
  readonly options: string;
  /** State of the task. */
  readonly state: TaskState;
  /** Moment of the enqueue. */
  readonly createdAt: number;
  /** Number of failed attempts; the current or next attempt has the number `failures + 1`. */
  readonly failures: number;
  /** Number of leases that ended without an outcome. */
  readonly losses: number;
  /** Number of times that its handler released it; these are no attempts. */
  readonly releases: number;
  /** Ids of its dependencies. */
  readonly dependsOn: readonly string[];
  /** Ids in `dependsOn` that are not satisfied yet. */
  readonly blockedBy: readonly string[];
  /** It runs, and a cancel was requested. */
  readonly cancelRequested: boolean;
  /** `scheduled`: its due time. */
  readonly dueAt?: number;
  /** Until its first start: the moment at which it ends as `failed(expired)`. */
  readonly expiresAt?: number;
  /** `started`: token of its lease. */
  readonly token?: string;
  /** `started`: id of its worker. */
  readonly worker?: string;
  /** `started`: moment of the lease. */
  readonly leasedAt?: number;
  /** `started`: end of the lease unless it is extended. */
  readonly leaseUntil?: number;
  /** End states: moment of the end. */
  readonly endedAt?: number;
  /** `failed`, `canceled`: the cause. */
  readonly cause?: Cause;
  /** JSON text: `{ name, message, stack? }` of the newest failure. */
  readonly error?: string;
  /** JSON text of its result. */
  readonly result?: string;
  /** Its idempotency key. */
  readonly idempotencyKey?: string;
  /** It is a paused run. */
  readonly paused?: RunPause;
}

/** A record in a listing: with payload and result only if requested. */
export type TaskRow = Omit<TaskRecord, 'payload'> & Partial<Pick<TaskRecord, 'payload'>>;

/** Size of a row in a page, in bytes: of the fields that may be long. */
export function rowBytes({
  payload = '',
  result = '',
  error = '',
}: Pick<TaskRow, 'payload' | 'result' | 'error'>): number {
  return utf8Bytes(payload) + utf8Bytes(result) + utf8Bytes(error);
}

/** A kept attempt. The newest `LIMITS.attemptsKept` are kept. */
export interface AttemptRecord {
  /** From 1; a lost or released lease has the number of the attempt that it would have been. */
  readonly attempt: number;
  /** Id of the worker. */
  readonly worker: string;
  /** Moment of the lease. */
  readonly leasedAt: number;
  /** Moment when it was settled or lost its lease. */
  readonly endedAt: number;
  /** Outcome of the handler; `lost` when the worker never reported. */
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'released' | 'lost';
  /** Decision about the task. */
  readonly decision: 'finish' | 'retry' | 'dead-letter' | 'cancel' | 'release';
  /** Why it did not finish the task; absent when it did, or was lost. */
  readonly cause?: Cause;
  /** JSON text of what the handler threw. */
  readonly error?: string;
}
