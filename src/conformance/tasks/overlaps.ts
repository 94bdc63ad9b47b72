import { firedTaskId } from '../../domain/port/schedule.ts';
import type { Cases } from '../cases.ts';
import { REFUSING_EDGES } from '../kit.ts';
import { CREATED, demand, outcome, PERIOD, store } from '../schedule-kit.ts';

/** Slots that come while the task of an earlier one has not ended. */
export const overlapping: Cases = {
  'skip passes over slots until the task has ended': async (kit, expect) => {
    const slot = await store(kit, 'a', { overlap: 'skip' });
    expect(await outcome(kit, 'a')).toEqual(CREATED);
    const id = firedTaskId('a', slot);
    expect(await outcome(kit, 'a')).toEqual({ kind: 'overlap', id });
    const leased = await kit.leaseOne();
    expect(await outcome(kit, 'a')).toEqual({ kind: 'overlap', id });
    await kit.finish(leased);
    expect(await outcome(kit, 'a')).toEqual(CREATED);
    expect(await demand(kit, 'a')).toMatchObject({ fired: 2, overlapped: 2 });
  },

  'queue-one lets one wait, and no more': async (kit, expect) => {
    const slot = await store(kit, 'a', { overlap: 'queue-one' });
    expect(await outcome(kit, 'a')).toEqual(CREATED);
    const first = await kit.leaseOne();
    expect(await outcome(kit, 'a')).toEqual(CREATED);
    const second = firedTaskId('a', slot + PERIOD);
    expect(await kit.record(second)).toMatchObject({ state: 'deferred', dependsOn: [first.id] });
    expect(await outcome(kit, 'a')).toEqual({ kind: 'overlap', id: first.id });
    await kit.fail(first);
    expect(await kit.leaseIds(5)).toEqual([second]);
    expect(await outcome(kit, 'a')).toEqual(CREATED);
  },

  // F140
  'slots that catch up run one after the other under every policy': async (kit, expect) => {
    for (const overlap of ['skip', 'queue-one', 'allow', 'cancel-previous'] as const) {
      const slot = await store(kit, overlap, { overlap });
      const ids = [0, 1, 2, 3].map((at) => firedTaskId(overlap, slot + at * PERIOD));
      for (const _ of ids) expect(await outcome(kit, overlap, { catchUp: true })).toEqual(CREATED);
      const deferred = await Promise.all(ids.slice(1).map((id) => kit.record(id)));
      expect(deferred.map((record) => record?.dependsOn)).toEqual(
        ids.slice(0, 3).map((id) => [id]),
      );
      const order: string[] = [];
      for (const _ of ids) {
        const leased = await kit.leaseOne();
        order.push(leased.id);
        expect(await kit.leaseIds(5)).toEqual([]);
        await (order.length === 2 ? kit.fail(leased) : kit.finish(leased));
      }
      expect(order).toEqual(ids);
      expect(await demand(kit, overlap)).toMatchObject({ fired: 4, overlapped: 0 });
    }
  },

  // F60
  'a slot of another user waits for none of the user before, but counts it': async (
    kit,
    expect,
  ) => {
    for (const overlap of ['queue-one', 'cancel-previous'] as const) {
      const slot = await store(kit, overlap, { overlap });
      expect(await outcome(kit, overlap)).toEqual(CREATED);
      const first = await kit.leaseOne();
      await outcome(kit, overlap, { task: { user: 'bob' } });
      const second = firedTaskId(overlap, slot + PERIOD);
      expect(await kit.record(second)).toMatchObject({ state: 'queued', dependsOn: [] });
      if (overlap === 'queue-one') {
        const third = await outcome(kit, overlap, { task: { user: 'bob' } });
        expect(third).toEqual({ kind: 'overlap', id: first.id });
      }
      await kit.finish(first, '"secret"');
      expect(await kit.leaseOne()).toMatchObject({ id: second, upstreams: [] });
      await kit.cancel(second);
      await kit.rest();
    }
  },

  'cancel-previous asks the task to end, and starts behind it': async (kit, expect) => {
    const slot = await store(kit, 'a', { overlap: 'cancel-previous' });
    const ids = [0, 1, 2, 3].map((at) => firedTaskId('a', slot + at * PERIOD));
    expect(await outcome(kit, 'a')).toEqual(CREATED);
    expect(await outcome(kit, 'a')).toEqual({ kind: 'created', canceled: [ids[0]] });
    expect(await kit.state(ids[0] ?? '')).toBe('canceled');
    const running = await kit.leaseOne();
    expect(running.id).toBe(ids[1]);
    expect(await outcome(kit, 'a')).toEqual({ kind: 'created', canceled: [ids[1]] });
    expect(await outcome(kit, 'a')).toEqual({ kind: 'created', canceled: [ids[1], ids[2]] });
    expect(await kit.record(ids[1] ?? '')).toMatchObject({ cancelRequested: true });
    expect(await kit.state(ids[2] ?? '')).toBe('canceled');
    expect(await kit.record(ids[3] ?? '')).toMatchObject({ state: 'deferred' });
    await kit.finish(running);
    expect(await kit.state(ids[1] ?? '')).toBe('canceled');
    expect(await kit.leaseIds(5)).toEqual([ids[3]]);
  },

  'cancel-previous tells dependents when the new task is in line': async (kit, expect) => {
    const slot = await store(kit, 'a', { overlap: 'cancel-previous' });
    await outcome(kit, 'a');
    const [first, second] = [0, 1].map((at) => firedTaskId('a', slot + at * PERIOD));
    const edges = { ...REFUSING_EDGES, onCancel: 'run' } as const;
    await kit.add({ id: 'b', dependsOn: [first ?? ''], edges });
    await outcome(kit, 'a');
    expect(await kit.leaseIds(5)).toEqual([second, 'b']);
  },
};
