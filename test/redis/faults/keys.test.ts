/** An idempotency key whose owner was removed by hand. */
import { expect, it } from 'vitest';
import { keysOf } from '../../../src/backends/redis/wire/keys.ts';
import { adminOf, freshPrefix, kitOn } from './kit.ts';

it.each([
  ['until its end', {}],
  ['with a time', { ttlMs: 3_600_000 }],
  // O73
])('a key %s is void when the record of its owner has vanished', async (_, more) => {
  const prefix = freshPrefix();
  const kit = await kitOn(undefined, prefix);
  const idempotency = { key: 'k', policy: 'reject', ...more } as const;
  const owner = await kit.add({ idempotency });
  expect(await adminOf().hdel(keysOf(prefix).tasks, owner)).toBe(1);
  expect(await kit.sendOne({ id: 'next', idempotency })).toEqual({ kind: 'created', id: 'next' });
  expect(await kit.sendOne({ idempotency })).toMatchObject({ kind: 'refused' });
});
