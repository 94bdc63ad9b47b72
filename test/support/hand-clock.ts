import type { Clock, Timer } from '../../src/base/time.ts';

/** The first moment of every test; any that is well past the epoch. */
const START = Date.UTC(2026, 0, 5, 12);

/** A clock that stands still until it is moved, and fires the timers that it passes, in order. */
export class HandClock implements Clock {
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  #now = START;

  now(): number {
    return this.#now;
  }

  setTimer(ms: number, fire: () => void): Timer {
    const timer = { at: this.#now + Math.max(ms, 0), fire };
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
      },
    };
  }

  move(ms: number): void {
    this.#now += ms;
    const due = [...this.#timers].filter(({ at }) => at <= this.#now);
    for (const timer of due.toSorted((a, b) => a.at - b.at)) {
      if (this.#timers.delete(timer)) timer.fire();
    }
  }
}
