import { CronPattern } from './cron-pattern.ts';
import { Zone } from './zone.ts';

/** Clock changes this close to a match are checked, in ms; no clock changes by more than a day. */
const REACH_MS = 3 * 86_400_000;

/**
 * The instants of a cron pattern in a zone. At clock changes these rules apply:
 *
 * - A pattern of fixed times of day fires once for each of them: a time that clocks skip, at the
 *   end of the gap; a time that they show twice, the first time.
 * - A pattern that is an interval (`*`, a range or a step in minutes or hours) follows real time: it
 *   fires whenever the wall clock shows a match, so neither in a gap, and both times in an overlap.
 */
export class CronTimes {
  readonly #pattern: CronPattern;
  readonly #zone: Zone;

  /** @throws {@link InvalidOptionError} for an impossible pattern or an unknown zone. */
  constructor(pattern: unknown, timeZone: unknown) {
    this.#zone = new Zone(timeZone);
    this.#pattern = new CronPattern(pattern);
  }

  /** The first instant after `at`; `undefined` without one. */
  next(at: number): number | undefined {
    return this.#pattern.isFixed ? this.#nextFixed(at) : this.#nextReal(at);
  }

  /** Instants rise with wall times here, so the instants of the first later wall time suffice. */
  #nextFixed(at: number): number | undefined {
    let wall = at + this.#zone.offsetAt(at);
    for (;;) {
      const match = this.#pattern.after(wall);
      if (match === undefined) return undefined;
      const found = this.#zone.find(match);
      const fires = found.kind === 'gap' ? found.end : found.at;
      if (fires > at) return fires;
      // In the second pass of an overlap all times up to its end have fired in the first.
      wall = found.kind === 'overlap' ? found.wallEnd - 1_000 : match;
    }
  }

  /** Iterates over the clock changes; between two of them the offset is constant. */
  #nextReal(after: number): number | undefined {
    let at = after;
    for (;;) {
      const offset = this.#zone.offsetAt(at);
      const match = this.#pattern.after(at + offset);
      if (match === undefined) return undefined;
      const fires = match - offset;
      const near = at + REACH_MS;
      const change = this.#zone.changeIn(at, Math.min(fires, near));
      if (change !== undefined) {
        // No match before the change: continue with the wall time after it.
        const wall = change + this.#zone.offsetAt(change);
        if (this.#pattern.after(wall - 1_000) === wall) return change;
        at = change;
      } else if (fires <= near) {
        return fires;
      } else {
        // A clock change in between moves the match by less than the reach.
        at = Math.max(near, fires - REACH_MS);
      }
    }
  }
}
