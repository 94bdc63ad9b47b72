/**
 * Every error of this library by its code: the name of its class, whether the same call may succeed later without a
 * change by the caller, the exit code of the command line (`docs/cli.md`), and the status over HTTP (`docs/http.md`).
 */
// biome-ignore format: one row for each
export const ERRORS = {
  // Invalid calls.
  INVALID_OPTION: { name: 'InvalidOptionError', retryable: false, exit: 'usage', status: 400 },
  INVALID_CONFIG: { name: 'ConfigError', retryable: false, exit: 'usage', status: 500 },
  INVALID_PAYLOAD: { name: 'InvalidPayloadError', retryable: false, exit: 'usage', status: 400 },
  INVALID_RESULT: { name: 'InvalidResultError', retryable: false, exit: 'failed', status: 500 },
  DECRYPTION_FAILED: { name: 'DecryptionError', retryable: false, exit: 'failed', status: 422 },
  UNKNOWN_TASK: { name: 'UnknownTaskError', retryable: false, exit: 'notFound', status: 404 },
  UNKNOWN_HANDLER: { name: 'UnknownHandlerError', retryable: false, exit: 'notFound', status: 404 },
  UNKNOWN_DEPENDENCY: { name: 'UnknownDependencyError', retryable: false, exit: 'refused', status: 409 },
  CROSS_USER_DEPENDENCY: { name: 'CrossUserDependencyError', retryable: false, exit: 'refused', status: 409 },
  DEPENDENCY_CYCLE: { name: 'DependencyCycleError', retryable: false, exit: 'refused', status: 409 },
  DEPENDENCY_LIMIT: { name: 'DependencyLimitError', retryable: false, exit: 'refused', status: 409 },
  DUPLICATE_NODE: { name: 'DuplicateNodeError', retryable: false, exit: 'usage', status: 400 },
  NOTATION: { name: 'NotationError', retryable: false, exit: 'usage', status: 400 },
  TASK_CONFLICT: { name: 'TaskConflictError', retryable: false, exit: 'refused', status: 409 },
  KEY_TAKEN: { name: 'KeyTakenError', retryable: false, exit: 'refused', status: 409 },
  BATCH_REFUSED: { name: 'BatchRefusedError', retryable: false, exit: 'refused', status: 409 },
  // Missing and changed objects.
  QUEUE_FULL: { name: 'QueueFullError', retryable: true, exit: 'refused', status: 429 },
  TASK_NOT_FOUND: { name: 'TaskNotFoundError', retryable: false, exit: 'notFound', status: 404 },
  SCHEDULE_NOT_FOUND: { name: 'ScheduleNotFoundError', retryable: false, exit: 'notFound', status: 404 },
  WRONG_STATE: { name: 'WrongStateError', retryable: false, exit: 'refused', status: 409 },
  TASK_BUSY: { name: 'TaskBusyError', retryable: true, exit: 'refused', status: 409 },
  TASK_FAILED: { name: 'TaskFailedError', retryable: false, exit: 'failed', status: 500 },
  TASK_CANCELED: { name: 'TaskCanceledError', retryable: false, exit: 'failed', status: 409 },
  LEASE_LOST: { name: 'LeaseLostError', retryable: false, exit: 'failed', status: 500 },
  GRAPH_NOT_FOUND: { name: 'GraphNotFoundError', retryable: true, exit: 'notFound', status: 404 },
  GRAPH_EXPIRED: { name: 'GraphExpiredError', retryable: false, exit: 'notFound', status: 404 },
  GRAPH_EVICTED: { name: 'GraphEvictedError', retryable: false, exit: 'notFound', status: 404 },
  GRAPH_CORRUPT: { name: 'GraphCorruptError', retryable: false, exit: 'failed', status: 500 },
  GROUP_FAILED: { name: 'GroupFailedError', retryable: false, exit: 'failed', status: 500 },
  RUN_FAILED: { name: 'RunFailedError', retryable: false, exit: 'failed', status: 500 },
  MAX_STEPS: { name: 'MaxStepsError', retryable: false, exit: 'failed', status: 500 },
  MAX_CYCLES: { name: 'MaxCyclesError', retryable: false, exit: 'failed', status: 500 },
  GOTO_IN_GROUP: { name: 'GotoInGroupError', retryable: false, exit: 'failed', status: 500 },
  CONTROL_NOT_RETURNED: { name: 'ControlNotReturnedError', retryable: false, exit: 'failed', status: 500 },
  GROUP_CHANGED: { name: 'GroupChangedError', retryable: false, exit: 'failed', status: 500 },
  REPLAY_MISMATCH: { name: 'ReplayMismatchError', retryable: false, exit: 'failed', status: 500 },
  WAIT_OPEN: { name: 'WaitOpenError', retryable: false, exit: 'failed', status: 500 },
  WAIT_TIMED_OUT: { name: 'WaitTimedOutError', retryable: false, exit: 'failed', status: 500 },
  SIGNAL_LIMIT: { name: 'SignalLimitError', retryable: true, exit: 'refused', status: 429 },
  ASK_NOT_FOUND: { name: 'AskNotFoundError', retryable: false, exit: 'notFound', status: 404 },
  ASK_CLOSED: { name: 'AskClosedError', retryable: false, exit: 'refused', status: 409 },
  NOT_STORED: { name: 'NotStoredError', retryable: false, exit: 'failed', status: 500 },
  CHANNEL_LIMIT: { name: 'ChannelLimitError', retryable: false, exit: 'failed', status: 500 },
  CHANNEL_TYPE: { name: 'ChannelTypeError', retryable: false, exit: 'failed', status: 500 },
  STREAM_LIMIT: { name: 'StreamLimitError', retryable: false, exit: 'failed', status: 429 },
  XCOM_LIMIT: { name: 'XComLimitError', retryable: false, exit: 'failed', status: 429 },
  RUN_CANCELED: { name: 'RunCanceledError', retryable: false, exit: 'failed', status: 409 },
  RUN_FORMAT: { name: 'RunFormatError', retryable: false, exit: 'usage', status: 400 },
  RESULT_TIMEOUT: { name: 'ResultTimeoutError', retryable: true, exit: 'timedOut', status: 503 },
  CLOCK_NOT_DRIVEN: { name: 'ClockNotDrivenError', retryable: true, exit: 'timedOut', status: 500 },
  // A handler steers, or its thread, process or program ends.
  FATAL: { name: 'Fatal', retryable: false, exit: 'failed', status: 500 },
  RETRY_AFTER: { name: 'RetryAfter', retryable: true, exit: 'failed', status: 503 },
  TIMED_OUT: { name: 'TimedOutError', retryable: true, exit: 'timedOut', status: 503 },
  THREAD_ENDED: { name: 'ThreadEndedError', retryable: true, exit: 'failed', status: 500 },
  PROCESS_ENDED: { name: 'ProcessEndedError', retryable: true, exit: 'failed', status: 500 },
  PROGRAM_FAILED: { name: 'ProgramFailedError', retryable: true, exit: 'failed', status: 500 },
  PROGRAM_NOT_STARTED: { name: 'ProgramNotStartedError', retryable: true, exit: 'failed', status: 500 },
  // Infrastructure.
  CLOSED: { name: 'ClosedError', retryable: false, exit: 'failed', status: 503 },
  BACKEND_UNAVAILABLE: { name: 'BackendUnavailableError', retryable: true, exit: 'unreachable', status: 503 },
  BACKEND_FULL: { name: 'BackendFullError', retryable: true, exit: 'refused', status: 507 },
  BACKEND_UNSUPPORTED: { name: 'BackendUnsupportedError', retryable: false, exit: 'unreachable', status: 500 },
  CORRUPT_RECORD: { name: 'CorruptRecordError', retryable: false, exit: 'failed', status: 500 },
  DATA_DAMAGED: { name: 'DataDamagedError', retryable: false, exit: 'unreachable', status: 500 },
  COPY_REFUSED: { name: 'CopyRefusedError', retryable: false, exit: 'refused', status: 409 },
} as const;

ERRORS satisfies Readonly<Record<string, ErrorRow>>;

/** Stable names of all errors. */
export type ErrorCode = keyof typeof ERRORS;

interface ErrorRow {
  /** Of the class. */
  readonly name: string;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
  /** A name in `EXIT` of the command line. */
  readonly exit: 'failed' | 'notFound' | 'refused' | 'timedOut' | 'unreachable' | 'usage';
  /** Over HTTP. */
  readonly status: number;
}
