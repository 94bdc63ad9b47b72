/**
 * The short path of enqueue, lease and settle restates the long one for plain tasks. Here the same
 * history runs on both: answers and all that is stored must be the same after every step.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keysOf } from '../../src/backends/redis/keys.ts';
import type { Leased, LeaseRequest, Settlement } from '../../src/domain/backend.ts';
import type { Level, NewTask } from '../../src/domain/task.ts';
import { adminOf } from './faults-kit.ts';
import { Twins } from './twins.ts';

const START = Date.UTC(2026, 0, 5, 12);
const LEASE_MS = 15_000;
const USERS = ['ada', 'bob', 'cleo', 'd:ora', 'é'];

/** What is unusual about the first settlement of a call. */
type Odd = 'no' | 'retried' | 'foreign token' | 'twice';

type Step =
  | { readonly do: 'enqueue'; readonly tasks: readonly Drawn[]; readonly atomic: boolean }
  | { readonly do: 'lease'; readonly limit: number }
  | { readonly do: 'settle'; readonly count: number; readonly limit: number; readonly odd: Odd }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'await'; readonly nth: number }
  | { readonly do: 'cancel'; readonly nth: number }
  | { readonly do: 'user'; readonly user: number; readonly weight: number; readonly most: number }
  | { readonly do: 'queue'; readonly setting: 'weights' | 'cap' | 'plain' };

interface Drawn {
  readonly user: number;
  readonly level: Level;
  readonly cost: number;
  readonly bytes: number;
  readonly delayed: boolean;
}

/** Mostly `common`; a plain history with rare exceptions takes both paths in turn. */
function mostly<T>(weight: number, common: T, ...rare: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(common) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  user: fc.nat(USERS.length - 1),
  level: mostly<Level>(30, 3, 1, 5, 6),
  cost: fc.constantFrom(1, 1, 1, 2.5),
  bytes: fc.constantFrom(2, 60, 120, 160, 900),
  delayed: mostly(30, false, true),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('enqueue' as const),
      tasks: fc.array(drawn, { minLength: 1, maxLength: 6 }),
      atomic: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('lease' as const),
      limit: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      count: fc.integer({ min: 0, max: 5 }),
      limit: fc.integer({ min: 0, max: 5 }),
      odd: mostly<Odd>(8, 'no', 'retried', 'foreign token', 'twice'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, 40, 1_100, 1_100, 6_000, 16_000),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('await' as const), nth: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), nth: fc.nat(40) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('user' as const),
      user: fc.nat(USERS.length - 1),
      weight: fc.constantFrom(100, 300, 700, 50),
      most: fc.constantFrom(0, 2),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('queue' as const),
      setting: fc.constantFrom(
        'weights' as const,
        'cap' as const,
        'plain' as const,
        'plain' as const,
      ),
    }),
  },
);

/** One history: what it has stored and holds. */
class History {
  readonly #twins: Twins;
  readonly #redis = adminOf();
  readonly #ids: string[] = [];
  readonly #held: Leased[] = [];
  #now = START;
  #requests = 0;
  readonly steps = { enqueue: 0, lease: 0, settle: 0 };

  constructor(twins: Twins) {
    this.#twins = twins;
  }

  async run(steps: readonly Step[]): Promise<void> {
    await this.#twins.both((backend) =>
      backend.workers.register({
        id: 'w',
        queues: ['default'],
        names: ['mail'],
        concurrency: 10,
        host: 'here',
      }),
    );
    // Users that have a record already: the first task of each takes the long path.
    await this.#enqueue(
      USERS.flatMap((_, user) => [plain(user), plain(user)]),
      true,
    );
    for (const one of steps) {
      await this.#step(one);
      await this.#twins.mustBeSame();
    }
  }

  async #step(one: Step): Promise<void> {
    switch (one.do) {
      case 'enqueue':
        return this.#enqueue(one.tasks, one.atomic);
      case 'lease':
        return this.#lease(one.limit);
      case 'settle':
        return this.#settle(one.count, one.limit, one.odd);
      case 'wait':
        this.#now += one.ms;
        return this.#twins.setTime(this.#now);
      case 'await':
        return this.#await(this.#ids[one.nth]);
      case 'cancel': {
        // Half of them one that is held: what it comes to then is settled as a cancel.
        const held = one.nth % 2 === 0 ? this.#held[0]?.id : undefined;
        const id = held ?? this.#ids[one.nth] ?? 'nobody';
        await this.#twins.both((backend) => backend.tasks.cancel(id, 'why not'));
        return;
      }
      case 'user': {
        const patch = { weight: one.weight, maxRunning: one.most === 0 ? null : one.most };
        const user = USERS[one.user] ?? '';
        await this.#twins.both((backend) => backend.users.set(user, patch, { queue: 'default' }));
        return;
      }
      case 'queue':
        return this.#queue(one.setting);
    }
  }

  async #enqueue(tasks: readonly Drawn[], atomic: boolean): Promise<void> {
    this.steps.enqueue += 1;
    const made = tasks.map((task): NewTask => {
      const id = `t${this.#ids.length}`;
      this.#ids.push(id);
      return newTask(id, task);
    });
    await this.#twins.both((backend) => backend.tasks.enqueue(made, { atomic }));
  }

  async #lease(limit: number): Promise<void> {
    this.steps.lease += 1;
    const request = this.#request(limit);
    const { leases } = await this.#twins.both((backend) => backend.tasks.lease(request));
    this.#held.push(...leases);
  }

  async #settle(count: number, limit: number, odd: Odd): Promise<void> {
    this.steps.settle += 1;
    const taken = this.#held.splice(0, count);
    const settlements = settlementsOf(taken, odd);
    const lease = limit === 0 ? undefined : this.#request(limit);
    const base = { worker: 'w', settlements };
    const request = lease === undefined ? base : { ...base, lease };
    const reply = await this.#twins.both((backend) => backend.tasks.settle(request));
    this.#held.push(...(reply.lease?.leases ?? []));
  }

  /** Somebody waits for the end of the task; what a client's wait writes. */
  async #await(id: string | undefined): Promise<void> {
    if (id === undefined) return;
    await this.#twins.both(async (_, prefix) => {
      const key = keysOf(prefix).task(id);
      if ((await this.#redis.exists(key)) === 1) await this.#redis.hset(key, 'w', 'one two');
    });
  }

  async #queue(setting: 'weights' | 'cap' | 'plain'): Promise<void> {
    const weights = [1, 1, 1, 1, 9] as const;
    const patch = {
      priorityWeights: setting === 'weights' ? weights : null,
      maxRunning: setting === 'cap' ? 4 : null,
      perUser: setting === 'weights' ? { weight: 200, maxRunning: 3 } : null,
    };
    await this.#twins.both((backend) => backend.queues.set('default', patch));
  }

  #request(limit: number): LeaseRequest {
    this.#requests += 1;
    return {
      requestId: `request${this.#requests}`,
      worker: 'w',
      limit,
      leaseMs: LEASE_MS,
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
      wait: false,
    };
  }
}

function plain(user: number): Drawn {
  return { user, level: 3, cost: 1, bytes: 2, delayed: false };
}

function newTask(id: string, { user, level, cost, bytes, delayed }: Drawn): NewTask {
  return {
    id,
    name: 'mail',
    queue: 'default',
    user: USERS[user] ?? '',
    level,
    cost,
    payload: JSON.stringify('x'.repeat(bytes)),
    options: '{}',
    dependsOn: [],
    edges: { onFailure: 'wait', onCancel: 'cancel', onMissing: 'refuse', allowCrossUser: false },
    ...(delayed ? { delayMs: 900 } : {}),
  };
}

function settlementsOf(taken: readonly Leased[], odd: Odd): readonly Settlement[] {
  const finished = taken.map(({ id, token }): Settlement => {
    return { id, token, decision: { type: 'finish', result: `{"of":"${id}"}` } };
  });
  const [first, ...others] = finished;
  if (first === undefined) return [];
  switch (odd) {
    case 'no':
      return finished;
    case 'retried': {
      const decision = { type: 'retry', delayMs: 0, reason: 'again', error: '{}' } as const;
      return [{ ...first, decision }, ...others];
    }
    case 'foreign token':
      return [{ ...first, token: `${first.token.slice(0, -1)}#` }, ...others];
    case 'twice':
      return [first, first, ...others];
  }
}

/** Hears what is published; the function says how often each message came since it was asked last. */
async function listen(...channels: readonly string[]): Promise<() => Promise<readonly number[]>> {
  const listener = adminOf();
  let heard: string[] = [];
  listener.on('message', (channel: string, message: string) => heard.push(`${channel} ${message}`));
  await listener.subscribe(...channels);
  return async () => {
    await listener.ping();
    const counts = new Map<string, number>();
    for (const message of heard) counts.set(message, (counts.get(message) ?? 0) + 1);
    heard = [];
    return [...counts.values()];
  };
}

it('does what the long path does, byte for byte', { timeout: 240_000 }, async () => {
  const admin = adminOf();
  const told = await listen('one', 'two');
  const all = { enqueue: 0, lease: 0, settle: 0 };
  const long = { enqueue: 0, lease: 0, settle: 0 };
  let histories = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      histories += 1;
      const name = `twins-${process.pid}-${histories}`;
      const twins = await Twins.open(admin, name, START);
      const history = new History(twins);
      try {
        await history.run(steps);
        // Each end is told by both.
        expect((await told()).filter((times) => times !== 2)).toEqual([]);
        const slow = await twins.longSteps(name);
        for (const verb of ['enqueue', 'lease', 'settle'] as const) {
          all[verb] += history.steps[verb];
          long[verb] += slow[verb];
        }
      } finally {
        await twins.close();
        await admin.del(`${name}-long-steps`);
      }
    }),
    { numRuns: 20 },
  );
  // The histories are no proof of anything unless they take the short path often.
  expect(all.enqueue - long.enqueue).toBeGreaterThan(50);
  expect(all.lease - long.lease).toBeGreaterThan(50);
  expect(all.settle - long.settle).toBeGreaterThan(50);
});

it('keeps the attempts of a task whose lease was lost before', async () => {
  const twins = await Twins.open(adminOf(), `twins-${process.pid}-lost`, START);
  try {
    const lease = (limit: number) => ({ do: 'lease', limit }) as const;
    const settle = (count: number) => ({ do: 'settle', count, limit: 0, odd: 'no' }) as const;
    // No pause is long enough to count as an outage, which would put the sweep off.
    const wait = [{ do: 'wait', ms: 6_000 } as const, settle(0)];
    // The leases that were lost are settled in vain, and then those that came after them.
    const each = Array.from({ length: 10 }, () => settle(1));
    const steps = [lease(2), ...wait, ...wait, ...wait, lease(10), settle(2), ...each];
    await new History(twins).run(steps);
    const attempts = await twins.both((backend) => backend.inspect.attempts('t0'));
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lost', 'succeeded']);
  } finally {
    await twins.close();
  }
});
