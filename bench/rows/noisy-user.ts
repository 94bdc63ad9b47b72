import type { Bench, BenchContext, BenchSide, Figures } from '../kit/bench.ts';
import { openFleet } from '../kit/fleet.ts';
import { now } from '../kit/now.ts';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import type { RedisSideName, Work } from '../kit/side.ts';
import { jain, percentile, rounded } from '../kit/statistics.ts';
import type { WorkerReport } from '../kit/worker-messages.ts';
import { openSide } from '../sides/open-side.ts';

const NOISY = 'noisy';
const NOISY_TASKS = 20_000;
const QUIET_USERS = 99;
const QUIET_TASKS = 20;
const SLOTS = 10;
const HANDLER_MS = 1;
const BATCH = 1_000;

export const noisyUser: Bench = {
  name: 'noisy-user',
  about:
    '20,000 tasks of one user stored first, then 20 of each of 99 others; then a worker starts: ' +
    '10 slots, a handler of 1 ms. The wait of the 99 counts from the start of the worker; Jain’s ' +
    'index is that of the 100 users’ shares in the first 2,000 tasks that ended (1: all equal).',
  sides: [
    side('fairloom', 'fairloom', false),
    side('bullmq', 'bullmq', false),
    side('bullmq-priority', 'bullmq', true),
    side('bullmq-queues', 'bullmq-queues', false),
    side('bee-queue', 'bee-queue', false),
  ],
  rows: [
    {
      table: 'fairness',
      measure: 'wait of the quiet users, p99',
      metrics: ['quietP99'],
      unit: 'ms',
      better: 'less',
      goals: [{ kind: 'most', metric: 'quietP99', value: 400 }],
    },
    {
      table: 'fairness',
      measure: 'Jain’s index of the first 2,000 ends',
      metrics: ['jain'],
      unit: '',
      better: 'more',
      goals: [{ kind: 'least', metric: 'jain', value: 0.995 }],
    },
    {
      table: 'fairness',
      measure: 'speed meanwhile',
      metrics: ['perSecond'],
      unit: 'tasks/s',
      better: 'more',
      goals: [],
    },
  ],
};

function side(name: BenchSide['name'], library: RedisSideName, ranked: boolean): BenchSide {
  return { name, run: (context) => noisyRound(context, library, ranked) };
}

async function noisyRound(
  context: BenchContext,
  library: RedisSideName,
  ranked: boolean,
): Promise<Figures> {
  const redis = await context.redis();
  const noisy = context.size(NOISY_TASKS);
  const producer = await (await openSide(library)).producer(redis.url);
  const store = async (user: string, tasks: number): Promise<void> => {
    for (let from = 0; from < tasks; from += BATCH) {
      const count = Math.min(BATCH, tasks - from);
      await producer.addMany(
        Array.from({ length: count }, (_, at) => workOf(user, ranked ? from + at + 1 : undefined)),
      );
    }
  };
  await store(NOISY, noisy);
  for (let at = 0; at < QUIET_USERS; at++) await store(`quiet-${at}`, QUIET_TASKS);
  await producer.close();

  const order = { side: library, url: redis.url, slots: SLOTS, handlerMs: HANDLER_MS };
  const fleet = await openFleet({ ...order, processes: 1, delayed: false, keepStarts: true });
  try {
    const startedAt = now();
    await fleet.start();
    await fleet.handled(noisy + QUIET_USERS * QUIET_TASKS);
    return figuresOf(await fleet.finish(), startedAt);
  } finally {
    fleet.kill();
  }
}

function workOf(user: string, rank: number | undefined): Work {
  const work = { payload: { ...HUNDRED_BYTES, u: user }, user };
  return rank === undefined ? work : { ...work, rank };
}

function figuresOf({ starts, ends, count, firstAt, lastAt }: WorkerReport, from: number): Figures {
  const quiet = starts.filter(([user]) => user !== NOISY).map(([, at]) => at - from);
  const shares = new Map<string, number>([[NOISY, 0]]);
  for (let at = 0; at < QUIET_USERS; at++) shares.set(`quiet-${at}`, 0);
  const first = ends.slice(0, (QUIET_USERS + 1) * QUIET_TASKS);
  for (const user of first) shares.set(user, (shares.get(user) ?? 0) + 1);
  return {
    quietP50: rounded(percentile(quiet, 50)),
    quietP99: rounded(percentile(quiet, 99)),
    jain: rounded(jain([...shares.values()])),
    perSecond: rounded((count / (lastAt - firstAt)) * 1_000),
  };
}
