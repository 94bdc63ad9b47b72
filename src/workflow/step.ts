/** The types that definitions carry; nothing here exists at run time. */

/** Holds the type parameters; never a value. */
declare const types: unique symbol;

/** The kinds of steps. */
export type StepKind = 'task' | 'pipeline';

/**
 * Anything that takes an input and gives an output. `X` is what it may end with instead of its
 * output; for a plain task that is nothing.
 */
export interface Step<in I, out O, out X = never> {
  /** Chooses the handler; the same in every process. */
  readonly name: string;
  /** What it is: a task or a pipeline. */
  readonly type: StepKind;
  /** Holds the type parameters; never a value. */
  readonly [types]: {
    readonly in: (input: I) => void;
    readonly out: () => O;
    readonly exit: () => X;
  };
  /**
   * This step, then `next` with its output. A new value; neither part changes.
   *
   * @throws {@link InvalidOptionError} when `next` is no step.
   */
  pipe<P, Y = never>(next: Step<O, P, Y>): Pipeline<I, P, X | Y>;
}

/** The definition of a task: its name, its options, and its handler unless that lives elsewhere. */
export interface Task<in I, out O, out X = never> extends Step<I, O, X> {
  /** Tells a task from other steps. */
  readonly type: 'task';
  /**
   * The same task under another name. As a step of a pipeline it is still the task of its first
   * name, whose handler runs it.
   */
  as(name: string): Task<I, O, X>;
}

/** What a pipeline may be told when it gets its name. */
export interface PipelineOptions {
  /** Of every task in it that says none of its own: see `TaskOptions.version`. Default: none. */
  readonly version?: string | undefined;
}

/** Steps put together: a value like any step, without a connection or a handler of its own. */
export interface Pipeline<in I, out O, out X = never> extends Step<I, O, X> {
  /** Tells a pipeline from other steps. */
  readonly type: 'pipeline';
  /**
   * The same steps under a name. Inside another pipeline the name stands before the names of its
   * nodes: `stats.total`. With a version it is the one of every task in it that has none.
   */
  as(name: string, options?: PipelineOptions): Pipeline<I, O, X>;
}

/** A step of any types. */
export type AnyStep = Step<never, unknown, unknown>;

/**
 * Also a step of any types, without saying so: from `AnyStep` the compiler would infer that a task
 * which is defined in place, and takes nothing, takes `never`.
 */
export interface SomeStep {
  /** Chooses the handler; the same in every process. */
  readonly name: string;
  /** Only steps have it; never a value. */
  readonly [types]: object;
}

/** What a step takes. */
export type Input<S> = S extends Step<infer I, unknown, unknown> ? I : never;

/** What a step gives. */
export type Output<S> = S extends Step<never, infer O, unknown> ? O : never;

/** What a step may end with instead of its output. */
export type Exit<S> = S extends Step<never, unknown, infer X> ? X : never;

/**
 * The argument after a step: an input, unless it takes none. It is inferred from the step alone, so
 * that the compiler holds the input to it, and not it to the input.
 */
export type InputArgs<I> = undefined extends I ? [input?: NoInfer<I>] : [input: NoInfer<I>];

/** The arguments after a step: an input, as {@link InputArgs}, then options. */
export type StartArgs<I, Options> = undefined extends I
  ? [input?: NoInfer<I>, options?: Options]
  : [input: NoInfer<I>, options?: Options];
