/** Which tests are tried on a mutant, the cheapest first. */
import { AT_SCALE } from '../support/some-cases.ts';
import type { Mutant, Topic } from './mutants.ts';

/** One way to test, and how long it may take, in ms; one that hangs has noticed, too. */
export interface Stage {
  readonly name: string;
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

/** Ends with the first test that fails: what is left running then would be waited for ten seconds long. */
const AT_ONCE = ['--bail', '1', '--teardownTimeout', '500'];

function tests(name: string, timeoutMs: number, ...args: readonly string[]): Stage {
  return { name, command: ['vitest', 'run', ...AT_ONCE, ...args], timeoutMs };
}

/** Puts the scripts together: before tests of a mutant of Lua, and after them. */
export const BUNDLE: Stage = {
  name: 'lua bundle',
  command: ['tsx', 'scripts/lua/bundle.ts'],
  timeoutMs: 60_000,
};

/** Tests of a layer that load the file of a mutant; no other could notice it. */
const loading = (layer: 'domain' | 'workflow', { file }: Mutant): Stage => ({
  name: `${layer} tests`,
  command: ['vitest', 'related', file, '--run', ...AT_ONCE, '--project', layer],
  timeoutMs: 120_000,
});

/** On the embedded backend: what a mutant of the engine breaks does not depend on the backend. */
const engine = (file: string, timeoutMs = 120_000): Stage =>
  tests(file, timeoutMs, '--project', 'engine', '-t', 'memory', `test/engine/${file}`);

/** Titles that have this in them. */
const about = (titles: string): string => `.*(${titles})`;

/** The contract on one backend, or those of its cases whose titles this is about. */
const contractOf = (backend: 'memory' | 'redis', titles = '.*'): Stage =>
  tests(
    `contract of ${backend === 'memory' ? 'memory' : 'Redis'}`,
    300_000,
    // By one protocol: what Lua does is the same for both.
    ...['--project', 'contract', backend, '-t', `contract: ${backend}(?!,)${titles}`],
  );

const model = (backend: 'memory' | 'redis', runs: number): Stage => ({
  name: `model on ${backend === 'memory' ? 'memory' : 'Redis'}`,
  command: [
    ...['tsx', 'test/model/run.ts', '--quick', '--seed', '7'],
    ...['--backend', backend, '--runs', String(runs)],
  ],
  timeoutMs: 300_000,
});

const REPLAY: Stage = {
  name: 'replay of clients that call at once',
  command: ['tsx', 'test/model/replay/run.ts', '--seed', '1', '--steps', '20000'],
  timeoutMs: 300_000,
};

/** Those with thousands of tasks last: they take as long as all others. */
const REDIS: readonly Stage[] = [
  model('redis', 150),
  contractOf('redis', `(?!.*(${AT_SCALE.source}))`),
  contractOf('redis', about(AT_SCALE.source)),
];

/** For laws of these topics, wherever they are broken. */
const ANYWHERE: Partial<Readonly<Record<Topic, readonly Stage[]>>> = {
  handed: [
    tests('hand-over', 240_000, '--project', 'redis', '--project', 'engine', 'hand-over', 'handed'),
  ],
  damage: [tests('damage', 240_000, '--project', 'redis', 'damage')],
  'at once': [REPLAY],
};

/** For laws that a backend breaks, by titles of the contract. */
const TITLES: Partial<Readonly<Record<Topic, string>>> = {
  edges: 'dependencies across users|cycles of dependencies|overlapping firings',
  schedules: 'schedules|overlapping firings',
  streams: 'streams',
  waits: 'waits|signals|questions|events|what comes after its time',
  xcom: 'xcom',
};

export function stagesOf(mutant: Mutant): readonly Stage[] {
  const { file, topic } = mutant;
  if (file.startsWith('src/backends/file/')) return [folderStage(mutant)];
  if (file.startsWith('src/schedules/timing/')) {
    return [tests('tests of schedules', 120_000, '--project', 'domain', 'cron.test', 'catch-up')];
  }
  if (file.startsWith('src/schedules/')) return [engine('schedules')];
  const anywhere = topic === undefined ? undefined : ANYWHERE[topic];
  if (anywhere !== undefined) return anywhere;
  const first = firstOf(mutant);
  if (isEngine(mutant)) return [...first, engine('runs', 300_000)];
  if (file.startsWith('src/graph/')) {
    return [loading('workflow', mutant), ...first, engine('runs', 300_000)];
  }
  const domain = file.startsWith('src/domain/') ? [loading('domain', mutant)] : [];
  const titles = topic === undefined ? undefined : TITLES[topic];
  const isRedis = file.includes('/redis/');
  if (titles !== undefined) {
    return [...domain, ...first, contractOf(isRedis ? 'redis' : 'memory', about(titles))];
  }
  if (isRedis) return [...first, ...REDIS];
  return [...domain, model('memory', 1_500), contractOf('memory')];
}

export function isLua({ file }: Mutant): boolean {
  return file.endsWith('.lua');
}

/** Above the backends and the rules. */
function isEngine({ file }: Mutant): boolean {
  return !/^src\/(backends|domain|graph)\//.test(file);
}

/** Tests of data folders; with `first`, only those. */
function folderStage({ first = '' }: Mutant): Stage {
  const files = first.split(' ').map((name) => `test/file/${name}`);
  const timeoutMs = first === '' ? 300_000 : 90_000;
  return tests(first, timeoutMs, '--testTimeout', '20000', '--project', 'file', ...files);
}

function firstOf({ first, file }: Mutant): readonly Stage[] {
  if (first === undefined) return [];
  if (!file.endsWith('.lua')) return [engine(first)];
  return [tests(first, 120_000, '--project', 'redis', `test/redis/${first}`)];
}
