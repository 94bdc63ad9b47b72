/** Sixty patterns, and by hand what each is: fixed times of day, or an interval. */
export interface OraclePattern {
  readonly text: string;
  readonly kind: 'fixed' | 'interval';
}

const FIXED = [
  '0 0 * * *',
  '30 0 * * *',
  '59 23 * * *',
  '0 1 * * *',
  '30 1 * * *',
  '0 2 * * *',
  '15 2 * * *',
  '30 2 * * *',
  '45 2 * * *',
  '0 3 * * *',
  '30 3 * * *',
  '0 4 * * *',
  '0 12 * * *',
  '0,30 2 * * *',
  '0,15,30,45 1,2,3 * * *',
  '0 7,9 * * *',
  '0 2,3 * * *',
  '5 0,12 * * *',
  '0 2 * * 0',
  '0 2 * * SUN',
  '30 2 * * 7',
  '0 9 * * MON-FRI',
  '0 2 1 * *',
  '30 2 29 3 *',
  '0 1 30 3 *',
  '0 3 31 * *',
  '0 2 29 2 *',
  '0 0 L * *',
  '30 2 * * 0#1',
  '0 2 * * 0L',
  '0 2 13 * 5',
  '0 0 1 JAN,APR,JUL,OCT *',
  '15 30 2 * * *',
  '0,20,40 30 1 * * *',
  '*/20 0 2 * * *',
  '@daily',
  '@weekly',
  '@monthly',
];

const INTERVAL = [
  '* * * * *',
  '*/5 * * * *',
  '*/7 * * * *',
  '*/15 * * * *',
  '*/20 * * * *',
  '*/30 * * * *',
  '0 * * * *',
  '30 * * * *',
  '17 */2 * * *',
  '0 */3 * * *',
  '20 */4 * * *',
  '0 */6 * * *',
  '0 */12 * * *',
  '0,15,30,45 6-22 * * *',
  '0 1-3 * * *',
  '10-20 2 * * *',
  '* 2 * * *',
  '*/10 1 * * *',
  '0 0-23/5 * * 0',
  '*/15 0-6 * * SAT,SUN',
  '30 */15 * * * *',
  '@hourly',
];

/** All of them. */
export const PATTERNS: readonly OraclePattern[] = [
  ...FIXED.map((text) => ({ text, kind: 'fixed' }) as const),
  ...INTERVAL.map((text) => ({ text, kind: 'interval' }) as const),
];
