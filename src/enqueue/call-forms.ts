/** Types of `enqueueMany`: what it takes and gives. */
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Task } from '../workflow/step.ts';
import { ENQUEUE_KEYS, type EnqueueOptions } from './enqueue-options.ts';
import type { Enqueued, TaskHandle } from './handle.ts';

/** Holds the type of the output; never a value. */
declare const output: unique symbol;

/** A task with its input, to be enqueued with others. */
export interface Call<out O> {
  /** Holds the type of the output; never a value. */
  readonly [output]: () => O;
}

/** The handles of calls, in their order. */
export type HandlesOf<C extends readonly Call<unknown>[]> = {
  -readonly [K in keyof C]: C[K] extends Call<infer O> ? TaskHandle<O> : never;
};

/** Options of calls enqueued together. */
export interface CallsOptions<A extends boolean = boolean> {
  /** True (default): all or none. False: each on its own terms. */
  readonly atomic?: A | undefined;
}

/** What may stand in {@link CallsOptions}. */
export const CALLS_KEYS: OptionKeys<CallsOptions> = keysOf<CallsOptions>()({ atomic: true });

/** Options of one definition enqueued many times. */
export interface EnqueueManyOptions<A extends boolean = boolean>
  extends Omit<EnqueueOptions, 'id'>,
    CallsOptions<A> {}

const { id: _id, ...OF_MANY } = ENQUEUE_KEYS;

/** What may stand in {@link EnqueueManyOptions}. */
export const MANY_KEYS: OptionKeys<EnqueueManyOptions> = keysOf<EnqueueManyOptions>()({
  ...OF_MANY,
  ...CALLS_KEYS,
});

/** What `enqueueMany` takes first: a task, or calls. */
export type ManySource = Task<never, unknown, unknown> | readonly Call<unknown>[];

/** What follows a task, or calls, in `enqueueMany`. */
export type ManyArgs<F extends ManySource, A extends boolean> = [F] extends [
  readonly Call<unknown>[],
]
  ? [options?: CallsOptions<A>]
  : [F] extends [Task<infer I, unknown, unknown>]
    ? [inputs: readonly I[], options?: EnqueueManyOptions<A>]
    : never;

/** The reply of `enqueueMany`: handles, or with `atomic: false` the outcome of each. */
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
