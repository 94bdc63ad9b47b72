/** Random writes of named values, and all the places that they go to. */
import fc from 'fast-check';
import type { XComPlace, XComWrite } from '../../src/domain/task/xcom.ts';

/** Two users whose names a careless encoding would mix up with their namespaces. */
const USERS = ['ann', 'a:b'];
const NAMESPACES = ['default', 'b:default'];
const KEYS = ['k', '\u{1F4A5}', '\uFF5E'];

/** Where values may be. */
export const PLACES: readonly XComPlace[] = USERS.flatMap((user) =>
  NAMESPACES.flatMap((namespace) => KEYS.map((key) => ({ user, namespace, key }))),
);

const place = fc.constantFrom(...PLACES, ...PLACES.slice(0, 1));
const push: fc.Arbitrary<XComWrite> = fc.record({
  type: fc.constant('push'),
  place,
  text: fc.constantFrom('', '1', '{"é":"\\u0000"}'),
  ttlMs: fc.constantFrom(1, 1_000, 1_000, 5_000, 60_000, 3_600_000),
} as const);
const drop: fc.Arbitrary<XComWrite> = fc.record({ type: fc.constant('delete'), place } as const);

/** What one attempt, or a client, writes. */
export const valueWrites: fc.Arbitrary<readonly XComWrite[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: push }, { weight: 1, arbitrary: drop }),
  { minLength: 1, maxLength: 3 },
);
