/** Idempotency keys: who holds one, what happens to the next call under it, and when it is free. */
import type { KeyPolicy, KeySpec } from '../../domain/task/task.ts';
import { type Cases, retaining } from '../cases.ts';
import { type Kit, LEASE_MS, REFUSING_EDGES, type TaskFields } from '../kit.ts';

function keyed(
  policy: KeyPolicy,
  more: { readonly ttlMs?: number } = {},
): { readonly idempotency: KeySpec } {
  return { idempotency: { key: 'k', policy, ...more } };
}

function existing(id: string, state: string, more: object = {}): object {
  return { kind: 'existing', id, state, conflict: false, replaced: false, ...more };
}

/** What each policy answers while another task has the key. */
export const policies: Cases = {
  '`return` answers the task that holds the key': async (kit, expect) => {
    const id = await kit.add(keyed('return'));
    expect(await kit.sendOne(keyed('return'))).toEqual(existing(id, 'queued'));
    await kit.leaseOne();
    expect(await kit.sendOne(keyed('return'))).toEqual(existing(id, 'started'));
    expect((await kit.stats()).totals.enqueued).toBe(1);
  },

  'reports another payload than the first one under the key': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...keyed('return') });
    const reply = await kit.sendOne({ payload: '2', ...keyed('return') });
    expect(reply).toEqual(existing(id, 'queued', { conflict: true }));
    expect((await kit.record(id))?.payload).toBe('1');
  },

  '`reject` refuses and names the holder': async (kit, expect) => {
    const id = await kit.add(keyed('return'));
    expect(await kit.sendOne(keyed('reject'))).toEqual({
      kind: 'refused',
      refusal: { type: 'key-taken', key: 'k', id },
    });
  },

  '`replace-queued` swaps input and options in place': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...keyed('replace-queued') });
    const behind = await kit.add();
    const next = { payload: '2', options: '{"x":2}', ...keyed('replace-queued') };
    expect(await kit.sendOne(next)).toMatchObject({ kind: 'existing', id, replaced: true });
    expect(await kit.record(id)).toMatchObject({ payload: '2', options: '{"x":2}' });
    expect(await kit.leaseIds(2)).toEqual([id, behind]);
  },

  '`replace-queued` swaps a long input for a short one, and back': async (kit, expect) => {
    const [short, long] = ['"s"', JSON.stringify('l'.repeat(4_000))];
    const id = await kit.add({ payload: long, ...keyed('replace-queued') });
    for (const payload of [short, long, short]) {
      await kit.sendOne({ payload, ...keyed('replace-queued') });
      expect((await kit.record(id))?.payload).toBe(payload);
    }
    expect((await kit.leaseOne()).payload).toBe(short);
  },

  '`replace-queued` reaches a task that is not due yet, and none that has started': async (
    kit,
    expect,
  ) => {
    const id = await kit.add({ delayMs: 1_000, payload: '1', ...keyed('replace-queued') });
    await kit.sendOne({ payload: '2', ...keyed('replace-queued') });
    expect(await kit.record(id)).toMatchObject({ state: 'scheduled', payload: '2' });
    await kit.advance(1_000);
    const leased = await kit.leaseOne();
    expect(leased.payload).toBe('2');
    const reply = await kit.sendOne({ payload: '3', ...keyed('replace-queued') });
    expect(reply).toEqual(existing(id, 'started', { conflict: true }));
    expect((await kit.record(id))?.payload).toBe('2');
  },

  'compares a resend with the payload that the id was first sent with': async (kit, expect) => {
    const first = { id: 'a', payload: '1', ...keyed('replace-queued') };
    await kit.add(first);
    await kit.sendOne({ payload: '2', ...keyed('replace-queued') });
    expect(await kit.sendOne(first)).toMatchObject({ kind: 'existing', id: 'a', replaced: false });
    expect((await kit.record('a'))?.payload).toBe('2');
  },

  // O75
  '`run-once-more` runs the newest input after the one that runs': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...keyed('run-once-more') });
    const leased = await kit.leaseOne();
    const second = await kit.sendOne({ id: 'two', payload: '2', ...keyed('run-once-more') });
    expect(second).toEqual({ kind: 'created', id: 'two' });
    expect(await kit.record('two')).toMatchObject({ state: 'deferred', blockedBy: [id] });
    const third = await kit.sendOne({ id: 'three', payload: '3', ...keyed('run-once-more') });
    expect(third).toMatchObject({ kind: 'existing', id: 'two', replaced: true });
    await kit.finish(leased);
    const follower = await kit.leaseOne();
    expect(follower).toMatchObject({ id: 'two', payload: '3' });
    await kit.finish(follower);
    expect(await kit.lease()).toEqual([]);
  },

  '`run-once-more` replaces the input of one that has not started': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...keyed('run-once-more') });
    const reply = await kit.sendOne({ payload: '2', ...keyed('run-once-more') });
    expect(reply).toMatchObject({ kind: 'existing', id, replaced: true });
    expect((await kit.record(id))?.payload).toBe('2');
    expect((await kit.stats()).totals.enqueued).toBe(1);
  },

  '`run-once-more` runs the follower however the first one ends, and hands it the key': async (
    kit,
    expect,
  ) => {
    for (const end of ['fail', 'cancel'] as const) {
      const first = await kit.add({ payload: '1', ...keyed('run-once-more') });
      const leased = await kit.leaseOne();
      const follower = await kit.add({ payload: '2', ...keyed('run-once-more') });
      if (end === 'cancel') await kit.cancel(first);
      await kit.fail(leased);
      await kit.rest();
      const next = await kit.sendOne({ payload: '2', ...keyed('return') });
      expect(next).toMatchObject({ kind: 'existing', id: follower });
      await kit.runToEnd(follower);
    }
  },

  'a key belongs to one user and one queue': async (kit) => {
    await kit.add(keyed('reject'));
    await kit.add({ user: 'bob', ...keyed('reject') });
    await kit.add({ queue: 'bulk', ...keyed('reject') });
    await kit.add({ idempotency: { key: 'other', policy: 'reject' } });
  },

  'looks at the key before it counts the waiting': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 1 });
    const id = await kit.add(keyed('return'));
    expect(await kit.sendOne(keyed('return'))).toMatchObject({ kind: 'existing', id });
  },

  'holds between the items of one batch': async (kit, expect) => {
    const replies = await kit.send(
      { id: 'a', ...keyed('return') },
      { id: 'b', ...keyed('return') },
    );
    expect(replies).toMatchObject([
      { kind: 'created', id: 'a' },
      { kind: 'existing', id: 'a' },
    ]);
  },
};

/** Every way in which the holder of a key can end, each leaving it in an end state. */
const ENDS: Readonly<Record<string, (kit: Kit) => Promise<void>>> = {
  finished: async (kit) => {
    await kit.finish(await kit.leaseOne());
  },
  'a dead letter': async (kit) => {
    await kit.fail(await kit.leaseOne());
  },
  'canceled before its start': async (kit) => {
    await kit.cancel('owner');
  },
  'canceled while it ran': async (kit) => {
    const leased = await kit.leaseOne();
    await kit.cancel('owner');
    await kit.finish(leased);
  },
  'canceled by its lost lease': async (kit) => {
    await kit.leaseOne();
    await kit.cancel('owner');
    await kit.advance(LEASE_MS + 1);
  },
  'lost three times': async (kit) => {
    for (let loss = 1; loss <= 3; loss++) {
      await kit.leaseOne();
      await kit.advance(LEASE_MS + 10_000);
    }
  },
  expired: async (kit) => {
    await kit.advance(5_001);
  },
};

/** Ends that need the holder to be stored in a special way. */
const OWNER: Readonly<Record<string, TaskFields>> = { expired: { expiresInMs: 5_000 } };

async function freed(kit: Kit, how: string): Promise<void> {
  const owner = { id: 'owner', ...keyed('reject'), ...OWNER[how] };
  await kit.add(owner);
  await ENDS[how]?.(kit);
  kit
    .expect([how, await kit.sendOne({ id: 'next', ...keyed('reject') })])
    .toEqual([how, { kind: 'created', id: 'next' }]);
}

/** Ends a task that waits, and takes its record away. */
async function gone(kit: Kit, id: string): Promise<void> {
  await kit.cancel(id);
  await kit.rest();
  kit.expect(await kit.backend.tasks.remove(id)).toMatchObject({ kind: 'ok' });
}

const endings: Cases = Object.fromEntries(
  Object.keys(ENDS).map((how) => [
    // O72
    `frees the key of a task that is ${how}`,
    (kit: Kit) => freed(kit, how),
  ]),
);

/** When a key is free again. */
export const lives: Cases = {
  ...endings,

  // O72
  'frees the key of a task that its upstream took along': async (kit, expect) => {
    for (const onFailure of ['cancel', 'fail'] as const) {
      const upstream = await kit.add();
      const edges = { ...REFUSING_EDGES, onFailure };
      await kit.add({ id: `x-${onFailure}`, dependsOn: [upstream], edges, ...keyed('reject') });
      await kit.fail(await kit.leaseOne());
      await kit.rest();
      const next = await kit.add(keyed('reject'));
      expect(await kit.state(next)).toBe('queued');
      await kit.runToEnd(next);
    }
  },

  'whom it answers for is waited for in its place, also when something expires first': async (
    kit,
    expect,
  ) => {
    const owner = await kit.add(keyed('return'));
    await kit.add({ id: 'expiring', expiresInMs: 1 });
    await kit.shift(1);
    const items = [
      { id: 'a', ...keyed('return') },
      { id: 'b', dependsOn: ['a'], edges: REFUSING_EDGES },
    ];
    const tasks = items.map((item) => kit.task(item));
    const replies = await kit.backend.tasks.enqueue(tasks, { atomic: false });
    expect(replies).toEqual([existing(owner, 'queued'), { kind: 'created', id: 'b' }]);
    const [record] = await kit.backend.inspect.get(['b']);
    expect(record?.blockedBy).toEqual([owner]);
  },

  // O71
  'a task does not stand in the way of its own retry': async (kit, expect) => {
    const id = await kit.add(keyed('reject'));
    await kit.retry(await kit.leaseOne(), 1_000);
    expect(await kit.sendOne(keyed('return'))).toEqual(existing(id, 'scheduled'));
    await kit.advance(1_000);
    await kit.runToEnd(id);
    expect(await kit.state(id)).toBe('finished');
  },

  'with a time it holds after the end, until that time': async (kit, expect) => {
    const id = await kit.add(keyed('return', { ttlMs: 30_000 }));
    await kit.runToEnd(id);
    await kit.advance(29_000);
    expect(await kit.sendOne(keyed('return'))).toEqual(existing(id, 'finished'));
    await kit.advance(1_001);
    expect(await kit.sendOne(keyed('return'))).toMatchObject({ kind: 'created' });
  },

  // O73
  'is free once its task was removed': async (kit) => {
    await gone(kit, await kit.add(keyed('reject')));
    await gone(kit, await kit.add(keyed('reject')));
    await kit.add(keyed('reject'));
  },

  'with a time it holds until then, also when retention has taken its task': retaining(
    { finishedMs: 61_000 },
    async (kit, expect) => {
      const id = await kit.add({ payload: '1', ...keyed('return', { ttlMs: 100_000 }) });
      await kit.runToEnd(id);
      await kit.advance(70_000);
      expect(await kit.record(id)).toBeUndefined();
      const later = { payload: '2', ...keyed('return') };
      expect(await kit.sendOne(later)).toEqual(existing(id, 'finished', { conflict: true }));
      await kit.advance(31_000);
      expect(await kit.sendOne(later)).toMatchObject({ kind: 'created' });
    },
  ),

  'with a time it holds until then, by every policy, also when its task was removed': async (
    kit,
    expect,
  ) => {
    const id = await kit.add(keyed('return', { ttlMs: 100_000 }));
    await gone(kit, id);
    for (const policy of ['return', 'replace-queued', 'run-once-more'] as const) {
      expect(await kit.sendOne(keyed(policy))).toEqual(existing(id, 'canceled'));
    }
    expect(await kit.sendOne(keyed('reject'))).toEqual({
      kind: 'refused',
      refusal: { type: 'key-taken', key: 'k', id },
    });
    expect(await kit.send(keyed('return'), keyed('return'))).toEqual([
      existing(id, 'canceled'),
      existing(id, 'canceled'),
    ]);
    await kit.advance(100_001);
    const next = await kit.add(keyed('return'));
    expect(await kit.sendOne(keyed('return'))).toEqual(existing(next, 'queued'));
    await gone(kit, next);
    await kit.add(keyed('return'));
  },

  'tells of its removed task, and not of another that has its id now': async (kit, expect) => {
    const id = await kit.add({ id: 'a', ...keyed('return', { ttlMs: 100_000 }) });
    await gone(kit, id);
    expect(await kit.sendOne({ id: 'a', ...keyed('return') })).toEqual(existing(id, 'canceled'));
    await kit.add({ id: 'a' });
    expect(await kit.sendOne(keyed('run-once-more'))).toEqual(existing(id, 'queued'));
    await kit.runToEnd('a');
    await kit.rest();
    expect(await kit.backend.tasks.remove('a')).toMatchObject({ kind: 'ok' });
    expect(await kit.sendOne(keyed('return'))).toEqual(existing(id, 'canceled'));
  },

  'lets nothing wait for its removed task when that had finished': async (kit, expect) => {
    const id = await kit.add(keyed('return', { ttlMs: 100_000 }));
    await kit.runToEnd(id);
    await kit.rest();
    expect(await kit.backend.tasks.remove(id)).toMatchObject({ kind: 'ok' });
    const replies = await kit.send(
      { id: 'again', ...keyed('return') },
      { id: 'after', dependsOn: ['again'], edges: REFUSING_EDGES },
    );
    expect(replies).toEqual([existing(id, 'finished'), { kind: 'created', id: 'after' }]);
    expect(await kit.record('after')).toMatchObject({ state: 'queued', dependsOn: [] });
  },

  'answers the ids that it took in when they are sent again': async (kit, expect) => {
    const id = await kit.add(keyed('return'));
    await kit.sendOne({ id: 'taken-in', ...keyed('return') });
    expect(await kit.sendOne({ id: 'taken-in', ...keyed('return') })).toMatchObject({ id });
    await kit.runToEnd(id);
    await kit.advance(50_000);
    expect(await kit.sendOne({ id: 'taken-in', ...keyed('return') })).toMatchObject({
      kind: 'existing',
      id,
      state: 'finished',
    });
    expect(await kit.lease()).toEqual([]);
  },

  'a task that lost its key to others does not get it back by a repair': async (kit, expect) => {
    const ttl = keyed('run-once-more', { ttlMs: 1_000 });
    const owner = await kit.add(ttl);
    const leased = await kit.leaseOne();
    const follower = await kit.add(ttl);
    const late = await kit.add({
      ...keyed('return', { ttlMs: 1_000 }),
      user: 'bob',
      delayMs: 9_000,
    });
    const failed = await kit.add({ ...keyed('return'), user: 'cleo' });
    await kit.fail(await kit.leaseOne());
    await kit.advance(1_000);
    for (const user of ['ann', 'bob', 'cleo']) {
      const next = await kit.add({ ...keyed('reject'), user });
      await kit.cancel(next);
      expect(await kit.backend.tasks.remove(next)).toMatchObject({ kind: 'ok' });
    }
    expect(await kit.backend.tasks.redrive(failed)).toMatchObject({ kind: 'ok' });
    expect(await kit.states([owner, follower, late, failed])).toEqual([
      'started',
      'deferred',
      'scheduled',
      'queued',
    ]);
    expect((await kit.backend.inspect.reconcile({ repair: true })).drift).toEqual([]);
    for (const user of ['ann', 'bob', 'cleo']) {
      expect(await kit.sendOne({ ...keyed('reject'), user })).toMatchObject({ kind: 'created' });
    }
    await kit.finish(leased);
    await kit.rest();
    expect(await kit.state(follower)).toBe('queued');
  },
};
