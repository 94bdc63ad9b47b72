import { LIMITS } from '../domain/limits.ts';
import type { Decision, Leased } from '../domain/port/backend.ts';
import type { WorkerAttempts } from '../domain/port/inspection.ts';
import type { Cases } from './cases.ts';
import { type Kit, LEASE_MS } from './kit.ts';

const FINISH: Decision = { type: 'finish', result: '1' };

/** Of a worker that is listed. */
async function attemptsOf(kit: Kit, id: string): Promise<WorkerAttempts | undefined> {
  const workers = await kit.backend.workers.list();
  return workers.find((worker) => worker.id === id)?.attempts;
}

const SPEC = { id: 'w', queues: ['default'], names: ['work'], concurrency: 10, host: 'test' };

/** A process begins to work under this id, which another may have used before. */
function start(kit: Kit, id: string): Promise<void> {
  return kit.backend.workers.register({ ...SPEC, id }, { starts: true });
}

async function settleAs(
  kit: Kit,
  worker: string,
  leases: readonly Leased[],
  { decision = FINISH, more = 0 }: { readonly decision?: Decision; readonly more?: number } = {},
): Promise<readonly Leased[]> {
  const settlements = leases.map(({ id, token }) => ({ id, token, decision }));
  const lease = more === 0 ? {} : { lease: kit.request({ worker, limit: more }) };
  const reply = await kit.backend.tasks.settle({ worker, settlements, ...lease });
  kit.expect(reply.answers.filter(({ kind }) => kind !== 'ok')).toEqual([]);
  return reply.lease?.leases ?? [];
}

/** Who looks after what falls due. */
export const watching: Cases = {
  // F86
  'a worker that has begun wakes for what falls due, also after earlier ones have gone': async (
    kit,
    expect,
  ) => {
    const dueAt = kit.now() + 5_000;
    await kit.add({ delayMs: 5_000 });
    for (const id of ['w1', 'w2', 'w3', 'w4', 'w5']) {
      await start(kit, id);
      const { waitMs } = await kit.backend.tasks.lease(kit.request({ worker: id, wait: true }));
      expect(kit.now() + waitMs).toBeLessThanOrEqual(dueAt);
      // It is killed: nothing is heard of it any more.
      await kit.shift(1_000);
    }
    await start(kit, 'w6');
    expect(await kit.lease(1, { worker: 'w6' })).toHaveLength(1);
  },
};

const TAKEN = { code: 'INVALID_OPTION', option: 'id' };

function refusalOf(call: Promise<void>): Promise<unknown> {
  return call.catch((error: unknown) => error);
}

/** Whose an id is. */
export const ids: Cases = {
  // F139
  'the id of a worker that lives is refused to another, which changes nothing': async (
    kit,
    expect,
  ) => {
    const { workers, tasks } = kit.backend;
    await kit.addMany(2);
    await workers.register(SPEC, { starts: true, instance: 'one' });
    const { leases } = await tasks.lease(kit.request({ limit: 1 }));
    for (const starts of [true, false]) {
      const registers = workers.register(
        { ...SPEC, concurrency: 1 },
        { starts, instance: 'other' },
      );
      expect(await refusalOf(registers)).toMatchObject(TAKEN);
    }
    await workers.unregister('w', 'other');
    expect(await workers.list()).toMatchObject([{ id: 'w', concurrency: 10, running: 1 }]);
    await settleAs(kit, 'w', leases);
    expect(await attemptsOf(kit, 'w')).toMatchObject({ succeeded: 1 });
  },

  // F139
  'a worker that registers again is never refused': async (kit, expect) => {
    const { workers } = kit.backend;
    for (const starts of [true, true, false]) {
      await workers.register(SPEC, { starts, instance: 'one' });
    }
    // One that does not say which it is, too.
    await workers.register(SPEC, { starts: true });
    await workers.register(SPEC, { starts: true, instance: 'other' });
    expect(await workers.list()).toHaveLength(1);
  },

  // F139
  'the id of a worker that is gone, or silent for long enough, is free': async (kit, expect) => {
    const { workers } = kit.backend;
    await workers.register(SPEC, { starts: true, instance: 'one' });
    await workers.unregister('w', 'one');
    await workers.register(SPEC, { starts: true, instance: 'two' });
    await kit.advance(LIMITS.workerIdMs - 500);
    // It is heard of.
    await kit.backend.tasks.lease(kit.request());
    await kit.advance(1_000);
    const early = workers.register(SPEC, { starts: true, instance: 'three' });
    expect(await refusalOf(early)).toMatchObject(TAKEN);
    await kit.advance(LIMITS.workerIdMs);
    await workers.register(SPEC, { starts: true, instance: 'three' });
    const late = workers.register(SPEC, { instance: 'two' });
    expect(await refusalOf(late)).toMatchObject(TAKEN);
  },
};

/** What became of the attempts of each worker, since it started. */
export const attempts: Cases = {
  // F35
  'counts those that a worker settled, by outcome': async (kit, expect) => {
    await kit.addMany(12);
    const [finished, retried, failed, released, canceled, waits] = await kit.lease(6);
    if (!(finished && retried && failed && released && canceled && waits)) {
      throw new TypeError('six leases');
    }
    const others = await kit.lease(2, { worker: 'b' });
    expect(await attemptsOf(kit, 'w')).toEqual({ succeeded: 0, failed: 0, lost: 0 });
    await kit.finish(finished);
    await kit.retry(retried, 60_000);
    await kit.fail(failed);
    await kit.release(released, 60_000);
    await kit.cancel(canceled.id);
    await kit.finish(canceled);
    const later = await kit.add({ delayMs: 3_600_000 });
    await kit.settle(waits, { type: 'suspend', waitFor: [later], wakeOn: 'all' });
    await settleAs(kit, 'b', others);
    expect(await attemptsOf(kit, 'w')).toEqual({ succeeded: 1, failed: 2, lost: 0 });
    expect(await attemptsOf(kit, 'b')).toEqual({ succeeded: 2, failed: 0, lost: 0 });
  },

  // F35
  'counts attempts, not tasks: one that is retried counts each time': async (kit, expect) => {
    await kit.add();
    for (let n = 0; n < 3; n++) await kit.retry(await kit.leaseOne(), 0);
    await kit.finish(await kit.leaseOne());
    expect(await attemptsOf(kit, 'w')).toEqual({ succeeded: 1, failed: 3, lost: 0 });
  },

  // F35
  'counts what is settled in the step that leases the next': async (kit, expect) => {
    await kit.addMany(9);
    let leased = await kit.lease(2);
    for (let n = 0; n < 3; n++) leased = await settleAs(kit, 'w', leased, { more: 2 });
    expect(await attemptsOf(kit, 'w')).toEqual({ succeeded: 6, failed: 0, lost: 0 });
    const [one, ...rest] = leased;
    await kit.setQueue({ maxRunning: 5 });
    await settleAs(kit, 'w', one === undefined ? [] : [one], { more: 1 });
    await settleAs(kit, 'w', rest);
    expect(await attemptsOf(kit, 'w')).toEqual({ succeeded: 8, failed: 0, lost: 0 });
    expect((await kit.stats()).totals.finished).toBe(8);
  },

  // F35
  'counts nothing that is settled again, or under a lease that is none': async (kit, expect) => {
    await kit.addMany(2);
    const [one, other] = await kit.lease(2);
    if (one === undefined || other === undefined) throw new TypeError('two leases');
    for (let n = 0; n < 3; n++) await kit.finish(one);
    await kit.retry(other, 0);
    await kit.retry(other, 0);
    await kit.finish({ id: other.id, token: one.token });
    await kit.finish({ id: 'nobody', token: one.token });
    expect(await attemptsOf(kit, 'w')).toEqual({ succeeded: 1, failed: 1, lost: 0 });
  },

  // F35
  'counts leases that ended before they were settled': async (kit, expect) => {
    await kit.worker('other');
    await kit.addMany(3);
    const [kept, ...gone] = await kit.lease(3);
    if (kept === undefined) throw new TypeError('three leases');
    for (let n = 0; n < 4; n++) {
      await kit.advance(LEASE_MS / 3);
      await kit.backend.tasks.extend({ worker: 'w', leaseMs: LEASE_MS, leases: [kept] });
    }
    await kit.rest();
    expect(await kit.finish(kept)).toMatchObject({ kind: 'ok' });
    // Too late: it counts once, as lost.
    for (const lost of gone) expect(await kit.finish(lost)).toEqual({ kind: 'leaseLost' });
    await kit.lease(1, { worker: 'other' });
    expect(await attemptsOf(kit, 'w')).toEqual({ succeeded: 1, failed: 0, lost: 2 });
    expect(await attemptsOf(kit, 'other')).toEqual({ succeeded: 0, failed: 0, lost: 0 });
  },

  // F35
  'goes on when a worker registers again, and after it was silent': async (kit, expect) => {
    await kit.worker('a', { assignedUsers: ['ann'] });
    await kit.addMany(4, { user: 'ann' });
    const [first, second, third] = await kit.lease(3, { worker: 'a', leaseMs: 600_000 });
    if (!(first && second && third)) throw new TypeError('three leases');
    await settleAs(kit, 'a', [first]);
    await kit.worker('a', { assignedUsers: ['ann'], names: ['work', 'more'] });
    expect(await attemptsOf(kit, 'a')).toEqual({ succeeded: 1, failed: 0, lost: 0 });
    await kit.advance(LIMITS.workerSilenceMs + 10_000);
    expect(await attemptsOf(kit, 'a')).toBeUndefined();
    // It settles before it has come back: its lists are dropped.
    await settleAs(kit, 'a', [second]);
    await kit.lease(1, { worker: 'a' });
    await settleAs(kit, 'a', [third]);
    expect(await attemptsOf(kit, 'a')).toEqual({ succeeded: 3, failed: 0, lost: 0 });
  },

  // F35
  'begins anew with each start, and counts no lease of the start before': async (kit, expect) => {
    await start(kit, 'a');
    await kit.addMany(4);
    const [done, failed] = await kit.lease(3, { worker: 'a' });
    if (done === undefined || failed === undefined) throw new TypeError('three leases');
    const startedAt = kit.now();
    await settleAs(kit, 'a', [done]);
    await kit.retry(failed, 0);
    await kit.advance(1_000);
    expect(await kit.backend.workers.list()).toMatchObject([
      { id: 'a', startedAt, attempts: { succeeded: 1, failed: 1, lost: 0 } },
    ]);
    await start(kit, 'a');
    expect(await kit.backend.workers.list()).toMatchObject([
      { id: 'a', startedAt: kit.now(), attempts: { succeeded: 0, failed: 0, lost: 0 }, running: 1 },
    ]);
    const [again] = await kit.lease(1, { worker: 'a', leaseMs: 2 * LEASE_MS });
    if (again === undefined) throw new TypeError('a lease');
    for (let n = 0; n < 4; n++) {
      await kit.advance(LEASE_MS / 3);
      await kit.lease(1, { worker: 'a', queues: [{ queue: 'bulk', weight: 1, pass: 0 }] });
    }
    expect((await kit.stats()).totals.lost).toBe(1);
    await settleAs(kit, 'a', [again]);
    expect(await attemptsOf(kit, 'a')).toEqual({ succeeded: 1, failed: 0, lost: 0 });
  },

  // F35
  'of a worker that has gone nothing is listed, and nothing is left for the next': async (
    kit,
    expect,
  ) => {
    await kit.worker('a');
    await kit.addMany(3);
    const [one, two] = await kit.lease(2, { worker: 'a' });
    if (one === undefined || two === undefined) throw new TypeError('two leases');
    await settleAs(kit, 'a', [one]);
    await kit.backend.workers.unregister('a');
    await settleAs(kit, 'a', [two]);
    expect(await attemptsOf(kit, 'a')).toBeUndefined();
    await kit.worker('a');
    expect(await attemptsOf(kit, 'a')).toEqual({ succeeded: 0, failed: 0, lost: 0 });
  },

  // F35
  'of a worker that comes back what it still holds is running, and no loss of its own': async (
    kit,
    expect,
  ) => {
    await kit.worker('a');
    await kit.addMany(2);
    await kit.lease(2, { worker: 'a' });
    await kit.backend.workers.unregister('a');
    await kit.advance(1_000);
    await kit.worker('a');
    expect(await kit.backend.workers.list()).toMatchObject([{ id: 'a', running: 2 }]);
    await kit.advance(LEASE_MS - 1_000);
    await kit.worker('a');
    expect((await kit.stats()).totals.lost).toBe(2);
    const attempts = { succeeded: 0, failed: 0, lost: 0 };
    expect(await kit.backend.workers.list()).toMatchObject([{ id: 'a', running: 0, attempts }]);
  },
};
