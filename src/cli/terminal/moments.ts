/** Lengths and moments for people; JSON has milliseconds. */
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** A length with one or two units: `85ms`, `4.2s`, `3m 20s`, `5h 1m`, `12d 3h`. */
export function shownLength(ms: number): string {
  if (ms < SECOND_MS) return `${Math.round(ms)}ms`;
  if (ms < MINUTE_MS) return `${(ms / SECOND_MS).toFixed(1)}s`;
  if (ms < HOUR_MS) return two(ms, [MINUTE_MS, 'm'], [SECOND_MS, 's']);
  if (ms < DAY_MS) return two(ms, [HOUR_MS, 'h'], [MINUTE_MS, 'm']);
  return two(ms, [DAY_MS, 'd'], [HOUR_MS, 'h']);
}

/** A moment as seen from another: `in 3m 20s`, `4.2s ago`. */
export function shownMoment(at: number, now: number): string {
  return at > now ? `in ${shownLength(at - now)}` : `${shownLength(now - at)} ago`;
}

type Unit = readonly [ms: number, name: string];

function two(ms: number, large: Unit, small: Unit): string {
  const whole = Math.floor(ms / large[0]);
  const rest = Math.floor((ms - whole * large[0]) / small[0]);
  return rest === 0 ? `${whole}${large[1]}` : `${whole}${large[1]} ${rest}${small[1]}`;
}
