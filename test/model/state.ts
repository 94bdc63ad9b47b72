/** The whole visible state of a backend, and what the oracle says that it must be. */
import type {
  Backend,
  QueueInfo,
  ScheduleRecord,
  Stats,
  UserInfo,
  WorkerInfo,
} from '../../src/domain/port/backend.ts';
import type { TaskRecord, TaskStatus } from '../../src/domain/task/task.ts';
import type { Oracle } from './oracle/oracle.ts';
import type { WorkerFacts } from './oracle/view.ts';
import { byBytes } from './oracle/world.ts';
import { mustBeSame } from './same.ts';
import { QUEUES, USERS } from './steps.ts';

export interface State {
  /** Of every id that was ever used, in that order. */
  readonly records: readonly (TaskRecord | undefined)[];
  /** The same of the call that asks for less. */
  readonly status: readonly (TaskStatus | undefined)[];
  /** Of every user in every queue; who has nothing is left out. */
  readonly users: readonly UserInfo[];
  /** Names of those in each queue that have work or settings, as the listing tells them. */
  readonly listed: readonly (readonly string[])[];
  readonly queues: readonly QueueInfo[];
  readonly stats: Stats;
  readonly schedules: readonly ScheduleRecord[];
  readonly workers: readonly WorkerFacts[];
}

/** Tags are sums of fractions; a backend may add them in another order. */
const DIGITS = 1e6;

const PLACES = QUEUES.flatMap((queue) => USERS.map((user) => ({ queue, user })));

export async function stateOf(backend: Backend, ids: readonly string[]): Promise<State> {
  const [records, status, users, listed, queues, stats, schedules, workers] = await Promise.all([
    backend.inspect.get(ids),
    backend.inspect.status(ids),
    Promise.all(PLACES.map(({ user, queue }) => backend.users.get(user, queue))),
    Promise.all(QUEUES.map((queue) => namesListed(backend, queue))),
    Promise.all(QUEUES.map((queue) => backend.queues.get(queue))),
    backend.inspect.stats(),
    backend.schedules.list({ limit: 10 }),
    backend.workers.list(),
  ]);
  return {
    records,
    status,
    users: users.flatMap((user) => shownUser(user) ?? []),
    listed,
    queues: queues.flatMap((queue) => shownQueue(queue) ?? []),
    stats,
    schedules: schedules.items,
    workers: workers.map(workerFacts).sort((one, other) => (one.id < other.id ? -1 : 1)),
  };
}

export function expectedState(oracle: Oracle, ids: readonly string[]): State {
  return {
    records: ids.map((id) => oracle.record(id)),
    status: ids.map((id) => ownerStateOf(oracle.record(id))),
    users: PLACES.map(({ user, queue }) => oracle.user(user, queue))
      .filter(isBusy)
      .map(rounded),
    listed: QUEUES.map((queue) =>
      USERS.map((user) => oracle.user(user, queue))
        .filter((user) => isBusy(user) || isConfigured(user))
        .map(({ user }) => user)
        .sort(byBytes),
    ),
    queues: QUEUES.map((queue) => oracle.queue(queue)).filter(isUsed),
    stats: oracle.stats(),
    schedules: oracle.schedules(),
    workers: oracle.workers(),
  };
}

export function compareStates(actual: State, expected: State): void {
  mustBeSame(actual.records, expected.records);
  mustBeSame(actual.status, expected.status);
  mustBeSame(actual.users, expected.users);
  mustBeSame(actual.listed, expected.listed);
  mustBeSame(actual.queues, expected.queues);
  mustBeSame(actual.stats, expected.stats);
  mustBeSame(actual.schedules, expected.schedules);
  mustBeSame(actual.workers, expected.workers);
}

function ownerStateOf(record: TaskRecord | undefined): TaskStatus | undefined {
  if (record === undefined) return undefined;
  const { state, result, error, cause } = record;
  const status: Record<keyof TaskStatus, unknown> = { state, result, error, cause };
  return status as TaskStatus;
}

/** A user as far as every backend shows the same. */
export function shownUser(user: UserInfo | undefined): UserInfo | undefined {
  return user !== undefined && isBusy(user) ? rounded(user) : undefined;
}

/** A queue likewise. */
export function shownQueue(queue: QueueInfo | undefined): QueueInfo | undefined {
  return queue !== undefined && isUsed(queue) ? queueInfo(queue) : undefined;
}

/** A user without work may be known or not: that is the backend's own affair. */
function isBusy(user: UserInfo): boolean {
  return user.queued + user.running + user.later > 0;
}

/** Something is said of it, in this queue or for all. */
function isConfigured({ origins }: UserInfo): boolean {
  return Object.values(origins).some((origin) => origin === 'user' || origin === 'user-in-queue');
}

/** Two on a page, so that pages are turned within those that have work and those that have none. */
async function namesListed(backend: Backend, queue: string): Promise<readonly string[]> {
  const names: string[] = [];
  let cursor: string | undefined;
  do {
    const request = cursor === undefined ? { limit: 2 } : { limit: 2, cursor };
    const page = await backend.users.list(queue, request, { configured: true });
    const shown = page.items.filter((user) => isBusy(user) || isConfigured(user));
    names.push(...shown.map(({ user }) => user));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return names;
}

/** The fields of the port; a backend may add its own. */
function queueInfo(info: QueueInfo): QueueInfo {
  const { queue, settings, counts, deadLetters, readyUsers, runnable } = info;
  return { queue, settings, counts, deadLetters, readyUsers, runnable };
}

function workerFacts(info: WorkerInfo): WorkerFacts {
  const { id, startedAt, lastSeenAt, running, attempts } = info;
  return { id, startedAt, lastSeenAt, running, attempts };
}

/** Likewise a queue that has no tasks and no settings. */
function isUsed({ counts, settings }: QueueInfo): boolean {
  const tasks = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return tasks > 0 || Object.keys(settings).length > 0;
}

function rounded(user: UserInfo): UserInfo {
  // Being behind means nothing for one who is not in line: it enters at the queue's own time.
  const ahead = user.ready ? user.ahead : Math.max(0, user.ahead);
  return { ...user, ahead: Math.round(ahead * DIGITS) / DIGITS + 0 };
}
