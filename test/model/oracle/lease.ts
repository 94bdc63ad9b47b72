/** Who gets which task under a lease. */
import type { LeaseRequest, UpstreamFact } from '../../../src/domain/port/backend.ts';
import { giveUp, isExpired } from './deadlines.ts';
import {
  charge,
  earlier,
  levelServed,
  nextAmong,
  nextTask,
  readyPeople,
  refresh,
  type Turn,
  unassigned,
} from './fairness.ts';
import { end, upstreamsOf } from './graph.ts';
import { bringBack, forgetTurns, park, parkLeft } from './parked.ts';
import { isAssigned, isRestricted, type Roster, rosterOf } from './rosters.ts';
import { isAbandoned, pauserOf, setAside } from './runs.ts';
import { expected } from './timed.ts';
import {
  boundTat,
  inLine,
  note,
  ofUser,
  type Person,
  type QueueEntry,
  queueOf,
  rateAllows,
  settingsOf,
  type Task,
  tasksWhere,
  type Worker,
  type World,
} from './world.ts';

/** A lease passes over at most so many tasks whose names its worker does not know. */
const UNKNOWN_NAMES = 64;
/** A task that lost so many leases has its last chance, alone. */
const LAST_CHANCE = 2;

export interface Given {
  readonly task: Task;
  readonly token: string;
  readonly alone: boolean;
  /** As they stood when its turn came. */
  readonly upstreams: readonly UpstreamFact[];
  readonly paused: boolean;
}

export interface LeaseAnswer {
  readonly given: readonly Given[];
  /** It stopped before the end of what there is. */
  readonly stopped: boolean;
}

/** Everything a lease does after maintenance has run. */
export function leaseTurns(world: World, worker: Worker, request: LeaseRequest): LeaseAnswer {
  forgetTurns(world);
  for (const { queue } of request.queues) {
    const entry = queueOf(world, queue);
    if (entry.settings.rate !== undefined) boundTat(entry.settings.rate, entry, world.now);
  }
  const back = request.queues
    .map(({ queue }) => queueOf(world, queue))
    .filter((queue) => gateOf(world, queue) === undefined)
    .map((queue) => bringBack(world, queue, worker, request.limit));
  const left = back.some((of) => of.left);
  const answer = turnsOf(world, worker, request, left);
  parkLeft(world, back);
  return answer;
}

/** `left`: there are more parked tasks that the worker knows. */
function turnsOf(world: World, worker: Worker, request: LeaseRequest, left: boolean): LeaseAnswer {
  const passes = request.queues.map(({ queue, weight, pass }) => ({ queue, weight, pass }));
  const given: Given[] = [];
  let unknownNames = 0;
  while (given.length < request.limit) {
    const offers = passes.flatMap((share) => {
      const queue = queueOf(world, share.queue);
      const turn = gateOf(world, queue) === undefined ? offer(queue, worker) : undefined;
      return turn === undefined ? [] : [{ share, queue, turn }];
    });
    const best = offers.sort((one, other) => one.share.pass - other.share.pass)[0];
    if (best === undefined) return { given, stopped: left };
    const task = nextTask(world, best.queue, best.turn.person);
    if (task === undefined) throw new Error('a ready user has nothing queued');
    if (isExpired(world, task)) {
      giveUp(world, task);
      world.happened.push('expired at its turn');
      unknownNames += 1;
      if (unknownNames === UNKNOWN_NAMES) return { given, stopped: true };
      continue;
    }
    if (isAbandoned(world, task)) {
      note(world, task, 'canceled');
      end(world, task, { state: 'canceled', cause: { type: 'run-ended', run: task.owner ?? '' } });
      world.happened.push('orphan');
      unknownNames += 1;
      if (unknownNames === UNKNOWN_NAMES) return { given, stopped: true };
      continue;
    }
    const pauser = pauserOf(world, task);
    if (pauser !== undefined && !task.decides) {
      setAside(world, task, pauser);
      unknownNames += 1;
      if (unknownNames === UNKNOWN_NAMES) return { given, stopped: true };
      continue;
    }
    if (!worker.names.includes(task.name)) {
      park(world, task);
      unknownNames += 1;
      if (unknownNames === UNKNOWN_NAMES) return { given, stopped: true };
      continue;
    }
    const alone = task.losses >= LAST_CHANCE;
    if (alone && given.length > 0) return { given, stopped: true };
    given.push(start(world, { queue: best.queue, worker, turn: best.turn, request, task }));
    best.share.pass += 1 / best.share.weight;
    if (alone) return { given, stopped: true };
  }
  return { given, stopped: false };
}

/** What keeps a whole queue from giving anything: a moment, or `Infinity` until something ends. */
export function gateOf(world: World, queue: QueueEntry): number | undefined {
  const { paused, maxRunning, rate } = queue.settings;
  if (paused === true) return Number.POSITIVE_INFINITY;
  const running = tasksWhere(
    world,
    (task) => task.queue === queue.queue && task.state === 'started',
  ).length;
  if (maxRunning !== undefined && running >= maxRunning) return Number.POSITIVE_INFINITY;
  const allowed = rate === undefined ? 0 : rateAllows(rate, queue.tat);
  return allowed > world.now ? allowed : undefined;
}

function offer(queue: QueueEntry, worker: Worker): Turn | undefined {
  if (!isRestricted(worker)) return nextAmong(queue, readyPeople(queue));
  const stealing = rosterOf(queue, worker, 's');
  const firsts = [
    through(queue, rosterOf(queue, worker, 'a'), () => true),
    worker.steal === 'any'
      ? nextAmong(queue, unassigned(queue))
      : through(queue, stealing, (person) => !isAssigned(queue, person.user)),
  ].filter((turn) => turn !== undefined);
  const first = firsts.sort((one, other) => earlier(one.person, other.person))[0];
  if (first !== undefined) return first;
  const any = worker.steal === 'any' ? nextAmong(queue, readyPeople(queue)) : undefined;
  const second = any ?? through(queue, stealing, () => true);
  return second === undefined ? undefined : { ...second, stolen: true };
}

function through(
  queue: QueueEntry,
  roster: Roster | undefined,
  keep: (person: Person) => boolean,
): Turn | undefined {
  if (roster === undefined) return undefined;
  const person = readyPeople(queue)
    .filter((person) => roster.list.names.has(person.user) && keep(person))
    .sort(earlier)[0];
  return person === undefined ? undefined : { person, via: roster, v: queue.v, stolen: false };
}

/** Its lease says that its run is paused. */
export function tellsPause(world: World, task: Task): boolean {
  if (!task.decides || pauserOf(world, task) === undefined) return false;
  world.happened.push('leased to decide while paused');
  return true;
}

interface Start {
  readonly queue: QueueEntry;
  readonly worker: Worker;
  readonly turn: Turn;
  readonly request: LeaseRequest;
  readonly task: Task;
}

function start(world: World, { queue, worker, turn, request, task }: Start): Given {
  const { person } = turn;
  const timed = queue.settings.charge === 'time';
  const cost = timed ? expected(queue, person) : task.cost;
  task.charged = timed ? cost : undefined;
  charge(queue, turn, cost);
  const queued = ofUser(world, queue.queue, person.user).filter(inLine);
  levelServed(queue, person, { level: task.level, queued });
  task.chargedIn = queue.epoch;
  const { rate } = settingsOf(world, queue.queue, person.user);
  if (rate !== undefined) person.tat = Math.max(person.tat, world.now) + rate.perMs / rate.limit;
  const ours = queue.settings.rate;
  if (ours !== undefined) queue.tat = Math.max(queue.tat, world.now) + ours.perMs / ours.limit;
  if (turn.stolen) world.totals.stolen += 1;
  note(world, task, 'leased');
  task.state = 'started';
  task.expiresAt = undefined;
  task.expiresInMs = undefined;
  task.tokenNumber = Math.max(task.tokenNumber + 1, world.now * 1_000);
  const token = `${task.tokenNumber}-${request.requestId}`;
  task.lease = {
    token,
    worker: worker.id,
    leasedAt: world.now,
    until: world.now + (queue.settings.leaseMs ?? request.leaseMs),
  };
  task.lastLease = task.lease;
  refresh(world, task.queue, task.user);
  const alone = task.losses >= LAST_CHANCE;
  return {
    task,
    token,
    alone,
    upstreams: upstreamsOf(world, task),
    paused: tellsPause(world, task),
  };
}
