/** Orders of ready users: by where their tags stand. */
import { compareUtf8 } from '../../../base/utf8-order.ts';
import { finishOf, startOf } from '../../../domain/fairness/fair-share.ts';
import type { UserEntry } from './entities.ts';

/** By start tag, then by the bytes of the name: for users of one weight. */
export function byTag(a: UserEntry, b: UserEntry): number {
  return a.tag - b.tag || compareUtf8(a.user, b.user);
}

/** The same for users of several weights. */
export function byStart(a: UserEntry, b: UserEntry): number {
  return startTag(a) - startTag(b) || compareUtf8(a.user, b.user);
}

/** By until when a tag is worth keeping. */
export function byIdle(a: UserEntry, b: UserEntry): number {
  return (a.idleUntil ?? 0) - (b.idleUntil ?? 0) || compareUtf8(a.user, b.user);
}

/** By the end of the next turn of cost 1, then by its start: the order of lists. */
export function byFinish(a: UserEntry, b: UserEntry): number {
  return compareFinish(a, b) || compareUtf8(a.user, b.user);
}

/** The same for users of two lists, which names do not decide between. */
export function compareFinish(a: UserEntry, b: UserEntry): number {
  return finishOf(a.tag, a.weight) - finishOf(b.tag, b.weight) || startTag(a) - startTag(b);
}

/** Its start tag in virtual time. */
export function startTag({ tag, weight }: UserEntry): number {
  return startOf(tag, weight);
}
