/** The whole life of a lone task while a worker of the product waits for one. */
import type { Clock } from '../../src/base/time.ts';
import type { Backend } from '../../src/domain/backend.ts';
import { loadFairloom } from '../kit/fairloom-package.ts';
import { PLAIN } from '../kit/payload.ts';
import { ERRORS } from '../sides/fairloom.ts';
import { Countdown } from './countdown.ts';
import { JOB, openLane, userOf } from './lane.ts';
import type { Row } from './row.ts';

const LIVES = 200;
const WARM_LIVES = 10;
const USERS = 100;
/** From a worker's wait to its command that blocks, in ms. */
const BLOCKED_MS = 5;

/** Its timers never go off: how many ticks and heartbeats fall into the counting is up to the machine. */
const CLOCK: Clock = { now: () => Date.now(), setTimer: () => ({ cancel: () => undefined }) };

/**
 * A real worker with its default slots, in one process with the client: it is woken, leases, settles and
 * waits again, all by itself.
 */
export const LIFE_ROW: Row = {
  name: 'life of a lone task, a worker waits',
  isInShare: true,
  measure: async (redis) => {
    const { Fairloom, task } = await loadFairloom();
    let waits = new Countdown(1);
    const backend = toldOfWaits(await openLane(redis), () => waits.down());
    const job = task(JOB, async (_input: unknown): Promise<null> => null);
    const loom = new Fairloom({ backend, tasks: [job], clock: CLOCK, log: ERRORS });
    try {
      await loom.worker().start();
      await waits.zero;
      const live = async (at: number): Promise<void> => {
        waits = new Countdown(1);
        await loom.enqueue(job, PLAIN, { user: userOf(at % USERS) });
        await waits.zero;
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

/** The same backend, which says when its worker begins to wait for work. */
function toldOfWaits(backend: Backend, tell: () => void): Backend {
  const { workers } = backend;
  return {
    ...backend,
    workers: {
      register: (spec) => workers.register(spec),
      unregister: (id) => workers.unregister(id),
      list: () => workers.list(),
      waitForWork: (id, ms, signal) => {
        const answer = workers.waitForWork(id, ms, signal);
        // The command that blocks is on its way before the next task is: servers take what comes first.
        setTimeout(tell, BLOCKED_MS);
        return answer;
      },
    },
  };
}
