/** What src/domain/ says, as scripts get it. */
import { describe, expect, it } from 'vitest';
import { luaKeys, luaNames } from '../../../scripts/lua/layout.ts';
import { putNames } from '../../../scripts/lua/names.ts';
import { HASH_FIELDS, PACKED_NAMES } from '../../../src/backends/redis/layout/fields.ts';
import { INDEX_KEYS } from '../../../src/backends/redis/layout/worker-keys.ts';
import { TASK_STATES } from '../../../src/domain/task/task.ts';
import { filesBelow, read } from '../../support/files.ts';

const NAMES = luaNames();
const FILES = filesBelow('src/backends/redis/lua', /\.lua$/).filter(
  (path) => !path.includes('/expanded/'),
);

function put(text: string): string {
  return putNames('a.lua', text, NAMES);
}

describe('names of the layout', () => {
  it('become numbers and texts', () => {
    expect(put('local n = CODE.finished + FLAG.lease.handed')).toBe('local n = 5 + 4');
    expect(put('pack(FORMAT.lease, AT.lease.flags)')).toBe("pack('<ddIBdxxxx', 21)");
    expect(put("redis.call('HGET', key, FIELD.user.shares)")).toBe("redis.call('HGET', key, 'v')");
  });

  it('are short inside of packed values, as fields alone', () => {
    expect(put("local waitUntil = { waitUntil = t.optional.waitUntil, a = 'waitUntil' }")).toBe(
      "local waitUntil = { wu = t.x.wu, a = 'waitUntil' }",
    );
  });

  it('are refused when the layout has none such', () => {
    expect(() => put('return CODE.lost')).toThrow('a.lua: the layout has no CODE.lost');
    expect(() => put('return AT.lease.until_')).toThrow('the layout has no AT.lease.until_');
    expect(() => put('return LIMIT.none')).toThrow('the layout has no LIMIT.none');
    expect(() => put('return return')).toThrow('a.lua: SyntaxError: [1:7]');
  });
});

describe('scripts', () => {
  it('use every field of a hash, and every name inside of a packed value', () => {
    const text = FILES.map(read).join('\n');
    const fields = Object.entries(HASH_FIELDS).flatMap(([family, names]) =>
      Object.keys(names).map((name) => `FIELD.${family}.${name}`),
    );
    const inside = Object.values(PACKED_NAMES).flatMap((names) => Object.keys(names));
    const unused = [...fields, ...inside].filter((name) => !text.includes(name));
    expect(unused).toEqual([]);
  });

  it('use every family of keys that is not the name of an index', () => {
    const text = FILES.map(read).join('\n');
    const families = [...luaKeys().matchAll(/^function K\.(\w+)\(/gm)].map(([, name = '']) => name);
    const unused = families.filter(
      (name) => !(name in INDEX_KEYS) && !new RegExp(`\\bK\\.${name}\\(`).test(text),
    );
    // The clock is what scripts are given; the others belong to the client, or to what reads with care.
    expect(unused).toEqual(['clock', 'meta', 'damaged', 'setAside', 'notices']);
  });

  it('name indexes that the layout has', () => {
    const known = new Set<string>([
      ...TASK_STATES,
      ...Object.values(INDEX_KEYS).map(({ name }) => name.replace('{p}', '')),
    ]);
    const named = FILES.flatMap((path) =>
      [
        ...read(path).matchAll(
          /\b(?:F\.(?:move|put|flushIndex)|K\.index|Tick\.headIs)\('([^']+)'/g,
        ),
      ].map(([, name = '']) => name),
    );
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  it('name fields by words', () => {
    // Counts, places, and what redis.call answers; `w` is told to the client as JSON.
    const known = new Set(['id', 'at', 'n', 'm', 'is', 'by', 'us', 't', 'w', 'ok']);
    const bare = /'[^'\n]*'|--[^\n]*/g;
    const short = FILES.flatMap((path) =>
      [
        ...read(path)
          .replaceAll(bare, '')
          .matchAll(/[\w\])]\.([a-z]\w?)\b/g),
      ].map(([text, name = '']) => ({ path, text, name })),
    );
    expect(short.length).toBeGreaterThan(200);
    expect(short.filter(({ name }) => !known.has(name))).toEqual([]);
  });
});
