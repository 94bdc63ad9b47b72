/** What the conformance suite asks of whoever runs it: a test runner, and a backend with a clock. */
import type { Backend } from '../../domain/backend.ts';

/** The part of a test runner that the suite needs; vitest's own functions fit. */
export interface TestApi {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>, timeoutMs: number) => unknown;
  readonly expect: Expect;
}

/** Starts a check, as `expect` of vitest and Jest does. */
export type Expect = (actual: unknown, message?: string) => Matchers;

/** Those of vitest's (or Jest's) matchers that the suite uses. */
export interface Matchers {
  readonly not: Matchers;
  toBe(expected: unknown): void;
  toEqual(expected: unknown): void;
  toMatchObject(expected: object): void;
  toHaveLength(length: number): void;
  toContain(item: unknown): void;
  toMatch(pattern: RegExp): void;
  toBeDefined(): void;
  toBeUndefined(): void;
  toBeGreaterThan(bound: number): void;
  toBeGreaterThanOrEqual(bound: number): void;
  toBeLessThan(bound: number): void;
  toBeLessThanOrEqual(bound: number): void;
}

/** A fresh, empty backend that nobody has opened, on a clock that the suite moves by hand. */
export interface Harness {
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
