import { LIMITS } from '../../domain/limits.ts';
import type { Cases } from '../cases.ts';
import { type Kit, REFUSING_EDGES, type TaskFields } from '../kit.ts';

const BLOCK = { ...REFUSING_EDGES, onMissing: 'block' } as const;

/** A task of bob's that waits for an id that is not stored. */
function waiting(kit: Kit, id: string, fields: TaskFields = {}): Promise<string> {
  return kit.add({ user: 'bob', dependsOn: [id], edges: BLOCK, ...fields });
}

async function stateOfUpstream(kit: Kit, id: string): Promise<string | undefined> {
  const facts = await kit.backend.inspect.facts(id);
  return facts?.blockedBy[0]?.state;
}

async function fail(kit: Kit, id: string): Promise<void> {
  const leased = await kit.leaseOne();
  kit.expect(leased.id).toBe(id);
  await kit.fail(leased);
  await kit.rest();
}

/** Whose tasks a task may depend on, with every way in which an edge is made. */
export const acrossUsers: Cases = {
  // F60
  'a missing id that another user stores stays missing': async (kit, expect) => {
    const b = await waiting(kit, 'x');
    await kit.add({ id: 'x', user: 'ann' });
    expect(await stateOfUpstream(kit, b)).toBe('foreign');
    await kit.runToEnd('x', '"secret"');
    await kit.rest();
    expect(await kit.record(b)).toMatchObject({ state: 'deferred', blockedBy: ['x'] });
    expect(await kit.lease(5)).toEqual([]);
    expect(await kit.backend.inspect.missing()).toBe(1);
    await kit.jump(LIMITS.waitMaxMs);
    const cause = { type: 'waited', id: 'x' };
    expect(await kit.record(b)).toMatchObject({ state: 'canceled', cause });
    expect(await kit.backend.inspect.missing()).toBe(0);
  },

  // F60
  'it is satisfied once its own user has stored the id': async (kit, expect) => {
    const b = await waiting(kit, 'x');
    await kit.add({ id: 'x', user: 'ann' });
    expect(await kit.cancel('x')).toEqual({ kind: 'canceled' });
    expect(await kit.backend.tasks.remove('x')).toEqual({ kind: 'ok' });
    expect(await stateOfUpstream(kit, b)).toBe('missing');
    await kit.add({ id: 'x', user: 'bob' });
    expect(await kit.backend.inspect.missing()).toBe(0);
    await kit.runToEnd('x', '"own"');
    const upstreams = [{ id: 'x', state: 'finished', result: '"own"' }];
    expect(await kit.leaseOne()).toMatchObject({ id: b, upstreams });
  },

  // F60
  'a task that allows other users depends on the task of any user that stores the id': async (
    kit,
    expect,
  ) => {
    const own = await waiting(kit, 'x', { user: 'ann' });
    const refused = await waiting(kit, 'x');
    const allowed = await waiting(kit, 'x', { edges: { ...BLOCK, allowCrossUser: true } });
    const page = { limit: 10 };
    const before = await kit.backend.inspect.dependents('x', page);
    expect(before.items.map(({ id }) => id)).toEqual([allowed, own, refused]);
    expect(before.count).toBe(3);
    await kit.add({ id: 'x', user: 'ann' });
    const after = await kit.backend.inspect.dependents('x', page);
    expect(after.items.map(({ id }) => id)).toEqual([own, allowed]);
    await kit.runToEnd('x', '1');
    expect([...(await kit.leaseIds(5))].sort()).toEqual([own, allowed].sort());
    expect(await kit.state(refused)).toBe('deferred');
  },

  // F60
  'pages of those that wait for a missing id go user by user': async (kit, expect) => {
    const users = ['cleo', 'bob', 'ann'];
    const ids: string[] = [];
    for (const user of users) {
      for (let i = 0; i < 3; i++) ids.push(await waiting(kit, 'x', { user }));
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const after = cursor === undefined ? {} : { cursor };
      const page = await kit.backend.inspect.dependents('x', { limit: 2, ...after });
      expect(page.count).toBe(9);
      listed.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(listed).toEqual([...ids.slice(6), ...ids.slice(3, 6), ...ids.slice(0, 3)]);
  },

  // F60
  'one whose edge is refused is in no other task’s way': async (kit, expect) => {
    await kit.addMany(300, { user: 'bob', dependsOn: ['x'], edges: BLOCK });
    const c = await waiting(kit, 'x', { user: 'ann' });
    // It would close a cycle of bob's, if bob's could wait for it.
    const [d] = await kit.addMany(1, { user: 'bob', dependsOn: ['x'], edges: BLOCK });
    const allowed = { ...REFUSING_EDGES, allowCrossUser: true };
    const reply = await kit.sendOne({ id: 'x', dependsOn: [d ?? ''], edges: allowed });
    expect(reply).toEqual({ kind: 'created', id: 'x' });
    expect(await kit.backend.inspect.dependents('x', { limit: 9 })).toMatchObject({ count: 1 });
    await kit.cancel('x');
    expect(await kit.state(c)).toBe('canceled');
    await kit.rest();
    expect(await kit.state(d ?? '')).toBe('deferred');
  },

  // F60
  'a redrive finds only what its user may read': async (kit, expect) => {
    for (const state of ['deferred', 'finished', 'failed'] as const) {
      const x = kit.fresh('x');
      const b = await waiting(kit, x, { expiresInMs: 1_000 });
      await kit.advance(1_000);
      expect(await kit.state(b)).toBe('failed');
      await kit.add({ id: x, user: 'ann', delayMs: state === 'deferred' ? 60_000 : 0 });
      if (state === 'finished') await kit.runToEnd(x, '"secret"');
      if (state === 'failed') await fail(kit, x);
      expect(await kit.backend.tasks.redrive(b)).toEqual({ kind: 'ok', state: 'deferred' });
      expect(await kit.record(b)).toMatchObject({ state: 'deferred', blockedBy: [x] });
      expect(await stateOfUpstream(kit, b)).toBe('foreign');
      await kit.advance(60_000);
      if (state === 'deferred') await kit.runToEnd(x, '"secret"');
      expect(await kit.lease(5)).toEqual([]);
      await kit.cancel(b);
    }
    expect(await kit.backend.inspect.missing()).toBe(0);
  },

  // F60
  'what was missing and counted as satisfied is not read later': async (kit, expect) => {
    const edges = { ...REFUSING_EDGES, onMissing: 'satisfied' } as const;
    for (const user of ['ann', 'bob']) {
      const x = kit.fresh('x');
      const b = await kit.add({ user: 'bob', dependsOn: [x], edges, delayMs: 1_000 });
      await kit.add({ id: x, user });
      await kit.runToEnd(x, '"secret"');
      await kit.advance(1_000);
      const leased = await kit.leaseOne();
      expect(leased).toMatchObject({ id: b, upstreams: [{ id: x, name: '', state: 'missing' }] });
      expect(leased.upstreams[0]?.result).toBeUndefined();
    }
  },

  // F60
  'in a batch the rule holds for what is missing in it': async (kit, expect) => {
    const replies = await kit.send(
      { id: 'b1', user: 'bob', dependsOn: ['x'], edges: BLOCK },
      { id: 'b2', user: 'bob', dependsOn: ['b1'] },
    );
    expect(replies.map(({ kind }) => kind)).toEqual(['created', 'created']);
    await kit.send({ id: 'a' }, { id: 'x', dependsOn: ['a'] });
    await kit.runToEnd('a');
    await kit.runToEnd('x');
    expect(await kit.states(['b1', 'b2'])).toEqual(['deferred', 'deferred']);
    const crossing = await kit.send(
      { id: 'c1', user: 'bob', dependsOn: ['c2'], edges: BLOCK },
      { id: 'c2', user: 'ann' },
    );
    expect(crossing[0]).toEqual({
      kind: 'refused',
      refusal: { type: 'cross-user', dependency: 'c2' },
    });
  },

  // F60
  'in a batch of several scripts too': async (kit, expect) => {
    const b = await waiting(kit, 'x');
    const own = await waiting(kit, 'x', { user: 'ann' });
    const others = Array.from({ length: 400 }, (_, i) => ({ id: `a${i}`, payload: '1' }));
    const last = others.at(-1)?.id ?? '';
    const replies = await kit.send(...others, { id: 'x', dependsOn: [last], delayMs: 1 });
    expect(replies.at(-1)).toEqual({ kind: 'created', id: 'x' });
    await kit.serve(400, { batch: 50 });
    await kit.advance(1);
    await kit.runToEnd('x');
    expect(await kit.states([b, own])).toEqual(['deferred', 'queued']);
  },
};
