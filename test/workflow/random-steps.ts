/** Random workflows, with what must come before what in each, said without the code under test. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { type Flow, flow, type Ref } from '../../src/workflow/flow.ts';
import { parallel } from '../../src/workflow/parallel.ts';
import type { AnyStep, Step } from '../../src/workflow/step.ts';
import { step } from './kit.ts';

type Any = Step<unknown, unknown>;

/** How a workflow is put together. */
export type Recipe =
  | { readonly kind: 'leaf' }
  | { readonly kind: 'sequence'; readonly parts: readonly Recipe[]; readonly isNamed: boolean }
  | {
      readonly kind: 'group';
      readonly parts: readonly Recipe[];
      readonly shape: GroupShape;
      readonly policy: Policy;
    }
  | { readonly kind: 'flow'; readonly steps: readonly FlowPart[] };

type GroupShape = 'record' | 'tuple' | 'named';

/** `atLeast` half of the members; `critical` is the first one. Tuples are strict, so others are records. */
type Policy = 'strict' | 'bestEffort' | 'atLeast' | 'critical';

/** A step of a flow, and which of those before it it reads or only waits for. */
interface FlowPart {
  readonly part: Recipe;
  readonly reads: readonly number[];
  readonly after: readonly number[];
}

/** A workflow and its truth. */
export interface Sample {
  readonly step: Any;
  readonly tasks: readonly string[];
  /** `a<b` for every a that must end before b may start. */
  readonly order: ReadonlySet<string>;
  /** What the workflow gives when a task gives {@link workOf} its name and input. */
  readonly run: (input: unknown) => unknown;
  /** What it comes to when these tasks fail, and which tasks are run for that. */
  readonly end: (input: unknown, failing: ReadonlySet<string>) => Fate;
}

/** How a workflow ends. A member that was lost is `{ ok: false }`, with any error. */
export interface Fate {
  readonly isGood: boolean;
  /** Of no meaning when it is not good. */
  readonly value: unknown;
  readonly ran: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/** The output of a task: short, and another for every input. */
export function workOf(name: string, input: unknown): string {
  const text = canonicalJson(input ?? null);
  return `${name}:${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
}

/** Series and parallel parts, as deep as four. */
export const seriesParallel: fc.Arbitrary<Recipe> = recipes([sequenceOf, groupOf], 4);

/** The same, and flows with any edges between their parts. */
export const anyRecipe: fc.Arbitrary<Recipe> = recipes([flowOf, sequenceOf, groupOf], 3);

/** The same, with groups of every policy. */
export const anyPolicy: fc.Arbitrary<Recipe> = recipes([flowOf, sequenceOf, lenientOf], 3);

/** Whole workflows are more than a leaf, so that few of a thousand say nothing. */
function recipes(
  kinds: readonly ((part: fc.Arbitrary<Recipe>) => fc.Arbitrary<Recipe>)[],
  maxDepth: number,
): fc.Arbitrary<Recipe> {
  const { whole } = fc.letrec<{ part: Recipe; whole: Recipe }>((tie) => ({
    part: fc.oneof(
      { maxDepth, withCrossShrink: true },
      { weight: 1, arbitrary: leaf() },
      ...kinds.map((kind) => ({ weight: 1, arbitrary: kind(tie('part')) })),
    ),
    whole: fc.oneof(...kinds.map((kind) => kind(tie('part')))),
  }));
  return whole;
}

function leaf(): fc.Arbitrary<Recipe> {
  return fc.constant({ kind: 'leaf' });
}

function sequenceOf(part: fc.Arbitrary<Recipe>): fc.Arbitrary<Recipe> {
  return fc.record({
    kind: fc.constant('sequence' as const),
    parts: fc.array(part, { minLength: 1, maxLength: 4, size: 'max' }),
    isNamed: fc.boolean(),
  });
}

function groupOf(part: fc.Arbitrary<Recipe>): fc.Arbitrary<Recipe> {
  return groupsOf(part, fc.constant('strict'));
}

function lenientOf(part: fc.Arbitrary<Recipe>): fc.Arbitrary<Recipe> {
  return groupsOf(part, fc.constantFrom<Policy>('strict', 'bestEffort', 'atLeast', 'critical'));
}

function groupsOf(part: fc.Arbitrary<Recipe>, policy: fc.Arbitrary<Policy>): fc.Arbitrary<Recipe> {
  return fc.record({
    kind: fc.constant('group' as const),
    parts: fc.array(part, { minLength: 1, maxLength: 4, size: 'max' }),
    shape: fc.constantFrom<GroupShape>('record', 'tuple', 'named'),
    policy,
  });
}

function flowOf(part: fc.Arbitrary<Recipe>): fc.Arbitrary<Recipe> {
  const earlier = fc.array(fc.nat(), { maxLength: 3 });
  const steps = fc.array(fc.record({ part, reads: earlier, after: earlier }), {
    minLength: 1,
    maxLength: 5,
    size: 'max',
  });
  return steps.map((given) => ({
    kind: 'flow',
    steps: given.map(({ part: one, reads, after }, at) => ({
      part: one,
      reads: at === 0 ? [] : reads.map((n) => n % at),
      after: at === 0 ? [] : after.map((n) => n % at),
    })),
  }));
}

/** Builds a recipe. With `turned`, what has no order of its own is written in another one. */
export function build(recipe: Recipe, turned = false): Sample {
  const names = { next: 0 };
  return buildPart(recipe, { names, turned });
}

/** A sample whose `run` is its end when nothing fails. */
function whole(made: Any, truth: Pick<Sample, 'tasks' | 'order'>, end: Sample['end']): Sample {
  return { step: made, ...truth, end, run: (input) => end(input, NONE).value };
}

interface Building {
  readonly names: { next: number };
  readonly turned: boolean;
}

function buildPart(recipe: Recipe, building: Building): Sample {
  const id = `${recipe.kind[0]}${building.names.next++}`;
  switch (recipe.kind) {
    case 'leaf':
      return whole(step(id), { tasks: [id], order: new Set() }, (input, failing) => ({
        isGood: !failing.has(id),
        value: workOf(id, input),
        ran: [id],
      }));
    case 'sequence':
      return sequence(id, recipe, building);
    case 'group':
      return group(id, recipe, building);
    case 'flow':
      return dag(id, recipe, building);
  }
}

function sequence(
  id: string,
  { parts, isNamed }: Recipe & { kind: 'sequence' },
  building: Building,
): Sample {
  const built = parts.map((part) => buildPart(part, building));
  const steps = built.map((part) => part.step);
  // Turned: put together from the right, which must make no difference.
  const made = building.turned
    ? steps.reduceRight((later, one) => one.pipe(later))
    : steps.reduce((earlier, one) => earlier.pipe(one));
  const isPipeline = isNamed && parts.length > 1;
  const edges = built.map((_, at) => (at === 0 ? [] : [at - 1]));
  const named = isPipeline ? (made as Step<unknown, unknown> & Named).as(id) : made;
  return whole(named, ordered(built, edges), (input, failing) => {
    const ran: string[] = [];
    let value = input;
    for (const part of built) {
      const fate = part.end(value, failing);
      ran.push(...fate.ran);
      if (!fate.isGood) return { isGood: false, value: undefined, ran };
      value = fate.value;
    }
    return { isGood: true, value, ran };
  });
}

interface Named {
  as(name: string): Any;
}

function group(
  id: string,
  { parts, shape: asked, policy }: Recipe & { kind: 'group' },
  building: Building,
): Sample {
  const shape = policy !== 'strict' && asked === 'tuple' ? 'record' : asked;
  const built = parts.map((part) => buildPart(part, building));
  const steps = built.map((part) => part.step) as unknown as [AnyStep, ...AnyStep[]];
  const entries = steps.map((one, at) => [`m${at}`, one] as const);
  const members = Object.fromEntries(building.turned ? entries.toReversed() : entries);
  const options = { ...(shape === 'named' ? { name: id } : {}), ...policyOf(policy, parts.length) };
  const made =
    shape === 'tuple' ? parallel(...steps) : parallel(members, options as { name: string });
  const edges = built.map(() => []);
  return whole(made as unknown as Any, ordered(built, edges), (input, failing) => {
    const fates = built.map((part) => part.end(input, failing));
    const outputs = fates.map((fate, at) => outputOf(fate, policy, at));
    const named = Object.fromEntries(outputs.map((output, at) => [`m${at}`, output]));
    return {
      isGood: isGood(fates, policy),
      value: shape === 'tuple' ? outputs : named,
      ran: fates.flatMap(({ ran }) => ran),
    };
  });
}

function policyOf(policy: Policy, members: number): object {
  switch (policy) {
    case 'strict':
      return {};
    case 'bestEffort':
      return { policy };
    case 'atLeast':
      return { policy: { atLeast: Math.ceil(members / 2) } };
    case 'critical':
      return { policy: { critical: ['m0'] } };
  }
}

function isGood(fates: readonly Fate[], policy: Policy): boolean {
  const good = fates.filter((fate) => fate.isGood).length;
  if (policy === 'strict') return good === fates.length;
  if (policy === 'bestEffort') return true;
  if (policy === 'atLeast') return good >= Math.ceil(fates.length / 2);
  return fates[0]?.isGood === true;
}

function outputOf(fate: Fate, policy: Policy, at: number): unknown {
  if (policy === 'strict' || (policy === 'critical' && at === 0)) return fate.value;
  return fate.isGood ? { ok: true, value: fate.value } : { ok: false };
}

function dag(id: string, { steps }: Recipe & { kind: 'flow' }, building: Building): Sample {
  const built = steps.map(({ part }) => buildPart(part, building));
  const edges = steps.map(({ reads, after }) => [...reads, ...after]);
  const made = flow(id, (f: Flow<unknown>) => {
    const refs = new Map<number, Ref<unknown>>();
    const ref = (at: number): Ref<unknown> => refs.get(at) ?? f.input;
    for (const at of building.turned ? otherOrder(edges) : steps.keys()) {
      const { reads, after } = steps[at] ?? { reads: [], after: [] };
      const inputs = reads.map((n) => [`r${n}`, ref(n)] as const);
      const wire = Object.fromEntries(building.turned ? inputs.toReversed() : inputs);
      const waits = building.turned ? after.toReversed() : after;
      const one = built[at]?.step ?? step('none');
      refs.set(at, f.step(one, wire, { after: waits.map(ref) }));
    }
    return ref(steps.length - 1);
  });
  return whole(made, ordered(built, edges), (_, failing) => {
    const fates: (Fate | undefined)[] = [];
    for (const [at, { reads }] of steps.entries()) {
      const isBlocked = (edges[at] ?? []).some((one) => fates[one]?.isGood !== true);
      const input = Object.fromEntries(reads.map((n) => [`r${n}`, fates[n]?.value]));
      fates.push(isBlocked ? undefined : built[at]?.end(input, failing));
    }
    return {
      isGood: fates.every((fate) => fate?.isGood === true),
      value: fates.at(-1)?.value,
      ran: fates.flatMap((fate) => fate?.ran ?? []),
    };
  });
}

/** The steps of a flow, the last that is possible first. */
function otherOrder(edges: readonly (readonly number[])[]): readonly number[] {
  const order: number[] = [];
  while (order.length < edges.length) {
    const next = edges.findLastIndex(
      (waits, at) => !order.includes(at) && waits.every((one) => order.includes(one)),
    );
    order.push(next);
  }
  return order;
}

/** Everything in a part comes before everything in a part that follows it, however far. */
function ordered(
  parts: readonly Sample[],
  edges: readonly (readonly number[])[],
): Pick<Sample, 'tasks' | 'order'> {
  const before = parts.map(() => new Set<number>());
  const order = new Set(parts.flatMap((part) => [...part.order]));
  for (const [at, waits] of edges.entries()) {
    for (const one of waits) {
      before[at]?.add(one);
      for (const earlier of before[one] ?? []) before[at]?.add(earlier);
    }
    for (const one of before[at] ?? []) {
      for (const from of parts[one]?.tasks ?? []) {
        for (const to of parts[at]?.tasks ?? []) order.add(`${from}<${to}`);
      }
    }
  }
  return { tasks: parts.flatMap((part) => part.tasks), order };
}
