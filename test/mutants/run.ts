/**
 * Does the harness bite? Each mutant breaks one rule in a copy of the repository; then tests run,
 * the cheapest first, until one fails. Exits 1 when fewer than 95 % are killed, or when one lives
 * that survivors.ts does not explain.
 *
 *   npm run mutants                    all
 *   npm run mutants -- --only token    those whose name has this text; may be given more than once
 *   npm run mutants -- --in redis      those of one folder: domain, engine, memory, redis or backends/file
 *   npm run mutants -- --jobs 1        one at a time; otherwise two, each with a Redis of its own
 *   npm run mutants -- --from 200      goes on where another run was cut off: its lines are numbered
 *
 * Before that all tests run on what nothing is broken in: one that fails would kill every mutant.
 */
import { parseArgs } from 'node:util';
import { startRedis } from '../support/redis/redis-server.ts';
import { AT_SCALE } from '../support/some-cases.ts';
import { ALL_MUTANTS } from './all.ts';
import type { Mutant } from './mutants.ts';
import { SURVIVORS } from './survivors.ts';
import { Workshop } from './workshop.ts';

/** At least this share must be killed. */
const GATE = 0.95;

/** One way to test, and how long it may take, in ms; one that hangs has noticed, too. */
interface Stage {
  readonly name: string;
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

/** Ends with the first test that fails: what is left running then would be waited for ten seconds long. */
const AT_ONCE = ['--bail', '1', '--teardownTimeout', '500'];

const HANDED: Stage = {
  name: 'tests of what is handed over',
  command: [
    ...['vitest', 'run', ...AT_ONCE, '--project', 'redis', '--project', 'engine'],
    ...['hand-over', 'handed'],
  ],
  timeoutMs: 240_000,
};

const DAMAGE: Stage = {
  name: 'tests of damage',
  command: ['vitest', 'run', ...AT_ONCE, '--project', 'redis', 'damage'],
  timeoutMs: 240_000,
};

/** On the embedded backend: what a mutant of the engine breaks does not depend on the backend. */
const ENGINE_TESTS = ['vitest', 'run', ...AT_ONCE, '--project', 'engine', '-t', 'memory'];
const MODEL = ['tsx', 'test/model/run.ts', '--quick', '--seed', '7'];
/** Tests of a layer that load the file of a mutant; no other could notice it. */
const loading = (layer: 'domain' | 'workflow', { file }: Mutant): Stage => ({
  name: `${layer} tests`,
  command: ['vitest', 'related', file, '--run', ...AT_ONCE, '--project', layer],
  timeoutMs: 120_000,
});
const MEMORY_MODEL: Stage = {
  name: 'model on memory',
  command: [...MODEL, '--backend', 'memory', '--runs', '1500'],
  timeoutMs: 240_000,
};
/** Titles that have this in them. */
const about = (titles: string): string => `.*(${titles})`;

/** The contract on one backend, or those of its cases whose titles this is about. */
const contractOf = (backend: 'memory' | 'redis', titles = '.*'): Stage => ({
  name: `contract of ${backend === 'memory' ? 'memory' : 'Redis'}`,
  command: [
    ...['vitest', 'run', ...AT_ONCE, '--project', 'contract', backend],
    // By one protocol: what Lua does is the same for both.
    ...['-t', `contract: ${backend}(?!,)${titles}`],
  ],
  timeoutMs: 300_000,
});
const MEMORY_CONTRACT = contractOf('memory');
const BUNDLE: Stage = {
  name: 'lua bundle',
  command: ['tsx', 'scripts/generate.ts'],
  timeoutMs: 60_000,
};
const REDIS_MODEL: Stage = {
  name: 'model on Redis',
  command: [...MODEL, '--backend', 'redis', '--runs', '150'],
  timeoutMs: 300_000,
};
const REPLAY: Stage = {
  name: 'replay of clients that call at once',
  command: ['tsx', 'test/model/replay/run.ts', '--seed', '1', '--steps', '20000'],
  timeoutMs: 300_000,
};
/** Those with thousands of tasks last: they take as long as all others. */
const REDIS_CONTRACT: readonly Stage[] = [
  contractOf('redis', `(?!.*(${AT_SCALE.source}))`),
  contractOf('redis', about(AT_SCALE.source)),
];

/** Titles of the contract that are about schedules. */
const SCHEDULE_TITLES = 'schedules|overlapping firings';
const SCHEDULES: Stage = {
  name: 'tests of schedules',
  command: ['vitest', 'run', ...AT_ONCE, '--project', 'domain', 'cron.test', 'catch-up'],
  timeoutMs: 120_000,
};
const MEMORY_SCHEDULES = contractOf('memory', about(SCHEDULE_TITLES));
const REDIS_SCHEDULES = contractOf('redis', about(SCHEDULE_TITLES));

/** Titles of the contract that are about XCom. */
const MEMORY_XCOM = contractOf('memory', about('xcom'));
const REDIS_XCOM = contractOf('redis', about('xcom'));
const XCOM_LEAKS: Stage = {
  name: 'leaks of XCom',
  command: ['vitest', 'run', ...AT_ONCE, '--project', 'redis', 'faults/leaks', '-t', 'XCom'],
  timeoutMs: 120_000,
};

/** Titles of the contract that are about streams. */
const MEMORY_STREAMS = contractOf('memory', about('streams'));
const REDIS_STREAMS = contractOf('redis', about('streams'));

/** Titles of the contract that are about waits. */
const WAIT_TITLES = 'waits for time|signals';
const MEMORY_WAITS = contractOf('memory', about(WAIT_TITLES));
const REDIS_WAITS = contractOf('redis', about(WAIT_TITLES));

/** Titles of the contract that are about whom a task may depend on. */
const EDGE_TITLES = 'F60|F67';
const MEMORY_EDGES = contractOf('memory', about(EDGE_TITLES));
const REDIS_EDGES = contractOf('redis', about(EDGE_TITLES));

const ENGINE_SCHEDULES: Stage = {
  name: 'schedules of the engine on memory',
  command: [...ENGINE_TESTS, 'test/engine/schedules'],
  timeoutMs: 120_000,
};

const ENGINE: Stage = {
  name: 'runs of the engine on memory',
  command: [...ENGINE_TESTS, 'test/engine/runs'],
  timeoutMs: 300_000,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    in: { type: 'string', default: '' },
    jobs: { type: 'string', default: '2' },
    from: { type: 'string', default: '1' },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const chosen = ALL_MUTANTS.filter(
    ({ name, file }) => values.only.some((text) => name.includes(text)) && file.includes(values.in),
  ).slice(Number(values.from) - 1);
  const jobs = Math.max(1, Number(values.jobs));
  const benches = await Promise.all(Array.from({ length: jobs }, openBench));
  try {
    const unsound = await unsoundStages(benches, chosen);
    for (const { name, output } of unsound) console.log(`fails as it is: ${name}\n${output}`);
    if (unsound.length > 0) return 1;
    const alive = await tryAll(benches, chosen);
    return verdict(chosen.length, alive);
  } finally {
    for (const { workshop, redis } of benches) {
      workshop.close();
      await redis.stop();
    }
  }
}

/** A copy of the repository, and a server of its own. */
interface Bench {
  readonly workshop: Workshop;
  readonly redis: Awaited<ReturnType<typeof startRedis>>;
}

async function openBench(): Promise<Bench> {
  const redis = await startRedis();
  const env = { FAIRLOOM_TEST_REDIS: redis.url, FAIRLOOM_REDIS_URL: redis.url };
  return { workshop: new Workshop(env), redis };
}

/** Takes what is left of a list until nothing is, each bench one at a time. */
async function share<T>(
  benches: readonly Bench[],
  list: readonly T[],
  act: (one: T, bench: Bench, place: number) => Promise<void>,
): Promise<void> {
  const left = [...list.entries()];
  const work = async (bench: Bench): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      await act(next[1], bench, next[0]);
    }
  };
  await Promise.all(benches.map(work));
}

/** Those of the stages to come that fail although nothing is broken. */
async function unsoundStages(
  benches: readonly Bench[],
  chosen: readonly Mutant[],
): Promise<readonly { readonly name: string; readonly output: string }[]> {
  const stages = new Map(
    chosen.flatMap(stagesOf).map((stage) => [stage.command.join(' '), stage] as const),
  );
  const unsound: { readonly name: string; readonly output: string }[] = [];
  await share(benches, [...stages.values()], async ({ name, command, timeoutMs }, { workshop }) => {
    const { code, output } = await workshop.run(command, timeoutMs);
    if (code !== 0) unsound.push({ name, output });
  });
  return unsound;
}

/** Those that live. */
async function tryAll(
  benches: readonly Bench[],
  chosen: readonly Mutant[],
): Promise<readonly Mutant[]> {
  const alive: Mutant[] = [];
  const isLuaOld = new Set<Bench>();
  await share(benches, chosen, async (mutant, bench, place) => {
    const { workshop } = bench;
    // Whoever breaks Lua puts it together anew; others need it whole.
    if (isLua(mutant)) isLuaOld.add(bench);
    else if (isLuaOld.delete(bench)) await workshop.run(BUNDLE.command, BUNDLE.timeoutMs);
    const killer = await tryOut(workshop, mutant);
    if (killer === undefined) alive.push(mutant);
    const number = String(place + Number(values.from)).padStart(3);
    console.log(
      `${number} ${killer === undefined ? 'ALIVE ' : 'killed'}  ${mutant.name}  ${killer ?? ''}`,
    );
  });
  return alive;
}

/** Which test noticed, and after how long. */
async function tryOut(workshop: Workshop, mutant: Mutant): Promise<string | undefined> {
  const restore = workshop.apply(mutant);
  const started = performance.now();
  try {
    if (isLua(mutant)) {
      const { code, output } = await workshop.run(BUNDLE.command, BUNDLE.timeoutMs);
      // That is no mutant, but a fault of the list: it lives until somebody mends it.
      if (code !== 0) {
        console.log(`${mutant.name}: no Lua any more\n${output}`);
        return undefined;
      }
    }
    for (const { name, command, timeoutMs } of stagesOf(mutant)) {
      const { code, timedOut } = await workshop.run(command, timeoutMs);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      if (code !== 0) return `${name}${timedOut ? ', hanging' : ''}, ${seconds} s`;
    }
    return undefined;
  } finally {
    restore();
  }
}

function isLua({ file }: Mutant): boolean {
  return file.endsWith('.lua');
}

function stagesOf(mutant: Mutant): readonly Stage[] {
  if (mutant.file.startsWith('src/backends/file/')) return [folderStage(mutant)];
  if (mutant.file.startsWith('src/schedules/timing/')) return [SCHEDULES];
  if (mutant.file.startsWith('src/schedules/')) return [ENGINE_SCHEDULES];
  if (mutant.name.includes('schedules: ')) {
    if (isEngine(mutant)) return [ENGINE_SCHEDULES];
    return [isLua(mutant) ? REDIS_SCHEDULES : MEMORY_SCHEDULES];
  }
  if (mutant.name.startsWith('damage: ')) return [DAMAGE];
  if (mutant.name.startsWith('handed over ')) return [HANDED];
  if (mutant.name.startsWith('at once: ')) return [REPLAY];
  if (mutant.name.startsWith('edges: ')) return edgeStages(mutant);
  if (mutant.name.includes('waits: ') && !isEngine(mutant)) {
    return [isLua(mutant) ? REDIS_WAITS : MEMORY_WAITS];
  }
  if (mutant.name.startsWith('xcom') && !isEngine(mutant)) {
    return isLua(mutant) ? [REDIS_XCOM, XCOM_LEAKS] : [MEMORY_XCOM];
  }
  if (mutant.name.startsWith('streams: ')) {
    if (isEngine(mutant)) return firstOf(mutant);
    return [isLua(mutant) ? REDIS_STREAMS : MEMORY_STREAMS];
  }
  if (isLua(mutant)) return [...firstOf(mutant), REDIS_MODEL, ...REDIS_CONTRACT];
  if (isEngine(mutant)) return [...firstOf(mutant), ENGINE];
  if (mutant.file.startsWith('src/graph/')) {
    return [loading('workflow', mutant), ...firstOf(mutant), ENGINE];
  }
  if (mutant.file.startsWith('src/domain/')) return [loading('domain', mutant), MEMORY_MODEL];
  return [MEMORY_MODEL, MEMORY_CONTRACT];
}

/** Whatever stands above the backends and the rules. */
function isEngine({ file }: Mutant): boolean {
  return !/^src\/(backends|domain|graph)\//.test(file);
}

function edgeStages(mutant: Mutant): readonly Stage[] {
  const { file } = mutant;
  if (file.startsWith('src/domain/')) return [loading('domain', mutant), MEMORY_EDGES];
  return [file.includes('/redis/') ? REDIS_EDGES : MEMORY_EDGES];
}

/** Tests of data folders; with `first`, none but those. */
function folderStage({ first = '' }: Mutant): Stage {
  const files = first.split(' ').map((name) => `test/file/${name}`);
  const command = [
    'vitest',
    'run',
    ...AT_ONCE,
    '--testTimeout',
    '20000',
    '--project',
    'file',
    ...files,
  ];
  return { name: first, command, timeoutMs: 90_000 };
}

function firstOf({ first, file }: Mutant): readonly Stage[] {
  if (first === undefined) return [];
  const tests = file.endsWith('.lua')
    ? ['vitest', 'run', ...AT_ONCE, '--project', 'redis', `test/redis/${first}`]
    : [...ENGINE_TESTS, `test/engine/${first}`];
  return [{ name: first, command: tests, timeoutMs: 120_000 }];
}

function verdict(tried: number, alive: readonly Mutant[]): number {
  const killed = tried - alive.length;
  console.log(`\n${tried} mutants, ${killed} killed (${((100 * killed) / tried).toFixed(1)} %)`);
  for (const { name } of alive) console.log(`alive: ${name}: ${SURVIVORS[name] ?? 'unexplained'}`);
  const unexplained = alive.filter(({ name }) => SURVIVORS[name] === undefined);
  return killed < GATE * tried || unexplained.length > 0 ? 1 : 0;
}
