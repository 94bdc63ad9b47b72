/** The types that definitions carry; nothing here exists at run time. */

/** Holds the type parameters; never a value. */
declare const types: unique symbol;

/**
 * Anything that takes an input and gives an output. `X` is what it may end with instead of its
 * output; for a task that is nothing.
 */
export interface Step<in I, out O, out X = never> {
  /** Chooses the handler; the same in every process. */
  readonly name: string;
  readonly [types]: {
    readonly in: (input: I) => void;
    readonly out: () => O;
    readonly exit: () => X;
  };
}

/** The definition of a task: its name, its options, and its handler unless that lives elsewhere. */
export interface Task<in I, out O, out X = never> extends Step<I, O, X> {
  readonly type: 'task';
  /** The same task under another name. */
  as(name: string): Task<I, O, X>;
}

/** A step of any types. */
export type AnyStep = Step<never, unknown, unknown>;

/** What a step takes. */
export type Input<S> = S extends Step<infer I, unknown, unknown> ? I : never;

/** What a step gives. */
export type Output<S> = S extends Step<never, infer O, unknown> ? O : never;

/** What a step may end with instead of its output. */
export type Exit<S> = S extends Step<never, unknown, infer X> ? X : never;

/** The arguments after a step: an input, unless it takes none, then options. */
export type StartArgs<I, Options> = undefined extends I
  ? [input?: I, options?: Options]
  : [input: I, options?: Options];
