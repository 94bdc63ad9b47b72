/**
 * Numbers that stand for words in what is stored, and the sums that several facts are stored as. Lua gets
 * them as `CODE.finished`, `FLAG.lease.handed`, which the bundler puts in as numbers; the tables of
 * docs/redis-layout.md are made of them.
 */
import { keysIn } from '../../../base/records.ts';
import type { TaskState } from '../../../domain/task/task.ts';

/** What stands for a state in a packed record and in a reply, one byte. */
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

/** Stands for the state of a task whose end is reported, while it has not ended. */
export const NOT_ENDED = 8;

/**
 * Facts that are stored as one number: each is a power of two, and the number is the sum of those that
 * hold. By what the number belongs to.
 */
export const FLAGS = {
  /** Which parts a task has beside its text: the digit, or `:` or `;`, in the text itself. */
  kind: {
    /** Its payload stands in `payloads`. */
    long: 1,
    /** It came with other facts. */
    special: 2,
    /** It has facts in `facts` now. */
    facts: 4,
    /** It has, and they only say its place in line, or when it is due. */
    place: 8,
  },
  /** Of a lease. */
  lease: {
    /** The task has facts. */
    facts: 1,
    /** Its user has a record, which counts it as running. */
    counted: 2,
    /** It was handed over, and no sweep has looked yet whether its worker has fetched it. */
    handed: 4,
    /** Its text was all that was kept of it: no facts, no payload apart, no journal, no channels. */
    bare: 8,
  },
  /** Of an end, above the code of the state. */
  ending: {
    /** A worker said so: a settlement that is sent again is answered as the first time. */
    settled: 16,
    /** Its result stands in `results`. */
    apart: 32,
    /** Others depended on it: it may have facts, whether its text says so or not. */
    awaited: 64,
    /** Its text and this are all that is kept of it; where this is not set, that has to be looked for. */
    bare: 128,
  },
  /** Of the facts of a task. */
  facts: {
    /** It has ended, and waits for none of its dependencies any more. */
    left: 1,
    /** `attempts` has some of it. */
    attempts: 2,
    /** It is to be canceled. */
    canceling: 4,
    /** A worker has settled its latest lease. */
    settled: 8,
    /** Others are still to be told of its end. */
    cascade: 16,
    /** Its newest attempt has an error that is cut when there is another behind it. */
    long: 32,
  },
  /** Of the clock. */
  clock: {
    /** Some user has settings. */
    configs: 1,
    /** `idle-queues` has any. */
    idle: 2,
    /** Some task waits for one that is not stored. */
    missing: 4,
  },
  /** Of what a worker has of the clock. */
  worker: {
    /** It has announced lists. */
    lists: 1,
    /** They were dropped. */
    unlisted: 2,
  },
  /** Of the numbers of a queue. */
  queue: {
    /** `fair` has settings of it, or a mean time. */
    settings: 1,
  },
  /** Of the numbers of a user in a queue. */
  user: {
    /** It stands in a ready set. */
    ready: 1,
    /** It is on the assigned list of a live worker. */
    assigned: 2,
    /** It shares a class with other weights. */
    shared: 4,
    /** Its rate holds it back. */
    throttled: 8,
    /** It has nothing to do, and its tag is kept. */
    idle: 16,
    /** Its live and running tasks are not counted: no setting asks for it. */
    uncounted: 32,
  },
} as const;
FLAGS satisfies Record<string, Record<string, number>>;

/** Where a task stands that is not in line, in its facts. */
export const PLACES = { line: 0, scheduled: 1, deferred: 2 } as const;
