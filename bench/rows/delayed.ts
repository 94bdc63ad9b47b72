import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { openFleet } from '../kit/fleet.ts';
import { now } from '../kit/now.ts';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import type { RedisSideName, Work } from '../kit/side.ts';
import { REDIS_SIDES } from '../kit/sides.ts';
import { percentile, rounded } from '../kit/statistics.ts';
import { openSide } from '../sides/open-side.ts';

const TASKS = 10_000;
/** They are due within this time, in ms, evenly. */
const SPAN_MS = 5_000;
/** Time to store them all before the first is due, in ms. */
const LEAD_MS = 2_000;
const BATCH = 1_000;
const USERS = 10;

export const delayed: Bench = {
  name: 'delayed',
  about:
    '10,000 tasks of 10 users that fall due evenly over 5 s, 100 slots in another process: start ' +
    'of the handler against the due time.',
  sides: REDIS_SIDES.map((name) => ({
    name,
    run: (context) => delayedRound(context, name, TASKS),
  })),
  rows: [
    {
      table: 'redis',
      measure: 'delayed, 10,000 over 5 s: lateness p50 / p99',
      metrics: ['p50', 'p99'],
      unit: 'ms',
      better: 'less',
      goals: [
        { kind: 'most', metric: 'p50', value: 5, of: 'p50' },
        { kind: 'most', metric: 'p99', value: 30, of: 'p99' },
      ],
    },
  ],
};

/** This many tasks, of which the first is due after a while and the last within `SPAN_MS`. */
export async function delayedRound(
  context: BenchContext,
  side: RedisSideName,
  full: number,
): Promise<Figures> {
  const redis = await context.redis();
  const random = context.random();
  const order = { side, url: redis.url, slots: 100, handlerMs: 0 } as const;
  const fleet = await openFleet({ ...order, processes: 1, delayed: true, keepStarts: false });
  const producer = await (await openSide(side)).producer(redis.url);
  const tasks = context.size(full);
  try {
    await fleet.start();
    const base = now() + LEAD_MS;
    for (let from = 0; from < tasks; from += BATCH) {
      const works = Array.from({ length: Math.min(BATCH, tasks - from) }, (): Work => {
        const due = Math.round(base + random() * SPAN_MS);
        const delayMs = Math.max(0, Math.round(due - now()));
        return {
          payload: { ...HUNDRED_BYTES, t: due },
          user: `user-${(from / BATCH) % USERS}`,
          delayMs,
        };
      });
      await producer.addMany(works);
    }
    await fleet.handled(tasks);
    const { latencies } = await fleet.finish();
    return { p50: rounded(percentile(latencies, 50)), p99: rounded(percentile(latencies, 99)) };
  } finally {
    await producer.close();
    fleet.kill();
  }
}
