/** Everything that this library throws on purpose, by family. */
export { AskClosedError, AskNotFoundError } from './ask-errors.ts';
export {
  BatchRefusedError,
  CrossUserDependencyError,
  DependencyCycleError,
  DependencyLimitError,
  DuplicateNodeError,
  InvalidOptionError,
  InvalidPayloadError,
  InvalidResultError,
  KeyTakenError,
  NotationError,
  TaskConflictError,
  UnknownDependencyError,
  UnknownHandlerError,
  UnknownTaskError,
} from './caller-errors.ts';
export { ChannelLimitError, ChannelTypeError } from './channel-errors.ts';
export { DecryptionError, type DecryptionProblem } from './codec-errors.ts';
export { ConfigError, type ConfigProblem } from './config-errors.ts';
export { type ErrorCode, FairloomError, isOwn, ownCode } from './fairloom-error.ts';
export {
  type FailedMember,
  GraphCorruptError,
  GraphEvictedError,
  GraphExpiredError,
  GraphNotFoundError,
  GraphStoreError,
  GroupFailedError,
  type GroupSteering,
  isGraphStoreError,
  type NodeFailure,
  RunFailedError,
} from './graph-errors.ts';
export {
  type AskedWait,
  Fatal,
  isFinalGroup,
  RetryAfter,
  TimedOutError,
  waitAskedBy,
} from './handler-errors.ts';
export { ProgramFailedError, ProgramNotStartedError } from './program-errors.ts';
export {
  ControlNotReturnedError,
  GotoInGroupError,
  GroupChangedError,
  MaxCyclesError,
  MaxStepsError,
  NotStoredError,
  ReplayMismatchError,
  RunCanceledError,
  RunFormatError,
  SignalLimitError,
  WaitOpenError,
  WaitTimedOutError,
} from './run-errors.ts';
export {
  BackendFullError,
  BackendUnavailableError,
  BackendUnsupportedError,
  ClosedError,
  CopyRefusedError,
  CorruptRecordError,
  DataDamagedError,
  demandNoWorkers,
  ProcessEndedError,
  ThreadEndedError,
} from './service-errors.ts';
export { StreamLimitError } from './stream-errors.ts';
export {
  ClockNotDrivenError,
  LeaseLostError,
  QueueFullError,
  ResultTimeoutError,
  ScheduleNotFoundError,
  TaskBusyError,
  TaskCanceledError,
  TaskFailedError,
  TaskNotFoundError,
  WrongStateError,
} from './world-errors.ts';
export { XComLimitError } from './xcom-errors.ts';
