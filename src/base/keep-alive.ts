import { clearInterval, setInterval } from './globals.ts';

/** An hour in ms; the interval does nothing but exist. */
const IDLE_MS = 3_600_000;

/**
 * Keeps the process alive while it is held: by a running worker, or by a call that waits for a
 * result. Everything else in Fairloom lets the process end.
 */
export class KeepAlive {
  #holders = 0;
  /** Present while there are holders. */
  #anchor: NodeJS.Timeout | undefined;

  hold(): void {
    this.#holders++;
    this.#anchor ??= setInterval(nothing, IDLE_MS);
  }

  letGo(): void {
    this.#holders--;
    if (this.#holders > 0) return;
    clearInterval(this.#anchor);
    this.#anchor = undefined;
  }
}

function nothing(): void {
  // The interval is an anchor, not a clock.
}
