import { ERRORS, isOwn } from '../../domain/errors/errors.ts';
import { Refusal } from '../../operations/refusal.ts';

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
  if (error instanceof Refusal) {
    return error.code === 'NOT_FOUND' ? EXIT.notFound : EXIT.refused;
  }
  if (isOwn(error)) return EXIT[ERRORS[error.code]?.exit ?? 'failed'];
  return EXIT.failed;
}
