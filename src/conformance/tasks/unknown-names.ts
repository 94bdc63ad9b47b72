import { LIMITS } from '../../domain/limits.ts';
import type { TaskRow } from '../../domain/task/task.ts';
import type { Cases } from '../cases.ts';
import type { Kit } from '../kit.ts';

const UNKNOWN = { name: 'strange' };
const AN_HOUR = LIMITS.unknownTaskMs;

/** A worker that knows nothing but the strange ones. */
async function knowing(kit: Kit, id = 'knows'): Promise<string> {
  await kit.worker(id, { names: ['strange'] });
  return id;
}

/** Stores so many strange ones, and lets a worker come to them that does not know them. */
async function parked(
  kit: Kit,
  count = 1,
  fields: Parameters<Kit['task']>[0] = {},
): Promise<readonly string[]> {
  const ids = await kit.addMany(count, { ...UNKNOWN, ...fields });
  for (let more = true; more; ) more = (await kit.leaseReply({ limit: 5 })).more;
  return ids;
}

/** Nothing is out of place, and a user's queued tasks are these, in this order. */
async function whole(kit: Kit, ids: readonly string[], user = 'ann'): Promise<void> {
  kit.expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  const filter = { state: 'queued', queue: 'default', user } as const;
  const items: TaskRow[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const page = { limit: 2, ...(cursor === '' ? {} : { cursor }) };
    const found = await kit.backend.inspect.list(filter, page);
    items.push(...found.items);
    cursor = found.cursor;
  }
  kit.expect(items.map(({ id }) => id)).toEqual(ids);
  kit.expect((await kit.user(user))?.queued ?? 0).toBe(ids.length);
}

/** Tasks whose name the leasing worker does not know. */
export const unknownNames: Cases = {
  // F69
  'are left where they stand, and hold up no task behind them': async (kit, expect) => {
    const unknown = await kit.add(UNKNOWN);
    const [id = '', after = ''] = await kit.addMany(2);
    expect(await kit.leaseIds(1)).toEqual([id]);
    expect(await kit.record(unknown)).toMatchObject({
      state: 'queued',
      failures: 0,
      losses: 0,
      releases: 0,
    });
    expect(await kit.backend.inspect.facts(unknown)).toMatchObject({ parked: true, ahead: 0 });
    expect(await kit.user('ann')).toMatchObject({
      queued: 2,
      parked: 1,
      levels: [0, 0, 2, 0, 0, 0],
    });
    expect(await kit.backend.inspect.facts(after)).toMatchObject({ ahead: 1 });
    await whole(kit, [unknown, after]);
    expect((await kit.queue())?.counts).toMatchObject({ queued: 2, started: 1, scheduled: 0 });
  },

  'are given at once to a worker that knows them, in their old places': async (kit, expect) => {
    const [first = '', second = ''] = await kit.addMany(2, UNKNOWN);
    const both = await kit.add();
    const last = await kit.add(UNKNOWN);
    expect(await kit.leaseIds(5)).toEqual([both]);
    await kit.worker('all', { names: ['work', 'strange'] });
    const newest = await kit.add();
    await whole(kit, [first, second, last, newest]);
    expect(await kit.leaseOne({ worker: 'all' })).toMatchObject({ id: first, attempt: 1 });
    expect(await kit.leaseIds(5, { worker: 'all' })).toEqual([second, last, newest]);
    await whole(kit, []);
  },

  'cost a worker that knows other names nothing, and are brought back once': async (
    kit,
    expect,
  ) => {
    const worker = await knowing(kit);
    for (let i = 0; i < 10; i++) {
      await kit.add(UNKNOWN);
      await kit.add();
    }
    expect(await kit.serve(20, { batch: 10 })).toHaveLength(10);
    expect(await kit.serve(20, { batch: 10, worker })).toHaveLength(10);
    await whole(kit, []);
  },

  'among many turns go by the rule: who has parked is the next again': async (kit, expect) => {
    const worker = await knowing(kit);
    // Of each user a run of tasks of unknown names, one for the worker, another run, and one more.
    const users = Array.from({ length: 12 }, (_, at) => `u${at}`);
    for (const [at, user] of users.entries()) {
      const names = [...Array(at % 4).fill('strange'), 'work', ...Array(at % 3).fill('strange')];
      for (const name of [...names, 'work', ...(at % 2 === 0 ? ['strange'] : [])]) {
        await kit.add({ user, name });
      }
    }
    const first = await kit.lease(12);
    expect(first.map(({ user }) => user)).toEqual(users);
    expect((await kit.lease(30)).map(({ user }) => user)).toEqual(users);
    expect(await kit.lease(30)).toEqual([]);
    const unknown = (await kit.lease(50, { worker })).map(({ user }) => user);
    const most = users.map((_, at) => (at % 4) + (at % 3) + (at % 2 === 0 ? 1 : 0));
    expect(users.map((user) => unknown.filter((one) => one === user).length)).toEqual(most);
    await whole(kit, [], 'u0');
  },

  'that come back and are not served are parked as before': async (kit, expect) => {
    const worker = await knowing(kit);
    for (const user of ['ann', 'bob', 'cid']) await kit.addMany(2, { ...UNKNOWN, user });
    const ids = await kit.addMany(6);
    expect(await kit.leaseIds(1)).toEqual(ids.slice(0, 1));
    expect(await kit.user('ann')).toMatchObject({ queued: 7, parked: 2 });
    expect((await kit.lease(2, { worker })).map(({ user }) => user)).toEqual(['bob', 'cid']);
    // It had its turn, and is behind them; no other worker reaches its unknown ones meanwhile.
    expect(await kit.user('ann')).toMatchObject({ queued: 7, parked: 2 });
    expect(await kit.leaseIds(9)).toEqual(ids.slice(1));
    expect(await kit.lease(9, { worker })).toHaveLength(4);
    await whole(kit, []);
  },

  'that come back to an empty line and are not served leave it again': async (kit, expect) => {
    await kit.worker('all', { names: ['work', 'strange'] });
    const unknown = await (async () => {
      await kit.add({ user: 'bob' });
      return kit.add({ ...UNKNOWN, user: 'bob' });
    })();
    const ids = await kit.addMany(6);
    expect((await kit.lease(4)).map(({ user }) => user)).toEqual(['bob', 'ann', 'ann', 'ann']);
    expect(await kit.user('bob')).toMatchObject({ queued: 1, parked: 1 });
    // It is level with ann, and came after her.
    expect(await kit.leaseIds(1, { worker: 'all' })).toEqual(ids.slice(3, 4));
    expect(await kit.user('bob')).toMatchObject({ queued: 1, parked: 1 });
    await whole(kit, [unknown], 'bob');
    expect((await kit.leaseIds(3, { worker: 'all' })).toSorted()).toEqual(
      [unknown, ...ids.slice(4)].toSorted(),
    );
    await whole(kit, [], 'bob');
  },

  'may be a version that a worker has not got: it has others, and the name alone': async (
    kit,
    expect,
  ) => {
    await kit.worker('old', { names: ['work', 'work@1'] });
    const needed = { name: 'work@2' };
    const [kept = ''] = await kit.addMany(1, needed);
    const [first = '', second = ''] = [await kit.add({ name: 'work@1' }), await kit.add()];
    expect(await kit.leaseIds(5, { worker: 'old' })).toEqual([first, second]);
    expect(await kit.backend.inspect.facts(kept)).toMatchObject({ parked: true });
    await whole(kit, [kept]);
    await kit.worker('new', { names: ['work', 'work@2'] });
    expect(await kit.leaseOne({ worker: 'new' })).toMatchObject({ id: kept, name: 'work@2' });
  },

  'are listed by their name, with every version of it or with one': async (kit, expect) => {
    const add = (name: string): Promise<string> => kit.add({ name, delayMs: 60_000 });
    const [one, two, alone, longer] = [
      ...[await add('work@1'), await add('work@2'), await add('work'), await add('worker@1')],
    ];
    const named = async (state: 'scheduled' | 'started', name: string): Promise<Set<string>> => {
      const page = await kit.backend.inspect.list({ state, name }, { limit: 10 });
      return new Set(page.items.map(({ id }) => id));
    };
    expect(await named('scheduled', 'work')).toEqual(new Set([one, two, alone]));
    expect(await named('scheduled', 'work@2')).toEqual(new Set([two]));
    expect(await named('scheduled', 'worker')).toEqual(new Set([longer]));
    await kit.advance(61_000);
    await kit.worker('all', { names: ['work', 'work@1', 'work@2', 'worker@1'] });
    expect(await kit.leaseIds(9, { worker: 'all' })).toHaveLength(4);
    expect(await named('started', 'work')).toEqual(new Set([one, two, alone]));
    expect(await named('started', 'work@1')).toEqual(new Set([one]));
  },

  'cost their user no turn and no rate': async (kit, expect) => {
    await kit.setUser('ann', { rate: { limit: 1, perMs: 60_000, burst: 1 } });
    await kit.add(UNKNOWN);
    const id = await kit.add();
    expect(await kit.leaseIds(5)).toEqual([id]);
  },

  'are looked at sixty-four at a time': async (kit, expect) => {
    await kit.addMany(LIMITS.unknownNamesPerLease + 20, UNKNOWN);
    const id = await kit.add();
    expect(await kit.leaseReply({ limit: 10 })).toMatchObject({ leases: [], more: true });
    expect(await kit.user('ann')).toMatchObject({ parked: LIMITS.unknownNamesPerLease });
    expect(await kit.leaseIds(10)).toEqual([id]);
  },

  'come back user by user, so that a crowd of one user hides no other user': async (
    kit,
    expect,
  ) => {
    const worker = await knowing(kit);
    await parked(kit, 30, { user: 'ann' });
    await parked(kit, 2, { user: 'bob' });
    await parked(kit, 2, { user: 'cid' });
    const users = (await kit.lease(6, { worker })).map(({ user }) => user);
    expect(users.sort()).toEqual(['ann', 'ann', 'bob', 'bob', 'cid', 'cid']);
  },

  'come back level by level, so that a crowd of one hides none': async (kit, expect) => {
    const worker = await knowing(kit);
    await parked(kit, 30, { level: 1 });
    const [urgent] = await parked(kit, 1, { level: 6 });
    expect(await kit.leaseIds(2, { worker })).toContain(urgent);
  },

  'come back by the weight of their user': async (kit, expect) => {
    const worker = await knowing(kit);
    await kit.setUser('ann', { weight: 300 });
    await parked(kit, 12, { user: 'ann' });
    await parked(kit, 12, { user: 'bob' });
    const users = (await kit.lease(8, { worker })).map(({ user }) => user);
    expect(users.filter((user) => user === 'ann')).toHaveLength(6);
  },

  'stay parked while their queue gives nothing': async (kit, expect) => {
    const worker = await knowing(kit);
    const ids = await parked(kit, 3);
    await kit.setQueue({ paused: true });
    expect(await kit.leaseIds(5, { worker })).toEqual([]);
    await whole(kit, ids);
    await kit.setQueue({ paused: false, maxRunning: 2 });
    expect(await kit.leaseIds(5, { worker })).toEqual(ids.slice(0, 2));
    await whole(kit, ids.slice(2));
  },

  'of a paused user hide no other user, and wait for it in line': async (kit, expect) => {
    const worker = await knowing(kit);
    const ids = await parked(kit, 5, { user: 'ann' });
    const [other] = await parked(kit, 1, { user: 'bob' });
    await kit.setUser('ann', { paused: true });
    expect((await kit.serve(1, { worker })).map(({ id }) => id)).toEqual([other]);
    await kit.setUser('ann', { paused: false });
    expect((await kit.serve(9, { worker })).map(({ id }) => id)).toEqual(ids);
  },

  'are canceled, and replaced, where they are': async (kit, expect) => {
    const [a = '', b = '', c = ''] = await parked(kit, 3);
    const below = await kit.add({
      dependsOn: [b],
      edges: { ...kit.task().edges, onCancel: 'run' },
    });
    expect(await kit.cancel(b)).toMatchObject({ kind: 'canceled' });
    await whole(kit, [a, c, below]);
    expect((await kit.stats()).counts).toMatchObject({ queued: 3, canceled: 1 });
    const worker = await knowing(kit);
    expect(await kit.leaseIds(5, { worker })).toEqual([a, c]);
    expect(await kit.leaseIds(5)).toEqual([below]);
  },

  'expire where they are': async (kit, expect) => {
    const [id = ''] = await parked(kit, 1, { expiresInMs: 60_000 });
    await kit.advance(61_000);
    expect(await kit.record(id)).toMatchObject({ state: 'failed', cause: { type: 'expired' } });
    await whole(kit, []);
  },

  'count for how many a user may have queued': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 2 });
    await parked(kit, 2);
    expect(await kit.sendOne()).toMatchObject({ kind: 'refused' });
  },

  'fail after an hour in which no live worker knew them': async (kit, expect) => {
    const [id = ''] = await parked(kit);
    const below = await kit.add({ dependsOn: [id] });
    for (let passed = 0; passed < AN_HOUR; passed += 60_000) {
      expect(await kit.state(id)).toBe('queued');
      await kit.advance(60_000);
      await kit.lease();
    }
    await kit.rest();
    expect(await kit.record(id)).toMatchObject({
      state: 'failed',
      cause: { type: 'unknown-task' },
    });
    expect(await kit.state(below)).toBe('deferred');
    await whole(kit, []);
    await kit.backend.tasks.redrive(id);
    await whole(kit, [id]);
    expect(await kit.leaseIds(1, { worker: await knowing(kit) })).toEqual([id]);
  },

  'wait on while some live worker knows them': async (kit, expect) => {
    const [id = ''] = await parked(kit);
    for (let passed = 0; passed <= AN_HOUR; passed += 60_000) {
      await knowing(kit);
      await kit.advance(60_000);
    }
    await kit.rest();
    expect(await kit.state(id)).toBe('queued');
    await kit.backend.workers.unregister('knows');
    await kit.advance(AN_HOUR - 60_000);
    expect(await kit.state(id)).toBe('queued');
    await kit.advance(120_000);
    expect(await kit.state(id)).toBe('failed');
  },

  'wait on while one that knows them is never silent for a second': async (kit, expect) => {
    await kit.worker('busy', { queues: ['bulk'], names: ['strange'] });
    const [id = ''] = await parked(kit);
    for (let passed = 0; passed <= AN_HOUR; passed += 900) {
      await kit.shift(900);
      await kit.backend.tasks.extend({ worker: 'busy', leaseMs: 1_000, leases: [] });
    }
    await kit.rest();
    expect(await kit.state(id)).toBe('queued');
  },

  'of a run that has ended are canceled after an hour at the latest': async (kit, expect) => {
    const [id = ''] = await parked(kit, 1);
    const run = await kit.add({ id: 'run' });
    const [member = ''] = await parked(kit, 1, { owner: run });
    await kit.cancel(run);
    const leased = await kit.lease(5);
    for (const each of leased) await kit.finish(each);
    await kit.advance(AN_HOUR);
    expect(await kit.record(member)).toMatchObject({ cause: { type: 'run-ended', run } });
    expect(await kit.record(id)).toMatchObject({ cause: { type: 'unknown-task' } });
  },

  'are given to the restricted workers that may serve their users': async (kit, expect) => {
    const [ann] = await parked(kit, 1, { user: 'ann' });
    const [bob] = await parked(kit, 1, { user: 'bob' });
    await kit.worker('bobs', { names: ['strange'], assignedUsers: ['bob'] });
    expect(await kit.leaseIds(5, { worker: 'bobs' })).toEqual([bob]);
    expect(await kit.leaseReply({ limit: 5, worker: 'bobs' })).toMatchObject({ more: false });
    await kit.worker('any', { names: ['strange'], assignedUsers: ['bob'], stealTargets: 'any' });
    expect(await kit.leaseIds(5, { worker: 'any' })).toEqual([ann]);
  },

  'of users that a restricted worker may not serve take none of its slots': async (kit, expect) => {
    await parked(kit, 3, { user: 'ann' });
    const [bob] = await parked(kit, 1, { user: 'bob' });
    await kit.worker('bobs', { names: ['strange'], assignedUsers: ['bob'] });
    expect(await kit.leaseIds(1, { worker: 'bobs' })).toEqual([bob]);
  },

  'come back one user after another, also to a worker with one slot': async (kit, expect) => {
    for (const user of ['ann', 'bob']) await parked(kit, 3, { user });
    const worker = await knowing(kit);
    const users: string[] = [];
    for (let turn = 0; turn < 4; turn++) users.push((await kit.leaseOne({ worker })).user);
    expect(users).toEqual(['ann', 'bob', 'ann', 'bob']);
  },

  'wake a worker that knows them and waits': async (kit, expect) => {
    const worker = await knowing(kit);
    // The worker that has waited longest is woken by the work, and does not know its name.
    await kit.leaseReply({ wait: true });
    await kit.leaseReply({ worker, wait: true });
    const { signal } = new AbortController();
    const woken = kit.backend.workers.waitForWork(worker, 10_000, signal);
    const [id] = await parked(kit);
    expect(await woken).toBe('woken');
    expect(await kit.leaseIds(1, { worker })).toEqual([id]);
  },

  'wake a worker that knows them once their queue has room': async (kit, expect) => {
    const [id] = await parked(kit);
    await kit.setQueue({ maxRunning: 1 });
    await kit.add({ user: 'bob' });
    const running = await kit.leaseOne();
    const worker = await knowing(kit);
    await kit.leaseReply({ worker, wait: true });
    const { signal } = new AbortController();
    const woken = kit.backend.workers.waitForWork(worker, 2_000, signal);
    await kit.finish(running);
    await kit.leaseReply({ wait: true });
    expect(await woken).toBe('woken');
    expect(await kit.leaseIds(1, { worker })).toEqual([id]);
  },

  'wake one after another of those that know them': async (kit, expect) => {
    const [one, two] = [await knowing(kit, 'one'), await knowing(kit, 'two')];
    await kit.leaseReply({ worker: one, wait: true });
    await kit.leaseReply({ worker: two, wait: true });
    const { signal } = new AbortController();
    const first = kit.backend.workers.waitForWork(one, 10_000, signal);
    const second = kit.backend.workers.waitForWork(two, 10_000, signal);
    await parked(kit, 3);
    // Of its own wake: a lease forgets one that has not come yet.
    expect(await first).toBe('woken');
    await kit.leaseIds(1, { worker: one });
    expect(await second).toBe('woken');
    expect(await kit.leaseIds(5, { worker: two })).toHaveLength(2);
  },
};
