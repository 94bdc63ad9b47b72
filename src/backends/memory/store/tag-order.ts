/** Orders of ready users by their tags. */
import { compareUtf8 } from '../../../base/utf8-order.ts';
import { finishOf, startOf } from '../../../domain/fairness/fair-share.ts';

/** Fields of a user that the orders read. */
interface Tagged {
  readonly user: string;
  readonly tag: number;
  readonly weight: number;
  readonly idleUntil: number | undefined;
}

/** By start tag, then by the bytes of the name: for users of one weight. */
export function byTag(a: Tagged, b: Tagged): number {
  return a.tag - b.tag || compareUtf8(a.user, b.user);
}

/** The same for users of several weights. */
export function byStart(a: Tagged, b: Tagged): number {
  return startTag(a) - startTag(b) || compareUtf8(a.user, b.user);
}

/** By the time until which a tag is kept. */
export function byIdle(a: Tagged, b: Tagged): number {
  return (a.idleUntil ?? 0) - (b.idleUntil ?? 0) || compareUtf8(a.user, b.user);
}

/** By the end of the next turn of cost 1, then by its start: the order of lists. */
export function byFinish(a: Tagged, b: Tagged): number {
  return compareFinish(a, b) || compareUtf8(a.user, b.user);
}

/** The same for users of two lists; names do not decide. */
export function compareFinish(a: Tagged, b: Tagged): number {
  return finishOf(a.tag, a.weight) - finishOf(b.tag, b.weight) || startTag(a) - startTag(b);
}

/** Its start tag in virtual time. */
export function startTag({ tag, weight }: Tagged): number {
  return startOf(tag, weight);
}
