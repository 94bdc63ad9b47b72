import { allPages } from '../../src/domain/port/all-pages.ts';
import type { Backend, Decision } from '../../src/domain/port/backend.ts';
import { TASK_STATES } from '../../src/domain/task/task.ts';
import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import {
  addDependents,
  addWorker,
  drain,
  LONGEST,
  lease,
  metricOf,
  newTask,
  type ScriptHarness,
  settleEach,
  timedCases,
} from '../kit/script-harness.ts';
import { fillLine, fillStates, inQueues } from '../kit/stored-tasks.ts';

/** 10⁶ tasks in all, of 10⁵ users, 1,000 of them started. */
const STORED = {
  scheduled: 150_000,
  deferred: 100_000,
  queued: 299_000,
  started: 1_000,
  finished: 200_000,
  failed: 100_000,
  canceled: 50_000,
  users: 100_000,
} as const;
const LINE = 100_000;
const QUEUES = 2_000;
const DEPENDENTS = 100_000;
const DEPENDENCIES = 200;
/** Long tasks, schedules and values. */
const LONG = 20;
const MIB = JSON.stringify('x'.repeat(1_048_574));
const DAY_MS = 86_400_000;
/** The budget of each script, in ms. */
const MOST_MS = 5;

const FAIL: Decision = {
  type: 'dead-letter',
  cause: { type: 'fatal', failure: 'error' },
  error: '{"name":"Error","message":"no"}',
};

const STORE = ['list', 'noMatch', 'get', 'users', 'facts', 'lease', 'cancel', 'remove', 'defaults'];
const MANY = ['settings', 'stats', 'tick', 'lines'];
const WIDE = ['enqueue', 'lists', 'waiting', 'cascade', 'redrive', 'removal'];
const BYTES = ['enqueue', 'list', 'get', 'lease', 'settle', 'upstreams', 'schedules', 'values'];

export const longestScripts: Bench = {
  name: 'longest-scripts',
  about:
    'The longest script of each call, in ms of the main thread of the server; budget 5 ms. Of a call that can ' +
    'be made again the least of three; of more than a hundred scripts the longest but for one in a ' +
    'hundred. 10⁶ tasks in all states of 10⁵ users, 1,000 of them started, one user with 10⁵ in line; a user with ' +
    'a task in each of 2,000 queues that have a rate; 10⁵ tasks that wait for one, 500 that wait for 200 each; ' +
    'inputs, results and schedules of 1 MiB.',
  rounds: 1,
  sides: [{ name: 'fairloom', run: allCases }],
  rows: [
    row('store', '10⁶ tasks, 10⁵ users', STORE),
    row('queues', '2,000 queues', MANY),
    row('waiting', '10⁵ dependents, 200 dependencies', WIDE),
    row('long', '1 MiB each', BYTES),
  ],
};

function row(group: string, where: string, names: readonly string[]): Bench['rows'][number] {
  return {
    table: 'scripts',
    measure: `${where}: ${names.join(' / ')}`,
    metrics: names.map((name) => metricOf(group, name)),
    unit: 'ms',
    better: 'less',
    goals: [{ kind: 'most', metric: metricOf(group, LONGEST), value: MOST_MS, of: 'each' }],
  };
}

async function allCases(context: BenchContext): Promise<Figures> {
  return {
    ...(await timedCases(context, 'store', store)),
    ...(await timedCases(context, 'queues', manyQueues)),
    ...(await timedCases(context, 'waiting', dependencies)),
    ...(await timedCases(context, 'long', longValues)),
  };
}

async function store(harness: ScriptHarness): Promise<void> {
  const { backend, fill, size, time } = harness;
  await fillStates(fill, STORED, size);
  await fillLine(fill, 'many', size(LINE));
  const { inspect, tasks } = backend;
  await time('list', async () => {
    for (const state of TASK_STATES) {
      const filter = state === 'queued' ? { state, user: 'many' } : { state };
      await twoPages((page) => inspect.list(filter, page));
    }
  });
  await time('noMatch', () => inspect.list({ state: 'finished', name: 'nobody' }, { limit: 500 }));
  const finished = Array.from({ length: Math.min(500, size(500)) }, (_, at) => `finished.${at}`);
  await time('get', async () => {
    await inspect.get(finished);
    await inspect.status(finished);
  });
  await time('users', () => twoPages((page) => backend.users.list('default', page)));
  await time('facts', async () => {
    for (const id of ['started.0', 'queued.0', `many.${size(LINE) - 1}`]) await inspect.facts(id);
  });
  await time('lease', async () => {
    const leases = await lease(backend, 'bench-0', 62);
    const decision = { type: 'finish', result: '1' } as const;
    const settlements = leases.map(({ id, token }) => ({ id, token, decision }));
    await tasks.settle({ worker: 'bench-0', settlements });
  });
  let next = Math.floor(size(LINE) / 2);
  await time('cancel', () => tasks.cancel(`many.${next++}`, { type: 'request' }));
  await time('remove', () => tasks.remove(`finished.${next++ % size(STORED.finished)}`));
  await time('defaults', async () => {
    await backend.queues.set('default', { perUser: { maxRunning: 100 } });
    for (let at = 0; at < 10; at++) await tasks.tick();
  });
}

async function twoPages(
  read: (page: { readonly limit: number }) => Promise<{ readonly items: readonly unknown[] }>,
): Promise<void> {
  let left = 2;
  for await (const _page of allPages(500, read)) if (--left === 0) return;
}

async function manyQueues({ backend, fill, size, time }: ScriptHarness): Promise<void> {
  await inQueues(size(QUEUES), async (at) => {
    const queue = `queue-${at}`;
    await fill.queues.set(queue, { rate: { limit: 1, perMs: DAY_MS, burst: 1 } });
    await fill.tasks.enqueue([newTask(`task-${at}`, 'user', { queue })], { atomic: false });
  });
  await time('settings', async () => {
    await backend.users.set('user', { weight: 200 }, {});
    await backend.users.set('user', { maxRunning: 3 }, {});
  });
  await time('stats', async () => {
    await backend.inspect.stats();
    await backend.queues.list();
  });
  await time('tick', () => backend.tasks.tick());
  await time('lines', async () => {
    const lines = { state: 'queued', user: 'user' } as const;
    for await (const _page of allPages(500, (page) => backend.inspect.list(lines, page)));
  });
}

async function dependencies(harness: ScriptHarness): Promise<void> {
  const { backend, fill, time } = harness;
  const { tasks, inspect } = backend;
  const on = Array.from({ length: DEPENDENCIES }, (_, at) => `on.${at}`);
  const scheduled = on.map((id) => newTask(id, 'user', { delayMs: DAY_MS }));
  await fill.tasks.enqueue(scheduled, { atomic: false });
  let made = 0;
  await time('enqueue', () => {
    return tasks.enqueue([newTask(`wide.${made++}`, 'user', { dependsOn: on })], { atomic: false });
  });
  const wide = Array.from({ length: 500 }, () =>
    newTask(`wide.${made++}`, 'user', { dependsOn: on }),
  );
  await fill.tasks.enqueue(wide, { atomic: false });
  await time('lists', () => twoPages((page) => inspect.list({ state: 'deferred' }, page)));
  await addWorker(backend, 'worker');
  await fill.tasks.enqueue([newTask('root', 'user')], { atomic: false });
  await addDependents(harness, 'root', DEPENDENTS);
  await time('waiting', () => twoPages((page) => inspect.dependents('root', page)));
  const fail = async (): Promise<void> => {
    await settleEach(backend, 'worker', await lease(backend, 'worker', 1), FAIL);
    await drain(backend);
  };
  await time('cascade', fail, 'once');
  await time('redrive', () => tasks.redrive('root'), 'once');
  await fail();
  await time('removal', () => tasks.remove('root'), 'once');
}

async function longValues({ backend, size, time }: ScriptHarness): Promise<void> {
  const { tasks, inspect } = backend;
  const count = Math.max(6, size(LONG));
  await addWorker(backend, 'worker');
  const make = (kind: string, fields: object): readonly ReturnType<typeof newTask>[] => {
    const long = { payload: MIB, ...fields };
    return Array.from({ length: count }, (_, at) => newTask(`${kind}.${at}`, `user-${at}`, long));
  };
  await time('enqueue', () => tasks.enqueue(make('later', { delayMs: DAY_MS }), { atomic: false }));
  await tasks.enqueue(make('long', {}), { atomic: false });
  await time('list', async () => {
    const all = { state: 'scheduled' } as const;
    await twoPages((page) => inspect.list(all, page));
    await twoPages((page) => inspect.list(all, { ...page, values: true }));
  });
  await time('get', () => inspect.get(make('later', {}).map(({ id }) => id)));
  const leases: Awaited<ReturnType<typeof lease>>[number][] = [];
  await time(
    'lease',
    async () => {
      while (leases.length < count) leases.push(...(await lease(backend, 'worker', 62)));
    },
    'once',
  );
  const finish = { type: 'finish', result: MIB } as const;
  await time('settle', () => settleEach(backend, 'worker', leases, finish), 'once');
  const ids = leases.slice(0, 5).map(({ id }) => id);
  const waiting = ids.map((id) => newTask(`after.${id}`, 'user', { dependsOn: ids }));
  await tasks.enqueue(waiting, { atomic: false });
  await time('upstreams', () => lease(backend, 'worker', 5), 'once');
  await longStores(backend, count, time);
}

async function longStores(
  { schedules, xcom }: Backend,
  count: number,
  time: ScriptHarness['time'],
): Promise<void> {
  for (let at = 0; at < count; at++) {
    const next = { slot: 1, dueAt: 1 };
    await schedules.set({
      ...{ id: `s${at}`, revision: 0, spec: MIB, paused: false, overlap: 'skip', next },
    });
  }
  await time('schedules', async () => {
    await twoPages((page) => schedules.list(page));
    await schedules.due({ owner: 'bench', limit: 100 });
  });
  const text = JSON.stringify('x'.repeat(262_000));
  const places = Array.from({ length: count }, (_, at) => {
    return { user: 'user', namespace: 'space', key: `key-${at}` };
  });
  for (const place of places) await xcom.write([{ type: 'push', place, text, ttlMs: DAY_MS }]);
  await time('values', () => xcom.read(places));
}
