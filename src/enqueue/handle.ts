import type { Duration } from '../base/time.ts';
import type { FairloomError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';

/** A way back to something that was enqueued. */
export interface Handle<out O> {
  /** What to ask `loom.tasks.get` for. */
  readonly id: string;
  /**
   * Waits for the end and gives the result.
   *
   * @throws {@link TaskFailedError}, {@link TaskCanceledError} when it ended so;
   * {@link ResultTimeoutError} when it had not ended in time (the task goes on);
   * {@link TaskNotFoundError} when it is not stored, or no longer; the signal's reason when that
   * aborts.
   */
  result(options?: ResultOptions): Promise<O>;
}

/** How long {@link Handle.result} waits. */
export interface ResultOptions {
  /** Default: until it ends. */
  readonly timeout?: Duration | undefined;
  /** Ends the wait, not the task. */
  readonly signal?: AbortSignal | undefined;
}

/** What may stand in {@link ResultOptions}. */
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
  /** The idempotency key was used with another input the first time. */
  readonly conflict: boolean;
  /** The input and options of the waiting task were replaced by these. */
  readonly replaced: boolean;
}

/** How one task of a batch that is not all-or-none fared. */
export type Enqueued<O> =
  /** It is stored. */
  | { readonly ok: true; readonly handle: TaskHandle<O> }
  /** It was refused, or could not be stored; the others are not touched by that. */
  | { readonly ok: false; readonly error: FairloomError };
