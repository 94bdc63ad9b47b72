import { LIMITS } from '../../domain/limits.ts';
import type { Cases } from '../cases.ts';
import type { Kit } from '../kit.ts';

/** Serves turns one by one; each holds its lease as long as its user's tasks take. Seconds by user. */
async function holdTurns(
  kit: Kit,
  turns: number,
  seconds: Readonly<Record<string, number>>,
): Promise<Readonly<Record<string, number>>> {
  const leasedS: Record<string, number> = {};
  for (let turn = 0; turn < turns; turn++) {
    const leased = await kit.leaseOne();
    const takes = seconds[leased.user] ?? 0;
    await kit.advance(takes * 1_000);
    await kit.finish(leased);
    leasedS[leased.user] = (leasedS[leased.user] ?? 0) + takes;
  }
  return leasedS;
}

/** In turns of weight 1, but for the seat of its tag. */
async function ahead(kit: Kit, user: string): Promise<number> {
  const exact = (await kit.user(user))?.ahead ?? Number.NaN;
  return Math.round(exact * 1e4) / 1e4;
}

/** Numbers in [0, 1), always the same. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A run time in ms with a heavy tail: lognormal, σ 1.5, of this mean. */
function heavyMs(random: () => number, meanMs: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const ms = Math.round(meanMs * Math.exp(1.5 * normal - 1.125));
  return Math.min(20_000, Math.max(1, ms));
}

interface Usage {
  readonly user: string;
  readonly weight: number;
  readonly meanMs: number;
  totalMs: number;
  longestMs: number;
}

const perWeight = ({ totalMs, weight }: Usage): number => totalMs / weight;

/** How far the two are apart that are furthest, as a part of what is promised with one slot. */
function ofBound(users: readonly Usage[]): number {
  const ranked = [...users].sort((a, b) => perWeight(a) - perWeight(b));
  const [least, most] = [ranked[0], ranked.at(-1)];
  if (least === undefined || most === undefined) return 0;
  const bound = 2 * (least.longestMs / least.weight + most.longestMs / most.weight);
  return (perWeight(most) - perWeight(least)) / bound;
}

/** Queues that charge turns by the time that leases are held. */
export const timed: Cases = {
  'gives equal users equal time, however long their tasks take': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.addMany(150, { user: 'slow' });
    await kit.addMany(150, { user: 'quick' });
    const { slow = 0, quick = 0 } = await holdTurns(kit, 150, { slow: 4, quick: 1 });
    // (slots + 1) · (longest of the one + longest of the other)
    expect(Math.abs(slow - quick)).toBeLessThanOrEqual(2 * (4 + 1));
  },

  'gives time by weight': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.setUser('heavy', { weight: 300 });
    await kit.addMany(150, { user: 'heavy' });
    await kit.addMany(150, { user: 'light' });
    const { heavy = 0, light = 0 } = await holdTurns(kit, 120, { heavy: 2, light: 2 });
    expect(Math.abs(heavy / 3 - light)).toBeLessThanOrEqual(2 * (2 / 3 + 2));
  },

  // F127
  'keeps users within the bound over a long history of run times with a heavy tail': async (
    kit,
    expect,
  ) => {
    await kit.setQueue({ charge: 'time' });
    const users = Array.from({ length: 6 }, (_, i): Usage => {
      const meanMs = i % 3 === 2 ? 1_000 : 100;
      return { user: `u${i}`, weight: i % 2 === 0 ? 1 : 3, meanMs, totalMs: 0, longestMs: 0 };
    });
    for (const { user, weight } of users) {
      await kit.setUser(user, { weight: 100 * weight });
      await kit.addMany(400, { user });
    }
    const random = chance(7);
    let worst = 0;
    for (let turn = 1; turn <= 1_000; turn++) {
      const leased = await kit.leaseOne();
      const own = users.find(({ user }) => user === leased.user);
      if (own === undefined) throw new Error(`no user is called ${leased.user}`);
      const ms = heavyMs(random, own.meanMs);
      await kit.shift(ms);
      await kit.finish(leased);
      own.totalMs += ms;
      own.longestMs = Math.max(own.longestMs, ms);
      if (turn > 200) worst = Math.max(worst, ofBound(users));
    }
    expect(worst).toBeLessThanOrEqual(0.6);
  },

  // F127
  'serves a newcomer within ⌈W / w⌉ + 1 turns when others were charged too much': async (
    kit,
    expect,
  ) => {
    await kit.setQueue({ charge: 'time' });
    for (let i = 0; i < 10; i++) await kit.addMany(40, { user: `u${i}` });
    const hold = async (seconds: number): Promise<string> => {
      const leased = await kit.leaseOne();
      await kit.shift(seconds * 1_000);
      await kit.finish(leased);
      return leased.user;
    };
    for (let turn = 0; turn < 20; turn++) await hold(10);
    for (let turn = 0; turn < 200; turn++) await hold(1);
    await kit.add({ user: 'new' });
    const served: string[] = [];
    for (let turn = 0; turn < 12; turn++) served.push(await hold(1));
    expect(served).toContain('new');
  },

  'charges what is expected at the lease, and what it came to at its end': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.addMany(4, { user: 'ann' });
    await kit.addMany(4, { user: 'bob' });
    // Nothing is known: a second. V moves by half of that, since two are ready.
    const first = await kit.leaseOne();
    expect(await ahead(kit, first.user)).toBe(0.5);
    await kit.advance(3_000);
    await kit.finish(first);
    expect(await ahead(kit, first.user)).toBe(1.5);
    // Of this user nothing is known yet, but of the queue: 3 s.
    const second = await kit.leaseOne();
    expect(second.user).not.toBe(first.user);
    expect(await ahead(kit, second.user)).toBe(0);
  },

  'charges a lost lease the time that it was held': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.addMany(2, { user: 'ann' });
    await kit.addMany(2, { user: 'bob' });
    const { user } = await kit.leaseOne();
    await kit.advance(LIMITS.leaseMs);
    expect(await ahead(kit, user)).toBe(LIMITS.leaseMs / 1_000 / 2);
  },

  'gives back what was charged too much, and no longer run of turns than that': async (
    kit,
    expect,
  ) => {
    await kit.setQueue({ charge: 'time' });
    await kit.addMany(60, { user: 'ann' });
    await kit.addMany(60, { user: 'bob' });
    await holdTurns(kit, 20, { ann: 8, bob: 1 });
    // From now on its tasks are quick; the mean that it is charged by follows.
    const users: string[] = [];
    for (let turn = 0; turn < 40; turn++) {
      const leased = await kit.leaseOne();
      users.push(leased.user);
      await kit.advance(1_000);
      await kit.finish(leased);
    }
    const longest = users
      .join(' ')
      .match(/(ann ?)+/g)
      ?.map((run) => run.split('ann').length - 1);
    expect(Math.max(...(longest ?? []))).toBeLessThanOrEqual(9);
  },

  'takes back all that a turn was charged which took no time': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.setUser('heavy', { weight: 300 });
    await kit.addMany(9, { user: 'heavy' });
    await kit.addMany(9, { user: 'light' });
    const leased = [];
    for (let turn = 0; turn < 5; turn++) leased.push(await kit.leaseOne());
    expect(leased.map(({ user }) => user)).toEqual(['heavy', 'light', 'heavy', 'heavy', 'heavy']);
    // V has moved past the tag of the light one, a second at a time: four seconds of the heavy one.
    expect(await ahead(kit, 'light')).toBe(1 - 1.25);
    const [, own] = leased;
    if (own !== undefined) await kit.finish(own);
    expect(await ahead(kit, 'light')).toBe(-1);
  },

  'begins to count anew when the queue charges by something else': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.addMany(9, { user: 'ann' });
    await kit.addMany(9, { user: 'bob' });
    const leased = await kit.leaseOne();
    await kit.advance(10_000);
    await kit.finish(leased);
    expect(await ahead(kit, leased.user)).toBe(5);
    await kit.setQueue({ charge: null });
    expect(await ahead(kit, leased.user)).toBe(1);
    const order = (await kit.serve(6)).map(({ user }) => user);
    const own = order.filter((user) => user === leased.user).length;
    expect([2, 3]).toContain(own);
  },

  'a correction of another count is dropped': async (kit, expect) => {
    await kit.addMany(2, { user: 'ann' });
    await kit.addMany(2, { user: 'bob' });
    await kit.setQueue({ charge: 'time' });
    const leased = await kit.leaseOne();
    await kit.setQueue({ charge: 'task' });
    const before = await ahead(kit, leased.user);
    await kit.advance(10_000);
    await kit.finish(leased);
    expect(await ahead(kit, leased.user)).toBe(before);
  },

  'a lease that is given back is charged the time that it was held': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.addMany(2, { user: 'ann' });
    await kit.addMany(2, { user: 'bob' });
    const leased = await kit.leaseOne();
    await kit.advance(4_000);
    await kit.release(leased);
    expect(await ahead(kit, leased.user)).toBe(4 / 2);
  },

  'leaves no debt when all is done, though nothing was expected of it': async (kit, expect) => {
    await kit.setQueue({ charge: 'time' });
    await kit.add();
    await kit.retry(await kit.leaseOne(), 1);
    await kit.shift(1);
    const leased = await kit.leaseOne();
    await kit.advance(10_000);
    await kit.finish(leased);
    await kit.add();
    expect(await kit.user('ann')).toMatchObject({ ready: true, ahead: 0 });
  },
};
