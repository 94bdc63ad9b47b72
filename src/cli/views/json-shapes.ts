/**
 * What each command prints with `-o json`: the one place that says so. `npm run docs` writes
 * docs/cli-output.md from these types and their comments, and tests hold the commands to that page.
 */

import type { CopyCounts } from '../../backends/copy/counts.ts';
import type { BulkInfo } from '../../bulk/bulk-facade.ts';
import type { AskInfo } from '../../client/facades/asks-facade.ts';
import type { ErrorGroup } from '../../client/facades/error-groups.ts';
import type { QueueStatus } from '../../client/facades/queue-facade.ts';
import type { RunExplanation } from '../../client/facades/run-explanation.ts';
import type { SeriesReport } from '../../client/facades/series-report.ts';
import type { TaskInfo } from '../../client/facades/task-info.ts';
import type { TaskLogLine } from '../../client/facades/task-logs.ts';
import type { UserStatus } from '../../client/facades/user-facade.ts';
import type { UserHistory } from '../../client/facades/user-history.ts';
import type { VersionStatus } from '../../client/facades/versions.ts';
import type { Health } from '../../client/health.ts';
import type { Config } from '../../config/config-types.ts';
import type { Explanation } from '../../domain/explain/explain.ts';
import type { WorkerInfo } from '../../domain/port/backend.ts';
import type { Stats } from '../../domain/port/inspection.ts';
import type { Dependent } from '../../domain/task/dependents.ts';
import type { StreamFacts } from '../../domain/task/stream.ts';
import type { WaitFigure } from '../../domain/task/wait.ts';
import type { XComFact } from '../../domain/task/xcom.ts';
import type {
  GraphStates,
  NamedValue,
  ScheduleSlots,
  StreamRow,
  TaskDetails,
  XComNamespace,
} from '../../operations/answers.ts';
import type {
  Backfill,
  Change,
  GivenAnswer,
  PublishedEvent,
  SentSignal,
  StoredRun,
  StoredTask,
} from '../../operations/change-answers.ts';
import type { RunExport } from '../../runs/calls/run-format.ts';
import type { RunDetails, RunInfo } from '../../runs/run-info.ts';
import type { ScheduleInfo } from '../../schedules/schedule-info.ts';
import type { DemoResult } from '../demo/demo.ts';
import type { Diagnosis } from './checks.ts';
import type { TopSnapshot } from './snapshot.ts';

/** What was copied, and where. */
export interface CopyReport {
  /** A folder; or a URL of Redis without its password, a blank, and the prefix. */
  readonly from: string;
  /** As `from`. */
  readonly to: string;
  /** How many things there are, by what they are. */
  readonly counts: CopyCounts;
}

/** By command. `undefined`: it prints no JSON. */
export interface JsonShapes {
  readonly demo: DemoResult;
  readonly worker: undefined;
  readonly enqueue: EnqueuedTask;
  readonly run: RunOutput;
  readonly 'tasks list': readonly TaskInfo[];
  readonly 'tasks get': TaskDetails;
  readonly 'tasks dependents': readonly Dependent[];
  readonly 'tasks explain': Explanation;
  readonly 'tasks cancel': readonly Change[];
  readonly 'tasks redrive': readonly Change[];
  readonly 'tasks run-now': readonly Change[];
  readonly 'tasks remove': readonly Change[];
  readonly 'runs list': readonly RunInfo[];
  readonly 'runs get': RunDetails;
  readonly 'runs graph': GraphStates;
  readonly 'runs explain': RunExplanation;
  readonly 'runs cancel': readonly Change[];
  readonly 'runs pause': readonly Change[];
  readonly 'runs resume': readonly Change[];
  readonly 'runs rerun': StoredRun;
  readonly 'runs fork': StoredRun;
  readonly 'runs export': RunExport;
  readonly 'runs import': StoredRun;
  readonly 'graphs show': GraphStates;
  readonly scheduler: undefined;
  readonly 'schedules list': readonly ScheduleInfo[];
  readonly 'schedules get': ScheduleInfo;
  readonly 'schedules next': ScheduleSlots;
  readonly 'schedules set': ScheduleInfo;
  readonly 'schedules on': ScheduleInfo;
  readonly 'schedules update': ScheduleInfo;
  readonly 'schedules run': StoredTask;
  readonly 'schedules pause': readonly Change[];
  readonly 'schedules resume': readonly Change[];
  readonly 'schedules remove': readonly Change[];
  readonly 'schedules backfill': Backfill;
  readonly 'bulk start': BulkInfo;
  readonly 'bulk list': readonly BulkInfo[];
  readonly 'bulk get': BulkInfo;
  readonly 'bulk cancel': readonly Change[];
  readonly 'dead groups': readonly ErrorGroup[];
  readonly 'dead list': readonly TaskInfo[];
  readonly 'dead redrive': readonly Change[];
  readonly 'dead remove': readonly Change[];
  readonly 'users list': readonly UserStatus[];
  readonly 'users get': UserDetails;
  readonly 'users set': undefined;
  readonly 'users pause': undefined;
  readonly 'users resume': undefined;
  readonly 'queues list': readonly QueueStatus[];
  readonly 'queues get': QueueStatus;
  readonly 'queues set': undefined;
  readonly 'queues pause': undefined;
  readonly 'queues resume': undefined;
  readonly signal: SentSignal;
  readonly publish: PublishedEvent;
  readonly 'asks list': readonly AskInfo[];
  readonly 'asks get': AskInfo;
  readonly 'asks answer': GivenAnswer;
  readonly 'xcom list': readonly XComFact[];
  readonly 'xcom namespaces': readonly XComNamespace[];
  readonly 'xcom get': NamedValue;
  readonly 'xcom push': undefined;
  readonly 'xcom delete': undefined;
  readonly 'tasks logs': readonly TaskLogLine[];
  readonly 'streams read': readonly StreamRow[];
  readonly 'streams list': readonly StreamFacts[];
  readonly 'config show': Config;
  readonly 'workers list': readonly WorkerInfo[];
  readonly versions: readonly VersionStatus[];
  readonly series: SeriesReport;
  readonly status: Status;
  readonly health: Health;
  readonly doctor: Diagnosis;
  readonly copy: CopyReport;
  readonly top: TopSnapshot;
  readonly dashboard: undefined;
  readonly dev: undefined;
  readonly completion: undefined;
}

/** A task that was stored and perhaps waited for. */
export interface EnqueuedTask extends StoredTask {
  /** With `--wait`: what its handler returned. */
  readonly result?: unknown;
}

/** What steps made that ran here and now. */
export interface RunOutput {
  /** What the last one returned; absent when that is nothing. */
  readonly result?: unknown;
}

/** One user in one queue, and how it has fared of late. */
export interface UserDetails extends UserStatus {
  /** How long its tasks waited and ran, and how long its line will take. */
  readonly history: UserHistory;
}

/** The whole, at one moment. */
export interface Status extends Stats {
  /** How many are suspended until something has come that is no task, by kind. */
  readonly waiting: readonly WaitFigure[];
  /** Every queue. */
  readonly queues: readonly QueueStatus[];
  /** Every live worker. */
  readonly workers: readonly WorkerInfo[];
}
