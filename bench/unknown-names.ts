/**
 * The cost of two workers of one queue with different names, compared with two queues with a worker each:
 * `npx tsx bench/unknown-names.ts --tasks 20000 --rounds 3`. Row F69; the figures are in docs/performance.md.
 */
import { parseArgs } from 'node:util';
import { call, Fairloom, silentLogger, task } from '../src/index.ts';
import { redis } from '../src/redis.ts';
import { type ServerCost, serverCost, startBenchRedis } from './kit/bench-redis.ts';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    users: { type: 'string', default: '100' },
    slots: { type: 'string', default: '100' },
  },
});

const [tasks, users, slots] = [values.tasks, values.users, values.slots].map(Number) as [
  number,
  number,
  number,
];
const left = task('left', async (n: number) => n);
const right = task('right', async (n: number) => n);

interface Figures {
  /** Until all of both names had ended. */
  readonly perSecond: number;
  /** Of Redis per task: other work on the machine hardly affects it. */
  readonly cost: ServerCost;
}

async function round(queues: readonly [string, string]): Promise<Figures> {
  const server = await startBenchRedis('volatile');
  const open = (known: readonly (typeof left)[]): Fairloom =>
    new Fairloom({ backend: redis(server.url), log: silentLogger, tasks: [...known] });
  const [all, one, two] = [open([left, right]), open([left]), open([right])];
  try {
    for (let from = 0; from < tasks; from += 1_000) {
      const some = Array.from({ length: 500 }, (_, at) => from + 2 * at);
      await all.enqueueMany(
        some.map((n) => call(left, n, { user: `u${(n / 2) % users}`, queue: queues[0] })),
      );
      await all.enqueueMany(
        some.map((n) => call(right, n, { user: `u${(n / 2) % users}`, queue: queues[1] })),
      );
    }
    const before = await server.snapshot();
    const began = performance.now();
    const workers = [
      one.worker({ queues: [queues[0]], concurrency: slots }),
      two.worker({ queues: [queues[1]], concurrency: slots }),
    ];
    for (const worker of workers) await worker.start();
    for (;;) {
      const { counts } = await all.stats();
      if (counts.finished >= tasks) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const seconds = (performance.now() - began) / 1_000;
    const cost = serverCost(before, await server.snapshot(), tasks);
    for (const worker of workers) await worker.stop();
    return { perSecond: Math.round(tasks / seconds), cost };
  } finally {
    for (const loom of [all, one, two]) await loom.close();
    await server.stop();
  }
}

for (let n = 0; n < Number(values.rounds); n++) {
  const two = await round(['left', 'right']);
  const one = await round(['both', 'both']);
  console.log(JSON.stringify({ tasks, users, slots, twoQueues: two, oneQueue: one }));
}
