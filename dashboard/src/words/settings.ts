/** Limits and settings, as they are written into a form: empty is none, or what holds for all. */

/** The mistake in a text; `undefined` when it can be sent. */
export type Check = (text: string) => string | undefined;

const MOST = 1_000_000_000;
const LENGTH = /^\d+(\.\d+)?(ms|s|m|h|d)$/;
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A whole number, of so many at least. */
export function countFrom(least: number): Check {
  return (text) => (isWhole(text, least) ? undefined : `A whole number from ${least} on`);
}

/** A claim on turns. */
export function weight(text: string): string | undefined {
  const value = Number(text);
  return value >= 0.01 && value <= 1_000 ? undefined : 'A number from 0.01 to 1000';
}

/** Starts per time. */
export function rate(text: string): string | undefined {
  const [limit = '', per = '', burst = '1', ...others] = text.split('/').map((part) => part.trim());
  const isRate = isWhole(limit, 1) && LENGTH.test(per) && isWhole(burst, 1) && others.length === 0;
  return isRate ? undefined : 'As 100/1m, or 100/1m/20';
}

/** A length of time with its unit. */
export function length(text: string): string | undefined {
  return LENGTH.test(text) ? undefined : 'A number with its unit, as 30s';
}

/** The same, or without an end. */
export function lengthOrNone(text: string): string | undefined {
  return text === 'none' || LENGTH.test(text)
    ? undefined
    : 'A number with its unit as 30s, or none';
}

/** Five turns. */
export function fiveTurns(text: string): string | undefined {
  const parts = text.split(',');
  const isFive = parts.length === 5 && parts.every((part) => isWhole(part.trim(), 1));
  return isFive ? undefined : 'Five whole numbers, as 1,2,4,8,16';
}

/** One of some words. */
export function oneOf(...words: readonly string[]): Check {
  return (text) => (words.includes(text) ? undefined : `One of ${words.join(', ')}`);
}

function isWhole(text: string, least: number): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= MOST;
}

/** A rate as it is written. */
export function rateWord(
  said: { readonly limit: number; readonly perMs: number; readonly burst: number } | undefined,
): string {
  return said === undefined ? '' : `${said.limit}/${lengthWord(said.perMs)}/${said.burst}`;
}

/** A length in the largest unit of which it is a whole number. */
export function lengthWord(ms: number | undefined): string {
  if (ms === undefined) return '';
  const [unit, size] = UNITS.find(([, each]) => ms > 0 && ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

/** A number, or nothing. */
export function numberWord(value: number | undefined): string {
  return value === undefined ? '' : String(value);
}
