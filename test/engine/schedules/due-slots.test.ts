/**
 * A slot that is due and not fired, and all that can come between: it is fired, or counted as missed.
 *
 * The slot is due at SLOT, and its jitter makes it at least 30 s late; 5 s after SLOT the change comes.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { Schedules } from '../../../src/client/facades/schedules-facade.ts';
import { firedTaskId } from '../../../src/domain/port/schedule.ts';
import { PATCH_KEYS, type SchedulePatch } from '../../../src/schedules/schedule-patch.ts';
import { Timetable } from '../../../src/schedules/timing/timing.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { everyBackend, type Harness } from '../../support/backends.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5, 12);
const SLOT = START + 5 * MINUTE;
const JITTER = 2 * MINUTE;
const ping = task('ping', async () => 'pong');
const USUAL = { cron: '*/5 * * * *', jitter: JITTER, task: ping } as const;

/** What becomes of the slot. */
type Fate = 'fired' | 'missed';

/** A change, by the name of a schedule that was set as `USUAL`. */
interface Change {
  readonly fate: Fate;
  readonly act: (loom: Fairloom, id: string) => Promise<unknown>;
}

const patched = (fate: Fate, patch: SchedulePatch): Change => ({
  fate,
  act: (loom, id) => loom.schedules.update(id, patch),
});

/** Every field of a patch. */
const PATCHES: Readonly<Record<keyof SchedulePatch, readonly Change[]>> = {
  cron: [
    patched('fired', { cron: '5-59/10 * * * *' }),
    patched('fired', { cron: '* * * * *' }),
    patched('missed', { cron: '*/10 * * * *' }),
  ],
  every: [patched('missed', { every: '7m' })],
  timeZone: [patched('fired', { timeZone: 'Asia/Tokyo' })],
  start: [
    patched('fired', { start: SLOT }),
    patched('missed', { start: SLOT + MINUTE }),
    patched('fired', { start: 'default' }),
  ],
  end: [
    patched('fired', { end: SLOT + 60 * MINUTE }),
    patched('fired', { end: SLOT }),
    patched('missed', { end: SLOT - 1 }),
  ],
  jitter: [patched('fired', { jitter: 'default' }), patched('fired', { jitter: '3m' })],
  limit: [patched('fired', { limit: 3 })],
  missed: [patched('fired', { missed: 'all' })],
  missedCap: [patched('fired', { missedCap: 1 })],
  overlap: [patched('fired', { overlap: 'allow' })],
  user: [patched('fired', { user: 'bea' })],
  queue: [patched('fired', { queue: 'default' })],
  priority: [patched('fired', { priority: 'high' })],
  input: [patched('fired', { input: 1 })],
};

const called = (fate: Fate, ...acts: readonly Change['act'][]): Change => ({
  fate,
  act: async (loom, id) => {
    for (const act of acts) await act(loom, id);
  },
});

const pause: Change['act'] = (loom, id) => loom.schedules.pause(id);
const resume: Change['act'] = (loom, id) => loom.schedules.resume(id);
const setTo =
  (cron: string): Change['act'] =>
  (loom, id) =>
    loom.schedules.set(id, { ...USUAL, cron });
const on: Change['act'] = (loom, id) => loom.schedules.on(id, { event: id, task: ping });

/** Every call of `loom.schedules` that writes one, and those that do not. */
const CALLS: Readonly<Record<Exclude<keyof Schedules, 'update'>, readonly Change[]>> = {
  set: [
    called('fired', setTo(USUAL.cron)),
    called('fired', setTo('5,15 * * * *')),
    called('missed', setTo('7 * * * *')),
    called('fired', setTo('5,15 * * * *'), setTo('5 * * * *'), setTo(USUAL.cron)),
  ],
  setByName: [
    called('fired', (loom, id) =>
      loom.schedules.setByName(id, { cron: '5 * * * *', jitter: JITTER, name: 'ping' }),
    ),
  ],
  on: [called('missed', on), called('missed', pause, on)],
  onByName: [
    called('missed', (loom, id) => loom.schedules.onByName(id, { event: id, name: 'ping' })),
  ],
  pause: [called('fired', pause, resume), called('fired', pause, pause, resume, resume)],
  resume: [
    called('fired', pause, setTo('5 * * * *'), resume),
    called('missed', pause, setTo('7 * * * *'), resume),
    called('fired', pause, resume, pause, setTo('5 * * * *'), resume, setTo(USUAL.cron)),
    called('missed', pause, resume, setTo('7 * * * *')),
  ],
  get: [called('fired', (loom, id) => loom.schedules.get(id))],
  list: [called('fired', (loom) => loom.schedules.list())],
  lag: [called('fired', (loom) => loom.schedules.lag())],
  next: [called('fired', (loom, id) => loom.schedules.next(id))],
  run: [called('fired', (loom, id) => loom.schedules.run(id))],
  backfill: [
    called('fired', (loom, id) =>
      loom.schedules.backfill(id, { from: START - MINUTE, to: START + MINUTE }),
    ),
  ],
  // Nothing is left to count it.
  remove: [],
};

/** One whose slot is late enough. */
function lateName(label: string): string {
  for (let at = 0; ; at++) {
    const id = `${label}.${at}`;
    const late = new Timetable(id, { ...USUAL, jitterMs: JITTER }).dueAt(SLOT) - SLOT;
    const longer = new Timetable(id, { ...USUAL, jitterMs: 3 * MINUTE }).dueAt(SLOT) - SLOT;
    if (late >= MINUTE / 2 && longer >= MINUTE / 2) return id;
  }
}

everyBackend((open) => {
  let harness: Harness;
  let loom: Fairloom;
  const lines: (Record<string, unknown> | undefined)[] = [];
  const isFired = async (id: string): Promise<boolean> =>
    (await loom.tasks.get(firedTaskId(id, SLOT))) !== undefined;
  beforeEach(async () => {
    harness = await open();
    lines.length = 0;
    const log = {
      ...{ debug: () => undefined, info: () => undefined, error: () => undefined },
      warn: (_message: string, fields?: Record<string, unknown>) => void lines.push(fields),
    };
    loom = harness.loom([ping], { log });
  });
  afterEach(() => harness.close());

  // F80
  it('a due slot is fired or counted as missed, after any change before its jitter is over', async () => {
    const changes = Object.entries({ ...PATCHES, ...CALLS }).flatMap(([label, some]) =>
      some.map((change, at) => ({ ...change, id: lateName(`${label}-${at}`) })),
    );
    for (const { id } of changes) await loom.schedules.set(id, USUAL);
    await harness.clock.advance(SLOT + 5_000 - harness.clock.now());
    for (const { id, act } of changes) await act(loom, id);
    await loom.worker({ concurrency: 50 }).start();
    await harness.clock.advance('4m');
    const found: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const { id, fate } of changes) {
      const missed = (await loom.schedules.get(id))?.missedSlots;
      const logged = lines.filter((fields) => fields?.['schedule'] === id);
      found[id] = { isFired: await isFired(id), missed, logged };
      const line = { event: 'schedule.missed', schedule: id, slot: SLOT, slots: 1 };
      const isMissed = fate === 'missed';
      expected[id] = {
        ...{ isFired: !isMissed, missed: isMissed ? 1 : 0, logged: isMissed ? [line] : [] },
      };
    }
    expect(found).toEqual(expected);
  });

  // F80
  it('after a pause a slot that was due before it goes by the missed policy, slots of the pause by none', async () => {
    const rows = { one: [true, 0], all: [true, 0], skip: [false, 1] } as const;
    const policies = ['one', 'all', 'skip'] as const;
    const idOf = (missed: string): string => lateName(`paused-${missed}`);
    for (const missed of policies) await loom.schedules.set(idOf(missed), { ...USUAL, missed });
    await harness.clock.advance(SLOT + 5_000 - harness.clock.now());
    for (const missed of policies) await loom.schedules.pause(idOf(missed));
    await harness.clock.advance('33m');
    const worker = loom.worker();
    const told: string[] = [];
    worker.on('schedule.missed', ({ schedule, slot }) => told.push(`${schedule} ${slot}`));
    for (const missed of policies) {
      const { nextAt } = await loom.schedules.resume(idOf(missed));
      expect(nextAt).toBe(SLOT);
      const [first, second] = await loom.schedules.next(idOf(missed));
      expect([Number(first), Number(second)]).toEqual([SLOT, SLOT + 35 * MINUTE]);
    }
    await worker.start();
    await harness.clock.advance('1s');
    for (const missed of policies) {
      const info = await loom.schedules.get(idOf(missed));
      expect([await isFired(idOf(missed)), info?.missedSlots]).toEqual(rows[missed]);
      expect(info?.nextAt).toBe(SLOT + 35 * MINUTE);
    }
    expect(told).toEqual([`${idOf('skip')} ${SLOT}`]);
    await loom.schedules.backfill(idOf('one'), { from: SLOT, to: SLOT + 30 * MINUTE });
    expect(await loom.tasks.get(firedTaskId(idOf('one'), SLOT + 5 * MINUTE))).toBeDefined();
  });

  // F80
  it('slots that no scheduler has fired are told too when a change gives them up', async () => {
    await loom.schedules.set('often', { every: '10s', task: ping });
    await harness.clock.advance('1h');
    const { missedSlots } = await loom.schedules.update('often', { cron: '@yearly' });
    expect(missedSlots).toBe(200);
    expect(lines.filter((fields) => fields?.['schedule'] === 'often')).toEqual([
      { event: 'schedule.missed', schedule: 'often', slot: START + 10_000, slots: 200 },
    ]);
  });
});

describe('the list of changes', () => {
  it('has every field of a patch and every call', () => {
    expect(Object.keys(PATCHES).sort()).toEqual(Object.keys(PATCH_KEYS).sort());
    const calls = Object.getOwnPropertyNames(Schedules.prototype).filter(
      (name) => name !== 'constructor',
    );
    expect(Object.keys(CALLS).concat('update').sort()).toEqual(calls.sort());
  });
});
