/**
 * Proof by real histories: many clients of one Redis at once; every step that the server took is replayed in its order on
 * the memory engine and the oracle, and every answer is compared.
 *
 *   npm run replay -- --steps 20000 --seed 7
 *   npm run replay -- --log file    what a failure has written down, one call after another on each engine
 *
 * Prints what was done; a difference with its seed, both answers and the steps before it, and exits 1.
 */
import { parseArgs } from 'node:util';
import { startRedis } from '../../support/redis/redis-server.ts';
import { playAgain } from './again.ts';
import { playByMany } from './fleet.ts';
import { History } from './history.ts';
import { Difference, newTally } from './replayer.ts';

/** Calls of one history, or of each process of one; then the next namespace begins. */
const CALLS = 400;

/** One history of so many is one of several processes, which takes some seconds to begin. */
const BY_MANY = 8;

const { values } = parseArgs({
  options: {
    steps: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    log: { type: 'string' },
  },
});

process.exitCode = await main();

async function main(): Promise<number> {
  const steps = Number(values.steps);
  const first = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
  if (!Number.isSafeInteger(steps) || steps < 1 || !Number.isSafeInteger(first)) {
    console.error('--steps and --seed are whole numbers');
    return 2;
  }
  const server = await startRedis();
  if (values.log !== undefined) {
    try {
      await playAgain({ path: server.socket }, values.log);
      return 0;
    } catch (error) {
      console.error(error instanceof Difference ? error.message : error);
      return 1;
    } finally {
      await server.stop();
    }
  }
  const tally = newTally();
  const started = performance.now();
  try {
    for (let seed = first; tally.steps < steps; seed += 1) {
      try {
        const playOne = (seed - first) % BY_MANY === BY_MANY - 1 ? playByMany : History.play;
        await playOne({ path: server.socket }, seed, CALLS, tally);
      } catch (error) {
        console.error(error instanceof Difference ? error.message : error);
        console.error(`\nalone: npm run replay -- --steps 1 --seed ${seed}`);
        return 1;
      }
    }
  } finally {
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    console.log(
      `seed ${first}: ${tally.steps} steps, ${tally.answers} answers compared, ${seconds} s`,
    );
    console.log(
      `${tally.spread} looks in several steps, ${tally.left} histories left at one; ${tally.kills} processes killed`,
    );
    const rows = [...tally.verbs].sort(([, one], [, other]) => other - one);
    for (const [verb, times] of rows) console.log(`${String(times).padStart(9)}  ${verb}`);
    await server.stop();
  }
  return 0;
}
