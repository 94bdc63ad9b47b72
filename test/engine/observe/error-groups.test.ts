/** `loom.dead.groups`: which failures are alike, in what words, and what may be done with a group. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

const charge = task('charge', { retries: 1, backoff: { base: 0 } }, async (order: number) => {
  if (order < 0) throw new RangeError(`status ${-order}`);
  throw new TypeError(`card ${order} of "ann" refused`);
});

eachBackend((open) => {
  const harness = opened(open);

  describe('error groups', () => {
    it('say which errors there are, of how many tasks, in whose words', async () => {
      const loom = harness.loom([charge]);
      await loom.worker({ concurrency: 1 }).start();
      const handles = [];
      for (const order of [1, 2, -404, -500]) handles.push(await loom.enqueue(charge, order));
      for (const handle of handles) await settled(harness, refusal(handle.result()));
      const { items } = await loom.dead.groups();
      const words = items.map(({ error, message, failed, attempts }) =>
        [error, message, failed, attempts].join(' '),
      );
      expect(words.toSorted()).toEqual([
        'RangeError status 404 1 2',
        'RangeError status 500 1 2',
        'TypeError card … of … refused 2 4',
      ]);
      const group = items.find(({ error }) => error === 'TypeError');
      expect(group).toMatchObject({ name: 'charge', sample: handles[1]?.id });
      const listed = await loom.dead.list({ error: group?.id });
      expect(listed.items.map(({ id }) => id)).toEqual(handles.slice(0, 2).map(({ id }) => id));
      expect(listed.items[0]?.cause).toMatchObject({ fingerprint: group?.id });
      const same = await loom.tasks.list({ state: 'failed', error: group?.id });
      expect(same.items).toEqual(listed.items);
      const found = await loom.tasks.search({ where: `error:${group?.id} state:failed` });
      expect([found.items, found.searched]).toEqual([listed.items, 2]);
    });

    it('are put back and taken away as a whole', async () => {
      const loom = harness.loom([charge]);
      const worker = loom.worker();
      await worker.start();
      for (const order of [1, 2, -404]) {
        await settled(harness, refusal((await loom.enqueue(charge, order)).result()));
      }
      await worker.stop();
      const groups = (await loom.dead.groups()).items;
      const [cards, other] = ['TypeError', 'RangeError'].map((name) =>
        groups.find(({ error }) => error === name),
      );
      expect(await loom.dead.redrive({ error: cards?.id })).toEqual({
        changed: 2,
        skipped: 0,
        more: false,
      });
      expect((await loom.dead.groups()).items.map(({ id }) => id)).toEqual([other?.id]);
      await loom.dead.remove({ error: other?.id });
      expect((await loom.dead.groups()).items).toEqual([]);
    });

    it('know what is tried again before anything has failed for good', async () => {
      const flaky = task('flaky', { retries: 5, backoff: { base: '1h' } }, async (n: number) => {
        throw new Error(`no ${n}`);
      });
      const loom = harness.loom([flaky]);
      await loom.worker().start();
      for (let n = 0; n < 3; n++) await loom.enqueue(flaky, n);
      await harness.until(async () => (await loom.dead.groups()).items[0]?.attempts === 3);
      const { items } = await loom.dead.groups();
      expect(items).toMatchObject([{ failed: 0, attempts: 3, error: 'Error', message: 'no …' }]);
    });

    it('of runs are those of their nodes, under the names of these', async () => {
      const fetch = task('fetch', { retries: 0 }, async (): Promise<number> => {
        throw new Error('no page 7');
      });
      const after = task('after', async (n: number) => n);
      const flow = fetch.pipe(after).as('crawl');
      for (const form of ['dispatched', 'driven'] as const) {
        const loom = harness.loom([flow]);
        const worker = loom.worker();
        await worker.start();
        await settled(harness, refusal((await loom.enqueue(flow, undefined, { form })).result()));
        await worker.stop();
      }
      const { items } = await harness.loom([flow]).dead.groups();
      const words = items.map(({ name, message, failed }) => `${name}: ${message} ${failed}`);
      expect(words.toSorted()).toEqual(['crawl: no page … 1', 'fetch: no page … 1']);
    });

    it('of encrypted errors are the same, and do not tell what was thrown without the key', async () => {
      const key = { id: 'k1', key: randomBytes(32) };
      const loom = harness.loom([charge], { codec: encrypted({ keys: [key] }) });
      await loom.worker().start();
      for (const order of [1, 2]) {
        await settled(harness, refusal((await loom.enqueue(charge, order)).result()));
      }
      const [group] = (await loom.dead.groups()).items;
      expect(group).toMatchObject({
        failed: 2,
        error: 'TypeError',
        message: 'card … of … refused',
      });
      const [seen] = (await harness.loom([]).dead.groups()).items;
      expect(seen).toMatchObject({ id: group?.id, failed: 2, name: 'charge' });
      expect(JSON.stringify(seen)).not.toMatch(/card|TypeError/);
      const other = { id: 'k2', key: randomBytes(32) };
      const others = harness.loom([charge], { codec: encrypted({ keys: [other] }) });
      await others.worker({ queues: ['b'] }).start();
      const handle = await others.enqueue(charge, 3, { queue: 'b' });
      await settled(harness, refusal(handle.result()));
      expect((await others.dead.groups()).items).toHaveLength(2);
    });

    it('are asked for by their ids, of failed tasks alone', async () => {
      const loom = harness.loom([charge]);
      const queued = loom.tasks.list({ state: 'finished', error: 'x' });
      await expect(queued).rejects.toMatchObject({ code: 'INVALID_OPTION', option: 'error' });
      await expect(loom.dead.list({ error: '' })).rejects.toMatchObject({ option: 'error' });
      await expect(loom.dead.redrive({ error: 'x', all: true })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      });
      expect(await loom.dead.redrive({ error: '0000000000000000' })).toMatchObject({ changed: 0 });
    });
  });
});
