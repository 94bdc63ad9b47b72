/** Types of definitions; this file has no code. */

/** Carries the type parameters; absent at run time. */
declare const types: unique symbol;

/** The kinds of steps. */
export type StepKind = 'task' | 'pipeline';

/**
 * A step takes an input and gives an output. `X` is the type with which it may end the run instead;
 * `never` for a plain task.
 */
export interface Step<in I, out O, out X = never> {
  /** Its name; it selects the handler and is the same in every process. */
  readonly name: string;
  /** Its kind: a task or a pipeline. */
  readonly type: StepKind;
  /** Carries the type parameters; absent at run time. */
  readonly [types]: {
    readonly in: (input: I) => void;
    readonly out: () => O;
    readonly exit: () => X;
  };
  /**
   * Runs this step, then `next` with its output. Returns a new step; both parts stay unchanged.
   *
   * @throws {@link InvalidOptionError} when `next` is not a step.
   */
  pipe<P, Y = never>(next: Step<O, P, Y>): Pipeline<I, P, X | Y>;
}

/** The definition of a task: its name, its options, and its handler unless defined elsewhere. */
export interface Task<in I, out O, out X = never> extends Step<I, O, X> {
  /** Type tag. */
  readonly type: 'task';
  /**
   * The same task under another name. In a pipeline its original name still selects the handler.
   */
  as(name: string): Task<I, O, X>;
}

/** Options of a pipeline with a name. */
export interface PipelineOptions {
  /** Version of every task in it that has none: see `TaskOptions.version`. Default: none. */
  readonly version?: string | undefined;
}

/** A composition of steps: itself a step, without a connection or a handler. */
export interface Pipeline<in I, out O, out X = never> extends Step<I, O, X> {
  /** Type tag. */
  readonly type: 'pipeline';
  /**
   * The same pipeline under a name. Inside another pipeline its name prefixes the names of its
   * nodes: `stats.total`. Its version applies to every task in it that has none.
   */
  as(name: string, options?: PipelineOptions): Pipeline<I, O, X>;
}

/** A step with any types. */
export type AnyStep = Step<never, unknown, unknown>;

/**
 * A step with any types, without type parameters: from `AnyStep` the compiler would infer `never`
 * as the input of a task that is defined in place and takes none.
 */
export interface SomeStep {
  /** Its name; it selects the handler and is the same in every process. */
  readonly name: string;
  /** Marks steps; absent at run time. */
  readonly [types]: object;
}

/** Input type of a step. */
export type Input<S> = S extends Step<infer I, unknown, unknown> ? I : never;

/** Output type of a step. */
export type Output<S> = S extends Step<never, infer O, unknown> ? O : never;

/** Type of the other values with which a step may end the run. */
export type Exit<S> = S extends Step<never, unknown, infer X> ? X : never;

/**
 * The argument after a step: its input, unless it takes none. The type comes from the step alone,
 * so that the compiler checks the argument against it.
 */
export type InputArgs<I> = undefined extends I ? [input?: NoInfer<I>] : [input: NoInfer<I>];

/** The arguments after a step: its input, as {@link InputArgs}, then options. */
export type StartArgs<I, Options> = undefined extends I
  ? [input?: NoInfer<I>, options?: Options]
  : [input: NoInfer<I>, options?: Options];
