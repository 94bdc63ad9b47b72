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
  ExtendReply,
  ExtendRequest,
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
  SettleAnswer,
  Settlement,
  SettleReply,
  SettleRequest,
  Stats,
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
  type ErrorCode,
  FairloomError,
  Fatal,
  InvalidOptionError,
  InvalidPayloadError,
  InvalidResultError,
  KeyTakenError,
  LeaseLostError,
  QueueFullError,
  ResultTimeoutError,
  RetryAfter,
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
export { type RetryAfterOptions, retryAfter } from './workflow/retry-after.ts';
export type { StandardSchemaV1 } from './workflow/standard-schema.ts';
export type { AnyStep, Exit, Input, Output, StartArgs, Step, Task } from './workflow/step.ts';
export type { TaskContext, ThreadContext, Upstream, Upstreams } from './workflow/task-context.ts';
export { ref, type ThreadTaskOptions, task, threadTask } from './workflow/task-definition.ts';
export type {
  AttemptOptions,
  BackoffFunction,
  BackoffOptions,
  PlaceOptions,
  Priority,
  PriorityName,
  TaskOptions,
} from './workflow/task-options.ts';
