import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chooseHead,
  correction,
  enterTag,
  expectedRun,
  finishOf,
  learned,
  recountedTag,
  rescaledTag,
  scaleOf,
  sharedClass,
  sharedStep,
  startOf,
  TURN,
  turn,
} from '../../../src/domain/fairness/fair-share.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { QueueSimulation } from './queue-simulation.ts';

/** What rounding may add to a deviation counted in turns. */
const ROUNDING = 1e-6;
/** What the seats of tags may add to it: docs/fairness.md. */
const SEAT = 2 ** -15;

function backlogged(weights: readonly number[]): QueueSimulation {
  const queue = new QueueSimulation();
  weights.forEach((weight, i) => {
    queue.enter(`u${i}`, weight);
  });
  return queue;
}

/** Largest distance, in turns, of any user from its exact weighted share after any turn. */
function deviation(weights: readonly number[], turns: number): number {
  const queue = backlogged(weights);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const got = weights.map(() => 0);
  let worst = 0;
  for (let n = 1; n <= turns; n++) {
    const at = Number(queue.serve().slice(1));
    got[at] = (got[at] ?? 0) + 1;
    for (let i = 0; i < weights.length; i++) {
      const exact = (n * (weights[i] ?? 0)) / total;
      worst = Math.max(worst, Math.abs((got[i] ?? 0) - exact));
    }
  }
  return worst;
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function turns(queue: QueueSimulation, n: number): readonly string[] {
  return Array.from({ length: n }, () => queue.serve());
}

describe('a fixed set of users with work', () => {
  it.each([
    [[10_000, 1_000, 100]],
    [[700, 300, 100]],
    [[100, 100, 100, 100]],
    [[100_000, 1]],
    [[300, 100]],
    [[1, 1, 100_000]],
  ])('%j never leaves the exact share by more than one turn', (weights) => {
    expect(deviation(weights, 5_000)).toBeLessThanOrEqual(1 + ROUNDING);
  });

  it('never leaves it by more than one turn, for any 31 weights', () => {
    const weight = fc.integer({ min: LIMITS.weightMin, max: 5_000 });
    const weights = fc.uniqueArray(weight, { minLength: 2, maxLength: LIMITS.weightClasses });
    fc.assert(
      fc.property(weights, (given) => {
        expect(deviation(given, 600)).toBeLessThanOrEqual(1 + ROUNDING);
      }),
      { numRuns: 150 },
    );
  });

  it('never leaves it by more than two turns where classes are shared', () => {
    const weight = fc.integer({ min: LIMITS.weightMin, max: 20_000 });
    const weights = fc.uniqueArray(weight, { minLength: 40, maxLength: 90 });
    fc.assert(
      fc.property(weights, (given) => {
        expect(deviation(given, 600)).toBeLessThanOrEqual(2 + ROUNDING);
      }),
      { numRuns: 60 },
    );
  });

  it('looks at a bounded number of heads, however many weights there are', () => {
    const queue = backlogged(Array.from({ length: 3_000 }, (_, i) => 1 + i * 33));
    // 31 exact classes, and one per power of two between weight 0.01 and 1,000.
    expect(queue.classes()).toBeLessThanOrEqual(LIMITS.weightClasses + 18);
  });

  it('gives 3 : 1 to weights 3 : 1', () => {
    expect(tally(turns(backlogged([300, 100]), 4_000))).toEqual({ u0: 3_000, u1: 1_000 });
  });

  it('charges a turn its cost', () => {
    const queue = backlogged([100, 100]);
    const got = { u0: 0, u1: 0 };
    for (let i = 0; i < 4_000; i++) {
      // The next user pays before it is known which it is: both costs average the same.
      const name = queue.serve(1 + (i % 3)) as 'u0' | 'u1';
      got[name] += 1 + (i % 3);
    }
    expect(Math.abs(got.u0 - got.u1)).toBeLessThanOrEqual(2 * 3);
  });

  it('says nothing when no user is ready', () => {
    expect(chooseHead([], 5)).toBeUndefined();
  });
});

describe('users that join while others have work', () => {
  it('are within one turn of their share from then on, at every rate of joining', () => {
    const joins = fc.array(
      fc.record({ weight: fc.constantFrom(...WEIGHTS), wait: fc.constantFrom(0, 0, 1, 3, 20) }),
      { minLength: 2, maxLength: 300 },
    );
    fc.assert(
      fc.property(joins, (given) => {
        expect(deviationOfJoins(given)).toBeLessThanOrEqual(1 + SEAT);
      }),
      { numRuns: 100 },
    );
  });
});

/** The largest distance of any user from its share since it joined, in its turns. */
function deviationOfJoins(
  joins: readonly { readonly weight: number; readonly wait: number }[],
): number {
  const queue = new QueueSimulation();
  const users: { readonly weight: number; readonly from: number; got: number }[] = [];
  /** Of a turn, what each has a claim to by weight 0.01. */
  let claim = 0;
  let worst = 0;
  const serve = (): void => {
    claim += 1 / queue.clock.w;
    const user = users[Number(queue.serve().slice(1))];
    if (user !== undefined) user.got++;
    for (const { weight, from, got } of users) {
      worst = Math.max(worst, Math.abs(got - weight * (claim - from)));
    }
  };
  for (const { weight, wait } of joins) {
    queue.enter(`u${users.length}`, weight);
    users.push({ weight, from: claim, got: 0 });
    for (let i = 0; i < wait; i++) serve();
  }
  for (let i = 0; i < 200; i++) serve();
  return worst;
}

describe('a newcomer', () => {
  it('is served within ⌈W / w⌉ + 1 turns', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 25 });
    const own = fc.integer({ min: 20, max: 2_000 });
    fc.assert(
      fc.property(weights, own, fc.nat(500), (given, weight, before) => {
        const queue = backlogged(given);
        turns(queue, before);
        queue.enter('new', weight);
        const bound = Math.ceil(queue.clock.w / weight) + 1;
        expect(turns(queue, bound)).toContain('new');
      }),
      { numRuns: 100 },
    );
  });

  // F126
  it.each([10, 100, 1_000, 4_000])(
    'is served within 2 turns when %i users with one task each have gone, beside one that has many',
    (n) => {
      const queue = backlogged(Array.from({ length: n + 1 }, () => 100));
      for (let i = 0; i < n; i++) {
        const name = queue.serve();
        if (name !== `u${n}`) queue.leave(name);
      }
      expect(queue.startOf(`u${n}`) - queue.clock.v).toBeGreaterThan(-1);
      queue.enter('new', 100);
      expect(turns(queue, 2)).toContain('new');
    },
  );

  it('takes no run of turns for the time that it was not there', () => {
    const queue = backlogged([100, 100]);
    turns(queue, 10_000);
    queue.enter('new', 100);
    const counts = tally(turns(queue, 30));
    for (const name of ['u0', 'u1', 'new']) {
      expect(Math.abs((counts[name] ?? 0) - 10)).toBeLessThanOrEqual(1);
    }
  });

  it('gains nothing by leaving and coming back', () => {
    const queue = backlogged([100, 100, 100]);
    let got = 0;
    for (let i = 0; i < 3_000; i++) {
      if (queue.serve() !== 'u2') continue;
      got++;
      queue.leave('u2');
      queue.enter('u2', 100);
    }
    expect(got).toBeLessThanOrEqual(1_001);
  });

  it('of a new epoch owes nothing for the one before', () => {
    const queue = new QueueSimulation();
    queue.enter('a', 1);
    turns(queue, 50);
    queue.leave('a');
    queue.enter('b', 100);
    queue.enter('a', 100);
    expect(tally(turns(queue, 10))).toEqual({ a: 5, b: 5 });
  });
});

describe('a weight that changes', () => {
  it('acts on the next choice and keeps everybody within a few turns of the new shares', () => {
    const queue = backlogged([100, 100]);
    turns(queue, 501);
    queue.reweigh('u0', 300);
    const counts = tally(turns(queue, 400));
    expect(Math.abs((counts['u0'] ?? 0) - 300)).toBeLessThanOrEqual(2);
    queue.reweigh('u0', 100);
    const back = tally(turns(queue, 400));
    expect(Math.abs((back['u0'] ?? 0) - 200)).toBeLessThanOrEqual(2);
  });

  it('keeps the turns of its own that it is ahead by, so that no change forgives or doubles a debt', () => {
    const at = (v: number, weight: number, ahead: number): number => v * scaleOf(weight) + ahead;
    expect(rescaledTag(at(4, 100, 6 * TURN), 4, 100, 300)).toBe(at(4, 300, 6 * TURN));
    expect(rescaledTag(at(4, 300, 6 * TURN), 4, 300, 100)).toBe(at(4, 100, 6 * TURN));
    expect(rescaledTag(at(4, 100, -TURN), 4, 100, 300)).toBe(at(4, 300, 0));
  });

  it('holds for any series of changes: shares follow the weights in force', () => {
    const change = fc.record({ user: fc.nat(4), weight: fc.integer({ min: 50, max: 1_000 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 8 }), (changes) => {
        const weights = [100, 100, 100, 100, 100];
        const queue = backlogged(weights);
        for (const { user, weight } of changes) {
          weights[user] = weight;
          queue.reweigh(`u${user}`, weight);
          const total = weights.reduce((sum, each) => sum + each, 0);
          const counts = tally(turns(queue, 300));
          weights.forEach((each, i) => {
            const exact = (300 * each) / total;
            expect(Math.abs((counts[`u${i}`] ?? 0) - exact)).toBeLessThanOrEqual(3);
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('in a burst gives no user a run of turns', () => {
    const queue = backlogged([100, 100]);
    turns(queue, 100);
    for (let i = 0; i < 1_000; i++) queue.reweigh('u0', i % 2 === 0 ? 100_000 : 100);
    queue.reweigh('u0', 100);
    const counts = tally(turns(queue, 20));
    expect(Math.abs((counts['u0'] ?? 0) - 10)).toBeLessThanOrEqual(2);
  });
});

describe('shared classes', () => {
  it('have a step that no turn of a member exceeds, nor falls below by half', () => {
    fc.assert(
      fc.property(fc.integer({ min: LIMITS.weightMin, max: LIMITS.weightMax }), (weight) => {
        const step = sharedStep(sharedClass(weight));
        expect(100 / weight).toBeLessThan(step + Number.EPSILON);
        expect(100 / weight).toBeGreaterThanOrEqual(step / 2);
      }),
    );
  });
});

describe('time', () => {
  it('is expected to be what it was: of the user, else of the queue, else a second', () => {
    expect(expectedRun(3, 9)).toBe(3);
    expect(expectedRun(undefined, 9)).toBe(9);
    expect(expectedRun(undefined, undefined)).toBe(1);
  });

  it('is learned: the newest counts for an eighth', () => {
    expect(learned(undefined, 5)).toBe(5);
    expect(learned(8, 0)).toBe(7);
    expect(learned(8, 16)).toBe(9);
  });

  it('is corrected by what was held beyond what was charged, either way', () => {
    expect(correction(2, 5)).toBe(3 * TURN);
    expect(correction(5, 2)).toBe(-3 * TURN);
    // No turn is free: what was held for no time counts as a 65,536th of a second.
    expect(correction(2, 0)).toBe(-2 * TURN + 1_024);
  });

  it('is counted anew from at most a turn ahead or behind', () => {
    expect(startOf(recountedTag(scaleOf(200), 10, 200), 200)).toBe(9.5);
    expect(startOf(recountedTag(50 * scaleOf(200), 10, 200), 200)).toBe(10.5);
    expect(recountedTag(10.2 * scaleOf(200), 10, 200)).toBe(10.2 * scaleOf(200));
  });

  it('keeps the seat of a tag through every correction', () => {
    const weight = fc.integer({ min: LIMITS.weightMin, max: LIMITS.weightMax });
    const seconds = fc.double({ min: 0, max: 1e4, noNaN: true });
    // Below 2⁵³ grains, for any weight.
    const v = fc.double({ min: 0, max: 1e4, noNaN: true });
    const facts = fc.record({
      tag: fc.nat(2 ** 40),
      v,
      weight,
      chargedS: seconds,
      actualS: seconds,
    });
    fc.assert(
      fc.property(facts, ({ tag, v, weight, chargedS, actualS }) => {
        expect(seatOf(tag + correction(chargedS, actualS))).toBe(seatOf(tag));
        expect(seatOf(recountedTag(tag, v, weight))).toBe(seatOf(tag));
        expect(seatOf(tag + turn(actualS))).toBe(seatOf(tag));
      }),
    );
  });
});

describe('what a user is ahead by, in turns of its own', () => {
  const WEIGHT_OF = [1, 50, 100, 300, 700, 1_500];
  const action = fc.oneof(
    { weight: 1, arbitrary: fc.record({ type: fc.constant('enter'), user: fc.nat(11) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('leave'), user: fc.nat(11) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('serve'), user: fc.nat(11) }) },
  );

  // F126
  it('is at most a turn, either way, while users come and go', () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 50, maxLength: 300 }), (history) => {
        const queue = new QueueSimulation();
        const weights = new Map<string, number>();
        for (const { type, user } of history) {
          const name = `u${user}`;
          const weight = WEIGHT_OF[user % WEIGHT_OF.length] ?? 100;
          if (type === 'serve') {
            if (weights.size > 0) queue.serve();
          } else if (type === 'enter' && !weights.has(name)) {
            weights.set(name, weight);
            queue.enter(name, weight);
          } else if (type === 'leave' && weights.delete(name)) queue.leave(name);
          for (const [name, weight] of weights) {
            const ahead = ((queue.startOf(name) - queue.clock.v) * weight) / 100;
            expect(ahead).toBeLessThan(1 + 2 ** -6);
            expect(ahead).toBeGreaterThan(-1 - 2 ** -6);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('is what it had beyond its share since it joined, and not since all began', () => {
    const queue = new QueueSimulation();
    queue.enter('old', 100);
    for (let turn = 0; turn < 100; turn++) queue.serve();
    queue.enter('new', 300);
    const had = { old: 0, new: 0 };
    for (let turn = 1; turn <= 40; turn++) {
      had[queue.serve() === 'old' ? 'old' : 'new'] += 1;
      const ahead = (queue.startOf('new') - queue.clock.v) * 3;
      expect(ahead).toBeCloseTo(had.new - (turn * 3) / 4, 1);
    }
  });
});

/** What a tag has beyond whole rounds of seats. */
function seatOf(tag: number): number {
  return ((tag % 1_024) + 1_024) % 1_024;
}

/** Who enters, leaves, has a turn, or gets another weight. */
type Deed =
  | { readonly type: 'enter' | 'leave'; readonly user: number }
  | { readonly type: 'reweigh'; readonly user: number; readonly weight: number }
  | { readonly type: 'serve'; readonly cost: number };

const WEIGHTS = [1, 50, 100, 150, 200, 700, 100_000];

function deeds(users: number): fc.Arbitrary<readonly Deed[]> {
  const user = fc.nat(users - 1);
  const deed: fc.Arbitrary<Deed> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('enter', 'leave'), user }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('reweigh'),
        user,
        weight: fc.constantFrom(...WEIGHTS),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constant('serve'),
        cost: fc.constantFrom(1, 1, 1, 0.25, 3),
      }),
    },
  );
  return fc.array(deed, { minLength: 1, maxLength: 200 });
}

/** Whose turns come of a history, by the places of the users in it. */
function scheduleOf(history: readonly Deed[], names: readonly string[]): readonly number[] {
  const queue = new QueueSimulation();
  const ready = new Set<number>();
  const served: number[] = [];
  for (const deed of history) {
    if (deed.type === 'serve') {
      if (ready.size > 0) served.push(names.indexOf(queue.serve(deed.cost)));
      continue;
    }
    const name = names[deed.user] ?? '';
    if (deed.type === 'reweigh') queue.reweigh(name, deed.weight);
    else if (deed.type === 'leave' && ready.delete(deed.user)) queue.leave(name);
    else if (deed.type === 'enter' && !ready.has(deed.user)) {
      ready.add(deed.user);
      queue.enter(name);
    }
  }
  return served;
}

describe('a name', () => {
  // F5
  it('is worth nothing: the same history under other names gives the same turns', () => {
    const users = 12;
    const usual = Array.from({ length: users }, (_, i) => `u${String(i).padStart(2, '0')}`);
    const others = fc.shuffledSubarray(usual, { minLength: users, maxLength: users });
    fc.assert(
      fc.property(deeds(users), others, (history, names) => {
        expect(scheduleOf(history, names)).toEqual(scheduleOf(history, usual));
      }),
      { numRuns: 400 },
    );
  });

  // F5
  it('of a user in a loop, and of one that comes now and then, decides nothing', () => {
    const turnsOf = (loop: string, guest: string): readonly string[] => {
      const queue = new QueueSimulation();
      queue.enter(loop);
      return Array.from({ length: 40 }, (_, i) => {
        if (i % 4 === 1) queue.enter(guest);
        const name = queue.serve();
        queue.leave(name);
        if (name === loop) queue.enter(loop);
        return name === loop ? 'loop' : 'guest';
      });
    };
    expect(turnsOf('a', 'z')).toEqual(turnsOf('a', '0'));
  });
});

describe('a tag', () => {
  // F5
  it('of a user that comes later is later, for all that come at one moment', () => {
    let last = -1;
    let before = -1;
    for (let i = 0; i < 5_000; i++) {
      const entry = enterTag(0, 7.3, 100, last);
      expect(entry.tag).toBeGreaterThan(before);
      before = entry.tag;
      ({ last } = entry);
    }
  });

  it('is eligible at once, also of the thousandth that comes at one moment', () => {
    const weight = fc.integer({ min: LIMITS.weightMin, max: LIMITS.weightMax });
    const v = fc.double({ min: 0, max: 1e5, noNaN: true });
    fc.assert(
      fc.property(weight, v, fc.integer({ min: -1, max: 1_023 }), (weight, v, earlier) => {
        let last = earlier;
        for (let i = 0; i < 1_000; i++) {
          const entry = enterTag(0, v, weight, last);
          expect(entry.tag).toBeGreaterThanOrEqual(v * scaleOf(weight));
          ({ last } = entry);
          if (i % 333 !== 0) continue;
          const head = { start: startOf(entry.tag, weight), step: 100 / weight };
          // Beside one that is further behind, and would finish later.
          const other = { start: v - 1, step: head.step * 3 + 2 };
          expect(chooseHead([head, other], v)?.index).toBe(0);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('that is ahead is kept, but for a seat of its own', () => {
    const entry = enterTag(5 * TURN + 3, 2, 100, 2 * TURN + 7);
    expect(entry).toEqual({ tag: 5 * TURN + 8, last: 2 * TURN + 8 });
  });

  it('is at the virtual time, wherever those stand that entered elsewhere before', () => {
    // The last one entered far ahead of a slow pool that this one waits in.
    expect(enterTag(0, 1, 100, 50 * TURN + 9).tag).toBe(TURN + 10);
  });

  it('counts turns exactly for every weight, and a little at least', () => {
    expect(turn(1)).toBe(TURN);
    expect(turn(1e-9)).toBe(1_024);
    expect(turn(LIMITS.costMax)).toBe(LIMITS.costMax * TURN);
    expect(finishOf(3 * TURN, 300)).toBe(4 / 3);
  });

  it('grows on beyond 2⁵³ grains, each turn exactly', () => {
    const far = 2 ** 53 + 2 ** 27;
    expect(far + turn(1) - far).toBe(TURN);
    const entry = enterTag(0, far / scaleOf(100), 100, far + 2);
    expect(entry.tag).toBeGreaterThanOrEqual(far);
    expect(entry.tag).toBeLessThan(far + 2 * 1_024);
  });
});
