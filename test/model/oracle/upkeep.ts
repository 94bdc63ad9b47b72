/** What time does by itself: one step of maintenance, and when the next one has something to do. */

import type { EndState } from '../../../src/domain/task/task.ts';
import { deadlineOf, expire } from './deadlines.ts';
import { isAhead, readyPeople, refresh } from './fairness.ts';
import { enterLine, forget, runCascade } from './graph.ts';
import { dropLists, hasLists } from './membership.ts';
import { lookAt } from './schedules.ts';
import { sweep } from './settle.ts';
import {
  boundTat,
  byBytes,
  ended,
  inLine,
  note,
  ofUser,
  type Person,
  type QueueEntry,
  queueOf,
  rateAllows,
  readersOf,
  settingsOf,
  type Task,
  tasksWhere,
  type World,
} from './world.ts';

/** A worker that said nothing for this long is not live. */
export const SILENCE_MS = 15_000;

export function upkeep(world: World): void {
  sweep(world);
  promote(world);
  unthrottle(world);
  expire(world);
  runCascade(world);
  retain(world);
  forgetSilent(world);
}

/** User by user, in the order of what each has due first, then of their places. */
function promote(world: World): void {
  const due = tasksWhere(
    world,
    (task) => task.state === 'scheduled' && (task.dueAt ?? 0) <= world.now,
  ).sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0) || one.order - other.order);
  const firsts = new Map<string, number>();
  for (const task of due) {
    const place = placeOf(task.queue, task.user);
    if (!firsts.has(place)) firsts.set(place, task.dueAt ?? 0);
  }
  const users = [...firsts].sort((one, other) => one[1] - other[1] || byBytes(one[0], other[0]));
  for (const [place] of users) {
    for (const task of due.filter((each) => placeOf(each.queue, each.user) === place)) {
      note(world, task, 'due');
      enterLine(world, task);
    }
  }
}

/** What orders users of several queues where nothing else does. */
function placeOf(queue: string, user: string): string {
  return `${queue.length}:${queue}${user}`;
}

function unthrottle(world: World): void {
  const over = throttled(world)
    .map(({ queue, person }) => ({ queue, person, at: allowedAt(world, queue, person) }))
    .filter(({ at }) => world.hasGoneBack || at <= world.now)
    .sort((one, other) => (world.hasGoneBack ? 0 : one.at - other.at) || byPlace(one, other));
  world.hasGoneBack = false;
  for (const { queue, person } of over) refresh(world, queue.queue, person.user);
}

interface Placed {
  readonly queue: QueueEntry;
  readonly person: Person;
}

function byPlace(one: Placed, other: Placed): number {
  return byBytes(
    placeOf(one.queue.queue, one.person.user),
    placeOf(other.queue.queue, other.person.user),
  );
}

/** Users who have work, may run it, and wait for their rate alone. */
function throttled(world: World): readonly Placed[] {
  return [...world.queues.values()].flatMap((queue) =>
    [...queue.people.values()]
      .filter((person) => waitsForRate(world, queue, person))
      .map((person) => ({ queue, person })),
  );
}

function waitsForRate(world: World, queue: QueueEntry, person: Person): boolean {
  const { rate, paused, maxRunning } = settingsOf(world, queue.queue, person.user);
  if (rate === undefined || paused === true || person.ready) return false;
  const mine = tasksWhere(world, (task) => task.queue === queue.queue && task.user === person.user);
  const running = mine.filter((task) => task.state === 'started').length;
  const capped = maxRunning !== undefined && running >= maxRunning;
  return !capped && mine.some(inLine);
}

function allowedAt(world: World, queue: QueueEntry, person: Person): number {
  const { rate } = settingsOf(world, queue.queue, person.user);
  return rate === undefined ? 0 : rateAllows(rate, person.tat);
}

/** Takes away what has ended long enough ago, and what is too many; never what is still read. */
function retain(world: World): void {
  for (const state of ['finished', 'failed', 'canceled'] as const) {
    for (let task = surplus(world, state); task !== undefined; task = surplus(world, state)) {
      forget(world, task);
      runCascade(world);
    }
  }
}

/** The oldest task that no task reads, if its time is over or there are too many of its kind. */
function surplus(world: World, state: EndState): Task | undefined {
  const { retention } = world;
  const all = tasksWhere(world, (task) => task.state === state);
  const oldest = all
    .filter((task) => readersOf(world, task.id).length === 0)
    .sort((one, other) => one.endOrder - other.endOrder)[0];
  const age = world.now - (oldest?.endedAt ?? 0);
  const tooMany = all.length > (retention[`${state}Count`] ?? Number.POSITIVE_INFINITY);
  const over = age >= retention[`${state}Ms`] || tooMany;
  return over && age >= world.leastKeptMs ? oldest : undefined;
}

function forgetSilent(world: World): void {
  for (const worker of world.workers.values()) {
    const silent = Math.abs(world.now - worker.seenAt) > SILENCE_MS;
    if (silent && hasLists(worker)) worker.listed = false;
  }
  dropLists(world);
  for (const queue of world.queues.values()) {
    for (const person of [...queue.people.values()]) dropIdle(world, queue, person);
  }
}

/** A user with no work, list, settings, kept tag or spent rate is not remembered. */
function dropIdle(world: World, queue: QueueEntry, person: Person): void {
  const ahead = person.epoch === queue.epoch && isAhead(queue, person);
  const { rate } = settingsOf(world, queue.queue, person.user);
  const isSpent = rate !== undefined && person.tat > world.now;
  if (isIdle(world, queue, person) && !ahead && !isSpent) queue.people.delete(person.user);
}

function isIdle(world: World, queue: QueueEntry, { user }: Person): boolean {
  const live = ofUser(world, queue.queue, user).some((task) => !ended(task));
  const listed = [...queue.lists.values()].some((list) => list.names.has(user));
  return !live && !listed && !world.own.has(JSON.stringify([queue.queue, user]));
}

/** The end of a step: a queue with nothing to do starts anew, and who is not needed is forgotten. */
export function closeStep(world: World): void {
  const touched = [...world.touched].map((key): [string, string] => JSON.parse(key));
  for (const queueName of new Set(touched.map(([queue]) => queue))) {
    const queue = queueOf(world, queueName);
    const busy = [...world.tasks.values()].some(
      (task) => task.queue === queueName && (task.state === 'queued' || task.state === 'started'),
    );
    // Where time is charged, an end may have left a debt though no turn has cost anything.
    if (busy) continue;
    queue.v = 0;
    queue.epoch += 1;
    for (const list of queue.lists.values()) list.clock = 0;
  }
  for (const [queueName, user] of touched) {
    const queue = queueOf(world, queueName);
    const person = queue.people.get(user);
    if (person !== undefined) dropIdle(world, queue, person);
  }
  world.touched.clear();
}

/** The least moment at which something falls due, as far as these queues are concerned. */
export function nextDueAt(world: World, queues: readonly string[]): number | undefined {
  const tasks = [...world.tasks.values()];
  const moments = [
    ...tasks.map((task) => task.dueAt),
    ...throttled(world).map(({ queue, person }) => allowedAt(world, queue, person)),
    ...tasks.flatMap(({ lease }) =>
      lease === undefined ? [] : [Math.max(lease.until, world.sweepAfter)],
    ),
    ...tasks.filter((task) => !ended(task)).map(deadlineOf),
    ...queues.map((queue) => rateOpensAt(world, queueOf(world, queue))),
    lookAt(world),
  ].filter((moment) => moment !== undefined && Number.isFinite(moment));
  return moments.length === 0 ? undefined : Math.ceil(Math.min(...(moments as number[])));
}

/** When the first of those users has recovered who are remembered for their rate alone. */
export function restsUntil(world: World): number | undefined {
  const moments = [...world.queues.values()].flatMap((queue) =>
    [...queue.people.values()].flatMap((person) => {
      const { rate } = settingsOf(world, queue.queue, person.user);
      const kept = rate !== undefined && person.tat > world.now && isIdle(world, queue, person);
      return kept ? [person.tat] : [];
    }),
  );
  return moments.length === 0 ? undefined : Math.ceil(Math.min(...moments));
}

/** When a queue that has something to give may start again by its own rate. */
function rateOpensAt(world: World, queue: QueueEntry): number | undefined {
  const { rate } = queue.settings;
  const parked = tasksWhere(
    world,
    (task) => task.queue === queue.queue && task.parkedUntil !== undefined,
  );
  if (rate === undefined || readyPeople(queue).length + parked.length === 0) return undefined;
  const latest = { tat: queue.tat };
  boundTat(rate, latest, world.now);
  const allowed = rateAllows(rate, latest.tat);
  return allowed > world.now ? allowed : undefined;
}
