import type { Duration } from '../base/time.ts';
import type { FairloomError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';

/** A handle of an enqueued task or run. */
export interface Handle<out O> {
  /** Its id, for `loom.tasks.get`. */
  readonly id: string;
  /**
   * Waits for the end and returns the result.
   *
   * @throws {@link TaskFailedError}, {@link TaskCanceledError} when it ended this way;
   * {@link ResultTimeoutError} when it has not ended in time (the task continues);
   * {@link TaskNotFoundError} when it is not stored, or no longer; the reason of the signal when
   * that aborts.
   */
  result(options?: ResultOptions): Promise<O>;
}

/** Options of {@link Handle.result}. */
export interface ResultOptions {
  /** Longest wait. Default: until it ends. */
  readonly timeout?: Duration | undefined;
  /** Ends the wait, not the task. */
  readonly signal?: AbortSignal | undefined;
}

/** Keys of {@link ResultOptions}. */
export const RESULT_KEYS: OptionKeys<ResultOptions> = keysOf<ResultOptions>()({
  timeout: true,
  signal: true,
});

/** The handle of one task. */
export interface TaskHandle<out O> extends Handle<O> {
  /** The same as `id`. */
  readonly taskId: string;
  /** False when the id, or the owner of the idempotency key, was stored before. */
  readonly created: boolean;
  /** The idempotency key was first used with another input. */
  readonly conflict: boolean;
  /** The call replaced the input and options of the waiting task. */
  readonly replaced: boolean;
}

/** The outcome of one task of a batch with `atomic: false`. */
export type Enqueued<O> =
  /** The task is stored. */
  | { readonly ok: true; readonly handle: TaskHandle<O> }
  /** The task was refused, or could not be stored; this does not affect the others. */
  | { readonly ok: false; readonly error: FairloomError };
