import type { Logger } from '../base/logger.ts';
import type { Step } from './step.ts';

/** What became of a task that this one depended on. */
export type Upstream<O> =
  | { readonly state: 'finished'; readonly taskId: string; readonly result: O }
  | {
      readonly state: 'failed' | 'canceled' | 'missing';
      readonly taskId: string;
      readonly error: { readonly name: string; readonly message: string };
    };

/** The tasks that this one depended on. */
export interface Upstreams {
  /** The upstream of this definition; the first in order of `dependsOn` when there are several. */
  get<O, X>(of: Step<never, O, X>): Upstream<O | X> | undefined;
  byId(taskId: string): Upstream<unknown> | undefined;
  readonly all: readonly Upstream<unknown>[];
}

/** The second argument of a handler. */
export interface TaskContext {
  readonly taskId: string;
  readonly user: string;
  /** From 1. */
  readonly attempt: number;
  /**
   * Aborts when the attempt should end: its timeout is over, it was canceled, its lease was lost,
   * or the worker shuts down. The reason is an error that says which.
   */
  readonly signal: AbortSignal;
  /** Lines carry the task's id, name and user. */
  readonly log: Logger;
  /** Rises with every lease of the same task: give it to a store that refuses lesser ones. */
  readonly fencingToken: number;
  /** The W3C trace context that the task was enqueued with. */
  readonly traceparent: string | undefined;
  readonly upstream: Upstreams;
}

/** What a handler in a thread is given; the thread ends where a signal would abort. */
export interface ThreadContext {
  readonly taskId: string;
  readonly user: string;
  /** From 1. */
  readonly attempt: number;
  /** Rises with every lease of the same task. */
  readonly fencingToken: number;
  /** The W3C trace context that the task was enqueued with. */
  readonly traceparent: string | undefined;
}
