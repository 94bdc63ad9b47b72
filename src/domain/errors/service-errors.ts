/** Errors of the third family: infrastructure. `cause` is what was met there. */
import { messageOf } from '../../base/message-of.ts';
import { CodedError } from './fairloom-error.ts';

/** The thread of a `threadTask` ended before its handler did: it crashed, or ran out of memory. */
export class ThreadEndedError extends CodedError<'THREAD_ENDED'> {
  constructor(taskId: string, cause: unknown) {
    super('THREAD_ENDED', `the thread of task ${taskId} ended (${messageOf(cause)})`, { cause });
  }
}

/** The process of a `processTask` ended before its handler did: it crashed, or was killed. */
export class ProcessEndedError extends CodedError<'PROCESS_ENDED'> {
  constructor(taskId: string, cause: unknown) {
    super('PROCESS_ENDED', `the process of task ${taskId} ended (${messageOf(cause)})`, { cause });
  }
}

/** The client, worker or backend was closed. */
export class ClosedError extends CodedError<'CLOSED'> {
  constructor(what: string) {
    super('CLOSED', `${what} is closed`);
  }
}

/** The backend did not answer, or answered that it cannot serve now. `cause` is the client's error. */
export class BackendUnavailableError extends CodedError<'BACKEND_UNAVAILABLE'> {
  constructor(operation: string, cause: unknown, why: string = messageOf(cause)) {
    super('BACKEND_UNAVAILABLE', `${operation}: the backend is unavailable (${why})`, { cause });
  }
}

/** What the backend keeps its data in is full: it takes no new work, while running work goes on. The message says what is full. */
export class BackendFullError extends CodedError<'BACKEND_FULL'> {
  constructor(operation: string, cause: unknown, why: string = messageOf(cause)) {
    super('BACKEND_FULL', `${operation}: the backend takes no new work (${why})`, { cause });
  }
}

/** The server is too old, its data has another layout, or a setting rules it out. */
export class BackendUnsupportedError extends CodedError<'BACKEND_UNSUPPORTED'> {
  constructor(message?: string, options?: ErrorOptions) {
    super('BACKEND_UNSUPPORTED', message, options);
  }
}

/**
 * A record of the backend cannot be read: it was cut short, overwritten, or is of another kind than it
 * should be. It was set aside, and everybody else goes on.
 */
export class CorruptRecordError extends CodedError<'CORRUPT_RECORD'> {
  /** What cannot be read: `task o-7`, or a key. */ readonly record: string;
  constructor(record: string, why: string, cause?: unknown) {
    super(
      'CORRUPT_RECORD',
      `${record}: ${why} (fairloom doctor tells more)`,
      cause === undefined ? {} : { cause },
    );
    this.record = record;
  }
}

/** Something that was written down in a data folder is not there any more. Nothing was opened, and nothing changed. */
export class DataDamagedError extends CodedError<'DATA_DAMAGED'> {
  /** The data folder. */ readonly folder: string;
  /** What is gone: one text for each place. */ readonly damage: readonly string[];
  constructor(folder: string, damage: readonly string[]) {
    super(
      'DATA_DAMAGED',
      `${folder} is damaged: ${damage.join('; ')} (fairloom doctor --data ${folder} --repair keeps what can be read)`,
    );
    this.folder = folder;
    this.damage = damage;
  }
}

/** Nothing was copied: the source is not at rest, or the target is not empty. */
export class CopyRefusedError extends CodedError<'COPY_REFUSED'> {
  constructor(message?: string, options?: ErrorOptions) {
    super('COPY_REFUSED', message, options);
  }
}

/** @throws {@link CopyRefusedError} when some of these workers live in one of the places of a copy. */
export function demandNoWorkers(live: readonly string[], where: 'source' | 'target'): void {
  const [first] = live;
  if (first === undefined) return;
  const others = live.length > 1 ? ` and ${live.length - 1} more` : '';
  throw new CopyRefusedError(
    `workers live in the ${where} (${first}${others}): stop them, and copy again`,
  );
}
