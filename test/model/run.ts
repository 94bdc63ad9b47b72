/**
 * Random histories against the oracle, by hand and at night:
 *
 *   npm run model -- --runs 10000 --backend memory --seed 7
 *
 * `--quick` stops at the first failure as it is, and keeps nothing: for the mutants, and for long
 * runs. A failure tells its path: with `--seed` and `--path` that history runs alone, and without
 * `--quick` it is shortened. `--backend both` runs each history on memory and on Redis at
 * once, `file` on data whose owner dies before every call.
 * Prints how often each step and each pair of state and event was met, and exits 1 when one never
 * was, or when a history failed; that history is kept in seeds.json.
 */
import { parseArgs } from 'node:util';
import { connectionTo } from '../../src/backends/redis/connection/target.ts';
import {
  allowedPairs,
  type Failure,
  keepSeed,
  keptSeeds,
  neverMet,
  OCCASIONS,
  type Open,
  type Report,
  type RunOptions,
  replay,
  runHistories,
} from './check.ts';
import { openerOf, type Which } from './subjects.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    backend: { type: 'string', default: 'memory' },
    seed: { type: 'string' },
    path: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const { backend } = values;
  if (backend !== 'memory' && backend !== 'file' && backend !== 'redis' && backend !== 'both') {
    console.error('--backend is memory, file, redis or both');
    return 2;
  }
  const { path, quick } = values;
  const runs = path === undefined ? Number(values.runs) : 1;
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
  if (!Number.isSafeInteger(runs) || runs < 1 || !Number.isSafeInteger(seed)) {
    console.error('--runs and --seed are whole numbers');
    return 2;
  }
  if (path !== undefined && (values.seed === undefined || !/^\d+(:\d+)*$/.test(path))) {
    console.error('--path is what a failure printed, with its --seed');
    return 2;
  }
  return check(backend, { runs, seed, path, quick });
}

async function check(backend: Which, options: RunOptions): Promise<number> {
  const started = performance.now();
  const url = process.env['FAIRLOOM_REDIS_URL'];
  const { open, close } = await openerOf(backend, url === undefined ? url : connectionTo(url));
  try {
    if (!options.quick) await replayKept(open, options);
    const report = await runHistories(open, options);
    print(report, (performance.now() - started) / 1000);
    if (report.failure !== undefined) return failed(report.failure, backend, options);
    // What breaks a rule mostly fails in the first histories: these few seconds are for the rest.
    if (options.quick) await replayKept(open, options);
    return options.quick || options.path !== undefined ? 0 : verdict(report);
  } finally {
    await close();
  }
}

/** Histories that failed once must not any more. */
async function replayKept(open: Open, { path }: RunOptions): Promise<void> {
  for (const { note, steps } of path === undefined ? keptSeeds() : []) {
    console.log(`kept: ${note}`);
    await replay(open, steps);
  }
}

function print({ runs, seed, counters }: Report, seconds: number): void {
  console.log(`${runs} histories, seed ${seed}, ${seconds.toFixed(1)} s`);
  const rows = [...counters.steps].sort(([, one], [, other]) => other - one);
  for (const [name, times] of rows) console.log(`${String(times).padStart(9)}  ${name}`);
  for (const pair of [...allowedPairs(), ...OCCASIONS]) {
    console.log(`${String(counters.events.get(pair) ?? 0).padStart(9)}  ${pair}`);
  }
}

function failed(
  { error, steps, seed, path }: Failure,
  backend: Which,
  { quick }: RunOptions,
): number {
  if (!quick) keepSeed({ note: `found on ${backend} with seed ${seed}`, steps });
  console.error(quick ? error : `${error}\n\n${JSON.stringify(steps, undefined, 2)}`);
  console.error(`\nalone: npm run model -- --backend ${backend} --seed ${seed} --path ${path}`);
  return 1;
}

function verdict({ counters }: Report): number {
  const never = neverMet(counters);
  if (never.length > 0) console.error(`never met: ${never.join(', ')}`);
  return never.length > 0 ? 1 : 0;
}
