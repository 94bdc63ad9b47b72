/** Many workers lose their server at the same instant. */
import { Fairloom, silentLogger, task } from 'fairloom';
import { redis } from 'fairloom/redis';
import { expect, it } from 'vitest';
import { atEnd, freshPrefix, proxyTo } from './kit.ts';

const WORKERS = 50;
/** How long the server is away, in ms. */
const AWAY_MS = 4_000;
/** The first second is the noticing: everybody was cut at once. */
const NOTICE_MS = 1_000;
/** Attempts are counted in slices of this length, in ms. */
const SLICE_MS = 100;

const work = task('work', (n: number) => n);

// O95.11
it('fifty workers come back spread out, not all at once', async () => {
  const proxy = await proxyTo();
  const prefix = freshPrefix();
  const open = (): Fairloom => {
    const backend = redis(proxy.url, { prefix });
    return new Fairloom({ backend, tasks: [work], log: silentLogger });
  };
  const looms = Array.from({ length: WORKERS }, open);
  atEnd(async () => {
    await Promise.all(looms.map((loom) => loom.close({ timeout: '3s' })));
  });
  await Promise.all(looms.map((loom) => loom.worker({ concurrency: 1 }).start()));
  proxy.refuse(true);
  proxy.cut();
  const cutAt = performance.now();
  await new Promise((resolve) => setTimeout(resolve, AWAY_MS));
  proxy.refuse(false);

  const later = proxy.refusals.filter((at) => at - cutAt > NOTICE_MS);
  // All at once would fill a few of them, also on a busy machine.
  const slices = new Set(later.map((at) => Math.floor(at / SLICE_MS)));
  // Two connections per worker, each at most about twice a second.
  const seconds = (AWAY_MS - NOTICE_MS) / 1_000;
  expect(later.length / seconds).toBeLessThan(WORKERS * 2 * 2.5);
  expect(slices.size).toBeGreaterThan((seconds * 1_000) / SLICE_MS / 3);

  const [loom] = looms;
  const handles = await Promise.all(
    Array.from({ length: WORKERS }, (_, n) => loom?.enqueue(work, n).catch(() => undefined)),
  );
  for (const handle of handles) await handle?.result({ timeout: '10s' });
  expect(handles.filter((handle) => handle !== undefined).length).toBeGreaterThan(0);
});
