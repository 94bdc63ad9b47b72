import type { Bench, BenchContext, Figures } from '../kit/bench.ts';
import { percentile, rounded } from '../kit/statistics.ts';
import { chain, openRuns } from '../sides/fairloom-runs.ts';

/** Of one graph. */
const NODES = 1_000;
/** Of all graphs together: a client without them loads each once. */
const LOADED = 50_000;
const HITS = 200_000;

export const graphLoad: Bench = {
  name: 'graph-load',
  about:
    '`loom.graphs.get` of graphs of 1,000 nodes: 50 that the client has not got, p50 and p99 of ' +
    'the single calls, each of which loads, unpacks, verifies and reads one from Redis; then ' +
    '200,000 calls for one that it has, mean.',
  sides: [{ name: 'fairloom', run: loadRound }],
  rows: [
    row('graph from memory', ['hitUs'], {
      unit: 'µs',
      goal: { kind: 'most', metric: 'hitUs', value: 5 },
    }),
    row('graph of 1,000 nodes from Redis, p50 / p99', ['miss50', 'miss99'], {
      unit: 'ms',
      goal: { kind: 'most', metric: 'miss50', value: 10, of: 'p50' },
    }),
  ],
};

function row(
  measure: string,
  metrics: readonly string[],
  { unit, goal }: { readonly unit: string; readonly goal: Bench['rows'][number]['goals'][number] },
): Bench['rows'][number] {
  return { table: 'workflows', measure, metrics, unit, better: 'less', goals: [goal] };
}

async function loadRound(context: BenchContext): Promise<Figures> {
  const redis = await context.redis();
  const [first = '', ...hashes] = await store(
    redis.url,
    1 + Math.ceil(context.size(LOADED) / NODES),
  );
  const { loom } = await openRuns(redis.url);
  try {
    // Opens the connection.
    await loom.graphs.get(first);
    const misses: number[] = [];
    for (const hash of hashes) {
      const started = performance.now();
      await loom.graphs.get(hash);
      misses.push(performance.now() - started);
    }
    const hits = context.size(HITS);
    const started = performance.now();
    for (let at = 0; at < hits; at++) await loom.graphs.get(first);
    const ms = performance.now() - started;
    return {
      hitUs: rounded((ms * 1_000) / hits),
      miss50: rounded(percentile(misses, 50)),
      miss99: rounded(percentile(misses, 99)),
    };
  } finally {
    await loom.close();
  }
}

/** The hashes of this many different graphs. */
async function store(url: string, count: number): Promise<readonly string[]> {
  const { loom } = await openRuns(url);
  const hashes: string[] = [];
  for (let at = 0; at < count; at++) {
    const run = await loom.enqueue(await chain(`graph-${at}`, NODES), undefined, {
      form: 'driven',
    });
    hashes.push((await loom.runs.get(run.id))?.graph ?? '');
  }
  await loom.close();
  return hashes;
}
