import type { Clock, Timer } from '../../../src/base/time.ts';

interface Waiting {
  readonly at: number;
  readonly fire: () => void;
}

/** Says the moment that a history says; its timers go by a time of their own, which never goes back. */
export class CourseClock implements Clock {
  moment = 0;
  /** Milliseconds that have passed. */
  passed = 0;
  readonly #timers = new Set<Waiting>();

  now(): number {
    return this.moment;
  }

  setTimer(ms: number, fire: () => void): Timer {
    const timer = { at: this.passed + ms, fire };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  pass(ms: number): void {
    this.passed += ms;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.passed) continue;
      this.#timers.delete(timer);
      timer.fire();
    }
  }
}
