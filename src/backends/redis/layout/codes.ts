/**
 * Codes for words in stored values, and flags that store several facts as a sum. Lua gets them as
 * `CODE.finished`, `FLAG.lease.handed`, which the bundler replaces by numbers; the tables of
 * docs/redis-layout.md are generated from them.
 */
import { keysIn } from '../../../base/records.ts';
import type { TaskState } from '../../../domain/task/task.ts';

/** Code of a state in a packed record and in a reply, one byte. */
export const STATE_CODES = {
  scheduled: 1,
  deferred: 2,
  queued: 3,
  started: 4,
  finished: 5,
  failed: 6,
  canceled: 7,
} as const;
STATE_CODES satisfies Record<TaskState, number>;

/** The states in the order of their codes. */
export const STATES_BY_CODE: ReadonlyMap<number, TaskState> = new Map(
  keysIn(STATE_CODES).map((state) => [STATE_CODES[state], state]),
);

/** Code of a task that has not ended, where an end is reported. */
export const NOT_ENDED = 8;

/**
 * Facts that are stored as one number: each is a power of two, and the number is the sum of those
 * that are true. By the record of the number.
 */
export const FLAGS = {
  /** Parts of a task besides its text: the digit, or `:` or `;`, in the text itself. */
  kind: {
    /** Its payload is in `payloads`. */
    long: 1,
    /** It was stored with rare facts. */
    special: 2,
    /** It has facts in `facts` now. */
    facts: 4,
    /** It has, and they only contain its place in line, or its due time. */
    place: 8,
  },
  /** Flags of a lease. */
  lease: {
    /** The task has facts. */
    facts: 1,
    /** Its user has a record, which counts it as running. */
    counted: 2,
    /** It was handed over, and no sweep has checked yet whether its worker has fetched it. */
    handed: 4,
    /** Only its text was stored: no facts, no separate payload, no journal, no channels. */
    bare: 8,
  },
  /** Flags of an end, above the code of the state. */
  ending: {
    /** A worker settled it: a repeated settlement gets the first answer. */
    settled: 16,
    /** Its result is in `results`. */
    apart: 32,
    /** Other tasks depended on it: it may have facts, whether its text says so or not. */
    awaited: 64,
    /** Only its text and this are stored; where it is not set, that has to be checked. */
    bare: 128,
  },
  /** Flags of the facts of a task. */
  facts: {
    /** It has ended, and waits for none of its dependencies any more. */
    left: 1,
    /** `attempts` has attempts of it. */
    attempts: 2,
    /** A cancel was requested. */
    canceling: 4,
    /** A worker has settled its latest lease. */
    settled: 8,
    /** Its dependents are not updated yet. */
    cascade: 16,
    /** Its latest attempt has an error that is cut when another attempt follows. */
    long: 32,
  },
  /** Flags of the clock. */
  clock: {
    /** A user has settings. */
    configs: 1,
    /** `idle-queues` has members. */
    idle: 2,
    /** A task waits for one that is not stored. */
    missing: 4,
  },
  /** Flags of a worker in the clock. */
  worker: {
    /** It has announced lists. */
    lists: 1,
    /** They were dropped. */
    unlisted: 2,
  },
  /** Flags of a queue. */
  queue: {
    /** `fair` has settings of it, or a mean time. */
    settings: 1,
  },
  /** Flags of a user in a queue. */
  user: {
    /** It is in a ready set. */
    ready: 1,
    /** It is on the assigned list of a live worker. */
    assigned: 2,
    /** It shares a class with other weights. */
    shared: 4,
    /** Its rate holds it back. */
    throttled: 8,
    /** It has no tasks, and its tag is kept. */
    idle: 16,
    /** Its live and running tasks are not counted: no setting needs it. */
    uncounted: 32,
  },
} as const;
FLAGS satisfies Record<string, Record<string, number>>;

/** Index of a task that is not in line, in its facts. */
export const PLACES = { line: 0, scheduled: 1, deferred: 2 } as const;
