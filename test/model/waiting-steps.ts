/** Tasks of few users that wait for what is no task, and what ends their waits. */
import fc from 'fast-check';
import type { AnswerStep, DecisionStep, ItemStep, Step, WaitStep } from './steps.ts';

const pick = fc.nat({ max: 12 });
const worker = fc.constantFrom(0, 0, 0, 0, 1);

/** Beyond the end of any history: the server's clock ends them, which no test moves. */
const KEEP_MS = 1e12;

const name = fc.constantFrom('go', 'go', 'go', 'go', 'go', 'stop');
const key = fc.constantFrom('k', 'k', 'k', 'k', 'k', '5:é');
const payload = fc.constantFrom('1', '"é"', '{"a":[ ]}');

function seldom<T>(arbitrary: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: 10 - weight, arbitrary: fc.constant(undefined) },
    { weight, arbitrary },
  );
}

/** What a task waits for that is no task. */
export const wait: fc.Arbitrary<WaitStep> = fc.record({
  for: fc.constantFrom('time', 'own', 'own', 'both', 'event', 'event', 'ask', 'ask'),
  name,
  entry: fc.constantFrom('a', 'a', 'é'),
  key,
  withinMs: seldom(fc.constantFrom(0, 1_000, 60_000), 4),
  names: fc.constantFrom([], ['role:x'], ['role:x', 'a:b']),
} as const);

/** Events of these users, which may start tasks. */
export function publishing(
  users: readonly string[],
  item: fc.Arbitrary<ItemStep>,
): fc.Arbitrary<Step> {
  return fc.record({
    type: fc.constant('publish'),
    user: fc.constantFrom(...users),
    event: fc.record({
      name,
      key,
      payload,
      eventId: fc.oneof(
        { weight: 1, arbitrary: fc.constantFrom('x', '__proto__') },
        { weight: 2, arbitrary: fc.nat({ max: 999 }).map(String) },
      ),
      keepMs: fc.constant(KEEP_MS),
    }),
    starts: seldom(
      fc.record({
        item: item.map((usual) => ({
          ...usual,
          dependsOn: [],
          join: undefined,
          owner: undefined,
        })),
        knows: fc.constantFrom('all', 'all', 'all', 'none', 'old'),
        without: fc.constantFrom(0, 0, 1),
      } as const),
      8,
    ),
  } as const);
}

/** What ends waits; `users`: whose events are published. */
export function wakers(
  users: readonly string[],
  weight: number,
  item: fc.Arbitrary<ItemStep>,
): readonly fc.WeightedArbitrary<Step>[] {
  return [
    {
      weight,
      arbitrary: fc.record({
        type: fc.constant('signal'),
        among: fc.constantFrom('deferred', 'deferred', 'started', 'queued', 'any', 'nobody'),
        pick,
        signal: fc.record({
          name,
          payload,
          signalId: seldom(fc.constantFrom('x', 'y', '__proto__'), 3),
        }),
      } as const),
    },
    { weight, arbitrary: publishing(users, item) },
    {
      weight,
      arbitrary: fc.record({
        type: fc.constant('answerAsk'),
        of: fc.constantFrom<AnswerStep['of'][]>('open', 'open', 'open', 'closed', 'nobody'),
        pick,
        choice: fc.constantFrom('yes', 'yes', 'yes', 'no', 'maybe'),
        by: fc.constantFrom('ann', 'ann', 'é'),
        call: fc.nat({ max: 1 }),
      } as const),
    },
  ];
}

const suspension: fc.Arbitrary<DecisionStep> = fc.record({
  type: fc.constant('suspend'),
  waitFor: fc.constant([]),
  wakeOn: fc.constant('all'),
  wakeAfterMs: seldom(fc.constantFrom(0, 1, 1_000, 5_000), 4),
  attended: fc.constantFrom(true, undefined),
  wait,
} as const);

/** Beside all other steps: as many tasks that begin to wait, and what they wait for. */
export function waitingSteps(item: fc.Arbitrary<ItemStep>): readonly fc.WeightedArbitrary<Step>[] {
  const own = {
    user: fc.constantFrom('ann', 'ann', 'a:b'),
    queue: fc.constant('default'),
    name: fc.constant('mail'),
    dependsOn: fc.constant([]),
  } as const;
  const plain = fc.tuple(item, fc.record(own)).map(([some, rest]): ItemStep => {
    const { delayMs: _delay, executeInMs: _at, key: _key, join: _join, ...kept } = some;
    return { ...kept, ...rest };
  });
  const lease = fc.record({ worker, limit: fc.constantFrom(3, 8), leaseMs: fc.constant(20_000) });
  return [
    {
      weight: 30,
      arbitrary: fc.record({
        type: fc.constant('enqueue'),
        items: fc.array(plain, { minLength: 1, maxLength: 4 }),
        atomic: fc.constant(false),
      } as const),
    },
    {
      weight: 30,
      arbitrary: lease.map((some): Step => ({ type: 'lease', ...some })),
    },
    {
      weight: 60,
      arbitrary: fc.record({
        type: fc.constant('settle'),
        worker,
        settlements: fc.array(
          fc.record({ of: fc.constant('held'), pick, decision: suspension } as const),
          { minLength: 1, maxLength: 4 },
        ),
        lease: seldom(lease, 5),
      } as const),
    },
    ...wakers(['ann', 'ann', 'ann', 'a:b'], 20, plain),
    {
      weight: 2,
      arbitrary: fc.record({
        type: fc.constant('crowd'),
        cancels: fc.boolean(),
      } as const),
    },
  ];
}
