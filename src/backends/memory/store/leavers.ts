/**
 * W and virtual time: a user that was ahead of V when it stopped being ready counts in W until V has passed its tag, or
 * until it is ready again.
 */
import { afterTurn, afterTurnPast, TURN } from '../../../domain/fairness/fair-share.ts';
import type { QueueEntry, UserEntry } from './entities.ts';
import { SortedList } from './sorted-list.ts';
import { byStart, startTag } from './tag-order.ts';

function isLeaver(user: UserEntry): boolean {
  return user.leavingIn === user.queue.clock.epoch;
}

/** Called when a user stops being ready. */
export function leaveAhead(user: UserEntry): void {
  const { clock } = user.queue;
  if (user.epoch === clock.epoch && startTag(user) > clock.v) standAhead(user);
}

/** A user that is not ready counts in W. */
export function standAhead(user: UserEntry): void {
  const { queue } = user;
  user.leavingIn = queue.clock.epoch;
  queue.leaving += user.weight;
  queue.leavers.add(user);
}

/** Stops counting a leaver in W: V has passed its tag, or it is ready again. */
export function leaveW(user: UserEntry): void {
  if (!isLeaver(user)) return;
  const { queue } = user;
  queue.leavers.delete(user);
  queue.leaving -= user.weight;
  user.leavingIn = -1;
}

/** A new epoch has begun: earlier tags count no more. */
export function forgetLeavers(queue: QueueEntry): void {
  queue.leavers = new SortedList<UserEntry>(byStart);
  queue.leaving = 0;
}

/** Changes the tag of a user that is not ready. */
export function retagAway(user: UserEntry, tag: number): void {
  leaveW(user);
  user.tag = tag;
  leaveAhead(user);
}

/** V jumps to the start of the next turn. */
export function jump(queue: QueueEntry, v: number): void {
  queue.clock.v = v;
  while (takePassed(queue, v) !== undefined);
}

/** V advances by a turn of this cost. */
export function advance(queue: QueueEntry, cost: number): void {
  const { clock } = queue;
  clock.v = afterTurnPast(clock.v, cost, clock.w + queue.leaving, (to) => takePassed(queue, to));
}

function takePassed(
  queue: QueueEntry,
  to: number,
): { readonly start: number; readonly weight: number } | undefined {
  const user = queue.leavers.first();
  if (user === undefined || startTag(user) > to) return undefined;
  leaveW(user);
  return { start: startTag(user), weight: user.weight };
}

/**
 * Corrects a charge that was this many grains too low (below 0: too high): moves the tag by them,
 * with `retag`, and V by their part of W, so that neither the user nor the others gain or lose.
 */
export function correct(
  user: UserEntry,
  grains: number,
  retag: (user: UserEntry, tag: number) => void,
): void {
  const { queue } = user;
  const { clock } = queue;
  const counted = user.ready || isLeaver(user);
  const cost = grains / TURN;
  if (cost < 0 && counted) {
    clock.v = Math.max(0, afterTurn(clock.v, cost, clock.w + queue.leaving));
  }
  retag(user, user.tag + grains);
  if (cost <= 0 || !(user.ready || isLeaver(user))) return;
  // V had passed its tag: only the part ahead of V now was missing.
  const ahead = ((startTag(user) - clock.v) * user.weight) / 100;
  advance(queue, counted ? cost : Math.min(cost, ahead));
}
