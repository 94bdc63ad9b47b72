export { type MemoryOptions, memory } from './backends/memory/memory-backend.ts';
export type { LogFields, Logger } from './base/logger.ts';
export { systemClock } from './base/system-clock.ts';
export type { Clock, Duration, Moment, Timer } from './base/time.ts';
export type { Bulk, BulkInfo, BulkOptions, BulkRate } from './bulk/bulk-facade.ts';
export type { BulkAction, BulkError } from './bulk/bulk-record.ts';
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
export type { RunCause, RunExplanation } from './client/facades/run-explanation.ts';
export type { RunListOptions } from './client/facades/run-list.ts';
export type {
  RunCancelOptions,
  RunGraph,
  RunPauseOptions,
  Runs,
} from './client/facades/runs-facade.ts';
export type { BackfillOptions, Schedules } from './client/facades/schedules-facade.ts';
export type { Series, SeriesOptions } from './client/facades/series-facade.ts';
export type {
  SeriesPoint,
  SeriesReport,
  SeriesSums,
  SeriesUser,
} from './client/facades/series-report.ts';
export type {
  QueueOptions,
  QueueSettingsInfo,
  RateOptions,
  UserOptions,
  UserSettingsInfo,
} from './client/facades/settings-options.ts';
export type { SignalOptions, SignalOutcome } from './client/facades/signals.ts';
export type {
  StreamChunk,
  StreamGap,
  StreamItem,
  StreamReadOptions,
  StreamReset,
} from './client/facades/stream-reading.ts';
export type { Streams } from './client/facades/streams-facade.ts';
export type { TaskListOptions, TaskSearchOptions, Tasks } from './client/facades/task-facade.ts';
export type { AttemptInfo, TaskInfo } from './client/facades/task-info.ts';
export type { TaskLogLine, TaskLogOptions } from './client/facades/task-logs.ts';
export type { ShownProgress, TaskProgress } from './client/facades/task-progress.ts';
export type { InQueue, UserListOptions, UserStatus, Users } from './client/facades/user-facade.ts';
export type { UserHistory } from './client/facades/user-history.ts';
export type {
  OpenState,
  VersionReport,
  VersionStatus,
  VersionsOptions,
} from './client/facades/versions.ts';
export type { XComs, XComWhere } from './client/facades/xcom-facade.ts';
export type { BackendFacts, Health } from './client/health.ts';
export type { RunOptions } from './client/local-run.ts';
export type { HandlesByKind, OptionsByKind, StepOf } from './client/step-forms.ts';
export {
  type EncryptionKey,
  type EncryptionOptions,
  encrypted,
} from './codec/encrypted.ts';
export type { Codec } from './codec/sealed-codec.ts';
export type { TaskError } from './codec/task-error.ts';
export type {
  Instruments,
  MeasuredClient,
  MeasuredScheduler,
  MeasuredWorker,
} from './core/instruments.ts';
export type {
  DefaultOptions,
  FairloomOptions,
  RetentionOptions,
  ScheduleDefaults,
  XComOptions,
} from './core/options.ts';
export {
  type Decider,
  type DeciderFacts,
  decide,
  type Outcome,
  type WordedDecision,
} from './domain/attempt/decider.ts';
export type { RetryPolicy } from './domain/attempt/retry-policy.ts';
export {
  AskClosedError,
  type AskedWait,
  AskNotFoundError,
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  BatchRefusedError,
  ChannelLimitError,
  type ChannelLimitName,
  type ChannelPlace,
  ChannelTypeError,
  ClockNotDrivenError,
  ClosedError,
  CodedError,
  ControlNotReturnedError,
  CopyRefusedError,
  CorruptRecordError,
  CrossUserDependencyError,
  DataDamagedError,
  DecryptionError,
  type DecryptionProblem,
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
  type GroupSteering,
  InvalidOptionError,
  InvalidPayloadError,
  InvalidResultError,
  KeyTakenError,
  LeaseLostError,
  MaxCyclesError,
  MaxStepsError,
  type NodeFailure,
  NotationError,
  NotStoredError,
  ProcessEndedError,
  type ProgramEnd,
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
  type StreamLimitName,
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
  type XComLimitName,
} from './domain/errors/errors.ts';
export type { Explanation, Obstacle } from './domain/explain/explain.ts';
export type { Position } from './domain/explain/position.ts';
export type { RateLimit } from './domain/fairness/rate-limit.ts';
export type {
  AttemptSettings,
  QueuePatch,
  QueueSettings,
  Retention,
  SettingOrigin,
  SettingOrigins,
  UserPatch,
  UserSettings,
} from './domain/fairness/settings.ts';
export { LIMITS, type Limit, type LimitName } from './domain/limits.ts';
export type { AskStore } from './domain/port/asks.ts';
export type {
  Backend,
  BackendInfo,
  BackendProblem,
  BackendSettings,
  BatchOptions,
  CancelReply,
  Capabilities,
  ChangeReply,
  CheckpointReply,
  Decision,
  DueReply,
  DueRequest,
  EditedTask,
  EnqueueRefusal,
  EnqueueReply,
  ErrorGroupFacts,
  EventSource,
  EventStart,
  ExtendReply,
  ExtendRequest,
  FireOutcome,
  FireReply,
  FireRequest,
  Firing,
  GraphReply,
  GraphStore,
  Inspect,
  Leased,
  LeaseRef,
  LeaseReply,
  LeaseRequest,
  MissedPolicy,
  NodeWrites,
  OverlapPolicy,
  Page,
  PageRequest,
  PassedSlots,
  PauseReply,
  Pong,
  PublishReply,
  QueueInfo,
  QueueShare,
  QueueStore,
  ReconcileReport,
  RunStore,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSetReply,
  ScheduleStore,
  SeriesCell,
  SeriesEntry,
  SeriesReply,
  SeriesRequest,
  SeriesStore,
  SettleAnswer,
  Settlement,
  SettleReply,
  SettleRequest,
  SlotMoment,
  Stats,
  StreamLease,
  StreamPlace,
  StreamStore,
  Suspension,
  SyncInterval,
  SyncMode,
  TaskFacts,
  TaskFilter,
  TaskStore,
  TickReply,
  UpstreamFact,
  UserInfo,
  UserStore,
  WaitStore,
  WorkerInfo,
  WorkerSpec,
  WorkerStore,
  WorkNotice,
  XComStore,
} from './domain/port/backend.ts';
export type {
  Registration,
  TaskPageRequest,
  Total,
  WorkerAttempts,
} from './domain/port/inspection.ts';
export type { SearchLimitName } from './domain/search-limits.ts';
export { Histogram, type Percentiles } from './domain/series/histogram.ts';
export {
  SERIES_COUNTS,
  type SeriesCount,
  type SeriesPlace,
  SeriesRow,
} from './domain/series/series-row.ts';
export type { SeriesStep, StepRange } from './domain/series/series-steps.ts';
export type { SeriesLimitName } from './domain/series-limits.ts';
export type { SocketLimitName } from './domain/socket-limits.ts';
export type { StreamLimitKey } from './domain/stream-limits.ts';
export type {
  AnsweredAsk,
  AskClosing,
  AskFilter,
  AskRecord,
  AskReply,
  AskSpec,
  GivenAnswer,
  UnansweredAsk,
} from './domain/task/ask.ts';
export { type Cause, causeText, type FailureType, failureTypeOf } from './domain/task/cause.ts';
export type {
  ChannelLimit,
  ChannelRefusal,
  ChannelWrite,
  ChannelWrites,
  Unfit,
} from './domain/task/channel.ts';
export type { DeadLetter, DeadLetters } from './domain/task/dead-letter.ts';
export type {
  Dependent,
  DependentPage,
  Ending,
  TaskDependents,
} from './domain/task/dependents.ts';
export type { RunPause } from './domain/task/pause.ts';
export type { StreamEntry, StreamFacts, StreamWrite } from './domain/task/stream.ts';
export type {
  AttemptRecord,
  EdgePolicies,
  EdgePolicy,
  EndState,
  HoldSpec,
  KeyPolicy,
  KeySpec,
  Level,
  MissingPolicy,
  NewTask,
  TaskRecord,
  TaskRow,
  TaskState,
  TaskStatus,
} from './domain/task/task.ts';
export type { KeepLogs, LogLine, LogLineLevel } from './domain/task/task-log.ts';
export type { Versioning } from './domain/task/task-name.ts';
export type { Progress } from './domain/task/task-progress.ts';
export type {
  SignalMessage,
  SignalReply,
  Wait,
  WaitEvent,
  WaitFigure,
  WaitTarget,
} from './domain/task/wait.ts';
export type { WindowSpec } from './domain/task/window.ts';
export type { XComFact, XComPlace, XComValue, XComWrite } from './domain/task/xcom.ts';
export type { WaitLimitName } from './domain/wait-limits.ts';
export type { XComLimitKey } from './domain/xcom-limits.ts';
export { call } from './enqueue/call.ts';
export type {
  Call,
  CallsOptions,
  EnqueueManyOptions,
  HandlesOf,
  ManyArgs,
  ManyHandles,
  ManySource,
} from './enqueue/call-forms.ts';
export type {
  DebounceOptions,
  EnqueueOptions,
  HasId,
  IdempotencyOptions,
  StoredOptions,
  ThrottleOptions,
} from './enqueue/enqueue-options.ts';
export type { Enqueued, Handle, ResultOptions, TaskHandle } from './enqueue/handle.ts';
export type { Unsubscribe } from './events/emitter.ts';
export type { AttemptFacts, WorkerEvents } from './events/worker-events.ts';
export type {
  BlockNode,
  EachNode,
  GraphBlock,
  GraphMember,
  GraphNode,
  GroupBase,
  JoinPolicy,
  NodeBase,
  ParallelNode,
  TaskGraph,
  TaskNode,
} from './graph/graph.ts';
export type { Binding, Json, ValuePath } from './graph/graph-binding.ts';
export type { HandlerMap } from './handlers/handler-source.ts';
export type { TaskSource } from './handlers/registry.ts';
export type { LogLevel } from './logging/logger.ts';
export { silentLogger, stderrLogger } from './logging/logger.ts';
export type { RunImportOptions } from './runs/calls/import.ts';
export type { ForkOptions, RerunOptions } from './runs/calls/rerun.ts';
export type { RunResumeOptions } from './runs/calls/resume-edited.ts';
export type { RunCancelReport, RunConsequences } from './runs/calls/run-cancel.ts';
export type { ExportedNode, RunExport } from './runs/calls/run-format.ts';
export type { RunHandle } from './runs/calls/run-handle.ts';
export type {
  Consequence,
  ConsequenceOptions,
  Consequences,
} from './runs/consequences.ts';
export type { GraphStats } from './runs/graph-cache.ts';
export type { SaidPlace } from './runs/record.ts';
export type { RunDetails, RunInfo, RunNodeInfo, RunNodeState } from './runs/run-info.ts';
export type { Checkpoint, RunEnqueueOptions, RunForm } from './runs/run-options.ts';
export type { BackfillReport } from './schedules/backfill.ts';
export type { ScheduleInfo } from './schedules/schedule-info.ts';
export type {
  CommonEventOptions,
  CommonScheduleOptions,
  EventInput,
  EventScheduleOptions,
  NamedEventOptions,
  NamedScheduleOptions,
  OneTimeOptions,
  ScheduleInput,
  ScheduleOptions,
  SchedulePolicies,
  ScheduleTiming,
  TemplateTaskOptions,
} from './schedules/schedule-options.ts';
export type { SchedulePatch } from './schedules/schedule-patch.ts';
export type { SchedulerEvents } from './schedules/scheduler.ts';
export type { EventReferences, SlotReferences } from './schedules/template.ts';
export type { SearchPage } from './search/search.ts';
export type {
  Span,
  SpanAttributes,
  SpanEnd,
  SpanParent,
  SpanRequest,
  SpanValue,
  Tracer,
} from './tracing/tracer.ts';
export {
  type SchedulerOptions,
  SchedulerService,
  type SchedulerServiceEvents,
} from './worker/scheduler-service.ts';
export type { StopReport } from './worker/shutdown.ts';
export type { Worker } from './worker/worker.ts';
export type { StopOptions, WorkerOptions } from './worker/worker-options.ts';
export type {
  AskAnswered,
  AskOptions,
  AskStepOptions,
  AskUnanswered,
  AskValue,
  OnTimeoutEnd,
  OnTimeoutValue,
} from './workflow/ask.ts';
export {
  type Channel,
  type ChannelBase,
  type ChannelKey,
  type ChannelOf,
  type ChannelOptions,
  channel,
  type ElementOf,
  type ListKey,
  type LiveChannel,
  type NumberKey,
  type OnceOptions,
} from './workflow/channel.ts';
export type { Again, Goto, Next, Terminate } from './workflow/control.ts';
export type { DynamicContext, ExitOf, OutputOf, Returning } from './workflow/dynamic-context.ts';
export { type EventKey, event } from './workflow/event.ts';
export {
  type Flow,
  type FlowStepOptions,
  flow,
  type Primitive,
  type Ref,
  type Wire,
} from './workflow/flow.ts';
export type { GroupOptions } from './workflow/group-options.ts';
export {
  type GroupPolicy,
  groupPolicy,
  type LenientPolicy,
  type MemberFact,
  type MemberResult,
  type PolicyFunction,
} from './workflow/group-policy.ts';
export type { RunMetadata } from './workflow/metadata.ts';
export type { Drawable, NodeStates } from './workflow/notation/drawing.ts';
export { notation, parseNotation, type UntypedPipeline } from './workflow/notation/notation.ts';
export { toAscii } from './workflow/notation/render-ascii.ts';
export { toDot } from './workflow/notation/render-dot.ts';
export { toMermaid } from './workflow/notation/render-mermaid.ts';
export {
  type EachOptions,
  type EachPolicy,
  each,
  type InputOfAll,
  type InputOfTuple,
  type MemberOutput,
  type Members,
  type OutputsOfTuple,
  type ParallelArgs,
  type ParallelOf,
  type ParallelOptions,
  type ParallelPolicy,
  parallel,
} from './workflow/parallel.ts';
export { type Signal, signal } from './workflow/signal.ts';
export type { StandardSchemaV1 } from './workflow/standard-schema.ts';
export type {
  AnyStep,
  Exit,
  Input,
  InputArgs,
  Output,
  Pipeline,
  PipelineOptions,
  SomeStep,
  StartArgs,
  Step,
  StepKind,
  Task,
} from './workflow/step.ts';
export type {
  ProcessContext,
  SubRunOptions,
  TaskContext,
  ThreadContext,
  Upstream,
  Upstreams,
  WaitOptions,
} from './workflow/task-context.ts';
export {
  type DynamicOptions,
  dynamic,
  type RefOptions,
  ref,
  type TaskOptionsOf,
  task,
} from './workflow/task-definition.ts';
export type {
  AttemptOptions,
  BackoffFunction,
  BackoffOptions,
  BackoffPolicy,
  PlaceOptions,
  Priority,
  PriorityName,
  TaskOptions,
} from './workflow/task-options.ts';
export type { TaskStream } from './workflow/task-stream.ts';
export type { ContainerMount, ContainerOptions } from './workflow/tasks/container.ts';
export {
  type HandledTask,
  type HandlerTaskOptions,
  handlerTask,
  type TaskHandler,
} from './workflow/tasks/handler-task.ts';
export { type ModuleTaskOptions, processTask, threadTask } from './workflow/tasks/module-task.ts';
export type { Environment } from './workflow/tasks/program-arguments.ts';
export {
  type CommandTaskOptions,
  type ContainerTaskOptions,
  commandTask,
  containerTask,
  type ProgramOptions,
  type ProgramOutput,
  type Stdout,
} from './workflow/tasks/program-task.ts';
export { type RetryAfterOptions, retryAfter } from './workflow/tasks/retry-after.ts';
export type { WaitStepOptions } from './workflow/waits.ts';
export { ask, sleep, waitFor } from './workflow/waits.ts';
export type { XCom, XComKey, XComPulled, XComPushOptions, XComSource } from './workflow/xcom.ts';
export { xcomKey } from './workflow/xcom-key.ts';
