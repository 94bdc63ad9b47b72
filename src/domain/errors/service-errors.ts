/** Errors of the third family: infrastructure. `cause` is what was met there. */
import { messageOf } from '../../base/message-of.ts';
import { FairloomError } from './fairloom-error.ts';

/** The thread of a `threadTask` ended before its handler did: it crashed, or ran out of memory. */
export class ThreadEndedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ThreadEndedError';
  /** See `docs/errors.md`. */
  readonly code = 'THREAD_ENDED';
  /** The same call may succeed later. */
  readonly retryable = true;

  constructor(taskId: string, cause: unknown) {
    super(`the thread of task ${taskId} ended (${messageOf(cause)})`, { cause });
  }
}

/** The process of a `processTask` ended before its handler did: it crashed, or was killed. */
export class ProcessEndedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ProcessEndedError';
  /** See `docs/errors.md`. */
  readonly code = 'PROCESS_ENDED';
  /** The same call may succeed later. */
  readonly retryable = true;

  constructor(taskId: string, cause: unknown) {
    super(`the process of task ${taskId} ended (${messageOf(cause)})`, { cause });
  }
}

/** The client, worker or backend was closed. */
export class ClosedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ClosedError';
  /** See `docs/errors.md`. */
  readonly code = 'CLOSED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;

  constructor(what: string) {
    super(`${what} is closed`);
  }
}

/** The backend did not answer, or answered that it cannot serve now. `cause` is the client's error. */
export class BackendUnavailableError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'BackendUnavailableError';
  /** See `docs/errors.md`. */
  readonly code = 'BACKEND_UNAVAILABLE';
  /** The same call may succeed later. */
  readonly retryable = true;

  constructor(operation: string, cause: unknown, why: string = messageOf(cause)) {
    super(`${operation}: the backend is unavailable (${why})`, { cause });
  }
}

/** What the backend keeps its data in is full: it takes no new work, while running work goes on. The message says what is full. */
export class BackendFullError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'BackendFullError';
  /** See `docs/errors.md`. */
  readonly code = 'BACKEND_FULL';
  /** The same call may succeed later. */
  readonly retryable = true;

  constructor(operation: string, cause: unknown, why: string = messageOf(cause)) {
    super(`${operation}: the backend takes no new work (${why})`, { cause });
  }
}

/** The server is too old, its data has another layout, or a setting rules it out. */
export class BackendUnsupportedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'BackendUnsupportedError';
  /** See `docs/errors.md`. */
  readonly code = 'BACKEND_UNSUPPORTED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
}

/**
 * A record of the backend cannot be read: it was cut short, overwritten, or is of another kind than it
 * should be. It was set aside, and everybody else goes on.
 */
export class CorruptRecordError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'CorruptRecordError';
  /** See `docs/errors.md`. */
  readonly code = 'CORRUPT_RECORD';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** What cannot be read: `task o-7`, or a key. */
  readonly record: string;

  constructor(record: string, why: string, cause?: unknown) {
    super(`${record}: ${why} (fairloom doctor tells more)`, cause === undefined ? {} : { cause });
    this.record = record;
  }
}

/** Something that was written down in a data folder is not there any more. Nothing was opened, and nothing changed. */
export class DataDamagedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'DataDamagedError';
  /** See `docs/errors.md`. */
  readonly code = 'DATA_DAMAGED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The data folder. */
  readonly folder: string;
  /** What is gone: one text for each place. */
  readonly damage: readonly string[];

  constructor(folder: string, damage: readonly string[]) {
    super(
      `${folder} is damaged: ${damage.join('; ')} (fairloom doctor --data ${folder} --repair keeps what can be read)`,
    );
    this.folder = folder;
    this.damage = damage;
  }
}

/** Nothing was copied: the source is not at rest, or the target is not empty. */
export class CopyRefusedError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'CopyRefusedError';
  /** See `docs/errors.md`. */
  readonly code = 'COPY_REFUSED';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
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
