/** Schedules: kept whole, due in order, and each slot fired at most once. */
import { LIMITS } from '../domain/limits.ts';
import { firedTaskId } from '../domain/port/schedule.ts';
import type { Cases } from './cases.ts';
import { CREATED, demand, fire, granted, outcome, PERIOD, store } from './schedule-kit.ts';

/** What is stored, listed, changed and removed. */
export const keeping: Cases = {
  'keeps a schedule whole, and tells it back': async (kit, expect) => {
    const slot = await store(kit, 'a', { overlap: 'skip', limit: 5 }, PERIOD);
    expect(await kit.backend.schedules.get('a')).toEqual({
      now: kit.now(),
      record: {
        ...{ id: 'a', revision: 1, spec: '{"é":1}', paused: false, overlap: 'skip', limit: 5 },
        ...{ next: { slot, dueAt: slot }, createdAt: kit.now(), updatedAt: kit.now() },
        ...{ fired: 0, missed: 0, overlapped: 0 },
      },
    });
    expect((await kit.backend.schedules.get('b')).record).toBeUndefined();
  },

  'refuses a change of another revision': async (kit, expect) => {
    await store(kit, 'a');
    const { next: _next, ...change } = await demand(kit, 'a');
    const { schedules } = kit.backend;
    expect(await schedules.set({ ...change, revision: 0, spec: 'late' })).toEqual({
      kind: 'changed',
    });
    expect(await schedules.set({ ...change, spec: 'new', paused: true })).toEqual({
      kind: 'ok',
      record: { ...change, revision: 2, spec: 'new', paused: true },
    });
    expect(await schedules.set({ ...change, spec: 'older' })).toEqual({ kind: 'changed' });
    const now = await demand(kit, 'a');
    expect(now).toMatchObject({ revision: 2, spec: 'new', paused: true });
    expect(now.next).toBeUndefined();
    expect((await granted(kit)).schedules).toEqual([]);
  },

  'counts slots that a change gives up as missed, unless it has moved on': async (kit, expect) => {
    const slot = await store(kit, 'a');
    const { next: _next, ...change } = await demand(kit, 'a');
    const { schedules } = kit.backend;
    const passed = { slots: 2, at: slot };
    expect(await schedules.set({ ...change, passed: { slots: 2 } })).toEqual({ kind: 'changed' });
    expect(await schedules.set({ ...change, passed: { ...passed, at: slot - 1 } })).toEqual({
      kind: 'changed',
    });
    expect(await demand(kit, 'a')).toMatchObject({ revision: 1, missed: 0 });
    expect(await schedules.set({ ...change, paused: true, passed })).toEqual({
      kind: 'ok',
      record: { ...change, revision: 2, paused: true, missed: 2 },
    });
    const again = { ...change, revision: 2, paused: true };
    expect(await schedules.set({ ...again, passed })).toEqual({ kind: 'changed' });
    expect(await schedules.set({ ...again, passed: { slots: 1 } })).toMatchObject({
      record: { revision: 3, missed: 3 },
    });
  },

  'lists by name, in pages': async (kit, expect) => {
    for (const id of ['b', 'a.1', 'a', 'c', 'B']) await store(kit, id);
    const first = await kit.backend.schedules.list({ limit: 3 });
    expect(first.items.map(({ id }) => id)).toEqual(['B', 'a', 'a.1']);
    const cursor = first.cursor ?? '';
    const second = await kit.backend.schedules.list({ limit: 3, cursor });
    expect(second.items.map(({ id }) => id)).toEqual(['b', 'c']);
    expect(second.cursor).toBeUndefined();
  },

  'is gone when it is removed, and may come back in the same moment': async (kit, expect) => {
    await store(kit, 'a');
    expect(await outcome(kit, 'a')).toEqual(CREATED);
    expect(await kit.backend.schedules.remove('a')).toBe(true);
    expect(await kit.backend.schedules.remove('a')).toBe(false);
    expect((await kit.backend.schedules.list({ limit: 5 })).items).toEqual([]);
    await store(kit, 'a', {}, PERIOD);
    expect(await demand(kit, 'a')).toMatchObject({ revision: 1, fired: 0 });
  },

  'is due no more when it is removed': async (kit, expect) => {
    await store(kit, 'a');
    await kit.backend.schedules.remove('a');
    expect(await kit.backend.tasks.tick()).toMatchObject({ schedulesDue: false });
    expect(await granted(kit)).toEqual({
      kind: 'granted',
      fence: 0,
      schedules: [],
      now: kit.now(),
    });
  },

  'keeps the graph that it needs, and lets go of it': async (kit, expect) => {
    const { graphs, schedules } = kit.backend;
    const change = { id: 'a', revision: 0, spec: '1', paused: false, overlap: 'skip' } as const;
    expect(await schedules.set({ ...change, graph: 'h1' })).toEqual({ kind: 'graph-missing' });
    for (const hash of ['h1', 'h2']) await graphs.save(hash, 'body');
    await store(kit, 'a', { graph: 'h1' }, 90 * LIMITS.graphTtlMs);
    await kit.jump(LIMITS.graphTtlMs + 1_000);
    expect(await graphs.load('h1')).toMatchObject({ kind: 'found' });
    await graphs.save('h2', 'body');
    await store(kit, 'a', { revision: 1, graph: 'h2' }, 90 * LIMITS.graphTtlMs);
    await kit.jump(LIMITS.graphTtlMs + 1_000);
    expect((await graphs.load('h1')).kind).not.toBe('found');
    expect(await graphs.load('h2')).toMatchObject({ kind: 'found' });
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
    await schedules.remove('a');
    await kit.jump(LIMITS.graphTtlMs + 1_000);
    expect((await graphs.load('h2')).kind).not.toBe('found');
  },
};

/** Which schedules are due, and to which scheduler they are given. */
export const falling: Cases = {
  'tells due ones by their moment, and when the next one is': async (kit, expect) => {
    const late = await store(kit, 'late', {}, 2 * PERIOD);
    await store(kit, 'b', {}, 0);
    await store(kit, 'a', {}, -5_000);
    const reply = await granted(kit);
    expect(reply.schedules.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(reply).toMatchObject({ nextDueAt: late, now: kit.now() });
    const one = await kit.backend.schedules.due({ owner: 's1', limit: 1 });
    expect(one).toMatchObject({ nextDueAt: kit.now(), schedules: [{ id: 'a' }] });
  },

  'gives them to one scheduler at a time': async (kit, expect) => {
    const { schedules } = kit.backend;
    await store(kit, 'a', {}, 20_000);
    const first = await granted(kit, 's1');
    const until = kit.now() + LIMITS.scheduleLockMs;
    const locked = { kind: 'locked', until, now: kit.now() };
    expect(await schedules.due({ owner: 's2', limit: 1 })).toEqual(locked);
    expect(await granted(kit, 's1')).toMatchObject({ fence: first.fence });
    await kit.advance(LIMITS.scheduleLockMs);
    expect(await granted(kit, 's2')).toMatchObject({ fence: first.fence + 1 });
    expect(await schedules.due({ owner: 's1', limit: 1 })).toMatchObject({ kind: 'locked' });
    await schedules.leave('s1');
    expect(await schedules.due({ owner: 's1', limit: 1 })).toMatchObject({ kind: 'locked' });
    await schedules.leave('s2');
    expect(await granted(kit, 's1')).toMatchObject({ fence: first.fence + 2 });
  },

  'gives a slot that is overdue to anyone': async (kit, expect) => {
    const { schedules } = kit.backend;
    await store(kit, 'a', {}, 1_000);
    await granted(kit, 's1');
    await kit.advance(1_000 + LIMITS.scheduleOverdueMs - 1);
    expect(await schedules.due({ owner: 's2', limit: 1 })).toMatchObject({ kind: 'locked' });
    await kit.advance(1);
    expect((await granted(kit, 's2')).schedules).toHaveLength(1);
  },

  'lets anyone in when an earlier slot was set': async (kit, expect) => {
    await store(kit, 'a', {}, PERIOD);
    const { fence } = await granted(kit, 's1');
    await store(kit, 'later', {}, 2 * PERIOD);
    expect(await kit.backend.schedules.due({ owner: 's2', limit: 1 })).toMatchObject({
      kind: 'locked',
    });
    await store(kit, 'sooner', {}, 1_000);
    expect(await granted(kit, 's2')).toMatchObject({ fence: fence + 1 });
  },

  'is part of what falls due, and every reply says so': async (kit, expect) => {
    const { tasks } = kit.backend;
    const slot = await store(kit, 'a', {}, 1_000);
    expect(await tasks.tick()).toMatchObject({ nextDueAt: slot, schedulesDue: false });
    expect(await kit.leaseReply()).toMatchObject({ nextDueAt: slot, schedulesDue: false });
    await kit.advance(1_000);
    const again = kit.now() + LIMITS.scheduleRetryMs;
    expect(await tasks.tick()).toMatchObject({ nextDueAt: again, schedulesDue: true });
    expect(await kit.leaseReply()).toMatchObject({ nextDueAt: again, schedulesDue: true });
    await kit.add();
    const busy = await kit.leaseReply();
    expect(busy).toMatchObject({ leases: [{ name: 'work' }], schedulesDue: true });
    const extend = { worker: 'w', leaseMs: 15_000, leases: [] };
    expect(await tasks.extend(extend)).toMatchObject({ schedulesDue: true });
    await fire(kit, 'a');
    expect(await tasks.extend(extend)).toMatchObject({ schedulesDue: false });
    expect(await tasks.tick()).toMatchObject({ schedulesDue: false });
  },

  'tells how long the one that is due longest has been due': async (kit, expect) => {
    const { schedules } = kit.backend;
    expect(await schedules.lag()).toBe(0);
    await store(kit, 'a', {}, 1_000);
    await store(kit, 'b', {}, 500);
    expect(await schedules.lag()).toBe(0);
    await kit.advance(1_200);
    expect(await schedules.lag()).toBe(700);
    await fire(kit, 'b');
    expect(await schedules.lag()).toBe(200);
    await fire(kit, 'a');
    expect(await schedules.lag()).toBe(0);
  },

  'wakes who waits for work at the slot': async (kit, expect) => {
    await store(kit, 'a', {}, 1_500);
    const reply = await kit.leaseReply({ wait: true });
    expect(reply).toMatchObject({ leases: [], more: false });
    expect(reply.waitMs).toBeLessThanOrEqual(1_500);
  },
};

/** A slot stores its task once and sets the next, however many fire it. */
export const firing: Cases = {
  'stores the task and moves on, in one step': async (kit, expect) => {
    const slot = await store(kit, 'a');
    expect(await outcome(kit, 'a', { task: { user: 'bea' } })).toEqual(CREATED);
    const id = firedTaskId('a', slot);
    expect(await kit.record(id)).toMatchObject({ state: 'queued', user: 'bea' });
    expect(await demand(kit, 'a')).toMatchObject({
      ...{ fired: 1, missed: 0, settledSlot: slot, last: { slot, id } },
      next: { slot: slot + PERIOD, dueAt: slot + PERIOD },
    });
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'fires a slot once, however many schedulers fire it': async (kit, expect) => {
    const slot = await store(kit, 'a');
    expect(await fire(kit, 'a')).toMatchObject({ kind: 'fired' });
    expect(await fire(kit, 'a', { slot })).toEqual({ kind: 'stale' });
    expect(await fire(kit, 'a', { revision: 7 })).toEqual({ kind: 'stale' });
    await kit.advance(PERIOD);
    const old = (await granted(kit, 's1')).fence;
    await kit.backend.schedules.leave('s1');
    const { revision } = await demand(kit, 'a');
    await granted(kit, 's2');
    const request = { id: 'a', revision, slot: slot + PERIOD, firings: [], passed: 0 };
    expect(await kit.backend.schedules.fire({ ...request, fence: old })).toEqual({
      kind: 'superseded',
    });
    expect(await demand(kit, 'a')).toMatchObject({ fired: 1, next: { slot: slot + PERIOD } });
  },

  'takes a task that is there for fired, and goes on': async (kit, expect) => {
    const slot = await store(kit, 'a');
    await kit.add({ id: firedTaskId('a', slot), payload: '"other"' });
    const id = firedTaskId('a', slot);
    expect(await outcome(kit, 'a')).toEqual({ kind: 'existing', id });
    expect(await demand(kit, 'a')).toMatchObject({ fired: 0, next: { slot: slot + PERIOD } });
  },

  'never stops for an idempotency key that is taken': async (kit, expect) => {
    const idempotency = { key: 'k', policy: 'return' } as const;
    const holder = await kit.add({ idempotency });
    await store(kit, 'a');
    expect(await outcome(kit, 'a', { task: { idempotency } })).toEqual({
      kind: 'existing',
      id: holder,
    });
    const rejecting = { idempotency: { key: 'k', policy: 'reject' } } as const;
    expect(await outcome(kit, 'a', { task: rejecting })).toMatchObject({
      kind: 'refused',
      refusal: { type: 'key-taken', id: holder },
    });
    await kit.finish(await kit.leaseOne());
    expect(await outcome(kit, 'a', { task: { idempotency } })).toEqual(CREATED);
    expect(await demand(kit, 'a')).toMatchObject({ fired: 1, missed: 1 });
  },

  'counts a slot that maxQueued refuses as missed': async (kit, expect) => {
    await kit.backend.users.set('ann', { maxQueued: 1 }, {});
    await store(kit, 'a');
    expect(await outcome(kit, 'a')).toEqual(CREATED);
    expect(await outcome(kit, 'a')).toMatchObject({
      kind: 'refused',
      refusal: { type: 'queue-full', user: 'ann', limit: 1, size: 1 },
    });
    expect(await demand(kit, 'a')).toMatchObject({ fired: 1, missed: 1 });
  },

  'fires several slots at once, and passes over what was missed': async (kit, expect) => {
    const slot = await store(kit, 'a');
    const slots = [slot + PERIOD, slot + 2 * PERIOD];
    const firings = slots.map((at) => ({
      slot: at,
      task: kit.task({ id: firedTaskId('a', at), payload: JSON.stringify('x'.repeat(2_000)) }),
    }));
    const reply = await fire(kit, 'a', { firings, passed: 41 });
    expect(reply).toEqual({ kind: 'fired', outcomes: [CREATED, CREATED] });
    expect(await demand(kit, 'a')).toMatchObject({
      ...{ fired: 2, missed: 41, settledSlot: slots[1] },
      last: { slot: slots[1] },
    });
    expect(await kit.leaseIds(5)).toEqual(slots.map((at) => firedTaskId('a', at)));
    expect(await fire(kit, 'a', { firings: [], passed: 1 })).toEqual({
      kind: 'fired',
      outcomes: [],
    });
  },

  'is over after its last slot, and after its limit': async (kit, expect) => {
    await store(kit, 'a');
    const { revision, next } = await demand(kit, 'a');
    const { fence } = await granted(kit);
    const request = { id: 'a', revision, slot: next?.slot ?? 0, fence, firings: [], passed: 1 };
    expect(await kit.backend.schedules.fire(request)).toMatchObject({ kind: 'fired' });
    expect((await demand(kit, 'a')).next).toBeUndefined();
    await store(kit, 'b', { limit: 2 });
    for (let i = 0; i < 2; i++) expect(await outcome(kit, 'b')).toEqual(CREATED);
    expect((await demand(kit, 'b')).next).toBeUndefined();
    expect(await fire(kit, 'b')).toEqual({ kind: 'stale' });
    const first = await store(kit, 'c', { limit: 1 });
    const firings = [first, first + PERIOD].map((slot) => {
      return { slot, task: kit.task({ id: firedTaskId('c', slot) }) };
    });
    expect(await fire(kit, 'c', { firings })).toEqual({
      kind: 'fired',
      outcomes: [CREATED, { kind: 'over' }],
    });
    expect((await granted(kit)).schedules).toEqual([]);
  },

  'does not go back behind a slot that was decided': async (kit, expect) => {
    const slot = await store(kit, 'a');
    await fire(kit, 'a');
    const change = await demand(kit, 'a');
    const next = { slot, dueAt: slot };
    expect(await kit.backend.schedules.set({ ...change, next })).toEqual({ kind: 'changed' });
    expect(await kit.backend.schedules.set(change)).toMatchObject({ kind: 'ok' });
  },
};
