/**
 * What each operation answers: the one place that says so. The OpenAPI document, docs/cli-output.md and the types
 * of the page are made of it.
 */

import type { BulkInfo } from '../bulk/bulk-facade.ts';
import type { AskInfo } from '../client/facades/asks-facade.ts';
import type { ErrorGroup } from '../client/facades/error-groups.ts';
import type { QueueStatus } from '../client/facades/queue-facade.ts';
import type { RunExplanation } from '../client/facades/run-explanation.ts';
import type { SeriesReport } from '../client/facades/series-report.ts';
import type { AttemptInfo, TaskInfo } from '../client/facades/task-info.ts';
import type { TaskLogLine } from '../client/facades/task-logs.ts';
import type { UserStatus } from '../client/facades/user-facade.ts';
import type { UserHistory } from '../client/facades/user-history.ts';
import type { VersionReport } from '../client/facades/versions.ts';
import type { BackendFacts } from '../client/health.ts';
import type { Explanation } from '../domain/explain/explain.ts';
import type { WorkerInfo } from '../domain/port/backend.ts';
import type { Dependent } from '../domain/task/dependents.ts';
import type { StreamFacts } from '../domain/task/stream.ts';
import type { TaskState } from '../domain/task/task.ts';
import type { WaitFigure } from '../domain/task/wait.ts';
import type { XComFact } from '../domain/task/xcom.ts';
import type { TaskGraph } from '../graph/graph.ts';
import type { RunExport } from '../runs/calls/run-format.ts';
import type { RunDetails, RunInfo, RunNodeInfo } from '../runs/run-info.ts';
import type { ScheduleInfo } from '../schedules/schedule-info.ts';
import type {
  Backfill,
  Change,
  GivenAnswer,
  PublishedEvent,
  SentSignal,
  StoredRun,
  StoredTask,
} from './change-answers.ts';
import type { Permission } from './view.ts';

/** The name of an operation. */
export type OperationName = keyof Answers;

/** By operation. */
export interface Answers {
  readonly about: About;
  readonly overview: Overview;
  readonly 'users.list': UserPage;
  readonly 'users.get': UserRow;
  readonly 'users.history': UserHistory;
  readonly series: SeriesReport;
  readonly 'queues.list': QueueList;
  readonly 'queues.get': QueueStatus;
  readonly 'tasks.list': SearchedPage;
  readonly 'tasks.get': TaskDetails;
  readonly 'tasks.attempts': AttemptList;
  readonly 'tasks.logs': LogList;
  readonly 'tasks.explain': Explanation;
  readonly 'tasks.dependents': DependentList;
  readonly 'streams.list': StreamList;
  readonly 'streams.read': StreamRows;
  readonly 'runs.list': RunPage;
  readonly 'runs.get': RunDetails;
  readonly 'runs.graph': GraphStates;
  readonly 'runs.timeline': Timeline;
  readonly 'runs.explain': RunExplanation;
  readonly 'dead.list': TaskPage;
  readonly 'dead.groups': ErrorGroupPage;
  readonly 'schedules.list': SchedulePage;
  readonly 'schedules.get': ScheduleInfo;
  readonly 'schedules.next': ScheduleSlots;
  readonly 'schedules.history': ScheduleHistory;
  readonly 'asks.list': AskPage;
  readonly 'asks.get': AskInfo;
  readonly versions: VersionReport;
  readonly 'workers.list': WorkerList;
  readonly 'bulk.list': BulkPage;
  readonly 'bulk.get': BulkInfo;
  readonly 'bulk.start': BulkInfo;
  readonly 'bulk.cancel': Change;
  readonly 'audit.list': AuditPage;
  readonly enqueue: StoredTask;
  readonly 'tasks.cancel': Change;
  readonly 'tasks.redrive': Change;
  readonly 'tasks.run-now': Change;
  readonly 'tasks.remove': Change;
  readonly signal: SentSignal;
  readonly 'runs.start': StoredRun;
  readonly 'runs.cancel': Change;
  readonly 'runs.pause': Change;
  readonly 'runs.resume': Change;
  readonly 'runs.rerun': StoredRun;
  readonly 'users.set': UserRow;
  readonly 'users.pause': Change;
  readonly 'users.resume': Change;
  readonly 'queues.set': QueueStatus;
  readonly 'queues.pause': Change;
  readonly 'queues.resume': Change;
  readonly 'schedules.update': ScheduleInfo;
  readonly 'schedules.remove': Change;
  readonly 'schedules.run': StoredTask;
  readonly 'schedules.pause': ScheduleInfo;
  readonly 'schedules.resume': ScheduleInfo;
  readonly 'asks.answer': GivenAnswer;
  readonly publish: PublishedEvent;
  readonly 'runs.fork': StoredRun;
  readonly 'runs.export': RunExport;
  readonly 'graphs.show': GraphStates;
  readonly 'schedules.set': ScheduleInfo;
  readonly 'schedules.on': ScheduleInfo;
  readonly 'schedules.backfill': Backfill;
  readonly 'xcom.list': XComPage;
  readonly 'xcom.namespaces': XComNamespacePage;
  readonly 'xcom.get': NamedValue;
  readonly 'xcom.push': Change;
  readonly 'xcom.delete': Change;
}

/** What this API is, and what its caller may. */
export interface About {
  /** Of the package. */
  readonly version: string;
  /** Where the tasks are: what the backend says of itself. */
  readonly backend: string;
  /** Its name, and what it is worth. */
  readonly store: BackendFacts;
  /** What goes wrong in it though it answers, a line each; absent: nothing, or the caller sees some users only. */
  readonly problems?: readonly string[];
  /** Which of several stores of one server it is; absent when it has no name. */
  readonly namespace?: string;
  /** What the caller may do. */
  readonly can: readonly Permission[];
  /** The caller sees these users alone; absent: it sees all. */
  readonly users?: readonly string[];
  /** Inputs, results and logs are left out of every answer. */
  readonly hidesPayloads: boolean;
  /** What there is beside the routes of every version, by name. */
  readonly features: readonly string[];
}

/** The whole at a glance. A caller that sees some users only gets these users instead of the counts. */
export interface Overview {
  /** When it was read, in ms since the epoch on the clock of the server. */
  readonly at: number;
  /** Tasks by state. */
  readonly counts?: Readonly<Record<TaskState, number>>;
  /** How many have ended since the store began, by outcome. */
  readonly totals?: Readonly<Record<string, number>>;
  /** Failed tasks, without those that only followed another. */
  readonly dead?: number;
  /** How many are suspended until something has come that is no task, by kind. */
  readonly waiting?: readonly WaitFigure[];
  /** Every queue. */
  readonly queues?: readonly QueueStatus[];
  /** Live workers. */
  readonly workers?: number;
  /** Tasks that they could run at once. */
  readonly slots?: number;
  /** How long the schedule that is due longest has been due, in ms. */
  readonly lagMs?: number;
  /** What goes wrong in the store though it answers, a line each; absent: nothing. */
  readonly problems?: readonly string[];
  /** Of a caller that sees some users only: these, in each queue that knows them. */
  readonly users?: readonly UserRow[];
}

/** One user in one queue, with its share. */
export interface UserRow extends UserStatus {
  /**
   * Part of the running tasks of its queue, 0 to 1, over the users that were looked at and that nothing
   * holds back; absent for one that is held back itself, and for callers that see some users only.
   */
  readonly share?: number;
  /** The part that its weight claims among those with work, 0 to 1; absent as `share`. */
  readonly fairShare?: number;
  /** What holds it back, or that nothing does; for people. */
  readonly why: string;
}

/** Users of one queue. */
export interface UserPage {
  /** By name. */
  readonly items: readonly UserRow[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
  /** Shares are over so many users of the queue. */
  readonly sharesOf: number;
}

/** Every queue. */
export interface QueueList {
  /** In no given order. */
  readonly items: readonly QueueStatus[];
}

/** Some tasks. */
export interface TaskPage {
  /** In the order of the listing. */
  readonly items: readonly TaskInfo[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** Tasks that were searched for, or listed. */
export interface SearchedPage extends TaskPage {
  /** How many tasks were looked at, where a filter was given. */
  readonly searched?: number;
  /** The search stopped since it had looked at so many; the cursor goes on. */
  readonly bound?: number;
}

/** What tasks failed with. */
export interface ErrorGroupPage {
  /** Of failed tasks first; of each the one that was seen last first. */
  readonly items: readonly ErrorGroup[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
  /** For a caller of some users: so many of their failed tasks were counted, the oldest first. */
  readonly searched?: number;
  /** For the same: whether there may be more that were not. */
  readonly isCut?: boolean;
}

/** Attempts of one task. */
export interface AttemptList {
  /** Those that did not end well, oldest first, and the last one when there are others. */
  readonly items: readonly AttemptInfo[];
}

/** Lines of the log of one task. */
export interface LogList {
  /** In order. */
  readonly items: readonly TaskLogLine[];
  /** What `from` goes on with. */
  readonly next: number;
}

/** Who waits for a task. */
export interface DependentList {
  /** In the order in which they are told of its end. */
  readonly items: readonly Dependent[];
  /** All of them that the caller may see, as far as they were looked at. */
  readonly count: number;
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** The streams of one task. */
export interface StreamList {
  /** By name. */
  readonly items: readonly StreamFacts[];
}

/** A part of one stream. */
export interface StreamRows {
  /** In order. */
  readonly items: readonly StreamRow[];
  /** What `from` goes on with. */
  readonly next: number;
}

/** Some runs. */
export interface RunPage {
  /** In the order of the listing. */
  readonly items: readonly RunInfo[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** When the nodes of a run ran. */
export interface Timeline {
  /** The run. */
  readonly id: string;
  /** When it was enqueued. */
  readonly from: number;
  /** When it ended; absent while it has not. */
  readonly to?: number;
  /** Of each node that is a task, that task and each of its attempts that is kept, by when they began. */
  readonly spans: readonly TimelineSpan[];
  /** There are more nodes than were looked at. */
  readonly isCut: boolean;
}

/** One stretch of a timeline. */
export interface TimelineSpan {
  /** The node. */
  readonly node: string;
  /** The task that it is. */
  readonly taskId: string;
  /** `task`: from its enqueue to its end; `attempt`: one that is over; `running`: the one in hand. */
  readonly kind: 'task' | 'attempt' | 'running';
  /** Of an attempt: its number, from 1. */
  readonly attempt?: number;
  /** How that ended. */
  readonly outcome?: string;
  /** When it began. */
  readonly from: number;
  /** When it was over; absent while it is not. */
  readonly to?: number;
}

/** Some schedules. */
export interface SchedulePage {
  /** By name. */
  readonly items: readonly ScheduleInfo[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** The slots of a schedule that came last. */
export interface ScheduleHistory {
  /** The schedule. */
  readonly id: string;
  /** The oldest first; none of a schedule that fires at events. */
  readonly items: readonly Firing[];
}

/** One slot of a schedule that has passed. */
export interface Firing {
  /** In ms since the epoch. */
  readonly slot: number;
  /** Its task or run. Absent where none is stored: it was not fired, it was passed over, or the task is not kept any more. */
  readonly taskId?: string;
  /** Where that stands. */
  readonly state?: TaskState;
}

/** Some open questions. */
export interface AskPage {
  /** The oldest first. */
  readonly items: readonly AskInfo[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** The live workers. */
export interface WorkerList {
  /** In no given order. */
  readonly items: readonly WorkerInfo[];
}

/** Changes of many tasks. */
export interface BulkPage {
  /** The newest first. */
  readonly items: readonly BulkInfo[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** Changes that were asked for over HTTP. */
export interface AuditPage {
  /** The newest first. */
  readonly items: readonly AuditEntry[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** A change that was asked for, whether or not it was made. */
export interface AuditEntry {
  /** Of the request: answers and the log have it too. */
  readonly requestId: string;
  /** When, in ms since the epoch on the clock of the server. */
  readonly at: number;
  /** Who asked, as `access` says; absent when it does not. */
  readonly by?: string;
  /** The route, as `POST /tasks/{id}/cancel`. */
  readonly action: string;
  /** What it named, or what was made; empty when that is nothing with an id. */
  readonly target: string;
  /** The status that was answered. */
  readonly status: number;
  /** What became of it, for people: the outcome, or the code of the problem. */
  readonly outcome: string;
}

/** A task with its attempts. */
export interface TaskDetails extends TaskInfo {
  /** The newest last. */
  readonly attempts: readonly AttemptInfo[];
}

/** A graph, and where its nodes stand. */
export interface GraphStates {
  /** As it is stored. */
  readonly graph: TaskGraph;
  /** By node; empty for a graph without a run. */
  readonly states: Readonly<Record<string, RunNodeInfo['state']>>;
}

/** Slots that come next. */
export interface ScheduleSlots {
  /** The schedule. */
  readonly id: string;
  /** In order, in ms since the epoch. */
  readonly slots: readonly number[];
}

/** A chunk of a stream, where an attempt begins anew, or a gap. */
export interface StreamRow {
  /** Which of these it is. */
  readonly type: 'chunk' | 'reset' | 'gap';
  /** Rises through the whole stream, from 0. */
  readonly offset: number;
  /** What `--from` goes on with. */
  readonly next: number;
  /** Who wrote it, or begins; absent for a gap. */
  readonly attempt?: number;
  /** The node of a driven run. */
  readonly node?: string;
  /** What was written. */
  readonly value?: unknown;
}

/** A namespace in which a user has values. */
export interface XComNamespace {
  /** Its name. */
  readonly namespace: string;
}

/** A value with its key. */
export interface NamedValue {
  /** Its key. */
  readonly key: string;
  /** What was pushed. */
  readonly value: unknown;
}

/** Some values. */
export interface XComPage {
  /** By key. */
  readonly items: readonly XComFact[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}

/** Some namespaces. */
export interface XComNamespacePage {
  /** By name. */
  readonly items: readonly XComNamespace[];
  /** Asks for the next page; absent on the last. */
  readonly cursor?: string;
}
