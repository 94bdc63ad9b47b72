/** Equality of plain data, quick because it runs after every step; absent and undefined are equal. */
import { deepStrictEqual } from 'node:assert/strict';

function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (other instanceof NotLater) return typeof one === 'number' && one <= other.moment;
  if (other instanceof AnyOf) return other.answers.some((answer) => same(one, answer));
  if (typeof one !== 'object' || typeof other !== 'object') return false;
  if (one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const left = one as Readonly<Record<string, unknown>>;
  const right = other as Readonly<Record<string, unknown>>;
  for (const key in left) if (!same(left[key], right[key])) return false;
  for (const key in right) {
    if (left[key] === undefined && !same(undefined, right[key])) return false;
  }
  return true;
}

/** Where several answers are right. */
export class AnyOf {
  readonly answers: readonly unknown[];

  constructor(...answers: readonly unknown[]) {
    this.answers = answers;
  }
}

/** A moment that may be told as an earlier one, but never as a later one. */
export class NotLater {
  readonly moment: number;

  constructor(moment: number) {
    this.moment = moment;
  }
}

/** Throws with the difference when two values are not the same. */
export function mustBeSame(actual: unknown, expected: unknown): void {
  if (!same(actual, expected)) deepStrictEqual(defined(actual), defined(expected));
}

function defined(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
