/**
 * What open pages of the dashboard cost: a namespace with many users and waiting tasks, a worker that is kept at a
 * rate, and pages that watch what its screens watch. `npm run bench:dashboard -- --users 100000 --tasks 1000000
 * --rate 5000 --pages 100 --seconds 30` are the defaults, a tenth of which `--quick` takes.
 *
 * Server, load and pages are processes of their own; the CPU is that of Redis alone, by its own count.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { httpApi, nodeHandler } from '../src/http.ts';
import { call, Fairloom, silentLogger, task } from '../src/index.ts';
import { redis } from '../src/redis.ts';
import { startRedis } from '../test/support/redis/redis-server.ts';

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

/** Tasks of one batch while the namespace is filled. */
const BATCH = 5_000;
/** Bytes of a page of users that are read while pages are open, each in so many ms. */
const CALL_EVERY_MS = 50;

const work = task('work', async (_: { readonly n: number }) => undefined);

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
    await fill(server.url);
    console.log(`${TASKS} tasks of ${USERS} users wait`);
    await once(start('load'), 'message');
    const dashboard = start('server');
    const [{ port }] = (await once(dashboard, 'message')) as [{ readonly port: number }];
    await pause(3_000);
    const without = await busy(client, SECONDS);
    console.log(`no page: ${shown(without)}`);
    const before = await memoryOf(dashboard);
    const pages = Array.from({ length: PAGES }, (_, at) => new Page(port, watchOf(at)));
    await pause(3_000);
    const calls = new Calls(port);
    const together = await busy(client, SECONDS);
    const times = calls.stop();
    const frames = pages.reduce((sum, page) => sum + page.frames, 0);
    console.log(`${PAGES} pages: ${shown(together)}, ${frames} frames`);
    console.log(`Redis CPU that pages add: ${(together.cpu - without.cpu).toFixed(1)} % of a core`);
    console.log(`API calls: ${times.length}, p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms`);
    const after = await memoryOf(dashboard);
    console.log(`memory of the server: ${before} MB, after ${SECONDS} s of pages ${after} MB`);
    for (const page of pages) page.close();
  } finally {
    for (const child of children) child.kill();
    client.disconnect();
    await server.stop();
  }
}

/** What a page on one of the screens watches. */
function watchOf(page: number): string {
  const screens = [
    'overview',
    'users:default',
    'queues,workers',
    'user:u1',
    'dead,errors',
    'runs:started',
  ];
  return screens[page % screens.length] ?? 'overview';
}

/** One open page. */
class Page {
  frames = 0;
  readonly #request: ReturnType<typeof get>;

  constructor(port: number, watch: string) {
    const url = `http://127.0.0.1:${port}/api/v1/events?watch=${watch}`;
    this.#request = get(url, (response) => {
      if (response.statusCode !== 200) throw new Error(`${watch}: ${response.statusCode}`);
      response.on('data', (chunk: Buffer) => {
        if (chunk.includes('event: change')) this.frames++;
      });
    });
    this.#request.on('error', () => undefined);
  }

  close(): void {
    this.#request.destroy();
  }
}

/** Calls of people who click, one after the other. */
class Calls {
  readonly #times: number[] = [];
  #isOver = false;

  constructor(port: number) {
    this.#run(port).catch((error: unknown) => this.#isOver || Promise.reject(error));
  }

  stop(): readonly number[] {
    this.#isOver = true;
    return this.#times.toSorted((a, b) => a - b);
  }

  /** Until it is told to stop, or the server has gone. */
  async #run(port: number): Promise<void> {
    const paths = [
      'overview',
      'users?limit=50',
      'users/u7',
      'tasks?state=queued&user=u9',
      'dead',
      'queues',
    ];
    for (let turn = 0; !this.#isOver; turn++) {
      const from = performance.now();
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${paths[turn % paths.length]}`);
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${answer.url}: ${answer.status}`);
      this.#times.push(performance.now() - from);
      await pause(CALL_EVERY_MS);
    }
  }
}

function at(times: readonly number[], share: number): string {
  return (times[Math.floor(times.length * share)] ?? 0).toFixed(1);
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

async function fill(url: string): Promise<void> {
  const loom = new Fairloom({ backend: redis(url), log: silentLogger, tasks: [work] });
  for (let from = 0; from < TASKS; from += BATCH) {
    const calls = Array.from({ length: Math.min(BATCH, TASKS - from) }, (_, n) => {
      const user = `u${(from + n) % USERS}`;
      return call(work, { n }, { user });
    });
    await loom.enqueueMany(calls);
  }
  await loom.close();
}

/** Works at the rate, and stores as much as it works off. */
async function load(): Promise<void> {
  const loom = new Fairloom({ backend: redis(values.redis), log: silentLogger, tasks: [work] });
  await loom.queues.set('default', { rate: { limit: RATE, per: '1s', burst: RATE } });
  await loom.worker({ concurrency: 100 }).start();
  process.send?.({ ready: true });
  const share = Math.ceil(RATE / 20);
  for (let n = 0; ; n++) {
    const calls = Array.from({ length: share }, (_, k) =>
      call(work, { n }, { user: `u${(n * share + k) % USERS}` }),
    );
    await Promise.all([loom.enqueueMany(calls), pause(50)]);
  }
}

async function serve(): Promise<void> {
  const loom = new Fairloom({ backend: redis(values.redis), log: silentLogger, tasks: [work] });
  const api = httpApi(loom, { access: () => 'read', rate: { limit: 1_000_000, per: '1s' } });
  const server = createServer(nodeHandler(api));
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
  });
  process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }));
}

if (values.role === 'server') await serve();
else if (values.role === 'load') await load();
else await main();
