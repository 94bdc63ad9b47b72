import type { SharedBackend } from '../backends/shared-backend.ts';
import { linkAbort } from '../base/abort-watch.ts';
import type { KeepAlive } from '../base/keep-alive.ts';
import { type Clock, elapsedMs } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { errorOf } from '../codec/task-error.ts';
import {
  ClosedError,
  isOwn,
  ResultTimeoutError,
  TaskCanceledError,
  TaskFailedError,
  TaskNotFoundError,
} from '../domain/errors/errors.ts';
import { checkOptions } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import type { EnqueueReply, Inspect } from '../domain/port/backend.ts';
import { type Cause, causeText } from '../domain/task/cause.ts';
import { isEnd, type TaskRecord, type TaskStatus } from '../domain/task/task.ts';
import { durationOption } from '../workflow/task-options.ts';
import { RESULT_KEYS, type ResultOptions, type TaskHandle } from './handle.ts';
import { checkSignal } from './signal-option.ts';

/** Cause for a record without one. */
const UNKNOWN: Cause = { type: 'request' };

const NO_OPTIONS: ResultOptions = {};

/** Longest wait for a notification, in ms; then the record is read again. */
const REREAD_MS = 5_000;

/** Number of successive reads that may fail with the connection, or a folder's owner. */
const LOST_READS = 2;

/** Reads the state of a task, given its end if that is known. */
type Read<T> = (inspect: Inspect, ended: TaskStatus | undefined) => Promise<T | undefined>;

/** Waits for the ends of tasks. */
export class Results {
  readonly #connection: SharedBackend;
  readonly #codec: ValueCodec;
  readonly #clock: Clock;
  readonly #keepAlive: KeepAlive;
  /** Aborts every wait when the client closes. */
  readonly #closing = new AbortController();

  constructor(connection: SharedBackend, codec: ValueCodec, clock: Clock, keepAlive: KeepAlive) {
    this.#connection = connection;
    this.#codec = codec;
    this.#clock = clock;
    this.#keepAlive = keepAlive;
  }

  close(): void {
    this.#closing.abort(new ClosedError('this Fairloom'));
  }

  /**
   * Called for every wait: may end it by `end` when nothing else would; returns a function that
   * removes it. For clients whose clock stands still between explicit moves.
   */
  guard: ((id: string, end: (reason: Error) => void) => () => void) | undefined;

  async wait(id: string, options?: ResultOptions): Promise<unknown> {
    const status = await this.#waitFor(id, options, readStatus(id));
    return this.#resultOf(id, status);
  }

  /** The record in its end state; rejects as `wait` does when there is none. */
  waitForRecord(id: string, options?: ResultOptions): Promise<TaskRecord> {
    return this.#waitFor(id, options, async (inspect) => (await inspect.get([id]))[0]);
  }

  /** Resolves when it has ended in any state; rejects when it is not stored, or on abort. */
  async waitForEnd(id: string, signal: AbortSignal): Promise<void> {
    await this.#waitFor(id, { signal }, readStatus(id));
  }

  async #waitFor<T extends TaskStatus>(
    id: string,
    options: ResultOptions | undefined,
    read: Read<T>,
  ): Promise<T> {
    const { timeout, signal } = checked(options);
    const bounds = { least: 0, most: LIMITS.delayMaxMs };
    const timeoutMs =
      timeout === undefined ? undefined : durationOption('timeout', timeout, bounds);
    const until =
      timeoutMs === undefined ? Number.POSITIVE_INFINITY : elapsedMs(this.#clock) + timeoutMs;
    const closing = this.#closing.signal;
    const stalled = this.guard === undefined ? undefined : new AbortController();
    const ends = [closing, signal, stalled?.signal].filter((one) => one !== undefined);
    const stop = linkAbort(...ends);
    stop.signal.throwIfAborted();
    this.#keepAlive.hold();
    const forget = this.guard?.(id, (reason) => stalled?.abort(reason));
    try {
      const found = await this.#until(id, until, stop.signal, read);
      if (found === undefined) throw new ResultTimeoutError(id, timeoutMs ?? 0);
      return found;
    } finally {
      this.#keepAlive.letGo();
      stop.unlink();
      forget?.();
    }
  }

  /** Waits first, since a wait for an ended task returns at once; `undefined` after the timeout. */
  async #until<T extends TaskStatus>(
    id: string,
    until: number,
    signal: AbortSignal,
    read: Read<T>,
  ): Promise<T | undefined> {
    for (let failures = 0; ; ) {
      const waitMs = Math.min(until - elapsedMs(this.#clock), REREAD_MS);
      try {
        const { inspect } = this.#connection.now ?? (await this.#connection.open());
        const ended = waitMs > 0 ? await inspect.waitForEnd(id, waitMs, signal) : undefined;
        if (signal.aborted) throw signal.reason;
        const found = await read(inspect, ended);
        if (signal.aborted) throw signal.reason;
        if (found === undefined) throw new TaskNotFoundError(id);
        if (found === ended || isEnd(found.state)) return found;
        failures = 0;
      } catch (error) {
        if (!isOwn(error, 'BACKEND_UNAVAILABLE') || failures++ === LOST_READS) throw error;
      }
      if (until <= elapsedMs(this.#clock)) return undefined;
    }
  }

  #resultOf(id: string, { state, cause = UNKNOWN, ...ended }: TaskStatus): unknown {
    if (state === 'finished') return this.#codec.read(ended.result ?? '');
    if (state === 'canceled') throw new TaskCanceledError(id, cause);
    const error = errorOf(ended.error) ?? {
      name: 'Error',
      message: causeText(cause),
    };
    throw new TaskFailedError(id, cause, error);
  }
}

function readStatus(id: string): Read<TaskStatus> {
  return async (inspect, ended) => ended ?? (await inspect.status([id]))[0];
}

/** The reply for a stored task. */
type StoredReply = StoredIs<'created'> | Omit<StoredIs<'existing'>, 'state'>;
type StoredIs<K> = Extract<EnqueueReply, { readonly kind: K }>;

/** The handle of one task. The definition has its output type. */
export class StoredHandle<O> implements TaskHandle<O> {
  readonly id: string;
  readonly created: boolean;
  readonly conflict: boolean;
  readonly replaced: boolean;
  readonly #results: Results;

  constructor(results: Results, reply: StoredReply) {
    this.#results = results;
    this.id = reply.id;
    this.created = reply.kind === 'created';
    this.conflict = reply.kind === 'existing' && reply.conflict;
    this.replaced = reply.kind === 'existing' && reply.replaced;
  }

  get taskId(): string {
    return this.id;
  }

  async result(options?: ResultOptions): Promise<O> {
    // The handler's result, parsed from JSON: the definition has its type.
    return (await this.#results.wait(this.id, options)) as O;
  }
}

function checked(options: ResultOptions | undefined): ResultOptions {
  if (options === undefined) return NO_OPTIONS;
  checkOptions('result', options, RESULT_KEYS);
  checkSignal(options.signal);
  return options;
}
