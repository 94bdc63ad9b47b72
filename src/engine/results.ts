import { linkAbort } from '../base/abort-watch.ts';
import type { Clock } from '../base/time.ts';
import { type Cause, causeText } from '../domain/cause.ts';
import {
  ClosedError,
  ResultTimeoutError,
  TaskCanceledError,
  TaskFailedError,
  TaskNotFoundError,
} from '../domain/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import { checkOptions } from '../domain/options.ts';
import { isEnd, type TaskRecord } from '../domain/task.ts';
import { durationOption } from '../workflow/task-options.ts';
import type { ValueCodec } from './codec.ts';
import type { Connection } from './connection.ts';
import { RESULT_KEYS, type ResultOptions, type ResultSource } from './handle.ts';
import type { KeepAlive } from './keep-alive.ts';
import { checkSignal } from './signal-option.ts';
import { errorOf } from './task-error.ts';

/** Of a record that says nothing of it. */
const UNKNOWN: Cause = { type: 'request' };

/** Longest wait for one hint, in ms; then the record is looked at again. */
const LOOK_MS = 5_000;

interface ResultsParts {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly codec: ValueCodec;
  readonly keepAlive: KeepAlive;
}

/** Waits for the ends of tasks. */
export class Results implements ResultSource {
  readonly #parts: ResultsParts;
  /** Aborts every wait when the client closes. */
  readonly #closing = new AbortController();

  constructor(parts: ResultsParts) {
    this.#parts = parts;
  }

  close(): void {
    this.#closing.abort(new ClosedError('this Fairloom'));
  }

  /**
   * Asked about every wait: ends it, by `end`, when nothing else would; the answer forgets it. For
   * clients whose time stands still until it is moved.
   */
  guard: ((id: string, end: (reason: Error) => void) => () => void) | undefined;

  async wait(id: string, options?: ResultOptions): Promise<unknown> {
    return this.#resultOf(await this.waitForRecord(id, options));
  }

  /** The record once it is in an end state; rejects as `wait` does when it does not come to that. */
  async waitForRecord(id: string, options: ResultOptions = {}): Promise<TaskRecord> {
    const { clock, keepAlive } = this.#parts;
    checkOptions('result', options, RESULT_KEYS);
    const { timeout, signal } = options;
    checkSignal(signal);
    const bounds = { least: 0, most: LIMITS.delayMaxMs };
    const timeoutMs =
      timeout === undefined ? undefined : durationOption('timeout', timeout, bounds);
    const until = timeoutMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + timeoutMs;
    const closing = this.#closing.signal;
    const stalled = this.guard === undefined ? undefined : new AbortController();
    const ends = [closing, signal, stalled?.signal].filter((one) => one !== undefined);
    const stop = linkAbort(...ends);
    stop.signal.throwIfAborted();
    keepAlive.hold();
    const forget = this.guard?.(id, (reason) => stalled?.abort(reason));
    try {
      return await this.#until(id, until, stop.signal, timeoutMs ?? 0);
    } finally {
      keepAlive.letGo();
      stop.unlink();
      forget?.();
    }
  }

  async #until(
    id: string,
    until: number,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<TaskRecord> {
    const { connection, clock } = this.#parts;
    for (;;) {
      const backend = connection.now ?? (await connection.open());
      const [record] = await backend.inspect.get([id]);
      if (signal.aborted) throw signal.reason;
      if (record === undefined) throw new TaskNotFoundError(id);
      if (isEnd(record.state)) return record;
      const leftMs = until - clock.now();
      if (leftMs <= 0) throw new ResultTimeoutError(id, timeoutMs);
      await backend.inspect.waitForEnd(id, Math.min(leftMs, LOOK_MS), signal);
      if (signal.aborted) throw signal.reason;
    }
  }

  #resultOf(record: TaskRecord): unknown {
    const { id, state, cause = UNKNOWN } = record;
    if (state === 'finished') return this.#parts.codec.read(record.result ?? '');
    if (state === 'canceled') throw new TaskCanceledError(id, cause);
    const error = errorOf(record.error) ?? {
      name: 'Error',
      message: causeText(cause),
    };
    throw new TaskFailedError(id, cause, error);
  }
}
