/** Schedules that fire at events: what they start is stored with the event, or neither is. */

import { LIMITS } from '../domain/limits.ts';
import type {
  EventStart,
  PublishReply,
  ScheduleChange,
  ScheduleRecord,
} from '../domain/port/backend.ts';
import { eventTaskId } from '../domain/port/event-start.ts';
import type { WaitEvent } from '../domain/task/wait.ts';
import type { Cases } from './cases.ts';
import type { Kit, TaskFields } from './kit.ts';
import { demand, store } from './schedule-kit.ts';

const NAME = 'order.paid';
const ON = { user: 'ann', event: NAME } as const;

/** Stores a schedule that fires at the event, or changes it. */
async function listen(
  kit: Kit,
  id: string,
  change: Partial<ScheduleChange> = {},
): Promise<ScheduleRecord> {
  const { record } = await kit.backend.schedules.get(id);
  const whole: ScheduleChange = {
    id,
    revision: record?.revision ?? 0,
    spec: '{"é":1}',
    paused: false,
    overlap: 'allow',
    on: ON,
    ...change,
  };
  kit.expect(await kit.backend.schedules.set(whole)).toMatchObject({ kind: 'ok' });
  return demand(kit, id);
}

/** A task waits for the event, and two schedules fire at it. */
async function waitingAndListening(kit: Kit): Promise<void> {
  await kit.add({ id: 'waits' });
  await kit.settle(await kit.leaseOne(), {
    type: 'suspend',
    waitFor: [],
    wakeOn: 'all',
    wait: { for: { kind: 'event', name: NAME, key: 'o-7' }, entry: '=1' },
  });
  await listen(kit, 'bill');
  await listen(kit, 'ship');
}

interface Publishing extends Partial<WaitEvent> {
  readonly user?: string;
  /** Fields of the task of each schedule; `undefined`: it starts none. */
  readonly tasks?: Readonly<Record<string, TaskFields | undefined>>;
}

/** Publishes without knowing of any schedule. */
function announce(kit: Kit, { user = 'ann', tasks: _none, ...event }: Publishing = {}) {
  return publish(kit, user, event, []);
}

function publish(
  kit: Kit,
  user: string,
  event: Partial<WaitEvent>,
  starts: readonly EventStart[],
): Promise<PublishReply> {
  const { eventId = kit.fresh('event'), name = NAME, ...more } = event;
  const whole = { name, key: 'o-7', payload: '{"n":1}', keepMs: LIMITS.eventKeepMs, ...more };
  return kit.backend.waits.publish(user, { ...whole, eventId }, starts);
}

/** Asks who fires, and publishes with what these start. */
async function fireAt(kit: Kit, { tasks = {}, ...more }: Publishing = {}): Promise<PublishReply> {
  const { user = 'ann', eventId = kit.fresh('event'), ...event } = more;
  const asked = await announce(kit, { user, eventId, ...event });
  if (asked.kind !== 'schedules') return asked;
  const starts = asked.schedules.map(({ id, revision }): EventStart => {
    const fields = tasks[id];
    if (id in tasks && fields === undefined) return { schedule: id, revision };
    return { schedule: id, revision, task: kit.task({ id: eventTaskId(id, eventId), ...fields }) };
  });
  return publish(kit, user, { eventId, ...event }, starts);
}

/** The schedules that fire at it, by what a publisher is told who knows of none. */
async function firing(kit: Kit, event: Publishing = {}): Promise<readonly string[]> {
  const reply = await announce(kit, event);
  return reply.kind === 'schedules' ? reply.schedules.map(({ id }) => id).sort() : [];
}

const FULL = { type: 'queue-full', user: 'ann', limit: 1, size: 1 } as const;

/** Who fires at an event, and what becomes of it. */
export const eventSchedules: Cases = {
  'a publisher is told who fires, and nothing is written': async (kit, expect) => {
    expect(await announce(kit, { eventId: 'none' })).toEqual({ kind: 'published' });
    const ship = await listen(kit, 'ship');
    const bill = await listen(kit, 'bill', { spec: '{"b":2}' });
    await listen(kit, 'foreign', { on: { user: 'bob', event: NAME } });
    await listen(kit, 'other', { on: { user: 'ann', event: 'order.sent' } });
    expect(ship).toMatchObject({ on: ON, fired: 0 });
    expect(ship.next).toBeUndefined();
    for (let twice = 0; twice < 2; twice++) {
      const reply = await announce(kit, { eventId: 'e1' });
      expect(reply.kind).toBe('schedules');
      const schedules = reply.kind === 'schedules' ? [...reply.schedules] : [];
      schedules.sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(schedules).toEqual([bill, ship]);
    }
    expect(await kit.runnable()).toBe(0);
  },

  'stores what they start with the event, and ends waits for it': async (kit, expect) => {
    await waitingAndListening(kit);
    await kit.advance(1_000);
    const tasks = { ship: { queue: 'bulk', payload: '{"s":1}' } };
    expect(await fireAt(kit, { eventId: 'e1', tasks })).toEqual({ kind: 'published' });
    const [bill, ship] = [eventTaskId('bill', 'e1'), eventTaskId('ship', 'e1')];
    expect(await kit.states([bill, ship, 'waits'])).toEqual(['queued', 'queued', 'queued']);
    expect(await kit.record(ship)).toMatchObject({ queue: 'bulk', payload: '{"s":1}' });
    for (const [id, task] of Object.entries({ bill, ship })) {
      expect(await demand(kit, id)).toMatchObject({
        fired: 1,
        last: { slot: kit.now(), id: task },
      });
    }
    expect(await fireAt(kit, { eventId: 'e2', tasks: { bill: undefined } })).toEqual({
      kind: 'published',
    });
    expect((await demand(kit, 'bill')).fired).toBe(1);
    expect((await demand(kit, 'ship')).fired).toBe(2);
  },

  'the same again starts nothing, also for a schedule stored since': async (kit, expect) => {
    await listen(kit, 'ship');
    expect(await fireAt(kit, { eventId: 'e1' })).toEqual({ kind: 'published' });
    expect(await fireAt(kit, { eventId: 'e1' })).toEqual({ kind: 'repeated' });
    const { revision } = await demand(kit, 'ship');
    const again = { schedule: 'ship', revision, task: kit.task({ id: 'again' }) };
    expect(await publish(kit, 'ann', { eventId: 'e1' }, [again])).toEqual({ kind: 'repeated' });
    expect(await kit.state('again')).toBe('missing');
    await listen(kit, 'bill');
    expect(await fireAt(kit, { eventId: 'e1' })).toEqual({ kind: 'repeated' });
    expect(await demand(kit, 'ship')).toMatchObject({ fired: 1 });
    expect(await demand(kit, 'bill')).toMatchObject({ fired: 0 });
    expect(await fireAt(kit, { eventId: 'e1', key: 'o-8' })).toEqual({ kind: 'published' });
    expect(await demand(kit, 'bill')).toMatchObject({ fired: 1 });
  },

  'who knows others than those that fire is told, at every difference': async (kit, expect) => {
    const { revision } = await listen(kit, 'ship');
    const task = kit.task({ id: 't1' });
    const known = { schedule: 'ship', revision, task } as const;
    const stale: readonly (readonly EventStart[])[] = [
      [],
      [{ ...known, revision: revision + 1 }],
      [{ ...known, schedule: 'shi' }],
      [known, { ...known, schedule: 'bill' }],
      [known, known],
    ];
    for (const starts of stale) {
      expect((await publish(kit, 'ann', { eventId: 'e1' }, starts)).kind).toBe('schedules');
    }
    expect(await kit.state('t1')).toBe('missing');
    expect(await publish(kit, 'ann', { eventId: 'e1' }, [known])).toEqual({ kind: 'published' });
    expect(await kit.state('t1')).toBe('queued');
    const again = await publish(kit, 'bob', { eventId: 'e1' }, [known]);
    expect(again).toEqual({ kind: 'schedules', schedules: [] });
  },

  'what is refused leaves nothing: no event, no task, no wait that ended': async (kit, expect) => {
    await waitingAndListening(kit);
    await kit.setUser('ann', { maxQueued: 1 });
    const refused = await fireAt(kit, { eventId: 'e1' });
    expect(refused).toMatchObject({ kind: 'refused', refusal: FULL });
    expect(await kit.states(['waits', eventTaskId('bill', 'e1')])).toEqual(['deferred', 'missing']);
    expect(await demand(kit, 'bill')).toMatchObject({ fired: 0 });
    await kit.setUser('ann', { maxQueued: 3 });
    expect(await fireAt(kit, { eventId: 'e1' })).toEqual({ kind: 'published' });
    expect(await kit.state('waits')).toBe('queued');
    const taken = kit.task({ id: eventTaskId('ship', 'e3'), payload: '"another"' });
    await kit.setUser('ann', { maxQueued: 100 });
    await kit.add(taken);
    expect(await fireAt(kit, { eventId: 'e3' })).toEqual({
      kind: 'refused',
      id: taken.id,
      refusal: { type: 'task-conflict', id: taken.id },
    });
    expect(await kit.state(eventTaskId('bill', 'e3'))).toBe('missing');
  },

  'a task that a key answers for is none of its own': async (kit, expect) => {
    await listen(kit, 'ship');
    const tasks = { ship: { idempotency: { key: 'once', policy: 'return' } } } as const;
    await fireAt(kit, { eventId: 'e1', tasks });
    await fireAt(kit, { eventId: 'e2', tasks });
    expect(await kit.runnable()).toBe(1);
    const last = { id: eventTaskId('ship', 'e1') };
    expect(await demand(kit, 'ship')).toMatchObject({ fired: 1, last });
    await kit.add({ id: eventTaskId('ship', 'e4') });
    expect(await fireAt(kit, { eventId: 'e4' })).toEqual({ kind: 'published' });
    expect(await demand(kit, 'ship')).toMatchObject({ fired: 1 });
  },

  'paused, changed or removed it fires no more': async (kit, expect) => {
    await listen(kit, 'ship');
    await listen(kit, 'ship', { paused: true });
    expect(await firing(kit)).toEqual([]);
    expect(await demand(kit, 'ship')).toMatchObject({ paused: true, on: ON });
    await listen(kit, 'ship');
    expect(await firing(kit)).toEqual(['ship']);
    await listen(kit, 'ship', { on: { user: 'bob', event: NAME } });
    expect([await firing(kit), await firing(kit, { user: 'bob' })]).toEqual([[], ['ship']]);
    await listen(kit, 'ship', { on: { user: 'ann', event: 'order.sent' } });
    const sent = { name: 'order.sent' };
    expect([await firing(kit, { user: 'bob' }), await firing(kit, sent)]).toEqual([[], ['ship']]);
    const { revision } = await demand(kit, 'ship');
    await store(kit, 'ship', { revision });
    expect(await firing(kit, sent)).toEqual([]);
    expect((await demand(kit, 'ship')).on).toBeUndefined();
    expect((await demand(kit, 'ship')).next).toBeDefined();
    await listen(kit, 'ship');
    expect(await kit.backend.schedules.due({ owner: 's', limit: 10 })).toMatchObject({
      schedules: [],
    });
    expect(await firing(kit)).toEqual(['ship']);
    expect(await kit.backend.schedules.remove('ship')).toBe(true);
    expect(await firing(kit)).toEqual([]);
    await listen(kit, 'ship', { paused: true });
    expect(await kit.backend.schedules.remove('ship')).toBe(true);
    expect(await kit.backend.schedules.remove('ship')).toBe(false);
  },

  'so many fire at events of one name; those that are paused do not count': async (kit, expect) => {
    for (let n = 1; n <= LIMITS.eventSchedules; n++) await listen(kit, `s${n}`);
    await listen(kit, 's1');
    await listen(kit, 'elsewhere', { on: { user: 'bob', event: NAME } });
    const { next: _none, ...more } = await listen(kit, 'more', { paused: true });
    expect(await kit.backend.schedules.set({ ...more, paused: false })).toEqual({ kind: 'full' });
    expect(await demand(kit, 'more')).toMatchObject({ paused: true });
    expect(await fireAt(kit)).toEqual({ kind: 'published' });
    expect(await kit.runnable()).toBe(LIMITS.eventSchedules);
    await kit.backend.schedules.remove('s3');
    await listen(kit, 'more');
  },

  'the clock never comes to it': async (kit, expect) => {
    await listen(kit, 'ship');
    await kit.shift(86_400_000);
    expect(await kit.backend.tasks.tick()).toMatchObject({ schedulesDue: false });
    expect(await kit.backend.schedules.lag()).toBe(0);
    const { items } = await kit.backend.schedules.list({ limit: 10 });
    expect(items).toEqual([await demand(kit, 'ship')]);
  },
};
