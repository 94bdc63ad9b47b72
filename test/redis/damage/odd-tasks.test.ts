/** Long random histories of tasks that are not as most are, in large calls: each answer is that of memory. */
import { describe, expect, inject, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import type { Clock } from '../../../src/base/time.ts';
import type { Backend, Decision, Leased } from '../../../src/domain/port/backend.ts';
import type { NewTask } from '../../../src/domain/task/task.ts';
import { freshPrefix, RETENTION } from '../faults/kit.ts';

const START = Date.UTC(2026, 0, 5, 12);
const CAUSE = { type: 'attempts', failure: 'error', made: 1, of: 4 } as const;
const EDGES: NewTask['edges'] = {
  onFailure: 'run',
  onCancel: 'cancel',
  onMissing: 'satisfied',
  allowCrossUser: true,
};
/** By what users differ; most have no settings. */
const SETTINGS = [
  { maxRunning: 2 },
  { maxRunning: 9 },
  { rate: { limit: 20, perMs: 1_000, burst: 3 } },
  { rate: { limit: 1_000, perMs: 1_000, burst: 90 }, weight: 300 },
  { weight: 250 },
] as const;
const USERS = 16;
const LEVELS = [1, 2, 3, 3, 4, 5, 6] as const;

/** Both backends at one moment, and a row of numbers that is the same in each run. */
class Pair {
  readonly backends: readonly Backend[];
  readonly setTime: (ms: number) => Promise<void>;
  readonly close: () => Promise<void>;
  now = START;
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
    const clock: Clock = {
      now: () => this.now,
      setTimer: () => ({ cancel: () => undefined }),
    };
    const own = memory({ clock });
    const manual = redisForTests(inject('redisPlace'), { prefix: freshPrefix() });
    this.backends = [manual.backend, own];
    this.setTime = (ms) => manual.setTime(ms);
    this.close = async () => {
      await own.close();
      await manual.dispose();
    };
  }

  async advance(ms: number): Promise<void> {
    this.now += ms;
    await this.setTime(this.now);
  }

  /** What both answer. */
  async both<T>(call: (backend: Backend) => Promise<T>): Promise<T> {
    const answers: T[] = [];
    for (const backend of this.backends) answers.push(await call(backend));
    const [first, second] = answers;
    expect(first).toEqual(second);
    if (first === undefined) throw new Error('there is no backend');
    return first;
  }

  /** A whole number below. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * limit);
  }

  chance(share: number): boolean {
    return this.below(1_000) < 1_000 * share;
  }

  pick<T>(of: readonly T[]): T | undefined {
    return of[this.below(of.length)];
  }
}

class History {
  readonly #pair: Pair;
  readonly #ids: string[] = [];
  #leased: readonly Leased[] = [];
  #calls = 0;

  constructor(pair: Pair) {
    this.#pair = pair;
  }

  async begin(): Promise<void> {
    const pair = this.#pair;
    await pair.advance(0);
    await pair.both((backend) => backend.open({ retention: RETENTION }).then(() => true));
    const spec = { id: 'w', queues: ['default'], names: ['job'], concurrency: 90, host: 'h' };
    await pair.both((backend) => backend.workers.register(spec).then(() => true));
    for (const [at, settings] of SETTINGS.entries()) {
      await pair.both((backend) =>
        backend.users.set(`u${at}`, settings, { queue: 'default' }).then(() => true),
      );
    }
  }

  async step(): Promise<void> {
    const pair = this.#pair;
    const what = pair.below(10);
    if (what < 3) return this.#enqueue();
    if (what < 8) return this.#work();
    if (what < 9) {
      const id = pair.pick(this.#ids);
      if (id !== undefined && pair.chance(0.3)) {
        await pair.both((backend) => backend.tasks.cancel(id, { type: 'request' }));
      }
      return pair.advance(pair.below(400));
    }
    await pair.both(async (backend) => {
      // When anything is due next, Redis may tell earlier.
      const { more, schedulesDue, now } = await backend.tasks.tick();
      return { more, schedulesDue, now };
    });
  }

  async #enqueue(): Promise<void> {
    const tasks = Array.from({ length: 1 + this.#pair.below(40) }, () => this.#task());
    this.#ids.push(...tasks.map(({ id }) => id));
    await this.#pair.both((backend) => backend.tasks.enqueue(tasks, { atomic: false }));
  }

  #task(): NewTask {
    const pair = this.#pair;
    const user = pair.below(USERS);
    const recent = this.#ids.slice(-60);
    const isJoin = pair.chance(0.05);
    const waits = isJoin ? 20 : pair.chance(0.2) ? 2 : 0;
    const found = Array.from({ length: waits }, () => pair.pick(recent) ?? '');
    const dependsOn = [...new Set(found.filter((id) => id !== ''))];
    return {
      id: `t${this.#ids.length}-${pair.below(1e9)}`,
      name: 'job',
      queue: 'default',
      user: `u${user}`,
      level: (user > 11 && pair.pick(LEVELS)) || 3,
      cost: pair.chance(0.03) ? 2 : 1,
      payload: pair.chance(0.05) ? JSON.stringify('x'.repeat(2_000)) : '{}',
      options: '',
      dependsOn,
      edges: EDGES,
      ...(pair.chance(0.25) ? { delayMs: pair.below(500) } : {}),
      ...(pair.chance(0.05) ? { expiresInMs: 1_000 + pair.below(500) } : {}),
      ...(isJoin && dependsOn.length > 0 ? { join: true } : {}),
    };
  }

  #decision(): Decision {
    const pair = this.#pair;
    const word = pair.below(12);
    const error = '{"name":"Error","message":"no"}';
    if (word < 3) return { type: 'retry', delayMs: 0, cause: CAUSE, error };
    if (word < 4) return { type: 'retry', delayMs: pair.below(300), cause: CAUSE, error };
    if (word < 5) return { type: 'dead-letter', cause: CAUSE, error };
    if (word < 6) return { type: 'release', cause: { type: 'shutdown' } };
    return { type: 'finish', result: '1' };
  }

  async #work(): Promise<void> {
    const pair = this.#pair;
    const kept = this.#leased.filter(() => pair.chance(0.2));
    const isUsual = pair.chance(0.5);
    const settlements = this.#leased
      .filter((one) => !kept.includes(one))
      .map(({ id, token }) => {
        const decision = isUsual ? ({ type: 'finish', result: '1' } as const) : this.#decision();
        return { id, token, decision };
      });
    const lease = {
      requestId: `request${String(this.#calls).padStart(6, '0')}`,
      worker: 'w',
      limit: pair.pick([1, 7, 40, 90]) ?? 1,
      leaseMs: 60_000,
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
      wait: false,
    };
    this.#calls++;
    const { leases } = await pair.both(async (backend) => {
      const reply = await backend.tasks.settle({ worker: 'w', settlements, lease });
      // Memory tells what a task costs, too.
      const leases = (reply.lease?.leases ?? []).map((one) => ({ ...one, cost: 1 }));
      return { answers: reply.answers, leases };
    });
    this.#leased = [...kept, ...leases];
  }

  /** Everything that is kept of tasks, users and queue, and that nothing drifts. */
  async look(): Promise<void> {
    const pair = this.#pair;
    const ids = this.#ids.slice(-300);
    await pair.both((backend) => backend.inspect.get(ids));
    await pair.both(async (backend) => {
      const { items } = await backend.users.list('default', { limit: 50 });
      // A tag that virtual time has passed is worth nothing: one forgets it, the other does not.
      return items.map((user) => ({ ...user, ahead: Math.round(Math.max(0, user.ahead) * 1e6) }));
    });
    for (const id of ids.slice(-3)) {
      await pair.both((backend) => backend.inspect.dependents(id, { limit: 50 }));
    }
    const [redis] = pair.backends;
    expect((await redis?.inspect.reconcile({ repair: false }))?.drift).toEqual([]);
  }
}

describe('tasks that are not as most are, many at once', () => {
  it.each([1, 2, 3, 4, 5, 6])('are told and dealt as by memory, row %i', async (seed) => {
    const pair = new Pair(seed);
    try {
      const history = new History(pair);
      await history.begin();
      for (let at = 0; at < 120; at++) {
        await history.step();
        if (at % 20 === 19) await history.look();
      }
    } finally {
      await pair.close();
    }
  });
});
