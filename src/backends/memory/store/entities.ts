/**
 * The things that the embedded backend keeps: tasks, users in queues, queues, and what ties them.
 * Data with its orderings only; what happens to it stands in the files that change it.
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
 * What most tasks never have: limits of their waiting, failures, dependencies, a key. Fields that are
 * `undefined` have no meaning in the present state.
 */
export class OptionalFacts {
  failures = 0;
  losses = 0;
  releases = 0;
  /** While it is parked: when the live workers are searched for its name. */
  parkedUntil: number | undefined = undefined;
  expiresAt: number | undefined = undefined;
  /** Present until its first lease if that time begins when nothing blocks it any more, in ms. */
  expiresInMs: number | undefined = undefined;
  /** Until when it waits for a dependency that failed or is missing. */
  waitUntil: number | undefined = undefined;
  /** Its key in the deadline index while it stands there: the least of its limits. */
  deadline: number | undefined = undefined;
  /** It runs, and was asked to end: why. */
  cancelCause: Cause | undefined = undefined;
  /** Why it ended otherwise than well. */
  cause: Cause | undefined = undefined;
  error: string | undefined = undefined;
  attempts: AttemptRecord[] | undefined = undefined;
  /** Ids of dependencies that are not satisfied. */
  blocked: Set<string> | undefined = undefined;
  /** Ids of dependencies that were missing and counted as satisfied: nothing to read there. */
  absent: Set<string> | undefined = undefined;
  /** Those that wait for it, and those that wait for its redrive. */
  waiting: SortedList<TaskEntry> | undefined = undefined;
  awaitingRedrive: SortedList<TaskEntry> | undefined = undefined;
  readers = 0;
  /** In line and at its first lease: how long after the end of its last dependency it came there. */
  releasedMs: number | undefined = undefined;
  /** Since when it stands in the cascade index; `undefined` when it does not. */
  cascadeAt: number | undefined = undefined;
  /** Its own dependencies have been left (first part of its cascade). */
  left = false;
  key: KeyEntry | undefined = undefined;
  /** The first payload, when it was replaced. */
  firstPayload: string | undefined = undefined;
  /** What its turn was charged, in seconds, in a queue that charges time. */
  charged: number | undefined = undefined;
  /** What only runs, their members and joins have. */
  run: RunFacts | undefined = undefined;
  streams: Map<string, StoredStream> | undefined = undefined;
}

/** What a lease gives to its tasks, as far as their tokens have the same number. */
export interface Grant {
  readonly number: number;
  /** `<number>-<requestId>`. */
  readonly token: string;
  readonly worker: string;
  readonly leasedAt: number;
}

/** Shared by all tasks that have none of them. */
export const NOTHING_RARE: Readonly<OptionalFacts> = new OptionalFacts();

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
  /** How many were stored before it: ties of moments go by arrival, never by name or id. */
  readonly order: number;
  /** How many had ended before it did; 0 until then. */
  endOrder = 0;
  /** Only once it has ended. */
  endedAt: number | undefined = undefined;
  /** Its user in its queue; of an ended task this may be a record that was dropped since. */
  owner: UserEntry;
  dependsOn: readonly string[];
  readonly edges: EdgePolicies;
  payload: string;
  options: string;
  state: TaskState = 'deferred';
  /** Its place among the tasks of its user; 0 until it is queued for the first time. */
  seq = 0;
  dueAt: number | undefined = undefined;
  /** Its newest lease, whether or not that is still in force. */
  grant: Grant | undefined = undefined;
  /** In which epoch the lease in force was charged, so that it can be given back. */
  chargedEpoch = 0;
  /** The token of the newest settle, so that a resend of it is answered the same. */
  settledToken: string | undefined = undefined;
  result: string | undefined = undefined;
  /** Where it stands among the started or the ended. */
  moment: Moment<TaskEntry> | undefined = undefined;
  place = 0;
  /** To be read; `own` is for writing. */
  optional: Readonly<OptionalFacts> = NOTHING_RARE;

  constructor(task: NewTask, owner: UserEntry, now: number, order: number) {
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

  /** Who enqueues it again is still compared with its first input. */
  replaceInput({ payload, options }: Pick<NewTask, 'payload' | 'options'>): void {
    this.own().firstPayload ??= this.payload;
    this.payload = payload;
    this.options = options;
  }

  /** The number of its newest token; rises for ever. */
  get tokenNumber(): number {
    return this.grant?.number ?? 0;
  }

  /** The token in force; only while it is started. */
  get token(): string | undefined {
    return this.state === 'started' ? this.grant?.token : undefined;
  }

  /** When its lease ends; only while it is started. */
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

  /** Its facts as part of a workflow, to be written. */
  ownRun(): RunFacts {
    const own = this.own();
    own.run ??= noRun();
    return own.run;
  }

  /** Whom it depends on, and whom it waited for when it was suspended last. */
  get upstreamIds(): readonly string[] {
    const waitFor = this.optional.run?.waitFor ?? [];
    return waitFor.length === 0 ? this.dependsOn : [...this.dependsOn, ...waitFor];
  }

  /** Its rare facts, to be written. A task takes room for them from the first call on. */
  own(): OptionalFacts {
    const own: OptionalFacts = this.optional === NOTHING_RARE ? new OptionalFacts() : this.optional;
    this.optional = own;
    return own;
  }
}

/** Ties go by arrival. Those of one millisecond tie often, so it must be cheap. */
export function byArrival(a: TaskEntry, b: TaskEntry): number {
  return a.order - b.order;
}

/** Orders ended tasks by which ended first. */
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

/** What is left of the owner of a key that holds longer than the owner's record was kept. */
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
  /** Holds until then, even if the owner ends earlier; `undefined`: until the owner's end. */
  readonly until: number | undefined;
  /** When the window of a key began that gathers calls; `undefined`: it gathers none. */
  readonly from: number | undefined;
  /** Ids of the calls it answered, newest last. */
  readonly absorbed: string[];
  /** When its owner ended; it answers resends for a minute more. */
  endedAt: number | undefined;
}

/** The ready users of one weight, or of a range of weights, ordered by start tag. */
export interface WeightClass {
  readonly id: string;
  /** Its weight, or range of weights: that of the class of the other family too. */
  readonly kind: string;
  /** A range of weights. */
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

/** One queue: its virtual clock, its users, and who of them is ready. */
export class QueueEntry {
  readonly queue: string;
  readonly clock: QueueClock = { v: 0, w: 0, epoch: 0 };
  readonly users: Map<string, UserEntry> = new Map();
  readonly classes: Map<string, WeightClass> = new Map();
  /** By kind of class in use: what it remembers of the user that entered last. */
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
  /** What has happened ever since. */
  readonly totals: Record<Total, number> = { ...NO_TOTALS };
  settings: QueueSettings = {};
  /** Failed tasks that follow none. */
  deadLetters = 0;
  /** Mean time that leases are held, in seconds, where time is charged. */
  meanRun: number | undefined = undefined;
  /** Theoretical arrival time of the queue's own rate. */
  tat = 0;
  readonly parked: Parked<TaskEntry> = new Parked(bySeq);
  runnable = 0;
  readyUsers = 0;
  /** Runnable work that this step has added; hands out wake-ups at its end. */
  gain = 0;
  /** The step in hand has changed it, or one of its users. */
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

/** One user in one queue. Lives while it has work, a kept tag, settings, or stands on a list. */
export class UserEntry {
  readonly user: string;
  readonly queue: QueueEntry;
  /** `<length of queue>:<queue><user>`: its member name in indexes over all queues. */
  readonly key: string;
  /** Start tag, in grains of its own turns, and the epoch of the queue that it belongs to. */
  tag = 0;
  epoch = 0;
  ready = false;
  /** The weight that it is counted with, or was when it was ready last: its tag is in such turns. */
  weight = 0;
  /** The epoch of its queue in which it stands among the leavers; -1 while it does not. */
  leavingIn = -1;
  /** While ready: the headroom it is counted with, and the class it stands in. */
  headroom = 0;
  class: WeightClass | undefined = undefined;
  readonly levels: (SortedList<TaskEntry> | undefined)[] = [];
  readonly counts: number[] = [0, 0, 0, 0, 0, 0];
  queued = 0;
  /** Of its queued tasks: those in no line, since no worker came for them that knows their names. */
  parked = 0;
  readonly shares: LevelShares = newLevelShares();
  seq = 0;
  /** Tasks that have not ended. */
  live = 0;
  /** Of its started tasks. */
  running = 0;
  /** As of its queue. */
  tat = 0;
  meanRun: number | undefined = undefined;
  lists: NameList[] = [];
  /** Scheduled tasks by due time, and its own key among the users that have any. */
  scheduled: SortedList<TaskEntry> | undefined = undefined;
  dueKey: number | undefined = undefined;
  /** Its key in the throttled index while it stands there. */
  throttledUntil: number | undefined = undefined;
  /** Its key in `queue.idle` while it stands there: until when its tag is worth keeping. */
  idleUntil: number | undefined = undefined;
  /** The step in hand has changed it. */
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

/** Orders by when a key is free again; those without such a moment come first. */
export function byUntil(a: KeyEntry, b: KeyEntry): number {
  return (a.until ?? 0) - (b.until ?? 0) || compareUtf8(a.scope, b.scope);
}

/** Orders by when the first scheduled task of a user is due. */
export function byDueKey(a: UserEntry, b: UserEntry): number {
  return (a.dueKey ?? 0) - (b.dueKey ?? 0) || compareUtf8(a.key, b.key);
}

/** Orders by when the rate of a user allows its next start. */
export function byThrottle(a: UserEntry, b: UserEntry): number {
  return (a.throttledUntil ?? 0) - (b.throttledUntil ?? 0) || compareUtf8(a.key, b.key);
}
