import type { Clock, Timer } from '../../../base/time.ts';
import { compareUtf8 } from '../../../base/utf8-order.ts';
import { ClosedError } from '../../../domain/errors/errors.ts';
import type { Retention, UserSettings } from '../../../domain/fairness/settings.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { LeaseRef, LeaseRequest, WorkerSpec } from '../../../domain/port/backend.ts';
import type { EndState } from '../../../domain/task/task.ts';
import type { KeyEntry } from './entities.ts';
import {
  byArrival,
  byDeadline,
  byDue,
  byDueKey,
  byEnd,
  byThrottle,
  byUntil,
  type Grant,
  QueueEntry,
  type TaskEntry,
  UserEntry,
} from './entities.ts';
import { Failures } from './failures.ts';
import { MissingIds } from './missing-ids.ts';
import { MomentIndex } from './moment-index.ts';
import { OpenAsks } from './open-asks.ts';
import { PublishedEvents } from './published-events.ts';
import { byMoment, byName, type ScheduleEntry } from './schedule-entry.ts';
import { SeriesSteps } from './series-steps.ts';
import { SortedList } from './sorted-list.ts';
import { Waiters } from './waiters.ts';
import { XComEntries } from './xcom-entries.ts';

/** A snapshot, or the memory of one that was dropped. */
export interface Snapshot {
  body: string | undefined;
  /** When it goes; for ever while a task needs it. */
  until: number;
  readonly neededBy: Set<string>;
}

/** Saves work, and nothing depends on it: a firing is safe without. */
export interface SchedulerLock {
  owner: string;
  until: number;
  /** Rises with each owner. */
  fence: number;
}

/** A worker as the backend knows it. */
export interface WorkerEntry {
  readonly spec: WorkerSpec;
  readonly names: ReadonlySet<string>;
  /** See `Registration`. */
  readonly instance: string | undefined;
  readonly startedAt: number;
  /** Since then. */
  readonly attempts: { succeeded: number; failed: number; lost: number };
  lastSeenAt: number;
  /** The latest lease request and what it gave, so that a resend is answered the same. */
  lastRequest: string;
  lastLeases: readonly LeaseRef[];
  /** Was woken before it began to wait. */
  token: boolean;
  wake: (() => void) | undefined;
  /** It is restricted, and was silent so long that its lists were dropped; it joins again. */
  offLists: boolean;
}

/** By due time, by creation, by lease end, by end. The line has an index for each user and level. */
type StateIndexes = Readonly<Record<'scheduled' | 'deferred', SortedList<TaskEntry>>> &
  Readonly<Record<'started' | EndState, MomentIndex<TaskEntry>>>;

/**
 * Everything the embedded backend knows. `records` is the only owner of tasks; all other fields
 * are indexes into it. A step is one synchronous call of a public method, so it is atomic.
 */
export class Store {
  readonly clock: Clock;
  /** The least retention: until then an ended task may be read, or its end sent again. */
  readonly leastKeptMs: number;
  readonly records: Map<string, TaskEntry> = new Map();
  readonly queues: Map<string, QueueEntry> = new Map();
  readonly settingsForAll: Map<string, UserSettings> = new Map();
  readonly keys: Map<string, KeyEntry> = new Map();
  /** Keys that hold although their owner's record is gone, by when they hold no more. */
  readonly goneKeys: SortedList<KeyEntry> = new SortedList(byUntil);
  /** Ids that are not stored yet and that tasks wait for. */
  readonly missing: MissingIds = new MissingIds();
  readonly snapshots: Map<string, Snapshot> = new Map();
  readonly schedules: Map<string, ScheduleEntry> = new Map();
  readonly schedulesByName: SortedList<ScheduleEntry> = new SortedList(byName);
  /** Those that will fire, by when. */
  readonly schedulesDue: SortedList<ScheduleEntry> = new SortedList(byMoment);
  /** Those that fire at events and are not paused, by user and name of these. */
  readonly schedulesOn: Map<string, Set<ScheduleEntry>> = new Map();
  /** The scheduler that fires them, and until when it keeps the others away. */
  readonly scheduler: SchedulerLock = { owner: '', until: 0, fence: 0 };
  /** Named values that tasks hand on. */
  readonly xcom: XComEntries = new XComEntries();
  /** Suspended tasks that wait for signals. */
  readonly waiters: Waiters = new Waiters();
  /** Unanswered questions. */
  readonly asks: OpenAsks = new OpenAsks();
  /** Events, and who waits for them. */
  readonly events: PublishedEvents = new PublishedEvents();
  /** What happened in each minute and hour. */
  readonly series: SeriesSteps = new SeriesSteps();
  readonly workers: Map<string, WorkerEntry> = new Map();
  /** Workers that stand in line for a wake-up since their latest lease gave nothing, longest first. */
  readonly line: Set<WorkerEntry> = new Set();
  /** Task names of workers that are gone, and since when; for an hour. */
  readonly names: Map<string, number> = new Map();
  readonly byState: StateIndexes = {
    scheduled: new SortedList(byDue),
    deferred: new SortedList(byArrival),
    started: new MomentIndex(byArrival),
    finished: new MomentIndex(byEnd),
    failed: new MomentIndex(byEnd),
    canceled: new MomentIndex(byEnd),
  };
  /** Ended tasks with readers, out of retention's way; the others stand in `byState`. */
  readonly read: Readonly<Record<EndState, MomentIndex<TaskEntry>>> = {
    finished: new MomentIndex(byEnd),
    failed: new MomentIndex(byEnd),
    canceled: new MomentIndex(byEnd),
  };
  /** Failed tasks by what they failed with. */
  readonly failures: Failures = new Failures();
  /** Tasks that were stored, and that have ended, ever since. */
  arrivals = 0;
  endings = 0;
  /** Greatest moment at which one has ended. */
  endedLast = 0;
  readonly deadlines: SortedList<TaskEntry> = new SortedList(byDeadline);
  readonly cascade: SortedList<TaskEntry> = new SortedList(byEnd);
  readonly dueUsers: SortedList<UserEntry> = new SortedList(byDueKey);
  readonly throttled: SortedList<UserEntry> = new SortedList(byThrottle);
  /** By task: who waits for what it writes to streams. */
  readonly streamWaiters: Map<string, Set<() => void>> = new Map();
  readonly endWaiters: Map<string, Set<(ended?: TaskEntry) => void>> = new Map();
  retention: Retention = {
    finishedMs: LIMITS.retainFinishedMs,
    failedMs: LIMITS.retainFailedMs,
    canceledMs: LIMITS.retainCanceledMs,
  };
  /** The moment of the step in hand. */
  now = 0;
  /** No sweep before this moment: the backend was away. */
  sweepAfter = 0;
  /** Users and queues that the step in hand has changed, each once, as its `touched` says. */
  readonly touchedUsers: UserEntry[] = [];
  readonly touchedQueues: QueueEntry[] = [];
  /** Called with the entries that the step in hand has ended, after it. */
  readonly ended: TaskEntry[] = [];
  /** Dead letters that the step in hand has made and no worker has decided on. */
  readonly deadLetters: TaskEntry[] = [];
  alarm: { readonly at: number; readonly timer: Timer } | undefined = undefined;
  /** What ended since `at`, the newest then, has readers whose turn may not have come yet. */
  reading: { readonly at: number; newest: number; readonly timer: Timer } | undefined = undefined;
  closed = false;
  /** A schedule is being fired: its owner knows where it moves on to. */
  isFiring = false;
  /** The enqueue in hand speaks for a lease. */
  isFenced = false;
  private seenAt = 0;
  /** Asked for last: mostly it is asked for again. Queues are never dropped. */
  private queueAskedLast: QueueEntry | undefined = undefined;
  /** Given last, and to which request. */
  private grantGivenLast: Grant | undefined = undefined;
  private grantedLast: LeaseRequest | undefined = undefined;

  constructor(clock: Clock, leastKeptMs: number = LIMITS.readMs) {
    this.clock = clock;
    this.leastKeptMs = leastKeptMs;
  }

  /** Begins a step: reads the clock once, and remembers what it said. */
  begin(): void {
    const clock = this.look();
    if (this.seenAt - clock > LIMITS.clockStepMs) {
      this.sweepAfter = Math.min(this.sweepAfter, this.now + LIMITS.outagePauseMs);
      this.#throttleAnew();
    }
    // Not again before a step has come after the pause: calls may be as rare as this.
    const isOver = this.sweepAfter <= this.seenAt;
    if (isOver && this.seenAt > 0 && this.now - this.seenAt > LIMITS.outageMs) {
      this.sweepAfter = this.now + LIMITS.outagePauseMs;
    }
    this.seenAt = this.now;
  }

  /** The clock has gone back: when users may go on is looked at anew. */
  #throttleAnew(): void {
    for (const user of [...this.throttled]) {
      this.throttled.delete(user);
      user.throttledUntil = 0;
      this.throttled.add(user);
    }
  }

  /** The moment of the latest step. */
  get seen(): number {
    return this.seenAt;
  }

  /** Goes on where another store has stopped. */
  continueAt(seen: number): void {
    this.seenAt = seen;
  }

  /** Sets `now` without beginning a step; answers what the clock says. */
  look(): number {
    if (this.closed) throw new ClosedError('the backend');
    const clock = Math.floor(this.clock.now());
    const behind = this.seenAt - clock;
    this.now = behind > 0 && behind <= LIMITS.clockStepMs ? this.seenAt : clock;
    return clock;
  }

  queue(queueName: string): QueueEntry {
    if (this.queueAskedLast?.queue === queueName) return this.queueAskedLast;
    let queue = this.queues.get(queueName);
    if (queue === undefined) {
      queue = new QueueEntry(queueName);
      this.queues.set(queueName, queue);
      this.series.begin(queueName, this.now);
    }
    this.queueAskedLast = queue;
    return queue;
  }

  userEntry(queueName: string, user: string): UserEntry {
    const queue = this.queue(queueName);
    let found = queue.users.get(user);
    if (found === undefined) {
      found = new UserEntry(user, queue);
      queue.users.set(user, found);
    }
    return found;
  }

  /** Own settings in the queue, then own for all queues, then the queue's defaults, field by field. */
  settingsOf(user: UserEntry): UserSettings {
    const { ownSettings, settings } = user.queue;
    const own = ownSettings.size === 0 ? undefined : ownSettings.get(user.user);
    const all = this.settingsForAll.size === 0 ? undefined : this.settingsForAll.get(user.user);
    const defaults = settings.perUser;
    if (own === undefined && all === undefined) return defaults ?? NO_SETTINGS;
    return { ...defaults, ...all, ...own };
  }

  /** Most tasks of one lease have the same number, so they share what they are given. */
  grantOf(number: number, request: LeaseRequest): Grant {
    const newest = this.grantGivenLast;
    const isSame = newest?.number === number && newest.leasedAt === this.now;
    if (isSame && this.grantedLast === request) return newest;
    const { requestId, worker } = request;
    this.grantedLast = request;
    this.grantGivenLast = { number, token: `${number}-${requestId}`, worker, leasedAt: this.now };
    return this.grantGivenLast;
  }

  /** The changes of the step in hand have been followed up. */
  untouch(): void {
    for (const user of this.touchedUsers) user.touched = false;
    for (const queue of this.touchedQueues) queue.touched = false;
    this.touchedUsers.length = 0;
    this.touchedQueues.length = 0;
    this.deadLetters.length = 0;
  }

  touch(user: UserEntry): void {
    if (user.touched) return;
    user.touched = true;
    this.touchedUsers.push(user);
    this.touchQueue(user.queue);
  }

  touchQueue(queue: QueueEntry): void {
    if (queue.touched) return;
    queue.touched = true;
    this.touchedQueues.push(queue);
  }

  /** The index of an ended task: those with readers stand apart. */
  endedIndex(entry: TaskEntry, state: EndState): MomentIndex<TaskEntry> {
    return (entry.optional.readers > 0 ? this.read : this.byState)[state];
  }

  queuesInOrder(): QueueEntry[] {
    return [...this.queues.values()].sort((a, b) => compareUtf8(a.queue, b.queue));
  }
}

const NO_SETTINGS: UserSettings = {};
