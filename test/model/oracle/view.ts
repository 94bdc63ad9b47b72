/** The world as the port shows it. */

import type {
  AttemptSettings,
  QueueSettings,
  SettingOrigin,
  UserSettings,
} from '../../../src/domain/fairness/settings.ts';
import type {
  Leased,
  QueueInfo,
  Stats,
  UserInfo,
  WorkerInfo,
} from '../../../src/domain/port/backend.ts';
import {
  type AttemptRecord,
  TASK_STATES,
  type TaskRecord,
  type TaskState,
} from '../../../src/domain/task/task.ts';
import { begins, headroom, readyPeople } from './fairness.ts';
import { isDeadLetter } from './graph.ts';
import { type Given, gateOf } from './lease.ts';
import { SILENCE_MS } from './upkeep.ts';
import {
  byBytes,
  inLine,
  ofUser,
  queueOf,
  settingsOf,
  type Task,
  tasksWhere,
  unmetOf,
  type World,
} from './world.ts';

export function recordOf(task: Task): TaskRecord {
  const { lease } = task;
  return defined({
    id: task.id,
    name: task.name,
    queue: task.queue,
    user: task.user,
    level: task.level,
    cost: task.cost,
    payload: task.payload,
    options: task.options,
    state: task.state,
    createdAt: task.createdAt,
    failures: task.failures,
    losses: task.losses,
    releases: task.releases,
    dependsOn: [...task.edges.keys()],
    blockedBy:
      task.state === 'finished' || task.state === 'canceled'
        ? []
        : [...unmetOf(task)].sort(byBytes),
    cancelRequested: task.cancelCause !== undefined,
    dueAt: task.dueAt,
    expiresAt: task.expiresAt,
    token: lease?.token,
    worker: lease?.worker,
    leasedAt: lease?.leasedAt,
    leaseUntil: lease?.until,
    endedAt: task.endedAt,
    cause: task.cause,
    error: task.error,
    result: task.result,
    idempotencyKey: task.key,
    paused: task.pause,
  });
}

/** A field without a value is as good as absent in a comparison. */
function defined<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  return value as T;
}

export function leasedOf(world: World, { task, token, alone, upstreams, paused }: Given): Leased {
  const record = recordOf(task);
  return {
    id: task.id,
    token,
    attempt: task.failures + 1,
    losses: task.losses,
    leaseUntil: record.leaseUntil ?? 0,
    leasedAt: record.leasedAt ?? 0,
    createdAt: task.createdAt,
    name: task.name,
    queue: task.queue,
    user: task.user,
    level: task.level,
    payload: task.payload,
    options: task.options,
    releases: task.releases,
    alone,
    upstreams,
    ...(paused ? { paused: true } : {}),
    ...attemptSettingsOf(world.queues.get(task.queue)?.settings),
  };
}

/** What the queue says of attempts, as the lease tells it. */
function attemptSettingsOf(settings: QueueSettings = {}): Pick<Leased, 'attemptSettings'> {
  const { retries, timeoutMs } = settings;
  if (retries === undefined && timeoutMs === undefined) return {};
  return { attemptSettings: defined<AttemptSettings>({ retries, timeoutMs }) };
}

/** A success is told from the record while nothing worse has been kept; a join has none. */
export function attemptsOf(task: Task): readonly AttemptRecord[] {
  if (task.attempts.length > 0 || task.state !== 'finished') return task.attempts;
  if (task.lastLease === undefined) return [];
  const { worker, leasedAt } = task.lastLease;
  const { endedAt = 0 } = task;
  return [{ attempt: 1, worker, leasedAt, endedAt, outcome: 'succeeded', decision: 'finish' }];
}

export function userInfoOf(world: World, queueName: string, user: string): UserInfo {
  const queue = queueOf(world, queueName);
  const person = queue.people.get(user);
  const mine = ofUser(world, queueName, user);
  const inState = (...states: readonly TaskState[]): Task[] =>
    mine.filter((task) => states.includes(task.state));
  const queued = inState('queued');
  const parked = queued.filter((task) => !inLine(task));
  const current = person !== undefined && person.epoch === queue.epoch;
  return {
    user,
    queue: queueName,
    settings: settingsOf(world, queueName, user),
    origins: {
      weight: originOf(world, { queue: queueName, user, field: 'weight' }),
      maxRunning: originOf(world, { queue: queueName, user, field: 'maxRunning' }),
      maxQueued: originOf(world, { queue: queueName, user, field: 'maxQueued' }),
      rate: originOf(world, { queue: queueName, user, field: 'rate' }),
      paused: originOf(world, { queue: queueName, user, field: 'paused' }),
    },
    queued: queued.length,
    ...(parked.length === 0 ? {} : { parked: parked.length }),
    levels: [1, 2, 3, 4, 5, 6].map((level) => queued.filter((task) => task.level === level).length),
    running: inState('started').length,
    later: inState('scheduled', 'deferred').length,
    ready: person?.ready === true,
    ahead: current ? begins(person) - queue.v : 0,
  };
}

/** Who says what this setting is: the nearest that says anything. */
function originOf(
  world: World,
  of: { readonly queue: string; readonly user: string; readonly field: keyof UserSettings },
): SettingOrigin {
  const { queue, user, field } = of;
  if (world.own.get(JSON.stringify([queue, user]))?.[field] !== undefined) return 'user-in-queue';
  if (world.everywhere.get(user)?.[field] !== undefined) return 'user';
  if (world.queues.get(queue)?.settings.perUser?.[field] !== undefined) return 'queue';
  return 'built-in';
}

export function queueInfoOf(world: World, queueName: string): QueueInfo {
  const queue = queueOf(world, queueName);
  return {
    queue: queueName,
    settings: queue.settings,
    counts: countsOf(tasksOf(world, queueName)),
    deadLetters: tasksOf(world, queueName).filter(isDeadLetter).length,
    readyUsers: readyPeople(queue).length,
    runnable: runnableOf(world, queueName),
  };
}

function tasksOf(world: World, queue: string): readonly Task[] {
  return [...world.tasks.values()].filter((task) => task.queue === queue);
}

/** How many slots would start a task at once: nothing while the queue itself is closed. */
export function runnableOf(world: World, queueName: string): number {
  const queue = queueOf(world, queueName);
  if (gateOf(world, queue) !== undefined) return 0;
  const sum = readyPeople(queue).reduce(
    (total, { user }) => total + headroom(world, queueName, user),
    0,
  );
  const { maxRunning } = queue.settings;
  const running = tasksWhere(world, (task) => task.queue === queueName && task.state === 'started');
  return Math.min(sum, (maxRunning ?? Number.POSITIVE_INFINITY) - running.length);
}

/** Of a worker what the port must say, beside what it said itself. */
export type WorkerFacts = Pick<
  WorkerInfo,
  'id' | 'startedAt' | 'lastSeenAt' | 'running' | 'attempts'
>;

export function workersOf(world: World): readonly WorkerFacts[] {
  return [...world.workers.values()]
    .filter(({ seenAt }) => Math.abs(world.now - seenAt) <= SILENCE_MS)
    .map(({ id, startedAt, seenAt, attempts }) => ({
      id,
      startedAt,
      lastSeenAt: seenAt,
      running: [...world.tasks.values()].filter(({ lease }) => lease?.worker === id).length,
      attempts: { ...attempts },
    }))
    .sort((one, other) => byBytes(one.id, other.id));
}

export function statsOf(world: World): Stats {
  return { counts: countsOf([...world.tasks.values()]), totals: { ...world.totals } };
}

function countsOf(tasks: readonly Task[]): Record<TaskState, number> {
  const counts = TASK_STATES.map((state): [TaskState, number] => [
    state,
    tasks.filter((task) => task.state === state).length,
  ]);
  return Object.fromEntries(counts) as Record<TaskState, number>;
}
