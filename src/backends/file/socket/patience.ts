import type { Clock, Timer } from '../../../base/time.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { DataPlace } from './place.ts';

/** Called while a call waits for an owner. */
export interface PatienceEvents {
  /** Ask it for a sign of life. */
  readonly ask: () => void;
  /** It has left too many unanswered. */
  readonly silent: () => void;
}

/** Whose owner it is. */
export interface PatienceOptions {
  readonly place: DataPlace;
  readonly epoch: number;
  readonly clock: Clock;
  /** It was silent before: one question is all it gets. */
  readonly wasSilent: boolean;
}

/**
 * How long an owner may be silent. What is counted are questions, and never time: where the machine slept, or this
 * process was held up, none was asked.
 */
export class Patience {
  readonly #options: PatienceOptions;
  #timer: Timer | undefined;
  #unanswered = 0;

  constructor(options: PatienceOptions) {
    this.#options = options;
  }

  /** The first question has been asked just now; replaces what was begun before. */
  begin(events: PatienceEvents): void {
    this.end();
    this.#unanswered = 1;
    this.#arm(events);
  }

  /** It lives. */
  sign(): void {
    this.#unanswered = 0;
  }

  end(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(events: PatienceEvents): void {
    this.#timer = this.#options.clock.setTimer(LIMITS.ownerPingMs, () => {
      if (this.#isOver()) {
        events.silent();
        return;
      }
      this.#unanswered++;
      this.#arm(events);
      events.ask();
    });
  }

  #isOver(): boolean {
    const silentMs = this.#unanswered * LIMITS.ownerPingMs;
    const { place, epoch, wasSilent } = this.#options;
    if (silentMs < (wasSilent ? LIMITS.ownerPingMs : LIMITS.ownerSilentMs)) return false;
    return silentMs >= LIMITS.ownerOpenMs || wasSilent || place.isOpen(epoch);
  }
}
