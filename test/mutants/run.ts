/**
 * Do the tests notice? Each mutant breaks one thing in a copy of the repository; then tests run, the cheapest first,
 * until one fails. Exits 1 when a law can be broken unnoticed.
 *
 *   npm run mutants                                    one mutant for each law
 *   npm run mutants -- --only token                    those whose law or file has this text; may be given more than once
 *   npm run mutants -- --jobs 1                        one at a time; otherwise two, each with a Redis of its own
 *   npm run mutants -- --from 20                       goes on where another run was cut off: its lines are numbered
 *   npm run mutants -- --make src/graph --most 40      mutants made of these files, so many of them, evenly chosen
 *
 * Before that all tests run on what nothing is broken in: one that fails would kill every mutant.
 */
import { parseArgs } from 'node:util';
import { filesBelow, read } from '../support/files.ts';
import { startRedis } from '../support/redis/redis-server.ts';
import { ALL_MUTANTS } from './all.ts';
import { mutantsOf } from './make.ts';
import type { Mutant } from './mutants.ts';
import { BUNDLE, isLua, stagesOf } from './stages.ts';
import { Workshop } from './workshop.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    make: { type: 'string' },
    most: { type: 'string', default: '60' },
    jobs: { type: 'string', default: '2' },
    from: { type: 'string', default: '1' },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const all = values.make === undefined ? ALL_MUTANTS : made(values.make, Number(values.most));
  const chosen = all
    .filter(({ name }) => values.only.some((text) => name.includes(text)))
    .slice(Number(values.from) - 1);
  const jobs = Math.max(1, Number(values.jobs));
  const benches = await Promise.all(Array.from({ length: jobs }, openBench));
  try {
    const unsound = await unsoundStages(benches, chosen);
    for (const { name, output } of unsound) console.log(`fails as it is: ${name}\n${output}`);
    if (unsound.length > 0) return 1;
    const alive = await tryAll(benches, chosen);
    const killed = chosen.length - alive;
    console.log(`\n${chosen.length} mutants, ${killed} killed`);
    // Of those that are made some change nothing that a test could see.
    return alive > 0 && values.make === undefined ? 1 : 0;
  } finally {
    for (const { workshop, redis } of benches) {
      workshop.close();
      await redis.stop();
    }
  }
}

/** At most so many mutants of a file, or of all files of a folder. */
function made(path: string, most: number): readonly Mutant[] {
  const files = /\.(ts|lua)$/.test(path)
    ? [path]
    : filesBelow(path, /(?<!\.generated|\.d)\.(ts|lua)$/).filter(
        (file) => !/\/expanded\//.test(file),
      );
  const all = files.flatMap((file) => mutantsOf(file, read(file)));
  const count = Math.min(most, all.length);
  return Array.from(
    { length: count },
    (_, at) => all[Math.floor((at * all.length) / count)],
  ).filter((one) => one !== undefined);
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

/** How many live. */
async function tryAll(benches: readonly Bench[], chosen: readonly Mutant[]): Promise<number> {
  let alive = 0;
  const isLuaOld = new Set<Bench>();
  await share(benches, chosen, async (mutant, bench, place) => {
    const { workshop } = bench;
    // A mutant of Lua is put together anew; the others need the scripts whole.
    if (isLua(mutant)) isLuaOld.add(bench);
    else if (isLuaOld.delete(bench)) await workshop.run(BUNDLE.command, BUNDLE.timeoutMs);
    const killer = await tryOut(workshop, mutant);
    if (killer === undefined) alive++;
    const number = String(place + Number(values.from)).padStart(3);
    const what = killer === undefined ? 'ALIVE ' : 'killed';
    console.log(`${number} ${what}  ${mutant.name}  ${killer ?? ''}`);
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
      // That is no mutant, but a fault of the list: it lives until it is corrected.
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
