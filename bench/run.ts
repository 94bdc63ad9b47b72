/**
 * The bench: Fairloom beside the libraries that it is compared with, alternating in one run.
 *
 *   npm run bench                     everything; results go to bench/results/, tables to the docs
 *   npm run bench -- --only delayed   one bench; may be given more than once
 *   npm run bench:workflows           the rows of one table: --table workflows
 *   npm run bench -- --quick          a fiftieth of the work, once, to check that it runs; saves nothing
 *   npm run bench -- --dry            full size, saves nothing
 *   npm run bench -- --rounds 5       rounds of each side; default 3
 *   npm run bench -- --seed 7         for random values: due times, weights; default 1
 *   npm run bench -- --docs           only rewrites the tables of docs/performance.md
 *
 * It asserts nothing: the speed of a machine does not belong into a test.
 */
import { parseArgs } from 'node:util';
import { run } from '../scripts/run.ts';
import { BENCHES } from './benches.ts';
import { writePerformancePage } from './docs/performance-page.ts';
import type { Bench } from './kit/bench.ts';
import { originOf } from './kit/machine.ts';
import { type Result, saveResults } from './kit/results.ts';
import { runBench } from './kit/run-bench.ts';
import { lazyServers } from './kit/servers.ts';

const DEFAULT_ROUNDS = 3;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    dry: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    table: { type: 'string' },
    only: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});

if (values.docs) writePerformancePage();
else await main();

async function main(): Promise<void> {
  const benches = chosen();
  if (benches === undefined || !(await build())) return;
  const seed = Number(values.seed);
  const save = !values.quick && !values.dry;
  const at = new Date().toISOString();
  const servers = lazyServers();
  const started = performance.now();
  try {
    const origin = originOf((await servers.get('volatile')).version);
    console.log(JSON.stringify({ at, seed, ...origin }));
    for (const bench of benches) {
      console.log(bench.name);
      const print = (line: string): void => console.log(line);
      const options = { quick: values.quick, rounds: roundsOf(bench), seed, servers, print };
      const sides = await runBench(bench, options);
      const results = sides.map(
        ({ side, medians, rounds }): Result => ({
          bench: bench.name,
          side,
          at,
          seed,
          ...origin,
          medians,
          rounds,
        }),
      );
      if (save) saveResults(results);
    }
    if (save) writePerformancePage();
  } finally {
    await servers.stop();
  }
  console.log(`${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

/** `undefined` when a name is unknown, which has been reported. */
function chosen(): readonly Bench[] | undefined {
  const { only, table } = values;
  const tables = [...new Set(BENCHES.flatMap(({ rows }) => rows.map((row) => row.table)))];
  if (table !== undefined && !tables.some((name) => name === table)) {
    console.error(`no table "${table}"; there are ${tables.join(', ')}`);
    process.exitCode = 2;
    return undefined;
  }
  const unknown = only.filter((name) => !BENCHES.some((bench) => bench.name === name));
  if (unknown.length === 0) {
    return BENCHES.filter(({ name, rows }) => {
      const isOfTable = table === undefined || rows.some((row) => row.table === table);
      return isOfTable && (only.length === 0 || only.includes(name));
    });
  }
  const names = BENCHES.map(({ name }) => name).join(', ');
  console.error(`no bench "${unknown.join('", "')}"; there are ${names}`);
  process.exitCode = 2;
  return undefined;
}

function roundsOf(bench: Bench): number {
  if (values.quick) return 1;
  return values.rounds === undefined
    ? (bench.rounds ?? DEFAULT_ROUNDS)
    : Math.max(1, Number(values.rounds));
}

/** Measures the package as it is published. */
async function build(): Promise<boolean> {
  const { code, output } = await run(['tsx', 'scripts/ensure-build.ts']);
  if (code === 0) return true;
  console.error(output);
  process.exitCode = 1;
  return false;
}
