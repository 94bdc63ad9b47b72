/** Bulk actions: what each changes and what it leaves, how fast, and what is told of it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { BulkInfo, BulkOptions } from '../../../src/bulk/bulk-facade.ts';
import type { Fairloom } from '../../../src/client/client.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const broken = new Set<string>();
const ran: string[] = [];
const work = task('work', { retries: 0 }, async (name: string) => {
  ran.push(name);
  if (broken.has(name)) throw new RangeError(`${name} is broken`);
  return name;
});
const other = task('other', { retries: 0 }, async (name: string) => {
  ran.push(name);
  throw new TypeError(`${name} is broken`);
});

eachBackend((open) => {
  const harness = opened(open);
  beforeEach(async () => {
    ran.length = 0;
    broken.clear();
  });

  /** So many that have failed, `a0`, `a1`, …; half of them another's. */
  async function failed(loom: Fairloom, count: number): Promise<readonly string[]> {
    const names = Array.from({ length: count }, (_, n) => `a${n}`);
    for (const name of names) broken.add(name);
    const worker = loom.worker({ concurrency: 10 });
    await worker.start();
    for (const [at, name] of names.entries()) {
      await loom.enqueue(work, name, { id: name, user: at % 2 === 0 ? 'acme' : 'beta' });
    }
    await harness.until(async () => (await loom.tasks.counts()).failed === count);
    await worker.stop();
    broken.clear();
    ran.length = 0;
    await harness.clock.advance(10);
    return names;
  }

  async function ended(loom: Fairloom, id: string): Promise<BulkInfo> {
    let info: BulkInfo | undefined;
    await harness.until(async () => {
      info = await loom.bulk.get(id);
      return info?.endedAt !== undefined;
    });
    if (info === undefined) throw new Error(`${id} is not stored`);
    return info;
  }

  /** Carried out to its end, while no time passes. */
  async function carriedOut(loom: Fairloom, options: BulkOptions): Promise<BulkInfo> {
    const { id } = await loom.bulk.start(options);
    const worker = loom.worker({ concurrency: 10 });
    await worker.start();
    const info = await ended(loom, id);
    await worker.stop();
    return info;
  }

  it('puts dead letters back that its filter means, and no others', async () => {
    const loom = harness.loom([work, other]);
    await failed(loom, 8);
    const started = await loom.bulk.start({
      where: 'user:acme state:failed',
      action: 'redrive',
      by: 'ann',
      reason: 'the host is back',
    });
    const asked = { action: 'redrive', where: 'user:acme state:failed', dryRun: false, by: 'ann' };
    expect(started).toEqual({
      ...asked,
      ...{ id: started.id, reason: 'the host is back', queue: 'default', state: 'queued' },
      ...{ createdAt: harness.clock.now(), done: 0, skipped: 0, failed: 0, errors: [] },
    });
    const worker = loom.worker();
    await worker.start();
    const info = await ended(loom, started.id);
    expect(info).toMatchObject({ ...asked, state: 'finished', matched: 4, done: 4, skipped: 0 });
    await harness.until(async () => (await loom.tasks.counts()).finished === 5);
    expect([...ran].sort()).toEqual(['a0', 'a2', 'a4', 'a6']);
    expect((await loom.tasks.get(started.id))?.result).toEqual({
      ...{ matched: 4, done: 4, skipped: 0, failed: 0 },
    });
  });

  it('cancels what has not ended, in every state', async () => {
    const loom = harness.loom([work]);
    const hold = task('hold', { timeout: 'none' }, (_: string, ctx) => {
      return new Promise<never>((_resolve, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error));
      });
    });
    const holder = harness.loom([work, hold]);
    const worker = holder.worker({ concurrency: 2, queues: ['holds'] });
    await worker.start();
    await holder.enqueue(hold, '', { id: 'started', user: 'acme', queue: 'holds' });
    await harness.until(async () => (await loom.tasks.get('started'))?.state === 'started');
    await loom.enqueue(work, '', { id: 'later', user: 'acme', delay: '1h' });
    await loom.enqueue(work, '', { id: 'waits', user: 'acme', dependsOn: ['later'] });
    await loom.enqueue(work, '', { id: 'queued', user: 'acme', queue: 'nobody' });
    await loom.enqueue(work, '', { id: 'foreign', user: 'beta', queue: 'nobody' });
    const info = await carriedOut(loom, { where: 'user:acme', action: 'cancel', reason: 'gone' });
    expect(info).toMatchObject({ state: 'finished', done: 3, failed: 0 });
    const ids = ['started', 'later', 'waits', 'queued'];
    await harness.until(async () => (await loom.tasks.get('started'))?.state === 'canceled');
    for (const id of ids) expect(await loom.tasks.get(id)).toMatchObject({ state: 'canceled' });
    expect((await loom.tasks.get('later'))?.cause).toEqual({ type: 'request', reason: 'gone' });
    expect((await loom.tasks.get('foreign'))?.state).toBe('queued');
  });

  it('removes what has ended, and makes due what is delayed', async () => {
    const loom = harness.loom([work]);
    const names = await failed(loom, 4);
    await loom.enqueue(work, 'x', { id: 'x', user: 'acme', delay: '1h' });
    await loom.enqueue(work, 'y', { id: 'y', user: 'beta', delay: '1h' });
    const due = await carriedOut(loom, { where: 'user:acme name:work', action: 'run-now' });
    expect(due).toMatchObject({ state: 'finished', matched: 1, done: 1 });
    await harness.quiet();
    expect((await loom.tasks.get('y'))?.state).toBe('scheduled');
    const gone = await carriedOut(loom, { where: 'error:RangeError -id:a1', action: 'remove' });
    expect(gone).toMatchObject({ state: 'finished', matched: 3, done: 3 });
    const left = await Promise.all(names.map((id) => loom.tasks.get(id)));
    expect(left.map((one) => one?.id)).toEqual([undefined, 'a1', undefined, undefined]);
  });

  it('changes nothing in a dry run, and counts', async () => {
    const loom = harness.loom([work]);
    await failed(loom, 6);
    const info = await carriedOut(loom, { where: 'user:beta', action: 'redrive', dryRun: true });
    expect(info).toMatchObject({ state: 'finished', dryRun: true, matched: 3, done: 0 });
    expect((await loom.tasks.counts()).failed).toBe(6);
  });

  it('leaves what has failed since it was started', async () => {
    const loom = harness.loom([work, other]);
    await failed(loom, 2);
    const { id } = await loom.bulk.start({
      ...{ where: 'state:failed', action: 'redrive', queue: 'ops' },
    });
    await harness.clock.advance(5);
    await loom.enqueue(other, 'late', { id: 'late', user: 'acme', priority: 'critical' });
    const worker = loom.worker({ queues: ['ops', 'default'], concurrency: 1 });
    const first = loom.worker({ queues: ['default'], concurrency: 1 });
    await first.start();
    await harness.until(async () => (await loom.tasks.get('late'))?.state === 'failed');
    await first.stop();
    await worker.start();
    const info = await ended(loom, id);
    expect(info).toMatchObject({ matched: 2, done: 2, skipped: 0 });
    expect((await loom.tasks.get('late'))?.state).toBe('failed');
    expect(ran.filter((name) => name === 'late')).toEqual(['late']);
  });

  describe('its rate', () => {
    it.each([
      { limit: 1, per: '1s', burst: 1 },
      { limit: 2, per: '10s', burst: 1 },
      { limit: 10, per: '1s', burst: 1 },
      { limit: 50, per: '1s', burst: 5 },
    ] as const)('is kept: $limit in $per, $burst at once', async ({ limit, per, burst }) => {
      const loom = harness.loom([work]);
      const count = 25;
      await failed(loom, count);
      const moments: number[] = [];
      const rate = { limit, per, burst };
      const { id } = await loom.bulk.start({ where: 'state:failed', action: 'redrive', rate });
      const watching = flakyBackend(harness.backend, ({ operation }) => {
        if (operation === 'tasks.redrive') moments.push(harness.clock.now());
        return undefined;
      });
      const worker = harness.loom([work], { backend: watching }).worker({ concurrency: 4 });
      const from = harness.clock.now();
      await worker.start();
      const perMs = per === '1s' ? 1_000 : 10_000;
      const whole = ((count - burst) * perMs) / limit;
      await harness.clock.advance(Math.floor(whole) - 1);
      await harness.quiet();
      expect((await loom.bulk.get(id))?.state).toBe('running');
      await harness.clock.advance(2_000 + whole / 10);
      const info = await ended(loom, id);
      expect(info).toMatchObject({ matched: count, done: count });
      expect(moments).toHaveLength(count);
      // No more than the rate lets through, in any stretch of time.
      for (const [first, start] of moments.entries()) {
        for (const [last, end] of moments.entries()) {
          if (last < first) continue;
          expect(last - first + 1).toBeLessThanOrEqual(burst + ((end - start + 1) * limit) / perMs);
        }
      }
      expect((moments.at(-1) ?? 0) - from).toBeLessThan(whole * 1.05 + 200);
    });
  });

  it('is canceled, tells what it had done, and changes nothing more', async () => {
    const loom = harness.loom([work]);
    await failed(loom, 20);
    const rate = { limit: 10, per: '1s' } as const;
    const { id } = await loom.bulk.start({ where: 'state:failed', action: 'redrive', rate });
    const worker = loom.worker({ concurrency: 4 });
    await worker.start();
    await harness.clock.advance(450);
    expect(await loom.bulk.cancel(id, { reason: 'enough' })).toMatchObject({ kind: 'requested' });
    const info = await ended(loom, id);
    expect(info).toMatchObject({ state: 'canceled', done: 5 });
    await harness.clock.advance('10s');
    expect((await loom.tasks.counts()).failed).toBe(15);
    expect(ran).toHaveLength(5);
    expect(await loom.bulk.cancel(id)).toEqual({ kind: 'already-ended', state: 'canceled' });
    expect(await loom.bulk.cancel('a1')).toEqual({ kind: 'not-found' });
    const waiting = await loom.bulk.start({ where: 'state:failed', action: 'redrive', queue: 'q' });
    expect(await loom.bulk.cancel(waiting.id)).toEqual({ kind: 'canceled' });
    expect(await loom.bulk.get(waiting.id)).toMatchObject({ state: 'canceled', done: 0 });
  });

  it('is listed, the newest first, while its task is kept', async () => {
    const loom = harness.loom([work]);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      const { id } = await loom.bulk.start({ where: `user:u${n}`, action: 'cancel' });
      ids.unshift(id);
      await harness.clock.advance(5);
    }
    const list = async (): Promise<readonly string[]> => {
      return (await loom.bulk.list()).items.map(({ id }) => id);
    };
    expect(await list()).toEqual(ids);
    const first = await loom.bulk.list({ limit: 2 });
    const rest = await loom.bulk.list({ limit: 10, cursor: first.cursor });
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(ids);
    await loom.bulk.cancel(ids[1] ?? '');
    await harness.clock.advance('61s');
    await loom.tasks.remove(ids[1] ?? '');
    expect(await list()).toEqual(ids.filter((_, at) => at !== 1));
    expect(await loom.bulk.get(ids[1] ?? '')).toBeUndefined();
    expect(await loom.bulk.get('none')).toBeUndefined();
  });

  it.each([
    [{ where: '', action: 'redrive' }, 'where'],
    [{ where: 'state:queued', action: 'redrive' }, 'redrive applies to: failed'],
    [{ where: 'state:gone', action: 'redrive' }, 'at character 7'],
    [{ where: 'user:a', action: 'explode' }, 'action'],
    [{ where: 'user:a', action: 'cancel', rate: { limit: 0, per: '1s' } }, 'rate.limit'],
    [{ where: 'user:a', action: 'cancel', dryRun: 'yes' }, 'dryRun'],
    [{ where: 'user:a', action: 'cancel', by: 7 }, 'by'],
    [{ where: 'user:a', action: 'cancel', queue: 'a/b' }, 'queue'],
    [{ where: 'user:a', action: 'cancel', more: 1 }, 'more'],
  ])('refuses %o', async (options, message) => {
    const loom = harness.loom([work]);
    await expect(loom.bulk.start(options as BulkOptions)).rejects.toThrow(message);
    expect((await loom.bulk.list()).items).toEqual([]);
  });
});
