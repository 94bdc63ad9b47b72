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

export const TASK_STATES: readonly TaskState[] = [
  'scheduled',
  'deferred',
  'queued',
  'started',
  'finished',
  'failed',
  'canceled',
];

export function isEnd(state: TaskState): state is EndState {
  return state === 'finished' || state === 'failed' || state === 'canceled';
}

/** Order within one user: 6 is critical, 3 is normal, 1 is very low. */
export type Level = 1 | 2 | 3 | 4 | 5 | 6;

export const CRITICAL: Level = 6;

/** Why a task ended as `failed`. */
export type FailureType =
  | 'error'
  | 'timeout'
  | 'lost'
  | 'expired'
  | 'unknown-task'
  | 'invalid-payload'
  | 'invalid-result'
  | 'upstream';

/** What a task does when one of its dependencies ends other than well. */
export type EdgePolicy = 'wait' | 'cancel' | 'fail' | 'run';

/** What a task does when one of its dependencies is unknown. */
export type MissingPolicy = 'refuse' | 'satisfied' | 'block';

/** What a task does about its dependencies. */
export interface EdgePolicies {
  readonly onFailure: EdgePolicy;
  readonly onCancel: EdgePolicy;
  readonly onMissing: MissingPolicy;
  readonly allowCrossUser: boolean;
}

/** What to do with a task whose idempotency key is held by another. */
export type KeyPolicy = 'return' | 'reject' | 'replace-queued' | 'run-once-more';

/** An idempotency key and how it is treated. */
export interface KeySpec {
  readonly key: string;
  readonly policy: KeyPolicy;
  /** How long the key holds from the enqueue, in ms; absent: until its task has ended. */
  readonly ttlMs?: number;
}

/**
 * A task as the client hands it to a backend: checked, with every default filled in. All lengths
 * are milliseconds; a moment is milliseconds since the epoch on the backend's clock.
 */
export interface NewTask {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly user: string;
  readonly level: Level;
  /** What its turn costs the user, > 0; 1 unless asked otherwise. */
  readonly cost: number;
  /** JSON text; the backend stores it and never reads it. */
  readonly payload: string;
  /** JSON text of what the worker needs (retries, backoff, timeout, trace…); never read here. */
  readonly options: string;
  /** Wait this long before the first start; at most one of `delayMs` and `executeAfter`. */
  readonly delayMs?: number;
  readonly executeAfter?: number;
  /** From the later of enqueue and due time: not started by then, it ends `failed(expired)`. */
  readonly expiresInMs?: number;
  /** Distinct ids, at most `LIMITS.dependencies`; the client has refused cycles inside a batch. */
  readonly dependsOn: readonly string[];
  readonly edges: EdgePolicies;
  readonly idempotency?: KeySpec;
}

/** Everything that is stored about one task. Fields that have no meaning in a state are absent. */
export interface TaskRecord {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly user: string;
  readonly level: Level;
  readonly cost: number;
  readonly payload: string;
  readonly options: string;
  readonly state: TaskState;
  readonly createdAt: number;
  /** Failed attempts so far; the one in hand, or the next one, has the number `failures + 1`. */
  readonly failures: number;
  /** Leases that ended without an outcome. */
  readonly losses: number;
  /** Times that a handler gave it back without counting an attempt. */
  readonly releases: number;
  readonly dependsOn: readonly string[];
  /** Those of `dependsOn` that are not satisfied yet. */
  readonly blockedBy: readonly string[];
  readonly cancelRequested: boolean;
  /** `scheduled`: when it is due. */
  readonly dueAt?: number;
  /** Until its first start: when it ends as `failed(expired)`. */
  readonly expiresAt?: number;
  /** `started`: the lease in force. */
  readonly token?: string;
  readonly worker?: string;
  readonly leasedAt?: number;
  readonly leaseUntil?: number;
  /** End states. */
  readonly endedAt?: number;
  readonly failureType?: FailureType;
  readonly reason?: string;
  /** JSON text: `{ name, message, stack? }` of the newest failure. */
  readonly error?: string;
  /** JSON text. */
  readonly result?: string;
  readonly idempotencyKey?: string;
}

/** One try at a task, kept apart from its record; the newest `LIMITS.attemptsKept` are. */
export interface AttemptRecord {
  /** From 1; a lost or released lease has the number of the attempt that it was to be. */
  readonly attempt: number;
  readonly worker: string;
  readonly leasedAt: number;
  readonly endedAt: number;
  readonly outcome: 'succeeded' | 'failed' | 'canceled' | 'released' | 'lost';
  readonly decision: 'finish' | 'retry' | 'dead-letter' | 'cancel' | 'release';
  readonly reason?: string;
  readonly error?: string;
}
