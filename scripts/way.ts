/**
 * The path of one plain task through this package on Redis: every file and function of `src/` that runs
 * between its enqueue and the end of its worker's work for it, client and worker in one process, and
 * the scripts that Redis gets meanwhile. The measured task follows others like it, so that one-time
 * work is not included: connecting, registering, compiling.
 *
 *   npm run way                        both paths: with and without a wait for the result
 *   npm run way -- --json              the same for programs
 *   npm run way -- --redis redis://…   on this server; otherwise one is started
 *
 * Measured by the coverage of V8, per function. Files with types only do not run, and do not count.
 * Initialisers of fields, which V8 counts separately from their constructor, do not count either,
 * nor does code that the loader of TypeScript inserts.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/system-clock.ts';
import type { Clock } from '../src/base/time.ts';
import { Fairloom, task } from '../src/index.ts';
import { redis } from '../src/redis.ts';
import { startRedis } from '../test/support/redis/redis-server.ts';
import { ROOT } from './run.ts';

/** The path of one task. */
export interface Way {
  readonly name: string;
  /** By the path of the file below `src/`, in the order of the tree. */
  readonly functions: Readonly<Record<string, readonly string[]>>;
  /** One for each time that Redis ran a script. */
  readonly scripts: number;
}

/** V8's name of initialisers of fields. */
const INITIALISERS: readonly string[] = ['<instance_members_initializer>', '<static_initializer>'];

/** Code that the loader adds to each file, so that functions keep their names. */
const LOADER: readonly string[] = ['__name', '__defProp'];

/** Tasks before the measured one. */
const WARM_UP = 5;

/** The number of measurements. */
const ROUNDS = 4;

/** Longer than this runs, so that no timer fires meanwhile. */
const NEVER_MS = 86_400_000;

const CLOCK: Clock = {
  now: () => systemClock.now(),
  setTimer: (_ms, act) => systemClock.setTimer(NEVER_MS, act),
};

/** The worker has finished when it has sent no script for this long, in ms. */
const QUIET_MS = 200;

async function main(): Promise<void> {
  const options = { redis: { type: 'string' }, json: { type: 'boolean' } } as const;
  const { values } = parseArgs({ options });
  const server = values.redis === undefined ? await startRedis() : undefined;
  const ways = await measure(values.redis ?? server?.url ?? '');
  await server?.stop();
  if (values.json === true) console.log(JSON.stringify(ways));
  else for (const way of ways) print(way);
}

async function measure(url: string): Promise<readonly Way[]> {
  const double = task('double', async (input: number) => 2 * input);
  const prefix = `way-${randomUUID().slice(0, 8)}`;
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const loom = new Fairloom({
    backend: redis(url, { prefix }),
    tasks: [double],
    clock: CLOCK,
    log,
  });
  await loom.worker({ scheduler: false }).start();
  const watch = await scriptsOf(url, prefix);
  const found: Way[] = [];
  const enqueued = (): Promise<{ result(): Promise<number> }> => loom.enqueue(double, 21);
  const awaited = async (): Promise<void> => {
    if ((await (await enqueued()).result()) !== 42) throw new Error('the result is another');
  };
  const ways = { 'enqueued and forgotten': enqueued, 'enqueued and awaited': awaited };
  for (const [name, way] of Object.entries(ways)) {
    const whole = async (): Promise<void> => {
      await way();
      await watch.quiet();
    };
    for (let at = 0; at < WARM_UP; at++) await whole();
    const seen: Way[] = [];
    for (let at = 0; at < ROUNDS; at++) {
      const before = watch.count();
      const functions = await functionsOf(whole);
      seen.push({ name, functions, scripts: watch.count() - before });
    }
    found.push(seen.reduce(common));
  }
  watch.close();
  await loom.close();
  return found;
}

/** Functions that ran both times. */
function common(one: Way, other: Way): Way {
  const functions: Record<string, readonly string[]> = {};
  for (const [file, names] of Object.entries(one.functions)) {
    const both = names.filter((name) => other.functions[file]?.includes(name));
    if (both.length > 0) functions[file] = both;
  }
  return { name: one.name, functions, scripts: Math.min(one.scripts, other.scripts) };
}

async function functionsOf(way: () => Promise<void>): Promise<Way['functions']> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await way();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const functions: Record<string, readonly string[]> = {};
  for (const script of result.toSorted((a, b) => (a.url < b.url ? -1 : 1))) {
    const [, file] = script.url.split(`${ROOT}src/`);
    if (file === undefined) continue;
    const run = script.functions
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => functionName)
      .filter((name) => !INITIALISERS.includes(name) && !LOADER.includes(name));
    if (run.length > 0) functions[file] = run;
  }
  return functions;
}

/** The scripts that a server gets for one prefix, by MONITOR. */
async function scriptsOf(url: string, prefix: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('MONITOR\r\n');
  let scripts = 0;
  let latest = performance.now();
  const lines = createInterface(socket);
  lines.on('line', (line) => {
    // +1795940333.132615 [0 127.0.0.1:47900] "EVALSHA" "<sha>" "1" "<prefix>:clock" …
    if (!new RegExp(`\\] "(?:eval(?:sha)?|fcall)" "[^"]*" "1" "${prefix}:`, 'i').test(line)) return;
    scripts++;
    latest = performance.now();
  });
  await once(lines, 'line');
  return {
    count: (): number => scripts,
    quiet: async (): Promise<void> => {
      do {
        await new Promise((resolve) => setTimeout(resolve, QUIET_MS / 10));
      } while (performance.now() - latest < QUIET_MS);
    },
    close: (): void => {
      socket.destroy();
    },
  };
}

function print({ name, functions, scripts }: Way): void {
  const lists = Object.entries(functions);
  const count = lists.reduce((sum, [, names]) => sum + names.length, 0);
  console.log(`${name}: ${lists.length} files, ${count} functions, ${scripts} scripts`);
  for (const [file, names] of lists) {
    console.log(`  ${file}: ${names.map((one) => one || '(anonymous)').join(' ')}`);
  }
}

function ignore(): void {
  // The log of a measurement is not needed.
}

await main();
