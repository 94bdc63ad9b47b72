import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { loadFairloom, loadFairloomRedis } from '../kit/fairloom-package.ts';
import { isolated } from '../kit/isolated.ts';
import { now } from '../kit/now.ts';
import { percentile, rounded } from '../kit/statistics.ts';

const FLOOD = 200_000;
const DRIP = 500;
/** The first ones run cold code and are excluded. */
const COLD = 50;

export const streams: Bench = {
  name: 'streams',
  about:
    'A handler in another process writes 200,000 chunks of 40 bytes to one stream, 500 of them before it ' +
    'waits for what it wrote, until all are stored, while a reader here reads along. Then it writes one ' +
    'chunk every 5 ms: from the call of `write` until the reader here has it.',
  sides: [{ name: 'fairloom', run: streamRound }],
  rows: [
    {
      table: 'redis',
      measure: 'chunks written to one stream',
      metrics: ['perSecond'],
      unit: 'chunks/s',
      better: 'more',
      goals: [{ kind: 'least', metric: 'perSecond', value: 20_000 }],
    },
    {
      table: 'redis',
      measure: 'stream, `write` → reader in another process, p50 / p99',
      metrics: ['p50', 'p99'],
      unit: 'ms',
      better: 'less',
      goals: [{ kind: 'most', metric: 'p50', value: 10, of: 'p50' }],
    },
  ],
};

async function streamRound(context: BenchContext): Promise<Figures> {
  const [{ url }, { Fairloom }, { redis }] = await Promise.all([
    context.redis(),
    loadFairloom(),
    loadFairloomRedis(),
  ]);
  const writing = isolated({ module: 'stream-writer', side: url, size: 0 });
  const loom = new Fairloom({ backend: redis(url) });
  try {
    const flood = await loom.enqueueByName('flood', context.size(FLOOD));
    for await (const _ of loom.streams.read(flood.id, 'tokens')) {
      // It only has to keep up.
    }
    const drip = await loom.enqueueByName('drip', context.size(DRIP) + COLD);
    const latencies: number[] = [];
    for await (const item of loom.streams.read<number>(drip.id, 'tokens')) {
      if (item.type === 'chunk') latencies.push(now() - item.value);
    }
    const { perSecond = 0 } = await writing;
    const counted = latencies.slice(COLD);
    return {
      perSecond: rounded(perSecond),
      p50: rounded(percentile(counted, 50)),
      p99: rounded(percentile(counted, 99)),
    };
  } finally {
    await loom.close();
  }
}
