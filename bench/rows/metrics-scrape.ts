import * as client from 'prom-client';
import type { Backend } from '../../src/domain/port/backend.ts';
import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { loadFairloom, loadFairloomMetrics, loadFairloomRedis } from '../kit/fairloom-package.ts';
import { fillUsers } from '../kit/lease-cost.ts';
import { percentile, rounded } from '../kit/statistics.ts';

const USERS = 100_000;
/** Scrapes before the measurement: cold code is not meaningful. */
const WARM = 20;
const SCRAPES = 100;

export const metricsScrape: Bench = {
  name: 'metrics-scrape',
  about:
    'One queue, 100,000 users with a waiting task each, `prometheus({ client })` without users as ' +
    'labels: 100 calls of `text()`, one after the other, until the text is there.',
  sides: [
    { name: 'fairloom-redis', run: onRedis },
    { name: 'fairloom-memory', run: embedded },
  ],
  rows: [row('fairloom-redis', 'on Redis'), row('fairloom-memory', 'embedded')],
};

function row(subject: 'fairloom-redis' | 'fairloom-memory', where: string): Bench['rows'][number] {
  return {
    table: 'looking',
    subject,
    measure: `metrics scrape ${where} with 100,000 users: p50 / p99`,
    metrics: ['p50', 'p99'],
    unit: 'ms',
    better: 'less',
    goals: [{ kind: 'most', metric: 'p99', value: 50, of: 'p99' }],
  };
}

async function onRedis(context: BenchContext): Promise<Figures> {
  const [server, { redis }] = await Promise.all([context.redis(), loadFairloomRedis()]);
  return scrapes(redis(server.url), context.size(USERS));
}

async function embedded(context: BenchContext): Promise<Figures> {
  const { memory } = await loadFairloom();
  return scrapes(memory(), context.size(USERS));
}

async function scrapes(backend: Backend, users: number): Promise<Figures> {
  const [{ Fairloom }, { prometheus }] = await Promise.all([loadFairloom(), loadFairloomMetrics()]);
  await fillUsers(backend, users);
  const metrics = prometheus({ client });
  const loom = new Fairloom({ backend, metrics });
  try {
    const taken: number[] = [];
    for (let at = 0; at < WARM + SCRAPES; at++) {
      const started = performance.now();
      const text = await metrics.text();
      if (at >= WARM) taken.push(performance.now() - started);
      if (!text.includes('fairloom_store_up 1')) throw new TypeError('the store was not reached');
    }
    return { p50: rounded(percentile(taken, 50)), p99: rounded(percentile(taken, 99)) };
  } finally {
    await loom.close();
  }
}
