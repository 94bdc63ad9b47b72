/** The namespace of the measured pages: processes that fill it, work it off, and serve it. */
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { httpApi, nodeHandler } from '../../src/http.ts';
import { call, Fairloom, silentLogger, task } from '../../src/index.ts';
import { redis } from '../../src/redis.ts';

/** Tasks of one batch while the namespace is filled. */
const BATCH = 5_000;
/** Batches per second while the namespace is worked off. */
const BATCHES_PER_S = 20;

const work = task('work', async (_: { readonly n: number }) => undefined);

/** A client of the namespace. */
export function openLoom(url: string): Fairloom {
  return new Fairloom({ backend: redis(url), log: silentLogger, tasks: [work] });
}

/** Stores this many waiting tasks, spread evenly over the users `u0`, `u1`, and so on. */
export async function fill(url: string, tasks: number, users: number): Promise<void> {
  const loom = openLoom(url);
  for (let from = 0; from < tasks; from += BATCH) {
    const calls = Array.from({ length: Math.min(BATCH, tasks - from) }, (_, n) =>
      call(work, { n }, { user: `u${(from + n) % users}` }),
    );
    await loom.enqueueMany(calls);
  }
  await loom.close();
}

/** Runs tasks at a rate, and stores as many, until it is killed. */
export async function load(url: string, rate: number, users: number): Promise<void> {
  const loom = openLoom(url);
  await loom.queues.set('default', { rate: { limit: rate, per: '1s', burst: rate } });
  await loom.worker({ concurrency: 100 }).start();
  process.send?.({ ready: true });
  const share = Math.ceil(rate / BATCHES_PER_S);
  for (let n = 0; ; n++) {
    const calls = Array.from({ length: share }, (_, k) =>
      call(work, { n }, { user: `u${(n * share + k) % users}` }),
    );
    await Promise.all([loom.enqueueMany(calls), pause(1_000 / BATCHES_PER_S)]);
  }
}

/** API and page; reports its port to the parent, and answers each message with its memory, in bytes. */
export function serve(url: string): void {
  const api = httpApi(openLoom(url), {
    access: () => 'read',
    rate: { limit: 1_000_000, per: '1s' },
  });
  const server = createServer(nodeHandler(api));
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
  });
  process.on('message', () => process.send?.({ rss: process.memoryUsage().rss }));
}
