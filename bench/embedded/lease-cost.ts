import type { Figures } from '../kit/bench.ts';
import { loadFairloom } from '../kit/fairloom-package.ts';
import { cycles, fillUsers } from '../kit/lease-cost.ts';

/** Enough for the compiler to be done, and for the mean to be steady. */
const WARM_CYCLES = 1_000;
const CYCLES = 3_000;

/** µs per leased task among this many ready users of the embedded backend. */
export async function measure(users: number): Promise<Figures> {
  const { memory } = await loadFairloom();
  const backend = memory();
  await fillUsers(backend, users);
  await cycles(backend, WARM_CYCLES, (act) => act());
  let ms = 0;
  const leased = await cycles(backend, CYCLES, async (act) => {
    const started = performance.now();
    const answer = await act();
    ms += performance.now() - started;
    return answer;
  });
  await backend.close();
  return { us: (ms * 1_000) / leased };
}
