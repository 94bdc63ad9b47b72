/**
 * The cost of a bulk action: many dead letters of many users are redriven at full speed, by a worker of its own;
 * then fewer at a rate, by workers of which the first is killed half-way. `npm run bench:bulk -- --letters 100000
 * --users 1000 --paced 5000 --rate 1000` are the defaults, with a tenth of the letters and users under `--quick`.
 *
 * Redis reports its own CPU, the system that of the worker. Reports at the end how often each task
 * was redriven, and fails when that is not once.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { BulkInfo } from '../src/bulk/bulk-facade.ts';
import { Fairloom, Fatal, silentLogger, task } from '../src/index.ts';
import { redis } from '../src/redis.ts';
import { type BenchRedis, serverCost, startBenchRedis } from './kit/bench-redis.ts';
import { fillStates } from './kit/stored-tasks.ts';

const { values } = parseArgs({
  options: {
    role: { type: 'string' },
    redis: { type: 'string', default: '' },
    letters: { type: 'string', default: '100000' },
    users: { type: 'string', default: '1000' },
    paced: { type: 'string', default: '5000' },
    rate: { type: 'string', default: '1000' },
    quick: { type: 'boolean', default: false },
  },
});
const PART = values.quick ? 10 : 1;
const LETTERS = Number(values.letters) / PART;
const USERS = Number(values.users) / PART;
const PACED = Number(values.paced);
const RATE = Number(values.rate);

/** At least this many redrives a second, and at most this much CPU of Redis and worker for each, in µs. */
const BUDGET = { perSecond: 5_000, cpuUs: 200 } as const;
/** Between two polls, in ms. */
const LOOK_MS = 50;
/** Calls in flight. */
const AT_ONCE = 100;

const WHICH = { where: 'state:failed' } as const;

const again = task('noop', async () => {
  throw new Fatal('once more');
});

async function main(): Promise<void> {
  const server = await startBenchRedis('volatile');
  const children: ChildProcess[] = [];
  const start = (role: 'bulk' | 'work'): ChildProcess => {
    const args = ['--role', role, '--redis', server.url];
    const child = fork(fileURLToPath(import.meta.url), args, { execArgv: process.execArgv });
    children.push(child);
    return child;
  };
  const loom = open(server.url);
  const fill = async (letters: number): Promise<void> => {
    await server.flush();
    await fillStates(backend, { ...NONE, failed: letters, users: USERS }, (full) => full);
  };
  const backend = redis(server.url);
  try {
    await fill(LETTERS);
    await unthrottled(loom, server, start);
    await fill(PACED);
    await paced(loom, start);
  } finally {
    for (const child of children) child.kill();
    await loom.close();
    await backend.close();
    await server.stop();
  }
}

const NONE = {
  ...{ scheduled: 0, deferred: 0, queued: 0, started: 0, finished: 0, canceled: 0 },
};

function open(url: string): Fairloom {
  return new Fairloom({ backend: redis(url), log: silentLogger, tasks: [again] });
}

type Start = (role: 'bulk' | 'work') => ChildProcess;

async function unthrottled(loom: Fairloom, server: BenchRedis, start: Start): Promise<void> {
  const worker = start('bulk');
  await once(worker, 'message');
  const before = [await server.snapshot(), await cpuOf(worker)] as const;
  const from = performance.now();
  const { id } = await loom.bulk.start({ ...WHICH, action: 'redrive', queue: 'ops' });
  const info = await ended(loom, id);
  const seconds = (performance.now() - from) / 1_000;
  const after = [await server.snapshot(), await cpuOf(worker)] as const;
  worker.kill();
  const each = (total: number): string => (total / LETTERS).toFixed(1);
  const redisUs = (after[0].cpu - before[0].cpu) * 1e6;
  const workerUs = after[1] - before[1];
  const { redisCommands } = serverCost(before[0], after[0], LETTERS);
  console.log(`${LETTERS} dead letters of ${USERS} users: ${told(info)}, ${seconds.toFixed(1)} s`);
  const perSecond = Math.round(LETTERS / seconds);
  console.log(`${perSecond}/s (budget: at least ${BUDGET.perSecond}/s)`);
  console.log(
    `CPU each: Redis ${each(redisUs)} µs, worker ${each(workerUs)} µs, ${redisCommands} commands ` +
      `(budget: at most ${BUDGET.cpuUs} µs together)`,
  );
  expectCount(info.done, LETTERS, 'put back');
  expectCount((await loom.tasks.counts()).queued, LETTERS, 'in line again');
}

/** A redriven task fails at once and is a dead letter again; the first of two workers is killed half-way. */
async function paced(loom: Fairloom, start: Start): Promise<void> {
  await once(start('work'), 'message');
  const first = start('bulk');
  await once(first, 'message');
  const rate = { limit: RATE, per: '1s', burst: 1 } as const;
  const from = performance.now();
  const { id } = await loom.bulk.start({ ...WHICH, action: 'redrive', queue: 'ops', rate });
  await until(loom, id, ({ done }) => done >= PACED / 2);
  first.kill('SIGKILL');
  const killed = performance.now();
  start('bulk');
  const begun = (await loom.bulk.get(id))?.done ?? 0;
  await until(loom, id, ({ done }) => done > begun);
  const lostMs = performance.now() - killed;
  const info = await ended(loom, id);
  const seconds = (performance.now() - from - lostMs) / 1_000;
  console.log(`${PACED} at ${RATE}/s, the worker killed half-way: ${told(info)}`);
  console.log(
    `${Math.round(PACED / seconds)}/s (budget: at most ${RATE}/s), ${(lostMs / 1_000).toFixed(1)} s until another went on`,
  );
  await settled(loom);
  expectCount(info.done, PACED, 'put back');
  expectCount(await runAgain(loom), PACED, 'run once more, and none twice');
}

/** How many have run exactly twice: at the first failure, and after the redrive. */
async function runAgain(loom: Fairloom): Promise<number> {
  let twice = 0;
  for (let from = 0; from < PACED; from += AT_ONCE) {
    const ids = Array.from({ length: Math.min(AT_ONCE, PACED - from) }, (_, at) => from + at);
    const attempts = await Promise.all(ids.map((at) => loom.tasks.attempts(`failed.${at}`)));
    twice += attempts.filter(({ length }) => length === 2).length;
  }
  return twice;
}

async function settled(loom: Fairloom): Promise<void> {
  for (;;) {
    const { queued, started } = await loom.tasks.counts();
    if (queued + started === 0) return;
    await pause(LOOK_MS);
  }
}

function ended(loom: Fairloom, id: string): Promise<BulkInfo> {
  return until(loom, id, ({ endedAt }) => endedAt !== undefined);
}

async function until(
  loom: Fairloom,
  id: string,
  isThere: (info: BulkInfo) => boolean,
): Promise<BulkInfo> {
  for (;;) {
    const info = await loom.bulk.get(id);
    if (info === undefined) throw new TypeError(`bulk action ${id} is gone`);
    if (isThere(info)) return info;
    await pause(LOOK_MS);
  }
}

function told({ matched = 0, done, skipped, failed }: BulkInfo): string {
  return `${matched} matched, ${done} done, ${skipped} skipped, ${failed} failed`;
}

function expectCount(found: number, meant: number, what: string): void {
  if (found !== meant) throw new TypeError(`${found} of ${meant} were ${what}`);
  console.log(`each of ${meant} was ${what}`);
}

/** In µs. */
async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [{ cpu }] = (await once(child, 'message')) as [{ readonly cpu: number }];
  return cpu;
}

/** One slot for bulk actions, or many for tasks. */
async function serve(queues: readonly string[], concurrency: number): Promise<void> {
  const loom = open(values.redis);
  await loom.worker({ queues, concurrency, lease: '5s' }).start();
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system });
  });
  process.send?.({ ready: true });
}

if (values.role === 'bulk') await serve(['ops'], 1);
else if (values.role === 'work') await serve(['default'], 100);
else await main();
