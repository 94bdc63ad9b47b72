/** Fairloom as in its README: every option at its default, except the log. */
import { loadFairloom, loadFairloomFile, loadFairloomRedis } from '../kit/fairloom-package.ts';
import type { Payload } from '../kit/payload.ts';
import type { Producer, Side, Work } from '../kit/side.ts';

/** The name of the task of all benches. */
export const JOB = 'job';

export const fairloom: Side = sideOf('fairloom');

/** The same, except that the refusal of one task does not refuse the others: nothing is held back. */
export const fairloomEach: Side = sideOf('fairloom-each');

function sideOf(name: 'fairloom' | 'fairloom-each'): Side {
  return {
    name,
    producer: async (url) => producerOf(await open(url, async () => {}), name === 'fairloom'),
    worker: async (url, { slots, handle }) => {
      const { loom } = await open(url, handle);
      await loom.worker({ concurrency: slots }).start();
      return loom;
    },
  };
}

/** Drops warnings that are expected here: the bench's server has no persistence, and its workers start later. */
export const ERRORS = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (message: string) => console.error(`fairloom: ${message}`),
};

async function open(url: string, handle: (payload: Payload) => Promise<void>) {
  const { Fairloom, task } = await loadFairloom();
  const job = task(JOB, handle);
  return { loom: new Fairloom({ backend: await backendAt(url), tasks: [job], log: ERRORS }), job };
}

/** A value that is no address is a folder. */
async function backendAt(place: string) {
  return place.startsWith('redis')
    ? (await loadFairloomRedis()).redis(place)
    : (await loadFairloomFile()).file(place);
}

/** The enqueue of tasks of this name with this client. */
export function producerOf(
  { loom, job }: Awaited<ReturnType<typeof open>>,
  atomic: boolean,
): Producer {
  // The other libraries count a delay from the call, and so does this; `delay` counts from the storing.
  const addLater = async (works: readonly Work[]): Promise<void> => {
    await Promise.all(
      works.map(({ payload, user, delayMs = 0 }) =>
        loom.enqueue(job, payload, { user, executeAfter: Date.now() + delayMs }),
      ),
    );
  };
  return {
    add: async ({ payload, user }) => {
      await loom.enqueue(job, payload, { user });
    },
    addMany: async (works) => {
      const [first] = works;
      if (first === undefined) return;
      if (first.delayMs !== undefined) return addLater(works);
      const payloads = works.map(({ payload }) => payload);
      const { user } = first;
      if (atomic) await loom.enqueueMany(job, payloads, { user });
      else await loom.enqueueMany(job, payloads, { user, atomic: false });
    },
    close: () => loom.close(),
  };
}
