/** Random histories, weighted so that most of them get somewhere. */
import fc from 'fast-check';
import type { ChannelWrite } from '../../src/domain/task/channel.ts';
import type { KeySpec, Level } from '../../src/domain/task/task.ts';
import { UNKNOWN } from './items.ts';
import { pauses, pausingSteps } from './pausing-steps.ts';
import { scheduleSteps } from './schedule-steps.ts';
import {
  type Among,
  type AwaitedStep,
  type ChannelStep,
  type DecisionStep,
  type DependencyStep,
  type HolderStep,
  type ItemStep,
  type LeaseStep,
  NAMES,
  type OwnerStep,
  QUEUES,
  type SettlementStep,
  type Step,
  USERS,
} from './steps.ts';
import { tangles } from './tangles.ts';
import { wait, waitingSteps, wakers } from './waiting-steps.ts';
import { valueWrites } from './xcom-steps.ts';

const pick = fc.nat({ max: 40 });
const worker = fc.nat({ max: 3 });
const queue = fc.oneof(
  { weight: 4, arbitrary: fc.constant(QUEUES[0] ?? '') },
  { weight: 1, arbitrary: fc.constantFrom(...QUEUES) },
);
/** Few values, so that two histories meet at the same moments. */
const delay = fc.constantFrom(-5, 0, 1, 100, 1_000, 1_000, 5_000, 86_400_000);
const leaseMs = fc.constantFrom(100, 1_000, 15_000, 15_000, 60_000);

function rarely<T>(arbitrary: fc.Arbitrary<T>, freq = 6): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq });
}

const dependency: fc.Arbitrary<DependencyStep> = fc.record({
  of: fc.constantFrom('known', 'live', 'live', 'ended', 'batch', 'batch', 'unknown', 'unknown'),
  pick,
});

/** Mostly none; `freq` of `fc.option` counts the other way round, hence the weights. */
const dependencies = fc.oneof(
  { weight: 5, arbitrary: fc.constant<readonly DependencyStep[]>([]) },
  { weight: 3, arbitrary: fc.array(dependency, { minLength: 1, maxLength: 3 }) },
);

const ofLeased = fc.record(
  {
    key: fc.constantFrom('k', 'l'),
    policy: fc.constantFrom('return', 'reject', 'replace-queued', 'run-once-more'),
    ttlMs: fc.constantFrom(1_000, 60_000),
  } as const,
  { requiredKeys: ['key', 'policy'] },
);

const debounced = fc.record(
  {
    key: fc.constant('d'),
    policy: fc.constant('debounce'),
    waitMs: fc.constantFrom(500, 5_000),
    maxWaitMs: fc.constantFrom(1, 2_000, 8_000),
  } as const,
  { requiredKeys: ['key', 'policy', 'waitMs'] },
);

const throttled = fc.record({
  key: fc.constant('t'),
  policy: fc.constant('throttle'),
  perMs: fc.constantFrom(1_000, 20_000),
  trailing: fc.boolean(),
} as const);

/** Kinds of keys have names of their own, as the client gives them. */
const key: fc.Arbitrary<KeySpec> = fc.oneof(
  { weight: 3, arbitrary: ofLeased },
  { weight: 1, arbitrary: debounced },
  { weight: 1, arbitrary: throttled },
);

const level = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Level>(3) },
  { weight: 3, arbitrary: fc.constantFrom<Level>(1, 2, 3, 4, 5, 6) },
);

function seldom<T>(arbitrary: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: 10 - weight, arbitrary: fc.constant(undefined) },
    { weight, arbitrary },
  );
}

const owner: fc.Arbitrary<OwnerStep> = fc.record({
  of: fc.constantFrom('live', 'live', 'live', 'live', 'ended', 'unknown'),
  pick,
});

const graph = fc.nat({ max: 2 });

const awaited: fc.Arbitrary<AwaitedStep> = fc.record({
  of: fc.constantFrom('member', 'member', 'live', 'live', 'ended', 'dependency', 'unknown'),
  pick,
});

const item: fc.Arbitrary<ItemStep> = fc.record({
  user: fc.constantFrom(...USERS),
  queue,
  name: fc.oneof(
    { weight: 6, arbitrary: fc.constant(NAMES[0] ?? '') },
    { weight: 2, arbitrary: fc.constantFrom(...NAMES) },
  ),
  level,
  cost: fc.oneof(
    { weight: 5, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constantFrom(0.5, 3, 10) },
  ),
  payload: fc.constantFrom('{}', '1', '"é"'),
  salt: fc.nat({ max: 999 }),
  delayMs: seldom(delay, 2),
  executeInMs: seldom(fc.constantFrom(-1_000, 0, 1, 5_000), 1),
  expiresInMs: seldom(fc.constantFrom(1, 1_000, 20_000), 2),
  dependsOn: dependencies,
  onFailure: fc.constantFrom('wait', 'cancel', 'fail', 'run'),
  onCancel: fc.constantFrom('wait', 'cancel', 'fail', 'run'),
  onMissing: fc.constantFrom('refuse', 'satisfied', 'block'),
  allowCrossUser: fc.oneof(
    { weight: 3, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  key: seldom(key, 2),
  again: seldom(pick, 1),
  late: seldom(fc.nat({ max: UNKNOWN - 1 }), 2),
  join: seldom(fc.constant<true>(true), 2),
  owner: seldom(owner, 2),
  graph: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: graph },
  ),
} as const);

const holder = fc.constantFrom<HolderStep['of']>('held', 'held', 'held', 'held', 'stale', 'forged');

const decision: fc.Arbitrary<DecisionStep> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('finish') } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('retry'),
      delayMs: fc.constantFrom(0, 1, 1_000, 5_000),
    } as const),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('dead-letter') } as const) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('cancel') } as const) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('release'),
      delayMs: fc.constantFrom(undefined, undefined, 100, 5_000),
    } as const),
  },
);

const suspension: fc.Arbitrary<DecisionStep> = fc.record({
  type: fc.constant('suspend'),
  waitFor: fc.array(awaited, { minLength: 1, maxLength: 4 }),
  wakeOn: fc.constantFrom('all', 'failure'),
  wakeAfterMs: seldom(fc.constantFrom(0, 1, 1_000, 5_000), 4),
  attended: fc.constantFrom(true, undefined),
  wait: seldom(wait, 2),
} as const);

const field = fc.constantFrom('c:a', 'c:a', 'c:a', 'c:é', 'd:__proto__');
const once = fc.constantFrom({}, {}, { once: 'k' }, { once: 'k' }, { once: 'l' });

const write: fc.Arbitrary<ChannelWrite> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('set'),
      field,
      text: fc.constantFrom('1', '-2.5', '"é"', '[]', '[1,"x"]', 'null', '1.7e+308'),
    } as const),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('delete'), field } as const) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('append', 'add'), field, once, fc.nat({ max: 4 }))
      .map(([type, to, how, at]): ChannelWrite => {
        if (type === 'add') return { type, field: to, by: SUMMANDS[at] ?? 0, ...how };
        return { type: 'append', field: to, text: ELEMENTS[at] ?? '0', ...how };
      }),
  },
);

const SUMMANDS = [1, -1, 0.1, 1.7e308, 2 ** 53];
const ELEMENTS = ['1', '"é",{}', '[]', 'null', '"]"'];

const channel: fc.Arbitrary<ChannelStep> = fc.record({
  of: fc.constantFrom('self', 'self', 'self', 'owner', 'owner', 'known', 'unknown'),
  pick,
  writes: fc.array(write, { minLength: 1, maxLength: 4 }),
} as const);

const settlement: fc.Arbitrary<SettlementStep> = fc.record({
  of: fc.constantFrom('held', 'held', 'held', 'held', 'held', 'held', 'stale', 'forged'),
  pick,
  decision: fc.oneof({ weight: 8, arbitrary: decision }, { weight: 3, arbitrary: suspension }),
  channel: seldom(channel, 3),
  values: seldom(valueWrites, 3),
} as const);

const lease: fc.Arbitrary<LeaseStep> = fc.record({
  worker,
  limit: fc.constantFrom(1, 1, 2, 3, 10, 40),
  leaseMs,
});

const among = <T extends Among>(most: T): fc.Arbitrary<Among> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.constant<Among>(most) },
    { weight: 2, arbitrary: fc.constant<Among>('any') },
    { weight: 1, arbitrary: fc.constant<Among>('nobody') },
  );

const weight = fc.constantFrom(100, 300, 700, 33, 1, 100_000);
const rate = fc.constantFrom(
  { limit: 1, perMs: 1_000, burst: 1 },
  { limit: 3, perMs: 1_000, burst: 2 },
  { limit: 1, perMs: 60_000, burst: 1 },
);

const userPatch = fc.oneof(
  { weight: 3, arbitrary: fc.record({ weight: fc.option(weight) }) },
  { weight: 2, arbitrary: fc.record({ maxRunning: fc.option(fc.constantFrom(1, 2)) }) },
  { weight: 1, arbitrary: fc.record({ maxQueued: fc.option(fc.constantFrom(1, 3)) }) },
  { weight: 2, arbitrary: fc.record({ rate: fc.option(rate) }) },
  { weight: 2, arbitrary: fc.record({ paused: fc.constantFrom(true, false, null) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      weight,
      maxRunning: fc.constantFrom(1, 2, null),
      rate: fc.option(rate),
    }),
  },
);

const queuePatch = fc.oneof(
  fc.record({ paused: fc.constantFrom(true, false, null) }),
  fc.record({ maxRunning: fc.option(fc.constantFrom(1, 3)) }),
  fc.record({ rate: fc.option(rate) }),
  fc.record({ priorityWeights: fc.option(fc.constantFrom([1, 1, 1, 1, 1], [3, 1, 7, 2, 1_024])) }),
  fc.record({ charge: fc.constantFrom('time' as const, 'task' as const, null) }),
  fc.record({ criticalBurst: fc.option(fc.constantFrom(1, 2)) }),
  fc.record({ leaseMs: fc.option(fc.constantFrom(500, 20_000)) }),
  fc.record({ retries: fc.option(fc.constant(5)), timeoutMs: fc.option(fc.constant(0)) }),
  fc.record({
    perUser: fc.option(fc.constantFrom({ weight: 300 }, { maxRunning: 1 }, { maxQueued: 4 }, {})),
  }),
);

const control = {
  cancel: fc.oneof(among('queued'), among('started'), among('deferred')),
  remove: fc.oneof(among('finished'), among('failed'), among('canceled')),
  runNow: fc.oneof(among('scheduled'), among('deferred'), among('deferred')),
};

function picks(
  type: 'cancel' | 'remove' | 'runNow',
): fc.Arbitrary<Extract<Step, { readonly type: typeof type }>> {
  return fc.record({ type: fc.constant(type), among: control[type], pick });
}

const advance = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(1, 10, 999, 1_000, 5_000) },
  { weight: 3, arbitrary: fc.constantFrom(8_000, 8_001, 14_999, 15_000, 60_000) },
  { weight: 1, arbitrary: fc.constantFrom(3_600_000, 86_400_000, 604_800_000, 2_592_000_000) },
  // The life of a snapshot.
  { weight: 1, arbitrary: fc.constantFrom(86_399_999, 86_400_000) },
  { weight: 1, arbitrary: fc.constantFrom(-1, -4_000, -5_000, -5_001, -60_000) },
);

/** Random steps of all kinds but those of schedules. */
const steps: readonly fc.WeightedArbitrary<Step>[] = [
  {
    weight: 22,
    arbitrary: fc.record({
      type: fc.constant('enqueue'),
      items: fc.array(item, { minLength: 1, maxLength: 4 }),
      atomic: fc.boolean(),
      fence: seldom(fc.record({ of: holder, pick, worker }), 2),
    } as const),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('checkpoint'),
      worker,
      of: holder,
      pick,
      entries: fc.dictionary(
        fc.constantFrom('a', 'b:é', '__proto__'),
        fc.constantFrom('1', '{"é":[]}', null),
        { minKeys: 1, noNullPrototype: true },
      ),
      channel: seldom(
        fc
          .tuple(channel, fc.constantFrom('n:a', 'n:a', 'n:b'))
          .map(([rest, key]) => ({ ...rest, key })),
        5,
      ),
      values: seldom(valueWrites, 2),
    } as const),
  },
  { weight: 5, arbitrary: fc.record({ type: fc.constant('resendCheckpoint') } as const) },
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('writeChannel'),
      worker,
      of: holder,
      pick,
      channel,
    } as const),
  },
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('writeValues'), writes: valueWrites } as const),
  },
  {
    weight: 8,
    arbitrary: fc.record({ type: fc.constantFrom('saveGraph', 'loadGraph'), graph } as const),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('resendEnqueue'), pick } as const) },
  { weight: 18, arbitrary: lease.map((rest) => ({ type: 'lease', ...rest }) as const) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('resendLease'), worker } as const) },
  {
    weight: 18,
    arbitrary: fc.record({
      type: fc.constant('settle'),
      worker,
      settlements: fc.array(settlement, { minLength: 1, maxLength: 5 }),
      lease: rarely(lease, 2),
    } as const),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('resendSettle') } as const) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('extend'),
      worker,
      leaseMs,
      stale: fc.nat({ max: 1 }),
      omit: fc.nat({ max: 1 }),
    } as const),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constant('tick') } as const) },
  { weight: 6, arbitrary: picks('cancel') },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('redrive'),
      among: among('failed'),
      pick,
      edited: rarely(
        fc.record({ payload: fc.constantFrom('"é"', '{"n":2}'), options: fc.constant('{"e":1}') }),
        3,
      ),
    } as const),
  },
  ...pauses(1),
  { weight: 3, arbitrary: picks('remove') },
  { weight: 5, arbitrary: picks('runNow') },
  ...wakers(USERS, 4, item),
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('setUser'),
      user: fc.constantFrom(...USERS),
      queue: fc.option(queue, { nil: undefined }),
      patch: userPatch,
    } as const),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('setQueue'), queue, patch: queuePatch } as const),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('register'),
      worker,
      spec: fc.nat({ max: 40 }),
      starts: fc.boolean(),
    } as const),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('unregister'), worker } as const) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('lose'), worker } as const) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('reconcile'), repair: fc.boolean() } as const),
  },
  {
    weight: 8,
    arbitrary: advance.map((ms) => ({ type: 'advance', ms }) as const),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('advanceTo'),
      offset: fc.constantFrom(-1, 0, 0, 1),
    } as const),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('flush') } as const) },
];

/**
 * Most histories have schedules among other things; in some, more happens to these than to all else,
 * in some to tasks that wait for each other, in
 * some to those that wait for what is no task, and in some to runs that are paused.
 */
const ordinary = fc.oneof(...steps, ...scheduleSteps(item, 1));
const scheduled = fc.oneof(...steps, ...scheduleSteps(item, 12));
const tangled = fc.oneof(...steps, ...tangles(item));
const waiting = fc.oneof(...steps, ...waitingSteps(item));
const pausing = fc.oneof(...steps, ...pausingSteps(item));

/** A history of at most so many steps. */
export function historyOf(maxLength: number): fc.Arbitrary<readonly Step[]> {
  const lengths = { minLength: 1, maxLength, size: 'max' } as const;
  return fc.oneof(
    { weight: 4, arbitrary: fc.array(ordinary, lengths) },
    { weight: 1, arbitrary: fc.array(scheduled, lengths) },
    { weight: 1, arbitrary: fc.array(tangled, lengths) },
    { weight: 1, arbitrary: fc.array(waiting, lengths) },
    { weight: 1, arbitrary: fc.array(pausing, lengths) },
  );
}
