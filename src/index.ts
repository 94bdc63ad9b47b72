export { type MemoryOptions, memory } from './backends/memory/memory-backend.ts';
export type { LogFields, Logger } from './base/logger.ts';
export { systemClock } from './base/system-clock.ts';
export type { Clock, Duration, Timer } from './base/time.ts';
export type {
  Backend,
  BackendInfo,
  BackendSettings,
  CancelReply,
  Capabilities,
  ChangeReply,
  Decision,
  DueReply,
  DueRequest,
  EnqueueRefusal,
  EnqueueReply,
  EnqueueTerms,
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
  QueueInfo,
  QueueShare,
  QueueStore,
  ReconcileReport,
  RunStore,
  ScheduleChange,
  ScheduleRecord,
  ScheduleSetReply,
  ScheduleStore,
  SettleAnswer,
  Settlement,
  SettleReply,
  SettleRequest,
  SlotMoment,
  Stats,
  Suspension,
  TaskFacts,
  TaskFilter,
  TaskStore,
  TickReply,
  UpstreamFact,
  UserInfo,
  UserStore,
  WorkerInfo,
  WorkerSpec,
  WorkerStore,
  WorkSign,
  XComStore,
} from './domain/backend.ts';
export { type Cause, causeText, type FailureType, failureTypeOf } from './domain/cause.ts';
export type {
  ChannelLimit,
  ChannelRefusal,
  ChannelWrite,
  ChannelWrites,
  Unfit,
} from './domain/channel.ts';
export type { ChannelLimitName, ChannelPlace } from './domain/channel-errors.ts';
export {
  type Decider,
  type DeciderFacts,
  decide,
  type Outcome,
  type WordedDecision,
} from './domain/decider.ts';
export type {
  Dependent,
  DependentPage,
  Ending,
  TaskDependents,
} from './domain/dependents.ts';
export {
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  BatchRefusedError,
  ChannelLimitError,
  ChannelTypeError,
  ClockNotDrivenError,
  ClosedError,
  ControlNotReturnedError,
  CorruptRecordError,
  CrossUserDependencyError,
  DecryptionError,
  type DecryptionProblem,
  DependencyCycleError,
  DependencyLimitError,
  DuplicateNodeError,
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
  type NodeFailure,
  NotationError,
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
  WrongStateError,
  XComLimitError,
} from './domain/errors.ts';
export type { Explanation, Obstacle } from './domain/explain.ts';
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
} from './domain/graph.ts';
export type { Binding, Json, ValuePath } from './domain/graph-binding.ts';
export type { Registration, TaskPageRequest, Total, WorkerAttempts } from './domain/inspection.ts';
export { LIMITS, type Limit, type LimitName } from './domain/limits.ts';
export type { Position } from './domain/position.ts';
export type { ProgramEnd } from './domain/program-errors.ts';
export type { RateLimit } from './domain/rate-limit.ts';
export type { RetryPolicy } from './domain/retry-policy.ts';
export type {
  AttemptTerms,
  QueuePatch,
  QueueSettings,
  Retention,
  SettingOrigin,
  SettingOrigins,
  UserPatch,
  UserSettings,
} from './domain/settings.ts';
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
  TaskStanding,
  TaskState,
} from './domain/task.ts';
export type { WindowSpec } from './domain/window.ts';
export type { XComFact, XComPlace, XComValue, XComWrite } from './domain/xcom.ts';
export type { XComLimitName } from './domain/xcom-errors.ts';
export { call } from './engine/call.ts';
export type {
  Call,
  CallsOptions,
  EnqueueManyOptions,
  HandlesOf,
  ManyArgs,
  ManyHandles,
  ManySource,
} from './engine/call-forms.ts';
export { Fairloom, type RunOptions } from './engine/client.ts';
export type {
  Consequence,
  ConsequenceOptions,
  Consequences,
} from './engine/consequences.ts';
export type {
  BulkReport,
  Dead,
  DeadBulkOptions,
  DeadFilter,
  DeadListOptions,
} from './engine/dead-facade.ts';
export type { Unsubscribe } from './engine/emitter.ts';
export type { Codec } from './engine/encryption/codec.ts';
export {
  type EncryptionKey,
  type EncryptionOptions,
  encrypted,
} from './engine/encryption/encrypted.ts';
export type {
  DebounceOptions,
  EnqueueOptions,
  HasId,
  IdempotencyOptions,
  StoredOptions,
  ThrottleOptions,
} from './engine/enqueue-options.ts';
export type { Enqueued, Handle, ResultOptions, TaskHandle } from './engine/handle.ts';
export type { HandlerMap } from './engine/handlers/handler-source.ts';
export type { Health } from './engine/health.ts';
export type {
  Instruments,
  MeasuredClient,
  MeasuredScheduler,
  MeasuredWorker,
} from './engine/instruments.ts';
export type { LogLevel } from './engine/logger.ts';
export { silentLogger, stderrLogger } from './engine/logger.ts';
export type {
  DefaultOptions,
  FairloomOptions,
  RetentionOptions,
  ScheduleDefaults,
  XComOptions,
} from './engine/options.ts';
export type { PageOptions, TaskPageOptions } from './engine/page.ts';
export type { QueueStatus, Queues } from './engine/queue-facade.ts';
export type { TaskSource } from './engine/registry.ts';
export type { GraphStats } from './engine/runs/graph-cache.ts';
export type { Graphs } from './engine/runs/graphs-facade.ts';
export type { RunImportOptions } from './engine/runs/import.ts';
export type { SaidPlace } from './engine/runs/record.ts';
export type { RerunOptions } from './engine/runs/rerun.ts';
export type { RunCancelReport, RunConsequences } from './engine/runs/run-cancel.ts';
export type { ExportedNode, RunExport } from './engine/runs/run-format.ts';
export type { RunHandle } from './engine/runs/run-handle.ts';
export type { RunDetails, RunInfo, RunNodeInfo, RunNodeState } from './engine/runs/run-info.ts';
export type { Checkpoint, RunEnqueueOptions, RunForm } from './engine/runs/run-options.ts';
export type {
  RunCancelOptions,
  RunCause,
  RunExplanation,
  RunGraph,
  RunListOptions,
  Runs,
} from './engine/runs/runs-facade.ts';
export type { BackfillReport } from './engine/schedules/backfill.ts';
export type { ScheduleInfo } from './engine/schedules/schedule-info.ts';
export type {
  NamedScheduleOptions,
  OneTimeOptions,
  ScheduleInput,
  ScheduleOptions,
  SchedulePolicies,
  ScheduleTerms,
  ScheduleTiming,
} from './engine/schedules/schedule-options.ts';
export type { SchedulePatch } from './engine/schedules/schedule-patch.ts';
export type { SchedulerEvents } from './engine/schedules/scheduler.ts';
export {
  type SchedulerOptions,
  SchedulerService,
  type SchedulerServiceEvents,
} from './engine/schedules/scheduler-service.ts';
export type { BackfillOptions, Schedules } from './engine/schedules/schedules-facade.ts';
export type { SlotReferences } from './engine/schedules/template.ts';
export type {
  QueueOptions,
  QueueSettingsInfo,
  RateOptions,
  UserOptions,
  UserSettingsInfo,
} from './engine/settings-options.ts';
export type { StopReport } from './engine/shutdown.ts';
export type { HandlesByKind, OptionsByKind, StepKind, StepOf } from './engine/step-forms.ts';
export type { TaskError } from './engine/task-error.ts';
export type { TaskListOptions, Tasks } from './engine/task-facade.ts';
export type { AttemptInfo, TaskInfo } from './engine/task-info.ts';
export type {
  Span,
  SpanAttributes,
  SpanEnd,
  SpanParent,
  SpanRequest,
  SpanValue,
  Tracer,
} from './engine/tracing/tracer.ts';
export type { InQueue, UserListOptions, UserStatus, Users } from './engine/user-facade.ts';
export type { Worker } from './engine/worker.ts';
export type { AttemptFacts, WorkerEvents } from './engine/worker-events.ts';
export type { StopOptions, WorkerOptions } from './engine/worker-options.ts';
export type { XComs, XComWhere } from './engine/xcom-facade.ts';
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
export type { ContainerMount, ContainerOptions } from './workflow/container.ts';
export type { Again, Goto, Next, Terminate } from './workflow/control.ts';
export type { Drawable, NodeStates } from './workflow/drawing.ts';
export type { DynamicContext, ExitOf, OutputOf, Returning } from './workflow/dynamic-context.ts';
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
export {
  type HandledTask,
  type HandlerTaskOptions,
  handlerTask,
  type TaskHandler,
} from './workflow/handler-task.ts';
export { type ModuleTaskOptions, processTask, threadTask } from './workflow/module-task.ts';
export { notation, parseNotation, type UntypedPipeline } from './workflow/notation.ts';
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
export type { Environment } from './workflow/program-arguments.ts';
export {
  type CommandTaskOptions,
  type ContainerTaskOptions,
  commandTask,
  containerTask,
  type ProgramOptions,
  type ProgramOutput,
  type Stdout,
} from './workflow/program-task.ts';
export { toAscii } from './workflow/render-ascii.ts';
export { toDot } from './workflow/render-dot.ts';
export { toMermaid } from './workflow/render-mermaid.ts';
export { type RetryAfterOptions, retryAfter } from './workflow/retry-after.ts';
export type { StandardSchemaV1 } from './workflow/standard-schema.ts';
export type {
  AnyStep,
  Exit,
  Input,
  InputArgs,
  Output,
  Pipeline,
  SomeStep,
  StartArgs,
  Step,
  Task,
} from './workflow/step.ts';
export type {
  ProcessContext,
  SubRunOptions,
  TaskContext,
  ThreadContext,
  Upstream,
  Upstreams,
} from './workflow/task-context.ts';
export {
  type DynamicOptions,
  dynamic,
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
export type { XCom, XComKey, XComPulled, XComPushOptions, XComSource } from './workflow/xcom.ts';
export { xcomKey } from './workflow/xcom-key.ts';
