/**
 * Cost and speed of the dashboard: a namespace with many users and waiting tasks, a worker at a
 * constant rate, and pages that watch their screens. `npm run bench:dashboard -- --users 100000 --tasks
 * 1000000 --rate 5000 --pages 100 --seconds 30` are the defaults, a tenth of which `--quick` takes. The goal
 * of each figure is printed beside it.
 *
 * Server, load and browser are separate processes; the CPU is that of Redis alone, by its own count.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startRedis } from '../../test/support/redis/redis-server.ts';
import { fill, load, openLoom, serve } from './namespace.ts';
import { Calls, OpenPage } from './readers.ts';
import { changesOnScreen, firstLooks } from './screen.ts';

const { values } = parseArgs({
  options: {
    role: { type: 'string' },
    redis: { type: 'string', default: '' },
    users: { type: 'string', default: '100000' },
    tasks: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '5000' },
    pages: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '30' },
    quick: { type: 'boolean', default: false },
  },
});
const PART = values.quick ? 10 : 1;
const USERS = Number(values.users) / PART;
const TASKS = Number(values.tasks) / PART;
const RATE = Number(values.rate);
const PAGES = Number(values.pages);
const SECONDS = Number(values.seconds);

/** Until pages are open and have their first readings. */
const SETTLE_MS = 3_000;
/** The measurement without pages needs less time. */
const LONGEST_WITHOUT_S = 30;
const LOOKS = 15;
const CHANGES = 120;
/** Samples of the server's memory while pages are open. */
const SAMPLES = 10;

async function main(): Promise<void> {
  const server = await startRedis({ args: [] });
  const client = new Redis(server.url);
  const children: ChildProcess[] = [];
  const start = (role: string): ChildProcess => {
    const args = ['--role', role, '--redis', server.url, '--rate', String(RATE)];
    args.push('--users', String(USERS), '--tasks', String(TASKS));
    const child = fork(fileURLToPath(import.meta.url), args, { execArgv: process.execArgv });
    children.push(child);
    return child;
  };
  try {
    await fill(server.url, TASKS, USERS);
    console.log(`${TASKS} tasks of ${USERS} users wait`);
    const dashboard = start('server');
    const [{ port }] = (await once(dashboard, 'message')) as [{ readonly port: number }];
    await lookFirst(port);
    await once(start('load'), 'message');
    await pause(SETTLE_MS);
    const without = await busy(client, Math.min(SECONDS, LONGEST_WITHOUT_S));
    console.log(`no page: ${shown(without)}`);
    const pages = Array.from({ length: PAGES }, (_, number) => new OpenPage(port, number));
    await pause(SETTLE_MS);
    const memory = [await memoryOf(dashboard)];
    const sampling = setInterval(
      () => void memoryOf(dashboard).then((now) => memory.push(now)),
      (SECONDS * 1_000) / SAMPLES,
    );
    const calls = new Calls(port);
    const together = await busy(client, SECONDS);
    calls.stop();
    clearInterval(sampling);
    const frames = pages.reduce((sum, page) => sum + page.frames, 0);
    console.log(`${PAGES} pages: ${shown(together)}, ${frames} frames`);
    const added = (together.cpu - without.cpu).toFixed(1);
    console.log(`Redis CPU that pages add: ${added} % of a core (asked: at most 5)`);
    for (const [path, times] of calls.times) console.log(`  ${path}: ${spread(times)}`);
    console.log(
      `API calls: ${spread([...calls.times.values()].flat())} (asked: p99 at most 100 ms)`,
    );
    console.log(`memory of the server, over ${SECONDS} s: ${memory.join(' ')} MB (asked: flat)`);
    await change(server.url, port);
    for (const page of pages) page.close();
  } finally {
    for (const child of children) child.kill();
    client.disconnect();
    await server.stop();
  }
}

/** The first request to a fresh server. */
async function lookFirst(port: number): Promise<void> {
  const looks = await firstLooks(port, LOOKS);
  console.log(
    `first paint of the users: ${spread(looks.map(({ paint }) => paint))} (asked: at most 300 ms)`,
  );
  console.log(`  first row of a user: ${spread(looks.map(({ rows }) => rows))}`);
}

async function change(url: string, port: number): Promise<void> {
  const loom = openLoom(url);
  const times = await changesOnScreen(loom, port, CHANGES);
  await loom.close();
  console.log(`a change on screen after ${spread(times)} (asked: p99 at most 500 ms)`);
}

function spread(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string =>
    (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${sorted.length}`;
}

interface Busy {
  /** Of one core, in percent. */
  readonly cpu: number;
  readonly finished: number;
}

function shown({ cpu, finished }: Busy): string {
  return `Redis ${cpu.toFixed(1)} % of a core, ${Math.round(finished)} tasks/s`;
}

async function busy(client: Redis, seconds: number): Promise<Busy> {
  const [cpu, finished] = [await cpuOf(client), await finishedOf(client)];
  const from = performance.now();
  await pause(seconds * 1_000);
  const took = (performance.now() - from) / 1_000;
  return {
    cpu: (((await cpuOf(client)) - cpu) / took) * 100,
    finished: ((await finishedOf(client)) - finished) / took,
  };
}

async function cpuOf(client: Redis): Promise<number> {
  const info = await client.info('cpu');
  const part = (name: string): number =>
    Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1] ?? Number.NaN);
  return part('used_cpu_user') + part('used_cpu_sys');
}

async function finishedOf(client: Redis): Promise<number> {
  return client.llen('fq:ended:finished');
}

async function memoryOf(child: ChildProcess): Promise<number> {
  child.send('memory');
  const [{ rss }] = (await once(child, 'message')) as [{ readonly rss: number }];
  return Math.round(rss / 1_048_576);
}

if (values.role === 'server') serve(values.redis);
else if (values.role === 'load') await load(values.redis, RATE, USERS);
else await main();
