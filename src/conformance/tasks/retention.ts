/** How long ended tasks are kept, for whom they are kept longer, and that nothing is left. */
import type { NewTask } from '../../domain/task/task.ts';
import { type Cases, retaining } from '../cases.ts';
import { type Kit, REFUSING_EDGES } from '../kit.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** One task in each end state: finished, failed, canceled. */
async function oneOfEach(kit: Kit): Promise<readonly string[]> {
  const [finished, failed, canceled] = await kit.addMany(3);
  await kit.finish(await kit.leaseOne());
  await kit.fail(await kit.leaseOne());
  await kit.cancel(canceled ?? '');
  return [finished ?? '', failed ?? '', canceled ?? ''];
}

/** How long, and how many, by the state of the end. */
export const keeping: Cases = {
  'keeps finished and canceled ones a day, dead letters a week': async (kit, expect) => {
    const ids = await oneOfEach(kit);
    await kit.jump(DAY_MS - MINUTE_MS);
    expect(await kit.states(ids)).toEqual(['finished', 'failed', 'canceled']);
    await kit.jump(2 * MINUTE_MS);
    expect(await kit.states(ids)).toEqual(['missing', 'failed', 'missing']);
    await kit.jump(6 * DAY_MS - 3 * MINUTE_MS);
    expect(await kit.states(ids)).toEqual(['missing', 'failed', 'missing']);
    await kit.jump(3 * MINUTE_MS);
    expect(await kit.states(ids)).toEqual(['missing', 'missing', 'missing']);
    expect((await kit.stats()).counts).toMatchObject({ finished: 0, failed: 0, canceled: 0 });
  },

  // F73
  'keeps everything for a minute where a resend may come late, and nowhere else': retaining(
    { finishedMs: 0, failedMs: 0, canceledMs: 0 },
    async (kit, expect) => {
      const ids = await oneOfEach(kit);
      await kit.advance(kit.leastKeptMs() - 1);
      expect(await kit.states(ids)).toEqual(['finished', 'failed', 'canceled']);
      await kit.advance(2);
      expect(await kit.states(ids)).toEqual(['missing', 'missing', 'missing']);
    },
  ),

  'keeps as many as it was told, the newest': retaining(
    { finishedCount: 3, canceledCount: 0 },
    async (kit, expect) => {
      const ids: string[] = [];
      for (let i = 0; i < 8; i++) {
        const id = await kit.add();
        ids.push(id);
        await kit.runToEnd(id);
        await kit.shift(10);
      }
      const canceled = await kit.add();
      await kit.cancel(canceled);
      expect((await kit.stats()).counts.finished).toBe(8);
      await kit.advance(MINUTE_MS + 1);
      const kept = (await kit.states(ids)).filter((state) => state !== 'missing');
      expect(kept).toHaveLength(3);
      expect(await kit.states(ids.slice(-3))).toEqual(['finished', 'finished', 'finished']);
      expect(await kit.state(canceled)).toBe('missing');
    },
  ),

  'of more than it was told, keeps those that a late resend may look for': retaining(
    { finishedCount: 1 },
    async (kit, expect) => {
      const old = await kit.add();
      await kit.runToEnd(old);
      await kit.advance(MINUTE_MS);
      const ids = [await kit.add(), await kit.add(), await kit.add()];
      for (const id of ids) await kit.runToEnd(id);
      await kit.advance(kit.leastKeptMs() - 1);
      expect(await kit.state(old)).toBe('missing');
      expect(await kit.states(ids)).toEqual(['finished', 'finished', 'finished']);
      await kit.advance(MINUTE_MS);
      expect(await kit.states(ids)).toEqual(['missing', 'missing', 'finished']);
    },
  ),

  'of more than it was told, takes no younger one in the step that takes an old one': retaining(
    { finishedCount: 1 },
    async (kit, expect) => {
      const old = await kit.add();
      await kit.runToEnd(old);
      await kit.advance(kit.leastKeptMs() - 10);
      const ids = [await kit.add(), await kit.add(), await kit.add()];
      for (const id of ids) await kit.runToEnd(id);
      await kit.advance(20);
      expect(await kit.states([old, ...ids])).toEqual([
        'missing',
        'finished',
        'finished',
        'finished',
      ]);
    },
  ),

  'removes in its time what ended in the step that passed one that is read': retaining(
    { finishedMs: MINUTE_MS },
    async (kit, expect) => {
      const first = await kit.add();
      await kit.runToEnd(first);
      await kit.add({ dependsOn: [first], delayMs: 10 * MINUTE_MS });
      await kit.advance(MINUTE_MS - 1);
      const second = await kit.add();
      const { id, token } = await kit.leaseOne();
      await kit.shift(2);
      const settlements = [{ id, token, decision: { type: 'finish', result: 'null' } }] as const;
      await kit.backend.tasks.settle({ worker: 'w', settlements, lease: kit.request() });
      expect(await kit.states([first, second])).toEqual(['finished', 'finished']);
      await kit.advance(MINUTE_MS + 1);
      expect(await kit.states([first, second])).toEqual(['finished', 'missing']);
    },
  ),

  'removes in its time who is canceled since one that it waited for was removed': retaining(
    { canceledMs: MINUTE_MS },
    async (kit, expect) => {
      const first = await kit.add();
      await kit.cancel(first);
      const second = await kit.add({
        dependsOn: [first],
        edges: { ...REFUSING_EDGES, onCancel: 'wait' },
      });
      await kit.advance(MINUTE_MS + 1);
      expect(await kit.states([first, second])).toEqual(['missing', 'canceled']);
      await kit.advance(MINUTE_MS + 1);
      expect(await kit.states([first, second])).toEqual(['missing', 'missing']);
    },
  ),

  'of as many as it was told, counts those that are read': retaining(
    { finishedCount: 2 },
    async (kit, expect) => {
      const ids = [await kit.add(), await kit.add(), await kit.add()];
      for (const id of ids) await kit.runToEnd(id);
      await kit.add({ dependsOn: ids.slice(0, 1), delayMs: 60 * MINUTE_MS });
      await kit.advance(MINUTE_MS + 1);
      expect(await kit.states(ids)).toEqual(['finished', 'missing', 'finished']);
    },
  ),

  // O22
  'removes in bounded steps': retaining({ finishedMs: 0 }, async (kit, expect) => {
    await kit.addMany(300);
    await kit.serve(300, { batch: 60 });
    await kit.shift(MINUTE_MS + 1);
    const { more } = await kit.backend.tasks.tick();
    expect(more).toBe(true);
    expect((await kit.stats()).counts.finished).toBeGreaterThanOrEqual(200);
    await kit.rest();
    expect((await kit.stats()).counts.finished).toBe(0);
  }),

  'an id is free again once its record is gone': retaining(
    { finishedMs: 0 },
    async (kit, expect) => {
      await kit.add({ id: 'again', payload: '1' });
      await kit.runToEnd('again');
      await kit.advance(MINUTE_MS + 1);
      await kit.add({ id: 'again', payload: '2' });
      expect((await kit.leaseOne()).payload).toBe('2');
    },
  ),
};

const AT_ONCE = { finishedMs: 0, failedMs: 0, canceledMs: 0 } as const;

/** `first` has finished; `second` depends on it and runs. */
async function slowReader(
  kit: Kit,
  fields: Partial<NewTask> = {},
): Promise<readonly [string, string]> {
  const first = await kit.add();
  const second = await kit.add({ dependsOn: [first], ...fields });
  await kit.runToEnd(first, '"kept"');
  return [first, second];
}

/** Results that a dependent has still to read are kept longer. */
export const readers: Cases = {
  // O59
  'keeps a result while a dependent has not ended': retaining(AT_ONCE, async (kit, expect) => {
    const [first, second] = await slowReader(kit);
    const third = await kit.add({ dependsOn: [second] });
    await kit.advance(2 * MINUTE_MS);
    expect(await kit.states([first, second, third])).toEqual(['finished', 'queued', 'deferred']);
    const leased = await kit.leaseOne();
    expect(leased.upstreams).toMatchObject([{ id: first, result: '"kept"' }]);
    await kit.finish(leased, '2');
    const last = await kit.leaseOne();
    expect(last.upstreams).toMatchObject([{ id: second, result: '2' }]);
    await kit.finish(last);
    await kit.advance(2 * MINUTE_MS);
    expect(await kit.states([first, second, third])).toEqual(['missing', 'missing', 'missing']);
  }),

  'what is kept for a reader does not hold up the others': retaining(
    AT_ONCE,
    async (kit, expect) => {
      for (let i = 0; i < 120; i++) {
        const id = await kit.add({ user: 'bob' });
        await kit.add({ user: 'bob', dependsOn: [id], delayMs: 60 * MINUTE_MS });
      }
      await kit.serve(120, { batch: 40 });
      await kit.advance(1_000);
      const ids = await kit.addMany(10, { user: 'cat' });
      await kit.serve(10);
      await kit.advance(MINUTE_MS + 1);
      expect(new Set(await kit.states(ids))).toEqual(new Set(['missing']));
    },
  ),

  'keeps it for a dead letter, which may be redriven': retaining(
    { ...AT_ONCE, failedMs: 10 * MINUTE_MS },
    async (kit, expect) => {
      const [first, second] = await slowReader(kit);
      await kit.fail(await kit.leaseOne());
      await kit.advance(2 * MINUTE_MS);
      expect(await kit.states([first, second])).toEqual(['finished', 'failed']);
      await kit.backend.tasks.redrive(second);
      expect((await kit.leaseOne()).upstreams).toMatchObject([{ id: first, result: '"kept"' }]);
    },
  ),

  'lets it go when the reader is canceled or removed': retaining(
    { ...AT_ONCE, failedMs: 5 * MINUTE_MS },
    async (kit, expect) => {
      const [first, second] = await slowReader(kit);
      await kit.cancel(second);
      await kit.advance(2 * MINUTE_MS);
      expect(await kit.state(first)).toBe('missing');
      const [third, fourth] = await slowReader(kit);
      await kit.fail(await kit.leaseOne());
      await kit.advance(2 * MINUTE_MS);
      expect(await kit.state(third)).toBe('finished');
      await kit.backend.tasks.remove(fourth);
      await kit.advance(1_000);
      expect(await kit.state(third)).toBe('missing');
    },
  ),
};

/** Once everything is over nothing is stored any more. */
export const leftovers: Cases = {
  'users that are done leave nothing behind': retaining(AT_ONCE, async (kit, expect) => {
    const users = Array.from({ length: 300 }, (_, i) => `user-${i}`);
    await kit.send(...users.map((user) => ({ user })));
    await kit.serve(300, { batch: 50 });
    await kit.advance(MINUTE_MS + 1);
    expect((await kit.backend.users.list('default', { limit: 10 })).items).toEqual([]);
    expect(await kit.user('user-7')).toBeUndefined();
    const { counts } = await kit.stats();
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(0);
    expect(await kit.runnable()).toBe(0);
  }),

  'users that were canceled, expired, failed or redriven leave nothing behind': retaining(
    AT_ONCE,
    async (kit, expect) => {
      await kit.cancel(await kit.add({ user: 'a' }));
      await kit.cancel(await kit.add({ user: 'b', delayMs: 1_000 }));
      await kit.add({ user: 'c', expiresInMs: 1_000, delayMs: 10 });
      const upstream = await kit.add({ user: 'd' });
      const edges = { ...REFUSING_EDGES, onFailure: 'fail' } as const;
      await kit.add({ user: 'd', dependsOn: [upstream], edges });
      await kit.fail(await kit.leaseOne());
      await kit.add({ user: 'e', idempotency: { key: 'k', policy: 'return' } });
      await kit.serve(1);
      await kit.advance(2_000);
      await kit.backend.tasks.redrive(upstream);
      await kit.serve(1);
      await kit.advance(2 * MINUTE_MS);
      expect((await kit.backend.users.list('default', { limit: 10 })).items).toEqual([]);
      const { counts } = await kit.stats();
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(0);
    },
  ),
};
