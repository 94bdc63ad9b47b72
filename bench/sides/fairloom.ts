/** Fairloom as its README shows it: every option at its default, but for where lines of log go. */
import { loadFairloom, loadFairloomFile, loadFairloomRedis } from '../kit/fairloom-package.ts';
import type { Payload } from '../kit/payload.ts';
import type { Producer, Side, Work } from '../kit/side.ts';

/** The name of the task of all benches. */
export const JOB = 'job';

export const fairloom: Side = sideOf('fairloom');

/** The same, but that a refusal of one task of many is its own: nothing to hold back. */
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

/** That the bench's server keeps nothing, and its workers start later, is no news here. */
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

/** What is no address is a folder. */
async function backendAt(place: string) {
  return place.startsWith('redis')
    ? (await loadFairloomRedis()).redis(place)
    : (await loadFairloomFile()).file(place);
}

/** What stores tasks of this name with this client. */
export function producerOf(
  { loom, job }: Awaited<ReturnType<typeof open>>,
  atomic: boolean,
): Producer {
  // The others count a delay from the call, as this does; `delay` counts from when it is stored.
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
