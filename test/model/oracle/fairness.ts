/**
 * Whose turn it is, by looking at everybody: WF²Q+ without indexes. A user is eligible when its
 * start tag is not ahead of the queue's virtual time; of those the one that would finish first.
 */
import { isAssigned, type Roster } from './rosters.ts';
import {
  boundTat,
  byBytes,
  inLine,
  ofUser,
  type Person,
  personOf,
  type QueueEntry,
  queueOf,
  rateAllows,
  settingsOf,
  type Task,
  type World,
} from './world.ts';

/** Tags are counted in turns of their own user, of so many grains each. */
export const TURN = 67_108_864;
/** Every turn is a whole number of these; what a tag has beyond them tells its user from others. */
const SEATS = 1_024;
/** An entrant stands at most so far ahead of its level, in turns of its own, that it counts as on it. */
const SLACK = 1 / 32_768;
/** So many grains behind its level no user enters for the sake of those that came before. */
const CROWD = 1_048_576;

export interface Turn {
  readonly person: Person;
  /** Chosen through this list; without it, among all (or all that no worker is assigned to). */
  readonly via: Roster | undefined;
  /** Virtual time once this turn is taken, before it is charged. */
  readonly v: number;
  readonly stolen: boolean;
}

function lingerers(queue: QueueEntry): Person[] {
  return [...queue.people.values()].filter(({ lingersIn }) => lingersIn === queue.epoch);
}

/** Whether a user counts: it is ready, or left ahead and was not caught up with. */
export function countsIn(queue: QueueEntry, person: Person): boolean {
  return person.ready || person.lingersIn === queue.epoch;
}

/** Σ of the weights of those who count, in hundredths. */
export function weightOfAll(queue: QueueEntry): number {
  return [...queue.people.values()].reduce(
    (sum, person) => sum + (countsIn(queue, person) ? person.weight : 0),
    0,
  );
}

/** One who is not ready counts as long as it is ahead. */
export function linger(queue: QueueEntry, person: Person): void {
  const isCurrent = person.epoch === queue.epoch;
  person.lingersIn = isCurrent && !person.ready && isAhead(queue, person) ? queue.epoch : -1;
}

/** Virtual time goes on by so much work; each who lingers counts until it has come to where that one stands. */
export function advance(queue: QueueEntry, work: number): void {
  for (let left = work; weightOfAll(queue) > 0; ) {
    const whole = weightOfAll(queue);
    const end = queue.v + (left * 100) / whole;
    const next = lingerers(queue).sort((one, other) => begins(one) - begins(other))[0];
    if (next === undefined || begins(next) > end) {
      queue.v = end;
      return;
    }
    left = Math.max(0, left - ((begins(next) - queue.v) * whole) / 100);
    queue.v = Math.max(queue.v, begins(next));
    next.lingersIn = -1;
  }
}

/** Decides again whether a user may be served, and gives it its tag when it enters. */
export function refresh(world: World, queueName: string, user: string): void {
  world.touched.add(JSON.stringify([queueName, user]));
  const queue = queueOf(world, queueName);
  const person = personOf(queue, user);
  const weight = settingsOf(world, queueName, user).weight ?? 100;
  if (!mayStart(world, queue, person)) {
    const wasReady = person.ready;
    stop(queue, person);
    if (wasReady) linger(queue, person);
    return;
  }
  if (person.ready && person.weight === weight) return;
  const level = joinAt(queue, person);
  const counts = person.epoch === queue.epoch && (person.ready || isAhead(queue, person));
  const tag = counts ? person.tag : 0;
  const ahead = Math.max(0, Math.ceil(tag - grainsAt(level, person.weight)));
  const floor = Math.ceil(grainsAt(level, weight));
  stop(queue, person);
  enter(queue, person, { weight, floor, kept: person.weight === weight ? tag : floor + ahead });
  person.epoch = queue.epoch;
}

/** A user that comes when none of its weight is left begins anew. */
function stop(queue: QueueEntry, person: Person): void {
  person.ready = false;
  if (readyPeople(queue).some(({ weight }) => weight === person.weight)) return;
  queue.lasts.delete(person.weight);
}

/** Behind those of its weight that came before it, unless they are far ahead; not before `kept`. */
function enter(
  queue: QueueEntry,
  person: Person,
  { weight, floor, kept }: Record<'weight' | 'floor' | 'kept', number>,
): void {
  const next = (queue.lasts.get(weight) ?? -1) + 1;
  const isNear = next > floor && next - floor <= CROWD;
  const fresh = onSeat(isNear ? next : floor, next);
  queue.lasts.set(weight, fresh);
  person.tag = kept > fresh ? onSeat(kept, next) : fresh;
  person.weight = weight;
  person.ready = true;
  person.lingersIn = -1;
}

/** The first grain from here on that has the seat of another. */
function onSeat(from: number, like: number): number {
  for (let at = from; ; at += 1) if ((at - like) % SEATS === 0) return at;
}

/** A tag, put as many whole seats further as it needs to be this far. */
export function lifted(tag: number, least: number): number {
  return tag + Math.max(0, Math.ceil((least - tag) / SEATS)) * SEATS;
}

/** A tag, taken as many whole seats back as it needs to be no further than this. */
export function lowered(tag: number, most: number): number {
  return tag - Math.max(0, Math.ceil((tag - most) / SEATS)) * SEATS;
}

/** A moment of virtual time, in grains of a user of this weight. */
export function grainsAt(v: number, weight: number): number {
  return v * ((weight * TURN) / 100);
}

/** Where a person stands in virtual time. */
export function begins({ tag, weight }: Person): number {
  return tag / ((weight * TURN) / 100);
}

/** What a turn comes to, in grains. */
export function grainsOf(cost: number): number {
  return Math.max(1, Math.floor(cost * (TURN / SEATS) + 0.5)) * SEATS;
}

/** Whether a person is further ahead than where it would enter now. */
export function isAhead(queue: QueueEntry, person: Person): boolean {
  return begins(person) > queue.v;
}

/**
 * Where one who joins now stands: level with the queue, or with a list of its own that is behind,
 * since that list's workers serve no user further on.
 */
export function joinAt(queue: QueueEntry, person: Person): number {
  const lists = [...queue.lists.values()].filter((list) => list.names.has(person.user));
  const levels = lists.flatMap((list) => {
    const head = readyPeople(queue)
      .filter(({ user }) => list.names.has(user))
      .sort(earlier)[0];
    return head === undefined ? [] : [Math.max(list.clock, begins(head))];
  });
  return Math.min(queue.v, ...levels);
}

function mayStart(world: World, queue: QueueEntry, person: Person): boolean {
  const { paused, rate } = settingsOf(world, queue.queue, person.user);
  if (headroom(world, queue.queue, person.user) <= 0 || paused === true) return false;
  if (rate === undefined) return true;
  boundTat(rate, person, world.now);
  return rateAllows(rate, person.tat) <= world.now;
}

/** How many more of a user's tasks could start at once, its rate and pause aside. */
export function headroom(world: World, queue: string, user: string): number {
  const mine = ofUser(world, queue, user);
  const queued = mine.filter(inLine).length;
  const running = mine.filter((task) => task.state === 'started').length;
  const { maxRunning } = settingsOf(world, queue, user);
  return Math.min(queued, (maxRunning ?? Number.POSITIVE_INFINITY) - running);
}

/** The next turn among these people, by the plain rule. */
export function nextAmong(queue: QueueEntry, people: readonly Person[]): Turn | undefined {
  if (people.length === 0) return undefined;
  const v = Math.max(queue.v, Math.min(...people.map(begins)));
  const eligible = people.filter((person) => begins(person) <= v + (100 / person.weight) * SLACK);
  const person = eligible.sort(earlier)[0];
  return person === undefined ? undefined : { person, via: undefined, v, stolen: false };
}

/** By the end of the next turn, then by its start. Names are for those who came by the thousand. */
export function earlier(one: Person, other: Person): number {
  return (
    finish(one) - finish(other) ||
    begins(one) - begins(other) ||
    one.tag - other.tag ||
    byBytes(one.user, other.user)
  );
}

/** Where a turn of cost 1 would take this person. */
function finish(person: Person): number {
  return begins(person) + 100 / person.weight;
}

export function readyPeople(queue: QueueEntry): Person[] {
  return [...queue.people.values()].filter((person) => person.ready);
}

/** Those who are ready and on no list of assigned users. */
export function unassigned(queue: QueueEntry): Person[] {
  return readyPeople(queue).filter((person) => !isAssigned(queue, person.user));
}

/** Charges a turn. */
export function charge(queue: QueueEntry, turn: Turn, cost: number): void {
  const { person, via } = turn;
  queue.v = turn.v;
  for (const one of lingerers(queue)) if (!isAhead(queue, one)) one.lingersIn = -1;
  person.tag += grainsOf(cost);
  if (via !== undefined) {
    person.tag = lifted(person.tag, grainsAt(via.list.clock, person.weight));
    via.list.clock = begins(person);
  }
  advance(queue, cost);
}

/** The task that is next in its user's own line. */
export function nextTask(world: World, queue: QueueEntry, person: Person): Task | undefined {
  const queued = ofUser(world, queue.queue, person.user).filter(inLine);
  const level = nextLevel(queue, person, queued);
  return queued
    .filter((task) => task.level === level)
    .sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0) || byBytes(one.id, other.id))[0];
}

function nextLevel(queue: QueueEntry, person: Person, queued: readonly Task[]): number {
  const { levels } = person;
  const filled = filledOf(queued);
  const left = (level: number): number => waitLeft(queue, person, level);
  const normal = filled.sort((one, other) => left(one) - left(other) || other - one)[0];
  const critical = queued.some((task) => task.level === 6);
  const burst = queue.settings.criticalBurst ?? Number.POSITIVE_INFINITY;
  if (critical && (normal === undefined || levels.criticalRun < burst)) return 6;
  return normal ?? 0;
}

/** The levels that share turns, and have something in line. */
function filledOf(queued: readonly Task[]): number[] {
  return [1, 2, 3, 4, 5].filter((level) => queued.some((task) => task.level === level));
}

function waitLeft(queue: QueueEntry, { levels }: Person, level: number): number {
  const weights = queue.settings.priorityWeights ?? [1, 2, 4, 8, 16];
  return Math.max(0, 1 / (weights[level - 1] ?? 1) - (levels.waited[level - 1] ?? 0));
}

/** The head of this level is leased. */
export function levelServed(
  queue: QueueEntry,
  person: Person,
  { level, queued }: { readonly level: number; readonly queued: readonly Task[] },
): void {
  const { levels } = person;
  if (level === 6) {
    levels.criticalRun += 1;
    return;
  }
  levels.criticalRun = 0;
  const passed = waitLeft(queue, person, level);
  for (const other of filledOf(queued)) {
    levels.waited[other - 1] = (levels.waited[other - 1] ?? 0) + passed;
  }
  levels.waited[level - 1] = 0;
}

/** A task comes in line: where its user has none there, its critical turns are in a row no more. */
export function beginLine(world: World, queue: string, user: string): void {
  if (ofUser(world, queue, user).some(inLine)) return;
  personOf(queueOf(world, queue), user).levels.criticalRun = 0;
}

/** A task left its level; a level with nothing left has not waited. */
export function levelLeft(world: World, task: Task): void {
  const left = ofUser(world, task.queue, task.user).some(
    (other) => inLine(other) && other.level === task.level && other.id !== task.id,
  );
  if (left || task.level === 6) return;
  const { levels } = personOf(queueOf(world, task.queue), task.user);
  levels.waited[task.level - 1] = 0;
}
