/**
 * Fair turns between users: worst-case-fair weighted fair queueing (WF²Q+; Bennett and Zhang,
 * 1997), indexed by weight class. Each queue has a virtual time V that grows by c/W per
 * turn of cost c, W being the weights of the ready users and of those that left with S > V, until V has
 * passed S. Each ready user has a start tag; its next turn would end at F = S + c/w. A user is
 * eligible once S ≤ V; among the eligible the least F is served. So no user runs ahead of its exact
 * share by more than one turn.
 *
 * Weights are integers in hundredths, so that W is exact. Tags are counted in turns of their own
 * user, in whole grains, so that what turns add up to is exact for every weight; S is the same in
 * turns of weight 1. Beyond 2⁵³ grains (134 million turns of one user in one busy period) a tag keeps
 * fewer of its last digits, and users of one weight may tie; turns are still charged exactly.
 */

/** The default weight, in hundredths. */
export const USUAL_WEIGHT = 100;

/** Grains per turn of cost 1. */
export const TURN: number = 2 ** 26;

/**
 * A turn is a multiple of this, so the remainder of a tag, its seat, stays unique to its user. A
 * user that enters a class gets the seat after the previous one: tags of one weight do not tie, and
 * names decide nothing, until this many users have entered.
 */
export const SEATS = 1_024;

/** Turns by which a user may be ahead of V and still be eligible: room for its seat. */
export const SLACK: number = (2 * SEATS) / TURN;

/** Most grains behind V at which a user enters because of those that entered before. */
export const CROWD: number = 2 ** 20;

/** The virtual clock of one queue. */
export interface QueueClock {
  /** Virtual time. */
  v: number;
  /** Sum of the weights of ready users, in hundredths. */
  w: number;
  /** Number of times that the queue went idle; a tag of an older epoch counts as 0. */
  epoch: number;
}

/** Grains of a user of this weight per unit of virtual time. */
export function scaleOf(weight: number): number {
  return (weight * TURN) / 100;
}

/** Start of a tag in virtual time. */
export function startOf(tag: number, weight: number): number {
  return tag === 0 ? 0 : tag / scaleOf(weight);
}

/** F of a turn of cost 1. */
export function finishOf(tag: number, weight: number): number {
  return startOf(tag, weight) + exactStep(weight);
}

/** Grains that a turn of this cost adds to a tag: a multiple of `SEATS`, at least one. */
export function turn(cost: number): number {
  return Math.max(1, Math.floor((cost * TURN) / SEATS + 0.5)) * SEATS;
}

/** The least tag at or above `from` with the seat of `tag`. */
export function seated(tag: number, from: number): number {
  return tag + Math.ceil((from - tag) / SEATS) * SEATS;
}

/** A tag raised to at least this many grains; its seat stays. */
export function raisedTag(tag: number, least: number): number {
  return tag < least ? seated(tag, least) : tag;
}

/** Tag of a user that enters a class, and the new state of the class. */
export interface Entry {
  /** Tag of the user, in grains. */
  readonly tag: number;
  /** State of the class: the seat of the latest entry, in grains. */
  readonly last: number;
}

/**
 * The tag of a user that enters a class: at V or later, never ahead of what it already got, and
 * behind those that entered before it. `kept` is its stored tag (0: none), `v` the virtual time,
 * `last` the state of the class, -1 for none.
 */
export function enterTag(kept: number, v: number, weight: number, last: number): Entry {
  const floor = Math.ceil(v * scaleOf(weight));
  const next = last + 1;
  const fresh = next > floor && next <= floor + CROWD ? next : seated(next, floor);
  return { tag: kept > fresh ? seated(next, kept) : fresh, last: fresh };
}

/**
 * The stored tag of a user that was not in line, when it enters: one that V has passed counts as
 * none, so it makes no difference whether it was kept.
 */
export function keptTag(tag: number, weight: number, v: number): number {
  return startOf(tag, weight) > v ? tag : 0;
}

/** Virtual time after a turn of this cost, while W stays the same. */
export function afterTurn(v: number, cost: number, weights: number): number {
  return v + (cost * 100) / weights;
}

/** The rest of a turn's cost after virtual time has advanced from `v` to `start`. */
export function costLeft(cost: number, v: number, start: number, weights: number): number {
  return Math.max(0, cost - ((start - v) * weights) / 100);
}

/** A user that was ahead of V when it stopped being ready: it counts in W until V has passed its tag. */
export interface Leaver {
  /** Start of its tag in virtual time. */
  readonly start: number;
  /** Its weight, in hundredths. */
  readonly weight: number;
}

/**
 * Virtual time after a turn of this cost while W falls. `passed` removes the first leaver with a
 * tag up to the given time from W, and answers it.
 */
export function afterTurnPast(
  v: number,
  cost: number,
  weights: number,
  passed: (to: number) => Leaver | undefined,
): number {
  let [at, left, w] = [v, cost, weights];
  while (w > 0) {
    const to = afterTurn(at, left, w);
    const leaver = passed(to);
    if (leaver === undefined) return to;
    left = costLeft(left, at, leaver.start, w);
    at = Math.max(at, leaver.start);
    w -= leaver.weight;
  }
  return at;
}

/** Head of one weight class: the start of its least tag, and the step of the class. */
export interface ClassHead {
  /** Start of the least tag, in virtual time. */
  readonly start: number;
  /** Virtual time of a turn of cost 1 in this class. */
  readonly step: number;
}

/**
 * The `index` of the class head whose user has the next turn, and `v`, the virtual time after the
 * jump to the least start. On a tie the lesser start, then the first head, is chosen.
 */
export function chooseHead(
  heads: readonly ClassHead[],
  v: number,
): { readonly index: number; readonly v: number } | undefined {
  let least = Number.POSITIVE_INFINITY;
  for (const head of heads) if (head.start < least) least = head.start;
  if (least === Number.POSITIVE_INFINITY) return undefined;
  const at = least > v ? least : v;
  let best = -1;
  let bestFinish = 0;
  let bestStart = 0;
  for (let i = 0; i < heads.length; i++) {
    const head = heads[i];
    if (head === undefined || head.start > at + head.step * SLACK) continue;
    const finish = head.start + head.step;
    if (best < 0 || finish < bestFinish || (finish === bestFinish && head.start < bestStart)) {
      best = i;
      bestFinish = finish;
      bestStart = head.start;
    }
  }
  return { index: best, v: at };
}

/** The tag of a user after a change of its weight: as many of its own turns ahead as before, ready or not. */
export function rescaledTag(tag: number, v: number, oldWeight: number, newWeight: number): number {
  const ahead = Math.max(0, Math.ceil(tag - v * scaleOf(oldWeight)));
  return Math.ceil(v * scaleOf(newWeight)) + ahead;
}

/** Estimated cost of a turn, in seconds, in a queue that charges time. */
export function expectedRun(own: number | undefined, ofQueue: number | undefined): number {
  return own ?? ofQueue ?? 1;
}

/** The mean of run times, in seconds, after one more; the newest counts for an eighth. */
export function learned(mean: number | undefined, actualS: number): number {
  return mean === undefined ? actualS : mean + (actualS - mean) / 8;
}

/** Grains that correct an estimated charge, once the length of the lease is known. */
export function correction(chargedS: number, actualS: number): number {
  return turn(actualS) - turn(chargedS);
}

/** The tag of a ready user when the queue's `charge` changes: ahead or behind by one turn at most. */
export function recountedTag(tag: number, v: number, weight: number): number {
  const level = v * scaleOf(weight);
  const over = Math.max(0, Math.ceil((tag - level - TURN) / SEATS));
  return raisedTag(tag - over * SEATS, level - TURN);
}

/** The step of an exact class: one turn of cost 1. */
export function exactStep(weight: number): number {
  return 100 / weight;
}

/** ⌊log₂(100 / weight)⌋: the shared class of a weight beyond the first 31 distinct ones. */
export function sharedClass(weight: number): number {
  let power = 0;
  let value = 100 / weight;
  while (value >= 2) {
    value /= 2;
    power++;
  }
  while (value < 1) {
    value *= 2;
    power--;
  }
  return power;
}

/** The step of a shared class: no member's turn takes more. */
export function sharedStep(power: number): number {
  return 2 ** (power + 1);
}
