/** What the options of tasks do: each test is named after the option whose effect it shows. */
import { task } from 'fairloom';
import { prometheus } from 'fairloom/metrics';
import { type TestLoom, testLoom } from 'fairloom/testing';
import * as client from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { stderrLogger } from '../../src/logging/logger.ts';
import { load, loomOf } from './kit.ts';

const quick = task('quick', async (n: number) => n);
const fails = task('fails', async () => {
  throw new Error('no');
});

/** Seconds after the first start at which a task that always fails was started. */
async function starts(defaults: string): Promise<readonly number[]> {
  const at: number[] = [];
  const clock: { now?: () => number } = {};
  const failing = task('failing', async () => {
    at.push(clock.now?.() ?? 0);
    throw new Error('no');
  });
  const loom = await loomOf(`defaults: ${defaults}`, [failing]);
  clock.now = loom.clock.now;
  await loom.enqueue(failing);
  await loom.clock.advance('1d', { allowFailures: true });
  return at.map((ms) => Math.round((ms - (at[0] ?? 0)) / 1_000));
}

/** Whether a task's record is left after so much more time. */
async function left(loom: TestLoom, id: string, after: '59m' | '2m'): Promise<boolean> {
  await loom.clock.advance(after, { allowFailures: true });
  return (await loom.tasks.get(id)) !== undefined;
}

describe('requireUser', () => {
  it('requireUser refuses a task without a user', async () => {
    const strict = await loomOf('requireUser: true', [quick]);
    await expect(strict.enqueue(quick, 1)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    const lenient = await loomOf('requireUser: false', [quick]);
    expect(await lenient.enqueue(quick, 1)).toHaveProperty('id');
  });
});

describe('log', () => {
  const linesOf = async (config: string): Promise<string> => {
    const lines: string[] = [];
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
      lines.push(String(line));
      return true;
    });
    const loom = await loomOf(config, [fails], { log: stderrLogger });
    await loom.enqueue(fails);
    await loom.clock.advance('1d', { allowFailures: true });
    spy.mockRestore();
    return lines.join('');
  };

  it('logLevel is how loud a line must be', async () => {
    const all = await linesOf('{ logLevel: info, defaults: { retries: 1 } }');
    expect(all).toContain('fairloom warn attempt.failed: ');
    expect(all).toContain('fairloom error task.failed: ');
    const few = await linesOf('{ logLevel: error, defaults: { retries: 1 } }');
    expect(few).not.toContain('attempt.failed');
    expect(few).toContain('fairloom error task.failed: ');
    expect(await linesOf('{ logLevel: silent }')).toBe('');
  });

  it('logErrors is whether lines have the messages of errors', async () => {
    const line = (config: string) => linesOf(`{ ${config}, defaults: { retries: 0 } }`);
    expect(await line('logErrors: true')).toContain('"reason":');
    expect(await line('logErrors: false')).not.toContain('"reason":');
  });

  it('series is whether what is stored and run is counted by minute and hour', async () => {
    const finished = async (series: boolean): Promise<number> => {
      const loom = await loomOf(`series: ${series}`, [quick]);
      await loom.enqueue(quick, 1);
      await loom.clock.advance('1m');
      const { points } = await loom.series.read({ step: 'minute' });
      return points.reduce((sum, point) => sum + point.finished, 0);
    };
    expect([await finished(true), await finished(false)]).toEqual([1, 0]);
  });
});

describe('defaults', () => {
  it('defaults.retries is how often a failed task is tried again', async () => {
    const loom = await loomOf('defaults: { retries: 1 }', [fails]);
    await loom.enqueue(fails);
    await loom.clock.advance('1d', { allowFailures: true });
    expect(loom.history.length).toBe(2);
  });

  it('defaults.backoff.kind fixed waits the same every time', async () => {
    const backoff = 'base: 10s, jitter: none';
    expect(await starts(`{ retries: 3, backoff: { kind: fixed, ${backoff} } }`)).toEqual([
      0, 10, 20, 30,
    ]);
    expect(await starts(`{ retries: 3, backoff: { kind: exponential, ${backoff} } }`)).toEqual([
      0, 10, 30, 70,
    ]);
  });

  it('defaults.backoff.base is the first wait', async () => {
    expect(await starts('{ retries: 1, backoff: { base: 40s, jitter: none } }')).toEqual([0, 40]);
  });

  it('defaults.backoff.max is the longest wait', async () => {
    const backoff = '{ base: 10s, max: 15s, jitter: none }';
    expect(await starts(`{ retries: 3, backoff: ${backoff} }`)).toEqual([0, 10, 25, 40]);
  });

  it('defaults.backoff.jitter none waits exactly, equal at least half', async () => {
    const equal = '{ retries: 1, backoff: { base: 7d, max: 7d, jitter: equal } }';
    // From half of the wait on, which is more than the day that passes here.
    expect(await starts(equal)).toEqual([0]);
    const exact = '{ retries: 1, backoff: { base: 1000s, jitter: none } }';
    expect(await starts(exact)).toEqual([0, 1_000]);
  });

  it('defaults.timeout ends an attempt that runs longer', async () => {
    const slow = task('slow', (_: undefined, ctx) => {
      return new Promise<void>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
      });
    });
    const loom = await loomOf('defaults: { timeout: 30s, retries: 0 }', [slow]);
    const { id } = await loom.enqueue(slow);
    await loom.clock.advance('29s');
    expect(await loom.tasks.get(id)).toMatchObject({ state: 'started' });
    await loom.clock.advance('10s', { allowFailures: true });
    expect(await loom.tasks.get(id)).toMatchObject({ state: 'failed', failureType: 'timeout' });
  });

  it('defaults.queue is where tasks go', async () => {
    const loom = await loomOf('defaults: { queue: mail }', [quick]);
    const { id } = await loom.enqueue(quick, 1);
    expect(await loom.tasks.get(id)).toMatchObject({ queue: 'mail' });
  });

  it.each([
    ['high', 'high'],
    ['5', 'very-high'],
  ])('defaults.priority %s orders the tasks of a user', async (written, name) => {
    const loom = await loomOf(`defaults: { priority: ${written} }`, [quick]);
    const one = await loom.enqueue(quick, 1);
    const same = await loom.enqueue(quick, 2, { priority: name === 'high' ? 'high' : 'very-high' });
    const [first, second] = [await loom.tasks.get(one.id), await loom.tasks.get(same.id)];
    expect(first?.priority).toBe(second?.priority);
  });

  it('defaults.cost is what a task takes of its user', async () => {
    const loom = await loomOf('defaults: { cost: 3 }', [quick]);
    for (const n of [1, 2]) await loom.enqueue(quick, n, { user: 'ann' });
    for (const n of [1, 2, 3, 4, 5, 6]) await loom.enqueue(quick, n, { user: 'bob', cost: 1 });
    await loom.drain();
    const order = loom.order().map(([user]) => user[0]);
    expect(order.join('')).toBe('abbbabbb');
  });

  it('defaults.expiresIn ends a task that has not started in time', async () => {
    const loom = await loomOf('defaults: { expiresIn: 1m }', [quick]);
    await loom.users.pause('ann');
    const { id } = await loom.enqueue(quick, 1, { user: 'ann' });
    await loom.clock.advance('2m', { allowFailures: true });
    expect(await loom.tasks.get(id)).toMatchObject({ state: 'failed', failureType: 'expired' });
  });
});

describe('keepLogs', () => {
  it('defaults.keepLogs says which lines of log are kept', async () => {
    const says = task('says', async (_: undefined, ctx) => ctx.log.info('said'));
    const kept: number[] = [];
    for (const keepLogs of ['always', 'failures']) {
      const loom = await loomOf(`{ defaults: { keepLogs: ${keepLogs} }, logLevel: warn }`, [says]);
      const { id } = await loom.enqueue(says);
      await loom.drain();
      let lines = 0;
      for await (const _line of loom.tasks.logs(id)) lines += 1;
      kept.push(lines);
    }
    expect(kept).toEqual([1, 0]);
  });
});

describe('retention', () => {
  it('retention.finished is how long finished tasks are kept', async () => {
    const loom = await loomOf('retention: { finished: 1h }', [quick]);
    const { id } = await loom.enqueue(quick, 1);
    await loom.drain();
    expect([await left(loom, id, '59m'), await left(loom, id, '2m')]).toEqual([true, false]);
  });

  it('retention.failed is how long failed tasks are kept', async () => {
    const loom = await loomOf('{ retention: { failed: 1h }, defaults: { retries: 0 } }', [fails]);
    const { id } = await loom.enqueue(fails);
    await loom.drain({ allowFailures: true });
    expect([await left(loom, id, '59m'), await left(loom, id, '2m')]).toEqual([true, false]);
  });

  it('retention.canceled is how long canceled tasks are kept', async () => {
    const loom = await loomOf('retention: { canceled: 1h }', [quick]);
    const { id } = await loom.enqueue(quick, 1);
    await loom.tasks.cancel(id);
    expect([await left(loom, id, '59m'), await left(loom, id, '2m')]).toEqual([true, false]);
  });

  it('retention.finishedCount keeps so many finished tasks', async () => {
    const loom = await loomOf('retention: { finishedCount: 2 }', [quick]);
    await loom.enqueueMany(quick, [1, 2, 3, 4]);
    await loom.clock.advance('2m');
    expect((await loom.stats()).counts.finished).toBe(2);
  });

  it('retention.failedCount keeps so many failed tasks', async () => {
    const loom = await loomOf('{ retention: { failedCount: 2 }, defaults: { retries: 0 } }', [
      fails,
    ]);
    await loom.enqueueMany(fails, [undefined, undefined, undefined]);
    await loom.clock.advance('2m', { allowFailures: true });
    expect((await loom.stats()).counts.failed).toBe(2);
  });

  it('retention.canceledCount keeps so many canceled tasks', async () => {
    const loom = await loomOf('retention: { canceledCount: 2 }', [quick]);
    const handles = await loom.enqueueMany(quick, [1, 2, 3]);
    for (const { id } of handles) await loom.tasks.cancel(id);
    await loom.clock.advance('2m');
    expect((await loom.stats()).counts.canceled).toBe(2);
  });
});

describe('scheduler', () => {
  it('scheduler.timeZone is the zone of cron patterns that name none', async () => {
    const loom = await loomOf('scheduler: { timeZone: Asia/Tokyo }', [quick]);
    const daily = { cron: '0 3 * * *', task: quick, input: 1 } as const;
    const here = await loom.schedules.set('here', daily);
    expect(new Date(here.nextAt ?? 0).toISOString()).toContain('T18:00:00');
    const there = await loom.schedules.set('there', { ...daily, timeZone: 'UTC' });
    expect(new Date(there.nextAt ?? 0).toISOString()).toContain('T03:00:00');
    // A period has no zone.
    const often = await loom.schedules.set('often', { every: '1h', task: quick, input: 1 });
    expect(often.timeZone).toBeUndefined();
  });
});

describe('xcom', () => {
  it('xcom.ttl keeps values so long after the end of their task', async () => {
    const push = task('push', async (_n: number, ctx) => {
      await ctx.xcom.push('k', 1);
    });
    const loom = await loomOf('xcom: { ttl: 5s }', [push]);
    await loom.enqueue(push, 1);
    await loom.drain();
    expect(await loom.xcom.pull('k')).toBe(1);
    await loom.clock.advance('5s');
    expect(await loom.xcom.pull('k')).toBeUndefined();
  });
});

describe('metrics', () => {
  it.each([
    ['none', 'none'],
    ['all', 'all'],
    ['top:20', 'top:20'],
    ['[ada, "top:3"]', ['ada', 'top:3']],
  ])('metrics.users %s gives those users figures of their own', async (text, users) => {
    const { config } = await load(`metrics: { users: ${text} }`);
    expect(config.metrics.users).toEqual(users);
    const metrics = prometheus({ client, users: config.metrics.users });
    const loom = testLoom([quick], { metrics });
    for (const user of ['ada', 'ben']) await loom.enqueue(quick, 1, { user });
    const shown = [...(await metrics.text()).matchAll(/user_queued_tasks\{.*user="(\w+)"/g)];
    const names = text === 'none' ? [] : text.startsWith('[') ? ['ada'] : ['ada', 'ben'];
    expect(shown.map(([, user]) => user).sort()).toEqual(names);
    await loom.close();
  });
});
