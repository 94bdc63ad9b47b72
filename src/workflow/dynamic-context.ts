/** What a dynamic handler is given besides the context of every handler, and its types. */
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

/** What a run may end with instead when a handler returns `R`. */
export type ExitOf<R> =
  R extends Next<unknown, infer X>
    ? X
    : R extends Goto<infer P>
      ? P
      : R extends Terminate<infer V>
        ? V
        : never;

/**
 * What a dynamic handler may return: anything but nothing at all. A handler without `return` chooses
 * nothing, and what it calls on its context is for nothing; the compiler says so.
 */
export type Returning<R> =
  unknown extends Awaited<R>
    ? unknown
    : [Awaited<R>, ReturnType<() => void>] extends [ReturnType<() => void>, Awaited<R>]
      ? 'return an output, or what ctx.next, goto, again or terminate give'
      : unknown;

/** The second argument of a dynamic handler. Its controls do nothing until they are returned. */
export interface DynamicContext<in I> extends TaskContext {
  /** How often this node ran before in this run. */
  readonly cycle: number;
  /** Whether the node may run once more: `cycle + 1` runs are fewer than `maxCycles`. */
  readonly canIterate: boolean;
  /** Runs a step, then what follows this node in the graph. */
  next<J, P, X>(step: Step<J, P, X>, ...input: InputArgs<J>): Next<P, X>;
  /**
   * Goes on at a step and skips what follows this node; a step that is not in the graph ends the
   * run with its output.
   */
  goto<J, P, X>(step: Step<J, P, X>, ...input: InputArgs<J>): Goto<P | X>;
  /** Runs this node again, while its runs are fewer than `maxCycles`. */
  again(input: I): Again;
  /** Ends the run with this value. */
  terminate<V>(value: V): Terminate<V>;
  /** Ends the run as canceled. Throws, so nothing after it runs. */
  cancelRun(reason: string): never;
  /** As `next`: its name in Graflow. */
  nextTask<J, P, X>(step: Step<J, P, X>, ...input: InputArgs<J>): Next<P, X>;
  /** As `again`: its name in Graflow. */
  nextIteration(input: I): Again;
}
