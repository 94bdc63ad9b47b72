/** Types of `enqueue` and `handle`: arguments and results by the kind of step. */

import type { EnqueueOptions } from '../enqueue/enqueue-options.ts';
import type { TaskHandle } from '../enqueue/handle.ts';
import type { RunHandle } from '../runs/calls/run-handle.ts';
import type { RunEnqueueOptions } from '../runs/run-options.ts';
import type { Step, StepKind } from '../workflow/step.ts';

/** Options by the kind of step. */
export interface OptionsByKind {
  /** Options of a task. */
  readonly task: EnqueueOptions;
  /** Options of a run of a pipeline. */
  readonly pipeline: RunEnqueueOptions;
}

/** Handles by the kind of step. */
export interface HandlesByKind<O> {
  /** Handle of a task. */
  readonly task: TaskHandle<O>;
  /** Handle of a run. */
  readonly pipeline: RunHandle<O>;
}

/** A task (`K` is `task`), a pipeline, or a `Step` that may be either (`K` is both). */
export type StepOf<K extends StepKind, I, O, X> = Step<I, O, X> & {
  /** `task` or `pipeline`: selects the options and the handle. */
  readonly type: K;
};
