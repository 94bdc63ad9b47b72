/** Users that are held back leave the reckoning: shares, fairness, debts and ages are over the others. */
import * as client from 'prom-client';
import { describe, expect, it } from 'vitest';
import { TopSource } from '../../../src/cli/views/snapshot.ts';
import type { Fairloom } from '../../../src/client/client.ts';
import { type Prometheus, prometheus } from '../../../src/metrics.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';

const quick = task('quick', async (n: number) => n);
const USERS = Array.from({ length: 10 }, (_, at) => `u${at}`);

/** The value of a metric of queue `default` without other labels. */
async function figure(metrics: Prometheus, name: string): Promise<number | undefined> {
  const line = new RegExp(`^fairloom_${name}(?:\\{queue="default"\\})? (\\S+)$`, 'm');
  const [, value] = line.exec(await metrics.text()) ?? [];
  return value === undefined ? undefined : Number(value);
}

eachBackend((open) => {
  const harness = opened(open);

  /** Ten users with much in line, of whom the first is held back, and 180 turns. */
  async function turns(loom: Fairloom, metrics: Prometheus): Promise<void> {
    for (const user of USERS) {
      await loom.enqueueMany(quick, [...Array(60).keys()], { user });
    }
    const worker = loom.worker({ concurrency: 1 });
    let started = 0;
    worker.on('task.started', () => {
      if (++started === 180) worker.pause();
    });
    await metrics.text();
    await worker.start();
    await harness.until(() => started >= 180);
    await harness.quiet();
  }

  const holds: Readonly<Record<string, (loom: Fairloom) => Promise<void>>> = {
    'is paused': (loom) => loom.users.pause('u0'),
    'has spent its rate': (loom) => loom.users.set('u0', { rate: { limit: 1, per: '1h' } }),
    'was paused in every queue and is back in another': async (loom) => {
      await loom.users.pause('u0');
      await loom.users.set('u0', { weight: 1 }, { queue: 'other' });
    },
  };

  // F50
  describe.each(Object.entries(holds))('one user in ten that %s', (_, hold) => {
    it('leaves the shares of the others as they are', async () => {
      const metrics = prometheus({ client });
      const loom = harness.loom([quick], { metrics });
      await hold(loom);
      await turns(loom, metrics);
      expect(await figure(metrics, 'fairness_jain_index')).toBeGreaterThan(0.999);
    });

    it('brings no minimum share down, and owes nothing', async () => {
      const metrics = prometheus({ client, users: ['u0'] });
      const loom = harness.loom([quick], { metrics });
      await hold(loom);
      await turns(loom, metrics);
      const text = await metrics.text();
      const [, least] = /fairness_min_share\{queue="default"\} (\S+)/.exec(text) ?? [];
      expect(Number(least)).toBeGreaterThan(0.9);
      const [, ahead] = /user_ahead_turns\{queue="default",user="u0"\} (\S+)/.exec(text) ?? [];
      expect(Number(ahead)).toBeGreaterThanOrEqual(0);
      const { users } = await new TopSource(loom).take(0);
      const blocker = users.find(({ user }) => user === 'u0');
      expect(blocker).toMatchObject({ queued: expect.any(Number) });
      expect(blocker).not.toHaveProperty('share');
      expect(blocker).not.toHaveProperty('fairShare');
      expect(blocker?.ahead).toBeGreaterThanOrEqual(0);
      const others = users.filter(({ user }) => user !== 'u0');
      for (const { fairShare } of others) expect(fairShare).toBeCloseTo(1 / 9, 10);
    });
  });

  // F50
  it('a user at its limit of running tasks leaves the reckoning too', async () => {
    const blocker = gate();
    const slow = task('slow', async () => blocker.passed);
    const metrics = prometheus({ client });
    const loom = harness.loom([quick, slow], { metrics });
    await loom.users.set('u0', { maxRunning: 1 });
    await loom.enqueue(slow, undefined, { user: 'u0' });
    const one = loom.worker({ concurrency: 1 });
    await one.start();
    await harness.until(async () => (await loom.users.get('u0'))?.running === 1);
    one.pause();
    await turns(loom, metrics);
    expect(await figure(metrics, 'fairness_min_share')).toBeGreaterThan(0.9);
    const { users } = await new TopSource(loom).take(0);
    expect(users.find(({ user }) => user === 'u0')).toMatchObject({
      running: 1,
      why: 'at its limit of 1 running',
    });
    for (const { user, fairShare } of users) {
      if (user !== 'u0') expect(fairShare).toBeCloseTo(1 / 9, 10);
    }
    blocker.open();
  });

  // F51
  it('the age of a queue is that of tasks that could be served', async () => {
    const metrics = prometheus({ client });
    const loom = harness.loom([quick], { metrics });
    await loom.users.pause('held');
    await loom.enqueue(quick, 1, { user: 'held' });
    await harness.clock.advance('1h');
    expect(await figure(metrics, 'oldest_queued_age_seconds')).toBe(0);
    await loom.enqueue(quick, 1, { user: 'free' });
    await harness.clock.advance('1m');
    expect(await figure(metrics, 'oldest_queued_age_seconds')).toBe(60);
    await loom.queues.pause('default');
    expect(await figure(metrics, 'oldest_queued_age_seconds')).toBe(0);
    await loom.queues.resume('default');
    await loom.users.resume('held');
    expect(await figure(metrics, 'oldest_queued_age_seconds')).toBe(3_660);
  });

  // F51
  it('deaths are counted, and a redrive does not count again', async () => {
    const broken = task('broken', { retries: 0 }, async () => {
      throw new Error('no');
    });
    const metrics = prometheus({ client });
    const loom = harness.loom([broken], { metrics });
    const worker = loom.worker({ concurrency: 1 });
    const handles = await loom.enqueueMany(broken, Array<undefined>(3).fill(undefined));
    await worker.start();
    await Promise.allSettled(handles.map((handle) => handle.result()));
    expect(await figure(metrics, 'dead_letters_total')).toBe(3);
    await worker.stop();
    await loom.tasks.redrive(handles[0]?.id ?? '');
    expect(await figure(metrics, 'dead_letters_total')).toBe(3);
    expect(await figure(metrics, 'dead_tasks')).toBe(2);
  });
});
