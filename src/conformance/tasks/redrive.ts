/** Dependents that wait for a redrive, redrive, removal: what happens to dead letters and to those who wait for them. */
import { LIMITS } from '../../domain/limits.ts';
import type { EdgePolicies } from '../../domain/task/task.ts';
import { type Cases, retaining } from '../cases.ts';
import { type Kit, LEASE_MS, REFUSING_EDGES } from '../kit.ts';

function edges(fields: Partial<EdgePolicies>): { readonly edges: EdgePolicies } {
  return { edges: { ...REFUSING_EDGES, ...fields } };
}

/** A dead letter and a task that waits for it. */
async function awaitingPair(kit: Kit): Promise<readonly [string, string]> {
  const upstream = await kit.add();
  const id = await kit.add({ dependsOn: [upstream], ...edges({ onFailure: 'wait' }) });
  await kit.fail(await kit.leaseOne());
  await kit.rest();
  kit.expect(await kit.record(id)).toMatchObject({ state: 'deferred', blockedBy: [upstream] });
  return [upstream, id];
}

/** Tasks that wait until a failed one is redriven or goes. */
export const awaitingRedrive: Cases = {
  'a redrive takes those who waited for it along': async (kit, expect) => {
    const [upstream, id] = await awaitingPair(kit);
    expect(await kit.backend.tasks.redrive(upstream)).toMatchObject({
      kind: 'ok',
      state: 'queued',
    });
    expect(await kit.record(id)).toMatchObject({ state: 'deferred', blockedBy: [upstream] });
    await kit.runToEnd(upstream, '1');
    const leased = await kit.leaseOne();
    expect(leased).toMatchObject({ id, upstreams: [{ id: upstream, result: '1' }] });
  },

  'one that fails again holds them again': async (kit, expect) => {
    const [upstream, id] = await awaitingPair(kit);
    await kit.backend.tasks.redrive(upstream);
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    expect(await kit.state(id)).toBe('deferred');
    await kit.backend.tasks.redrive(upstream);
    await kit.runToEnd(upstream);
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'removal cancels those who waited': async (kit, expect) => {
    const [upstream, id] = await awaitingPair(kit);
    expect(await kit.backend.tasks.remove(upstream)).toMatchObject({ kind: 'ok' });
    await kit.rest();
    expect(await kit.states([upstream, id])).toEqual(['missing', 'canceled']);
  },

  'retention cancels those who waited': retaining({ failedMs: 120_000 }, async (kit, expect) => {
    const [upstream, id] = await awaitingPair(kit);
    await kit.jump(130_000);
    expect(await kit.states([upstream, id])).toEqual(['missing', 'canceled']);
  }),

  'the wait ends after 30 days': retaining(
    { failedMs: 10 * LIMITS.waitMaxMs },
    async (kit, expect) => {
      const [upstream, id] = await awaitingPair(kit);
      await kit.jump(LIMITS.waitMaxMs - 60_000);
      expect(await kit.state(id)).toBe('deferred');
      await kit.jump(120_000);
      expect(await kit.record(id)).toMatchObject({
        state: 'canceled',
        cause: { type: 'waited', id: upstream },
      });
    },
  ),

  'a wait that was taken up again has no end': retaining(
    { failedMs: 10 * LIMITS.waitMaxMs },
    async (kit, expect) => {
      const [upstream, id] = await awaitingPair(kit);
      await kit.jump(LIMITS.waitMaxMs / 2);
      await kit.backend.tasks.redrive(upstream);
      await kit.jump(LIMITS.waitMaxMs);
      expect(await kit.states([upstream, id])).toEqual(['queued', 'deferred']);
    },
  ),

  'canceling one that waits lets go of the dead letter': async (kit, expect) => {
    const [upstream, id] = await awaitingPair(kit);
    expect(await kit.cancel(id)).toEqual({ kind: 'canceled' });
    await kit.rest();
    await kit.backend.tasks.redrive(upstream);
    await kit.runToEnd(upstream);
    expect(await kit.lease()).toEqual([]);
  },

  'an id that waited once, was removed and came again waits no more': async (kit, expect) => {
    const [upstream, id] = await awaitingPair(kit);
    await kit.cancel(id);
    await kit.rest();
    await kit.backend.tasks.remove(id);
    await kit.add({ id, delayMs: 3_600_000 });
    await kit.backend.tasks.redrive(upstream);
    await kit.cancel(upstream);
    await kit.rest();
    expect(await kit.states([upstream, id])).toEqual(['canceled', 'scheduled']);
  },

  'an id that waited once, was removed and came again may wait for the same': async (
    kit,
    expect,
  ) => {
    const [upstream, id] = await awaitingPair(kit);
    await kit.cancel(id);
    await kit.rest();
    await kit.backend.tasks.remove(id);
    await kit.backend.tasks.redrive(upstream);
    await kit.add({ id, dependsOn: [upstream] });
    await kit.runToEnd(upstream);
    await kit.runToEnd(id);
    expect(await kit.states([upstream, id])).toEqual(['finished', 'finished']);
  },
};

/** Dead letters that are started anew. */
export const redrives: Cases = {
  'gives fresh attempts at the tail of the level': async (kit, expect) => {
    const id = await kit.add();
    await kit.retry(await kit.leaseOne(), 0);
    await kit.leaseOne();
    await kit.advance(LEASE_MS + 1);
    await kit.fail(await kit.leaseOne());
    const other = await kit.add();
    expect(await kit.record(id)).toMatchObject({ state: 'failed', failures: 2, losses: 1 });
    expect(await kit.backend.tasks.redrive(id)).toEqual({ kind: 'ok', state: 'queued' });
    const record = await kit.record(id);
    expect(record).toMatchObject({ state: 'queued', failures: 0, losses: 0, releases: 0 });
    expect([record?.endedAt, record?.cause]).toEqual([undefined, undefined]);
    const [first, second] = await kit.lease(2);
    expect([first?.id, second?.id]).toEqual([other, id]);
    expect(second).toMatchObject({ attempt: 1, losses: 0 });
  },

  'tokens go on rising after a redrive': async (kit, expect) => {
    await kit.add();
    const before = await kit.leaseOne();
    await kit.fail(before);
    await kit.backend.tasks.redrive(before.id);
    const after = await kit.leaseOne();
    expect(Number.parseInt(after.token, 10)).toBeGreaterThan(Number.parseInt(before.token, 10));
    expect(await kit.finish(before)).toMatchObject({ repeated: true, state: 'started' });
  },

  'refuses what is no dead letter': async (kit, expect) => {
    const { redrive } = bound(kit);
    expect(await redrive('nowhere')).toEqual({ kind: 'not-found' });
    const id = await kit.add();
    expect(await redrive(id)).toEqual({ kind: 'wrong-state', state: 'queued' });
    await kit.leaseOne();
    expect(await redrive(id)).toEqual({ kind: 'wrong-state', state: 'started' });
    await kit.cancel(await kit.add({ id: 'c' }));
    expect(await redrive('c')).toEqual({ kind: 'wrong-state', state: 'canceled' });
  },

  // O52
  'runs no dependent twice that ran with the failure': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ dependsOn: [upstream], ...edges({ onFailure: 'run' }) });
    await kit.fail(await kit.leaseOne());
    await kit.runToEnd(id);
    await kit.rest();
    await kit.backend.tasks.redrive(upstream);
    await kit.runToEnd(upstream);
    await kit.rest();
    expect(await kit.lease()).toEqual([]);
    expect(await kit.states([upstream, id])).toEqual(['finished', 'finished']);
  },

  'of a task that its upstream took along waits for that upstream again': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ dependsOn: [upstream], ...edges({ onFailure: 'fail' }) });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    expect(await kit.backend.tasks.redrive(id)).toEqual({ kind: 'ok', state: 'deferred' });
    expect(await kit.record(id)).toMatchObject({ state: 'deferred', blockedBy: [upstream] });
    await kit.backend.tasks.redrive(upstream);
    await kit.runToEnd(upstream);
    await kit.runToEnd(id);
    expect(await kit.state(id)).toBe('finished');
  },

  'of a task whose upstream has finished meanwhile runs at once': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ dependsOn: [upstream], ...edges({ onFailure: 'fail' }) });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    await kit.backend.tasks.redrive(upstream);
    await kit.runToEnd(upstream, '5');
    expect(await kit.backend.tasks.redrive(id)).toEqual({ kind: 'ok', state: 'queued' });
    const leased = await kit.leaseOne();
    expect(leased).toMatchObject({ id, upstreams: [{ id: upstream, result: '5' }] });
  },

  'may follow each other: ten dead letters, redriven at once': async (kit, expect) => {
    const ids = await kit.addMany(10);
    for (const leased of await kit.lease(10)) await kit.fail(leased);
    await Promise.all(ids.map((id) => kit.backend.tasks.redrive(id)));
    expect(new Set(await kit.leaseIds(20))).toEqual(new Set(ids));
  },
};

/** Dead letters that are put back with another input. */
export const edits: Cases = {
  'gives the new input and options with the next lease': async (kit, expect) => {
    for (const payload of ['2', `"${'x'.repeat(5_000)}"`, '']) {
      const id = await kit.add({ payload: '1', options: '{"retries":1}' });
      await kit.fail(await kit.leaseOne());
      const edited = { payload, options: '{"retries":7}' };
      expect(await kit.backend.tasks.redrive(id, edited)).toEqual({ kind: 'ok', state: 'queued' });
      expect(await kit.record(id)).toMatchObject(edited);
      const leased = await kit.leaseOne();
      expect(leased).toMatchObject({ id, attempt: 1, ...edited });
      await kit.finish(leased);
    }
  },

  'puts a short input in place of a long one, and leaves nothing of that': async (kit, expect) => {
    const long = `"${'l'.repeat(5_000)}"`;
    const id = await kit.add({ payload: long });
    await kit.fail(await kit.leaseOne());
    await kit.backend.tasks.redrive(id, { payload: '3', options: '{}' });
    const leased = await kit.leaseOne();
    expect(leased).toMatchObject({ id, payload: '3' });
    await kit.fail(leased);
    await kit.backend.tasks.remove(id);
    expect(await kit.add({ id, payload: '4' })).toBe(id);
    expect(await kit.leaseOne()).toMatchObject({ id, payload: '4' });
  },

  'may be edited again, and is put back as it is without another input': async (kit, expect) => {
    const id = await kit.add({ payload: '1' });
    for (const payload of ['2', '3']) {
      await kit.fail(await kit.leaseOne());
      await kit.backend.tasks.redrive(id, { payload, options: '{}' });
      expect(await kit.record(id)).toMatchObject({ payload });
    }
    await kit.fail(await kit.leaseOne());
    await kit.backend.tasks.redrive(id);
    expect(await kit.leaseOne()).toMatchObject({ id, payload: '3' });
  },

  'sent again by its id, it is compared with what was sent first': async (kit, expect) => {
    const id = await kit.add({ payload: '1' });
    await kit.fail(await kit.leaseOne());
    await kit.backend.tasks.redrive(id, { payload: '2', options: '{}' });
    const same = await kit.sendOne({ id, payload: '1' });
    expect(same).toMatchObject({ kind: 'existing', id });
    const other = await kit.sendOne({ id, payload: '2' });
    expect(other).toMatchObject({ kind: 'refused', refusal: { type: 'task-conflict' } });
  },

  'a refusal changes nothing': async (kit, expect) => {
    const edited = { payload: '2', options: '{"retries":7}' };
    const { redrive } = bound(kit);
    expect(await redrive('nowhere', edited)).toEqual({ kind: 'not-found' });
    const id = await kit.add({ payload: '1' });
    expect(await redrive(id, edited)).toEqual({ kind: 'wrong-state', state: 'queued' });
    const leased = await kit.leaseOne();
    expect(await redrive(id, edited)).toEqual({ kind: 'wrong-state', state: 'started' });
    await kit.finish(leased);
    expect(await redrive(id, edited)).toEqual({ kind: 'wrong-state', state: 'finished' });
    expect(await kit.record(id)).toMatchObject({ payload: '1', options: '{}' });
  },

  'waits again for what it waited for': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ dependsOn: [upstream], ...edges({ onFailure: 'fail' }) });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    const edited = { payload: '9', options: '{}' };
    expect(await kit.backend.tasks.redrive(id, edited)).toEqual({ kind: 'ok', state: 'deferred' });
    await kit.backend.tasks.redrive(upstream);
    await kit.runToEnd(upstream);
    expect(await kit.leaseOne()).toMatchObject({ id, payload: '9' });
  },
};

/** Ended tasks that are taken away, with all that is kept about them. */
export const removals: Cases = {
  'takes an ended task and everything kept about it': async (kit, expect) => {
    const id = await kit.add();
    await kit.retry(await kit.leaseOne(), 0);
    await kit.runToEnd(id);
    await kit.rest();
    expect(await kit.backend.tasks.remove(id)).toMatchObject({ kind: 'ok' });
    expect(await kit.state(id)).toBe('missing');
    expect(await kit.backend.inspect.attempts(id)).toEqual([]);
    expect(await kit.backend.inspect.facts(id)).toBeUndefined();
    expect(await kit.backend.tasks.remove(id)).toEqual({ kind: 'not-found' });
    expect((await kit.stats()).counts.finished).toBe(0);
  },

  'refuses what has not ended': async (kit, expect) => {
    const queued = await kit.add();
    const scheduled = await kit.add({ delayMs: 1_000 });
    const { remove } = bound(kit);
    expect(await remove(queued)).toEqual({ kind: 'wrong-state', state: 'queued' });
    expect(await remove(scheduled)).toEqual({ kind: 'wrong-state', state: 'scheduled' });
    await kit.leaseOne();
    expect(await remove(queued)).toEqual({ kind: 'wrong-state', state: 'started' });
    expect(await remove('nowhere')).toEqual({ kind: 'not-found' });
  },

  'is busy while a dependent has to read its result': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ dependsOn: [upstream] });
    await kit.runToEnd(upstream);
    const { remove } = bound(kit);
    expect(await remove(upstream)).toEqual({ kind: 'busy' });
    await kit.runToEnd(id);
    await kit.rest();
    expect(await remove(upstream)).toMatchObject({ kind: 'ok' });
  },

  // F70
  'takes away a task that hundreds wait for, by one call': async (kit, expect) => {
    const upstream = await kit.add();
    const ids = await kit.addMany(400, { dependsOn: [upstream] });
    const behind = await kit.add({ dependsOn: ids.slice(-1), ...edges({ onCancel: 'cancel' }) });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    const { remove } = bound(kit);
    expect(await remove(upstream)).toEqual({ kind: 'ok' });
    expect(await kit.state(upstream)).toBe('missing');
    expect(new Set(await kit.states(ids))).toEqual(new Set(['canceled']));
    const [record] = await kit.backend.inspect.get(ids.slice(-1));
    expect(record?.cause).toEqual({ type: 'upstream', id: upstream, state: 'removed' });
    await kit.rest();
    expect(await kit.state(behind)).toBe('canceled');
    expect(await remove(upstream)).toEqual({ kind: 'not-found' });
  },

  // F70
  'a refused removal cancels no dependent, and a redrive then frees them all': async (
    kit,
    expect,
  ) => {
    const upstream = await kit.add();
    const reader = await kit.add({ dependsOn: [upstream], ...edges({ onFailure: 'run' }) });
    const ids = await kit.addMany(130, { dependsOn: [upstream] });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    const { redrive, remove } = bound(kit);
    expect(await remove(upstream)).toEqual({ kind: 'busy' });
    expect(new Set(await kit.states(ids))).toEqual(new Set(['deferred']));
    expect(await redrive(upstream)).toMatchObject({ kind: 'ok' });
    await kit.serve(2);
    await kit.rest();
    expect(await kit.state(reader)).toBe('finished');
    expect(new Set(await kit.states(ids))).toEqual(new Set(['queued']));
  },

  // F70
  'retention takes away a task that hundreds wait for': retaining(
    { failedMs: 120_000 },
    async (kit, expect) => {
      const upstream = await kit.add();
      const ids = await kit.addMany(230, { dependsOn: [upstream] });
      await kit.fail(await kit.leaseOne());
      await kit.rest();
      await kit.advance(121_000);
      expect(await kit.state(upstream)).toBe('missing');
      expect(new Set(await kit.states(ids))).toEqual(new Set(['canceled']));
    },
  ),

  'is busy while dependents are being released': async (kit, expect) => {
    const upstream = await kit.add();
    await kit.addMany(2_000, { dependsOn: [upstream], ...edges({ onFailure: 'cancel' }) });
    await kit.fail(await kit.leaseOne());
    const { redrive, remove } = bound(kit);
    expect(await redrive(upstream)).toEqual({ kind: 'busy' });
    expect(await remove(upstream)).toEqual({ kind: 'busy' });
    await kit.rest();
    expect((await kit.stats()).counts.canceled).toBe(2_000);
    expect(await redrive(upstream)).toMatchObject({ kind: 'ok' });
  },
};

function bound(kit: Kit): Pick<Kit['backend']['tasks'], 'redrive' | 'remove'> {
  const { tasks } = kit.backend;
  return { redrive: (id, edited) => tasks.redrive(id, edited), remove: (id) => tasks.remove(id) };
}
