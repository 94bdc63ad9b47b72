/** Context of a dynamic handler, and the types of its results. */
import type { Again, Goto, Next, Terminate } from './control.ts';
import type { InputArgs, Step } from './step.ts';
import type { TaskContext } from './task-context.ts';

/** The output of a dynamic task whose handler returns `R`. */
export type OutputOf<R> =
  R extends Next<infer P, unknown>
    ? P
    : R extends Again | Goto<unknown> | Terminate<unknown>
      ? never
      : R;

/** Other values with which a run may end when a handler returns `R`. */
export type ExitOf<R> =
  R extends Next<unknown, infer X>
    ? X
    : R extends Goto<infer P>
      ? P
      : R extends Terminate<infer V>
        ? V
        : never;

/**
 * Return type of a dynamic handler: anything but `void`. A handler without `return` would lose the
 * controls that it made, so the compiler rejects it.
 */
export type Returning<R> =
  unknown extends Awaited<R>
    ? unknown
    : [Awaited<R>, ReturnType<() => void>] extends [ReturnType<() => void>, Awaited<R>]
      ? 'return an output, or the result of ctx.next, goto, again or terminate'
      : unknown;

/** The second argument of a dynamic handler. Only a returned control has an effect. */
export interface DynamicContext<in I> extends TaskContext {
  /** Number of earlier runs of this node in this run. */
  readonly cycle: number;
  /** The node may run again: `cycle + 1` is less than `maxCycles`. */
  readonly canIterate: boolean;
  /** Runs a step, then the successors of this node in the graph. */
  next<J, P, X>(step: Step<J, P, X>, ...input: InputArgs<J>): Next<P, X>;
  /**
   * Continues at a step and skips the successors of this node. A step outside the graph ends the
   * run with its output.
   */
  goto<J, P, X>(step: Step<J, P, X>, ...input: InputArgs<J>): Goto<P | X>;
  /** Runs this node again, up to `maxCycles` runs. */
  again(input: I): Again;
  /** Ends the run with this value. */
  terminate<V>(value: V): Terminate<V>;
  /** Cancels the run. Throws, so no code after it runs. */
  cancelRun(reason: string): never;
  /** Alias of `next`, the name in Graflow. */
  nextTask<J, P, X>(step: Step<J, P, X>, ...input: InputArgs<J>): Next<P, X>;
  /** Alias of `again`, the name in Graflow. */
  nextIteration(input: I): Again;
}
