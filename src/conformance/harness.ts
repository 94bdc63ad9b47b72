/** What the conformance suite needs to run: a test runner, and a backend with a clock. */
import type { Backend } from '../domain/port/backend.ts';

/** The part of a test runner that the suite needs; vitest's own functions fit. */
export interface TestApi {
  /** Groups tests. */
  readonly describe: (name: string, body: () => void) => unknown;
  /** Declares one test. */
  readonly it: (name: string, body: () => Promise<void>, timeoutMs: number) => unknown;
  /** Checks one value. */
  readonly expect: Expect;
}

/** Starts a check, as `expect` of vitest and Jest does. */
export type Expect = (actual: unknown, message?: string) => Matchers;

/** Those of vitest's (or Jest's) matchers that the suite uses. */
export interface Matchers {
  /** The opposite of each. */
  readonly not: Matchers;
  /** The same value, by `Object.is`. */
  toBe(expected: unknown): void;
  /** Deeply equal; a property that is `undefined` equals an absent one. */
  toEqual(expected: unknown): void;
  /** Has at least these properties, deeply. */
  toMatchObject(expected: object): void;
  /** Has a `length` of this number. */
  toHaveLength(length: number): void;
  /** A list has the item, or a text the part. */
  toContain(item: unknown): void;
  /** A text that the pattern finds something in. */
  toMatch(pattern: RegExp): void;
  /** Anything but `undefined`. */
  toBeDefined(): void;
  /** `undefined`. */
  toBeUndefined(): void;
  /** Above the bound. */
  toBeGreaterThan(bound: number): void;
  /** The bound, or above. */
  toBeGreaterThanOrEqual(bound: number): void;
  /** Below the bound. */
  toBeLessThan(bound: number): void;
  /** The bound, or below. */
  toBeLessThanOrEqual(bound: number): void;
}

/** A fresh, empty, unopened backend, on a clock that the suite moves by hand. */
export interface Harness {
  /** Fresh, empty, and opened by the suite. */
  readonly backend: Backend;
  /** Moves the clock; a negative number moves it back. */
  advance(ms: number): Promise<void>;
  /** What the backend's clock shows now, in ms since the epoch. */
  now(): number;
  /** Closes the backend and takes away all that it stored. */
  close(): Promise<void>;
}

/** Makes one {@link Harness}; called once per test. */
export type OpenHarness = () => Promise<Harness>;
