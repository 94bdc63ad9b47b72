import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { openFleet } from '../kit/fleet.ts';
import { now, sleep } from '../kit/now.ts';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import type { RedisSideName } from '../kit/side.ts';
import { REDIS_SIDES } from '../kit/sides.ts';
import { percentile, rounded } from '../kit/statistics.ts';
import { openSide } from '../sides/open-side.ts';

const TASKS = 1_000;
/** Long enough for the worker to be idle again, in ms. */
const PAUSE_MS = 5;
/** The first ones run cold code and are excluded. */
const COLD = 50;

export const idleLatency: Bench = {
  name: 'idle-latency',
  about:
    'One task every 5 ms, to an idle worker with 10 slots in another process: from the call to the ' +
    'start of the handler.',
  sides: REDIS_SIDES.map((name) => ({ name, run: (context) => latencyRound(context, name) })),
  rows: [
    {
      table: 'redis',
      measure: 'idle latency, enqueue → start, p50 / p99',
      metrics: ['p50', 'p99'],
      unit: 'ms',
      better: 'less',
      goals: [{ kind: 'times', side: 'bee-queue', times: 1 }],
    },
  ],
};

async function latencyRound(context: BenchContext, side: RedisSideName): Promise<Figures> {
  const redis = await context.redis();
  const order = { side, url: redis.url, slots: 10, handlerMs: 0 } as const;
  const fleet = await openFleet({ ...order, processes: 1, delayed: false, keepStarts: false });
  const producer = await (await openSide(side)).producer(redis.url);
  const tasks = context.size(TASKS) + COLD;
  try {
    await fleet.start();
    for (let at = 0; at < tasks; at++) {
      await producer.add({ payload: { ...HUNDRED_BYTES, t: now() }, user: 'user-0' });
      await sleep(PAUSE_MS);
    }
    await fleet.handled(tasks);
    const latencies = (await fleet.finish()).latencies.slice(COLD);
    return { p50: rounded(percentile(latencies, 50)), p99: rounded(percentile(latencies, 99)) };
  } finally {
    await producer.close();
    fleet.kill();
  }
}
