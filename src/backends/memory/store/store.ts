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

/** A snapshot, or the trace of a removed one. */
export interface Snapshot {
  body: string | undefined;
  /** Its expiry; infinite while a task needs it. */
  until: number;
  readonly neededBy: Set<string>;
}

/** Saves work; firing is safe without it. */
export interface SchedulerLock {
  owner: string;
  until: number;
  /** Increases with each owner. */
  fence: number;
}

/** A worker in the backend. */
export interface WorkerEntry {
  readonly spec: WorkerSpec;
  readonly names: ReadonlySet<string>;
  /** See `Registration`. */
  readonly instance: string | undefined;
  readonly startedAt: number;
  /** Counts since its start. */
  readonly attempts: { succeeded: number; failed: number; lost: number };
  lastSeenAt: number;
  /** The latest lease request and its leases, for the answer to a repeated request. */
  lastRequest: string;
  lastLeases: readonly LeaseRef[];
  /** It was woken before it began to wait. */
  token: boolean;
  wake: (() => void) | undefined;
  /** It is restricted, and was taken off its lists by its silence; it rejoins them with its next lease. */
  offLists: boolean;
}

/** By due time, by creation, by lease end, by end. The line has an index for each user and level. */
type StateIndexes = Readonly<Record<'scheduled' | 'deferred', SortedList<TaskEntry>>> &
  Readonly<Record<'started' | EndState, MomentIndex<TaskEntry>>>;

/**
 * All data of the embedded backend. `records` is the only owner of tasks; all other fields are
 * indexes into it. A step is one synchronous call of a public method, so it is atomic.
 */
export class Store {
  readonly clock: Clock;
  /** The least retention: until then waiters may read an ended task, or its end may be sent again. */
  readonly leastKeptMs: number;
  readonly records: Map<string, TaskEntry> = new Map();
  readonly queues: Map<string, QueueEntry> = new Map();
  readonly settingsForAll: Map<string, UserSettings> = new Map();
  readonly keys: Map<string, KeyEntry> = new Map();
  /** Keys that outlive their owner's record, by their end. */
  readonly goneKeys: SortedList<KeyEntry> = new SortedList(byUntil);
  /** Missing ids that tasks wait for. */
  readonly missing: MissingIds = new MissingIds();
  readonly snapshots: Map<string, Snapshot> = new Map();
  readonly schedules: Map<string, ScheduleEntry> = new Map();
  readonly schedulesByName: SortedList<ScheduleEntry> = new SortedList(byName);
  /** Schedules with a next slot, by its due time. */
  readonly schedulesDue: SortedList<ScheduleEntry> = new SortedList(byMoment);
  /** Schedules that fire at events and are not paused, by user and name of the events. */
  readonly schedulesOn: Map<string, Set<ScheduleEntry>> = new Map();
  /** The scheduler that fires them, and the end of its lock. */
  readonly scheduler: SchedulerLock = { owner: '', until: 0, fence: 0 };
  /** Named values that tasks pass to other tasks. */
  readonly xcom: XComEntries = new XComEntries();
  /** Suspended tasks that wait for signals. */
  readonly waiters: Waiters = new Waiters();
  /** Unanswered questions. */
  readonly asks: OpenAsks = new OpenAsks();
  /** Events, and the tasks that wait for them. */
  readonly events: PublishedEvents = new PublishedEvents();
  /** Counts per minute and hour. */
  readonly series: SeriesSteps = new SeriesSteps();
  readonly workers: Map<string, WorkerEntry> = new Map();
  /** Workers that wait for a wake-up since their latest lease was empty, longest first. */
  readonly line: Set<WorkerEntry> = new Set();
  /** Task names of workers that are gone, and the moment; for an hour. */
  readonly names: Map<string, number> = new Map();
  readonly byState: StateIndexes = {
    scheduled: new SortedList(byDue),
    deferred: new SortedList(byArrival),
    started: new MomentIndex(byArrival),
    finished: new MomentIndex(byEnd),
    failed: new MomentIndex(byEnd),
    canceled: new MomentIndex(byEnd),
  };
  /** Ended tasks with readers, which retention does not remove; the others are in `byState`. */
  readonly read: Readonly<Record<EndState, MomentIndex<TaskEntry>>> = {
    finished: new MomentIndex(byEnd),
    failed: new MomentIndex(byEnd),
    canceled: new MomentIndex(byEnd),
  };
  /** Failed tasks by error. */
  readonly failures: Failures = new Failures();
  /** Numbers of tasks that were stored, and that have ended. */
  arrivals = 0;
  endings = 0;
  /** Latest moment of an end. */
  endedLast = 0;
  readonly deadlines: SortedList<TaskEntry> = new SortedList(byDeadline);
  readonly cascade: SortedList<TaskEntry> = new SortedList(byEnd);
  readonly dueUsers: SortedList<UserEntry> = new SortedList(byDueKey);
  readonly throttled: SortedList<UserEntry> = new SortedList(byThrottle);
  /** By task: waiters for its streams. */
  readonly streamWaiters: Map<string, Set<() => void>> = new Map();
  readonly endWaiters: Map<string, Set<(ended?: TaskEntry) => void>> = new Map();
  retention: Retention = {
    finishedMs: LIMITS.retainFinishedMs,
    failedMs: LIMITS.retainFailedMs,
    canceledMs: LIMITS.retainCanceledMs,
  };
  /** Moment of the current step. */
  now = 0;
  /** No sweep before this moment: the backend was unavailable. */
  sweepAfter = 0;
  /** Users and queues that the current step has changed, once each, see `touched`. */
  readonly touchedUsers: UserEntry[] = [];
  readonly touchedQueues: QueueEntry[] = [];
  /** Called after the step with the entries that it has ended. */
  readonly ended: TaskEntry[] = [];
  /** Dead letters of the current step that no worker has decided. */
  readonly deadLetters: TaskEntry[] = [];
  alarm: { readonly at: number; readonly timer: Timer } | undefined = undefined;
  /** Tasks that ended since `at`, the latest then, and whose readers may not have run yet. */
  reading: { readonly at: number; newest: number; readonly timer: Timer } | undefined = undefined;
  closed = false;
  /** A schedule is being fired: its owner knows its next slot. */
  isFiring = false;
  /** The current enqueue belongs to a lease. */
  isFenced = false;
  private seenAt = 0;
  /** The latest queue, which is usually the next. Queues are never dropped. */
  private queueAskedLast: QueueEntry | undefined = undefined;
  /** The latest grant, and its request. */
  private grantGivenLast: Grant | undefined = undefined;
  private grantedLast: LeaseRequest | undefined = undefined;

  constructor(clock: Clock, leastKeptMs: number = LIMITS.readMs) {
    this.clock = clock;
    this.leastKeptMs = leastKeptMs;
  }

  /** Begins a step: reads the clock once, and stores its time. */
  begin(): void {
    const clock = this.look();
    if (this.seenAt - clock > LIMITS.clockStepMs) {
      this.sweepAfter = Math.min(this.sweepAfter, this.now + LIMITS.outagePauseMs);
      this.#throttleAnew();
    }
    // Only after a step since the pause: calls may be that rare.
    const isOver = this.sweepAfter <= this.seenAt;
    if (isOver && this.seenAt > 0 && this.now - this.seenAt > LIMITS.outageMs) {
      this.sweepAfter = this.now + LIMITS.outagePauseMs;
    }
    this.seenAt = this.now;
  }

  /** The clock was set back: users' rates are checked again. */
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

  /** Continues from the time of another store. */
  continueAt(seen: number): void {
    this.seenAt = seen;
  }

  /** Sets `now` without beginning a step; answers the clock's time. */
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

  /** Most tasks of one lease have the same number, so they share a grant. */
  grantOf(number: number, request: LeaseRequest): Grant {
    const newest = this.grantGivenLast;
    const isSame = newest?.number === number && newest.leasedAt === this.now;
    if (isSame && this.grantedLast === request) return newest;
    const { requestId, worker } = request;
    this.grantedLast = request;
    this.grantGivenLast = { number, token: `${number}-${requestId}`, worker, leasedAt: this.now };
    return this.grantGivenLast;
  }

  /** Resets the changes of the current step after its end. */
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

  /** The index of an ended task: tasks with readers have their own. */
  endedIndex(entry: TaskEntry, state: EndState): MomentIndex<TaskEntry> {
    return (entry.optional.readers > 0 ? this.read : this.byState)[state];
  }

  queuesInOrder(): QueueEntry[] {
    return [...this.queues.values()].sort((a, b) => compareUtf8(a.queue, b.queue));
  }
}

const NO_SETTINGS: UserSettings = {};
