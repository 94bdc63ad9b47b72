import {
  chooseHead,
  correctedTag,
  enterTag,
  exactStep,
  expectedRun,
  learned,
  recountedTag,
  rescaledTag,
  sharedClass,
  sharedStep,
  turn,
} from '../../domain/fair-share.ts';
import { LIMITS } from '../../domain/limits.ts';
import { afterGiveBack, afterStart, allowedAt } from '../../domain/rate-limit.ts';
import type { UserSettings } from '../../domain/settings.ts';
import type { TaskEntry } from './entities.ts';
import { byTag, type Lane, type UserLane, type WeightClass } from './entities.ts';
import { SortedList } from './sorted-list.ts';
import type { Store } from './store.ts';

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
  if (user.ready && user.weight === weight && user.class?.assigned === user.onAssignedList) return;
  const v = joinTag(user);
  const at = user.ready ? user.tag : enterTag({ ...lane.clock, v }, user.tag, user.epoch);
  // Also of one that was not ready meanwhile: its tag is in turns of the weight it had.
  const scale = user.weight > 0 && user.weight !== weight;
  const tag = scale ? rescaledTag(at, v, user.weight, weight) : at;
  if (user.ready) displace(user);
  user.tag = tag;
  user.epoch = lane.clock.epoch;
  user.weight = weight;
  user.ready = true;
  lane.clock.w += weight;
  lane.readyUsers++;
  user.class = classOf(lane, weight, user.onAssignedList);
  insert(user);
}

/**
 * Where a user stands that joins now: at the lane's virtual time, or where a slower list of its
 * own has got to, so that it waits for nobody that its workers do not serve.
 */
function joinTag(user: UserLane): number {
  let { v } = user.lane.clock;
  for (const list of user.lists) {
    const head = list.ready.first();
    if (head !== undefined) v = Math.min(v, Math.max(list.clock, head.tag));
  }
  return v;
}

function displace(user: UserLane): void {
  const { lane } = user;
  extract(user);
  lane.clock.w -= user.weight;
  lane.readyUsers--;
  if (user.class?.users.size === 0) lane.classes.delete(user.class.id);
  user.class = undefined;
  user.ready = false;
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
  const family = assigned ? 'a' : 'o';
  const exact = lane.classes.get(`${family}w${weight}`);
  if (exact !== undefined) return exact;
  const other = lane.classes.has(`${assigned ? 'o' : 'a'}w${weight}`);
  if (other || exactClasses(lane) < LIMITS.weightClasses) {
    return newClass(lane, `${family}w${weight}`, assigned, exactStep(weight));
  }
  const power = sharedClass(weight);
  const id = `${family}s${power}`;
  return lane.classes.get(id) ?? newClass(lane, id, assigned, sharedStep(power));
}

function exactClasses(lane: Lane): number {
  if (lane.classes.size < LIMITS.weightClasses) return lane.classes.size;
  const weights = new Set<string>();
  for (const id of lane.classes.keys()) if (id[1] === 'w') weights.add(id.slice(2));
  return weights.size;
}

function newClass(lane: Lane, id: string, assigned: boolean, step: number): WeightClass {
  const made = { id, assigned, step, users: new SortedList<UserLane>(byTag) };
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
      return { user, v: Math.max(lane.clock.v, user.tag) };
    }
  }
  const heads: UserLane[] = [];
  for (const entry of lane.classes.values()) {
    const head = entry.users.first();
    if (head !== undefined && !(orphansOnly && entry.assigned)) heads.push(head);
  }
  heads.sort(byTag);
  const chosen = chooseHead(
    heads.map((head) => ({ user: head.user, tag: head.tag, step: head.class?.step ?? 0 })),
    lane.clock.v,
  );
  const user = chosen === undefined ? undefined : heads[chosen.index];
  return chosen === undefined || user === undefined ? undefined : { user, v: chosen.v };
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
  user.tag += turn(cost, user.weight);
  if (listClock !== undefined && listClock > user.tag) user.tag = listClock;
  insert(user);
  lane.clock.v += (cost * 100) / lane.clock.w;
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
    const tag = Math.max(user.tag, joinTag(user)) - turn(entry.cost, user.weight);
    if (user.ready) extract(user);
    user.tag = tag;
    if (user.ready) insert(user);
  }
  const { rate } = store.settingsOf(user);
  if (rate !== undefined) user.tat = afterGiveBack(rate, user.tat);
  const queueRate = lane.settings.rate;
  if (queueRate !== undefined) lane.tat = afterGiveBack(queueRate, lane.tat);
}

/** Whether the lane's own limits let anything start now. */
export function laneOpen(store: Store, lane: Lane): boolean {
  const { paused, maxRunning, rate } = lane.settings;
  if (paused === true || lane.runnable === 0) return false;
  if (maxRunning !== undefined && lane.counts.started >= maxRunning) return false;
  return rate === undefined || allowedAt(rate, lane.tat) <= store.now;
}

/** How many more slots would start a task at once, the lane's own pause and cap included. */
export function runnableNow(store: Store, lane: Lane): number {
  if (!laneOpen(store, lane)) return 0;
  const { maxRunning } = lane.settings;
  return maxRunning === undefined
    ? lane.runnable
    : Math.min(lane.runnable, maxRunning - lane.counts.started);
}
