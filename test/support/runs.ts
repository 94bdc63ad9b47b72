/** Waiting for the ends of runs, on a clock that only the test moves. */
import type { Stage } from './backends.ts';

/** Moves the clock in small steps until the promise settles. */
export async function settled<T>(stage: Stage, promise: Promise<T>): Promise<T> {
  let isOver = false;
  const over = promise.then(
    () => undefined,
    () => undefined,
  );
  void over.then(() => {
    isOver = true;
  });
  await stage.quiet();
  while (!isOver) {
    await stage.clock.advance(250);
    await stage.quiet();
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
