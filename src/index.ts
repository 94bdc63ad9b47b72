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
  EnqueueRefusal,
  EnqueueReply,
  EnqueueTerms,
  ExtendReply,
  ExtendRequest,
  GraphReply,
  GraphStore,
  Inspect,
  Leased,
  LeaseRef,
  LeaseReply,
  LeaseRequest,
  Page,
  PageRequest,
  QueueInfo,
  QueueShare,
  QueueStore,
  ReconcileReport,
  RunStore,
  SettleAnswer,
  Settlement,
  SettleReply,
  SettleRequest,
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
} from './domain/backend.ts';
export { type Decider, type DeciderFacts, decide, type Outcome } from './domain/decider.ts';
export {
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  BatchRefusedError,
  ClosedError,
  CrossUserDependencyError,
  DependencyCycleError,
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
  QueueFullError,
  ReplayMismatchError,
  ResultTimeoutError,
  RetryAfter,
  RunCanceledError,
  RunFailedError,
  TaskBusyError,
  TaskCanceledError,
  TaskConflictError,
  TaskFailedError,
  TaskNotFoundError,
  ThreadEndedError,
  TimedOutError,
  UnknownDependencyError,
  UnknownTaskError,
  WrongStateError,
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
export { LIMITS, type Limit, type LimitName } from './domain/limits.ts';
export type { Position } from './domain/position.ts';
export type { RateLimit } from './domain/rate-limit.ts';
export type { RetryPolicy } from './domain/retry-policy.ts';
export type {
  QueuePatch,
  QueueSettings,
  Retention,
  UserPatch,
  UserSettings,
} from './domain/settings.ts';
export type {
  AttemptRecord,
  EdgePolicies,
  EdgePolicy,
  EndState,
  FailureType,
  KeyPolicy,
  KeySpec,
  Level,
  MissingPolicy,
  NewTask,
  TaskRecord,
  TaskState,
} from './domain/task.ts';
export { type Call, call, type HandlesOf } from './engine/call.ts';
export { type EnqueueManyOptions, Fairloom, type RunOptions } from './engine/client.ts';
export type { Codec } from './engine/codec.ts';
export type { BulkReport, Dead, DeadBulkOptions, DeadFilter } from './engine/dead-facade.ts';
export type { Unsubscribe } from './engine/emitter.ts';
export type { EnqueueOptions, HasId, IdempotencyOptions } from './engine/enqueue-options.ts';
export type { Handle, ResultOptions, TaskHandle } from './engine/handle.ts';
export type { Health } from './engine/health.ts';
export { silentLogger, stderrLogger } from './engine/logger.ts';
export type { DefaultOptions, FairloomOptions, RetentionOptions } from './engine/options.ts';
export type { PageOptions } from './engine/page.ts';
export type { QueueStatus, Queues } from './engine/queue-facade.ts';
export type { TaskSource } from './engine/registry.ts';
export type { GraphStats } from './engine/runs/graph-cache.ts';
export type { Graphs } from './engine/runs/graphs-facade.ts';
export type { RerunOptions } from './engine/runs/rerun.ts';
export type { RunCancelReport } from './engine/runs/run-cancel.ts';
export type { RunHandle } from './engine/runs/run-handle.ts';
export type { RunDetails, RunInfo, RunNodeInfo } from './engine/runs/run-info.ts';
export type { Checkpoint, RunEnqueueOptions, RunForm } from './engine/runs/run-options.ts';
export type {
  RunCancelOptions,
  RunExplanation,
  RunGraph,
  RunListOptions,
  Runs,
} from './engine/runs/runs-facade.ts';
export type {
  QueueOptions,
  QueueSettingsInfo,
  RateOptions,
  UserOptions,
  UserSettingsInfo,
} from './engine/settings-options.ts';
export type { Enqueued } from './engine/submission.ts';
export type { TaskError } from './engine/task-error.ts';
export type { TaskListOptions, Tasks } from './engine/task-facade.ts';
export type { AttemptInfo, TaskInfo } from './engine/task-info.ts';
export type { InQueue, UserStatus, Users } from './engine/user-facade.ts';
export type { StopOptions, StopReport, Worker } from './engine/worker.ts';
export type { AttemptFacts, WorkerEvents } from './engine/worker-events.ts';
export type { WorkerOptions } from './engine/worker-options.ts';
export type { Again, Goto, Next, Terminate } from './workflow/control.ts';
export type { Drawable, NodeStates } from './workflow/drawing.ts';
export type { DynamicContext, ExitOf, OutputOf } from './workflow/dynamic-context.ts';
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
export { notation, parseNotation, type UntypedPipeline } from './workflow/notation.ts';
export {
  type CriticalOptions,
  each,
  type InputOfAll,
  type InputOfTuple,
  type LenientOptions,
  type Members,
  parallel,
  type StrictOptions,
} from './workflow/parallel.ts';
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
  StartArgs,
  Step,
  Task,
} from './workflow/step.ts';
export type {
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
  type ThreadTaskOptions,
  task,
  threadTask,
  type WithInput,
} from './workflow/task-definition.ts';
export type {
  AttemptOptions,
  BackoffFunction,
  BackoffOptions,
  PlaceOptions,
  Priority,
  PriorityName,
  TaskOptions,
} from './workflow/task-options.ts';
