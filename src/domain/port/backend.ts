/**
 * The port: what the engine needs of the place where tasks live. Every method is one atomic step:
 * it happens entirely or not at all, also when the process dies half way. All moments are
 * those of the backend's own clock, never the caller's; ids and nonces arrive as arguments.
 *
 * Every method may throw `BackendUnavailableError` and `ClosedError`; races are answered by values.
 * `fairloom/testing` exports the conformance suite: a class that passes it is a backend.
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

/** The place where tasks live. */
export interface Backend {
  /** For log lines and errors, as `memory`. */
  readonly name: string;
  /** What it can do, beyond what every backend can. */
  readonly capabilities: Capabilities;
  /** Tasks: stored, leased, settled. */
  readonly tasks: TaskStore;
  /** Users and what each may. */
  readonly users: UserStore;
  /** Queues and what holds for each. */
  readonly queues: QueueStore;
  /** Who works here, and who waits for work. */
  readonly workers: WorkerStore;
  /** Looking, without changing anything. */
  readonly inspect: Inspect;
  /** What runs have written down. */
  readonly runs: RunStore;
  /** Snapshots of graphs. */
  readonly graphs: GraphStore;
  /** What makes tasks at given times. */
  readonly schedules: ScheduleStore;
  /** Named values that tasks hand on. */
  readonly xcom: XComStore;
  /** What suspended tasks wait for that is no task. */
  readonly waits: WaitStore;
  /** What tasks tell while they run. */
  readonly streams: StreamStore;
  /** What they ask people. */
  readonly asks: AskStore;
  /** What happened in each minute and hour. */
  readonly series: SeriesStore;
  /** Connects and checks; safe to call again. Other methods call it when it was not called. */
  open(settings: BackendSettings): Promise<BackendInfo>;
  /** Frees everything; waits in `workers.waitForWork`, `inspect.waitForEnd` and `streams` answer at once. */
  close(): Promise<void>;
}

/** Tasks: stored, leased, settled. */
export interface TaskStore {
  /**
   * Stores tasks; any number of them. `atomic`: all or none, a refusal of one leaves nothing, and
   * nothing of the batch can be leased before all of it is stored. Otherwise each item stands on
   * its own. Sending the same ids again changes nothing.
   */
  enqueue(tasks: readonly NewTask[], options: BatchOptions): Promise<readonly EnqueueReply[]>;

  /** Up to `limit` tasks in fair order, each started under a lease. The same `requestId` again answers the same leases. */
  lease(request: LeaseRequest): Promise<LeaseReply>;

  /** Applies decisions to leased tasks, and may lease the next ones in the same step. */
  settle(request: SettleRequest): Promise<SettleReply>;

  /** Moves lease ends on. Accepted while the record carries the token, also past its end. */
  extend(request: ExtendRequest): Promise<ExtendReply>;

  /**
   * One bounded step of maintenance: ended leases, due tasks, deadlines, dependents of ended
   * tasks, retention. `more` asks to be called again at once.
   */
  tick(): Promise<TickReply>;

  /** Linearizable: of cancel, settle and sweep the first to arrive wins, and the answer says which. */
  cancel(id: string, cause: Cause): Promise<CancelReply>;

  /**
   * Puts a dead letter back, at the tail of its level, with fresh attempts, and another input if one is given.
   * With `endedBy` only one that failed at that moment or before: a call that comes late changes nothing.
   */
  redrive(id: string, edited?: EditedTask, endedBy?: number): Promise<ChangeReply>;

  /**
   * Takes an ended task away for good, with everything kept about it. Those that wait for its redrive
   * are canceled first: that may be any number, so it may take several steps. A refusal has changed
   * nothing, unless the task was redriven in between. With `endedBy` only one that ended at that moment or before.
   */
  remove(id: string, endedBy?: number): Promise<ChangeReply>;

  /** Makes a scheduled task due now; ends the wait of one that is suspended for a time alone. */
  runNow(id: string): Promise<ChangeReply>;
}

/** Whether there is more to do, and when. */
export interface TickReply {
  /** A part of it stopped at its bound: ask again at once. */
  readonly more: boolean;
  /**
   * Nothing falls due before this moment; absent when nothing will. It may be told earlier than
   * something does, never later: who looks then is told anew.
   */
  readonly nextDueAt?: number;
  /** Some schedule is due. */
  readonly schedulesDue: boolean;
  /** What the backend's clock showed. */
  readonly now: number;
  /** Dead letters that this step has made by itself. */
  readonly deadLetters?: DeadLetters;
}

/** What suspended tasks wait for that is no task; see `Suspension.wait`. */
export interface WaitStore {
  /**
   * Ends the oldest wait for a signal of this name that takes those of this task, or keeps it for the
   * next one, in order; a signal ends one wait. They go with the record of the task.
   */
  signal(id: string, signal: SignalMessage): Promise<SignalReply>;
  /**
   * Ends all waits of tasks of this user for events of this name and key that began before; many of them
   * in later steps of maintenance. It is kept for a while: see {@link WaitEvent}. In the same step what it
   * starts is stored, all or none, if `starts` are the schedules that fire at events of this user and name
   * and are not paused.
   */
  publish(user: string, event: WaitEvent, starts: readonly EventStart[]): Promise<PublishReply>;
  /** How many wait, by kind, in the order of `WAIT_KINDS`. */
  figures(): Promise<readonly WaitFigure[]>;
}

/** Snapshots of graphs as texts, by the hash of their content. Unused ones go after `LIMITS.graphTtlMs`. */
export interface GraphStore {
  /** Stores a snapshot unless it is there, and moves its end on either way. */
  save(hash: string, body: string): Promise<'saved' | 'known'>;
  /** The snapshot, whose end moves on; or why it is not there. */
  load(hash: string): Promise<GraphReply>;
}

/** A snapshot, or why there is none. */
export type GraphReply =
  /** As JSON text. */
  | { readonly kind: 'found'; readonly body: string }
  /** Never saved here · its time was over · gone before its time. */
  | { readonly kind: 'unknown' | 'expired' | 'evicted' };

/**
 * Schedules: who they are, and when each is due. What a slot is and which one comes next is decided
 * by the client; that a slot is fired at most once, here.
 */
export interface ScheduleStore {
  /** Writes a schedule whole, unless it is at another revision than the one named. */
  set(change: ScheduleChange): Promise<ScheduleSetReply>;
  /** One schedule as `record`, if there is one, and as `now` what the backend's clock shows. */
  get(id: string): Promise<{ readonly record: ScheduleRecord | undefined; readonly now: number }>;
  /** By name. */
  list(page: PageRequest): Promise<Page<ScheduleRecord>>;
  /** Takes it away, and lets go of its graph. Tasks that it has made stay. False: there was none. */
  remove(id: string): Promise<boolean>;
  /**
   * Schedules that are due, for one scheduler at a time: a call keeps the others away for
   * `LIMITS.scheduleLockMs`. A schedule late by `LIMITS.scheduleOverdueMs` goes to any caller.
   */
  due(request: DueRequest): Promise<DueReply>;
  /**
   * Stores the tasks of slots and moves the schedule on, in one step. Only if it still stands at
   * the slot and the revision named: of several that fire the same slot, one does. A task that is
   * refused counts as missed; it never keeps the schedule from moving on.
   */
  fire(request: FireRequest): Promise<FireReply>;
  /** Lets another scheduler take over at once. */
  leave(owner: string): Promise<void>;
  /** How long the schedule that is due longest has been due, in ms; 0 when none is. */
  lag(): Promise<number>;
}

/**
 * Named values by user, namespace and key. Tasks change them with their ends (`Settlement.xcom`) and
 * checkpoints; a value that is over is not there, whether or not it was taken away yet.
 */
export interface XComStore {
  /** Changes values on behalf of no task, in order: all of them or none. Their time counts from now. */
  write(writes: readonly XComWrite[]): Promise<void>;
  /** Values in the order asked; `undefined` for what is not there. */
  read(places: readonly XComPlace[]): Promise<readonly (XComValue | undefined)[]>;
  /**
   * What is in one `namespace` of a `user`, by key. A page may have fewer items than were asked for, and
   * another page after it.
   */
  list(
    where: { readonly user: string; readonly namespace: string },
    page: PageRequest,
  ): Promise<Page<XComFact>>;
  /** Namespaces of a user, by name; also one whose last value is over and was not taken away yet. */
  namespaces(user: string, page: PageRequest): Promise<Page<string>>;
}

/** Queues and what holds for each. */
export interface QueueStore {
  /** Changes what the patch says and nothing else. */
  set(queue: string, patch: QueuePatch): Promise<void>;
  /** `undefined` when nothing was ever in it, or set for it. */
  get(queue: string): Promise<QueueInfo | undefined>;
  /** Every queue that something was in or set for, in no given order. */
  list(): Promise<readonly QueueInfo[]>;
}

/** Workers: who lives, and who waits for work. */
export interface WorkerStore {
  /**
   * Before the first lease, and again whenever the spec changes or the backend may have lost it.
   *
   * @throws `InvalidOptionError` of `id` while another instance has that.
   */
  register(spec: WorkerSpec, registration?: Registration): Promise<void>;
  /** After the last settle; the worker's lists go when no live worker has them. Nothing changes when another instance has the id. */
  unregister(id: string, instance?: string): Promise<void>;
  /** The live ones, in no given order. */
  list(): Promise<readonly WorkerInfo[]>;
  /**
   * Answers when there may be work, after `ms`, or when `signal` aborts; with the lease of a task that was handed to the
   * worker while it stood in line (`LeaseRequest.wait`), which holds as any other. What was not answered when the next
   * request for leases begins goes back to its place.
   */
  waitForWork(id: string, ms: number, signal: AbortSignal): Promise<WorkNotice>;
}

/** Looking, without changing anything. */
export interface Inspect {
  /** Records in the order asked; `undefined` for what is not stored. */
  get(ids: readonly string[]): Promise<readonly (TaskRecord | undefined)[]>;
  /**
   * Whose tasks are, in the order asked; `undefined` for what is not stored. What payloads and results weigh makes
   * it no longer.
   */
  owners(ids: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** How tasks stand and what they came to, in the order asked: of many, cheaper than `get`. */
  status(ids: readonly string[]): Promise<readonly (TaskStatus | undefined)[]>;
  /** The attempts of one task that are kept, oldest first. */
  attempts(id: string): Promise<readonly AttemptRecord[]>;
  /**
   * In the order of the state's index: due time, arrival, lease end, end, or place in line; ties by arrival.
   * A page ends behind the row with which errors and, where they are asked for, payloads and results reach
   * `LIMITS.pageBytes`, and when it has looked at `LIMITS.pageScan` rows: it may be empty, and others follow.
   */
  list(filter: TaskFilter, page: TaskPageRequest): Promise<Page<TaskRow>>;
  /**
   * Failures by what tasks failed with: first those of which failed tasks are kept, then those whose tasks are
   * tried again, which are forgotten after `LIMITS.errorGroupMs`; of each the one seen last first.
   */
  errorGroups(page: PageRequest): Promise<Page<ErrorGroupFacts>>;
  /** Who waits for a task; also for an id that is not stored, see `onMissing`. */
  dependents(id: string, page: PageRequest): Promise<DependentPage>;
  /** `undefined` when the task is not stored. */
  facts(id: string): Promise<TaskFacts | undefined>;
  /** Over all queues. */
  stats(): Promise<Stats>;
  /** How many missing ids tasks wait for: by id, and by the user that has to store it. */
  missing(): Promise<number>;
  /** How many more slots would start a task at once, in this queue. */
  runnable(queue: string): Promise<number>;
  /**
   * Answers when the task may have ended, after `ms`, or when `signal` aborts. Says how it ended, if that
   * is known then; without that it is a hint only: look.
   */
  waitForEnd(id: string, ms: number, signal: AbortSignal): Promise<TaskStatus | undefined>;
  /** Checks every index against the records; mends with `repair`. Bounded steps inside. */
  reconcile(options: { readonly repair: boolean }): Promise<ReconcileReport>;
  /** Whether the store answers, and what goes wrong there that no call fails of. */
  ping(): Promise<Pong>;
}
