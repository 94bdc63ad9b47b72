/** Types of `enqueue` and `handle`: what they take and give, by the kind of step. */

import type { EnqueueOptions } from '../enqueue/enqueue-options.ts';
import type { TaskHandle } from '../enqueue/handle.ts';
import type { RunHandle } from '../runs/calls/run-handle.ts';
import type { RunEnqueueOptions } from '../runs/run-options.ts';
import type { Step, StepKind } from '../workflow/step.ts';

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

/** A task (`K` is `task`), a pipeline, or a `Step` that may be either (`K` is both). */
export type StepOf<K extends StepKind, I, O, X> = Step<I, O, X> & {
  /** `task` or `pipeline`: says which options and which handle go with it. */
  readonly type: K;
};
