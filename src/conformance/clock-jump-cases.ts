/** What a step of the clock by an hour does to leases, schedules, series and reports: cases of `clock-jumps.ts`. */

import type { Retention } from '../domain/fairness/settings.ts';
import { LIMITS } from '../domain/limits.ts';
import { SeriesRow } from '../domain/series/series-row.ts';
import { blockOf, chunksOf } from '../domain/task/stream.ts';
import type { Run } from './cases.ts';
import { type Kit, LEASE_MS } from './kit.ts';
import { demand, fire, granted, store as storeSchedule } from './schedule-kit.ts';

/** What the clock jumps by. */
export const HOUR_MS = 3_600_000;
/** What passes beside a jump. */
export const MINUTE_MS = 60_000;

/** Where tasks write what they waited for. */
export const ENTRY = '=s:1/';

/** What is expected once the clock has gone on by an hour, or back. */
export interface Jump {
  readonly on: Run;
  readonly back: Run;
  /** Absent: ended tasks stay. */
  readonly retention?: Partial<Retention>;
}

/** Two tasks that two workers run. */
async function twoLeases(kit: Kit): Promise<{ readonly kept: Ref; readonly left: Ref }> {
  await kit.add({ id: 'kept' });
  await kit.add({ id: 'left' });
  const kept = await kit.leaseOne();
  const left = await kit.leaseOne({ worker: 'gone' });
  kit.expect([kept.id, left.id]).toEqual(['kept', 'left']);
  return { kept, left };
}

interface Ref {
  readonly id: string;
  readonly token: string;
}

async function extend(kit: Kit, { id, token }: Ref): Promise<readonly string[]> {
  const leases = [{ id, token }];
  return (await kit.backend.tasks.extend({ worker: 'w', leaseMs: LEASE_MS, leases })).answers;
}

const live = async (kit: Kit): Promise<readonly string[]> =>
  (await kit.backend.workers.list()).map(({ id }) => id);

/** A worker that has just spoken, is not live after the step, and is once it speaks. */
function speaksAgain(ms: number): Run {
  return async (kit, expect) => {
    await kit.worker('w');
    expect(await live(kit)).toEqual(['w']);
    await kit.shift(ms);
    await kit.rest();
    expect(await live(kit)).toEqual([]);
    await kit.add({ id: 'a' });
    const { leases } = await kit.backend.tasks.lease(kit.request());
    expect(leases.map(({ id }) => id)).toEqual(['a']);
    expect(await live(kit)).toEqual(['w']);
  };
}

/** A task of a name that only a busy worker knows. */
async function parked(kit: Kit): Promise<void> {
  await kit.worker('busy', { queues: ['bulk'], names: ['strange'] });
  await kit.add({ id: 'a', name: 'strange' });
  for (let more = true; more; ) more = (await kit.leaseReply()).more;
}

/** A task of ann runs, of whom others wait, as do those of bob; how far she is ahead when it has ended. */
async function aheadAfter(kit: Kit, ms: number): Promise<number> {
  await kit.setQueue({ charge: 'time' });
  await kit.addMany(3, { user: 'ann' });
  const leased = await kit.leaseOne();
  await kit.addMany(3, { user: 'bob' });
  await kit.shift(ms);
  await kit.finish(leased);
  return (await kit.user('ann'))?.ahead ?? Number.NaN;
}

/** Chunks of before the step and after it. */
function streamed(ms: number): Run {
  return async (kit, expect) => {
    const { streams } = kit.backend;
    await kit.add({ id: 'a' });
    const { id, token } = await kit.leaseOne();
    const write = async (ordinal: number, text: string): Promise<void> => {
      const whose = { name: 'words', node: '', call: token, attempt: 1, closes: false };
      const block = { ordinal, count: 1, text: blockOf([text]) };
      expect(await streams.append({ worker: 'w', id, token }, { ...whose, ...block })).toBe('ok');
    };
    await write(0, 'before');
    await kit.shift(ms);
    await write(1, 'after');
    const read = await streams.read(id, 'words', 0, 16);
    expect(read.flatMap(({ text }) => chunksOf(text) ?? [])).toEqual(['before', 'after']);
  };
}

/** A task that ends counts for its queue in the minute of that end. */
async function endCounted(kit: Kit): Promise<void> {
  await kit.runToEnd(await kit.add());
  await kit.backend.series.add([{ queue: 'default', row: new SeriesRow() }]);
}

async function ends(kit: Kit): Promise<readonly number[]> {
  const from = kit.now() - 2 * HOUR_MS;
  const { cells } = await kit.backend.series.read({ step: 'minute', from });
  return cells.map(({ row }) => row.counts.finished).filter((count) => count > 0);
}

/** A slot that was fired is not fired again. */
async function fireOnce(kit: Kit): Promise<void> {
  const { next } = await demand(kit, 'a');
  kit.expect(await fire(kit, 'a')).toMatchObject({ kind: 'fired' });
  kit.expect(await fire(kit, 'a', next)).toMatchObject({ kind: 'stale' });
}

const dueSchedules = async (kit: Kit): Promise<readonly string[]> =>
  (await granted(kit)).schedules.map(({ id }) => id);

/** A scheduler has the lock, and dies. */
async function lock(kit: Kit): Promise<void> {
  await storeSchedule(kit, 'a', {}, 24 * HOUR_MS);
  await granted(kit, 's1');
  const { kind } = await kit.backend.schedules.due({ owner: 's2', limit: 1 });
  kit.expect(kind).toBe('locked');
}

const isUnlocked = async (kit: Kit): Promise<boolean> =>
  (await kit.backend.schedules.due({ owner: 's2', limit: 1 })).kind === 'granted';

/** A graph that nothing needs has so long to stay. */
async function savedGraph(kit: Kit, leftMs: number): Promise<void> {
  await kit.backend.graphs.save('h', 'body');
  await kit.jump(LIMITS.graphTtlMs - leftMs - LIMITS.outagePauseMs);
}

const hasGraph = async (kit: Kit): Promise<boolean> =>
  (await kit.backend.graphs.load('h')).kind === 'found';

/** A task waits for an event of the last minute that was published before the step. */
function eventWithin(ms: number, state: string): Run {
  return async (kit, expect) => {
    const wanted = { name: 'paid', key: 'k' };
    const event = { ...wanted, payload: '1', eventId: 'e', keepMs: LIMITS.eventKeepMs };
    await kit.backend.waits.publish('ann', event, []);
    await kit.shift(ms);
    await kit.advance(2 * MINUTE_MS);
    await kit.add({ id: 'a' });
    await kit.settle(await kit.leaseOne(), {
      type: 'suspend',
      waitFor: [],
      wakeOn: 'all',
      wait: { for: { kind: 'event', ...wanted }, entry: ENTRY, withinMs: MINUTE_MS },
    });
    expect(await kit.state('a')).toBe(state);
  };
}

/** Who works keeps its lease, and who is gone loses it. */
export const LEASE: Jump = {
  on: async (kit, expect) => {
    const { kept, left } = await twoLeases(kit);
    await kit.shift(HOUR_MS);
    await kit.rest();
    expect(await kit.states(['kept', 'left'])).toEqual(['started', 'started']);
    expect(await kit.leaseIds(2)).toEqual([]);
    expect(await extend(kit, kept)).toEqual(['ok']);
    await kit.advance(LIMITS.outagePauseMs + 1);
    expect(await kit.record('left')).toMatchObject({ state: 'queued', losses: 1 });
    expect(await kit.leaseIds(2)).toEqual(['left']);
    expect(await kit.finish(left)).toMatchObject({ kind: 'leaseLost' });
    expect(await kit.finish(kept)).toMatchObject({ kind: 'ok', state: 'finished' });
  },
  back: async (kit, expect) => {
    const { kept, left } = await twoLeases(kit);
    await kit.shift(-HOUR_MS);
    expect(await extend(kit, kept)).toEqual(['ok']);
    await kit.advance(LEASE_MS + LIMITS.outagePauseMs);
    expect(await kit.record('kept')).toMatchObject({ state: 'queued', losses: 1 });
    expect(await kit.leaseIds(2)).toEqual(['kept']);
    expect(await kit.record('left')).toMatchObject({ state: 'started', losses: 0 });
    await kit.jump(HOUR_MS);
    expect(await kit.record('left')).toMatchObject({ state: 'queued', losses: 1 });
    expect(await kit.finish(left)).toMatchObject({ kind: 'leaseLost' });
  },
};

/** Only a busy worker knows its name. */
export const KNOWN_NAME: Jump = {
  on: async (kit, expect) => {
    await parked(kit);
    await kit.shift(HOUR_MS + MINUTE_MS);
    await kit.rest();
    expect(await kit.state('a')).toBe('queued');
    await kit.worker('other');
    await kit.backend.tasks.extend({ worker: 'busy', leaseMs: LEASE_MS, leases: [] });
    await kit.advance(2 * LIMITS.outagePauseMs);
    expect(await kit.state('a')).toBe('queued');
    await kit.worker('new', { names: ['strange'] });
    expect(await kit.leaseIds(1, { worker: 'new' })).toEqual(['a']);
  },
  back: async (kit, expect) => {
    await parked(kit);
    await kit.shift(-HOUR_MS);
    await kit.advance(MINUTE_MS);
    expect(await kit.state('a')).toBe('queued');
    await kit.worker('new', { names: ['strange'] });
    expect(await kit.leaseIds(1, { worker: 'new' })).toEqual(['a']);
  },
};

/** A slot is fired when its moment has come, once. */
export const SLOT: Jump = {
  on: async (kit, expect) => {
    await storeSchedule(kit, 'a', {}, MINUTE_MS);
    expect(await dueSchedules(kit)).toEqual([]);
    await kit.shift(HOUR_MS);
    expect(await dueSchedules(kit)).toEqual(['a']);
    await fireOnce(kit);
  },
  back: async (kit, expect) => {
    await storeSchedule(kit, 'a');
    await fireOnce(kit);
    await kit.shift(-HOUR_MS);
    await kit.advance(2 * MINUTE_MS);
    expect(await dueSchedules(kit)).toEqual([]);
    await kit.jump(HOUR_MS);
    expect(await dueSchedules(kit)).toEqual(['a']);
    await fireOnce(kit);
  },
};

/** A scheduler has died that had the lock. */
export const LOCK: Jump = {
  on: async (kit, expect) => {
    await lock(kit);
    await kit.shift(HOUR_MS);
    expect(await isUnlocked(kit)).toBe(true);
  },
  back: async (kit, expect) => {
    await lock(kit);
    await kit.shift(-HOUR_MS);
    await kit.advance(LIMITS.scheduleLockMs);
    expect(await isUnlocked(kit)).toBe(true);
  },
};

/** What a turn counts that was under way. */
export const TURN: Jump = {
  on: async (kit, expect) => {
    const ahead = await aheadAfter(kit, HOUR_MS);
    // An hour, less what the others have gained of it.
    expect(ahead).toBeGreaterThan(HOUR_MS / 2_000 - 10);
    expect(ahead).toBeLessThan(HOUR_MS / 1_000 + 10);
    // Where no other user wants a turn, it is hers.
    expect(await kit.leaseIds(5)).toHaveLength(5);
  },
  back: async (kit, expect) => {
    const ahead = await aheadAfter(kit, -HOUR_MS);
    // Of the second that was expected.
    expect(ahead).toBeGreaterThanOrEqual(-1);
    expect(ahead).toBeLessThanOrEqual(0);
    expect(await kit.leaseIds(5)).toHaveLength(5);
  },
};

/** What has ended before the step counts, and what has ended after it. */
export const SERIES: Jump = {
  on: async (kit, expect) => {
    await endCounted(kit);
    await kit.shift(HOUR_MS);
    await endCounted(kit);
    expect(await ends(kit)).toEqual([1, 1]);
  },
  back: async (kit, expect) => {
    await endCounted(kit);
    await kit.shift(-HOUR_MS);
    await endCounted(kit);
    expect(await ends(kit)).toEqual([1]);
    await kit.jump(HOUR_MS);
    expect(await ends(kit)).toEqual([1, 1]);
  },
};

/** It has a day from its latest use. */
export const GRAPH: Jump = {
  on: async (kit, expect) => {
    await savedGraph(kit, HOUR_MS / 2);
    await kit.jump(HOUR_MS);
    expect(await hasGraph(kit)).toBe(false);
  },
  back: async (kit, expect) => {
    await savedGraph(kit, HOUR_MS / 2);
    await kit.shift(-HOUR_MS);
    await kit.advance(HOUR_MS);
    expect(await hasGraph(kit)).toBe(true);
  },
};

/** Whether it is live. */
export const WORKER: Jump = { on: speaksAgain(HOUR_MS), back: speaksAgain(-HOUR_MS) };

/** Its chunks are in their order. */
export const STREAM: Jump = { on: streamed(HOUR_MS), back: streamed(-HOUR_MS) };

/** A wait looks back for it. */
export const EVENT: Jump = {
  on: eventWithin(HOUR_MS, 'deferred'),
  back: eventWithin(-HOUR_MS, 'queued'),
};
