/** What handlers throw to steer, and what a handler that runs too long is told. */
import { messageOf } from '../../base/message-of.ts';
import { shownNode } from '../task/node-name.ts';
import { CodedError, isOwn } from './fairloom-error.ts';

/**
 * Thrown by a handler: no retry will help, the task ends as failed.
 *
 * @example
 * ```ts
 * import { Fairloom, Fatal, memory, task } from 'fairloom';
 *
 * const charge = task('charge', async (cents: number) => {
 *   if (cents < 0) throw new Fatal('the amount is negative');
 * });
 * const loom = new Fairloom({ backend: memory(), tasks: [charge] });
 * await loom.run(charge, -1).catch((error: Error) => console.log(error.message)); // prints the amount is negative
 * await loom.close();
 * ```
 */
export class Fatal extends CodedError<'FATAL'> {
  constructor(message?: string, options?: ErrorOptions) {
    super('FATAL', message, options);
  }
}

/** Made by `retryAfter`: run again after this long; counted as an attempt unless told otherwise. */
export class RetryAfter extends CodedError<'RETRY_AFTER'> {
  /** How long to wait, in ms. */ readonly delayMs: number;
  /** Whether it uses up one of the retries. */ readonly countAttempt: boolean;
  constructor(delayMs: number, countAttempt: boolean, message: string) {
    super('RETRY_AFTER', message);
    this.delayMs = delayMs;
    this.countAttempt = countAttempt;
  }
}

/** The wait that an error asks for before another attempt. */
export type AskedWait = Pick<RetryAfter, 'delayMs' | 'countAttempt'>;

/** What it asks for, whichever copy of this package made it, and whether by itself or by members of a group. */
export function waitAskedBy(value: unknown): AskedWait | undefined {
  if (!isOwn(value, 'RETRY_AFTER') && !isOwn(value, 'GROUP_FAILED')) return undefined;
  const delayMs: unknown = Reflect.get(value, 'delayMs');
  if (typeof delayMs !== 'number' || !Number.isFinite(delayMs)) return undefined;
  return { delayMs, countAttempt: Reflect.get(value, 'countAttempt') !== false };
}

/** Of a group: members that it has to have said that no retry helps. */
export function isFinalGroup(value: unknown): boolean {
  return isOwn(value, 'GROUP_FAILED') && Reflect.get(value, 'isFinal') === true;
}

/** The reason of the signal of a handler that ran longer than its timeout. */
export class TimedOutError extends CodedError<'TIMED_OUT'> {
  /** The task. */ readonly taskId: string;
  constructor(taskId: string, timeoutMs: number) {
    super('TIMED_OUT', `task ${shownNode(taskId)} ran longer than its timeout of ${timeoutMs} ms`);
    this.taskId = taskId;
  }
}

/** How a program ended, as far as it can be known. */
export interface ProgramEnd {
  /** `undefined` when a signal ended it. */ readonly exitCode: number | undefined;
  /** As `SIGKILL`; `undefined` when it ended by itself. */ readonly signal: string | undefined;
  /** The last lines of its stderr. */ readonly stderr: string;
}

/** The program of a `commandTask` or `containerTask` ended with another exit code than 0. */
export class ProgramFailedError extends CodedError<'PROGRAM_FAILED'> {
  /** The command, or the image. */ readonly program: string;
  /** `undefined` when a signal ended it. */ readonly exitCode: number | undefined;
  /** As `SIGKILL`; `undefined` when it ended by itself. */ readonly signal: string | undefined;
  /** The last lines of its stderr, at most 1,500 characters. */ readonly stderr: string;
  constructor(program: string, { exitCode, signal, stderr }: ProgramEnd) {
    const how = signal === undefined ? `with exit code ${exitCode}` : `by ${signal}`;
    super('PROGRAM_FAILED', `${program} ended ${how}${stderr === '' ? '' : `: ${stderr}`}`);
    this.program = program;
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = stderr;
  }
}

/** The program of a task could not be started: it is not installed here, or the system refused. */
export class ProgramNotStartedError extends CodedError<'PROGRAM_NOT_STARTED'> {
  /** The command, or the engine of the container. */ readonly program: string;
  constructor(program: string, advice: string, cause: unknown) {
    super(
      'PROGRAM_NOT_STARTED',
      `${program} could not be started (${messageOf(cause)}); ${advice}`,
      { cause },
    );
    this.program = program;
  }
}
