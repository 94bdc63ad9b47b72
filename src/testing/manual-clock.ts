import { setImmediate } from '../base/globals.ts';
import { type Clock, type Duration, durationMs, type Timer } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';

/** A moment well past the epoch, so that no time in a test is negative: 2026-01-05 12:00 UTC. */
const START_MS = 1_767_614_400_000;

/** Turns of the event loop after a timer: enough for chains of promises, however long. */
const TURNS = 4;

interface ManualTimer {
  readonly at: number;
  /** Orders timers of the same moment. */
  readonly number: number;
  readonly fire: () => void;
}

/** Hooks for clocks that move with this one, such as that of a backend in another process. */
export interface ManualClockHooks {
  /** Called with the new time before the timers of that moment fire. */
  readonly moved?: ((nowMs: number) => Promise<void>) | undefined;
  /** Resolves when all started work has continued as far as it can. Default: promises only. */
  readonly settle?: (() => Promise<void>) | undefined;
}

const HOOK_KEYS: OptionKeys<ManualClockHooks> = keysOf<ManualClockHooks>()({
  moved: true,
  settle: true,
});

/** A clock that stands still until it is moved. Its timers fire in order as it passes them. */
export class ManualClock implements Clock {
  #nowMs: number;
  /** Pending timers. */
  readonly #timers = new Set<ManualTimer>();
  readonly #hooks: ManualClockHooks;
  #numbers = 0;

  /** Starts at 2026-01-05 12:00 UTC by default. */
  constructor(startMs: number = START_MS, hooks: ManualClockHooks = {}) {
    if (!Number.isFinite(startMs)) throw new InvalidOptionError('startMs', 'a moment', startMs);
    checkOptions('new ManualClock', hooks, HOOK_KEYS);
    this.#nowMs = startMs;
    this.#hooks = hooks;
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return this.#nowMs;
  }

  /** Calls `fire` once, when the clock is moved to `ms` from now, or past it. */
  setTimer(ms: number, fire: () => void): Timer {
    const timer = { at: this.#nowMs + Math.max(0, ms), number: this.#numbers++, fire };
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  /** Number of pending timers; for tests that look for leaks. */
  get pending(): number {
    return this.#timers.size;
  }

  /**
   * Advances the time, fires every timer at its own moment and lets the started work continue.
   *
   * @throws `InvalidOptionError` for an invalid or negative duration.
   */
  async advance(length: Duration): Promise<void> {
    const ms = durationMs(length);
    if (ms === undefined || ms < 0) throw new InvalidOptionError('advance', 'a length', length);
    const end = this.#nowMs + ms;
    await this.#settle();
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next);
      await this.#move(next.at);
      next.fire();
      await this.#settle();
    }
    await this.#move(end);
    await this.#settle();
  }

  /** Sets the time, also backwards, without firing timers: as a machine's clock may be set. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }

  async #move(toMs: number): Promise<void> {
    if (toMs <= this.#nowMs) return;
    this.#nowMs = toMs;
    await this.#hooks.moved?.(toMs);
  }

  #settle(): Promise<void> {
    return this.#hooks.settle?.() ?? settle();
  }

  /** The earliest timer until then. */
  #next(end: number): ManualTimer | undefined {
    let first: ManualTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.at > end) continue;
      if (first === undefined || isBefore(timer, first)) first = timer;
    }
    return first;
  }
}

/** Lets all work continue that can without time passing. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isBefore(a: ManualTimer, b: ManualTimer): boolean {
  return a.at < b.at || (a.at === b.at && a.number < b.number);
}
