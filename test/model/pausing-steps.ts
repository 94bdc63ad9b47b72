/** Runs that are paused and go on while they have members. */
import fc from 'fast-check';
import type { Among, AwaitedStep, DecisionStep, ItemStep, Step } from './steps.ts';

const pick = fc.nat({ max: 12 });
const worker = fc.constantFrom(0, 0, 0, 1);
const usual: fc.Arbitrary<Among> = fc.constantFrom(
  'queued',
  'started',
  'deferred',
  'any',
  'nobody',
);

/** How often each comes beside other steps, `often` times as much as usual. */
export function pauses(often: number): readonly fc.WeightedArbitrary<Step>[] {
  return [
    {
      weight: 3 * often,
      arbitrary: fc.record({
        type: fc.constant('pauseRun'),
        among: fc.oneof(fc.constant<'owner'>('owner'), usual),
        pick,
        reason: fc.constantFrom(undefined, undefined, 'é'),
      } as const),
    },
    {
      weight: often,
      arbitrary: fc.record({
        type: fc.constant('pausePart'),
        among: usual,
        pick,
        run: pick,
      } as const),
    },
    {
      weight: 2 * often,
      arbitrary: fc.record({
        type: fc.constant('resumeRun'),
        among: fc.constantFrom<(Among | 'paused')[]>('paused', 'paused', 'paused', 'failed', 'any'),
        pick,
      } as const),
    },
  ];
}

/** A run waits for its members, or for none that is left, and decides what follows. */
const deciding: fc.Arbitrary<DecisionStep> = fc.record({
  type: fc.constant('suspend'),
  waitFor: fc.array(
    fc.record({ of: fc.constantFrom<AwaitedStep['of'][]>('member', 'member', 'unknown'), pick }),
    { minLength: 1, maxLength: 2 },
  ),
  wakeOn: fc.constantFrom('all', 'failure'),
  wakeAfterMs: fc.constantFrom(undefined, undefined, 1_000),
  decides: fc.constant(true),
} as const);

/** Beside all other steps: as many tasks that are members of those that run, and ends of runs. */
export function pausingSteps(item: fc.Arbitrary<ItemStep>): readonly fc.WeightedArbitrary<Step>[] {
  const member = fc.tuple(item, fc.constantFrom('live', 'live', 'live', undefined), pick).map(
    ([some, of, place]): ItemStep => ({
      ...some,
      ...{ user: 'ann', queue: 'default', name: 'mail', dependsOn: [], key: undefined },
      ...{ delayMs: undefined, executeInMs: undefined, join: undefined },
      owner: of === undefined ? undefined : { of, pick: place },
    }),
  );
  const lease = fc.record({ worker, limit: fc.constantFrom(1, 3), leaseMs: fc.constant(20_000) });
  return [
    {
      weight: 40,
      arbitrary: fc.record({
        type: fc.constant('enqueue'),
        items: fc.array(member, { minLength: 1, maxLength: 4 }),
        atomic: fc.constant(false),
      } as const),
    },
    { weight: 40, arbitrary: lease.map((some): Step => ({ type: 'lease', ...some })) },
    {
      weight: 20,
      arbitrary: fc.record({
        type: fc.constant('checkpoint'),
        worker,
        of: fc.constant('held'),
        pick,
        entries: fc.constant({ a: '1' }),
      } as const),
    },
    {
      weight: 20,
      arbitrary: fc.record({
        type: fc.constant('settle'),
        worker,
        settlements: fc.array(
          fc.record({ of: fc.constant('held'), pick, decision: deciding } as const),
          { minLength: 1, maxLength: 2 },
        ),
        lease: fc.constant(undefined),
      } as const),
    },
    {
      weight: 10,
      arbitrary: fc.record({
        type: fc.constantFrom('cancel', 'remove'),
        among: fc.constantFrom<Among[]>('deferred', 'queued', 'canceled', 'any'),
        pick,
      } as const),
    },
    ...pauses(15),
  ];
}
