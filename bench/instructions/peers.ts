/** The server's cost of a task in the libraries that Fairloom is compared with. */
import { HUNDRED_BYTES, type Payload } from '../kit/payload.ts';
import type { Side } from '../kit/side.ts';
import { openSide } from '../sides/open-side.ts';
import { Countdown } from './countdown.ts';
import type { CountedRedis } from './counted-redis.ts';
import { processName } from './process-rows.ts';
import type { PeerFigure } from './table.ts';

export const PEERS = ['bullmq', 'bee-queue'] as const;
export type Peer = (typeof PEERS)[number];

/** As `bench/sides/` sets them up: a call of this many tasks, a worker with this many slots. */
const ENQUEUES = [
  { name: 'enqueue 1', batch: 1, calls: 200 },
  { name: 'enqueue 20', batch: 20, calls: 20 },
  { name: 'enqueue 1,000', batch: 1_000, calls: 2 },
] as const;
const SLOTS = [
  { slots: 1, tasks: 300 },
  { slots: 10, tasks: 800 },
  { slots: 40, tasks: 1_600 },
  { slots: 100, tasks: 1_600 },
] as const;
const WORK = { payload: HUNDRED_BYTES, user: 'user-1' };
const WARM_CALLS = 3;
/** Tasks of one filling call. */
const CHUNK = 200;

export async function measurePeers(
  redis: CountedRedis,
  tell: (figure: PeerFigure) => void,
): Promise<void> {
  for (const peer of PEERS) {
    const side = await openSide(peer);
    for (const order of ENQUEUES) {
      const thousand = Math.round(await enqueued(redis, side, order));
      tell({ peer, row: order.name, thousand });
    }
    for (const order of SLOTS) {
      const thousand = Math.round(await processed(redis, side, order));
      tell({ peer, row: processName(order.slots, 100), thousand });
    }
  }
}

async function enqueued(
  redis: CountedRedis,
  side: Side,
  { batch, calls }: { readonly batch: number; readonly calls: number },
): Promise<number> {
  await redis.flush();
  const producer = await side.producer(redis.url);
  try {
    const works = new Array<typeof WORK>(batch).fill(WORK);
    const call = () => (batch === 1 ? producer.add(WORK) : producer.addMany(works));
    for (let at = 0; at < WARM_CALLS; at++) await call();
    await redis.rest();
    const instructions = await redis.count(async () => {
      for (let at = 0; at < calls; at++) await call();
    });
    return instructions / (calls * batch) / 1_000;
  } finally {
    await producer.close();
  }
}

/** Its slots are full when counting begins; then they are released, and each takes the next task. */
async function processed(
  redis: CountedRedis,
  side: Side,
  { slots, tasks }: { readonly slots: number; readonly tasks: number },
): Promise<number> {
  await redis.flush();
  const producer = await side.producer(redis.url);
  const works = new Array<typeof WORK>(CHUNK).fill(WORK);
  for (let at = 0; at < tasks + 2 * slots; at += CHUNK) await producer.addMany(works);
  await producer.close();
  const full = new Countdown(slots);
  const open = new Countdown(1);
  const done = new Countdown(slots + tasks);
  const handle = async (_payload: Payload): Promise<void> => {
    full.down();
    done.down();
    await open.zero;
  };
  const worker = await side.worker(redis.url, { slots, delayed: false, handle });
  try {
    await full.zero;
    await redis.rest();
    const instructions = await redis.count(async () => {
      open.down();
      await done.zero;
    });
    return instructions / tasks / 1_000;
  } finally {
    await worker.close();
  }
}
