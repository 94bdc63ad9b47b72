/**
 * Whose turn it is, by looking at everybody: WF²Q+ without indexes. A user is eligible when its
 * start tag is not ahead of the queue's virtual time; of those the one that would finish first.
 */
import { isAssigned, type Roster } from './rosters.ts';
import {
  byBytes,
  type Lane,
  laneOf,
  ofUser,
  type Person,
  personOf,
  rateAllows,
  settingsOf,
  type Task,
  type World,
} from './world.ts';

/** Tags closer than this are equal: sums of fractions are rounded. */
const CLOSE = 1e-9;

export interface Turn {
  readonly person: Person;
  /** Chosen through this list; without it, among all (or all that nobody is assigned to). */
  readonly via: Roster | undefined;
  /** Virtual time once this turn is taken, before it is charged. */
  readonly v: number;
  readonly stolen: boolean;
}

/** Σ of the weights of those who are ready, in hundredths. */
function readyWeight(lane: Lane): number {
  return [...lane.people.values()].reduce(
    (sum, person) => sum + (person.ready ? person.weight : 0),
    0,
  );
}

/** Decides again whether a user may be served, and gives it its tag when it enters. */
export function refresh(world: World, queue: string, user: string): void {
  world.touched.add(JSON.stringify([queue, user]));
  const lane = laneOf(world, queue);
  const person = personOf(lane, user);
  const weight = settingsOf(world, queue, user).weight ?? 100;
  if (!mayStart(world, lane, person)) {
    person.ready = false;
    return;
  }
  const level = joinAt(lane, person);
  if (!person.ready) {
    const kept = person.epoch === lane.epoch ? person.tag : 0;
    person.tag = Math.max(level, kept);
    person.epoch = lane.epoch;
  }
  if (person.weight !== weight) {
    person.tag = level + (Math.max(0, person.tag - level) * person.weight) / weight;
  }
  person.weight = weight;
  person.ready = true;
}

/**
 * Where one who joins now stands: level with the queue, or with a list of its own that is behind,
 * since that list's workers serve nobody further on.
 */
export function joinAt(lane: Lane, person: Person): number {
  const lists = [...lane.lists.values()].filter((list) => list.names.has(person.user));
  const levels = lists.flatMap((list) => {
    const head = readyPeople(lane)
      .filter(({ user }) => list.names.has(user))
      .sort((one, other) => finish(one) - finish(other) || byBytes(one.user, other.user))[0];
    return head === undefined ? [] : [Math.max(list.clock, head.tag)];
  });
  return Math.min(lane.v, ...levels);
}

function mayStart(world: World, lane: Lane, person: Person): boolean {
  const { paused, rate } = settingsOf(world, lane.queue, person.user);
  if (room(world, lane.queue, person.user) <= 0 || paused === true) return false;
  return rate === undefined || rateAllows(rate, person.tat) <= world.now;
}

/** How many more of a user's tasks could start at once, its rate and pause aside. */
export function room(world: World, queue: string, user: string): number {
  const mine = ofUser(world, queue, user);
  const queued = mine.filter((task) => task.state === 'queued').length;
  const running = mine.filter((task) => task.state === 'started').length;
  const { maxRunning } = settingsOf(world, queue, user);
  return Math.min(queued, (maxRunning ?? Number.POSITIVE_INFINITY) - running);
}

/** The next turn among these people, by the plain rule. */
export function nextAmong(lane: Lane, people: readonly Person[]): Turn | undefined {
  if (people.length === 0) return undefined;
  const v = Math.max(lane.v, Math.min(...people.map((person) => person.tag)));
  const eligible = people.filter((person) => person.tag <= v + CLOSE);
  const person = eligible.sort(
    (one, other) =>
      finish(one) - finish(other) || one.tag - other.tag || byBytes(one.user, other.user),
  )[0];
  return person === undefined ? undefined : { person, via: undefined, v, stolen: false };
}

/** Where a turn of cost 1 would take this person. */
export function finish(person: Person): number {
  return person.tag + 100 / person.weight;
}

export function readyPeople(lane: Lane): Person[] {
  return [...lane.people.values()].filter((person) => person.ready);
}

/** Those who are ready and on no list of assigned users. */
export function unassigned(lane: Lane): Person[] {
  return readyPeople(lane).filter((person) => !isAssigned(lane, person.user));
}

/** Charges a turn. */
export function charge(lane: Lane, turn: Turn, cost: number): void {
  const { person, via } = turn;
  const share = (cost * 100) / person.weight;
  const whole = (cost * 100) / readyWeight(lane);
  lane.v = turn.v;
  if (via === undefined) {
    person.tag += share;
  } else {
    person.tag = Math.max(person.tag + share, via.list.clock);
    via.list.clock = person.tag;
  }
  lane.v += whole;
}

/** The task that is next in its user's own line. */
export function nextTask(world: World, lane: Lane, person: Person): Task | undefined {
  const queued = ofUser(world, lane.queue, person.user).filter((task) => task.state === 'queued');
  const level = nextLevel(lane, person, queued);
  return queued
    .filter((task) => task.level === level)
    .sort((one, other) => (one.seq ?? 0) - (other.seq ?? 0) || byBytes(one.id, other.id))[0];
}

function nextLevel(lane: Lane, person: Person, queued: readonly Task[]): number {
  const { levels } = person;
  const weights = lane.settings.priorityWeights ?? [1, 2, 4, 8, 16];
  const filled = [1, 2, 3, 4, 5].filter((level) => queued.some((task) => task.level === level));
  for (const level of filled) {
    if (levels.tag[level - 1] !== 0) continue;
    const start = Math.max(levels.v, levels.last[level - 1] ?? 0);
    levels.tag[level - 1] = start + 1 / (weights[level - 1] ?? 1);
  }
  const tag = (level: number): number => levels.tag[level - 1] ?? 0;
  const normal = filled.sort((one, other) => tag(one) - tag(other) || other - one)[0];
  const critical = queued.some((task) => task.level === 6);
  const burst = lane.settings.criticalBurst ?? Number.POSITIVE_INFINITY;
  if (critical && (normal === undefined || levels.criticalRun < burst)) return 6;
  return normal ?? 0;
}

/** The head of this level was leased. */
export function levelServed(person: Person, level: number): void {
  const { levels } = person;
  if (level === 6) {
    levels.criticalRun += 1;
    return;
  }
  levels.criticalRun = 0;
  levels.v = levels.tag[level - 1] ?? 0;
  levels.last[level - 1] = levels.v;
  levels.tag[level - 1] = 0;
}

/** A task left its level other than by a turn; a level with nothing left loses its tag. */
export function levelLeft(world: World, task: Task): void {
  const left = ofUser(world, task.queue, task.user).some(
    (other) => other.state === 'queued' && other.level === task.level && other.id !== task.id,
  );
  if (left || task.level === 6) return;
  const { levels } = personOf(laneOf(world, task.queue), task.user);
  levels.tag[task.level - 1] = 0;
}
