import { Cron } from 'croner';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { WallMs } from './zone.ts';

/** Description of a pattern in error messages. */
const EXPECTED = 'a cron pattern of 5 or 6 fields, or @daily and similar, that matches some day';

/** Nicknames that stand for a pattern. */
const NICKNAME = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/i;

/**
 * A cron pattern over wall-clock times, without a zone. croner parses the pattern and finds matches
 * on a calendar without clock changes; `CronTimes` applies a zone.
 */
export class CronPattern {
  readonly text: string;
  /**
   * Hours and minutes are lists of numbers: fixed times of day, also when clocks change. With `*`,
   * a range or a step in either it is an interval, which follows real time.
   */
  readonly isFixed: boolean;
  readonly #cron: Cron;

  /** @throws {@link InvalidOptionError} when it is no pattern, or never matches. */
  constructor(pattern: unknown) {
    const cron = read(pattern);
    if (cron === undefined) throw new InvalidOptionError('cron', EXPECTED, shown(pattern));
    this.#cron = cron;
    this.text = String(pattern);
    this.isFixed = isFixed(this.text);
    // Starts after a leap year, so that rare dates are farthest away.
    if (this.after(EMPTY_FROM) === undefined) {
      throw new InvalidOptionError('cron', EXPECTED, shown(pattern));
    }
  }

  /** The first match after a wall time, in whole seconds; `undefined` without one. */
  after(wall: WallMs): WallMs | undefined {
    return this.#cron.nextRun(new Date(wall))?.getTime();
  }
}

/** Start of the search for a match. */
const EMPTY_FROM = Date.UTC(2024, 11, 31);

function read(pattern: unknown): Cron | undefined {
  if (typeof pattern !== 'string' || pattern.length > LIMITS.cronLength) return undefined;
  // croner also accepts a date, which would match once.
  const isPattern = NICKNAME.test(pattern) || /^\s*\S+(\s+\S+){4,5}\s*$/.test(pattern);
  if (!isPattern) return undefined;
  try {
    return new Cron(pattern, { utcOffset: 0, paused: true, mode: '5-or-6-parts' });
  } catch {
    return undefined;
  }
}

function isFixed(pattern: string): boolean {
  if (pattern.trim().startsWith('@')) return !/hourly/i.test(pattern);
  const fields = pattern.trim().split(/\s+/);
  const [minute = '', hour = ''] = fields.length === 6 ? fields.slice(1) : fields;
  return !/[*?/-]/.test(minute + hour);
}

/** A long pattern is not printed in the error. */
function shown(pattern: unknown): unknown {
  if (typeof pattern !== 'string' || pattern.length <= LIMITS.cronLength) return pattern;
  return `${pattern.slice(0, 20)}… (${pattern.length} characters)`;
}
