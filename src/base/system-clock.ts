import { clearTimeout, epochMs, monotonicMs, setTimeout } from './globals.ts';
import type { Clock, Timer } from './time.ts';

/** Node fires timers beyond 2^31 − 1 ms at once, so longer waits are split into these. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The machine's clock and Node's timers. Its timers keep no process alive. */
export const systemClock: Clock = {
  now: () => epochMs(),
  elapsed: () => Math.floor(monotonicMs()),
  setTimer: (ms, fire) => chained(ms, fire),
};

function chained(ms: number, fire: () => void): Timer {
  let left = ms;
  let handle: NodeJS.Timeout;
  const arm = (): void => {
    const piece = left > LONGEST_TIMER_MS ? LONGEST_TIMER_MS : left;
    left -= piece;
    handle = setTimeout(() => (left > 0 ? arm() : fire()), piece);
    handle.unref();
  };
  arm();
  return { cancel: () => clearTimeout(handle) };
}
