import { CronPattern } from './cron-pattern.ts';
import { Zone } from './zone.ts';

/** Changes of clocks matter this close to a match, in ms; no clock is set by more than a day. */
const REACH_MS = 3 * 86_400_000;

/**
 * The instants of a cron pattern in a zone. Where clocks are changed, this is the law:
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

  /** The first instant after `at`; `undefined` when there is none. */
  next(at: number): number | undefined {
    return this.#pattern.isFixed ? this.#nextFixed(at) : this.#nextReal(at);
  }

  /** Instants rise with wall times here, so those of the first later wall time are enough. */
  #nextFixed(at: number): number | undefined {
    let wall = at + this.#zone.offsetAt(at);
    for (;;) {
      const match = this.#pattern.after(wall);
      if (match === undefined) return undefined;
      const found = this.#zone.find(match);
      const fires = found.kind === 'gap' ? found.end : found.at;
      if (fires > at) return fires;
      // In the second pass of an overlap everything up to its end has fired in the first.
      wall = found.kind === 'overlap' ? found.wallEnd - 1_000 : match;
    }
  }

  /** Walks from one change of clocks to the next; between two of them the offset is one number. */
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
        // Nothing matches before the change; clocks show another time from that instant on.
        const wall = change + this.#zone.offsetAt(change);
        if (this.#pattern.after(wall - 1_000) === wall) return change;
        at = change;
      } else if (fires <= near) {
        return fires;
      } else {
        // A change of clocks in between moves the match by less than the reach.
        at = Math.max(near, fires - REACH_MS);
      }
    }
  }
}
