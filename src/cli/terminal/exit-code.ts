import { type ErrorCode, isOwn } from '../../domain/errors/errors.ts';

/** What the process ends with; part of the command line's contract. */
export const EXIT = {
  ok: 0,
  /** The operation, or the task that was waited for, failed. */
  failed: 1,
  /** The command line, an option or the input is not what it should be. */
  usage: 2,
  /** `health` and `doctor` found something wrong. */
  unhealthy: 3,
  /** The backend cannot be reached, or cannot be used. */
  unreachable: 4,
  /** What was waited for did not happen in time. */
  timedOut: 5,
  /** It may not be done now: the state, a limit, or a missing confirmation forbids it. */
  refused: 6,
  /** No such task, user, queue, module or file. */
  notFound: 7,
} as const;

/** One of the numbers of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of every error that the library throws. */
export const EXIT_OF: Readonly<Record<ErrorCode, ExitCode>> = {
  INVALID_OPTION: EXIT.usage,
  INVALID_CONFIG: EXIT.usage,
  INVALID_PAYLOAD: EXIT.usage,
  INVALID_RESULT: EXIT.failed,
  DECRYPTION_FAILED: EXIT.failed,
  UNKNOWN_TASK: EXIT.notFound,
  UNKNOWN_HANDLER: EXIT.notFound,
  UNKNOWN_DEPENDENCY: EXIT.refused,
  CROSS_USER_DEPENDENCY: EXIT.refused,
  DEPENDENCY_CYCLE: EXIT.refused,
  DEPENDENCY_LIMIT: EXIT.refused,
  DUPLICATE_NODE: EXIT.usage,
  NOTATION: EXIT.usage,
  TASK_CONFLICT: EXIT.refused,
  KEY_TAKEN: EXIT.refused,
  QUEUE_FULL: EXIT.refused,
  BATCH_REFUSED: EXIT.refused,
  TASK_NOT_FOUND: EXIT.notFound,
  SCHEDULE_NOT_FOUND: EXIT.notFound,
  WRONG_STATE: EXIT.refused,
  TASK_BUSY: EXIT.refused,
  TASK_FAILED: EXIT.failed,
  TASK_CANCELED: EXIT.failed,
  GRAPH_NOT_FOUND: EXIT.notFound,
  GRAPH_EXPIRED: EXIT.notFound,
  GRAPH_EVICTED: EXIT.notFound,
  GRAPH_CORRUPT: EXIT.failed,
  GROUP_FAILED: EXIT.failed,
  RUN_FAILED: EXIT.failed,
  LEASE_LOST: EXIT.failed,
  RESULT_TIMEOUT: EXIT.timedOut,
  CLOCK_NOT_DRIVEN: EXIT.timedOut,
  MAX_STEPS: EXIT.failed,
  MAX_CYCLES: EXIT.failed,
  GOTO_IN_GROUP: EXIT.failed,
  CONTROL_NOT_RETURNED: EXIT.failed,
  GROUP_CHANGED: EXIT.failed,
  REPLAY_MISMATCH: EXIT.failed,
  WAIT_OPEN: EXIT.failed,
  WAIT_TIMED_OUT: EXIT.failed,
  SIGNAL_LIMIT: EXIT.refused,
  NOT_STORED: EXIT.failed,
  ASK_NOT_FOUND: EXIT.notFound,
  ASK_CLOSED: EXIT.refused,
  RUN_CANCELED: EXIT.failed,
  RUN_FORMAT: EXIT.usage,
  CHANNEL_LIMIT: EXIT.failed,
  CHANNEL_TYPE: EXIT.failed,
  STREAM_LIMIT: EXIT.failed,
  XCOM_LIMIT: EXIT.failed,
  FATAL: EXIT.failed,
  RETRY_AFTER: EXIT.failed,
  TIMED_OUT: EXIT.timedOut,
  THREAD_ENDED: EXIT.failed,
  PROCESS_ENDED: EXIT.failed,
  PROGRAM_FAILED: EXIT.failed,
  PROGRAM_NOT_STARTED: EXIT.failed,
  CLOSED: EXIT.failed,
  BACKEND_UNAVAILABLE: EXIT.unreachable,
  BACKEND_FULL: EXIT.refused,
  BACKEND_UNSUPPORTED: EXIT.unreachable,
  CORRUPT_RECORD: EXIT.failed,
  DATA_DAMAGED: EXIT.unreachable,
  COPY_REFUSED: EXIT.refused,
};

/** Thrown by a command to end with a message on stderr and a code of its own. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  /** What the user may do about it; shown on a line of its own. */
  readonly hint: string | undefined;

  constructor(exitCode: ExitCode, message: string, hint?: string) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** The exit code of anything thrown. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CliError) return error.exitCode;
  if (isOwn(error)) return EXIT_OF[error.code] ?? EXIT.failed;
  return EXIT.failed;
}
