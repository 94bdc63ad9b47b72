/**
 * Fair turns between users: worst-case-fair weighted fair queueing (WF²Q+; Bennett and Zhang,
 * 1997), indexed by weight class. Each queue (lane) has a virtual time V that grows by c/W per
 * turn of cost c, W being the weights of the ready users. Each ready user has a start tag S; its
 * next turn would end at F = S + c/w. A user is eligible once S ≤ V; among the eligible the least
 * F is served. So nobody runs ahead of its exact share by more than one turn.
 *
 * Weights are integers in hundredths, so that W is exact; tags are in turns of weight 1.
 */

/** Two tags this close count as equal, so that rounding cannot make a user ineligible. */
export const EPSILON = 1e-9;

/** The virtual clock of one queue. */
export interface LaneClock {
  /** Virtual time. */
  v: number;
  /** Sum of the weights of ready users, in hundredths. */
  w: number;
  /** Counts how often the lane went idle; a tag of an older epoch is worth 0. */
  epoch: number;
}

/** The tag that a user enters with: behind nobody, and never ahead of what it already got. */
export function enterTag(lane: LaneClock, tag: number, tagEpoch: number): number {
  return tagEpoch === lane.epoch && tag > lane.v ? tag : lane.v;
}

/** The share of virtual time that a turn of this cost takes from a user of this weight. */
export function turn(cost: number, weight: number): number {
  return (cost * 100) / weight;
}

/** The head of one weight class: the ready user with the least tag, and the class's own step. */
export interface ClassHead {
  readonly user: string;
  readonly tag: number;
  readonly step: number;
}

/**
 * Index of the class head whose user has the next turn, and the virtual time after the jump to
 * the least tag. Ties go to the lesser tag, then to the head named first.
 */
export function chooseHead(
  heads: readonly ClassHead[],
  v: number,
): { readonly index: number; readonly v: number } | undefined {
  let least = Number.POSITIVE_INFINITY;
  for (const head of heads) if (head.tag < least) least = head.tag;
  if (least === Number.POSITIVE_INFINITY) return undefined;
  const at = least > v ? least : v;
  let best = -1;
  let bestFinish = 0;
  let bestTag = 0;
  for (let i = 0; i < heads.length; i++) {
    const head = heads[i];
    if (head === undefined || head.tag > at + EPSILON) continue;
    const finish = head.tag + head.step;
    if (best < 0 || finish < bestFinish || (finish === bestFinish && head.tag < bestTag)) {
      best = i;
      bestFinish = finish;
      bestTag = head.tag;
    }
  }
  return { index: best, v: at };
}

/** The tag of a ready user whose weight changed: what it is ahead by is scaled, not forgotten. */
export function rescaledTag(tag: number, v: number, oldWeight: number, newWeight: number): number {
  return v + ((tag > v ? tag - v : 0) * oldWeight) / newWeight;
}

/** What a turn costs before it is known how long it takes, in seconds, in a queue that charges time. */
export function expectedRun(own: number | undefined, ofQueue: number | undefined): number {
  return own ?? ofQueue ?? 1;
}

/** A mean of run times, in seconds, after one more; the newest counts for an eighth. */
export function learned(mean: number | undefined, heldS: number): number {
  return mean === undefined ? heldS : mean + (heldS - mean) / 8;
}

/** A turn that was charged by expectation, once it is known for how long the lease was held. */
export interface Correction {
  readonly chargedS: number;
  readonly heldS: number;
  readonly weight: number;
}

/** The tag after a correction; what was charged too much is no claim to turns in a row. */
export function correctedTag(
  tag: number,
  v: number,
  { chargedS, heldS, weight }: Correction,
): number {
  return Math.max(tag + turn(heldS - chargedS, weight), v - turn(chargedS, weight));
}

/** The tag of a ready user when the queue begins to charge by something else: ahead by a turn at most. */
export function recountedTag(tag: number, v: number, weight: number): number {
  return Math.min(tag, v + turn(1, weight));
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
