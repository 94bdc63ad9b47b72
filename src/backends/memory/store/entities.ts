/**
 * Data of the embedded backend: tasks, users in queues, queues, and their relations. Data and
 * orderings only; other files change it.
 */
import { compareUtf8 } from '../../../base/utf8-order.ts';
import type { QueueClock } from '../../../domain/fairness/fair-share.ts';
import { type LevelShares, newLevelShares } from '../../../domain/fairness/priority-shares.ts';
import type { QueueSettings, UserSettings } from '../../../domain/fairness/settings.ts';
import { PRIORITY_WEIGHTS } from '../../../domain/limits.ts';
import type { Total } from '../../../domain/port/inspection.ts';
import type { Cause } from '../../../domain/task/cause.ts';
import type {
  AttemptRecord,
  EdgePolicies,
  EndState,
  Level,
  NewTask,
  TaskState,
} from '../../../domain/task/task.ts';
import type { Situation } from '../../../domain/task/transition.ts';
import type { Moment } from './moment-index.ts';
import { NO_TOTALS } from './no-totals.ts';
import { Parked } from './parked.ts';
import { noRun, type RunFacts } from './run-facts.ts';
import { SortedList } from './sorted-list.ts';
import type { StoredStream } from './stored-stream.ts';
import { byIdle, byStart } from './tag-order.ts';

/**
 * Facts that most tasks never have: limits of waits, failures, dependencies, a key. Fields that are
 * `undefined` have no meaning in the present state.
 */
export class OptionalFacts {
  failures = 0;
  losses = 0;
  releases = 0;
  /** While it is parked: when its name is compared with the live workers again. */
  parkedUntil: number | undefined = undefined;
  expiresAt: number | undefined = undefined;
  /** Present until its first lease if that time counts from the moment when nothing blocks it, in ms. */
  expiresInMs: number | undefined = undefined;
  /** End of its wait for a dependency that failed or is missing. */
  waitUntil: number | undefined = undefined;
  /** Its key in the deadline index, if it is there: the least of its limits. */
  deadline: number | undefined = undefined;
  /** Cause of a cancel that was requested while it runs. */
  cancelCause: Cause | undefined = undefined;
  /** Why it did not finish. */
  cause: Cause | undefined = undefined;
  error: string | undefined = undefined;
  attempts: AttemptRecord[] | undefined = undefined;
  /** Ids of dependencies that are not satisfied. */
  blocked: Set<string> | undefined = undefined;
  /** Ids of dependencies that were missing and counted as satisfied: they have no result. */
  absent: Set<string> | undefined = undefined;
  /** Tasks that wait for it, and those that wait for its redrive. */
  waiting: SortedList<TaskEntry> | undefined = undefined;
  awaitingRedrive: SortedList<TaskEntry> | undefined = undefined;
  readers = 0;
  /** In line and at its first lease: time from the end of its last dependency until it was queued. */
  releasedMs: number | undefined = undefined;
  /** Its key in the cascade index; `undefined` when it is not there. */
  cascadeAt: number | undefined = undefined;
  /** The first part of its cascade is done: it has left its dependencies. */
  left = false;
  key: KeyEntry | undefined = undefined;
  /** The first payload, if it was replaced. */
  firstPayload: string | undefined = undefined;
  /** Charge of its turn, in seconds, in a queue that charges time. */
  charged: number | undefined = undefined;
  /** Facts of runs, their members and joins. */
  run: RunFacts | undefined = undefined;
  streams: Map<string, StoredStream> | undefined = undefined;
}

/** Common facts of the tasks of a lease whose tokens have the same number. */
export interface Grant {
  readonly number: number;
  /** `<number>-<requestId>`. */
  readonly token: string;
  readonly worker: string;
  readonly leasedAt: number;
}

/** Shared by all tasks without any of them. */
export const NOTHING_RARE: Readonly<OptionalFacts> = new OptionalFacts();

/** What a record is made of. */
type NewRecord = Pick<
  NewTask,
  'id' | 'name' | 'level' | 'cost' | 'payload' | 'options' | 'dependsOn' | 'edges'
>;

/**
 * The record of one task, the only owner of its facts; every index holds references to it. Fields
 * that are `undefined` have no meaning in the present state. Changed only inside a step.
 */
export class TaskEntry implements Situation {
  readonly id: string;
  readonly name: string;
  readonly level: Level;
  readonly cost: number;
  readonly createdAt: number;
  /** Number of tasks stored before it: on a tie of moments arrival decides, never name or id. */
  readonly order: number;
  /** Number of tasks that ended before it; 0 until its end. */
  endOrder = 0;
  /** Only after its end. */
  endedAt: number | undefined = undefined;
  /** Its user in its queue; for an ended task this may be a record that was dropped since. */
  owner: UserEntry;
  dependsOn: readonly string[];
  readonly edges: EdgePolicies;
  payload: string;
  options: string;
  state: TaskState = 'deferred';
  /** Its place among the tasks of its user; 0 before it is queued for the first time. */
  seq = 0;
  dueAt: number | undefined = undefined;
  /** Its latest lease, in force or not. */
  grant: Grant | undefined = undefined;
  /** The epoch in which the current lease was charged, for its return. */
  chargedEpoch = 0;
  /** Token of the latest settle, for the answer to a repeated one. */
  settledToken: string | undefined = undefined;
  result: string | undefined = undefined;
  /** Its moment in the index of started or ended tasks. */
  moment: Moment<TaskEntry> | undefined = undefined;
  place = 0;
  /** For reads; `own` is for writes. */
  optional: Readonly<OptionalFacts> = NOTHING_RARE;

  constructor(task: NewRecord, owner: UserEntry, now: number, order: number) {
    this.id = task.id;
    this.order = order;
    this.name = task.name;
    this.level = task.level;
    this.cost = task.cost;
    this.createdAt = now;
    this.owner = owner;
    this.dependsOn = task.dependsOn;
    this.edges = task.edges;
    this.payload = task.payload;
    this.options = task.options;
  }

  /** Another enqueue of its id is still compared with the first input. */
  replaceInput({ payload, options }: Pick<NewTask, 'payload' | 'options'>): void {
    this.own().firstPayload ??= this.payload;
    this.payload = payload;
    this.options = options;
  }

  /** Number of its latest token; only increases. */
  get tokenNumber(): number {
    return this.grant?.number ?? 0;
  }

  /** Token of the current lease; only while it is started. */
  get token(): string | undefined {
    return this.state === 'started' ? this.grant?.token : undefined;
  }

  /** End of its lease; only while it is started. */
  get leaseUntil(): number | undefined {
    return this.state === 'started' ? this.moment?.at : undefined;
  }

  get isBlocked(): boolean {
    return this.optional.blocked !== undefined || this.optional.run?.wait !== undefined;
  }

  get isJoin(): boolean {
    return this.optional.run?.isJoin === true;
  }

  get isCanceling(): boolean {
    return this.optional.cancelCause !== undefined;
  }

  /** Its facts in a workflow, for writes. */
  ownRun(): RunFacts {
    const own = this.own();
    own.run ??= noRun();
    return own.run;
  }

  /** Its dependencies, and the tasks of its latest suspension. */
  get upstreamIds(): readonly string[] {
    const waitFor = this.optional.run?.waitFor ?? [];
    return waitFor.length === 0 ? this.dependsOn : [...this.dependsOn, ...waitFor];
  }

  /** Its rare facts, for writes. They take memory from the first call on. */
  own(): OptionalFacts {
    const own: OptionalFacts = this.optional === NOTHING_RARE ? new OptionalFacts() : this.optional;
    this.optional = own;
    return own;
  }
}

/** Ties are decided by arrival. They are frequent within one millisecond, so this must be cheap. */
export function byArrival(a: TaskEntry, b: TaskEntry): number {
  return a.order - b.order;
}

/** Orders ended tasks by the order of their ends. */
export function byEnd(a: TaskEntry, b: TaskEntry): number {
  return a.endOrder - b.endOrder;
}

// One comparator per index, each reading its own field, so that the engine can inline them.

/** Orders by due time, then by arrival. */
export function byDue(a: TaskEntry, b: TaskEntry): number {
  return (a.dueAt ?? 0) - (b.dueAt ?? 0) || byArrival(a, b);
}

/** Orders by expiry, or by the end of a wait for a missing dependency; then by arrival. */
export function byDeadline(a: TaskEntry, b: TaskEntry): number {
  return (a.optional.deadline ?? 0) - (b.optional.deadline ?? 0) || byArrival(a, b);
}

/** Orders by place in line. */
export function bySeq(a: TaskEntry, b: TaskEntry): number {
  return a.seq - b.seq || byArrival(a, b);
}

/** The rest of a key's owner whose record was removed before the key's end. */
export interface GoneOwner {
  readonly id: string;
  readonly state: EndState;
}

/** An idempotency key of one user in one queue. */
export interface KeyEntry {
  readonly key: string;
  readonly scope: string;
  owner: TaskEntry | GoneOwner;
  /** The task that runs once more after the owner (policy `run-once-more`). */
  follower: TaskEntry | undefined;
  firstPayload: string;
  /** End of the key, even if the owner ends earlier; `undefined`: the owner's end. */
  readonly until: number | undefined;
  /** Start of the window of a key that collects calls; `undefined`: it collects none. */
  readonly from: number | undefined;
  /** Ids of the calls that it answered, latest last. */
  readonly absorbed: string[];
  /** End of its owner; it answers repeated calls for another minute. */
  endedAt: number | undefined;
}

/** The ready users of one weight, or of a range of weights, ordered by start tag. */
export interface WeightClass {
  readonly id: string;
  /** Weight or range of weights; the class of the other family has the same. */
  readonly kind: string;
  /** Whether it is a range of weights. */
  readonly shared: boolean;
  /** True for users on an assigned list of a live worker. */
  readonly assigned: boolean;
  readonly step: number;
  readonly users: SortedList<UserEntry>;
}

/** Ready users of one list of assigned users or steal targets. */
export interface NameList {
  readonly id: string;
  readonly kind: 'a' | 's';
  readonly names: readonly string[];
  readonly ready: SortedList<UserEntry>;
  /** Steal lists: the ready users that are on no assigned list. */
  readonly unassigned: SortedList<UserEntry>;
  readonly workers: Set<string>;
  clock: number;
}

/** One queue: its virtual clock, its users, and the ready ones. */
export class QueueEntry {
  readonly queue: string;
  readonly clock: QueueClock = { v: 0, w: 0, epoch: 0 };
  readonly users: Map<string, UserEntry> = new Map();
  readonly classes: Map<string, WeightClass> = new Map();
  /** By kind of class: the state of the latest user that entered. */
  readonly lasts: Map<string, number> = new Map();
  readonly lists: Map<string, NameList> = new Map();
  readonly idle: SortedList<UserEntry> = new SortedList<UserEntry>(byIdle);
  /** See leavers.ts; and the sum of their weights, in hundredths. */
  leavers: SortedList<UserEntry> = new SortedList<UserEntry>(byStart);
  leaving = 0;
  readonly ownSettings: Map<string, UserSettings> = new Map();
  readonly counts: Record<TaskState, number> = {
    scheduled: 0,
    deferred: 0,
    queued: 0,
    started: 0,
    finished: 0,
    failed: 0,
    canceled: 0,
  };
  /** Totals since its creation. */
  readonly totals: Record<Total, number> = { ...NO_TOTALS };
  settings: QueueSettings = {};
  /** Failed tasks that did not fail because another did. */
  deadLetters = 0;
  /** Mean length of leases, in seconds, where time is charged. */
  meanRun: number | undefined = undefined;
  /** Theoretical arrival time of the queue's own rate. */
  tat = 0;
  readonly parked: Parked<TaskEntry> = new Parked(bySeq);
  runnable = 0;
  readyUsers = 0;
  /** Runnable work that this step has added, for wake-ups at its end. */
  gain = 0;
  /** The current step has changed it, or one of its users. */
  touched = false;

  constructor(queue: string) {
    this.queue = queue;
  }

  get chargesTime(): boolean {
    return this.settings.charge === 'time';
  }

  get priorityWeights(): readonly number[] {
    return this.settings.priorityWeights ?? PRIORITY_WEIGHTS;
  }
}

/** One user in one queue. Exists while it has work, a kept tag, settings, or is on a list. */
export class UserEntry {
  readonly user: string;
  readonly queue: QueueEntry;
  /** `<length of queue>:<queue><user>`: its member name in indexes over all queues. */
  readonly key: string;
  /** Start tag, in grains of its own turns, and the epoch of the tag. */
  tag = 0;
  epoch = 0;
  ready = false;
  /** The weight in which its tag counts: that of its present or latest ready time. */
  weight = 0;
  /** The epoch of its queue in which it is a leaver; -1 otherwise. */
  leavingIn = -1;
  /** While ready: its counted headroom, and its class. */
  headroom = 0;
  class: WeightClass | undefined = undefined;
  readonly levels: (SortedList<TaskEntry> | undefined)[] = [];
  readonly counts: number[] = [0, 0, 0, 0, 0, 0];
  queued = 0;
  /** Number of its queued tasks that are parked, since no worker here knows their names. */
  parked = 0;
  readonly shares: LevelShares = newLevelShares();
  seq = 0;
  /** Number of its tasks that have not ended. */
  live = 0;
  /** Number of its started tasks. */
  running = 0;
  /** Theoretical arrival time of its rate. */
  tat = 0;
  meanRun: number | undefined = undefined;
  lists: NameList[] = [];
  /** Scheduled tasks by due time, and its own key among the users that have any. */
  scheduled: SortedList<TaskEntry> | undefined = undefined;
  dueKey: number | undefined = undefined;
  /** Its key in the throttled index, if it is there. */
  throttledUntil: number | undefined = undefined;
  /** Its key in `queue.idle`, if it is there: the time until which its tag is kept. */
  idleUntil: number | undefined = undefined;
  /** The current step has changed it. */
  touched = false;

  constructor(user: string, queue: QueueEntry) {
    this.user = user;
    this.queue = queue;
    this.key = `${queue.queue.length}:${queue.queue}${user}`;
  }

  level(level: number): SortedList<TaskEntry> {
    let list = this.levels[level - 1];
    if (list === undefined) {
      list = new SortedList(bySeq);
      this.levels[level - 1] = list;
    }
    return list;
  }

  get onAssignedList(): boolean {
    return this.lists.length > 0 && this.lists.some((list) => list.kind === 'a');
  }
}

/** Orders by the end of a key; keys without one come first. */
export function byUntil(a: KeyEntry, b: KeyEntry): number {
  return (a.until ?? 0) - (b.until ?? 0) || compareUtf8(a.scope, b.scope);
}

/** Orders by the due time of a user's first scheduled task. */
export function byDueKey(a: UserEntry, b: UserEntry): number {
  return (a.dueKey ?? 0) - (b.dueKey ?? 0) || compareUtf8(a.key, b.key);
}

/** Orders by the moment at which a user's rate allows its next start. */
export function byThrottle(a: UserEntry, b: UserEntry): number {
  return (a.throttledUntil ?? 0) - (b.throttledUntil ?? 0) || compareUtf8(a.key, b.key);
}
