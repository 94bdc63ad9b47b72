/** What becomes of a program that is a task's handler. */
import { messageOf } from '../../base/message-of.ts';
import { FairloomError } from './fairloom-error.ts';

/** How a program ended, as far as it can be known. */
export interface ProgramEnd {
  /** `undefined` when a signal ended it. */
  readonly exitCode: number | undefined;
  /** As `SIGKILL`; `undefined` when it ended by itself. */
  readonly signal: string | undefined;
  /** The last lines of its stderr. */
  readonly stderr: string;
}

/** The program of a `commandTask` or `containerTask` ended with another exit code than 0. */
export class ProgramFailedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ProgramFailedError';
  /** See `docs/errors.md`. */
  readonly code = 'PROGRAM_FAILED';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** The command, or the image. */
  readonly program: string;
  /** `undefined` when a signal ended it. */
  readonly exitCode: number | undefined;
  /** As `SIGKILL`; `undefined` when it ended by itself. */
  readonly signal: string | undefined;
  /** The last lines of its stderr, at most 1,500 characters. */
  readonly stderr: string;

  constructor(program: string, { exitCode, signal, stderr }: ProgramEnd) {
    const how = signal === undefined ? `with exit code ${exitCode}` : `by ${signal}`;
    super(`${program} ended ${how}${stderr === '' ? '' : `: ${stderr}`}`);
    this.program = program;
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = stderr;
  }
}

/** The program of a task could not be started: it is not installed here, or the system refused. */
export class ProgramNotStartedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ProgramNotStartedError';
  /** See `docs/errors.md`. */
  readonly code = 'PROGRAM_NOT_STARTED';
  /** The same call may succeed later. */
  readonly retryable = true;
  /** The command, or the engine of the container. */
  readonly program: string;

  constructor(program: string, advice: string, cause: unknown) {
    super(`${program} could not be started (${messageOf(cause)}); ${advice}`, { cause });
    this.program = program;
  }
}
