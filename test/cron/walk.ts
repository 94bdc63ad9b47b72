/**
 * The oracle: walks over the minutes of a zone, asks `Intl` what wall clocks show at each, and says
 * at which instants a pattern fires by the policy of docs/guide/schedules.md. It may know neither croner nor
 * `src/schedule`; a tidy test holds it to that.
 */
import type { ReadPattern, WallMinute } from './read-pattern.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A stretch of a zone around one change of its clocks, minute by minute. */
export interface Stretch {
  readonly zone: string;
  /** The instant of the change. */
  readonly change: number;
  /** The first minute, in ms since the epoch. */
  readonly from: number;
  /** What wall clocks show at each minute, as if it were UTC. */
  readonly walls: readonly number[];
}

/** What wall clocks show, as if it were UTC, in ms. */
class WallClock {
  readonly #format: Intl.DateTimeFormat;

  constructor(zone: string) {
    this.#format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
    });
  }

  at(instant: number): number {
    // dd/mm/yyyy, hh:mm:ss
    const text = this.#format.format(instant);
    const part = (from: number, to: number): number => Number(text.slice(from, to));
    const day = Date.UTC(part(6, 10), part(3, 5) - 1, part(0, 2));
    return day + part(12, 14) * HOUR_MS + part(15, 17) * MINUTE_MS + part(18, 20) * 1_000;
  }
}

/** The instants at which clocks of a zone are changed, to the minute. */
export function changesOf(zone: string, from: number, to: number): readonly number[] {
  const clock = new WallClock(zone);
  const offset = (at: number): number => clock.at(at) - at;
  const found: number[] = [];
  let before = offset(from);
  for (let at = from + 12 * HOUR_MS; at <= to; at += 12 * HOUR_MS) {
    const now = offset(at);
    if (now === before) continue;
    let [low, high] = [at - 12 * HOUR_MS, at];
    while (high - low > MINUTE_MS) {
      const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
      if (offset(middle) === before) low = middle;
      else high = middle;
    }
    found.push(high);
    before = now;
  }
  return found;
}

/** Every minute from so many ms before a change to as many after. */
export function stretchAround(zone: string, change: number, reachMs: number): Stretch {
  const clock = new WallClock(zone);
  const from = change - reachMs;
  const walls: number[] = [];
  for (let at = from; at <= change + reachMs; at += MINUTE_MS) walls.push(clock.at(at));
  return { zone, change, from, walls };
}

/**
 * The instants of the stretch at which the pattern fires, in order.
 *
 * `interval`: whenever wall clocks show a match. `fixed`: what they show a second time does not
 * count again, and what they skip fires at the first instant after.
 */
export function firesIn(
  { from, walls }: Stretch,
  pattern: ReadPattern,
  kind: 'fixed' | 'interval',
): readonly number[] {
  const fires: number[] = [];
  let seen = Number.NEGATIVE_INFINITY;
  for (const [index, wall] of walls.entries()) {
    const at = from + index * MINUTE_MS;
    const isAgain = wall <= seen;
    const skipped = index > 0 && kind === 'fixed' && !isAgain ? missing(seen, wall) : [];
    if (skipped.some((one) => pattern.matches(minuteOf(one))) && fires.at(-1) !== at)
      fires.push(at);
    if (!(kind === 'fixed' && isAgain) && pattern.matches(minuteOf(wall))) {
      for (const second of pattern.seconds) {
        if (fires.at(-1) !== at + second * 1_000) fires.push(at + second * 1_000);
      }
    }
    seen = Math.max(seen, wall);
  }
  return fires;
}

/** Wall minutes between two that follow each other. */
function missing(before: number, after: number): readonly number[] {
  const found: number[] = [];
  for (let wall = before + MINUTE_MS; wall < after; wall += MINUTE_MS) found.push(wall);
  return found;
}

const minutes = new Map<number, WallMinute>();

function minuteOf(wall: number): WallMinute {
  const known = minutes.get(wall);
  if (known !== undefined) return known;
  const date = new Date(wall);
  const made = {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    weekday: date.getUTCDay(),
  };
  if (minutes.size > 20_000) minutes.clear();
  minutes.set(wall, made);
  return made;
}
