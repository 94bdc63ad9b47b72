/** What the settings of queues and users do: each test is named after the option whose effect it shows. */
import { task } from 'fairloom';
import { applySettings } from 'fairloom/config';
import type { TestLoom } from 'fairloom/testing';
import { describe, expect, it } from 'vitest';
import { coreOf } from '../../src/client/client.ts';
import { gate } from '../support/gate.ts';
import { load, loomOf } from './kit.ts';

const quick = task('quick', async (n: number) => n);
const WORKER = 'worker: { concurrency: 10 }';

/** How many tasks of a queue run at once when many could. */
async function running(settings: string): Promise<number> {
  const open = gate();
  const wait = task('wait', () => open.passed);
  const loom = await loomOf(`{ ${WORKER}, ${settings} }`, [wait]);
  await loom.enqueueMany(wait, Array(8).fill(undefined), { user: 'ann' });
  await loom.clock.advance(1);
  const { started } = (await loom.stats()).counts;
  open.open();
  await loom.drain();
  return started;
}

/** How many tasks have started after each of these moments. */
async function startedAfter(settings: string, ...lengths: readonly number[]): Promise<number[]> {
  const loom = await loomOf(`{ ${WORKER}, ${settings} }`, [quick]);
  await loom.enqueueMany(quick, Array(40).fill(0), { user: 'ann' });
  const counts: number[] = [];
  for (const ms of lengths) {
    await loom.clock.advance(ms);
    counts.push(loom.history.length);
  }
  return counts;
}

async function orderOf(loom: TestLoom): Promise<string> {
  await loom.drain();
  return loom
    .order()
    .map(([user]) => user[0])
    .join('');
}

async function twoUsers(settings: string): Promise<string> {
  const loom = await loomOf(settings, [quick]);
  for (const user of ['ann', 'bob']) await loom.enqueueMany(quick, Array(6).fill(0), { user });
  return (await orderOf(loom)).slice(0, 8);
}

describe('queues', () => {
  it('queues.*.maxRunning is how many tasks of it run at once', async () => {
    expect(await running('queues: { default: { maxRunning: 3 } }')).toBe(3);
  });

  it('queues.*.rate.limit is how many start in that time', async () => {
    const rate = (limit: number): string =>
      `queues: { default: { rate: { limit: ${limit}, per: 10s, burst: 1 } } }`;
    expect(await startedAfter(rate(1), 1, 10_000)).toEqual([1, 2]);
    expect(await startedAfter(rate(5), 1, 10_000)).toEqual([1, 6]);
  });

  it('queues.*.rate.per is that time', async () => {
    const rate = 'queues: { default: { rate: { limit: 1, per: 20s } } }';
    expect(await startedAfter(rate, 1, 10_000, 10_000)).toEqual([1, 1, 2]);
  });

  it('queues.*.rate.burst is how many start at once', async () => {
    const rate = 'queues: { default: { rate: { limit: 6, per: 60s, burst: 4 } } }';
    expect(await startedAfter(rate, 1, 10_000)).toEqual([4, 5]);
  });

  it('queues.*.charge time makes users share time instead of turns', async () => {
    const clock: { wait?: (ms: number) => Promise<void> } = {};
    const work = task('work', async (ms: number) => clock.wait?.(ms));
    const counts = async (charge: string): Promise<readonly number[]> => {
      const yaml = `{ worker: { concurrency: 1 }, queues: { default: { charge: ${charge} } } }`;
      const loom = await loomOf(yaml, [work]);
      clock.wait = (ms) =>
        new Promise((resolve) => {
          coreOf(loom).clock.setTimer(ms, resolve);
        });
      await loom.enqueueMany(work, Array(20).fill(9_000), { user: 'slow' });
      await loom.enqueueMany(work, Array(20).fill(3_000), { user: 'fast' });
      await loom.clock.advance('2m');
      const users = loom.order().map(([user]) => user);
      return ['slow', 'fast'].map((user) => users.filter((one) => one === user).length);
    };
    const [slow = 0, fast = 0] = await counts('time');
    expect(fast / slow).toBeGreaterThan(2);
    const [first = 0, second = 0] = await counts('task');
    expect(Math.abs(first - second)).toBeLessThanOrEqual(1);
  });

  it('queues.*.priorityWeights are the turns of the priorities', async () => {
    const weights = 'queues: { default: { priorityWeights: [1, 1, 1, 1, 1] } }';
    const loom = await loomOf(weights, [quick]);
    await loom.enqueueMany(quick, [3, 3, 3], { priority: 'normal' });
    await loom.enqueueMany(quick, [5, 5, 5], { priority: 'very-high' });
    await loom.drain();
    const inputs = loom.history.map(({ input }) => input);
    expect(inputs.slice(0, 4).filter((input) => input === 3).length).toBe(2);
  });

  it('queues.*.criticalBurst lets a normal turn pass after so many critical ones', async () => {
    const loom = await loomOf('queues: { default: { criticalBurst: 2 } }', [quick]);
    await loom.enqueueMany(quick, [3, 3], { priority: 'normal' });
    await loom.enqueueMany(quick, [6, 6, 6, 6], { priority: 'critical' });
    await loom.drain();
    expect(loom.history.map(({ input }) => input)).toEqual([6, 6, 3, 6, 6, 3]);
  });

  it('queues.*.retries is how often a failed task of it is tried again', async () => {
    const fails = task('fails', async () => {
      throw new Error('no');
    });
    const loom = await loomOf('{ defaults: { retries: 5 }, queues: { default: { retries: 1 } } }', [
      fails,
    ]);
    await loom.enqueue(fails);
    await loom.clock.advance('1d', { allowFailures: true });
    expect(loom.history.length).toBe(2);
  });

  it('queues.*.timeout ends an attempt that runs longer', async () => {
    const never = task('never', { retries: 0 }, (_: undefined, ctx) => {
      return new Promise<void>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
      });
    });
    const loom = await loomOf('queues: { default: { timeout: 30s } }', [never]);
    const { id } = await loom.enqueue(never);
    await loom.clock.advance('29s');
    expect((await loom.tasks.get(id))?.state).toBe('started');
    await loom.clock.advance('1s', { allowFailures: true });
    expect(await loom.tasks.get(id)).toMatchObject({ state: 'failed', failureType: 'timeout' });
  });

  it('queues.*.lease is how long its tasks stay with a worker that is silent', async () => {
    const leaseMsOf = async (settings: string): Promise<number> => {
      const open = gate();
      const wait = task('wait', () => open.passed);
      const loom = await loomOf(`{ worker: { lease: 20s }, ${settings} }`, [wait]);
      const { id } = await loom.enqueue(wait);
      await loom.clock.advance(1);
      const [record] = await coreOf(loom).connection.backend.inspect.get([id]);
      open.open();
      await loom.drain();
      return (record?.leaseUntil ?? 0) - (record?.leasedAt ?? 0);
    };
    expect(await leaseMsOf('queues: { default: { lease: 9s } }')).toBe(9_000);
    expect(await leaseMsOf('queues: { default: { lease: default } }')).toBe(20_000);
  });

  it('queues.*.perUser.weight is that of users without settings', async () => {
    const both = 'queues: { default: { perUser: { weight: 1 } } }, users: { ann: { weight: 3 } }';
    expect(await twoUsers(`{ ${both} }`)).toMatch(/^(?=(.*a){5})/);
    const loom = await loomOf('queues: { default: { perUser: { weight: 4 } } }', [quick]);
    await loom.enqueue(quick, 1, { user: 'ann' });
    expect((await loom.users.get('ann'))?.settings.weight).toBe(4);
  });

  it('queues.*.perUser.maxRunning is how many tasks of each user run at once', async () => {
    expect(await running('queues: { default: { perUser: { maxRunning: 2 } } }')).toBe(2);
  });

  it('queues.*.perUser.maxQueued is how many tasks of each user wait', async () => {
    const loom = await loomOf('queues: { default: { perUser: { maxQueued: 1 } } }', [quick]);
    await loom.enqueue(quick, 1, { user: 'ann' });
    await expect(loom.enqueue(quick, 2, { user: 'ann' })).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
  });

  it('queues.*.perUser.rate.limit is how many of each user start in that time', async () => {
    const rate = '{ limit: 5, per: 10s, burst: 1 }';
    const settings = `queues: { default: { perUser: { rate: ${rate} } } }`;
    expect(await startedAfter(settings, 1, 10_000)).toEqual([1, 6]);
  });

  it('queues.*.perUser.rate.per is that time', async () => {
    const settings = 'queues: { default: { perUser: { rate: { limit: 1, per: 20s } } } }';
    expect(await startedAfter(settings, 1, 10_000, 10_000)).toEqual([1, 1, 2]);
  });

  it('queues.*.perUser.rate.burst is how many of each user start at once', async () => {
    const rate = '{ limit: 6, per: 60s, burst: 4 }';
    const settings = `queues: { default: { perUser: { rate: ${rate} } } }`;
    expect(await startedAfter(settings, 1, 10_000)).toEqual([4, 5]);
  });
});

describe('users', () => {
  it('users.*.weight is its claim on turns', async () => {
    expect(await twoUsers('users: { ann: { weight: 3 } }')).toMatch(/^(?=(.*a){6})/);
    expect(await twoUsers('users: { ann: { weight: 1 } }')).toBe('abababab');
  });

  it('users.*.maxRunning is how many of its tasks run at once', async () => {
    expect(await running('users: { ann: { maxRunning: 2 } }')).toBe(2);
  });

  it('users.*.maxQueued is how many of its tasks wait', async () => {
    const loom = await loomOf('users: { ann: { maxQueued: 1 } }', [quick]);
    await loom.enqueue(quick, 1, { user: 'ann' });
    await expect(loom.enqueue(quick, 2, { user: 'ann' })).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
  });

  it('users.*.rate.limit is how many of its tasks start in that time', async () => {
    const settings = 'users: { ann: { rate: { limit: 5, per: 10s, burst: 1 } } }';
    expect(await startedAfter(settings, 1, 10_000)).toEqual([1, 6]);
  });

  it('users.*.rate.per is that time', async () => {
    const settings = 'users: { ann: { rate: { limit: 1, per: 20s } } }';
    expect(await startedAfter(settings, 1, 10_000, 10_000)).toEqual([1, 1, 2]);
  });

  it('users.*.rate.burst is how many of its tasks start at once', async () => {
    const settings = 'users: { ann: { rate: { limit: 6, per: 60s, burst: 4 } } }';
    expect(await startedAfter(settings, 1, 10_000)).toEqual([4, 5]);
  });

  it('a setting that says default is taken back', async () => {
    const loom = await loomOf('users: { ann: { weight: 3, maxRunning: 4 } }', [quick]);
    const { config } = await load('users: { ann: { maxRunning: default } }');
    await applySettings(loom, config);
    expect((await loom.users.get('ann'))?.settings).toEqual({ weight: 3 });
  });

  it('users with names like those of every object are users', async () => {
    const { config } = await load(
      'users: { __proto__: { weight: 7 }, constructor: { weight: 2 } }',
    );
    expect(Object.keys(config.users)).toEqual(['__proto__', 'constructor']);
    const loom = await loomOf('users: { __proto__: { weight: 7 } }', [quick]);
    expect((await loom.users.get('__proto__'))?.settings.weight).toBe(7);
  });
});
