/** Groups: steps side by side on one input, and one step for each element of an array. */
import { InvalidOptionError } from '../domain/errors.ts';
import { type GroupOptions, groupSpec } from './group-options.ts';
import type { LenientPolicy, MemberResult } from './group-policy.ts';
import { demandStep, PipelineDefinition, StepDefinition } from './pipeline-definition.ts';
import type { AnyStep, Exit, Input, Output, Pipeline, Step } from './step.ts';

/** Steps by the names that their outputs get. */
export type Members = Readonly<Record<string, AnyStep>>;

/** What every member of a record takes. */
export type InputOfAll<R> = {
  [K in keyof R]: (input: Input<R[K]>) => void;
}[keyof R] extends (input: infer I) => void
  ? I
  : never;

/** What every member of a tuple takes. */
export type InputOfTuple<T extends readonly AnyStep[]> = {
  [K in keyof T]: (input: Input<T[K]>) => void;
}[number] extends (input: infer I) => void
  ? I
  : never;

/** Options under which every member must finish. */
export type StrictOptions = GroupOptions & { readonly policy?: 'strict' | undefined };

/** Options under which the outputs say which members failed. */
export type LenientOptions = GroupOptions & { readonly policy: LenientPolicy };

/** Options under which the members named must finish. */
export type CriticalOptions<C> = GroupOptions & {
  readonly policy: { readonly critical: readonly C[] };
};

/**
 * Steps side by side: every member gets the same input, and the group gives the outputs under the
 * members' names, `parallel({ total, peak })`, or as a tuple, `parallel(total, peak)`.
 *
 * It ends once all members have ended; whether it finished is for its `policy` to say: `strict`
 * (default: all must finish), `bestEffort` (it always does), `{ atLeast: n }`, `{ critical: […] }`,
 * or a {@link groupPolicy}. Under the lenient ones outputs are `MemberResult`s.
 *
 * @throws {@link InvalidOptionError} when a member is no step, or an option is not what it should
 * be.
 */
export function parallel<const T extends readonly [AnyStep, ...AnyStep[]]>(
  ...members: T
): Pipeline<InputOfTuple<T>, { -readonly [K in keyof T]: Output<T[K]> }, Exit<T[number]>>;
/** Members of which some may fail. */
export function parallel<R extends Members>(
  members: R,
  options: LenientOptions,
): Pipeline<
  InputOfAll<R>,
  { -readonly [K in keyof R]: MemberResult<Output<R[K]>> },
  Exit<R[keyof R]>
>;
/** Members of which those named must finish. */
export function parallel<R extends Members, const C extends keyof R>(
  members: R,
  options: CriticalOptions<C>,
): Pipeline<
  InputOfAll<R>,
  { -readonly [K in keyof R]: K extends C ? Output<R[K]> : MemberResult<Output<R[K]>> },
  Exit<R[keyof R]>
>;
/** Members that must all finish. */
export function parallel<R extends Members>(
  members: R,
  options?: StrictOptions,
): Pipeline<InputOfAll<R>, { -readonly [K in keyof R]: Output<R[K]> }, Exit<R[keyof R]>>;
export function parallel(...given: readonly unknown[]): Pipeline<never, unknown, unknown> {
  const [first, second] = given;
  const definition =
    first instanceof StepDefinition ? tupleOf(given) : recordOf(first, second ?? {});
  return typed(definition);
}

/**
 * Runs a step once for each element of an array that is known at run time, and gives the outputs in
 * the order of the elements: `each(resize, { concurrency: 50 })`. Policies as for `parallel`,
 * but for `critical`. An empty array gives an empty array.
 *
 * @throws {@link InvalidOptionError} when the first argument is no step, or an option is not what
 * it should be.
 */
export function each<I, O, X>(
  step: Step<I, O, X>,
  options: LenientOptions,
): Pipeline<readonly I[], MemberResult<O>[], X>;
/** Every element must finish. */
export function each<I, O, X>(
  step: Step<I, O, X>,
  options?: StrictOptions,
): Pipeline<readonly I[], O[], X>;
export function each(first: unknown, options: unknown = {}): Pipeline<never, unknown, unknown> {
  const step = demandStep('each(): the step', first);
  const { name, ...spec } = groupSpec(`each(${step.name})`, options);
  return typed(new PipelineDefinition(Object.freeze({ kind: 'each', step, ...spec }), name));
}

/** A tuple of steps, also for the notation. */
export function tupleOf(steps: readonly unknown[]): PipelineDefinition {
  const members = steps.map(
    (step, at) => [String(at), demandStep(`parallel(): member ${at}`, step)] as const,
  );
  const { group, policy } = groupSpec('parallel()', {});
  return new PipelineDefinition(
    Object.freeze({ kind: 'parallel', shape: 'tuple', members, group, policy }),
  );
}

function recordOf(record: unknown, options: unknown): PipelineDefinition {
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    throw new InvalidOptionError('parallel()', 'steps, or an object of steps', record);
  }
  // Sorted, so that the order in which they were written is no part of the graph.
  const members = Object.entries(record)
    .map(([key, step]) => [key, demandStep(`parallel(): member ${key}`, step)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const keys = members.map(([key]) => key);
  const { name, ...spec } = groupSpec('parallel()', options, keys);
  const shape = Object.freeze({ kind: 'parallel', shape: 'record', members, ...spec } as const);
  return new PipelineDefinition(shape, name);
}

/** Puts the caller's types on a definition. */
function typed<S extends AnyStep>(definition: PipelineDefinition): S {
  return definition as unknown as S;
}
