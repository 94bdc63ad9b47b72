/** Shared parts of the rows about the longest scripts: a server, a backend whose scripts are timed, tasks. */
import type { Backend, Decision, Leased } from '../../src/domain/port/backend.ts';
import type { NewTask } from '../../src/domain/task/task.ts';
import type { BenchContext, Figures } from './bench.ts';
import { loadFairloomRedis } from './fairloom-package.ts';
import { type TimedClient, timedClient } from './script-times.ts';
import { inQueues } from './stored-tasks.ts';

/** Runs of each case; the least counts, which the machine disturbed least. */
const ROUNDS = 3;
/** Tasks of one call that depend on others. */
const BATCH = 500;

const EDGES: NewTask['edges'] = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: true,
};

export interface ScriptHarness {
  /** Its scripts are timed. */
  readonly backend: Backend;
  /** Another connection, which is not timed. */
  readonly fill: Backend;
  size(full: number): number;
  /** Records the longest script of repeatable work, or (`once`) of work that is not repeatable. */
  time(name: string, act: () => Promise<unknown>, once?: 'once'): Promise<void>;
}

/** Of all cases of a group. */
export const LONGEST = 'longest';

export function metricOf(group: string, name: string): string {
  return `${group}.${name}`;
}

/** One round of some cases on an empty server. */
export async function timedCases(
  context: BenchContext,
  name: string,
  cases: (harness: ScriptHarness) => Promise<void>,
): Promise<Figures> {
  const [server, { redis }] = await Promise.all([context.redis(), loadFairloomRedis()]);
  await server.flush();
  const timed: TimedClient = timedClient(server.url);
  const [backend, fill] = [redis(timed.client), redis(server.url)];
  const figures: Record<string, number> = {};
  const harness: ScriptHarness = {
    backend,
    fill,
    size: (full) => Math.max(1, context.size(full)),
    time: async (what, act, once) => {
      const rounds: number[] = [];
      for (let round = 0; round < (once === undefined ? ROUNDS : 1); round++) {
        rounds.push(await timed.longest(act));
      }
      figures[metricOf(name, what)] = Math.min(...rounds);
    },
  };
  try {
    await backend.users.list('default', { limit: 1 });
    await cases(harness);
    const longest = Math.max(...Object.values(figures));
    return { ...figures, [metricOf(name, LONGEST)]: longest };
  } finally {
    await Promise.all([backend.close(), fill.close()]);
    timed.close();
    await server.flush();
  }
}

export function newTask(id: string, user: string, fields: Partial<NewTask> = {}): NewTask {
  const place = { id, name: 'noop', queue: 'default', user, level: 3, cost: 1 } as const;
  return { ...place, payload: '{}', options: '', dependsOn: [], edges: EDGES, ...fields };
}

/** This many tasks that wait for one, of a thousand users. */
export async function addDependents(
  { fill, size }: ScriptHarness,
  on: string,
  full: number,
  edges: Partial<NewTask['edges']> = {},
): Promise<void> {
  await inQueues(Math.ceil(size(full) / BATCH), async (batch) => {
    const tasks = Array.from({ length: BATCH }, (_, i) => {
      const at = batch * BATCH + i;
      const fields = { dependsOn: [on], edges: { ...EDGES, ...edges } };
      return newTask(`${on}.${at}`, `user-${at % 1_000}`, fields);
    });
    await fill.tasks.enqueue(tasks, { atomic: false });
  });
}

let requests = 0;

export async function lease(
  backend: Backend,
  worker: string,
  limit: number,
): Promise<readonly Leased[]> {
  requests++;
  const { leases } = await backend.tasks.lease({
    ...{ requestId: `longest-${requests}`, worker, limit, leaseMs: 3_600_000, wait: false },
    queues: [{ queue: 'default', weight: 1, pass: 0 }],
  });
  return leases;
}

/** Settles each by a call of its own, like a worker with long results. */
export async function settleEach(
  backend: Backend,
  worker: string,
  leases: readonly Leased[],
  decision: Decision,
): Promise<void> {
  for (const { id, token } of leases) {
    await backend.tasks.settle({ worker, settlements: [{ id, token, decision }] });
  }
}

/** Until a tick reports that nothing is left. */
export async function drain(backend: Backend): Promise<void> {
  while ((await backend.tasks.tick()).more);
}

export async function addWorker(backend: Backend, id: string): Promise<void> {
  const spec = { queues: ['default'], names: ['noop'], concurrency: 100, host: 'bench' };
  await backend.workers.register({ id, ...spec });
}
