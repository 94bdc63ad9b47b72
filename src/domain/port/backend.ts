/**
 * The port: what the engine needs of a store of tasks. Every method is one atomic step: it happens
 * entirely or not at all, even if the process dies in the middle. All moments are those of the backend's
 * own clock, never the caller's; ids and nonces arrive as arguments.
 *
 * Every method may throw `BackendUnavailableError` and `ClosedError`. The outcome of a race is a value.
 * `fairloom/conformance` exports the tests of it: a class that passes them is a backend.
 */

import type { QueuePatch } from '../fairness/settings.ts';
import type { Cause } from '../task/cause.ts';
import type { DeadLetters } from '../task/dead-letter.ts';
import type { DependentPage } from '../task/dependents.ts';
import type { AttemptRecord, NewTask, TaskRecord, TaskRow, TaskStatus } from '../task/task.ts';
import type { SignalMessage, SignalReply, WaitEvent, WaitFigure } from '../task/wait.ts';
import type { XComFact, XComPlace, XComValue, XComWrite } from '../task/xcom.ts';
import type { AskStore } from './asks.ts';
import type { Capabilities } from './capabilities.ts';
import type { CancelReply, ChangeReply, EditedTask } from './change-reply.ts';
import type { BatchOptions, EnqueueReply } from './enqueueing.ts';
import type { EventStart, PublishReply } from './event-start.ts';
import type {
  ErrorGroupFacts,
  Page,
  PageRequest,
  QueueInfo,
  ReconcileReport,
  Registration,
  Stats,
  TaskFacts,
  TaskFilter,
  TaskPageRequest,
  WorkerInfo,
  WorkerSpec,
} from './inspection.ts';
import type {
  ExtendReply,
  ExtendRequest,
  LeaseReply,
  LeaseRequest,
  SettleReply,
  SettleRequest,
  WorkNotice,
} from './leasing.ts';
import type { BackendInfo, BackendSettings, Pong } from './opening.ts';
import type { RunStore } from './runs.ts';
import type {
  DueReply,
  DueRequest,
  FireReply,
  FireRequest,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSetReply,
} from './schedule.ts';
import type { SeriesStore } from './series.ts';
import type { StreamStore } from './streams.ts';
import type { UserStore } from './user-store.ts';

export type { Dependent, DependentPage } from '../task/dependents.ts';
export type { AskStore } from './asks.ts';
export type { Capabilities, SyncInterval, SyncMode } from './capabilities.ts';
export type { CancelReply, ChangeReply, EditedTask } from './change-reply.ts';
export type { EnqueueRefusal } from './enqueue-refusal.ts';
export type { BatchOptions, EnqueueReply } from './enqueueing.ts';
export type { EventStart, PublishReply } from './event-start.ts';
export type {
  ErrorGroupFacts,
  Page,
  PageRequest,
  QueueInfo,
  ReconcileReport,
  Stats,
  TaskFacts,
  TaskFilter,
  TaskPageRequest,
  UserInfo,
  WorkerInfo,
  WorkerSpec,
} from './inspection.ts';
export type {
  Decision,
  ExtendReply,
  ExtendRequest,
  Leased,
  LeaseRef,
  LeaseReply,
  LeaseRequest,
  QueueShare,
  SettleAnswer,
  Settlement,
  SettleReply,
  SettleRequest,
  Suspension,
  UpstreamFact,
  WorkNotice,
} from './leasing.ts';
export type { BackendInfo, BackendProblem, BackendSettings, Pong } from './opening.ts';
export type { CheckpointReply, NodeWrites, PauseReply, RunStore } from './runs.ts';
export type {
  DueReply,
  DueRequest,
  EventSource,
  FireOutcome,
  FireReply,
  FireRequest,
  Firing,
  MissedPolicy,
  OverlapPolicy,
  PassedSlots,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSetReply,
  SlotMoment,
} from './schedule.ts';
export type {
  SeriesCell,
  SeriesEntry,
  SeriesReply,
  SeriesRequest,
  SeriesStore,
} from './series.ts';
export type { StreamLease, StreamPlace, StreamStore } from './streams.ts';
export type { UserStore } from './user-store.ts';

/** A store of tasks. */
export interface Backend {
  /** Its name in log lines and errors, such as `memory`. */
  readonly name: string;
  /** What it supports beyond the required methods. */
  readonly capabilities: Capabilities;
  /** Tasks: stored, leased, settled. */
  readonly tasks: TaskStore;
  /** Users and their settings. */
  readonly users: UserStore;
  /** Queues and their settings. */
  readonly queues: QueueStore;
  /** Live workers, and those that wait for work. */
  readonly workers: WorkerStore;
  /** Reads: nothing changes. */
  readonly inspect: Inspect;
  /** Journals and channels of runs. */
  readonly runs: RunStore;
  /** Snapshots of graphs. */
  readonly graphs: GraphStore;
  /** Schedules, which store tasks at given times. */
  readonly schedules: ScheduleStore;
  /** Named values that tasks pass to other tasks. */
  readonly xcom: XComStore;
  /** Signals and events, which suspended tasks wait for. */
  readonly waits: WaitStore;
  /** Output of running tasks. */
  readonly streams: StreamStore;
  /** Questions of tasks to people. */
  readonly asks: AskStore;
  /** Counts per minute and hour. */
  readonly series: SeriesStore;
  /** Connects and checks. May be called again; other methods call it if needed. */
  open(settings: BackendSettings): Promise<BackendInfo>;
  /** Releases everything. Calls that wait (`workers.waitForWork`, `inspect.waitForEnd`, `streams`) return at once. */
  close(): Promise<void>;
}

/** Tasks: stored, leased, settled. */
export interface TaskStore {
  /**
   * Stores any number of tasks. With `atomic` all or none: a refusal of one stores nothing, and no task
   * of the batch can be leased before all are stored. Without it each task is stored or refused on its own.
   * Storing the same ids again changes nothing.
   */
  enqueue(tasks: readonly NewTask[], options: BatchOptions): Promise<readonly EnqueueReply[]>;

  /** Starts up to `limit` tasks in fair order, each under a lease. A repeated `requestId` gets the same leases. */
  lease(request: LeaseRequest): Promise<LeaseReply>;

  /** Applies decisions to leased tasks, and may lease the next ones in the same step. */
  settle(request: SettleRequest): Promise<SettleReply>;

  /** Extends leases. Accepted while the record has the token, even after the lease's end. */
  extend(request: ExtendRequest): Promise<ExtendReply>;

  /**
   * One bounded step of maintenance: ended leases, due tasks, deadlines, dependents of ended
   * tasks, retention. With `more` in the answer, call it again at once.
   */
  tick(): Promise<TickReply>;

  /** Cancels a task. Linearizable: the first of cancel, settle and sweep takes effect, and the answer names it. */
  cancel(id: string, cause: Cause): Promise<CancelReply>;

  /**
   * Puts a dead letter back at the tail of its level, with its attempts counted anew, and with another input if
   * one is given. With `endedBy`, only if it failed at that moment or before.
   */
  redrive(id: string, edited?: EditedTask, endedBy?: number): Promise<ChangeReply>;

  /**
   * Removes an ended task and everything kept about it. Tasks that wait for its redrive are canceled first, in
   * as many steps as needed. A refusal changes nothing, unless the task was redriven in between. With
   * `endedBy`, only if it ended at that moment or before.
   */
  remove(id: string, endedBy?: number): Promise<ChangeReply>;

  /** Makes a scheduled task due now, or ends the sleep of a suspended task. */
  runNow(id: string): Promise<ChangeReply>;
}

/** Whether there is more to do, and when. */
export interface TickReply {
  /** A part of the work stopped at its bound: call again at once. */
  readonly more: boolean;
  /**
   * Nothing falls due before this moment; absent when nothing will. It may be too early, never too late.
   */
  readonly nextDueAt?: number;
  /** A schedule is due. */
  readonly schedulesDue: boolean;
  /** The moment of this step by the backend's clock. */
  readonly now: number;
  /** Tasks that this step has failed, without a settlement. */
  readonly deadLetters?: DeadLetters;
}

/** Signals and events, which suspended tasks wait for; see `Suspension.wait`. */
export interface WaitStore {
  /**
   * Ends the oldest wait for a signal of this name to this task, or keeps the signal for the next wait, in
   * order. A signal ends one wait. Kept signals are removed with the record of the task.
   */
  signal(id: string, signal: SignalMessage): Promise<SignalReply>;
  /**
   * Ends all waits of this user's tasks for events of this name and key that began before; many of them
   * in later steps of maintenance. The event is kept for a time, see {@link WaitEvent}. In the same step the
   * tasks that it starts are stored, all or none, if `starts` are the schedules of this user and name that
   * fire at events and are not paused.
   */
  publish(user: string, event: WaitEvent, starts: readonly EventStart[]): Promise<PublishReply>;
  /** Number of waits by kind, in the order of `WAIT_KINDS`. */
  figures(): Promise<readonly WaitFigure[]>;
}

/** Snapshots of graphs as texts, by the hash of their content. Unused ones are removed after `LIMITS.graphTtlMs`. */
export interface GraphStore {
  /** Stores a snapshot unless it is stored, and extends its time. */
  save(hash: string, body: string): Promise<'saved' | 'known'>;
  /** The snapshot, whose time is extended; or why it is not there. */
  load(hash: string): Promise<GraphReply>;
}

/** A snapshot, or why there is none. */
export type GraphReply =
  /** As JSON text. */
  | { readonly kind: 'found'; readonly body: string }
  /** Never saved here · its time has passed · removed before its time. */
  | { readonly kind: 'unknown' | 'expired' | 'evicted' };

/**
 * Schedules, and when each is due. The client computes slots; the store fires each at most once.
 */
export interface ScheduleStore {
  /** Writes a whole schedule, if it is at the given revision. */
  set(change: ScheduleChange): Promise<ScheduleSetReply>;
  /** The schedule as `record`, if it exists, and the backend's time as `now`. */
  get(id: string): Promise<{ readonly record: ScheduleRecord | undefined; readonly now: number }>;
  /** Schedules in the order of their ids. */
  list(page: PageRequest): Promise<Page<ScheduleRecord>>;
  /** Removes a schedule and its claim on its graph. Tasks that it has stored stay. False: there was none. */
  remove(id: string): Promise<boolean>;
  /**
   * Schedules that are due, for one scheduler at a time: a call locks out the others for
   * `LIMITS.scheduleLockMs`. A schedule late by `LIMITS.scheduleOverdueMs` is given to any caller.
   */
  due(request: DueRequest): Promise<DueReply>;
  /**
   * Stores the tasks of slots and advances the schedule, in one step, if it is still at the given slot and
   * revision: of several callers that fire a slot, one succeeds. A refused task counts as missed, and the
   * schedule advances.
   */
  fire(request: FireRequest): Promise<FireReply>;
  /** Releases the lock, so that another scheduler takes over at once. */
  leave(owner: string): Promise<void>;
  /** How late the latest due schedule is, in ms; 0 when none is due. */
  lag(): Promise<number>;
}

/**
 * Named values by user, namespace and key. Tasks change them with their ends (`Settlement.xcom`) and
 * checkpoints. An expired value is absent, even before it is removed.
 */
export interface XComStore {
  /** Changes values outside of a task, in order: all or none. Their time counts from now. */
  write(writes: readonly XComWrite[]): Promise<void>;
  /** Values in the order asked; `undefined` for what is not there. */
  read(places: readonly XComPlace[]): Promise<readonly (XComValue | undefined)[]>;
  /**
   * Values of one `namespace` of a `user`, by key. A page may have fewer items than requested and still be
   * followed by another.
   */
  list(
    where: { readonly user: string; readonly namespace: string },
    page: PageRequest,
  ): Promise<Page<XComFact>>;
  /** Namespaces of a user, by name, including those whose values have all expired and are not removed yet. */
  namespaces(user: string, page: PageRequest): Promise<Page<string>>;
}

/** Queues and their settings. */
export interface QueueStore {
  /** Changes the given settings and no others. */
  set(queue: string, patch: QueuePatch): Promise<void>;
  /** `undefined` for a queue that never had a task or a setting. */
  get(queue: string): Promise<QueueInfo | undefined>;
  /** Every queue that had a task or a setting, in any order. */
  list(): Promise<readonly QueueInfo[]>;
}

/** Live workers, and those that wait for work. */
export interface WorkerStore {
  /**
   * Called before the first lease, and again when the spec changes or the backend may have lost it.
   *
   * @throws `InvalidOptionError` of `id` while another instance has that id.
   */
  register(spec: WorkerSpec, registration?: Registration): Promise<void>;
  /** Called after the last settle. Lists without a live worker are removed. Changes nothing if another instance has the id. */
  unregister(id: string, instance?: string): Promise<void>;
  /** Live workers, in any order. */
  list(): Promise<readonly WorkerInfo[]>;
  /**
   * Answers when there may be work, after `ms`, or when `signal` aborts. The answer may hold the lease of a task that
   * was handed to the waiting worker (`LeaseRequest.wait`). A handed task that has not arrived when the next request
   * for leases begins returns to its place.
   */
  waitForWork(id: string, ms: number, signal: AbortSignal): Promise<WorkNotice>;
}

/** Reads: nothing changes. */
export interface Inspect {
  /** Records in the order asked; `undefined` for what is not stored. */
  get(ids: readonly string[]): Promise<readonly (TaskRecord | undefined)[]>;
  /**
   * The users of tasks, in the order asked; `undefined` for what is not stored. Its cost does not depend on the
   * size of payloads and results.
   */
  owners(ids: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** States and outcomes of tasks, in the order asked; cheaper than `get`. */
  status(ids: readonly string[]): Promise<readonly (TaskStatus | undefined)[]>;
  /** The kept attempts of a task, oldest first. */
  attempts(id: string): Promise<readonly AttemptRecord[]>;
  /**
   * Tasks in the order of the state's index: due time, arrival, lease end, end, or place in line; ties by arrival.
   * A page ends behind the row with which errors and, if requested, payloads and results reach
   * `LIMITS.pageBytes`, and after `LIMITS.pageScan` rows: it may be empty and still be followed by another.
   */
  list(filter: TaskFilter, page: TaskPageRequest): Promise<Page<TaskRow>>;
  /**
   * Failures grouped by error: first groups with failed tasks, then groups whose tasks are retried, which are
   * forgotten after `LIMITS.errorGroupMs`; in both the latest first.
   */
  errorGroups(page: PageRequest): Promise<Page<ErrorGroupFacts>>;
  /** Tasks that wait for this id, which need not be stored: see `onMissing`. */
  dependents(id: string, page: PageRequest): Promise<DependentPage>;
  /** What explains a task's state; `undefined` when it is not stored. */
  facts(id: string): Promise<TaskFacts | undefined>;
  /** Counts over all queues. */
  stats(): Promise<Stats>;
  /** Number of missing dependencies that tasks wait for, counted by id and user. */
  missing(): Promise<number>;
  /** How many tasks of this queue would start at once if there were slots. */
  runnable(queue: string): Promise<number>;
  /**
   * Answers when the task may have ended, after `ms`, or when `signal` aborts. The answer is the task's status if
   * it is known; otherwise read the task.
   */
  waitForEnd(id: string, ms: number, signal: AbortSignal): Promise<TaskStatus | undefined>;
  /** Checks every index against the records, in bounded steps; with `repair` it fixes them. */
  reconcile(options: { readonly repair: boolean }): Promise<ReconcileReport>;
  /** Whether the store answers, and its problems that make no call fail. */
  ping(): Promise<Pong>;
}
