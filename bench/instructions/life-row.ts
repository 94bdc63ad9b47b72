/** The whole life of a lone task while a worker of the product waits for one. */
import type { Clock } from '../../src/base/time.ts';
import type { Backend, LeaseReply } from '../../src/domain/port/backend.ts';
import { loadFairloom } from '../kit/fairloom-package.ts';
import { HUNDRED_BYTES } from '../kit/payload.ts';
import { ERRORS } from '../sides/fairloom.ts';
import { Countdown } from './countdown.ts';
import { JOB, openQueue, userOf } from './queue.ts';
import type { Row } from './row.ts';

const LIVES = 200;
const WARM_LIVES = 10;
const USERS = 100;
/** From a worker's wait until it has sent its blocking command, in ms. */
const SENT_MS = 5;

/** Its timers never fire: the number of ticks and heartbeats during the count would depend on the machine. */
const CLOCK: Clock = { now: () => Date.now(), setTimer: () => ({ cancel: () => undefined }) };

/**
 * A real worker with its default slots, in one process with the client: it gets the task, settles it and
 * waits again, all by itself.
 */
export const LIFE_ROW: Row = {
  name: 'life of a lone task, a worker waits',
  isInShare: true,
  measure: async (redis) => {
    const { Fairloom, task } = await loadFairloom();
    let rests = new Countdown(1);
    const backend = toldOfRests(await openQueue(redis), async () => {
      await redis.reached();
      rests.down();
    });
    const job = task(JOB, async (_input: unknown): Promise<null> => null);
    const loom = new Fairloom({ backend, tasks: [job], clock: CLOCK, log: ERRORS });
    try {
      await loom.worker().start();
      await rests.zero;
      const live = async (at: number): Promise<void> => {
        rests = new Countdown(1);
        await loom.enqueue(job, HUNDRED_BYTES, { user: userOf(at % USERS) });
        await rests.zero;
      };
      for (let at = 0; at < WARM_LIVES; at++) await live(at);
      await redis.rest();
      const instructions = await redis.count(async () => {
        for (let at = 0; at < LIVES; at++) await live(WARM_LIVES + at);
      });
      const { finished } = (await loom.stats()).counts;
      if (finished !== WARM_LIVES + LIVES) throw new Error(`${finished} tasks have ended`);
      return instructions / LIVES;
    } finally {
      await loom.close();
    }
  },
};

/** The same backend, which reports when its worker got no task and is idle. */
function toldOfRests(backend: Backend, tell: () => Promise<void>): Backend {
  const { tasks } = backend;
  const told = <Reply extends LeaseReply | undefined>(reply: Reply): Reply => {
    if (reply?.leases.length === 0) setTimeout(() => void tell(), SENT_MS);
    return reply;
  };
  return {
    ...backend,
    tasks: {
      enqueue: (list, options) => tasks.enqueue(list, options),
      lease: async (request) => told(await tasks.lease(request)),
      settle: async (request) => {
        const reply = await tasks.settle(request);
        told(reply.lease);
        return reply;
      },
      extend: (request) => tasks.extend(request),
      tick: () => tasks.tick(),
      cancel: (id, cause) => tasks.cancel(id, cause),
      redrive: (id) => tasks.redrive(id),
      remove: (id) => tasks.remove(id),
      runNow: (id) => tasks.runNow(id),
    },
  };
}
