/** What reads with care knows all that the scripts write. */
import { expect, it } from 'vitest';
import { luaNames } from '../../../scripts/lua/layout.ts';
import { HASH_FIELDS } from '../../../src/backends/redis/layout/fields.ts';
import { KEYS } from '../../../src/backends/redis/layout/keys.ts';
import { PACKED } from '../../../src/backends/redis/layout/packed.ts';
import { filesBelow, read } from '../../support/files.ts';

const GUARD = filesBelow('src/backends/redis/lua/lib/damage', /\.lua$/)
  .map(read)
  .join('\n');

/** Keys of several types begin with this word. */
const NO_TYPE = new Set(['deps']);

it('knows the type of every family of keys', () => {
  const { constants } = luaNames();
  const tables = [...constants].filter(
    ([path]) => /^TABLE\.\w+s$/.test(path) && GUARD.includes(path),
  );
  const known = new Set(tables.flatMap(([, words]) => words.match(/[\w-]+/g) ?? []));
  const stored = Object.values(KEYS).filter(({ type }) => type !== 'none');
  const words = stored.map(({ name }) => /[\w-]+/.exec(name.replace(/^\{\w+\}/, ''))?.[0] ?? '');
  expect(words.length).toBeGreaterThan(70);
  expect(words.filter((word) => !known.has(word) && !NO_TYPE.has(word))).toEqual([]);
});

it('knows the bytes of every packed record', () => {
  const unread = Object.keys(PACKED).filter(
    (name) => !new RegExp(`(FORMAT|SIZE|AT)\\.${name}\\b`).test(GUARD),
  );
  expect(unread).toEqual([]);
});

it('knows what the fields of channels look like, but for those that are free texts', () => {
  const free = new Set(['value', 'once', 'signal', 'signalId', 'signalPlace']);
  const fields = Object.keys(HASH_FIELDS.channel).filter((name) => !free.has(name));
  const unread = fields.filter((name) => !GUARD.includes(`[FIELD.channel.${name}]`));
  expect(unread).toEqual([]);
});
