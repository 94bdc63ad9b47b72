import {
  afterTurn,
  type ClassHead,
  chooseHead,
  correctedTag,
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
} from '../../../domain/fairness/fair-share.ts';
import { afterGiveBack, afterStart, allowedAt } from '../../../domain/fairness/rate-limit.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { UserSettings } from '../../../domain/settings/settings.ts';
import type { Lane, TaskEntry, UserLane, WeightClass } from './entities.ts';
import { SortedList } from './sorted-list.ts';
import type { Store } from './store.ts';
import { byStart, byTag, startTag } from './tag-order.ts';

const DEFAULT_WEIGHT = 100;

/**
 * Decides whether a user is ready, and puts it where that says. The only code that writes the
 * ready indexes, W, `runnable` and the gain that wake-ups are handed out for; called after every
 * change that touches a user, so that several obstacles at once are right by construction.
 */
export function reindex(store: Store, user: UserLane): void {
  store.touch(user);
  const settings = store.settingsOf(user);
  const room = roomOf(user, settings);
  const rateUntil = settings.rate === undefined ? 0 : allowedAt(settings.rate, user.tat);
  const throttled = room > 0 && rateUntil > store.now;
  throttle(store, user, throttled ? rateUntil : undefined);
  const canRun = room > 0 && !throttled;
  if (canRun) place(user, settings.weight ?? DEFAULT_WEIGHT);
  else if (user.ready) displace(user);
  count(user, canRun ? room : 0);
}

/** Tasks of this user that could start at once, rates aside. */
function roomOf(user: UserLane, settings: UserSettings): number {
  if (user.queued === 0 || settings.paused === true) return 0;
  if (settings.maxRunning === undefined) return user.queued;
  return Math.max(0, Math.min(user.queued, settings.maxRunning - user.running));
}

/** Keeps the moment at which `tick` looks at the user again, for its rate. */
export function throttle(store: Store, user: UserLane, until: number | undefined): void {
  if (user.throttledUntil === until) return;
  if (user.throttledUntil !== undefined) store.throttled.delete(user);
  user.throttledUntil = until;
  if (until !== undefined) store.throttled.add(user);
}

function count(user: UserLane, room: number): void {
  const gained = room - user.contribution;
  if (gained === 0) return;
  user.contribution = room;
  user.lane.runnable += gained;
  if (gained > 0) user.lane.gain += gained;
}

function place(user: UserLane, weight: number): void {
  const { lane } = user;
  if (user.ready && user.weight === weight) {
    if (user.class?.assigned !== user.onAssignedList) changeFamily(user);
    return;
  }
  const v = joinTag(user);
  const kept = user.epoch === lane.clock.epoch ? countedTag(user) : 0;
  // Also of one that was not ready meanwhile: its tag is in turns of the weight it had.
  const scaled = user.weight === weight ? kept : rescaledTag(kept, v, user.weight, weight);
  if (user.ready) displace(user);
  user.epoch = lane.clock.epoch;
  user.weight = weight;
  const { kind, shared } = join(user);
  const last = lane.lasts.get(kind) ?? -1;
  const entry = enterTag(scaled, v, weight, last);
  user.tag = entry.tag;
  // Tags of different weights have no order: those who share a class are counted.
  lane.lasts.set(kind, shared ? last + 1 : entry.last);
  insert(user);
}

function countedTag({ ready, tag, weight, lane }: UserLane): number {
  return ready ? tag : keptTag(tag, weight, lane.clock.v);
}

/** Between those that somebody is assigned to and those that nobody is: it keeps its tag. */
function changeFamily(user: UserLane): void {
  const { lasts } = user.lane;
  const { kind = '' } = user.class ?? {};
  const last = lasts.get(kind) ?? -1;
  displace(user);
  if (join(user).kind === kind) lasts.set(kind, last);
  insert(user);
}

/** Counts a user among the ready ones. */
function join(user: UserLane): WeightClass {
  const { lane } = user;
  user.ready = true;
  lane.clock.w += user.weight;
  lane.readyUsers++;
  user.class = classOf(lane, user.weight, user.onAssignedList);
  return user.class;
}

/**
 * Where a user stands that joins now: at the lane's virtual time, or where a slower list of its
 * own has got to, so that it waits for nobody that its workers do not serve.
 */
function joinTag(user: UserLane): number {
  let { v } = user.lane.clock;
  for (const list of user.lists) {
    const head = list.ready.first();
    if (head !== undefined) v = Math.min(v, Math.max(list.clock, startTag(head)));
  }
  return v;
}

function displace(user: UserLane): void {
  const { lane } = user;
  extract(user);
  lane.clock.w -= user.weight;
  lane.readyUsers--;
  if (user.class?.users.size === 0) dropClass(lane, user.class);
  user.class = undefined;
  user.ready = false;
}

function dropClass(lane: Lane, { id, kind }: WeightClass): void {
  lane.classes.delete(id);
  if (!lane.classes.has(`o${kind}`) && !lane.classes.has(`a${kind}`)) lane.lasts.delete(kind);
}

/** Takes a ready user out of every index that is ordered by its tag. */
export function extract(user: UserLane): void {
  user.class?.users.delete(user);
  for (const list of user.lists) {
    list.ready.delete(user);
    if (list.kind === 's') list.orphans.delete(user);
  }
}

/** Puts a ready user back into them. */
export function insert(user: UserLane): void {
  user.class?.users.add(user);
  if (user.lists.length === 0) return;
  const orphan = !user.onAssignedList;
  for (const list of user.lists) {
    list.ready.add(user);
    if (list.kind === 's' && orphan) list.orphans.add(user);
  }
}

/**
 * The class of a weight: its own while it is among the 31 that were in use first, else the shared
 * one of its power of two. A class is kept while it has users.
 */
function classOf(lane: Lane, weight: number, assigned: boolean): WeightClass {
  const kind = `w${weight}`;
  const exact = lane.classes.get(familyOf(assigned) + kind);
  if (exact !== undefined) return exact;
  const other = lane.classes.has(familyOf(!assigned) + kind);
  if (other || exactClasses(lane) < LIMITS.weightClasses) {
    return newClass(lane, { kind, assigned, shared: false, step: exactStep(weight) });
  }
  const power = sharedClass(weight);
  const shared = lane.classes.get(`${familyOf(assigned)}s${power}`);
  if (shared !== undefined) return shared;
  return newClass(lane, { kind: `s${power}`, assigned, shared: true, step: sharedStep(power) });
}

function familyOf(assigned: boolean): string {
  return assigned ? 'a' : 'o';
}

function exactClasses(lane: Lane): number {
  if (lane.classes.size < LIMITS.weightClasses) return lane.classes.size;
  const weights = new Set<string>();
  for (const id of lane.classes.keys()) if (id[1] === 'w') weights.add(id.slice(2));
  return weights.size;
}

function newClass(lane: Lane, facts: Omit<WeightClass, 'id' | 'users'>): WeightClass {
  const id = familyOf(facts.assigned) + facts.kind;
  const made = { ...facts, id, users: new SortedList<UserLane>(facts.shared ? byStart : byTag) };
  lane.classes.set(id, made);
  return made;
}

/** Who is next by WF²Q+ among all ready users, or among those on no assigned list. */
export function chooseUser(
  lane: Lane,
  orphansOnly: boolean,
): { readonly user: UserLane; readonly v: number } | undefined {
  if (lane.classes.size === 1) {
    for (const only of lane.classes.values()) {
      const user = only.users.first();
      if (user === undefined || (orphansOnly && only.assigned)) return undefined;
      return { user, v: Math.max(lane.clock.v, startTag(user)) };
    }
  }
  const heads: Head[] = [];
  for (const { assigned, id, step, users } of lane.classes.values()) {
    const user = users.first();
    if (user !== undefined && !(orphansOnly && assigned)) {
      heads.push({ user, id, start: startTag(user), step });
    }
  }
  heads.sort(byClass);
  const chosen = chooseHead(heads, lane.clock.v);
  const user = chosen === undefined ? undefined : heads[chosen.index]?.user;
  return chosen === undefined || user === undefined ? undefined : { user, v: chosen.v };
}

interface Head extends ClassHead {
  readonly user: UserLane;
  readonly id: string;
}

/** In a settled order, which has nothing to do with names: those of one step can tie. */
function byClass(a: Head, b: Head): number {
  return a.id < b.id ? 1 : -1;
}

/**
 * Charges a turn: the user's tag, the lane's virtual time, both rates. `tag` is where the turn
 * starts when a list's clock says so. The caller takes the task out and reindexes.
 */
export function charge(store: Store, entry: TaskEntry, listClock: number | undefined): void {
  const user = entry.owner;
  const { lane } = user;
  const cost = lane.chargesTime ? expectedRun(user.meanRun, lane.meanRun) : entry.cost;
  if (lane.chargesTime) entry.own().charged = cost;
  else if (entry.rare.charged !== undefined) entry.own().charged = undefined;
  extract(user);
  user.tag += turn(cost);
  if (listClock !== undefined) user.tag = raisedTag(user.tag, listClock * scaleOf(user.weight));
  insert(user);
  lane.clock.v = afterTurn(lane.clock.v, cost, lane.clock.w);
  entry.chargedEpoch = lane.clock.epoch;
  const { rate } = store.settingsOf(user);
  if (rate !== undefined) user.tat = afterStart(rate, user.tat, store.now);
  const queueRate = lane.settings.rate;
  if (queueRate !== undefined) lane.tat = afterStart(queueRate, lane.tat, store.now);
}

/** A lease is over in a queue that charges time: its turn is charged by how long it was held. */
export function settleTime(store: Store, entry: TaskEntry): void {
  const user = entry.owner;
  const { lane } = user;
  if (!lane.chargesTime) return;
  const heldS = Math.max(0, store.now - (entry.grant?.leasedAt ?? store.now)) / 1_000;
  user.meanRun = learned(user.meanRun, heldS);
  lane.meanRun = learned(lane.meanRun, heldS);
  const chargedS = entry.rare.charged;
  if (chargedS === undefined) return;
  entry.own().charged = undefined;
  if (entry.chargedEpoch !== lane.clock.epoch || user.epoch !== lane.clock.epoch) return;
  const { weight } = user;
  const tag = correctedTag(user.tag, lane.clock.v, { chargedS, heldS, weight });
  if (user.ready) extract(user);
  user.tag = tag;
  if (user.ready) insert(user);
}

/** The queue begins to charge by something else: tags of before are worth a turn at most. */
export function recount(lane: Lane): void {
  lane.clock.epoch++;
  for (const user of lane.users.values()) {
    if (!user.ready) continue;
    extract(user);
    user.tag = recountedTag(user.tag, lane.clock.v, user.weight);
    user.epoch = lane.clock.epoch;
    insert(user);
  }
}

/** Gives a charge and its rates back, for a lease that was released. */
export function giveBack(store: Store, entry: TaskEntry): void {
  const user = entry.owner;
  const { lane } = user;
  const isCurrent = entry.chargedEpoch === lane.clock.epoch && user.epoch === lane.clock.epoch;
  // Where time is charged the time that it was held stays.
  if (isCurrent && !lane.chargesTime) {
    // Measured from now: what was released long ago is no claim to turns in a row.
    const tag = raisedTag(user.tag, joinTag(user) * scaleOf(user.weight)) - turn(entry.cost);
    if (user.ready) extract(user);
    user.tag = tag;
    if (user.ready) insert(user);
  }
  const { rate } = store.settingsOf(user);
  if (rate !== undefined) user.tat = afterGiveBack(rate, user.tat);
  const queueRate = lane.settings.rate;
  if (queueRate !== undefined) lane.tat = afterGiveBack(queueRate, lane.tat);
}

/** Whether the lane's own limits let nothing start now. */
export function isGated(store: Store, lane: Lane): boolean {
  const { paused, maxRunning, rate } = lane.settings;
  if (paused === true) return true;
  if (maxRunning !== undefined && lane.counts.started >= maxRunning) return true;
  return rate !== undefined && allowedAt(rate, lane.tat) > store.now;
}

export function laneOpen(store: Store, lane: Lane): boolean {
  return lane.runnable > 0 && !isGated(store, lane);
}

/** How many more slots would start a task at once, the lane's own pause and cap included. */
export function runnableNow(store: Store, lane: Lane): number {
  if (!laneOpen(store, lane)) return 0;
  const { maxRunning } = lane.settings;
  return maxRunning === undefined
    ? lane.runnable
    : Math.min(lane.runnable, maxRunning - lane.counts.started);
}
