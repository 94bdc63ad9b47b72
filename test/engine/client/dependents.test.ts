/** Who waits for a task, and what would end with it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';

const work = task('work', async (n: number) => n);

eachBackend((open) => {
  const harness = opened(open);
  let loom: Fairloom;
  beforeEach(async () => {
    loom = harness.loom([work]);
  });

  /** Stores tasks of these ids, each with whom it waits for and what it does about its end. */
  async function store(
    tasks: Readonly<
      Record<string, readonly [on: readonly string[], policy?: 'wait' | 'cancel' | 'fail' | 'run']>
    >,
  ): Promise<void> {
    for (const [id, [dependsOn, policy]] of Object.entries(tasks)) {
      const policies =
        policy === undefined ? {} : { onUpstreamFailure: policy, onUpstreamCancel: policy };
      await loom.enqueue(work, 1, { id, dependsOn, user: 'ann', ...policies });
      await harness.clock.advance(1);
    }
  }

  describe('who waits for a task', () => {
    // F25
    it('is told by get, explain and a paged list', async () => {
      const others = Array.from({ length: 7 }, (_, at) => `b${at}`);
      await store({ a: [[]], ...Object.fromEntries(others.map((id) => [id, [['a']]])) });
      const dependents = { count: 7, awaitingRedrive: 0, ids: others.slice(0, 5) };
      expect((await loom.tasks.get('a'))?.dependents).toEqual(dependents);
      expect((await loom.tasks.get('b0'))?.dependents).toEqual({
        count: 0,
        awaitingRedrive: 0,
        ids: [],
      });
      expect((await loom.tasks.explain('a')).dependents).toEqual(dependents);
      expect(await loom.tasks.explain('b0')).not.toHaveProperty('dependents');
      const first = await loom.tasks.dependents('a', { limit: 4 });
      const second = await loom.tasks.dependents('a', { limit: 4, cursor: first.cursor });
      const ids = [...first.items, ...second.items].map(({ id }) => id);
      expect(ids).toEqual(others);
      await expect(loom.tasks.dependents('a', { limit: 0 })).rejects.toThrow('limit');
    });

    // F25
    it('tells those that are held apart', async () => {
      const broken = task('broken', { retries: 0 }, async () => {
        throw new Error('no');
      });
      const both = harness.loom([broken, work]);
      await both.enqueue(broken, undefined, { id: 'a' });
      await both.enqueue(work, 1, { id: 'b', dependsOn: ['a'] });
      await both.worker().start();
      await harness.until(
        async () => (await both.tasks.get('a'))?.dependents?.awaitingRedrive === 1,
      );
      expect((await both.tasks.explain('a')).dependents).toEqual({
        count: 1,
        awaitingRedrive: 1,
        ids: ['b'],
      });
      const { items } = await both.tasks.dependents('a');
      expect(items).toMatchObject([{ id: 'b', waits: 'redrive' }]);
      expect(await both.tasks.consequences('a', { ending: 'removal' })).toEqual({
        tasks: [{ id: 'b', name: 'work', user: 'default', state: 'canceled', with: 'a' }],
        count: 1,
        more: false,
      });
      // What has ended is not canceled.
      expect(await both.tasks.consequences('a', { ending: 'cancel' })).toMatchObject({ count: 0 });
    });
  });

  describe('what would end with a task', () => {
    // F24
    it('follows the policies of the edges, and tells by which', async () => {
      await store({
        a: [[]],
        canceled: [['a'], 'cancel'],
        failed: [['a'], 'fail'],
        kept: [['a'], 'run'],
        redriven: [['a'], 'wait'],
        behind: [['canceled', 'a'], 'cancel'],
        last: [['failed'], 'fail'],
        free: [['kept'], 'cancel'],
      });
      const found = await loom.tasks.consequences('a', { ending: 'cancel' });
      const told = found.tasks.map(({ id, state, with: upstream }) => [id, state, upstream]);
      expect(told).toEqual([
        ['canceled', 'canceled', 'a'],
        ['failed', 'failed', 'a'],
        ['behind', 'canceled', 'a'],
        ['last', 'failed', 'failed'],
      ]);
      expect(await loom.tasks.consequences('a', { ending: 'cancel', limit: 1 })).toMatchObject({
        tasks: [{ id: 'canceled' }],
        count: 4,
        more: false,
      });
      await loom.tasks.cancel('a');
      const states = await Promise.all(
        ['canceled', 'failed', 'behind', 'last', 'kept', 'redriven', 'free'].map(
          async (id) => (await loom.tasks.get(id))?.state,
        ),
      );
      expect(states).toEqual([
        'canceled',
        'failed',
        'canceled',
        'failed',
        'queued',
        'deferred',
        'deferred',
      ]);
    });

    // F24
    it('knows what a failure would do, and that what is not there takes nothing along', async () => {
      await store({ a: [[]], b: [['a'], 'cancel'] });
      await loom.enqueue(work, 1, { id: 'c', dependsOn: ['nobody'], onMissing: 'block' });
      const failure = { ending: 'failure' } as const;
      expect(await loom.tasks.consequences('a', failure)).toMatchObject({ count: 1 });
      expect(await loom.tasks.consequences('nobody', failure)).toMatchObject({ count: 0 });
      expect(await loom.tasks.consequences(['a', 'b'], failure)).toMatchObject({ count: 0 });
      const typo = { ending: 'cancel', limt: 3 } as { ending: 'cancel' };
      await expect(loom.tasks.consequences('a', typo)).rejects.toThrow('limt');
      const unexpected = { ending: 'fire' as 'cancel' };
      await expect(loom.tasks.consequences('a', unexpected)).rejects.toThrow('ending');
    });

    // F24
    it('tells hundreds by their number', async () => {
      await store({ a: [[]] });
      const chain = Array.from({ length: 600 }, () => 1);
      await loom.enqueueMany(work, chain, { dependsOn: ['a'], user: 'ann' });
      const found = await loom.tasks.consequences('a', { ending: 'cancel' });
      expect([found.count, found.tasks.length, found.more]).toEqual([600, 100, false]);
    });
  });

  describe.each(['dispatched', 'driven'] as const)('what would end with a %s run', (form) => {
    // F24
    it('tells its open nodes, and tasks outside that wait for it', async () => {
      const steps = work.pipe(work.as('again')).as('steps');
      const both = harness.loom([work, steps]);
      await both.enqueue(steps, 1, { id: 'run', form, delay: '1h' });
      await both.enqueue(work, 1, { id: 'after', dependsOn: ['run'] });
      const { nodes, tasks, count } = await both.runs.consequences('run');
      expect(nodes).toHaveLength(form === 'dispatched' ? 2 : 0);
      expect(tasks).toMatchObject([{ id: 'after', state: 'canceled', with: 'run' }]);
      expect(count).toBe(1);
      await both.runs.cancel('run');
      expect((await both.tasks.get('after'))?.state).toBe('canceled');
      await expect(both.runs.consequences('nobody')).rejects.toMatchObject({
        code: 'TASK_NOT_FOUND',
      });
    });
  });
});
