/** The cost of a lease among this many ready users, through the port of a backend. */
import type { Backend, Leased } from '../../src/domain/port/backend.ts';
import type { NewTask } from '../../src/domain/task/task.ts';

const WORKER = 'bench';
const QUEUE = 'default';
const NAME = 'noop';
/** Tasks of one lease. */
const BATCH = 10;
const LEASE_MS = 3_600_000;
/** Users whose tasks go into one call. */
const CHUNK = 1_000;

/** One task of each of this many users. */
export async function fillUsers(backend: Backend, users: number): Promise<void> {
  await backend.open({
    retention: { finishedMs: 3_600_000, failedMs: 3_600_000, canceledMs: 3_600_000 },
  });
  await backend.workers.register({
    id: WORKER,
    queues: [QUEUE],
    names: [NAME],
    concurrency: BATCH,
    host: 'bench',
  });
  for (let from = 0; from < users; from += CHUNK) {
    const count = Math.min(CHUNK, users - from);
    const tasks = Array.from({ length: count }, (_, at) => newTask(`user-${from + at}`, 0));
    await backend.tasks.enqueue(tasks, { atomic: false });
  }
}

/**
 * Leases, ends the leased tasks and gives the same users a task again, so that as many stay ready.
 * `timed` wraps the lease alone.
 */
export async function cycles(
  backend: Backend,
  count: number,
  timed: <T>(act: () => Promise<T>) => Promise<T>,
): Promise<number> {
  let leased = 0;
  for (let cycle = 1; cycle <= count; cycle++) {
    const { leases } = await timed(() => backend.tasks.lease(leaseRequest(cycle)));
    leased += leases.length;
    await backend.tasks.settle({ worker: WORKER, settlements: leases.map(finished) });
    const again = leases.map(({ user }) => newTask(user, cycle));
    await backend.tasks.enqueue(again, { atomic: false });
  }
  return leased;
}

function leaseRequest(cycle: number): Parameters<Backend['tasks']['lease']>[0] {
  return {
    requestId: `bench${String(cycle).padStart(8, '0')}`,
    worker: WORKER,
    limit: BATCH,
    leaseMs: LEASE_MS,
    queues: [{ queue: QUEUE, weight: 1, pass: 0 }],
    wait: false,
  };
}

function finished({
  id,
  token,
}: Leased): Parameters<Backend['tasks']['settle']>[0]['settlements'][number] {
  return { id, token, decision: { type: 'finish', result: '' } };
}

/** The `nth` task of a user. */
export function newTask(user: string, nth: number): NewTask {
  return {
    id: `${user}.${nth}`,
    name: NAME,
    queue: QUEUE,
    user,
    level: 3,
    cost: 1,
    payload: '{}',
    options: '',
    dependsOn: [],
    edges: { onFailure: 'wait', onCancel: 'cancel', onMissing: 'refuse', allowCrossUser: false },
  };
}
