/** A share of the contract's cases, for what differs from where they all run in one respect. */
import type { TestApi } from '../../src/conformance.ts';

/** Titles of cases with thousands of tasks: what they show of scale is shown where all cases run. */
export const AT_SCALE = /\d,000|large batch|of any length|however (?:long|it)/;

/** Which cases run. */
export interface Share {
  /** Every so manieth of a section, its first among them. Default 1: all. */
  readonly every?: number;
  /** Titles of those that run in any case. */
  readonly always?: RegExp;
  /** Titles of those that run in none. */
  readonly never: RegExp;
}

/** The functions of a test runner, which leave out the other cases. */
export function someCases(api: TestApi, { every = 1, always, never }: Share): TestApi {
  let cases = 0;
  return {
    ...api,
    describe: (name, body) =>
      api.describe(name, () => {
        cases = 0;
        body();
      }),
    it: (name, body, timeoutMs) => {
      if (never.test(name)) return;
      const isChosen = cases++ % every === 0;
      if (isChosen || always?.test(name) === true) api.it(name, body, timeoutMs);
    },
  };
}
