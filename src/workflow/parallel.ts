/** Groups: several steps on one input, or one step for each element of an array. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { GROUP_KEYS, type GroupOptions, groupSpec } from './group-options.ts';
import type { LenientPolicy, MemberResult } from './group-policy.ts';
import { demandStep, PipelineDefinition, StepDefinition } from './pipeline-definition.ts';
import type { AnyStep, Exit, Input, Output, Pipeline, SomeStep, Step } from './step.ts';

/** Steps by the keys of their outputs. */
export type Members = Readonly<Record<string, SomeStep>>;

/** The input that every member of a record accepts. */
export type InputOfAll<R> = {
  [K in keyof R]: (input: Input<R[K]>) => void;
}[keyof R] extends (input: infer I) => void
  ? I
  : never;

/** The input that every member of a tuple accepts. */
export type InputOfTuple<T extends readonly SomeStep[]> = {
  [K in keyof T]: (input: Input<T[K]>) => void;
}[number] extends (input: infer I) => void
  ? I
  : never;

/** Policies of {@link each}. */
export type EachPolicy = 'strict' | LenientPolicy;

/** Policies of a group with members named `C`. */
export type ParallelPolicy<C> =
  | EachPolicy
  /** These members must finish; the others may fail. */
  | { readonly critical: readonly C[] };

/** Options of {@link each}. */
export interface EachOptions<P extends EachPolicy = EachPolicy> extends GroupOptions {
  /** Default `strict`: every element must finish. */
  readonly policy?: P | undefined;
}

/** Options of {@link parallel} for an object of members named `C`. */
export interface ParallelOptions<C, P extends ParallelPolicy<C> = ParallelPolicy<C>>
  extends GroupOptions {
  /** Default `strict`: every member must finish. */
  readonly policy?: P | undefined;
}

const EACH_KEYS: OptionKeys<EachOptions> = keysOf<EachOptions>()({ ...GROUP_KEYS, policy: true });

const PARALLEL_KEYS: OptionKeys<ParallelOptions<never>> = keysOf<ParallelOptions<never>>()({
  ...GROUP_KEYS,
  policy: true,
});

/** Arguments of {@link parallel} after the first: further steps, or the options. */
export type ParallelArgs<F, T, P extends ParallelPolicy<keyof F>> = [F] extends [SomeStep]
  ? T
  : [options?: ParallelOptions<keyof F, P>];

/** Output of the member `K` under a policy: its output, or a result that says whether it failed. */
export type MemberOutput<O, P, K = never> = [P] extends ['strict']
  ? O
  : P extends { readonly critical: readonly (infer C)[] }
    ? K extends C
      ? O
      : MemberResult<O>
    : MemberResult<O>;

/** The return type of {@link parallel}. */
export type ParallelOf<F, T extends readonly SomeStep[], P> = [F] extends [SomeStep]
  ? Pipeline<InputOfTuple<[F, ...T]>, OutputsOfTuple<[F, ...T]>, Exit<F | T[number]>>
  : Pipeline<
      InputOfAll<F>,
      { -readonly [K in keyof F]: MemberOutput<Output<F[K]>, P, K> },
      Exit<F[keyof F]>
    >;

/** Outputs of the members of a tuple. */
export type OutputsOfTuple<T extends readonly SomeStep[]> = {
  -readonly [K in keyof T]: Output<T[K]>;
};

/**
 * Runs steps side by side: every member gets the same input, and the group gives the outputs under
 * the members' names, `parallel({ total, peak }, options)`, or as a tuple, `parallel(total, peak)`.
 *
 * The group ends when all members have ended. Its `policy` decides whether it finishes: `strict`
 * (default: all must finish), `bestEffort` (always finishes), `{ atLeast: n }`,
 * `{ critical: […] }`, or a {@link groupPolicy}. Under the lenient policies outputs are `MemberResult`s.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, parallel, task } from 'fairloom';
 *
 * const half = task('half', async (n: number) => n / 2);
 * const double = task('double', async (n: number) => n * 2);
 * const loom = new Fairloom({ backend: memory(), tasks: [half, double] });
 * console.log(await loom.run(parallel({ half, double }), 8)); // prints { double: 16, half: 4 }
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when a member is not a step, or an option is invalid.
 */
export function parallel<
  const F extends SomeStep | Members,
  const T extends readonly SomeStep[],
  const P extends ParallelPolicy<keyof F> = 'strict',
>(first: F, ...rest: ParallelArgs<F, T, P>): ParallelOf<F, T, P>;
export function parallel(...given: readonly unknown[]): Pipeline<never, unknown, unknown> {
  const [first, second] = given;
  const definition =
    first instanceof StepDefinition
      ? tupleOf(given)
      : recordOf(first, second === undefined ? {} : second);
  return typed(definition);
}

/**
 * Runs a step for each element of an array that is known during the run, and gives the outputs in
 * the order of the elements: `each(resize, { concurrency: 50 })`. It has the policies of `parallel`
 * except `critical`. An empty array gives an empty array.
 *
 * @example
 * ```ts
 * import { each, Fairloom, memory, task } from 'fairloom';
 *
 * const double = task('double', async (n: number) => n * 2);
 * const loom = new Fairloom({ backend: memory(), tasks: [double] });
 * console.log(await loom.run(each(double), [1, 2, 3])); // prints [ 2, 4, 6 ]
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the first argument is not a step, or an option is
 * invalid.
 */
export function each<I, O, X, const P extends EachPolicy = 'strict'>(
  step: Step<I, O, X>,
  options?: EachOptions<P>,
): Pipeline<readonly I[], MemberOutput<O, P>[], X>;
export function each(first: unknown, options: unknown = {}): Pipeline<never, unknown, unknown> {
  const step = demandStep('each(): the step', first);
  const { name, ...spec } = groupSpec(`each(${step.name})`, options, EACH_KEYS);
  return typed(new PipelineDefinition(Object.freeze({ kind: 'each', step, ...spec }), name));
}

/** A tuple of steps, also for the notation. */
export function tupleOf(steps: readonly unknown[]): PipelineDefinition {
  const members = steps.map(
    (step, at) => [String(at), demandStep(`parallel(): member ${at}`, step)] as const,
  );
  const { group, policy } = groupSpec('parallel()', {}, PARALLEL_KEYS);
  return new PipelineDefinition(
    Object.freeze({ kind: 'parallel', shape: 'tuple', members, group, policy }),
  );
}

function recordOf(record: unknown, options: unknown): PipelineDefinition {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new InvalidOptionError('parallel()', 'steps, or an object of steps', record);
  }
  // Sorted, so that the graph does not depend on the order in which members are written.
  const members = Object.entries(record)
    .map(([key, step]) => [key, demandStep(`parallel(): member ${key}`, step)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const keys = members.map(([key]) => key);
  const { name, ...spec } = groupSpec('parallel()', options, PARALLEL_KEYS, keys);
  const shape = Object.freeze({ kind: 'parallel', shape: 'record', members, ...spec } as const);
  return new PipelineDefinition(shape, name);
}

/** Adds the caller's types to a definition. */
function typed<S extends AnyStep>(definition: PipelineDefinition): S {
  return definition as unknown as S;
}
