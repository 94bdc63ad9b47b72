// By the way of these two entries, so that a compiler which reads this one can name the types of them.
export type { Backend } from './backend.ts';
export { type MemoryOptions, memory } from './backends/memory/memory-backend.ts';
export type { Logger } from './base/logger.ts';
export { systemClock } from './base/system-clock.ts';
export type { Clock, Duration, Timer } from './base/time.ts';
export type { Bulk, BulkInfo, BulkOptions } from './bulk/bulk-facade.ts';
export type { BulkError } from './bulk/bulk-record.ts';
export { Fairloom } from './client/client.ts';
export type {
  AskAnswer,
  AskAnswerOptions,
  AskInfo,
  AskListOptions,
  Asks,
} from './client/facades/asks-facade.ts';
export type {
  BulkReport,
  Dead,
  DeadBulkOptions,
  DeadFilter,
  DeadListOptions,
  DeadRedriveOptions,
} from './client/facades/dead-facade.ts';
export type { ErrorGroup } from './client/facades/error-groups.ts';
export type { Graphs } from './client/facades/graphs-facade.ts';
export type { PageOptions, TaskPageOptions } from './client/facades/page.ts';
export type { PublishOptions } from './client/facades/publish.ts';
export type { QueueStatus, Queues } from './client/facades/queue-facade.ts';
export type { RunExplanation } from './client/facades/run-explanation.ts';
export type { RunListOptions } from './client/facades/run-list.ts';
export type { RunCancelOptions, RunPauseOptions, Runs } from './client/facades/runs-facade.ts';
export type { BackfillOptions, Schedules } from './client/facades/schedules-facade.ts';
export type { Series, SeriesOptions } from './client/facades/series-facade.ts';
export type { SeriesReport } from './client/facades/series-report.ts';
export type { QueueOptions, UserOptions } from './client/facades/settings-options.ts';
export type { SignalOptions, SignalOutcome } from './client/facades/signals.ts';
export type {
  StreamChunk,
  StreamItem,
  StreamReadOptions,
} from './client/facades/stream-reading.ts';
export type { Streams } from './client/facades/streams-facade.ts';
export type { TaskListOptions, TaskSearchOptions, Tasks } from './client/facades/task-facade.ts';
export type { AttemptInfo, TaskInfo } from './client/facades/task-info.ts';
export type { TaskLogLine, TaskLogOptions } from './client/facades/task-logs.ts';
export type { TaskProgress } from './client/facades/task-progress.ts';
export type { UserStatus, Users } from './client/facades/user-facade.ts';
export type { UserHistory } from './client/facades/user-history.ts';
export type { VersionStatus, VersionsOptions } from './client/facades/versions.ts';
export type { XComs } from './client/facades/xcom-facade.ts';
export type { Health } from './client/health.ts';
export type { RunOptions } from './client/local-run.ts';
export { type EncryptionKey, type EncryptionOptions, encrypted } from './codec/encrypted.ts';
export type { Codec } from './codec/sealed-codec.ts';
export type { TaskError } from './codec/task-error.ts';
export type { Instruments } from './core/instruments.ts';
export type {
  DefaultOptions,
  FairloomOptions,
  RetentionOptions,
  ScheduleDefaults,
  XComOptions,
} from './core/options.ts';
export { type Decider, type DeciderFacts, decide, type Outcome } from './domain/attempt/decider.ts';
export {
  AskClosedError,
  AskNotFoundError,
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  BatchRefusedError,
  ChannelLimitError,
  ChannelTypeError,
  ClockNotDrivenError,
  ClosedError,
  ControlNotReturnedError,
  CopyRefusedError,
  CorruptRecordError,
  CrossUserDependencyError,
  DataDamagedError,
  DecryptionError,
  DependencyCycleError,
  DependencyLimitError,
  DuplicateNodeError,
  ERRORS,
  type ErrorCode,
  type FailedMember,
  FairloomError,
  Fatal,
  GotoInGroupError,
  GraphCorruptError,
  GraphEvictedError,
  GraphExpiredError,
  GraphNotFoundError,
  GraphStoreError,
  GroupChangedError,
  GroupFailedError,
  InvalidOptionError,
  InvalidPayloadError,
  InvalidResultError,
  KeyTakenError,
  LeaseLostError,
  MaxCyclesError,
  MaxStepsError,
  NotationError,
  NotStoredError,
  ProcessEndedError,
  ProgramFailedError,
  ProgramNotStartedError,
  QueueFullError,
  ReplayMismatchError,
  ResultTimeoutError,
  RetryAfter,
  RunCanceledError,
  RunFailedError,
  RunFormatError,
  ScheduleNotFoundError,
  SignalLimitError,
  StreamLimitError,
  TaskBusyError,
  TaskCanceledError,
  TaskConflictError,
  TaskFailedError,
  TaskNotFoundError,
  ThreadEndedError,
  TimedOutError,
  UnknownDependencyError,
  UnknownHandlerError,
  UnknownTaskError,
  WaitOpenError,
  WaitTimedOutError,
  WrongStateError,
  XComLimitError,
} from './domain/errors/errors.ts';
export type { Explanation } from './domain/explain/explain.ts';
export type { RateLimit } from './domain/fairness/rate-limit.ts';
export type { Retention } from './domain/fairness/settings.ts';
export { LIMITS, type Limit, type LimitName } from './domain/limits.ts';
export type {
  FireOutcome,
  MissedPolicy,
  OverlapPolicy,
  Page,
  ReconcileReport,
  SyncMode,
  WorkerInfo,
} from './domain/port/backend.ts';
export type { Stats } from './domain/port/inspection.ts';
export type { Percentiles } from './domain/series/histogram.ts';
export type { SeriesStep } from './domain/series/series-steps.ts';
export { type Cause, causeText, type FailureType, failureTypeOf } from './domain/task/cause.ts';
export type { DeadLetter, DeadLetters } from './domain/task/dead-letter.ts';
export type { Dependent, TaskDependents } from './domain/task/dependents.ts';
export type { RunPause } from './domain/task/pause.ts';
export type { StreamFacts } from './domain/task/stream.ts';
export type { EdgePolicy, KeyPolicy, Level, MissingPolicy, TaskState } from './domain/task/task.ts';
export type { KeepLogs, LogLine, LogLineLevel } from './domain/task/task-log.ts';
export type { Versioning } from './domain/task/task-name.ts';
export type { Progress } from './domain/task/task-progress.ts';
export type { Wait } from './domain/task/wait.ts';
export { call } from './enqueue/call.ts';
export type { Call, EnqueueManyOptions } from './enqueue/call-forms.ts';
export type {
  DebounceOptions,
  EnqueueOptions,
  IdempotencyOptions,
  ThrottleOptions,
} from './enqueue/enqueue-options.ts';
export type { Enqueued, Handle, ResultOptions, TaskHandle } from './enqueue/handle.ts';
export type { WorkerEvents } from './events/worker-events.ts';
export type { HandlerMap } from './handlers/handler-source.ts';
export { type LogLevel, silentLogger, stderrLogger } from './logging/logger.ts';
export type { RunImportOptions } from './runs/calls/import.ts';
export type { ForkOptions, RerunOptions } from './runs/calls/rerun.ts';
export type { RunResumeOptions } from './runs/calls/resume-edited.ts';
export type { RunCancelReport } from './runs/calls/run-cancel.ts';
export type { RunExport } from './runs/calls/run-format.ts';
export type { RunHandle } from './runs/calls/run-handle.ts';
export type { RunDetails, RunInfo, RunNodeInfo } from './runs/run-info.ts';
export type { RunEnqueueOptions } from './runs/run-options.ts';
export type { BackfillReport } from './schedules/backfill.ts';
export type { ScheduleInfo } from './schedules/schedule-info.ts';
export type {
  EventScheduleOptions,
  OneTimeOptions,
  ScheduleInput,
  ScheduleOptions,
} from './schedules/schedule-options.ts';
export type { SchedulePatch } from './schedules/schedule-patch.ts';
export type { SchedulerEvents } from './schedules/scheduler.ts';
export type { SearchPage } from './search/search.ts';
export type { Tracer } from './tracing/tracer.ts';
export type { AskAnswered } from './types.ts';
export {
  type SchedulerOptions,
  SchedulerService,
  type SchedulerServiceEvents,
} from './worker/scheduler-service.ts';
export type { StopReport } from './worker/shutdown.ts';
export type { Worker } from './worker/worker.ts';
export type { StopOptions, WorkerOptions } from './worker/worker-options.ts';
export type { AskOptions } from './workflow/ask.ts';
export { type Channel, type ChannelKey, type ChannelOptions, channel } from './workflow/channel.ts';
export type { DynamicContext } from './workflow/dynamic-context.ts';
export { type EventKey, event } from './workflow/event.ts';
export { type Flow, flow, type Ref } from './workflow/flow.ts';
export type { GroupOptions } from './workflow/group-options.ts';
export { type GroupPolicy, groupPolicy, type MemberResult } from './workflow/group-policy.ts';
export type { RunMetadata } from './workflow/metadata.ts';
export { notation, parseNotation } from './workflow/notation/notation.ts';
export { toAscii } from './workflow/notation/render-ascii.ts';
export { toDot } from './workflow/notation/render-dot.ts';
export { toMermaid } from './workflow/notation/render-mermaid.ts';
export { type EachOptions, each, type ParallelOptions, parallel } from './workflow/parallel.ts';
export { type Signal, signal } from './workflow/signal.ts';
export type { Input, Output, Pipeline, PipelineOptions, Step, Task } from './workflow/step.ts';
export type {
  ProcessContext,
  TaskContext,
  ThreadContext,
  WaitOptions,
} from './workflow/task-context.ts';
export {
  type DynamicOptions,
  dynamic,
  type RefOptions,
  ref,
  task,
} from './workflow/task-definition.ts';
export type {
  BackoffFunction,
  BackoffOptions,
  BackoffPolicy,
  Priority,
  PriorityName,
  TaskOptions,
} from './workflow/task-options.ts';
export type { TaskStream } from './workflow/task-stream.ts';
export type { ContainerOptions } from './workflow/tasks/container.ts';
export {
  type HandlerTaskOptions,
  handlerTask,
  type TaskHandler,
} from './workflow/tasks/handler-task.ts';
export { type ModuleTaskOptions, processTask, threadTask } from './workflow/tasks/module-task.ts';
export {
  type CommandTaskOptions,
  type ContainerTaskOptions,
  commandTask,
  containerTask,
  type ProgramOutput,
} from './workflow/tasks/program-task.ts';
export { type RetryAfterOptions, retryAfter } from './workflow/tasks/retry-after.ts';
export { ask, sleep, waitFor } from './workflow/waits.ts';
export type { XCom, XComKey, XComPushOptions } from './workflow/xcom.ts';
export { xcomKey } from './workflow/xcom-key.ts';
