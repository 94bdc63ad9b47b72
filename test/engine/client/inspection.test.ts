/** Looking at tasks, users, queues and workers, and changing them. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import type { DeadRedriveOptions } from '../../../src/client/facades/dead-facade.ts';
import type { QueueOptions, UserOptions } from '../../../src/client/facades/settings-options.ts';
import {
  InvalidOptionError,
  TaskNotFoundError,
  WrongStateError,
} from '../../../src/domain/errors/errors.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const quick = task('quick', async (n: number) => n);
const failing = task('failing', { retries: 0 }, async () => {
  throw new RangeError('broken');
});

eachBackend((open) => {
  const harness = opened(open);

  describe('tasks', () => {
    it('are listed by state, in pages', async () => {
      const loom = harness.loom([quick]);
      await loom.enqueueMany(quick, [1, 2, 3, 4, 5], { delay: '1h', user: 'u' });
      const first = await loom.tasks.list({ state: 'scheduled', limit: 2, values: true });
      expect(first.items).toHaveLength(2);
      const cursor = first.cursor ?? '';
      const rest = await loom.tasks.list({ state: 'scheduled', limit: 500, cursor, values: true });
      const inputs = [...first.items, ...rest.items].map(({ input }) => input);
      expect(inputs.sort()).toEqual([1, 2, 3, 4, 5]);
      expect(rest.cursor).toBeUndefined();
      await expect(loom.tasks.list({ state: 'queued' })).rejects.toThrow('per user');
      await expect(loom.tasks.list({ state: 'gone' as 'queued' })).rejects.toThrow('state');
      await expect(loom.tasks.list({ state: 'failed', limit: 501 })).rejects.toThrow('limit');
      const queued = await loom.tasks.list({ state: 'queued', user: 'u' });
      expect(queued.items).toEqual([]);
    });

    it('are made due, put back and removed', async () => {
      const loom = harness.loom([quick, failing]);
      const later = await loom.enqueue(quick, 1, { delay: '1d' });
      await loom.tasks.runNow(later.id);
      await expect(loom.tasks.runNow(later.id)).rejects.toBeInstanceOf(WrongStateError);
      await expect(loom.tasks.runNow('none')).rejects.toBeInstanceOf(TaskNotFoundError);
      const worker = loom.worker();
      await worker.start();
      expect(await later.result()).toBe(1);
      const broken = await loom.enqueue(failing);
      await expect(broken.result()).rejects.toThrow('broken');
      worker.pause();
      await loom.tasks.redrive(broken.id);
      expect(await loom.tasks.get(broken.id)).toMatchObject({ state: 'queued', failures: 0 });
      await expect(loom.tasks.redrive(broken.id)).rejects.toBeInstanceOf(WrongStateError);
      await expect(loom.tasks.remove(broken.id)).rejects.toBeInstanceOf(WrongStateError);
      await harness.clock.advance('61s');
      await loom.tasks.remove(later.id);
      expect(await loom.tasks.get(later.id)).toBeUndefined();
    });

    // F120
    it('that are in another state name the change that is possible', async () => {
      const loom = harness.loom([quick, failing]);
      const later = await loom.enqueue(quick, 1, { delay: '1d' });
      await expect(loom.tasks.redrive(later.id)).rejects.toThrow('run-now makes it due');
      await expect(loom.tasks.remove(later.id)).rejects.toThrow('cancel it first');
      await loom.worker().start();
      const broken = await loom.enqueue(failing);
      await expect(broken.result()).rejects.toThrow('broken');
      await expect(loom.tasks.runNow(broken.id)).rejects.toThrow('redrive puts it back');
    });

    it('say why they do not run', async () => {
      const loom = harness.loom([quick]);
      await loom.users.set('u', { maxRunning: 1 });
      const { id } = await loom.enqueue(quick, 1, { user: 'u' });
      const noWorker = await loom.tasks.explain(id);
      expect(noWorker).toMatchObject({ id, state: 'queued', position: { place: 1 } });
      expect(noWorker.obstacles).toMatchObject([{ kind: 'no-worker' }]);
      const worker = loom.worker();
      await worker.start();
      worker.pause();
      await loom.users.pause('v');
      const paused = await loom.enqueue(quick, 2, { user: 'v' });
      expect((await loom.tasks.explain(paused.id)).obstacles).toMatchObject([
        { kind: 'user-paused', command: 'fairloom users resume v' },
      ]);
      const waits = await loom.enqueue(quick, 3, { dependsOn: [paused], user: 'v' });
      expect((await loom.tasks.explain(waits.id)).obstacles).toMatchObject([{ kind: 'blocked' }]);
      await expect(loom.tasks.explain('none')).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    // F141
    it('say what they failed with, and of one that failed with another nothing', async () => {
      const fail = task('fail', { retries: 0 }, () => {
        throw new RangeError('no such page', { cause: new Error('404') });
      });
      const loom = harness.loom([fail]);
      await loom.worker().start();
      const failed = await loom.enqueue(fail);
      const onFailure = { dependsOn: [failed.id], onUpstreamFailure: 'fail' } as const;
      const follower = await loom.enqueue(fail, undefined, onFailure);
      await harness.until(async () => (await loom.tasks.get(follower.id))?.state === 'failed');
      const { error } = await loom.tasks.explain(failed.id);
      expect(error).toMatchObject({ name: 'RangeError', cause: { message: '404' } });
      expect(error).toEqual((await loom.tasks.get(failed.id))?.error);
      expect(await loom.tasks.explain(follower.id)).not.toHaveProperty('error');
    });

    it('know their place in line', async () => {
      const loom = harness.loom([quick]);
      const handles = await loom.enqueueMany(quick, [1, 2, 3], { user: 'u' });
      const last = handles.at(-1)?.id ?? '';
      expect(await loom.tasks.position(last)).toMatchObject({ place: 3, turnsBefore: 2 });
      const later = await loom.enqueue(quick, 1, { delay: '1h' });
      expect(await loom.tasks.position(later.id)).toBeUndefined();
    });
  });

  describe('dead letters', () => {
    it('are listed, put back and removed, up to a limit', async () => {
      const loom = harness.loom([failing]);
      await loom.worker().start();
      const users = ['a', 'a', 'a', 'b'];
      const handles = await Promise.all(
        users.map((user) => loom.enqueue(failing, undefined, { user })),
      );
      await Promise.all(handles.map((handle) => handle.result().catch(() => undefined)));
      const page = await loom.dead.list({ user: 'a' });
      expect(page.items).toMatchObject([
        { state: 'failed', failureType: 'error', error: { name: 'RangeError' } },
        { user: 'a' },
        { user: 'a' },
      ]);
      expect(await loom.dead.remove({ user: 'b' })).toMatchObject({ changed: 1, more: false });
      expect(await loom.dead.redrive({ all: true, limit: 2 })).toMatchObject({
        changed: 2,
        more: true,
      });
      await harness.until(async () => (await loom.tasks.counts()).failed === 3);
      expect(await loom.dead.redrive({ name: 'other' })).toEqual({
        changed: 0,
        skipped: 0,
        more: false,
      });
      await expect(loom.dead.remove({ all: true, limit: 0 })).rejects.toBeInstanceOf(
        InvalidOptionError,
      );
    });
  });

  describe('dead letters at a rate', () => {
    const failed = async (): Promise<Fairloom> => {
      const loom = harness.loom([failing]);
      const worker = loom.worker();
      await worker.start();
      const handles = await loom.enqueueMany(
        failing,
        [1, 2, 3, 4, 5].map(() => undefined),
      );
      await Promise.all(handles.map((handle) => handle.result().catch(() => undefined)));
      await worker.stop();
      return loom;
    };
    const queued = async (loom: Fairloom): Promise<number> => (await loom.tasks.counts()).queued;

    it('come back one after the other, and as a burst first', async () => {
      const loom = await failed();
      const done = loom.dead.redrive({ all: true, rate: { limit: 2, per: '2m', burst: 2 } });
      await harness.until(async () => (await queued(loom)) === 2);
      await harness.clock.advance(59_999);
      expect(await queued(loom)).toBe(2);
      await harness.clock.advance(1);
      await harness.until(async () => (await queued(loom)) === 3);
      await harness.clock.advance(120_000);
      expect(await done).toEqual({ changed: 5, skipped: 0, more: false });
    });

    it('come back no more once the signal aborts, and with the next call', async () => {
      const loom = await failed();
      const abort = new AbortController();
      const rate = { limit: 1, per: '1m' } as const;
      const done = loom.dead.redrive({ all: true, rate, signal: abort.signal });
      await harness.until(async () => (await queued(loom)) === 1);
      abort.abort();
      expect(await done).toEqual({ changed: 1, skipped: 0, more: true });
      expect(await queued(loom)).toBe(1);
      expect(await loom.dead.redrive({ all: true })).toMatchObject({ changed: 4, more: false });
    });

    it('are left alone for a rate, or a signal, that is none', async () => {
      const loom = await failed();
      for (const wrong of [
        { rate: { limit: 0, per: '1s' } },
        { rate: { limit: 1, per: 'soon' } },
        { signal: {} },
      ]) {
        const options = { all: true, ...wrong } as unknown as DeadRedriveOptions;
        await expect(loom.dead.redrive(options)).rejects.toBeInstanceOf(InvalidOptionError);
      }
      expect(await queued(loom)).toBe(0);
    });
  });

  describe('users', () => {
    it('have settings, of all queues and of one', async () => {
      const loom = harness.loom([quick]);
      const settings: UserOptions = {
        weight: 2.5,
        maxRunning: 3,
        maxQueued: 100,
        rate: { limit: 50, per: '1m' },
      };
      await loom.users.set('u', settings);
      await loom.users.set('u', { weight: 0.5 }, { queue: 'mail' });
      await loom.enqueue(quick, 1, { user: 'u' });
      await loom.enqueue(quick, 1, { user: 'u', queue: 'mail' });
      expect(await loom.users.get('u')).toMatchObject({
        user: 'u',
        queue: 'default',
        queued: 1,
        settings: {
          weight: 2.5,
          maxRunning: 3,
          maxQueued: 100,
          rate: { limit: 50, perMs: 60_000, burst: 5 },
        },
      });
      expect((await loom.users.get('u', { queue: 'mail' }))?.settings).toMatchObject({
        weight: 0.5,
        maxRunning: 3,
      });
      await loom.users.set('u', { maxRunning: 'default' });
      expect((await loom.users.get('u'))?.settings).not.toHaveProperty('maxRunning');
      await loom.users.reset('u');
      expect((await loom.users.get('u'))?.settings).toEqual({ weight: 1 });
      const page = await loom.users.list();
      expect(page.items.map(({ user }) => user)).toEqual(['u']);
      expect(await loom.users.get('nobody')).toBeUndefined();
    });

    it.each<[string, UserOptions]>([
      ['weight', { weight: 0 }],
      ['weight', { weight: 1_001 }],
      ['maxRunning', { maxRunning: 0 }],
      ['maxQueued', { maxQueued: 1.5 }],
      ['rate', { rate: 5 as unknown as never }],
      ['rate.limit', { rate: { limit: 0, per: '1s' } }],
      ['rate.per', { rate: { limit: 1, per: 0 } }],
      ['rate.burst', { rate: { limit: 2, per: '1s', burst: 3 } }],
    ])('refuse a wrong %s', async (option, settings) => {
      const loom = harness.loom([quick]);
      await expect(loom.users.set('u', settings)).rejects.toMatchObject({ option });
    });

    it('are paused and resumed', async () => {
      const loom = harness.loom([quick]);
      await loom.worker().start();
      await loom.users.pause('u');
      const handle = await loom.enqueue(quick, 1, { user: 'u' });
      await harness.quiet();
      expect(await loom.runnable()).toBe(0);
      await loom.users.resume('u');
      expect(await handle.result()).toBe(1);
    });
  });

  describe('queues', () => {
    it('have settings and counts', async () => {
      const loom = harness.loom([quick]);
      const settings: QueueOptions = {
        maxRunning: 10,
        rate: { limit: 5, per: '1s', burst: 2 },
        priorityWeights: [1, 1, 1, 1, 1],
        criticalBurst: 4,
        charge: 'time',
        perUser: { weight: 3, maxRunning: 2 },
      };
      await loom.queues.set('mail', settings);
      await loom.enqueueMany(quick, [1, 2, 3], { queue: 'mail', user: 'u' });
      expect(await loom.queues.get('mail')).toMatchObject({
        queue: 'mail',
        settings: {
          ...settings,
          rate: { limit: 5, perMs: 1_000, burst: 2 },
        },
        counts: { queued: 3 },
        runnable: 2,
      });
      expect((await loom.users.get('u', { queue: 'mail' }))?.settings).toMatchObject({
        weight: 3,
        maxRunning: 2,
      });
      const names = (await loom.queues.list()).map(({ queue }) => queue);
      expect(names).toContain('mail');
      await loom.queues.set('mail', { criticalBurst: 'default', perUser: 'default' });
      const { settings: left } = (await loom.queues.get('mail')) ?? {};
      expect(left).not.toHaveProperty('criticalBurst');
      expect(left).not.toHaveProperty('perUser');
    });

    it.each<[string, QueueOptions]>([
      ['priorityWeights', { priorityWeights: [1, 2, 3] }],
      ['priorityWeights', { priorityWeights: [0, 1, 1, 1, 1] }],
      ['criticalBurst', { criticalBurst: 0 }],
      ['charge', { charge: 'money' as 'time' }],
      ['maxRunning', { maxRunning: -1 }],
      ['weight', { perUser: { weight: -1 } }],
    ])('refuse a wrong %s', async (option, settings) => {
      const loom = harness.loom([quick]);
      await expect(loom.queues.set('q', settings)).rejects.toMatchObject({ option });
    });

    it('are paused and resumed', async () => {
      const loom = harness.loom([quick]);
      await loom.worker().start();
      await loom.queues.pause('default');
      const handle = await loom.enqueue(quick, 1);
      await harness.quiet();
      expect((await loom.tasks.explain(handle.id)).obstacles).toMatchObject([
        { kind: 'queue-paused' },
      ]);
      await loom.queues.resume('default');
      expect(await handle.result()).toBe(1);
    });
  });

  it('counts, tells its health and finds no drift', async () => {
    const loom = harness.loom([quick, failing]);
    await loom.worker().start();
    const handles = await loom.enqueueMany(quick, [1, 2, 3]);
    await Promise.all(handles.map((handle) => handle.result()));
    const broken = await loom.enqueue(failing);
    await broken.result().catch(() => undefined);
    expect(await loom.stats()).toMatchObject({
      counts: { finished: 3, failed: 1, queued: 0 },
      totals: { enqueued: 4, finished: 3, failed: 1 },
    });
    expect(await loom.health()).toMatchObject({
      isHealthy: true,
      pingMs: expect.any(Number),
      backend: { name: expect.stringMatching(/^(memory|redis)$/), shared: expect.any(Boolean) },
      workers: [{ isHealthy: true }],
    });
    expect(await loom.reconcile()).toMatchObject({ drift: [] });
    expect(await loom.reconcile({ repair: true })).toMatchObject({ drift: [], repaired: 0 });
  });
});
