/** Waiting for the ends of runs, on a clock that only the test moves. */
import type { Fairloom } from '../../src/client/client.ts';
import type { WaitFigure } from '../../src/domain/task/wait.ts';
import type { Harness } from './backends.ts';

/** The first step of the clock, in ms: what ends soon is seen to end soon. */
const STEP_MS = 250;
/** The longest, in ms. */
const MAX_STEP_MS = 5_000;

/**
 * Moves the clock until the promise settles, at most a sixteenth of what has passed, or a quarter
 * of a second, further than that: an hour that goes by costs its timers, and not 14,400 looks.
 */
export async function settled<T>(harness: Harness, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.then(
    () => undefined,
    () => undefined,
  );
  void over.then(() => {
    isOver = true;
  });
  await harness.quiet();
  for (let step = STEP_MS; !isOver; step = Math.min(step * 1.0625, MAX_STEP_MS)) {
    await harness.clock.advance(Math.round(step));
    await harness.quiet();
  }
  return promise;
}

/** What a promise rejects with. */
export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not reject');
}

/** Until so many tasks wait for that. */
export async function waitingFor(
  harness: Harness,
  loom: Fairloom,
  kind: WaitFigure['kind'],
  most = 1,
): Promise<void> {
  await harness.until(async () => {
    const figures = await loom.tasks.waiting();
    return figures.some((one) => one.kind === kind && one.count >= most);
  });
}
