import { clearTimeout, setTimeout } from '../base/globals.ts';
import { ClockNotDrivenError } from '../domain/errors/errors.ts';

/**
 * How long the clock may stand still, in ms of the machine, before a wait counts as forgotten. A
 * test that does something else between a `result()` and its `drain()` needs no longer.
 */
const FORGOTTEN_MS = 100;

/**
 * Ends waits that would never end: no handler runs, and the clock has not moved for a while.
 * Without it a forgotten `drain()` ends with the timeout of the test runner, without the cause.
 */
export class Stalls {
  readonly #isRunning: () => boolean;
  /** Number of drives in progress. */
  #driving = 0;
  /** Number of starts and ends of drives; detects a drive in between. */
  #moves = 0;

  /** `isRunning`: a handler runs, whose end may resolve the waits. */
  constructor(isRunning: () => boolean) {
    this.#isRunning = isRunning;
  }

  /** The clock moves, or work is done, until this has settled. */
  async drive(code: () => Promise<void>): Promise<void> {
    this.#driving++;
    this.#moves++;
    try {
      await code();
    } finally {
      this.#driving--;
      this.#moves++;
    }
  }

  /** Calls `end` when the wait for a task would never end; the returned function stops this. */
  watch(taskId: string, end: (reason: Error) => void): () => void {
    let moves = this.#moves;
    const look = (): void => {
      const isStill = this.#moves === moves && this.#driving === 0 && !this.#isRunning();
      if (isStill) end(new ClockNotDrivenError(taskId));
      else {
        moves = this.#moves;
        timer = setTimeout(look, FORGOTTEN_MS);
      }
    };
    let timer = setTimeout(look, FORGOTTEN_MS);
    return () => clearTimeout(timer);
  }
}
