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

/** The states that a task never leaves, but for `failed`, which a redrive takes back. */
export type EndState = 'finished' | 'failed' | 'canceled';

/** Each of them, in the order of a life: before the start, running, ended. */
export const TASK_STATES: readonly TaskState[] = [
  'scheduled',
  'deferred',
  'queued',
  'started',
  'finished',
  'failed',
  'canceled',
];

/** Whether nothing more happens to a task in this state, unless it is redriven. */
export function isEnd(state: TaskState): state is EndState {
  return state === 'finished' || state === 'failed' || state === 'canceled';
}

/** Order within one user: 6 is critical, 3 is normal, 1 is very low. */
export type Level = 1 | 2 | 3 | 4 | 5 | 6;

/** The level that goes before all others of its user. */
export const CRITICAL: Level = 6;

/** Each of them, the lowest first. */
export const LEVELS: readonly Level[] = [1, 2, 3, 4, 5, 6];

/** Whether a number, or what was read as one, is a level. */
export function isLevel(value: unknown): value is Level {
  return LEVELS.some((level) => level === value);
}

/** What a task does when one of its dependencies ends other than well. */
export type EdgePolicy = 'wait' | 'cancel' | 'fail' | 'run';

/** What a task does when one of its dependencies is unknown. */
export type MissingPolicy = 'refuse' | 'satisfied' | 'block';

/** What a task does about its dependencies. */
export interface EdgePolicies {
  /** When it ends `failed`. */
  readonly onFailure: EdgePolicy;
  /** When it ends `canceled`. */
  readonly onCancel: EdgePolicy;
  /** When it is not stored. */
  readonly onMissing: MissingPolicy;
  /** It may be another user's. */
  readonly allowCrossUser: boolean;
}

/** What to do with a task whose idempotency key is held by another. */
export type KeyPolicy = 'return' | 'reject' | 'replace-queued' | 'run-once-more';

/** A key and how it is treated: one task for all calls under it, for some time. */
export type KeySpec = {
  /** Chosen by the caller; it holds for one user in one queue. */
  readonly key: string;
} & (HoldSpec | WindowSpec);

/** A key that keeps others out. */
export interface HoldSpec {
  /** What a later call under the same key comes to. */
  readonly policy: KeyPolicy;
  /** How long the key holds from the enqueue, in ms; absent: until its task has ended. */
  readonly ttlMs?: number;
}

/**
 * A task as the client hands it to a backend: checked, with every default filled in. All lengths
 * are milliseconds; a moment is milliseconds since the epoch on the backend's clock.
 */
export interface NewTask {
  /** Unique among all tasks. */
  readonly id: string;
  /** Chooses the handler. */
  readonly name: string;
  /** Where it stands in line. */
  readonly queue: string;
  /** Whose turn it takes. */
  readonly user: string;
  /** Where it stands among its user's tasks. */
  readonly level: Level;
  /** What its turn costs the user, above 0; 1 unless asked otherwise. */
  readonly cost: number;
  /** JSON text; the backend stores it and never reads it. */
  readonly payload: string;
  /** JSON text of what the worker needs (retries, backoff, timeout, trace…); never read here. */
  readonly options: string;
  /** Wait this long before the first start; at most one of `delayMs` and `executeAfter`. */
  readonly delayMs?: number;
  /** Not before this moment. */
  readonly executeAfter?: number;
  /** From the later of enqueue and due time: not started by then, it ends `failed(expired)`. */
  readonly expiresInMs?: number;
  /** With `release` that time begins when nothing blocks it any more, also after a redrive. */
  readonly expiresFrom?: 'release';
  /** Distinct ids, at most `LIMITS.dependencies`; the client has refused cycles inside a batch. */
  readonly dependsOn: readonly string[];
  /** What it does about its dependencies. */
  readonly edges: EdgePolicies;
  /** Keeps others like it out, or gathers them (only in calls that are not atomic); absent: nothing does. */
  readonly idempotency?: KeySpec;
  /** Never queued: it ends `finished` as soon as nothing blocks it; holds what it joins readable. */
  readonly join?: true;
  /** The run it belongs to; it is not started once that has ended. */
  readonly owner?: string;
  /** Hash of the graph snapshot that is kept for it while it is stored. */
  readonly graph?: string;
}

/** What is asked about many tasks at once: fields of their records. */
export type TaskStatus = Pick<TaskRecord, 'state' | 'result' | 'error' | 'cause'>;

/** Everything that is stored about one task. Fields that have no meaning in a state are absent. */
export interface TaskRecord {
  /** Unique among all tasks. */
  readonly id: string;
  /** Chooses the handler. */
  readonly name: string;
  /** Where it stands in line. */
  readonly queue: string;
  /** Whose turn it takes. */
  readonly user: string;
  /** Where it stands among its user's tasks. */
  readonly level: Level;
  /** What its turn costs the user; 1 unless asked otherwise. */
  readonly cost: number;
  /** JSON text of its input. */
  readonly payload: string;
  /** JSON text, as {@link NewTask.options}. */
  readonly options: string;
  /** Where it stands. */
  readonly state: TaskState;
  /** When it was enqueued. */
  readonly createdAt: number;
  /** Failed attempts so far; the one in hand, or the next one, has the number `failures + 1`. */
  readonly failures: number;
  /** Leases that ended without an outcome. */
  readonly losses: number;
  /** Times that a handler gave it back without counting an attempt. */
  readonly releases: number;
  /** What it was enqueued to wait for. */
  readonly dependsOn: readonly string[];
  /** Those of `dependsOn` that are not satisfied yet. */
  readonly blockedBy: readonly string[];
  /** It runs, and was asked to end. */
  readonly cancelRequested: boolean;
  /** `scheduled`: when it is due. */
  readonly dueAt?: number;
  /** Until its first start: when it ends as `failed(expired)`. */
  readonly expiresAt?: number;
  /** `started`: the lease in force. */
  readonly token?: string;
  /** `started`: who works on it. */
  readonly worker?: string;
  /** `started`: when the lease was given. */
  readonly leasedAt?: number;
  /** `started`: when the lease ends unless it is extended. */
  readonly leaseUntil?: number;
  /** End states. */
  readonly endedAt?: number;
  /** `failed`, `canceled`: why. */
  readonly cause?: Cause;
  /** JSON text: `{ name, message, stack? }` of the newest failure. */
  readonly error?: string;
  /** JSON text. */
  readonly result?: string;
  /** The key under which it was enqueued. */
  readonly idempotencyKey?: string;
  /** It is a run, and paused. */
  readonly paused?: RunPause;
}

/** A record as listings give it: its payload and its result only where they are asked for. */
export type TaskRow = Omit<TaskRecord, 'payload'> & Partial<Pick<TaskRecord, 'payload'>>;

/** What a row weighs in a page, in bytes: what may be long of it. */
export function rowBytes({
  payload = '',
  result = '',
  error = '',
}: Pick<TaskRow, 'payload' | 'result' | 'error'>): number {
  return utf8Bytes(payload) + utf8Bytes(result) + utf8Bytes(error);
}

/** One try at a task, kept apart from its record; the newest `LIMITS.attemptsKept` are. */
export interface AttemptRecord {
  /** From 1; a lost or released lease has the number of the attempt that it was to be. */
  readonly attempt: number;
  /** Who tried. */
  readonly worker: string;
  /** When its lease was given. */
  readonly leasedAt: number;
  /** When it was settled, or its lease was taken back. */
  readonly endedAt: number;
  /** What the handler did, or `lost` when its worker never reported. */
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'released' | 'lost';
  /** What became of the task. */
  readonly decision: 'finish' | 'retry' | 'dead-letter' | 'cancel' | 'release';
  /** Why it did not end the task, or not well; absent of one that was lost. */
  readonly cause?: Cause;
  /** JSON text of what the handler threw. */
  readonly error?: string;
}
