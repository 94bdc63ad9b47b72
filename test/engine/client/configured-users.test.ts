/** Users that have settings and no work: listed among the users, and passed over by workers that look for work. */
import * as client from 'prom-client';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../../../src/cli/views/checks.ts';
import { TopSource } from '../../../src/cli/views/snapshot.ts';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { call } from '../../../src/enqueue/call.ts';
import { prometheus } from '../../../src/metrics.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const quick = task('quick', async (n: number) => n);
const BUILT_IN = {
  weight: 'built-in',
  maxRunning: 'built-in',
  maxQueued: 'built-in',
  rate: 'built-in',
  paused: 'built-in',
};

eachBackend((open) => {
  const harness = opened(open);

  describe('a user that is configured before it has work', () => {
    it('is ahead by turns of its own, with any weight', async () => {
      let release = (): void => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      const slow = task('slow', async (_: number) => released);
      const loom = harness.loom([slow]);
      const weights = { light: 1, heavy: 4 };
      for (const [user, weight] of Object.entries(weights)) {
        await loom.users.set(user, { weight });
        await loom.enqueueMany(Array.from({ length: 20 }, (_, n) => call(slow, n, { user })));
      }
      const worker = loom.worker({ concurrency: 9 });
      await worker.start();
      await harness.until(async () => (await loom.queues.get('default'))?.counts.started === 9);
      for (const { user, running, settings, ahead } of (await loom.users.list()).items) {
        expect(ahead, user).toBeCloseTo(running - (9 * settings.weight) / 5, 2);
      }
      release();
      await worker.stop();
    });

    // F33
    it('is listed at once, with its settings and where each comes from', async () => {
      const loom = harness.loom([quick]);
      await loom.users.set('acme', { weight: 3 });
      expect((await loom.users.list()).items).toEqual([
        {
          user: 'acme',
          queue: 'default',
          settings: { weight: 3 },
          origins: { ...BUILT_IN, weight: 'user' },
          queued: 0,
          levels: [0, 0, 0, 0, 0, 0],
          running: 0,
          later: 0,
          ready: false,
          ahead: 0,
        },
      ]);
      await loom.queues.set('mail', { perUser: { weight: 2, maxQueued: 9 } });
      await loom.users.set('acme', { maxRunning: 1 }, { queue: 'mail' });
      await loom.users.pause('bolt');
      const { items } = await loom.users.list({ queue: 'mail' });
      expect(items).toMatchObject([
        {
          user: 'acme',
          settings: { weight: 3, maxRunning: 1, maxQueued: 9 },
          origins: { weight: 'user', maxRunning: 'user-in-queue', maxQueued: 'queue' },
        },
        {
          user: 'bolt',
          settings: { weight: 2, maxQueued: 9, paused: true },
          origins: { weight: 'queue', maxQueued: 'queue', paused: 'user' },
        },
      ]);
      expect(await loom.users.get('acme', { queue: 'mail' })).toEqual(items[0]);
    });

    // F33
    it('stays while it works, once, and goes with its last setting', async () => {
      const loom = harness.loom([quick]);
      const names = async (): Promise<readonly string[]> =>
        (await loom.users.list()).items.map(({ user }) => user);
      await loom.users.set('acme', { weight: 3 });
      await loom.users.pause('bolt');
      const handle = await loom.enqueue(quick, 1, { user: 'acme' });
      expect(await names()).toEqual(['acme', 'bolt']);
      const worker = loom.worker();
      await worker.start();
      await handle.result();
      await harness.quiet();
      expect(await names()).toEqual(['acme', 'bolt']);
      await loom.users.resume('bolt');
      expect(await names()).toEqual(['acme']);
      await loom.users.set('acme', { weight: 'default' });
      expect((await loom.users.list({ configured: true })).items).toEqual(
        (await loom.users.list({ configured: false })).items,
      );
      await loom.users.set('cat', { maxQueued: 7 });
      await loom.users.reset('cat');
      expect(await names()).not.toContain('cat');
      expect(await loom.users.get('cat')).toBeUndefined();
    });

    // F33
    it('turns pages of users with and without work, none twice', async () => {
      const loom = harness.loom([quick]);
      const all = Array.from({ length: 23 }, (_, at) => `u${String(at).padStart(2, '0')}`);
      for (const [at, user] of all.entries()) {
        if (at % 3 !== 0) await loom.users.set(user, { weight: 2 });
        if (at % 3 !== 1) await loom.enqueue(quick, at, { user });
      }
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await loom.users.list({ limit: 4, cursor });
        seen.push(...page.items.map(({ user }) => user));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(all);
      const busy = await loom.users.list({ configured: false });
      expect(busy.items.map(({ user }) => user)).toEqual(all.filter((_, at) => at % 3 !== 1));
    });

    // F33
    it('crowds no other out of samples, top and doctor', async () => {
      const metrics = prometheus({ client });
      const loom = harness.loom([quick], { metrics });
      const idle = Array.from({ length: 120 }, (_, at) => `idle-${at}`);
      await Promise.all(idle.map((user) => loom.users.set(user, { weight: 2 })));
      await loom.enqueue(quick, 1, { user: 'zoe', id: 'waits' });
      await harness.jump(5_000);
      const { users } = await new TopSource(loom).take(0);
      expect(users.map(({ user }) => user)).toEqual(['zoe']);
      const { checks } = await diagnose(loom, false);
      expect(checks.find(({ check }) => check === 'workers')?.text).toContain('zoe');
      // One sample is a page of 50: it is of those that have work.
      expect(await metrics.text()).toMatch(/oldest_queued_age_seconds\{queue="default"\} 5\b/);
    });

    // F33
    it('is asked for by true or false', async () => {
      const loom = harness.loom([quick]);
      const wrong = { configured: 'no' as unknown as boolean };
      await expect(loom.users.list(wrong)).rejects.toThrow(InvalidOptionError);
      await expect(loom.users.list(wrong)).rejects.toThrow('configured: expected true or false');
    });
  });
});
