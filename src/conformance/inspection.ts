/** What operators see: counts, lists, facts, workers, and a reconcile that finds nothing. */
import { allPages } from '../domain/port/all-pages.ts';
import type { TaskFilter } from '../domain/port/backend.ts';
import { TASK_STATES, type TaskRow } from '../domain/task/task.ts';
import type { Cases } from './cases.ts';
import { FATAL, type Kit } from './kit.ts';

/** Several tasks in each state, of two users in two queues. */
async function everyState(kit: Kit): Promise<void> {
  for (const user of ['ann', 'bob']) {
    for (const queue of ['default', 'bulk']) {
      const share = { queues: [{ queue, weight: 1, pass: 0 }] };
      const upstream = await kit.add({ user, queue, delayMs: 3_600_000 });
      await kit.addMany(3, { user, queue, dependsOn: [upstream] });
      await kit.addMany(6, { user, queue });
      const [finished, failed, canceled, retried] = await kit.lease(5, share);
      if (!(finished && failed && canceled && retried)) throw new TypeError('five leases');
      await kit.finish(finished);
      await kit.fail(failed);
      await kit.cancel(canceled.id);
      await kit.finish(canceled);
      await kit.retry(retried, 60_000);
    }
    await kit.setUser(user, { paused: user === 'ann' });
  }
}

async function all(kit: Kit, filter: TaskFilter, limit: number): Promise<readonly TaskRow[]> {
  const found: TaskRow[] = [];
  const pages = allPages(limit, (page) => kit.backend.inspect.list(filter, page));
  for await (const { items } of pages) {
    kit.expect(items.length).toBeLessThanOrEqual(limit);
    found.push(...items);
  }
  return found;
}

/** Counts and lists, which agree with each other and miss nothing. */
export const listing: Cases = {
  'counts agree with what is listed, in every state': async (kit, expect) => {
    await kit.setUser('bob', { maxRunning: 1 });
    await kit.addMany(7);
    await kit.addMany(3, { delayMs: 5_000 });
    const upstream = await kit.add({ user: 'bob' });
    await kit.addMany(4, { user: 'bob', dependsOn: [upstream] });
    const leases = await kit.lease(6);
    for (const [i, leased] of leases.entries()) {
      if (i === 0) await kit.finish(leased);
      if (i === 1) await kit.fail(leased);
      if (i === 2)
        await kit.settle(leased, { type: 'cancel', cause: { type: 'decider', reason: 'so' } });
    }
    const { counts } = await kit.stats();
    for (const state of TASK_STATES) {
      const users = state === 'queued' ? ['ann', 'bob'] : [undefined];
      let listed = 0;
      for (const user of users) {
        const filter = user === undefined ? { state } : { state, user, queue: 'default' };
        listed += (await all(kit, filter, 2)).length;
      }
      expect([state, listed]).toEqual([state, counts[state]]);
    }
    const { counts: ofQueue } = (await kit.queue()) ?? {};
    expect(ofQueue).toEqual(counts);
  },

  'pages through everything once, in the order of the state': async (kit, expect) => {
    const ids: string[] = [];
    for (let i = 0; i < 23; i++) ids.push(await kit.add({ delayMs: 1_000 + ((i * 7) % 23) }));
    const listed = await all(kit, { state: 'scheduled' }, 5);
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(ids));
    expect(listed).toHaveLength(23);
    const due = listed.map(({ dueAt }) => dueAt ?? 0);
    expect(due).toEqual(due.toSorted((a, b) => a - b));
  },

  'pages on although tasks come and go': async (kit, expect) => {
    const ids = await kit.addMany(30, { delayMs: 60_000 });
    const first = await kit.backend.inspect.list({ state: 'scheduled' }, { limit: 10 });
    await kit.cancel(first.items[9]?.id ?? '');
    await kit.cancel(ids[3] ?? '');
    const cursor = first.cursor ?? '';
    const rest = await kit.backend.inspect.list({ state: 'scheduled' }, { limit: 100, cursor });
    const seen = [...first.items, ...rest.items].map(({ id }) => id);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen).toHaveLength(30);
  },

  'lists queued tasks of a user in the order of their place': async (kit, expect) => {
    const normal = await kit.addMany(3, { level: 3 });
    const high = await kit.addMany(2, { level: 5 });
    const critical = await kit.addMany(2, { level: 6 });
    const listed = await all(kit, { state: 'queued', user: 'ann', queue: 'default' }, 2);
    expect(listed.map(({ id }) => id)).toEqual([...critical, ...high, ...normal]);
  },

  'lists what the filter asks for': async (kit, expect) => {
    await kit.add({ user: 'bob', delayMs: 1_000 });
    await kit.add({ queue: 'bulk', delayMs: 1_000 });
    await kit.add({ name: 'other', delayMs: 1_000 });
    await kit.addMany(3, { delayMs: 1_000 });
    const count = async (more: Partial<TaskFilter>): Promise<number> =>
      (await all(kit, { state: 'scheduled', ...more }, 4)).length;
    expect(await count({})).toBe(6);
    expect(await count({ user: 'bob' })).toBe(1);
    expect(await count({ queue: 'bulk' })).toBe(1);
    expect(await count({ name: 'other' })).toBe(1);
    expect(await count({ user: 'ann', queue: 'default', name: 'work' })).toBe(3);
    expect(await count({ user: 'nobody' })).toBe(0);
  },

  'gets many in the order asked, and nothing for what is not there': async (kit, expect) => {
    const [a, b] = await kit.addMany(2);
    const records = await kit.backend.inspect.get([b ?? '', 'nowhere', a ?? '', b ?? '']);
    expect(records.map((record) => record?.id)).toEqual([b, undefined, a, b]);
    expect(await kit.backend.inspect.get([])).toEqual([]);
    expect(await kit.backend.inspect.attempts('nowhere')).toEqual([]);
  },

  'tells whose tasks are, in the order asked': async (kit, expect) => {
    const [a] = await kit.addMany(1, { user: 'ann', payload: `"${'x'.repeat(1_000)}"` });
    const [b] = await kit.addMany(1, { user: 'bob' });
    const asked = [b ?? '', 'nowhere', a ?? '', b ?? ''];
    const owners = await kit.backend.inspect.owners(asked);
    expect(owners).toEqual(['bob', undefined, 'ann', 'bob']);
    expect(await kit.backend.inspect.owners(['nowhere'])).toEqual([undefined]);
    expect(await kit.backend.inspect.owners([])).toEqual([]);
  },

  'tells how many stand, in the order asked, and what they came to': async (kit, expect) => {
    const done = await kit.add();
    await kit.runToEnd(done, '{"n":7}');
    const dead = await kit.add();
    await kit.fail(await kit.leaseOne());
    const stopped = await kit.add();
    await kit.cancel(stopped, 'not wanted');
    const late = await kit.add({ delayMs: 1_000 });
    const running = await kit.add();
    await kit.leaseOne();
    const waiting = await kit.add();
    const ids = [waiting, 'nowhere', done, dead, stopped, late, running];
    const status = await kit.backend.inspect.status([...ids, ...new Array(600).fill(done)]);
    const error = '{"name":"Error","message":"no"}';
    const finished = { state: 'finished', result: '{"n":7}' };
    expect(status.slice(0, ids.length)).toEqual([
      { state: 'queued' },
      undefined,
      finished,
      { state: 'failed', error, cause: FATAL },
      { state: 'canceled', cause: { type: 'request', reason: 'not wanted' } },
      { state: 'scheduled' },
      { state: 'started' },
    ]);
    expect(status.slice(ids.length)).toEqual(new Array(600).fill(finished));
    expect(await kit.backend.inspect.status([])).toEqual([]);
  },

  'counts what happened, ever': async (kit, expect) => {
    await everyState(kit);
    expect((await kit.stats()).totals).toMatchObject({
      enqueued: 40,
      finished: 4,
      failed: 4,
      canceled: 4,
      retried: 4,
      lost: 0,
      stolen: 0,
    });
  },

  'lists users page by page, with what they have': async (kit, expect) => {
    const names = Array.from({ length: 12 }, (_, i) => `user-${String(i).padStart(2, '0')}`);
    for (const user of names) await kit.add({ user });
    await kit.add({ user: 'user-03', level: 6, delayMs: 1_000 });
    await kit.add({ user: 'user-03', level: 5 });
    const seen: string[] = [];
    const pages = allPages(5, (page) => kit.backend.users.list('default', page));
    for await (const { items } of pages) seen.push(...items.map(({ user }) => user));
    expect(seen.toSorted()).toEqual(names);
    const user = await kit.user('user-03');
    expect(user).toMatchObject({
      user: 'user-03',
      queue: 'default',
      queued: 2,
      levels: [0, 0, 1, 0, 1, 0],
      running: 0,
      later: 1,
      ready: true,
    });
    // But for the seat of its tag.
    expect(Math.round((user?.ahead ?? 1) * 1e4)).toBe(0);
  },

  'lists queues with their settings and counts': async (kit, expect) => {
    await kit.add();
    await kit.setQueue({ maxRunning: 7, paused: true }, 'bulk');
    await kit.add({ queue: 'bulk' });
    const queues = await kit.backend.queues.list();
    expect(queues.map(({ queue }) => queue).toSorted()).toEqual(['bulk', 'default']);
    const bulk = await kit.queue('bulk');
    expect(bulk).toMatchObject({ queue: 'bulk', settings: { maxRunning: 7, paused: true } });
    expect(bulk?.counts.queued).toBe(1);
    expect(await kit.queue('nowhere')).toBeUndefined();
  },

  'lists workers with what they said and run': async (kit, expect) => {
    await kit.worker('w1', { names: ['a', 'work'], concurrency: 7, host: 'h:1' });
    await kit.worker('w2', { assignedUsers: ['bob', 'ann'], stealTargets: 'any' });
    await kit.addMany(3);
    await kit.lease(2, { worker: 'w1' });
    const workers = await kit.backend.workers.list();
    const w1 = workers.find(({ id }) => id === 'w1');
    expect(w1).toMatchObject({
      concurrency: 7,
      host: 'h:1',
      queues: ['default', 'bulk'],
      running: 2,
    });
    expect(w1?.names.toSorted()).toEqual(['a', 'work']);
    expect([w1?.startedAt, w1?.lastSeenAt]).toEqual([kit.now(), kit.now()]);
    const w2 = workers.find(({ id }) => id === 'w2');
    expect(w2?.assignedUsers?.toSorted()).toEqual(['ann', 'bob']);
    expect(w2?.stealTargets).toBe('any');
    await kit.backend.workers.unregister('w2');
    expect((await kit.backend.workers.list()).map(({ id }) => id)).toEqual(['w1']);
  },
};

/** What explanations are made of. */
export const facts: Cases = {
  'of a queued task tell its place': async (kit, expect) => {
    await kit.addMany(4);
    const id = await kit.add();
    await kit.add({ user: 'bob' });
    const facts = await kit.backend.inspect.facts(id);
    expect(facts).toMatchObject({
      record: { id, state: 'queued' },
      now: kit.now(),
      blockedBy: [],
      ahead: 4,
      usersAhead: 0,
      queueRunning: 0,
      user: { user: 'ann', queued: 5, ready: true },
      queue: { queue: 'default' },
    });
    expect(facts?.shares.weights).toEqual([1, 2, 4, 8, 16]);
    await kit.lease(1);
    expect(await kit.backend.inspect.facts(id)).toMatchObject({
      ahead: 3,
      usersAhead: 1,
      queueRunning: 1,
    });
  },

  'of a blocked task name what blocks it': async (kit, expect) => {
    const a = await kit.add();
    const b = await kit.add({ delayMs: 1_000 });
    const id = await kit.add({ dependsOn: [a, b] });
    await kit.leaseOne();
    const { blockedBy = [] } = (await kit.backend.inspect.facts(id)) ?? {};
    expect(blockedBy.toSorted((x, y) => (x.id < y.id ? -1 : 1))).toEqual([
      { id: a, state: 'started' },
      { id: b, state: 'scheduled' },
    ]);
  },

  'of a join, a suspended run, a member without a run': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    const [a, b] = [await kit.add({ owner: 'run' }), await kit.add({ owner: 'run' })];
    const join = await kit.add({ join: true, dependsOn: [a, b] });
    await kit.runToEnd(a);
    await kit.settle(run, {
      type: 'suspend',
      waitFor: [a, b, 'nobody'],
      wakeOn: 'failure',
      wakeAfterMs: 9_000,
    });
    const wakeAt = kit.now() + 9_000;
    const ofRun = await kit.backend.inspect.facts('run');
    expect(ofRun?.suspension).toEqual({ of: 2, wakeOn: 'failure', wakeAt });
    expect(ofRun?.blockedBy).toEqual([{ id: b, state: 'queued' }]);
    expect((await kit.backend.inspect.facts(join))?.join).toBe(true);
    expect((await kit.backend.inspect.facts(b))?.endedRun).toBeUndefined();
    await kit.cancel('run');
    const ofMember = await kit.backend.inspect.facts(b);
    expect(ofMember?.endedRun).toEqual({ id: 'run', state: 'canceled' });
    expect((await kit.backend.inspect.facts('run'))?.suspension).toBeUndefined();
    const stray = await kit.add({ owner: 'nobody' });
    const ofStray = await kit.backend.inspect.facts(stray);
    expect(ofStray?.endedRun).toEqual({ id: 'nobody', state: 'missing' });
  },

  'of a task that has ended tell of its user as it is now': async (kit, expect) => {
    const ended = await kit.add();
    await kit.runToEnd(ended);
    await kit.setQueue({ perUser: { rate: { limit: 1, perMs: 5_000, burst: 1 } } });
    await kit.addMany(2);
    await kit.leaseOne();
    expect(await kit.backend.inspect.facts(ended)).toMatchObject({
      record: { id: ended, state: 'finished' },
      user: { user: 'ann', queued: 1, running: 1, ready: false },
      throttledUntil: kit.now() + 5_000,
    });
  },

  'tell limits, rates, pauses': async (kit, expect) => {
    const rate = { limit: 1, perMs: 5_000, burst: 1 };
    await kit.setUser('ann', { rate, maxRunning: 3 });
    await kit.setQueue({ rate: { limit: 1, perMs: 9_000, burst: 1 } });
    const [, id = ''] = await kit.addMany(2);
    await kit.leaseOne();
    expect(await kit.backend.inspect.facts(id)).toMatchObject({
      throttledUntil: kit.now() + 5_000,
      queueThrottledUntil: kit.now() + 9_000,
      user: { running: 1, ready: false, settings: { maxRunning: 3 } },
    });
    await kit.setUser('ann', { paused: true });
    const paused = await kit.backend.inspect.facts(id);
    expect(paused?.user?.settings.paused).toBe(true);
  },

  'name the workers that live': async (kit, expect) => {
    await kit.worker('w1', { names: ['work'] });
    const id = await kit.add();
    const facts = await kit.backend.inspect.facts(id);
    expect(facts?.liveWorkers.map((worker) => worker.id)).toEqual(['w1']);
    await kit.advance(20_000);
    const later = await kit.backend.inspect.facts(id);
    expect(later?.liveWorkers).toEqual([]);
  },

  'of an ended or unknown task': async (kit, expect) => {
    const id = await kit.add();
    await kit.fail(await kit.leaseOne());
    expect(await kit.backend.inspect.facts(id)).toMatchObject({ record: { state: 'failed' } });
    expect(await kit.backend.inspect.facts('nowhere')).toBeUndefined();
  },
};

/** Reconcile, ping, and the end of a backend. */
export const health: Cases = {
  'reconcile finds nothing on a healthy store of any contents, however often': async (
    kit,
    expect,
  ) => {
    await everyState(kit);
    await kit.worker('a', { assignedUsers: ['ann'], stealTargets: ['bob'] });
    await kit.setUser('cat', { rate: { limit: 1, perMs: 60_000, burst: 1 } });
    await kit.addMany(3, { user: 'cat' });
    await kit.lease(3);
    await kit.add({ expiresInMs: 3_600_000, idempotency: { key: 'k', policy: 'return' } });
    for (const repair of [false, true, false]) {
      const report = await kit.backend.inspect.reconcile({ repair });
      expect(report).toMatchObject({ drift: [], repaired: 0 });
      expect(report.checked).toBeGreaterThan(0);
    }
  },

  'refuses everything once it is closed, and may be closed again': async (kit, expect) => {
    await kit.close();
    await kit.close();
    const code = await kit.backend.tasks.tick().then(
      () => 'answered',
      (error: { readonly code?: string }) => error.code,
    );
    expect(code).toBe('CLOSED');
  },

  'answers a ping, and may be opened again': async (kit, expect) => {
    const { ms, problems = [] } = await kit.backend.inspect.ping();
    expect(ms).toBeGreaterThanOrEqual(0);
    expect(problems).toEqual([]);
    await kit.add();
    const retention = { finishedMs: 86_400_000, failedMs: 604_800_000, canceledMs: 86_400_000 };
    const info = await kit.backend.open({ retention });
    expect(info.description.length).toBeGreaterThan(0);
    expect((await kit.stats()).counts.queued).toBe(1);
    expect(typeof kit.backend.capabilities.durable).toBe('boolean');
  },
};
