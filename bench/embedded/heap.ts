import type { Figures } from '../kit/bench.ts';
import { loadFairloom } from '../kit/fairloom-package.ts';
import type { Payload } from '../kit/payload.ts';
import { rounded } from '../kit/statistics.ts';

const USERS = 1_000;
const BATCH = 100;
/** Stored before the first measurement, so that one-time objects exist. */
const FIRST = 1_000;

/** Heap bytes per waiting task. */
export async function measure(tasks: number): Promise<Figures> {
  const { Fairloom, memory, task } = await loadFairloom();
  const job = task('job', async (_payload: Payload) => {});
  const loom = new Fairloom({ backend: memory(), tasks: [job] });
  const store = async (from: number, count: number): Promise<void> => {
    for (let at = from; at < from + count; at += BATCH) {
      const payloads = Array.from({ length: BATCH }, (_, nth) => ownPayload(at + nth));
      await loom.enqueueMany(job, payloads, { user: `user-${(at / BATCH) % USERS}` });
    }
  };
  await store(0, FIRST);
  const before = heapBytes();
  await store(FIRST, tasks);
  const bytes = (heapBytes() - before) / tasks;
  await loom.close();
  return { bytes: rounded(bytes) };
}

/** 100 bytes of JSON that no other task shares. */
function ownPayload(nth: number): Payload {
  return { d: String(nth).padStart(92, 'x') };
}

function heapBytes(): number {
  if (globalThis.gc === undefined) throw new Error('needs --expose-gc');
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}
