import type { Backend } from '../../src/domain/port/backend.ts';
import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { loadFairloom, loadFairloomRedis } from '../kit/fairloom-package.ts';
import { newTask } from '../kit/lease-cost.ts';
import { rounded } from '../kit/statistics.ts';

/** Weights of 31 users at most: this many have a class of their own. */
const RANDOM_USERS = 31;
const TURNS = 2_000;
const BATCH = 50;
const CHUNK = 1_000;
const LEASE_MS = 3_600_000;

export const weightedShare: Bench = {
  name: 'weighted-share',
  about:
    '2,000 turns among users who always have work: after every single turn, how far is each ' +
    'user’s number of turns from its exact share of all turns so far? The largest distance, over ' +
    'weights 100/10/1, 7/3/1 and 31 random ones.',
  sides: [
    {
      name: 'fairloom-redis',
      run: async (context) => {
        const server = await context.redis();
        const { redis } = await loadFairloomRedis();
        return deviations(context, async () => {
          await server.flush();
          return redis(server.url);
        });
      },
    },
    {
      name: 'fairloom-memory',
      run: async (context) => {
        const { memory } = await loadFairloom();
        return deviations(context, async () => memory());
      },
    },
  ],
  rows: [row('fairloom-redis', 'on Redis'), row('fairloom-memory', 'embedded')],
};

function row(subject: 'fairloom-redis' | 'fairloom-memory', where: string): Bench['rows'][number] {
  return {
    table: 'fairness',
    subject,
    measure: `largest deviation ${where}: 100/10/1, 7/3/1, random`,
    metrics: ['deviation100', 'deviation7', 'deviationRandom'],
    unit: 'turns',
    better: 'less',
    goals: [{ kind: 'most', metric: 'deviation', value: 1 }],
  };
}

async function deviations(context: BenchContext, open: () => Promise<Backend>): Promise<Figures> {
  const random = context.random();
  const anyWeights = Array.from({ length: RANDOM_USERS }, () => 1 + Math.floor(random() * 10_000));
  const turns = context.size(TURNS);
  const deviation100 = await deviationOf(await open(), [10_000, 1_000, 100], turns);
  const deviation7 = await deviationOf(await open(), [700, 300, 100], turns);
  const deviationRandom = await deviationOf(await open(), [...new Set(anyWeights)], turns);
  const deviation = Math.max(deviation100, deviation7, deviationRandom);
  return { deviation100, deviation7, deviationRandom, deviation };
}

/** In turns. The weights are hundredths. */
async function deviationOf(
  backend: Backend,
  weights: readonly number[],
  turns: number,
): Promise<number> {
  const retention = { finishedMs: LEASE_MS, failedMs: LEASE_MS, canceledMs: LEASE_MS };
  await backend.open({ retention });
  const worker = { id: 'bench', queues: ['default'], names: ['noop'], host: 'bench' };
  await backend.workers.register({ ...worker, concurrency: turns });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  for (const [at, weight] of weights.entries()) {
    await backend.users.set(`user-${at}`, { weight }, {});
    // More than its share, so that it has tasks until the end.
    const tasks = Math.ceil((turns * weight) / sum) + BATCH;
    for (let from = 0; from < tasks; from += CHUNK) {
      const chunk = Array.from({ length: Math.min(CHUNK, tasks - from) }, (_, nth) =>
        newTask(`user-${at}`, from + nth),
      );
      await backend.tasks.enqueue(chunk, { atomic: false });
    }
  }
  const sequence = await leased(backend, turns);
  await backend.close();
  return rounded(largestDeviation(sequence, weights, sum));
}

/** The users of this many turns, in order. */
async function leased(backend: Backend, turns: number): Promise<readonly string[]> {
  const sequence: string[] = [];
  while (sequence.length < turns) {
    const { leases } = await backend.tasks.lease({
      requestId: `bench${String(sequence.length).padStart(8, '0')}`,
      worker: 'bench',
      limit: Math.min(BATCH, turns - sequence.length),
      leaseMs: LEASE_MS,
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
      wait: false,
    });
    if (leases.length === 0) throw new Error(`nothing left after ${sequence.length} turns`);
    for (const { user } of leases) sequence.push(user);
  }
  return sequence;
}

function largestDeviation(
  sequence: readonly string[],
  weights: readonly number[],
  sum: number,
): number {
  const served = weights.map(() => 0);
  let largest = 0;
  for (const [turn, user] of sequence.entries()) {
    const at = Number(user.slice('user-'.length));
    served[at] = (served[at] ?? 0) + 1;
    for (const [index, weight] of weights.entries()) {
      const exact = ((turn + 1) * weight) / sum;
      largest = Math.max(largest, Math.abs((served[index] ?? 0) - exact));
    }
  }
  return largest;
}
