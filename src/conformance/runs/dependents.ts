import type { DependentPage } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import { type Kit, REFUSING_EDGES } from '../kit.ts';

function dependents(kit: Kit, id: string, limit = 10, cursor?: string): Promise<DependentPage> {
  const page = cursor === undefined ? { limit } : { limit, cursor };
  return kit.backend.inspect.dependents(id, page);
}

/** Who waits for a task, and how: for its end, for its redrive, or suspended. */
export const dependentsOf: Cases = {
  // F25
  'tells who waits for a task, and what each would do': async (kit, expect) => {
    const on = await kit.add();
    expect(await dependents(kit, on)).toEqual({ items: [], count: 0, awaitingRedrive: 0 });
    const usual = await kit.add({ dependsOn: [on] });
    await kit.shift(10);
    const edges = { ...REFUSING_EDGES, onFailure: 'fail', onCancel: 'run' } as const;
    const later = await kit.add({ dependsOn: [on], delayMs: 60_000, user: 'ann', edges });
    const of = { name: 'work', user: 'ann', waits: 'end' };
    expect(await dependents(kit, on)).toEqual({
      items: [
        { ...of, id: usual, state: 'deferred', onFailure: 'wait', onCancel: 'cancel' },
        { ...of, id: later, state: 'scheduled', onFailure: 'fail', onCancel: 'run' },
      ],
      count: 2,
      awaitingRedrive: 0,
    });
    expect((await kit.backend.inspect.facts(on))?.dependents).toEqual(await dependents(kit, on));
    expect((await kit.backend.inspect.facts(usual))?.dependents).toBeUndefined();
    await kit.runToEnd(on);
    await kit.rest();
    expect(await dependents(kit, on)).toEqual({ items: [], count: 0, awaitingRedrive: 0 });
    expect((await kit.backend.inspect.facts(on))?.dependents).toBeUndefined();
  },

  // F25
  'tells those apart that wait for a redrive': async (kit, expect) => {
    const on = await kit.add();
    const awaitingRedrive = await kit.add({ dependsOn: [on] });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    const page = await dependents(kit, on);
    expect(page).toMatchObject({
      items: [{ id: awaitingRedrive, waits: 'redrive' }],
      count: 1,
      awaitingRedrive: 1,
    });
    await kit.backend.tasks.redrive(on);
    const after = await dependents(kit, on);
    expect(after).toMatchObject({
      items: [{ id: awaitingRedrive, waits: 'end' }],
      count: 1,
      awaitingRedrive: 0,
    });
  },

  // F25
  'tells those apart that are suspended': async (kit, expect) => {
    const on = await kit.add({ user: 'bob', delayMs: 1_000 });
    const run = await kit.add();
    const leased = await kit.leaseOne();
    const usual = await kit.add({ dependsOn: [on], user: 'bob' });
    await kit.settle(leased, { type: 'suspend', waitFor: [on], wakeOn: 'all' });
    const { items, count } = await dependents(kit, on);
    expect(count).toBe(2);
    const suspended = { id: run, name: 'work', user: 'ann', state: 'deferred', waits: 'suspended' };
    expect(items[0]).toEqual(suspended);
    expect(items[1]).toMatchObject({ id: usual, waits: 'end' });
    await kit.cancel(run);
    expect(await dependents(kit, on)).toMatchObject({ items: [{ id: usual }], count: 1 });
  },

  // F25
  'lists the tasks that wait for an id that is not stored': async (kit, expect) => {
    const edges = { ...REFUSING_EDGES, onMissing: 'block' } as const;
    const id = await kit.add({ dependsOn: ['nobody'], edges });
    const page = await dependents(kit, 'nobody');
    expect(page).toMatchObject({ items: [{ id, waits: 'end' }], count: 1, awaitingRedrive: 0 });
    await kit.add({ id: 'nobody' });
    expect(await dependents(kit, 'nobody')).toMatchObject({ items: [{ id }], count: 1 });
    expect(await dependents(kit, 'nowhere')).toEqual({ items: [], count: 0, awaitingRedrive: 0 });
  },

  // F25
  'tells hundreds by pages, also when some leave meanwhile': async (kit, expect) => {
    const on = await kit.add();
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) {
      ids.push(...(await kit.addMany(50, { dependsOn: [on] })));
      await kit.shift(1);
    }
    const first = await dependents(kit, on, 100);
    expect(first).toMatchObject({ count: 250, awaitingRedrive: 0 });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 100));
    await kit.cancel(ids[99] ?? '');
    await kit.cancel(ids[100] ?? '');
    const second = await dependents(kit, on, 100, first.cursor);
    expect(second.count).toBe(248);
    expect(second.items.map(({ id }) => id)).toEqual(ids.slice(101, 201));
    const third = await dependents(kit, on, 100, second.cursor);
    expect(third.items.map(({ id }) => id)).toEqual(ids.slice(201));
    expect(third.cursor).toBeUndefined();
  },

  // F25
  'goes from those that wait for the end to those that wait for a redrive': async (kit, expect) => {
    const on = await kit.add();
    const awaitingRedrive = await kit.addMany(3, { dependsOn: [on] });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    const first = await dependents(kit, on, 2);
    const second = await dependents(kit, on, 2, first.cursor);
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(awaitingRedrive);
    expect(second.cursor).toBeUndefined();
    const refused = await dependents(kit, on, 2, 'nonsense').catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'INVALID_OPTION' });
  },
};
