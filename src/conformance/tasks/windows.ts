/** Keys that gather calls: debounce and throttle. */
import type { KeySpec } from '../../domain/task/task.ts';
import type { Cases } from '../cases.ts';
import { type Kit, RETRIED, type TaskFields } from '../kit.ts';

const WAIT_MS = 5_000;
const PER_MS = 10_000;

type Keyed = { readonly idempotency: KeySpec };

function debounce(maxWaitMs?: number): Keyed {
  const spec = { key: 'd', policy: 'debounce', waitMs: WAIT_MS } as const;
  return { idempotency: maxWaitMs === undefined ? spec : { ...spec, maxWaitMs } };
}

function throttle(trailing: boolean): Keyed {
  return { idempotency: { key: 't', policy: 'throttle', perMs: PER_MS, trailing } };
}

/** One call with this input. */
function call(kit: Kit, payload: string, fields: TaskFields): ReturnType<Kit['sendOne']> {
  return kit.sendOne({ payload, ...fields });
}

async function dueIn(kit: Kit, id: string): Promise<number | undefined> {
  const record = await kit.record(id);
  return record?.dueAt === undefined ? undefined : record.dueAt - kit.now();
}

/** A task that starts when the calls for it have stopped. */
export const debounces: Cases = {
  'a debounced task starts after the last call, with its input': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...debounce() });
    expect((await kit.record(id))?.state).toBe('scheduled');
    await kit.advance(3_000);
    expect(await call(kit, '2', debounce())).toEqual({
      kind: 'existing',
      id,
      state: 'scheduled',
      conflict: true,
      replaced: true,
    });
    expect(await dueIn(kit, id)).toBe(WAIT_MS);
    await kit.advance(4_000);
    expect(await kit.lease()).toEqual([]);
    await kit.advance(1_000);
    expect(await kit.leaseOne()).toMatchObject({ id, payload: '2', attempt: 1 });
    expect((await kit.stats()).totals.enqueued).toBe(1);
  },

  'at most so long after the first call': async (kit, expect) => {
    const id = await kit.add({ payload: '0', ...debounce(12_000) });
    for (let at = 1; at <= 3; at++) {
      await kit.advance(3_000);
      await call(kit, String(at), debounce(12_000));
    }
    expect(await dueIn(kit, id)).toBe(3_000);
    await kit.advance(3_000);
    expect(await kit.leaseOne()).toMatchObject({ id, payload: '3' });
  },

  'a call after that time makes it due at once': async (kit, expect) => {
    const id = await kit.add({ payload: '0', ...debounce() });
    await kit.advance(4_000);
    const reply = await call(kit, '1', debounce(1_000));
    expect(reply).toMatchObject({ kind: 'existing', id, state: 'queued', replaced: true });
    expect(await kit.leaseOne()).toMatchObject({ id, payload: '1' });
  },

  'a debounced task that is due keeps its place and takes the input': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...debounce() });
    await kit.advance(WAIT_MS);
    await kit.rest();
    const behind = await kit.add({ payload: '0' });
    const reply = await call(kit, '2', debounce());
    expect(reply).toMatchObject({ kind: 'existing', id, state: 'queued', replaced: true });
    const leases = await kit.lease(2);
    expect(leases.map((leased) => [leased.id, leased.payload])).toEqual([
      [id, '2'],
      [behind, '0'],
    ]);
  },

  'once it has started a new task begins, also while it waits for a retry': async (kit, expect) => {
    const first = await kit.add({ payload: '1', ...debounce() });
    await kit.advance(WAIT_MS);
    const leased = await kit.leaseOne();
    const second = await kit.add({ payload: '2', ...debounce() });
    expect(second).not.toBe(first);
    await kit.settle(leased, { type: 'retry', delayMs: 60_000, cause: RETRIED, error: '{}' });
    expect(await call(kit, '3', debounce())).toMatchObject({ kind: 'existing', id: second });
    expect(await kit.record(first)).toMatchObject({ state: 'scheduled', payload: '1' });
    await kit.advance(WAIT_MS);
    expect(await kit.leaseOne()).toMatchObject({ id: second, payload: '3' });
  },

  'its end frees the key, and so does a cancel': async (kit, expect) => {
    const first = await kit.add(debounce());
    await kit.cancel(first);
    const second = await kit.add(debounce());
    await kit.advance(WAIT_MS);
    await kit.finish(await kit.leaseOne());
    const third = await kit.add(debounce());
    expect(new Set([first, second, third]).size).toBe(3);
    expect((await kit.record(third))?.state).toBe('scheduled');
  },

  'a resend of a call that was answered changes nothing': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...debounce() });
    await kit.sendOne({ id: 'second', payload: '2', ...debounce() });
    await kit.advance(1_000);
    await kit.sendOne({ id: 'third', payload: '3', ...debounce() });
    await kit.advance(1_000);
    const again = await kit.sendOne({ id: 'second', payload: '2', ...debounce() });
    expect(again).toMatchObject({ kind: 'existing', id, replaced: false });
    expect(await kit.record(id)).toMatchObject({ payload: '3' });
    expect(await dueIn(kit, id)).toBe(WAIT_MS - 1_000);
    await kit.advance(WAIT_MS);
    await kit.leaseOne();
    const next = await kit.add({ payload: '4', ...debounce() });
    const late = await kit.sendOne({ id: 'second', payload: '2', ...debounce() });
    expect(late).toMatchObject({ kind: 'existing', id: next, replaced: false });
    expect(await kit.record(next)).toMatchObject({ payload: '4' });
  },

  'moves what its start expires by, and counts once against `maxQueued`': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 1 });
    const id = await kit.add({ expiresInMs: 2_000, ...debounce() });
    await kit.advance(4_000);
    expect(await call(kit, '2', debounce())).toMatchObject({ kind: 'existing', id });
    await kit.advance(4_000);
    await kit.rest();
    expect((await kit.record(id))?.state).toBe('scheduled');
    await kit.advance(3_001);
    await kit.rest();
    expect(await kit.record(id)).toMatchObject({ state: 'failed', cause: { type: 'expired' } });
  },

  'a debounced task that others depend on moves too': async (kit, expect) => {
    const id = await kit.add(debounce());
    const dependent = await kit.add({ dependsOn: [id] });
    await kit.advance(4_000);
    await call(kit, '2', debounce());
    await kit.advance(4_000);
    expect((await kit.record(dependent))?.state).toBe('deferred');
    await kit.advance(1_000);
    await kit.finish(await kit.leaseOne());
    await kit.rest();
    expect((await kit.record(dependent))?.state).toBe('queued');
  },
};

/** A task at most once in a time, however many calls there are. */
export const throttles: Cases = {
  'one call in the time gets through, others are told of it': async (kit, expect) => {
    const id = await kit.add({ payload: '1', ...throttle(false) });
    await kit.finish(await kit.leaseOne());
    await kit.advance(PER_MS - 1);
    expect(await call(kit, '2', throttle(false))).toEqual({
      kind: 'existing',
      id,
      state: 'finished',
      conflict: true,
      replaced: false,
    });
    await kit.advance(1);
    const next = await kit.add({ payload: '3', ...throttle(false) });
    expect(await kit.leaseOne()).toMatchObject({ id: next, payload: '3' });
  },

  '`trailing`: the newest input of a window runs when it is over': async (kit, expect) => {
    const first = await kit.add({ payload: '1', ...throttle(true) });
    const leased = await kit.leaseOne();
    expect(leased.id).toBe(first);
    await kit.finish(leased);
    await kit.advance(4_000);
    const second = await kit.add({ payload: '2', ...throttle(true) });
    expect(await dueIn(kit, second)).toBe(6_000);
    await kit.advance(4_000);
    const reply = await call(kit, '3', throttle(true));
    expect(reply).toMatchObject({ kind: 'existing', id: second, replaced: true });
    expect(await dueIn(kit, second)).toBe(2_000);
    await kit.advance(2_000);
    const last = await kit.leaseOne();
    expect(last).toMatchObject({ id: second, payload: '3' });
    await kit.finish(last);
    const third = await kit.add({ payload: '4', ...throttle(true) });
    expect(await dueIn(kit, third)).toBe(PER_MS);
    await kit.advance(2 * PER_MS);
    const { id: fourth } = await kit.leaseOne();
    expect(fourth).toBe(third);
    const fifth = await kit.add({ payload: '5', ...throttle(true) });
    expect((await kit.record(fifth))?.state).toBe('queued');
  },

  'the window outlasts the record of its task': async (kit, expect) => {
    const first = await kit.add({ payload: '1', ...throttle(true) });
    await kit.cancel(first);
    await kit.rest();
    expect(await kit.backend.tasks.remove(first)).toMatchObject({ kind: 'ok' });
    const reply = await call(kit, '1', throttle(false));
    expect(reply).toMatchObject({ kind: 'existing', id: first, state: 'canceled' });
    const second = await kit.add({ payload: '2', ...throttle(true) });
    expect(await dueIn(kit, second)).toBe(PER_MS);
  },

  'a canceled last task of a window leaves its place to the next call': async (kit, expect) => {
    await kit.add({ payload: '1', ...throttle(true) });
    const second = await kit.add({ payload: '2', ...throttle(true) });
    await kit.cancel(second);
    const third = await kit.add({ payload: '3', ...throttle(true) });
    expect(await dueIn(kit, third)).toBe(PER_MS);
  },

  'users and queues have windows of their own': async (kit, expect) => {
    await kit.add(throttle(false));
    const others = [
      await kit.sendOne({ user: 'bob', ...throttle(false) }),
      await kit.sendOne({ queue: 'bulk', ...throttle(false) }),
    ];
    expect(others).toMatchObject([{ kind: 'created' }, { kind: 'created' }]);
  },
};
