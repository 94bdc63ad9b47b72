/** Random steps of schedules and of two schedulers that fire them. */
import fc from 'fast-check';
import type { ItemStep, Step } from './steps.ts';
import { publishing } from './waiting-steps.ts';

/** Mostly the same, so that something happens to it. */
const schedule = fc.constantFrom(0, 0, 0, 0, 1, 2);
const owner = fc.nat({ max: 1 });
const SELDOM = [true, ...Array<false>(9).fill(false)];
const jitterMs = fc.constantFrom(0, 0, 0, 700);

const set: fc.Arbitrary<Step> = fc.record({
  type: fc.constant('setSchedule'),
  schedule,
  spec: fc.constantFrom('1', '{"é":2}'),
  overlap: fc.constantFrom('skip', 'allow', 'queue-one', 'cancel-previous'),
  limit: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(1, 2) },
  ),
  graph: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.nat({ max: 2 }) },
  ),
  paused: fc.constantFrom(...SELDOM),
  next: fc.constantFrom('new', 'new', 'new', 'new', 'kept', 'kept', 'none'),
  // Mostly with some slots to catch up on; rarely so late that no scheduler comes to it.
  inMs: fc.constantFrom(-60_000, -60_000, -60_000, -5_000, 0, 0, 1, 1_000, 5_000, 86_400_000),
  jitterMs,
  revision: fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1),
  on: fc.constantFrom(undefined, undefined, 'ann', 'ann', 'a:b'),
} as const);

/** A task of a schedule stands alone. */
function fire(item: fc.Arbitrary<ItemStep>): fc.Arbitrary<Step> {
  return fc.record({
    type: fc.constant('fire'),
    asks: fc.constantFrom('now', 'when due', 'when due', 'not', 'not'),
    owner,
    pick: fc.nat({ max: 3 }),
    firings: fc.constantFrom(0, 1, 1, 1, 1, 2, 3),
    passed: fc.constantFrom(0, 0, 0, 1, 40),
    periodMs: fc.constantFrom(1, 1_000, 1_000, 60_000),
    jitterMs,
    ends: fc.constantFrom(...SELDOM),
    catchUp: fc.constantFrom(...SELDOM),
    item: item.map((usual) => ({ ...usual, dependsOn: [], join: undefined, owner: undefined })),
  } as const);
}

/** How often each comes beside the other steps, `often` times as much as usual. */
export function scheduleSteps(
  item: fc.Arbitrary<ItemStep>,
  often: number,
): readonly fc.WeightedArbitrary<Step>[] {
  const named = (type: 'removeSchedule' | 'getSchedule'): fc.Arbitrary<Step> =>
    fc.record({ type: fc.constant(type), schedule });
  const due = fc.record({
    type: fc.constant('dueSchedules'),
    owner,
    limit: fc.constantFrom(1, 2, 10),
  } as const);
  const again = fc.record({ type: fc.constant('resendFire') } as const);
  const leave = fc.record({ type: fc.constant('leaveSchedules'), owner } as const);
  const usual: readonly fc.WeightedArbitrary<Step>[] = [
    { weight: 4, arbitrary: set },
    { weight: 1, arbitrary: named('removeSchedule') },
    { weight: 1, arbitrary: named('getSchedule') },
    { weight: 4, arbitrary: due },
    { weight: 6, arbitrary: fire(item) },
    { weight: 5, arbitrary: publishing(['ann', 'ann', 'a:b'], item) },
    { weight: 1, arbitrary: again },
    { weight: 1, arbitrary: leave },
  ];
  return usual.map(({ weight, arbitrary }) => ({ weight: weight * often, arbitrary }));
}
