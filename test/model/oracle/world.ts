/**
 * What the oracle knows: plain records in plain maps. All that can be counted is counted when it
 * is asked for, by walking over all tasks, so that nothing here can drift.
 */

import type { RateLimit } from '../../../src/domain/fairness/rate-limit.ts';
import type {
  QueueSettings,
  Retention,
  UserSettings,
} from '../../../src/domain/fairness/settings.ts';
import type { EventSource, OverlapPolicy, SlotMoment } from '../../../src/domain/port/schedule.ts';
import type { AskClosing, AskRecord, GivenAnswer } from '../../../src/domain/task/ask.ts';
import type { Cause } from '../../../src/domain/task/cause.ts';
import type { RunPause } from '../../../src/domain/task/pause.ts';
import type {
  AttemptRecord,
  EdgePolicies,
  EndState,
  Level,
  TaskState,
} from '../../../src/domain/task/task.ts';
import type { TaskEvent } from '../../../src/domain/task/transition.ts';
import type { SignalMessage, Wait, WaitEvent } from '../../../src/domain/task/wait.ts';
import type { Channels } from './channels.ts';
import type { Pushed } from './xcom.ts';

/**
 * How B stands to one of its dependencies. `stuck`: it ended badly, or is missing, and B waits.
 * `absent`: it was missing and B went on, so there is nothing to read.
 */
export type Edge = 'unmet' | 'stuck' | 'met' | 'absent';

export interface Lease {
  readonly token: string;
  readonly worker: string;
  readonly leasedAt: number;
  until: number;
}

export interface Task {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly user: string;
  readonly level: Level;
  readonly cost: number;
  payload: string;
  readonly firstPayload: string;
  options: string;
  state: TaskState;
  readonly createdAt: number;
  failures: number;
  losses: number;
  releases: number;
  /** While it is parked: when a sweep looks whether a live worker knows its name. */
  parkedUntil: number | undefined;
  /** Place in its user's line; none before it was ever queued. */
  seq: number | undefined;
  dueAt: number | undefined;
  expiresAt: number | undefined;
  /** Until its first lease, if that time begins with its release. */
  expiresInMs: number | undefined;
  /** While an edge is stuck: when it stops waiting. */
  waitUntil: number | undefined;
  lease: Lease | undefined;
  /** The newest lease, also when it is over. */
  lastLease: Lease | undefined;
  /** Number of its newest token. */
  tokenNumber: number;
  settledBy: string | undefined;
  settledBefore: Set<string>;
  /** A cancel was requested while it was started; why, by the first request. */
  cancelCause: Cause | undefined;
  endedAt: number | undefined;
  /** How many were stored before it, and how many had ended. */
  readonly order: number;
  endOrder: number;
  cause: Cause | undefined;
  error: string | undefined;
  result: string | undefined;
  readonly edges: Map<string, Edge>;
  readonly policies: EdgePolicies;
  readonly join: boolean;
  /** The run that it is a member of. */
  readonly owner: string | undefined;
  readonly graph: string | undefined;
  /** Whom it was suspended for last: those that it waits for, and those that it reads. */
  awaited: Map<string, 'unmet' | 'met'>;
  wakeOn: 'all' | 'failure';
  /** While it is suspended: when it goes on in any case. */
  wakeAt: number | undefined;
  /** The token of the lease that it was suspended under, while its handler may speak by it. */
  attendedBy: string | undefined;
  /** Its newest settlement was a suspension after which it decides: a pause does not hold it. */
  decides: boolean;
  /** While it is suspended: what it waits for that is no task. */
  wait: Wait | undefined;
  /** When that began. */
  waitsSince: number;
  /** Of an event: how many there had been then. */
  eventsBefore: number;
  /** What it has asked, by mark. */
  readonly asks: Map<string, Asked>;
  /** Signals to it that no wait has taken, oldest first. */
  signals: readonly SignalMessage[];
  /** Ids of signals to it. */
  signalIds: readonly string[];
  /** It is a run, and paused. */
  pause: RunPause | undefined;
  /** The run whose pauses hold it, in place of its owner. */
  pausedBy: string | undefined;
  /** It was set aside: the run whose pause holds it. */
  asideFor: string | undefined;
  /** What was written down on its behalf. */
  readonly journal: Map<string, string>;
  /** What its members share. */
  channels: Channels | undefined;
  /** Of its newest checkpoint that wrote to channels: token and name. */
  newestWrites: string | undefined;
  readonly key: string | undefined;
  /** In which epoch its latest turn was charged, to be given back by a release. */
  chargedIn: number | undefined;
  /** … and what, in seconds, where time is charged. */
  charged: number | undefined;
  attempts: AttemptRecord[];
}

/** A question of a task. */
export interface Asked {
  readonly record: AskRecord;
  /** Absent while it is open. */
  readonly closing: AskClosing | undefined;
  /** The answer that counted. */
  readonly given: GivenAnswer | undefined;
}

/** What was published at one place. */
export interface Published {
  readonly number: number;
  readonly at: number;
  readonly event: WaitEvent;
}

/** A snapshot that is or was stored. */
export interface Snapshot {
  readonly body: string;
  /** When it goes, or went, unless a task needs it. */
  until: number;
}

/** An idempotency key of one user in one queue. */
export interface Key {
  owner: string;
  firstPayload: string;
  /** Holds until then, also when the owner has ended; without it, until the owner has ended. */
  readonly until: number | undefined;
  /** When the present window began, of a key that gathers calls. */
  readonly began: number | undefined;
  absorbed: string[];
  follower: string | undefined;
  /** When the owner ended, for resends of absorbed ids. */
  endedAt: number | undefined;
  /** How it ended, once it is forgotten while the key still holds for its time. */
  gone: EndState | undefined;
}

/** One user in one queue. */
export interface Person {
  readonly user: string;
  /** In grains of its own turns: see fairness.ts. */
  tag: number;
  epoch: number;
  ready: boolean;
  /** In which epoch it counts although it is not ready, since it left ahead; -1 for none. */
  lingersIn: number;
  /** The weight that it counts with, or did when it was ready last: the tag is in its turns. */
  weight: number;
  seq: number;
  tat: number;
  /** Mean time that its leases were held, in seconds; of those that are charged by time. */
  meanRun: number | undefined;
  levels: { waited: number[]; criticalRun: number };
}

export interface QueueEntry {
  readonly queue: string;
  v: number;
  epoch: number;
  tat: number;
  meanRun: number | undefined;
  settings: QueueSettings;
  readonly people: Map<string, Person>;
  /** By weight of those who are ready: where the one stands that came last. */
  readonly lasts: Map<number, number>;
  readonly lists: Map<string, List>;
  /** Of what is parked, by the JSON of [name, level, user]: when it was its turn last to come back. */
  readonly rotation: Map<string, number>;
  rotations: number;
}

/** A distinct list of users that some worker serves first, or may steal from. */
export interface List {
  readonly kind: 'a' | 's';
  readonly names: ReadonlySet<string>;
  clock: number;
}

/** A schedule, and its tasks that had not ended when the newest of them was made. */
export interface Schedule {
  readonly id: string;
  readonly revision: number;
  readonly spec: string;
  readonly paused: boolean;
  readonly overlap: OverlapPolicy;
  readonly limit: number | undefined;
  readonly graph: string | undefined;
  next: SlotMoment | undefined;
  readonly on: EventSource | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  fired: number;
  missed: number;
  overlapped: number;
  settledSlot: number | undefined;
  last: { readonly slot: number; readonly id: string } | undefined;
  active: readonly string[];
}

export interface Worker {
  readonly id: string;
  queues: readonly string[];
  names: readonly string[];
  assigned: readonly string[] | undefined;
  steal: 'any' | readonly string[] | undefined;
  startedAt: number;
  /** How those that it held came out since then. */
  attempts: { succeeded: number; failed: number; lost: number };
  seenAt: number;
  /** False once it was silent so long that its lists no longer count on it. */
  listed: boolean;
  request: { readonly id: string; readonly leases: readonly { id: string; token: string }[] };
}

export type Totals = Record<
  'enqueued' | 'finished' | 'failed' | 'deadLetters' | 'canceled' | 'retried' | 'lost' | 'stolen',
  number
>;

export interface World {
  /** What the clock of the backend shows. */
  clock: number;
  /** The moment of the step in hand. */
  now: number;
  seen: number;
  sweepAfter: number;
  /** The clock went back, and users who wait for their rate have not been looked at since. */
  hasGoneBack: boolean;
  readonly retention: Retention;
  /** No record goes before: a minute where a resend may come late, else a second. */
  readonly leastKeptMs: number;
  /** Tasks that were stored, and that have ended, ever since. */
  arrivals: number;
  endings: number;
  readonly tasks: Map<string, Task>;
  /** By hash, also those whose time is over. */
  readonly graphs: Map<string, Snapshot>;
  /** By the JSON of [user, namespace, key]; also those whose time is over. */
  readonly values: Map<string, Pushed>;
  /** Those of them that were over once. */
  readonly over: Set<string>;
  /** By the JSON of [user, name, key]: the newest events, oldest first. */
  readonly events: Map<string, readonly Published[]>;
  /** By the JSON of [queue, user, key]. */
  readonly keys: Map<string, Key>;
  readonly queues: Map<string, QueueEntry>;
  readonly everywhere: Map<string, UserSettings>;
  /** By the JSON of [queue, user]. */
  readonly own: Map<string, UserSettings>;
  readonly workers: Map<string, Worker>;
  /** By name: when a worker that knew it said that it goes. */
  readonly announced: Map<string, number>;
  readonly schedules: Map<string, Schedule>;
  /** Who fires them, until when unless it says more, and how many there were. */
  readonly scheduler: { owner: string | undefined; until: number; fence: number };
  readonly totals: Totals;
  /** Ended in this step, their dependents not yet looked at. */
  cascade: Task[];
  /** Every transition so far, as `state:event`; the reader empties it. */
  readonly happened: string[];
  /** Users looked at in this step, by the JSON of [queue, user]. */
  readonly touched: Set<string>;
}

export function newWorld(clock: number, retention: Retention, leastKeptMs: number): World {
  return {
    clock,
    now: clock,
    seen: 0,
    sweepAfter: 0,
    hasGoneBack: false,
    retention,
    leastKeptMs,
    arrivals: 0,
    endings: 0,
    tasks: new Map(),
    graphs: new Map(),
    values: new Map(),
    events: new Map(),
    over: new Set(),
    keys: new Map(),
    queues: new Map(),
    everywhere: new Map(),
    own: new Map(),
    workers: new Map(),
    announced: new Map(),
    schedules: new Map(),
    scheduler: { owner: undefined, until: 0, fence: 0 },
    totals: {
      enqueued: 0,
      finished: 0,
      failed: 0,
      deadLetters: 0,
      canceled: 0,
      retried: 0,
      lost: 0,
      stolen: 0,
    },
    cascade: [],
    happened: [],
    touched: new Set(),
  };
}

/** Writes down that this happens to a task in the state that it is in. */
export function note(world: World, task: Task, event: TaskEvent): void {
  world.happened.push(`${task.state}:${event}`);
}

export function queueOf(world: World, queueName: string): QueueEntry {
  const known = world.queues.get(queueName);
  if (known !== undefined) return known;
  const queue: QueueEntry = {
    queue: queueName,
    v: 0,
    epoch: 0,
    tat: 0,
    meanRun: undefined,
    settings: {},
    people: new Map(),
    lasts: new Map(),
    lists: new Map(),
    rotation: new Map(),
    rotations: 0,
  };
  world.queues.set(queueName, queue);
  return queue;
}

export function personOf(queue: QueueEntry, user: string): Person {
  const known = queue.people.get(user);
  if (known !== undefined) return known;
  const levels = { waited: [0, 0, 0, 0, 0], criticalRun: 0 };
  const person: Person = {
    user,
    tag: 0,
    epoch: 0,
    ready: false,
    lingersIn: -1,
    weight: 100,
    seq: 0,
    tat: 0,
    meanRun: undefined,
    levels,
  };
  queue.people.set(user, person);
  return person;
}

export function tasksWhere(world: World, keep: (task: Task) => boolean): Task[] {
  return [...world.tasks.values()].filter(keep);
}

export function ofUser(world: World, queue: string, user: string): Task[] {
  return tasksWhere(world, (task) => task.queue === queue && task.user === user);
}

/** It is queued, and any worker that comes to its user may come to it. */
export function inLine(task: Task): boolean {
  return task.state === 'queued' && task.parkedUntil === undefined;
}

export function ended(task: Task): task is Task & { state: EndState } {
  return task.state === 'finished' || task.state === 'failed' || task.state === 'canceled';
}

/** Who still waits for this id, oldest first. */
export function waitersOf(world: World, id: string): Task[] {
  return waitersFor(world, id, world.tasks.get(id)?.user);
}

/** Who would wait for a task of this id, if it were this user's. */
export function waitersFor(world: World, id: string, user: string | undefined): Task[] {
  const waiting = (task: Task): boolean =>
    !ended(task) &&
    ((blocks(task.edges.get(id) ?? 'met') && leads(task, user)) ||
      task.awaited.get(id) === 'unmet');
  return tasksWhere(world, waiting).sort((one, other) => one.order - other.order);
}

/** Who was satisfied by this task and may yet read its result: not ended, failed, or a join. */
export function readersOf(world: World, id: string): Task[] {
  const reads = (task: Task): boolean =>
    (task.edges.get(id) === 'met' || task.awaited.get(id) === 'met') &&
    (!ended(task) || task.state === 'failed' || task.join);
  return tasksWhere(world, reads);
}

/** Whether an edge of a task may lead to one of this user; of a task whose user is not known, to none. */
export function leads(
  { user, policies }: Pick<Task, 'user' | 'policies'>,
  other: string | undefined,
): boolean {
  return other === undefined || policies.allowCrossUser || user === other;
}

/** The task that a dependency is, or none: of another user's it is as if it were not there. */
export function sourceOf(world: World, task: Task, id: string): Task | undefined {
  const source = world.tasks.get(id);
  return source !== undefined && leads(task, source.user) ? source : undefined;
}

export function isBlocked(task: Task): boolean {
  return task.wait !== undefined || unmetOf(task).length > 0;
}

/** Whom it waits for, as a dependency or because it is suspended. */
export function unmetOf(task: Task): readonly string[] {
  const ids = [
    ...[...task.edges].filter(([, edge]) => blocks(edge)),
    ...[...task.awaited].filter(([, edge]) => edge === 'unmet'),
  ].map(([id]) => id);
  return [...new Set(ids)];
}

export function blocks(edge: Edge): boolean {
  return edge === 'unmet' || edge === 'stuck';
}

/** The settings in force for a user of a queue, field by field. */
export function settingsOf(world: World, queue: string, user: string): UserSettings {
  const own = world.own.size > 0 ? world.own.get(JSON.stringify([queue, user])) : undefined;
  return {
    ...world.queues.get(queue)?.settings.perUser,
    ...world.everywhere.get(user),
    ...own,
  };
}

/** The first whole millisecond at which the rate lets another one start. */
export function rateAllows(rate: RateLimit, tat: number): number {
  const interval = rate.perMs / rate.limit;
  return Math.floor(tat - (rate.burst - 1) * interval);
}

/** Starts up to now cannot have led further than this: what has is of a clock that went back. */
export function boundTat(rate: RateLimit, of: { tat: number }, now: number): void {
  of.tat = Math.min(of.tat, now + 1 + rate.burst * (rate.perMs / rate.limit));
}

/** Order of UTF-8 bytes. */
export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** A world of its own: what happens to it does not happen to the other. */
export function copyOf(world: World): World {
  const tasks = new Map(
    [...world.tasks].map(([id, task]): [string, Task] => [
      id,
      {
        ...task,
        edges: new Map(task.edges),
        awaited: new Map(task.awaited),
        journal: new Map(task.journal),
        asks: new Map(task.asks),
        lease: task.lease && { ...task.lease },
        settledBefore: new Set(task.settledBefore),
      },
    ]),
  );
  const queues = [...world.queues].map(([queueName, queue]): [string, QueueEntry] => [
    queueName,
    copyOfQueue(queue),
  ]);
  const keys = [...world.keys].map(([name, key]): [string, Key] => [name, { ...key }]);
  return {
    ...world,
    tasks,
    graphs: new Map([...world.graphs].map(([hash, graph]) => [hash, { ...graph }])),
    queues: new Map(queues),
    keys: new Map(keys),
    values: new Map(world.values),
    events: new Map(world.events),
    over: new Set(world.over),
    totals: { ...world.totals },
    // Those that have ended in this step, before what the copy is for.
    cascade: world.cascade.map((task) => tasks.get(task.id) ?? task),
    happened: [...world.happened],
    touched: new Set(world.touched),
  };
}

function copyOfQueue(queue: QueueEntry): QueueEntry {
  const people = [...queue.people].map(([user, person]): [string, Person] => [
    user,
    { ...person, levels: structuredClone(person.levels) },
  ]);
  const lists = [...queue.lists].map(([key, list]): [string, List] => [key, { ...list }]);
  return {
    ...queue,
    people: new Map(people),
    lasts: new Map(queue.lasts),
    lists: new Map(lists),
    rotation: new Map(queue.rotation),
  };
}
