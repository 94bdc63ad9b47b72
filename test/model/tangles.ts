/** Items of few users that wait for each other by ids which others take, lose, and take again. */
import fc from 'fast-check';
import { UNKNOWN } from './items.ts';
import type { DependencyStep, ItemStep, Step } from './steps.ts';

const pick = fc.nat({ max: 12 });

function often<T>(arbitrary: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: 10 - weight, arbitrary: fc.constant(undefined) },
    { weight, arbitrary },
  );
}

const dependency: fc.Arbitrary<DependencyStep> = fc.record({
  of: fc.constantFrom('known', 'live', 'ended', 'batch', 'batch', 'unknown', 'unknown'),
  pick,
});

/** What it has in place of the same of an ordinary item. */
const tangle = fc.record({
  user: fc.constantFrom('ann', 'ann', 'ann', 'a:b'),
  name: fc.constant('mail'),
  dependsOn: fc.array(dependency, { maxLength: 3 }),
  onMissing: fc.constantFrom('block', 'block', 'block', 'satisfied', 'refuse'),
  again: often(pick, 3),
  late: often(fc.nat({ max: UNKNOWN - 1 }), 4),
  owner: often(fc.record({ of: fc.constantFrom('live', 'live', 'ended'), pick }), 2),
} as const);

/** Beside all other steps: as many calls of such items, and what ends and revives them. */
export function tangles(item: fc.Arbitrary<ItemStep>): readonly fc.WeightedArbitrary<Step>[] {
  const tangled = fc.tuple(item, tangle).map(([some, own]): ItemStep => ({ ...some, ...own }));
  return [
    {
      weight: 30,
      arbitrary: fc.record({
        type: fc.constant('enqueue'),
        items: fc.array(tangled, { minLength: 1, maxLength: 4 }),
        atomic: fc.boolean(),
      } as const),
    },
    {
      weight: 10,
      arbitrary: fc.record({
        type: fc.constant('redrive'),
        among: fc.constant('failed'),
        pick,
      } as const),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        type: fc.constant('remove'),
        among: fc.constantFrom('finished', 'failed', 'canceled'),
        pick,
      } as const),
    },
  ];
}
