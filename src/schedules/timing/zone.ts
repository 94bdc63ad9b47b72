import { InvalidOptionError } from '../../domain/errors/errors.ts';

/** Step in which offsets are compared, in ms: no zone changes twice in a day. */
const STEP_MS = 86_400_000;

/** Longest name of a zone; a longer text is refused without a lookup. */
const ZONE_LENGTH = 64;

/** A wall-clock time as if it were UTC, in ms: `2026-03-29 02:30` is `Date.UTC(2026, 2, 29, 2, 30)`. */
export type WallMs = number;

/**
 * A time zone as a function of instants: the offset of its wall clocks from UTC, and the changes of
 * the offset. It calls `Intl` and caches the range of the latest offset, so that iterating over a
 * schedule calls it rarely.
 */
export class Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  /** The offset is the same from `#from` to `#to`, both included. */
  #from = Number.POSITIVE_INFINITY;
  #to = Number.NEGATIVE_INFINITY;
  #offset = 0;
  /** The offset changes at `#to + 1`. */
  #endsInChange = false;

  /** @throws {@link InvalidOptionError} when there is no such zone. */
  constructor(name: unknown) {
    this.#format = formatOf(name);
    this.name = String(name);
  }

  /** Offset of wall clocks from UTC at this instant, in ms. */
  offsetAt(at: number): number {
    if (at >= this.#from && at <= this.#to) return this.#offset;
    return this.#ask(at);
  }

  /** The first instant in (`after`, `until`] with another offset than at `after`. */
  changeIn(after: number, until: number): number | undefined {
    const offset = this.offsetAt(after);
    if (after < this.#from || after > this.#to) this.#begin(after, offset);
    while (this.#to < until) {
      if (this.#endsInChange) return this.#to + 1;
      const next = Math.min(until, this.#to + STEP_MS);
      this.#endsInChange = this.#ask(next) !== offset;
      this.#to = this.#endsInChange ? this.#lastBefore(this.#to, next) : next;
    }
    return undefined;
  }

  /** Instants with this wall time: none in a gap, two in an overlap. */
  find(wall: WallMs): Finding {
    const early = wall - STEP_MS;
    const before = this.offsetAt(early);
    const change = this.changeIn(early, wall + STEP_MS);
    if (change === undefined) return { kind: 'once', at: wall - before };
    const after = this.offsetAt(change);
    if (wall - before < change) {
      const again = wall - after;
      if (again < change) return { kind: 'once', at: wall - before };
      return { kind: 'overlap', at: wall - before, again, wallEnd: change + before };
    }
    if (wall - after >= change) return { kind: 'once', at: wall - after };
    return { kind: 'gap', end: change };
  }

  #begin(at: number, offset: number): void {
    this.#from = at;
    this.#to = at;
    this.#offset = offset;
    this.#endsInChange = false;
  }

  /** The last instant in [`same`, `other`) that has the offset of `same`. */
  #lastBefore(same: number, other: number): number {
    const offset = this.#ask(same);
    let low = same;
    let high = other;
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.#ask(middle) === offset) low = middle;
      else high = middle;
    }
    return low;
  }

  #ask(at: number): number {
    const wall = wallOf(this.#format, at);
    return wall - Math.floor(at / 1_000) * 1_000;
  }
}

/** Instants of a wall time in a zone. */
export type Finding =
  | { readonly kind: 'once'; readonly at: number }
  /** It occurs twice; the repeated range ends at the wall time `wallEnd`. */
  | {
      readonly kind: 'overlap';
      readonly at: number;
      readonly again: number;
      readonly wallEnd: WallMs;
    }
  /** Wall clocks skip it; the gap ends at the instant `end`. */
  | { readonly kind: 'gap'; readonly end: number };

/** Takes names of the IANA database only; `Intl` also takes offsets such as `+01:00`. */
function formatOf(name: unknown): Intl.DateTimeFormat {
  if (typeof name === 'string' && name.length <= ZONE_LENGTH && /^[A-Za-z]/.test(name)) {
    try {
      return new Intl.DateTimeFormat('en-US', {
        timeZone: name,
        hourCycle: 'h23',
        era: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      });
    } catch {
      // Refused below, as every other.
    }
  }
  throw new InvalidOptionError('timeZone', AN_IANA_ZONE, name);
}

/** Whether a zone has this name. */
export function isZone(name: unknown): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** Description of a zone in error messages. */
export const AN_IANA_ZONE = 'an IANA time zone, as "Europe/Rome"';

/** Wall-clock time of the format's zone at an instant. */
function wallOf(format: Intl.DateTimeFormat, at: number): WallMs {
  const digits = format.format(at).match(/\d+/g) ?? [];
  const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = digits.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
}
