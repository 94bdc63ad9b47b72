/** A worker whose handlers stream, in a process of its own; readers are in another one. */
import type { Figures } from '../kit/bench.ts';
import { loadFairloom, loadFairloomRedis } from '../kit/fairloom-package.ts';
import { now, sleep } from '../kit/now.ts';

/** Chunks that are written before the handler awaits its writes. */
const AHEAD = 500;
/** Between two chunks of the slow stream, in ms. */
const PAUSE_MS = 5;

/** Serves one task that writes as fast as possible, then one that writes at intervals. */
export async function measure(url: string): Promise<Figures> {
  const [{ Fairloom, task }, { redis }] = await Promise.all([loadFairloom(), loadFairloomRedis()]);
  let perSecond = 0;
  let isOver = (): void => {};
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const flood = task('flood', async (chunks: number, ctx) => {
    const tokens = ctx.stream('tokens');
    const started = performance.now();
    for (let n = 1; n <= chunks; n++) {
      const stored = tokens.write({ n, token: 'twenty characters or' });
      if (n % AHEAD === 0) await stored;
    }
    await tokens.close();
    perSecond = (chunks / (performance.now() - started)) * 1_000;
  });
  const drip = task('drip', async (chunks: number, ctx) => {
    for (let n = 0; n < chunks; n++) {
      await sleep(PAUSE_MS);
      await ctx.stream('tokens').write(now());
    }
    isOver();
  });
  const loom = new Fairloom({ backend: redis(url), tasks: [flood, drip] });
  await loom.worker().start();
  await over;
  await loom.close();
  return { perSecond };
}
