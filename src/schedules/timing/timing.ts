import { CronTimes } from './cron-times.ts';
import { EveryTimes } from './every-times.ts';

/**
 * When a schedule fires by the clock; never without `cron` and `everyMs`. Moments are ms since the epoch, on the
 * backend's clock.
 */
export interface Timing {
  /** A cron pattern; this or `everyMs`. */
  readonly cron?: string;
  /** Time zone of the pattern. */
  readonly timeZone?: string;
  /** Period in ms. */
  readonly everyMs?: number;
  /** Start of the period `everyMs`. */
  readonly anchor?: number;
  /** No slot before this moment. */
  readonly start?: number;
  /** No slot after this moment. */
  readonly end?: number;
  /** Longest delay of a slot in ms; constant for each slot. */
  readonly jitterMs?: number;
}

/** A slot, and its due time. */
export interface Moment {
  /** The instant that the pattern names. */
  readonly slot: number;
  /** The slot plus its jitter. */
  readonly dueAt: number;
}

/** Slots that were due when a schedule was changed or paused, and have not fired. */
export interface UnfiredSlots {
  /** In order; at least one. */
  readonly slots: readonly number[];
  /** Moment of the change or of the resume; later slots come after it. */
  readonly until: number;
}

interface Times {
  next(at: number): number | undefined;
}

const NEVER: Times = { next: () => undefined };

/** Slots of one schedule, in order. Pure: the same timing always gives the same slots. */
export class Timetable {
  readonly #id: string;
  readonly #timing: Timing;
  readonly #times: Times;
  readonly #unfired: UnfiredSlots | undefined;

  /**
   * @param id - Id of the schedule; the jitter depends on it, so that equal patterns spread out.
   * @param unfired - Slots that come first; slots of the timing before the end of these are skipped.
   * @throws {@link InvalidOptionError} for an impossible pattern or an unknown zone.
   */
  constructor(id: string, timing: Timing, unfired?: UnfiredSlots) {
    const { cron, timeZone = 'UTC', everyMs, anchor = 0 } = timing;
    this.#id = id;
    this.#timing = timing;
    this.#unfired = unfired;
    this.#times = NEVER;
    if (everyMs !== undefined) this.#times = new EveryTimes(everyMs, anchor);
    if (cron !== undefined) this.#times = new CronTimes(cron, timeZone);
  }

  /** The first slot after `at`; `undefined` when none is left. */
  next(at: number): number | undefined {
    const { start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY } = this.#timing;
    const unfired = this.#unfired?.slots.find((one) => one > at);
    if (unfired !== undefined) return unfired;
    const { until = at } = this.#unfired ?? {};
    const slot = this.#times.next(Math.max(at, until, start - 1));
    return slot === undefined || slot > end ? undefined : slot;
  }

  /** The next slot with its due time. */
  nextMoment(at: number): Moment | undefined {
    const slot = this.next(at);
    return slot === undefined ? undefined : { slot, dueAt: this.dueAt(slot) };
  }

  /** Whether it is a slot. */
  has(slot: number): boolean {
    return this.next(slot - 1) === slot;
  }

  /** Longest jitter of a slot, in ms. */
  get jitterMs(): number {
    return this.#timing.jitterMs ?? 0;
  }

  /** Due time of a slot. */
  dueAt(slot: number): number {
    const { jitterMs } = this;
    return jitterMs === 0 ? slot : slot + (hashOf(`${this.#id}.${slot}`) % (jitterMs + 1));
  }

  /** The latest slot in [`from`, `until`], if `from` is a slot; a binary search. */
  latest(from: number, until: number): number {
    let low = from;
    let high = until;
    let slot = from;
    while (high - low >= 1) {
      const middle = low + Math.floor((high - low) / 2);
      const next = this.next(middle);
      if (next === undefined || next > until) {
        high = middle;
      } else {
        slot = next;
        low = next;
      }
    }
    return slot;
  }
}

/** FNV-1a over the characters, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}
