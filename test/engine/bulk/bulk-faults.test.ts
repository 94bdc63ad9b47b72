/**
 * Bulk actions beside faults: a worker dies before or after any of its calls, two workers have the same one,
 * tasks go or come back meanwhile. Nothing is changed twice, nothing is left out, and what is told is exact.
 */
import { describe, expect, it } from 'vitest';
import type { BulkInfo } from '../../../src/bulk/bulk-facade.ts';
import type { BulkAction } from '../../../src/bulk/bulk-record.ts';
import type { Fairloom } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, type OpenHarness, opened } from '../../support/backends.ts';
import { mortal } from '../../support/processes/mortal.ts';
import { stride } from '../../support/rounds.ts';

/** Whether handlers fail. */
let isBroken = true;
const ran: string[] = [];
const work = task('work', { retries: 0 }, async (name: string) => {
  ran.push(name);
  if (isBroken) throw new RangeError(`${name} is broken`);
  return name;
});
const fine = task('fine', async (name: string) => name);
const line = fine.pipe(work).as('line');
const wide = parallel({ one: work.as('one'), two: work.as('two') }).as('wide');
const tasks = [work, line, wide];

const BULK_WORKERS = { queues: ['ops'], concurrency: 2 };
const OPEN = { scheduled: 0, deferred: 0, queued: 0, started: 0 };

/** So many lone tasks that fail, and runs of both forms, of which one and two tasks fail. */
async function failures(harness: Harness, loom: Fairloom, count: number): Promise<void> {
  isBroken = true;
  for (let n = 0; n < count; n++) await loom.enqueue(work, `a${n}`, { id: `a${n}`, user: 'acme' });
  await loom.enqueue(line, 'driven', { id: 'd', user: 'acme', form: 'driven' });
  await loom.enqueue(line, 'line', { id: 'l', user: 'acme' });
  await loom.enqueue(wide, 'wide', { id: 'w', user: 'acme' });
  await workedOff(harness, loom);
  isBroken = false;
  ran.length = 0;
  await harness.clock.advance(10);
}

/** Until nothing is open, by a worker of its own. */
async function workedOff(harness: Harness, loom: Fairloom): Promise<void> {
  const worker = loom.worker({ concurrency: 10 });
  await worker.start();
  await harness.until(async () => {
    const { counts } = await loom.stats();
    return Object.keys(OPEN).every((state) => counts[state as keyof typeof OPEN] === 0);
  });
  await worker.stop();
}

/** What `ran` is when each of {@link failures} has run once again. */
function again(count: number): readonly string[] {
  const lone = Array.from({ length: count }, (_, n) => `a${n}`);
  return [...lone, 'driven', 'line', 'wide', 'wide'].sort();
}

async function ended(harness: Harness, loom: Fairloom, id: string): Promise<BulkInfo> {
  let info: BulkInfo | undefined;
  await harness.until(async () => {
    info = await loom.bulk.get(id);
    return info?.endedAt !== undefined;
  });
  if (info === undefined) throw new Error('it is not stored');
  return info;
}

/** Starts a worker of bulk actions on a backend that may fail it. */
async function startDoomed(harness: Harness, backend: Backend): Promise<void> {
  const worker = harness.loom(tasks, { backend }).worker(BULK_WORKERS);
  void worker.start().catch(() => undefined);
  await harness.quiet();
}

/** Does it once for each call after which, or before which, the first worker dies, until it lives to the end. */
async function afterEachCall(
  open: OpenHarness,
  name: 'memory' | 'redis',
  act: (harness: Harness, doomed: (loom: Fairloom, id: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  for (const moment of ['before', 'after'] as const) {
    let lastCall = 1;
    for (let isOver = false; !isOver; lastCall += stride(name)) {
      const harness = await open();
      await act(harness, async (loom, id) => {
        await startDoomed(harness, mortal(harness.backend, lastCall, moment).backend);
        await harness.clock.advance(1_500);
        isOver = (await loom.bulk.get(id))?.endedAt !== undefined;
        await harness.clock.advance(2 * LIMITS.leaseMs);
      });
      await harness.close();
    }
    expect(lastCall).toBeGreaterThan(5);
  }
}

eachBackend((open, name) => {
  const harness = opened(open);

  it('redrives each once, wherever a worker dies', async () => {
    await afterEachCall(open, name, async (own, doomed) => {
      const loom = own.loom(tasks);
      await failures(own, loom, 5);
      const where = 'name:work,line,wide,one,two';
      const { id } = await loom.bulk.start({ where, action: 'redrive', queue: 'ops' });
      await doomed(loom, id);
      await loom.worker(BULK_WORKERS).start();
      await own.clock.advance(2 * LIMITS.lostBackoffMs);
      const info = await ended(own, loom, id);
      expect(info).toMatchObject({ state: 'finished', matched: 8, done: 8, skipped: 0, failed: 0 });
      await workedOff(own, loom);
      expect([...ran].sort()).toEqual(again(5));
      expect((await loom.tasks.counts()).failed).toBe(0);
      expect((await own.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
    });
  });

  it('keeps its rate, and counts exactly, wherever a worker dies', {
    timeout: 60_000,
  }, async () => {
    await afterEachCall(open, name, async (own, doomed) => {
      const loom = own.loom(tasks);
      await failures(own, loom, 7);
      const moments: number[] = [];
      const watching = flakyBackend(own.backend, ({ operation }) => {
        if (operation === 'tasks.redrive') moments.push(own.clock.now());
        return undefined;
      });
      const rate = { limit: 5, per: '1s', burst: 1 } as const;
      const { id } = await loom.bulk.start({
        ...{ where: 'id:a0,a1,a2,a3,a4,a5,a6', action: 'redrive', queue: 'ops', rate },
      });
      await doomed(loom, id);
      await own.loom(tasks, { backend: watching }).worker(BULK_WORKERS).start();
      await own.clock.advance(2 * LIMITS.lostBackoffMs);
      const info = await ended(own, loom, id);
      expect(info).toMatchObject({ state: 'finished', matched: 7, done: 7, skipped: 0, failed: 0 });
      for (const [at, moment] of moments.entries()) {
        if (at > 0) expect(moment - (moments[at - 1] ?? 0)).toBeGreaterThanOrEqual(200);
      }
      await workedOff(own, loom);
      expect([...ran].sort()).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6']);
    });
  });

  it.each([
    ['cancel', 'canceled', 4],
    ['remove', undefined, 4],
    ['run-now', 'queued', 4],
  ] as const)('%s reaches each, wherever a worker dies', async (action, state, count) => {
    await afterEachCall(open, name, async (own, doomed) => {
      const loom = own.loom(tasks);
      isBroken = true;
      const ids = ['t0', 't1', 't2', 't3'];
      const isLater = action !== 'remove';
      for (const id of ids) {
        await loom.enqueue(work, id, { id, user: id, ...(isLater ? { delay: '1d' } : {}) });
      }
      if (action === 'remove') await workedOff(own, loom);
      await own.clock.advance('61s');
      const { id } = await loom.bulk.start({
        ...{ where: `user:${ids.join(',')}`, action: action satisfies BulkAction, queue: 'ops' },
      });
      await doomed(loom, id);
      await own.clock.advance(2 * LIMITS.leaseMs);
      await loom.worker(BULK_WORKERS).start();
      await own.clock.advance(2 * LIMITS.lostBackoffMs);
      const info = await ended(own, loom, id);
      expect(info).toMatchObject({ state: 'finished', matched: count, done: count, failed: 0 });
      for (const one of ids) expect((await loom.tasks.get(one))?.state).toBe(state);
    });
  });

  describe('a worker that wakes up late', () => {
    it('puts nothing back that has failed again since', async () => {
      const loom = harness.loom(tasks);
      await failures(harness, loom, 6);
      // Its redrives are on their way for as long as its lease lasts, and longer.
      let letGo: () => void = () => undefined;
      const stuck = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const slow = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.redrive' || operation === 'tasks.extend'
          ? { holdUntil: stuck }
          : undefined,
      );
      const where = 'name:work,line,wide,one,two';
      const { id } = await loom.bulk.start({ where, action: 'redrive', queue: 'ops' });
      await startDoomed(harness, slow);
      await harness.jump(3 * LIMITS.leaseMs);
      await loom.worker(BULK_WORKERS).start();
      await harness.clock.advance(2 * LIMITS.leaseMs);
      expect(await ended(harness, loom, id)).toMatchObject({ state: 'finished', done: 9 });
      isBroken = true;
      await workedOff(harness, loom);
      const once = [...ran];
      letGo();
      await harness.quiet();
      await harness.clock.advance(LIMITS.leaseMs);
      await workedOff(harness, loom);
      expect(ran).toEqual(once);
      expect([...once].sort()).toEqual(again(6));
    });
  });

  it.each(['cancel', 'run-now'] as const)(
    '%s leaves tasks alone that have got the ids of others since, also after a death',
    async (action) => {
      const loom = harness.loom(tasks);
      const ids = ['t0', 't1', 't2'];
      const store = async (): Promise<void> => {
        for (const id of ids) await loom.enqueue(work, id, { id, user: 'acme', delay: '1d' });
      };
      const again = async (): Promise<void> => {
        for (const id of ids) {
          await loom.tasks.cancel(id);
          await loom.tasks.remove(id);
        }
        await store();
      };
      await store();
      await harness.clock.advance('61s');
      const where = 'user:acme';
      const early = await loom.bulk.start({ where, action, queue: 'ops' });
      let letGo: () => void = () => undefined;
      const stuck = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const late = ['tasks.cancel', 'tasks.runNow', 'tasks.extend'];
      await startDoomed(
        harness,
        flakyBackend(harness.backend, ({ operation }) =>
          late.includes(operation) ? { holdUntil: stuck } : undefined,
        ),
      );
      // It has written down what it is about to change, and stands there.
      expect(await loom.bulk.get(early.id)).toMatchObject({ state: 'running', matched: 3 });
      const unbegun = await loom.bulk.start({ where, action, queue: 'later' });
      await harness.clock.advance(10);
      await again();
      await harness.jump(3 * LIMITS.leaseMs);
      await loom.worker({ queues: ['ops', 'later'] }).start();
      await harness.clock.advance(2 * LIMITS.lostBackoffMs);
      expect(await ended(harness, loom, early.id)).toMatchObject({ done: 0, skipped: 3 });
      expect(await ended(harness, loom, unbegun.id)).toMatchObject({ matched: 0 });
      for (const id of ids) expect((await loom.tasks.get(id))?.state).toBe('scheduled');
      letGo();
    },
  );

  it('counts what was removed before its turn came as skipped', async () => {
    const loom = harness.loom(tasks);
    await failures(harness, loom, 5);
    const rate = { limit: 1, per: '1s', burst: 1 } as const;
    const { id } = await loom.bulk.start({
      ...{ where: 'name:work id:a0,a1,a2,a3,a4', action: 'redrive', queue: 'ops', rate },
    });
    await loom.worker(BULK_WORKERS).start();
    await harness.clock.advance(1_500);
    await loom.tasks.remove('a3');
    await loom.tasks.remove('a4');
    await harness.clock.advance('10s');
    expect(await ended(harness, loom, id)).toMatchObject({ matched: 5, done: 3, skipped: 2 });
    expect((await harness.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });

  it('says what was gone, and goes on through outages', async () => {
    const loom = harness.loom(tasks);
    await failures(harness, loom, 6);
    await harness.clock.advance('61s');
    const { id } = await loom.bulk.start({
      where: 'name:work id:a0,a1,a2,a3',
      action: 'redrive',
      queue: 'ops',
    });
    let calls = 0;
    const flaky = flakyBackend(harness.backend, ({ operation }) => {
      if (operation !== 'tasks.redrive') return undefined;
      calls++;
      return calls % 2 === 1 ? 'lose-reply' : undefined;
    });
    let removed: Promise<void> | undefined;
    const racing = flakyBackend(flaky, ({ operation }) => {
      if (operation !== 'runs.checkpoint' || removed !== undefined) return undefined;
      removed = loom.tasks.remove('a2');
      return { holdUntil: removed };
    });
    await harness.loom(tasks, { backend: racing }).worker(BULK_WORKERS).start();
    await harness.clock.advance('30s');
    const info = await ended(harness, loom, id);
    expect(info).toMatchObject({ state: 'finished', matched: 4, done: 3, skipped: 1, failed: 0 });
  });

  it('is stored as other inputs are where values are encrypted', async () => {
    const codec = encrypted({ keys: [{ id: 'k', key: new Uint8Array(32).fill(7) }] });
    const loom = harness.loom(tasks, { codec });
    isBroken = true;
    for (const id of ['a0', 'a1']) await loom.enqueue(work, 'S3CRET', { id, user: 'acme' });
    await workedOff(harness, loom);
    isBroken = false;
    ran.length = 0;
    const where = 'error:RangeError "S3CRET is broken"';
    const { id } = await loom.bulk.start({
      where,
      action: 'redrive',
      by: 'S3CRET',
      reason: 'S3CRET',
    });
    const [record] = await harness.backend.inspect.get([id]);
    expect(JSON.stringify(record)).not.toContain('S3CRET');
    await loom.worker({ queues: ['default'] }).start();
    const info = await ended(harness, loom, id);
    expect(info).toMatchObject({ state: 'finished', where, done: 2, by: 'S3CRET' });
    const fields = await harness.backend.runs.load(id);
    expect(JSON.stringify(fields)).not.toContain('"done"');
    await harness.until(async () => (await loom.tasks.counts()).finished === 3);
  });

  it('waits while its user or queue is paused, and keeps to the settings of others', async () => {
    const loom = harness.loom(tasks);
    await failures(harness, loom, 3);
    await loom.users.pause('acme');
    const { id } = await loom.bulk.start({
      where: 'state:failed',
      action: 'redrive',
      queue: 'ops',
    });
    await loom.queues.pause('ops');
    await loom.worker({ queues: ['ops', 'default'] }).start();
    await harness.clock.advance('10s');
    expect((await loom.bulk.get(id))?.state).toBe('queued');
    await loom.queues.resume('ops');
    await harness.clock.advance('10s');
    expect(await ended(harness, loom, id)).toMatchObject({ state: 'finished' });
    // Put back, and not started: their user is paused.
    expect(ran).toEqual([]);
    await loom.users.resume('acme');
    await harness.clock.advance('1s');
    await harness.until(async () => (await loom.tasks.counts()).failed === 0);
  });
});
