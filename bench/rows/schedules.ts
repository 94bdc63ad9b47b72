import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import type { BenchRedis } from '../kit/bench-redis.ts';
import { loadFairloom, loadFairloomRedis } from '../kit/fairloom-package.ts';
import { sleep } from '../kit/now.ts';
import { percentile, rounded } from '../kit/statistics.ts';

/** Stored beside those that are measured. */
const STORED = 100_000;
/** Sets that are timed, one after the other. */
const SETS = 500;
/** Queries for due schedules, when none is due. */
const LOOKS = 200;
/** Schedules that are due in the same moment. */
const AT_ONCE = 1_000;
/** Schedules of one second each, spread evenly over it. */
const PER_SECOND = 1_000;
/** How long these fire, in ms; the first second runs cold code and is excluded. */
const SPAN_MS = 6_000;
const COLD_MS = 1_000;
/** Time to store schedules before the first slot, in ms. */
const LEAD_MS = 4_000;
const CALLS_AT_ONCE = 200;
const DAY_MS = 86_400_000;

export const schedules: Bench = {
  name: 'schedules',
  about:
    'With 100,000 schedules stored: 500 of `schedules.set` one after the other, mean; a look for ' +
    'what is due when nothing is, time in the server. 1,000 schedules that are due in one moment: ' +
    'until the last has fired. 1,000 schedules of one second each, spread evenly: start of the ' +
    'handler against the slot, 100 slots and the scheduler in one process.',
  rounds: 1,
  sides: [{ name: 'fairloom', run: scheduleRound }],
  rows: [
    row('schedules.set among 100,000', ['setMs'], 'ms', [
      { kind: 'most', metric: 'setMs', value: 2 },
    ]),
    row('idle look of a scheduler among 100,000, in Redis', ['lookUs'], 'µs', [
      { kind: 'most', metric: 'lookUs', value: 1_000 },
    ]),
    row('1,000 schedules due at once', ['burstMs'], 'ms', [
      { kind: 'most', metric: 'burstMs', value: 1_000 },
    ]),
    row('schedules at 1,000/s: lateness p50 / p99', ['p50', 'p99'], 'ms', [
      { kind: 'most', metric: 'p50', value: 5, of: 'p50' },
      { kind: 'most', metric: 'p99', value: 50, of: 'p99' },
    ]),
  ],
};

function row(
  measure: string,
  metrics: readonly string[],
  unit: string,
  goals: Bench['rows'][number]['goals'],
): Bench['rows'][number] {
  return { table: 'redis', measure, metrics, unit, better: 'less', goals };
}

async function scheduleRound(context: BenchContext): Promise<Figures> {
  const redis = await context.redis();
  const stored = await storedRound(redis, context);
  await redis.flush();
  const burstMs = await burstRound(redis, context.size(AT_ONCE));
  await redis.flush();
  return { ...stored, burstMs, ...(await steadyRound(redis, context.size(PER_SECOND))) };
}

async function open(url: string) {
  const [{ Fairloom, task }, { redis }] = await Promise.all([loadFairloom(), loadFairloomRedis()]);
  const lateness: number[] = [];
  const work = task('work', async (_input: undefined, ctx) => {
    lateness.push(Date.now() - Number(ctx.taskId.slice(ctx.taskId.lastIndexOf('.') + 1)));
  });
  const backend = redis(url);
  return { backend, loom: new Fairloom({ backend, tasks: [work] }), work, lateness };
}

async function storedRound(redis: BenchRedis, context: BenchContext): Promise<Figures> {
  const { backend, loom, work } = await open(redis.url);
  try {
    await loom.schedules.set('first', { every: DAY_MS, task: work });
    const { record, now } = await backend.schedules.get('first');
    if (record === undefined) throw new TypeError('the first schedule is not stored');
    await eachOf(context.size(STORED), async (at) => {
      const slot = now + DAY_MS + at;
      await backend.schedules.set({
        ...{ id: `s${at}`, revision: 0, spec: record.spec, paused: false, overlap: 'skip' },
        next: { slot, dueAt: slot },
      });
    });
    const sets = context.size(SETS);
    const started = performance.now();
    for (let at = 0; at < sets; at++) {
      await loom.schedules.set(`new-${at}`, { cron: '0 3 * * *', task: work });
    }
    const setMs = (performance.now() - started) / sets;
    const before = await redis.snapshot();
    for (let at = 0; at < LOOKS; at++) await backend.schedules.due({ owner: 'one', limit: 100 });
    const after = await redis.snapshot();
    return { setMs: rounded(setMs), lookUs: rounded((after.scriptUs - before.scriptUs) / LOOKS) };
  } finally {
    await loom.close();
  }
}

/** From the moment at which all are due until the last has fired. */
async function burstRound(redis: BenchRedis, count: number): Promise<number> {
  const { loom, work } = await open(redis.url);
  const slot = Date.now() + LEAD_MS;
  try {
    await eachOf(count, async (at) => {
      await loom.schedules.set(`s${at}`, { every: DAY_MS, start: slot, task: work });
    });
    let fired = 0;
    const scheduler = loom.scheduler();
    const all = new Promise<number>((resolve) => {
      scheduler.on('schedule.fired', () => {
        fired++;
        if (fired === count) resolve(Date.now() - slot);
      });
    });
    await scheduler.start();
    return await all;
  } finally {
    await loom.close();
  }
}

async function steadyRound(redis: BenchRedis, count: number): Promise<Figures> {
  const { loom, work, lateness } = await open(redis.url);
  const first = Date.now() + LEAD_MS;
  try {
    await eachOf(count, async (at) => {
      const start = first + Math.floor((at * 1_000) / count);
      await loom.schedules.set(`s${at}`, { every: '1s', start, task: work, overlap: 'allow' });
    });
    await loom.worker({ concurrency: 100 }).start();
    await sleep(first + COLD_MS - Date.now());
    lateness.length = 0;
    await sleep(SPAN_MS - COLD_MS);
    return { p50: rounded(percentile(lateness, 50)), p99: rounded(percentile(lateness, 99)) };
  } finally {
    await loom.close();
  }
}

/** Calls it for each number below `count`, many at once. */
async function eachOf(count: number, act: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const queues = Array.from({ length: Math.min(CALLS_AT_ONCE, count) }, async () => {
    for (let at = next++; at < count; at = next++) await act(at);
  });
  await Promise.all(queues);
}
