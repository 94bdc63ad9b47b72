import { setImmediate } from './globals.ts';

/** Tasks between two turns of the event loop: a few milliseconds of work. */
const TASKS_PER_TURN = 1_000;

/**
 * The embedded backend answers without any wait, so a loop over it would never let timers and
 * sockets have their turn. Whoever sends tasks counts them here, and lets the event loop turn when
 * told to.
 */
export class Turns {
  #left = TASKS_PER_TURN;

  /** Counts; true when the event loop should turn before anything more is sent. */
  spend(tasks: number): boolean {
    this.#left -= tasks;
    if (this.#left > 0) return false;
    this.#left = TASKS_PER_TURN;
    return true;
  }
}

/** One turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
