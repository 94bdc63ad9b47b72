/** The built product on a counted server: filled lines, and a worker. */
import type {
  Backend,
  Decision,
  Leased,
  StreamLease,
  Suspension,
} from '../../src/domain/port/backend.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import { loadFairloomRedis } from '../kit/fairloom-package.ts';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import type { CountedRedis } from './counted-redis.ts';

export const QUEUE = 'default';
/** The name of all tasks. */
export const JOB = 'job';
const WORKER = 'worker-1';
const DAY_MS = 86_400_000;
/** Longer than any row takes. */
const LEASE_MS = 3_600_000;
/** Tasks of one filling call. */
const CHUNK = 250;
/** Calls of the worker before the count: scripts are loaded, tables have grown. */
const WARM_CALLS = 3;

const PAYLOAD = JSON.stringify(HUNDRED_BYTES);
const EDGES: NewTask['edges'] = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};
const FINISH: Decision = { type: 'finish', result: 'null' };

/** Fields for the `nth` task of a user. */
export type Fields = (user: number, nth: number) => Partial<NewTask>;

export interface Filling {
  readonly users: number;
  /** Tasks of each. */
  readonly each: number;
  readonly fields?: Fields;
}

export interface Work {
  /** Tasks that a call settles and leases. */
  readonly batch: number;
  /** How many, after which the counting ends. */
  readonly tasks: number;
  readonly decision?: Decision | Suspension;
  /** Counted too, when the last one is settled. */
  readonly after?: () => Promise<void>;
}

/** An empty namespace of the built product. */
export async function openQueue(redis: CountedRedis, finishedMs = DAY_MS): Promise<Backend> {
  await redis.flush();
  const backend = (await loadFairloomRedis()).redis(redis.url);
  await backend.open({ retention: { finishedMs, failedMs: DAY_MS, canceledMs: DAY_MS } });
  // A server loads a script with its first call, which costs as much as hundreds of tasks.
  await backend.tasks.tick();
  await backend.inspect.get([idOf(0, 0)]);
  return backend;
}

/** As a client makes it; the id has the length of a UUID. */
export function newTask(user: number, nth: number, fields: Partial<NewTask> = {}): NewTask {
  return {
    id: idOf(user, nth),
    name: JOB,
    queue: QUEUE,
    user: userOf(user),
    level: 3,
    cost: 1,
    payload: PAYLOAD,
    options: '',
    dependsOn: [],
    edges: EDGES,
    ...fields,
  };
}

export function userOf(user: number): string {
  return `user-${user}`;
}

export function idOf(user: number, nth: number): string {
  return `${digits(user, 8)}-0000-7000-8000-${digits(nth, 12)}`;
}

/** Stores tasks of all users in turn. */
export async function fill(backend: Backend, { users, each, fields }: Filling): Promise<void> {
  let chunk: NewTask[] = [];
  for (let nth = 0; nth < each; nth++) {
    for (let user = 0; user < users; user++) {
      chunk.push(newTask(user, nth, fields?.(user, nth)));
      if (chunk.length < CHUNK) continue;
      await store(backend, chunk);
      chunk = [];
    }
  }
  await store(backend, chunk);
}

/** Each on its own, as far as a call allows. */
export async function store(backend: Backend, tasks: readonly NewTask[]): Promise<void> {
  const replies = await backend.tasks.enqueue(tasks, { atomic: false });
  const other = replies.find(({ kind }) => kind !== 'created');
  if (other !== undefined) throw new TypeError(`a task was not stored: ${JSON.stringify(other)}`);
}

/** A lease of one task, which stays in force. */
export async function leaseOne(backend: Backend): Promise<StreamLease> {
  const spec = { queues: [QUEUE], names: [JOB], concurrency: 1, host: 'bench' };
  await backend.workers.register({ id: WORKER, ...spec });
  const [leased] = (await backend.tasks.lease(leaseRequest(1, 0))).leases;
  if (leased === undefined) throw new Error('nothing was leased');
  return { id: leased.id, token: leased.token, worker: WORKER };
}

/** The cost of a worker's calls that settle the leases of the call before: instructions for each task. */
export async function work(redis: CountedRedis, backend: Backend, order: Work): Promise<number> {
  const { batch, tasks, decision = FINISH, after } = order;
  const spec = { queues: [QUEUE], names: [JOB], concurrency: batch, host: 'bench' };
  await backend.workers.register({ id: WORKER, ...spec });
  let leased: readonly Leased[] = [];
  let calls = 0;
  const next = async (): Promise<void> => {
    const lease = leaseRequest(batch, calls++);
    const settlements = leased.map(({ id, token }) => ({ id, token, decision }));
    const reply =
      leased.length === 0
        ? await backend.tasks.lease(lease)
        : (await backend.tasks.settle({ worker: WORKER, settlements, lease })).lease;
    leased = reply?.leases ?? [];
    if (leased.length < batch)
      throw new Error(`a call leased ${leased.length} instead of ${batch}`);
  };
  for (let call = 0; call < WARM_CALLS; call++) await next();
  await redis.rest();
  let settled = 0;
  const instructions = await redis.count(async () => {
    for (; settled < tasks; settled += batch) await next();
    await after?.();
  });
  return instructions / settled;
}

/** How many have ended at the end of the count, including those before. */
export function settledBy({ batch, tasks }: Work): number {
  return tasks + (WARM_CALLS - 1) * batch;
}

/** The number of tasks of each user, so that the lines last one batch longer than the count. */
export function eachFor({ batch, tasks }: Work, users: number): number {
  return Math.max(2, Math.ceil((tasks + (WARM_CALLS + 2) * batch) / users) + 1);
}

/** Runs everything that is due. */
export async function tickAll(backend: Backend): Promise<void> {
  while ((await backend.tasks.tick()).more);
}

function leaseRequest(limit: number, nth: number): Parameters<Backend['tasks']['lease']>[0] {
  return {
    requestId: `0123456789abcdef${nth.toString(36).padStart(6, '0')}`,
    worker: WORKER,
    limit,
    leaseMs: LEASE_MS,
    queues: [{ queue: QUEUE, weight: 1, pass: 0 }],
    wait: false,
  };
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0');
}
