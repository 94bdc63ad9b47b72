/** Types of the arguments and results of `enqueueMany`. */
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Task } from '../workflow/step.ts';
import { ENQUEUE_KEYS, type EnqueueOptions } from './enqueue-options.ts';
import type { Enqueued, TaskHandle } from './handle.ts';

/** Carries the type of the output; absent at run time. */
declare const output: unique symbol;

/** A task with its input, for `enqueueMany`. */
export interface Call<out O> {
  /** Carries the type of the output; absent at run time. */
  readonly [output]: () => O;
}

/** The handles of calls, in their order. */
export type HandlesOf<C extends readonly Call<unknown>[]> = {
  -readonly [K in keyof C]: C[K] extends Call<infer O> ? TaskHandle<O> : never;
};

/** Options of `enqueueMany` for calls. */
export interface CallsOptions<A extends boolean = boolean> {
  /** True (default): all tasks are stored or none. False: each is stored or refused on its own. */
  readonly atomic?: A | undefined;
}

/** Keys of {@link CallsOptions}. */
export const CALLS_KEYS: OptionKeys<CallsOptions> = keysOf<CallsOptions>()({ atomic: true });

/** Options of `enqueueMany` for one definition. */
export interface EnqueueManyOptions<A extends boolean = boolean>
  extends Omit<EnqueueOptions, 'id'>,
    CallsOptions<A> {}

const { id: _id, ...OF_MANY } = ENQUEUE_KEYS;

/** Keys of {@link EnqueueManyOptions}. */
export const MANY_KEYS: OptionKeys<EnqueueManyOptions> = keysOf<EnqueueManyOptions>()({
  ...OF_MANY,
  ...CALLS_KEYS,
});

/** First argument of `enqueueMany`: a task, or calls. */
export type ManySource = Task<never, unknown, unknown> | readonly Call<unknown>[];

/** Further arguments of `enqueueMany`. */
export type ManyArgs<F extends ManySource, A extends boolean> = [F] extends [
  readonly Call<unknown>[],
]
  ? [options?: CallsOptions<A>]
  : [F] extends [Task<infer I, unknown, unknown>]
    ? [inputs: readonly I[], options?: EnqueueManyOptions<A>]
    : never;

/** The result of `enqueueMany`: handles, or with `atomic: false` the outcome of each. */
export type ManyHandles<F extends ManySource, A extends boolean> = [F] extends [
  readonly Call<unknown>[],
]
  ? A extends false
    ? Enqueued<unknown>[]
    : HandlesOf<F>
  : [F] extends [Task<never, infer O, infer X>]
    ? A extends false
      ? Enqueued<O | X>[]
      : TaskHandle<O | X>[]
    : never;
