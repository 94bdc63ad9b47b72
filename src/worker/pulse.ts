import type { Clock, Timer } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';

interface PulseParts {
  readonly clock: Clock;
  /** When the backend last answered this worker. */
  readonly lastAnswerAt: () => number;
  /** The event loop stood still for so long. */
  readonly blocked: (ms: number) => void;
  readonly unhealthy: (silentMs: number) => void;
  readonly healthy: (silentMs: number) => void;
}

/** How often the worker feels its pulse, in ms. */
const PERIOD_MS = 500;

/** A timer that is late by this much, in ms, was held up by somebody's code. */
const LATE_MS = 1_000;

/** Longest time between two answers of a healthy backend: an idle worker's longest wait. */
const LONGEST_WAIT_MS = LIMITS.floorMs * 1.2;

/** Silent for twice that, in ms, the worker is not healthy, whatever its sockets say. */
const UNHEALTHY_MS = 2 * LONGEST_WAIT_MS;

/** Notices what nobody else would: an event loop that stands still, a fetch loop that does. */
export class Pulse {
  readonly #parts: PulseParts;
  #timer: Timer | undefined;
  /** When the timer should fire. */
  #dueAt = 0;
  #silentSince: number | undefined;

  constructor(parts: PulseParts) {
    this.#parts = parts;
  }

  get isHealthy(): boolean {
    return this.#silentSince === undefined;
  }

  start(): void {
    this.#dueAt = this.#parts.clock.now() + PERIOD_MS;
    this.#timer = this.#parts.clock.setTimer(PERIOD_MS, this.#beat);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  readonly #beat = (): void => {
    const { clock, blocked } = this.#parts;
    const lateMs = clock.now() - this.#dueAt;
    this.start();
    if (lateMs >= LATE_MS) blocked(lateMs);
    this.#look();
  };

  #look(): void {
    const { clock, lastAnswerAt, unhealthy, healthy } = this.#parts;
    const last = lastAnswerAt();
    const silentMs = clock.now() - last;
    if (silentMs > UNHEALTHY_MS) {
      if (this.#silentSince === undefined) {
        this.#silentSince = last;
        unhealthy(silentMs);
      }
    } else if (this.#silentSince !== undefined) {
      const since = this.#silentSince;
      this.#silentSince = undefined;
      healthy(last - since);
    }
  }
}
