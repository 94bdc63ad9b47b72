/** Histories for the short path: mostly plain steps, with runs, delays and rare exceptions between. */
import fc from 'fast-check';
import { keysOf } from '../../src/backends/redis/keys.ts';
import type { Leased, LeaseRef, LeaseRequest, Settlement } from '../../src/domain/backend.ts';
import type { Level, NewTask } from '../../src/domain/task.ts';
import { adminOf } from './faults-kit.ts';
import type { Twins } from './twins.ts';

export const START = Date.UTC(2026, 0, 5, 12);
const LEASE_MS = 15_000;
const USERS = ['ada', 'bob', 'cleo', 'd:ora', 'é'];

const RETRIED = { type: 'attempts', failure: 'error', made: 1, of: 2 } as const;

/** What is unusual about the first settlement of a call. */
type Odd = 'no' | 'retried' | 'foreign token' | 'twice';

export type Step =
  | { readonly do: 'enqueue'; readonly tasks: readonly Drawn[]; readonly atomic: boolean }
  | { readonly do: 'lease'; readonly limit: number; readonly wait: boolean }
  | { readonly do: 'settle'; readonly count: number; readonly limit: number; readonly odd: Odd }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'members'; readonly tasks: readonly Drawn[]; readonly later: After }
  | { readonly do: 'end the run' }
  | { readonly do: 'await'; readonly nth: number }
  | { readonly do: 'cancel'; readonly nth: number }
  | { readonly do: 'value'; readonly nth: number }
  | { readonly do: 'user'; readonly user: number; readonly weight: number; readonly most: number }
  | { readonly do: 'queue'; readonly setting: Setting };

/** What holds for the queue; only a cap leaves the short path. */
type Setting = 'weights' | 'terms' | 'cap' | 'plain';

/** What waits for members: nothing, a join of all, or a task after the first. */
type After = 'nothing' | 'join' | 'task';

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
  delayed: mostly(12, false, true),
});

export const step: fc.Arbitrary<Step> = fc.oneof(
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
      do: fc.constant('members' as const),
      tasks: fc.array(drawn, { minLength: 1, maxLength: 5 }),
      later: mostly<After>(4, 'join', 'nothing', 'task'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'end the run' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('lease' as const),
      limit: fc.integer({ min: 1, max: 6 }),
      wait: fc.boolean(),
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
  { weight: 1, arbitrary: fc.record({ do: fc.constant('value' as const), nth: fc.nat(40) }) },
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
      setting: fc.constantFrom<Setting>('weights', 'terms', 'cap', 'plain', 'plain'),
    }),
  },
);

/** One history: what it has stored and holds. */
export class History {
  readonly #twins: Twins;
  readonly #redis = adminOf();
  readonly #ids: string[] = [];
  readonly #held: Leased[] = [];
  #now = START;
  #requests = 0;
  /** The run that members belong to, while this worker holds it. */
  #run: LeaseRef = { id: 'nobody', token: '1-x' };
  #runs = 0;
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
        return this.#lease(one.limit, one.wait);
      case 'settle':
        return this.#settle(one.count, one.limit, one.odd);
      case 'members':
        return this.#members(one.tasks, one.later);
      case 'end the run':
        return this.#endRun();
      case 'wait':
        this.#now += one.ms;
        return this.#twins.setTime(this.#now);
      case 'await':
        return this.#await(this.#ids[one.nth]);
      case 'cancel': {
        // Half of them one that is held: what it comes to then is settled as a cancel.
        const held = one.nth % 2 === 0 ? this.#held[0]?.id : undefined;
        const id = held ?? this.#ids[one.nth] ?? 'nobody';
        await this.#twins.both((backend) =>
          backend.tasks.cancel(id, { type: 'request', reason: 'why not' }),
        );
        return;
      }
      case 'value':
        return this.#value(one.nth);
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

  /** A run of the first user, at the head of its line, is leased at once. */
  async #begin(): Promise<void> {
    this.#runs += 1;
    const id = `run${this.#runs}`;
    const task = newTask(id, { ...plain(0), level: 6 });
    this.steps.enqueue += 1;
    await this.#twins.both((backend) => backend.tasks.enqueue([task], { atomic: true }));
    for (let left = USERS.length; left > 0 && this.#run.id !== id; left -= 1) {
      this.steps.lease += 1;
      const request = this.#request(1);
      const { leases } = await this.#twins.both((backend) => backend.tasks.lease(request));
      const [leased] = leases;
      if (leased?.id === id) this.#run = { id, token: leased.token };
      else this.#held.push(...leases);
    }
  }

  async #endRun(): Promise<void> {
    if (this.#runs === 0) return;
    this.steps.settle += 1;
    const decision = { type: 'finish', result: '0' } as const;
    const request = { worker: 'w', settlements: [{ ...this.#run, decision }] };
    await this.#twins.both((backend) => backend.tasks.settle(request));
    await this.#begin();
  }

  /** Stored by the run; what waits for them comes in a call of its own. */
  async #members(drawn: readonly Drawn[], later: After): Promise<void> {
    if (this.#runs === 0) await this.#begin();
    this.steps.enqueue += later === 'nothing' ? 1 : 2;
    const owner = this.#run.id;
    const made = drawn.map((task): NewTask => {
      const id = `m${this.#ids.length}`;
      this.#ids.push(id);
      return { ...newTask(id, task), owner };
    });
    const terms = { atomic: false, fence: this.#run } as const;
    await this.#twins.both((backend) => backend.tasks.enqueue(made, terms));
    if (later === 'nothing') return;
    const ids = made.map(({ id }) => id);
    const base = newTask(`after${this.#ids.length}`, drawn[0] ?? plain(0));
    this.#ids.push(base.id);
    const edges = { ...base.edges, allowCrossUser: true, onMissing: 'satisfied' } as const;
    const after: NewTask =
      later === 'join'
        ? { ...base, edges, dependsOn: ids, join: true }
        : { ...base, edges, dependsOn: ids.slice(0, 1) };
    await this.#twins.both((backend) => backend.tasks.enqueue([after], terms));
  }

  async #lease(limit: number, wait: boolean): Promise<void> {
    this.steps.lease += 1;
    const request = this.#request(limit, wait);
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

  /** Of a second: what a lease brings along takes it away. */
  async #value(nth: number): Promise<void> {
    const place = { user: 'ada', namespace: 'default', key: `k${nth}` };
    const write = { type: 'push', place, text: '1', ttlMs: 1_000 } as const;
    await this.#twins.both((backend) => backend.xcom.write([write]));
  }

  async #queue(setting: Setting): Promise<void> {
    const weights = [1, 1, 1, 1, 9] as const;
    const patch = {
      priorityWeights: setting === 'weights' ? weights : null,
      maxRunning: setting === 'cap' ? 4 : null,
      ...(setting === 'terms'
        ? { leaseMs: 20_000, retries: 2, timeoutMs: 0 }
        : { leaseMs: null, retries: null, timeoutMs: null }),
      perUser: setting === 'weights' ? { weight: 200, maxRunning: 3 } : null,
    };
    await this.#twins.both((backend) => backend.queues.set('default', patch));
  }

  #request(limit: number, wait = false): LeaseRequest {
    this.#requests += 1;
    return {
      requestId: `request${this.#requests}`,
      worker: 'w',
      limit,
      leaseMs: LEASE_MS,
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
      wait,
    };
  }
}

export function plain(user: number): Drawn {
  return { user, level: 3, cost: 1, bytes: 2, delayed: false };
}

export function newTask(id: string, { user, level, cost, bytes, delayed }: Drawn): NewTask {
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
      const decision = { type: 'retry', delayMs: 0, cause: RETRIED, error: '{}' } as const;
      return [{ ...first, decision }, ...others];
    }
    case 'foreign token':
      return [{ ...first, token: `${first.token.slice(0, -1)}#` }, ...others];
    case 'twice':
      return [first, first, ...others];
  }
}
