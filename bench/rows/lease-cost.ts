import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { loadFairloomRedis } from '../kit/fairloom-package.ts';
import { isolated } from '../kit/isolated.ts';
import { cycles, fillUsers } from '../kit/lease-cost.ts';
import { rounded } from '../kit/statistics.ts';

const POPULATIONS = [1_000, 10_000, 100_000, 1_000_000] as const;
const WARM_CYCLES = 20;
const CYCLES = 200;

export const leaseCost: Bench = {
  name: 'lease-cost',
  about:
    'Leases of 10 tasks while 10³, 10⁴, 10⁵ and 10⁶ users are ready, per task: time inside the ' +
    'script on Redis, time of the call on the embedded backend. Each leased task is ended and ' +
    'replaced, untimed, so that as many users stay ready.',
  rounds: 3,
  sides: [
    {
      name: 'fairloom-redis',
      run: (context) => grown(context, (users) => onRedis(context, users)),
    },
    {
      name: 'fairloom-memory',
      run: (context) =>
        grown(context, async (users) => {
          const order = { module: 'lease-cost', side: 'fairloom', size: users } as const;
          return (await isolated(order))['us'] ?? Number.NaN;
        }),
    },
  ],
  rows: [row('fairloom-redis', 'on Redis'), row('fairloom-memory', 'embedded')],
};

function row(subject: 'fairloom-redis' | 'fairloom-memory', where: string): Bench['rows'][number] {
  return {
    table: 'fairness',
    subject,
    measure: `lease cost ${where}: 10³ / 10⁴ / 10⁵ / 10⁶ ready users`,
    metrics: POPULATIONS.map(metricOf),
    unit: 'µs',
    better: 'less',
    goals: [{ kind: 'most', metric: 'growth', value: 1.3, of: 'last / first' }],
  };
}

async function grown(
  context: BenchContext,
  measure: (users: number) => Promise<number>,
): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const full of POPULATIONS)
    figures[metricOf(full)] = rounded(await measure(context.size(full)));
  const growth = (figures['us1e6'] ?? Number.NaN) / (figures['us1e3'] ?? Number.NaN);
  return { ...figures, growth: rounded(growth) };
}

function metricOf(users: number): string {
  return `us1e${Math.log10(users)}`;
}

async function onRedis(context: BenchContext, users: number): Promise<number> {
  const server = await context.redis();
  await server.flush();
  const { redis } = await loadFairloomRedis();
  const backend = redis(server.url);
  try {
    await fillUsers(backend, users);
    await cycles(backend, WARM_CYCLES, (act) => act());
    let us = 0;
    const leased = await cycles(backend, CYCLES, async (act) => {
      const before = await server.snapshot();
      const answer = await act();
      us += (await server.snapshot()).scriptUs - before.scriptUs;
      return answer;
    });
    return us / leased;
  } finally {
    await backend.close();
    await server.flush();
  }
}
