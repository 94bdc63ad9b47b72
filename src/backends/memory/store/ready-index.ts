import {
  type ClassHead,
  chooseHead,
  correction,
  enterTag,
  exactStep,
  expectedRun,
  keptTag,
  learned,
  raisedTag,
  recountedTag,
  rescaledTag,
  scaleOf,
  sharedClass,
  sharedStep,
  turn,
  USUAL_WEIGHT,
} from '../../../domain/fairness/fair-share.ts';
import {
  afterGiveBack,
  afterStart,
  allowedAt,
  boundedTat,
} from '../../../domain/fairness/rate-limit.ts';
import type { UserSettings } from '../../../domain/fairness/settings.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { QueueEntry, TaskEntry, UserEntry, WeightClass } from './entities.ts';
import { advance, correct, forgetLeavers, leaveAhead, leaveW, retagAway } from './leavers.ts';
import { SortedList } from './sorted-list.ts';
import type { Store } from './store.ts';
import { byStart, byTag, startTag } from './tag-order.ts';

/**
 * Decides whether a user is ready, and updates its indexes. The only code that writes the ready
 * indexes, W, `runnable` and the gain for wake-ups; called after every change of a user, so that
 * several obstacles at once are handled.
 */
export function reindex(store: Store, user: UserEntry): void {
  store.touch(user);
  const settings = store.settingsOf(user);
  const headroom = headroomOf(user, settings);
  const rateUntil = headroom > 0 ? rateUntilOf(store, user, settings) : 0;
  const throttled = rateUntil > store.now;
  throttle(store, user, throttled ? rateUntil : undefined);
  const canRun = headroom > 0 && !throttled;
  if (canRun) place(user, settings.weight ?? USUAL_WEIGHT);
  else if (user.ready) {
    unindex(user);
    leaveAhead(user);
  }
  count(user, canRun ? headroom : 0);
}

/** When the user's rate allows the next start; corrects a state from before a clock was set back. */
function rateUntilOf(store: Store, user: UserEntry, { rate }: UserSettings): number {
  if (rate === undefined) return 0;
  user.tat = boundedTat(rate, user.tat, store.now);
  return allowedAt(rate, user.tat);
}

/** The same for the rate of a queue, before it is checked. */
export function boundRate(store: Store, queue: QueueEntry): void {
  const { rate } = queue.settings;
  if (rate !== undefined) queue.tat = boundedTat(rate, queue.tat, store.now);
}

/** Number of tasks of this user that could start at once, rates aside. */
export function headroomOf(user: UserEntry, settings: UserSettings): number {
  if (user.queued === 0 || settings.paused === true) return 0;
  if (settings.maxRunning === undefined) return user.queued;
  return Math.max(0, Math.min(user.queued, settings.maxRunning - user.running));
}

/** Stores the moment at which `tick` checks the user again, for its rate. */
export function throttle(store: Store, user: UserEntry, until: number | undefined): void {
  if (user.throttledUntil === until) return;
  if (user.throttledUntil !== undefined) store.throttled.delete(user);
  user.throttledUntil = until;
  if (until !== undefined) store.throttled.add(user);
}

function count(user: UserEntry, headroom: number): void {
  const gained = headroom - user.headroom;
  if (gained === 0) return;
  user.headroom = headroom;
  user.queue.runnable += gained;
  if (gained > 0) user.queue.gain += gained;
}

function place(user: UserEntry, weight: number): void {
  const { queue } = user;
  if (user.ready && user.weight === weight) {
    if (user.class?.assigned !== user.onAssignedList) changeFamily(user);
    return;
  }
  const v = joinTag(user);
  const kept = user.epoch === queue.clock.epoch ? countedTag(user) : 0;
  // Also for a user that was not ready meanwhile: its tag is in turns of its former weight.
  const scaled = user.weight === weight ? kept : rescaledTag(kept, v, user.weight, weight);
  if (user.ready) unindex(user);
  else leaveW(user);
  user.epoch = queue.clock.epoch;
  user.weight = weight;
  const { kind, shared } = join(user);
  const last = queue.lasts.get(kind) ?? -1;
  const entry = enterTag(scaled, v, weight, last);
  user.tag = entry.tag;
  // Tags of different weights have no order: users that share a class are counted.
  queue.lasts.set(kind, shared ? last + 1 : entry.last);
  insert(user);
}

function countedTag({ ready, tag, weight, queue }: UserEntry): number {
  return ready ? tag : keptTag(tag, weight, queue.clock.v);
}

/** Moves a user between the assigned and the unassigned ones, with its tag. */
function changeFamily(user: UserEntry): void {
  const { lasts } = user.queue;
  const { kind = '' } = user.class ?? {};
  const last = lasts.get(kind) ?? -1;
  unindex(user);
  if (join(user).kind === kind) lasts.set(kind, last);
  insert(user);
}

/** Adds a user to the ready ones. */
function join(user: UserEntry): WeightClass {
  const { queue } = user;
  user.ready = true;
  queue.clock.w += user.weight;
  queue.readyUsers++;
  user.class = classOf(queue, user.weight, user.onAssignedList);
  return user.class;
}

/**
 * The tag of a user that joins now: the queue's virtual time, or the clock of a slower list of its
 * own, so that it does not wait for users that its workers do not serve.
 */
function joinTag(user: UserEntry): number {
  let { v } = user.queue.clock;
  for (const list of user.lists) {
    const head = list.ready.first();
    if (head !== undefined) v = Math.min(v, Math.max(list.clock, startTag(head)));
  }
  return v;
}

function unindex(user: UserEntry): void {
  const { queue } = user;
  extract(user);
  queue.clock.w -= user.weight;
  queue.readyUsers--;
  if (user.class?.users.size === 0) dropClass(queue, user.class);
  user.class = undefined;
  user.ready = false;
}

function dropClass(queue: QueueEntry, { id, kind }: WeightClass): void {
  queue.classes.delete(id);
  if (!queue.classes.has(`o${kind}`) && !queue.classes.has(`a${kind}`)) queue.lasts.delete(kind);
}

/** Removes a ready user from every index that is ordered by its tag. */
export function extract(user: UserEntry): void {
  user.class?.users.delete(user);
  for (const list of user.lists) {
    list.ready.delete(user);
    if (list.kind === 's') list.unassigned.delete(user);
  }
}

/** Adds a ready user to them. */
export function insert(user: UserEntry): void {
  user.class?.users.add(user);
  if (user.lists.length === 0) return;
  const unassigned = !user.onAssignedList;
  for (const list of user.lists) {
    list.ready.add(user);
    if (list.kind === 's' && unassigned) list.unassigned.add(user);
  }
}

/**
 * The class of a weight: its own for the first 31 weights in use, else the shared one of its power
 * of two. A class exists while it has users.
 */
function classOf(queue: QueueEntry, weight: number, assigned: boolean): WeightClass {
  const kind = `w${weight}`;
  const exact = queue.classes.get(familyOf(assigned) + kind);
  if (exact !== undefined) return exact;
  const other = queue.classes.has(familyOf(!assigned) + kind);
  if (other || exactClasses(queue) < LIMITS.weightClasses) {
    return newClass(queue, { kind, assigned, shared: false, step: exactStep(weight) });
  }
  const power = sharedClass(weight);
  const shared = queue.classes.get(`${familyOf(assigned)}s${power}`);
  if (shared !== undefined) return shared;
  return newClass(queue, { kind: `s${power}`, assigned, shared: true, step: sharedStep(power) });
}

/** A user of another store stands ready in the class of this name, as it did there. It is on no list yet. */
export function standReady(user: UserEntry, id: string, headroom: number): void {
  const { queue } = user;
  const kind = id.slice(1);
  const shared = kind.startsWith('s');
  const step = shared ? sharedStep(Number(kind.slice(1))) : exactStep(user.weight);
  user.ready = true;
  user.headroom = headroom;
  queue.clock.w += user.weight;
  queue.runnable += headroom;
  queue.readyUsers++;
  const assigned = id.startsWith(familyOf(true));
  user.class = queue.classes.get(id) ?? newClass(queue, { kind, assigned, shared, step });
  insert(user);
}

function familyOf(assigned: boolean): string {
  return assigned ? 'a' : 'o';
}

function exactClasses(queue: QueueEntry): number {
  if (queue.classes.size < LIMITS.weightClasses) return queue.classes.size;
  const weights = new Set<string>();
  for (const id of queue.classes.keys()) if (id[1] === 'w') weights.add(id.slice(2));
  return weights.size;
}

function newClass(queue: QueueEntry, facts: Omit<WeightClass, 'id' | 'users'>): WeightClass {
  const id = familyOf(facts.assigned) + facts.kind;
  const made = { ...facts, id, users: new SortedList<UserEntry>(facts.shared ? byStart : byTag) };
  queue.classes.set(id, made);
  return made;
}

/** The next user by WF²Q+ of all ready users, or of those on no assigned list. */
export function chooseUser(
  queue: QueueEntry,
  unassignedOnly: boolean,
): { readonly user: UserEntry; readonly v: number } | undefined {
  if (queue.classes.size === 1) {
    for (const only of queue.classes.values()) {
      const user = only.users.first();
      if (user === undefined || (unassignedOnly && only.assigned)) return undefined;
      return { user, v: Math.max(queue.clock.v, startTag(user)) };
    }
  }
  const heads: Head[] = [];
  for (const { assigned, id, step, users } of queue.classes.values()) {
    const user = users.first();
    if (user !== undefined && !(unassignedOnly && assigned)) {
      heads.push({ user, id, start: startTag(user), step });
    }
  }
  heads.sort(byClass);
  const chosen = chooseHead(heads, queue.clock.v);
  const user = chosen === undefined ? undefined : heads[chosen.index]?.user;
  return chosen === undefined || user === undefined ? undefined : { user, v: chosen.v };
}

interface Head extends ClassHead {
  readonly user: UserEntry;
  readonly id: string;
}

/** In a fixed order, independent of names: classes of one step can tie. */
function byClass(a: Head, b: Head): number {
  return a.id < b.id ? 1 : -1;
}

/**
 * Charges a turn: the user's tag, the queue's virtual time, both rates. `tag` is the start of the
 * turn if a list's clock sets it. The caller removes the task and reindexes.
 */
export function charge(store: Store, entry: TaskEntry, listClock: number | undefined): void {
  const user = entry.owner;
  const { queue } = user;
  const cost = queue.chargesTime ? expectedRun(user.meanRun, queue.meanRun) : entry.cost;
  if (queue.chargesTime) entry.own().charged = cost;
  else if (entry.optional.charged !== undefined) entry.own().charged = undefined;
  extract(user);
  user.tag += turn(cost);
  if (listClock !== undefined) user.tag = raisedTag(user.tag, listClock * scaleOf(user.weight));
  insert(user);
  advance(queue, cost);
  entry.chargedEpoch = queue.clock.epoch;
  const { rate } = store.settingsOf(user);
  if (rate !== undefined) user.tat = afterStart(rate, user.tat, store.now);
  const queueRate = queue.settings.rate;
  if (queueRate !== undefined) queue.tat = afterStart(queueRate, queue.tat, store.now);
}

/** Corrects the charge at the end of a lease by its length, in a queue that charges time. */
export function settleTime(store: Store, entry: TaskEntry): void {
  const user = entry.owner;
  const { queue } = user;
  if (!queue.chargesTime) return;
  const actualS = Math.max(0, store.now - (entry.grant?.leasedAt ?? store.now)) / 1_000;
  user.meanRun = learned(user.meanRun, actualS);
  queue.meanRun = learned(queue.meanRun, actualS);
  const chargedS = entry.optional.charged;
  if (chargedS === undefined) return;
  entry.own().charged = undefined;
  if (entry.chargedEpoch !== queue.clock.epoch || user.epoch !== queue.clock.epoch) return;
  correct(user, correction(chargedS, actualS), retag);
}

function retag(user: UserEntry, tag: number): void {
  if (!user.ready) {
    retagAway(user, tag);
    return;
  }
  extract(user);
  user.tag = tag;
  insert(user);
}

/** The queue changes its unit of charge: no user is ahead or behind by more than a turn. */
export function recount(queue: QueueEntry): void {
  queue.clock.epoch++;
  forgetLeavers(queue);
  for (const user of queue.users.values()) {
    if (!user.ready) continue;
    retag(user, recountedTag(user.tag, queue.clock.v, user.weight));
    user.epoch = queue.clock.epoch;
  }
}

/** Returns a charge and its rates, for a released lease. */
export function giveBack(store: Store, entry: TaskEntry): void {
  const user = entry.owner;
  const { queue } = user;
  const isCurrent = entry.chargedEpoch === queue.clock.epoch && user.epoch === queue.clock.epoch;
  // Where time is charged, the time of the lease stays charged.
  if (isCurrent && !queue.chargesTime) {
    // Relative to now: an old release gives no claim to turns in a row.
    const least = joinTag(user) * scaleOf(user.weight);
    retag(user, raisedTag(user.tag, least) - turn(entry.cost));
  }
  const { rate } = store.settingsOf(user);
  if (rate !== undefined) user.tat = afterGiveBack(rate, user.tat);
  const queueRate = queue.settings.rate;
  if (queueRate !== undefined) queue.tat = afterGiveBack(queueRate, queue.tat);
}

/** Whether the queue's own limits allow no start now. */
export function isGated(store: Store, queue: QueueEntry): boolean {
  const { paused, maxRunning, rate } = queue.settings;
  if (paused === true) return true;
  if (maxRunning !== undefined && queue.counts.started >= maxRunning) return true;
  return rate !== undefined && allowedAt(rate, queue.tat) > store.now;
}

/** Whether a slot would start a task of the queue now, within its own pause, cap and rate. */
export function queueOpen(store: Store, queue: QueueEntry): boolean {
  return queue.runnable > 0 && !isGated(store, queue);
}

/** Number of tasks that further slots would start at once, within the queue's own pause and cap. */
export function runnableNow(store: Store, queue: QueueEntry): number {
  if (!queueOpen(store, queue)) return 0;
  const { maxRunning } = queue.settings;
  return maxRunning === undefined
    ? queue.runnable
    : Math.min(queue.runnable, maxRunning - queue.counts.started);
}
