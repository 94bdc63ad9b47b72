/** Types of `enqueue` and `enqueueMany`: what they take and give, by the step. Nothing at run time. */
import type { Step, Task } from '../workflow/step.ts';
import type { Call, HandlesOf } from './call.ts';
import type { EnqueueOptions } from './enqueue-options.ts';
import type { TaskHandle } from './handle.ts';
import type { RunHandle } from './runs/run-handle.ts';
import type { RunEnqueueOptions } from './runs/run-options.ts';
import type { Enqueued } from './submission.ts';

/** What may be said about each kind of step. */
export interface OptionsByKind {
  /** About a task. */
  readonly task: EnqueueOptions;
  /** About a run of a pipeline. */
  readonly pipeline: RunEnqueueOptions;
}

/** What enqueuing each kind of step gives. */
export interface HandlesByKind<O> {
  /** For a task. */
  readonly task: TaskHandle<O>;
  /** For a pipeline. */
  readonly pipeline: RunHandle<O>;
}

/** The kinds of steps. */
export type StepKind = keyof OptionsByKind;

/** A task (`K` is `task`) or a pipeline: a step whose kind is known. */
export type StepOf<K extends StepKind, I, O, X> = Step<I, O, X> & { readonly type: K };

/** Options of calls enqueued together. */
export interface CallsOptions<A extends boolean = boolean> {
  /** True (default): all or none. False: each on its own terms. */
  readonly atomic?: A | undefined;
}

/** Options of one definition enqueued many times. */
export interface EnqueueManyOptions<A extends boolean = boolean>
  extends Omit<EnqueueOptions, 'id'>,
    CallsOptions<A> {}

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

/** What `enqueueMany` gives: handles, or with `atomic: false` what became of each. */
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
