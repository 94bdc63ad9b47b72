/**
 * The usual way to fairness with BullMQ: a queue for each user, a worker for each queue, and one
 * semaphore of all workers for the slots. All of them share one connection; blocking ones cannot
 * be shared, so BullMQ makes one for each worker.
 */
import { type Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Payload } from '../kit/payload.ts';
import type { Producer, Side, Work } from '../kit/side.ts';
import { complain, openQueue, REMOVED } from './bullmq.ts';

const JOB = 'job';
const NAME = 'user-';

export const bullmqQueues: Side = {
  name: 'bullmq-queues',
  producer: async (url) => {
    const queues = new Map<string, Queue<Payload>>();
    const queueOf = async (user: string): Promise<Queue<Payload>> => {
      const known = queues.get(user);
      if (known !== undefined) return known;
      const made = await openQueue(`${NAME}${user}`, url);
      queues.set(user, made);
      return made;
    };
    return producerOf(queueOf, queues);
  },
  worker: async (url, { slots, handle }) => {
    const shared = new Redis(url, { maxRetriesPerRequest: null });
    shared.setMaxListeners(0);
    const names = await queueNames(shared);
    const semaphore = new Semaphore(slots);
    const workers = names.map((name) => {
      const run = (payload: Payload): Promise<void> => semaphore.run(() => handle(payload));
      const worker = new Worker<Payload>(name, (job) => run(job.data), {
        connection: shared,
        // A single user may fill all slots, otherwise the rest of the work would take for ever.
        concurrency: slots,
      });
      worker.on('error', complain);
      return worker;
    });
    return {
      close: async () => {
        await Promise.all(workers.map((worker) => worker.close()));
        shared.disconnect();
      },
    };
  },
};

function producerOf(
  queueOf: (user: string) => Promise<Queue<Payload>>,
  queues: ReadonlyMap<string, Queue<Payload>>,
): Producer {
  return {
    add: async ({ user, payload }) => {
      await (await queueOf(user)).add(JOB, payload);
    },
    addMany: async (works: readonly Work[]) => {
      const [first] = works;
      if (first === undefined) return;
      const queue = await queueOf(first.user);
      await queue.addBulk(
        works.map(({ payload }) => ({ name: JOB, data: payload, opts: REMOVED })),
      );
    },
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}

async function queueNames(redis: Redis): Promise<readonly string[]> {
  const keys = await redis.keys(`bull:${NAME}*:meta`);
  return keys.map((key) => key.split(':')[1] ?? '').sort();
}

/** Lets this many run at once; the others wait in order. */
class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  async run(act: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
