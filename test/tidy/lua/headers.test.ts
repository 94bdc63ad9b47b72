/** Holds every Lua script to its header: what it documents is what it uses, and what it calls. */
import { describe, expect, it } from 'vitest';
import { luaKeys } from '../../../scripts/lua/layout.ts';
import { headerOf, useOf } from '../../support/docs/lua-header.ts';
import { filesBelow, read } from '../../support/files.ts';

/** Functions that make parts of names, not names; and indexes, which are named where they are used. */
const NOT_KEYS: ReadonlySet<string> = new Set(['queue', 'pair', 'levelPart', 'index']);

const LUA = 'src/backends/redis/lua';
const verbs = filesBelow(LUA, /\/lua\/(?!lib\/|expanded\/)\w+\/[^/]+\.lua$/);
/** Families that docs/redis-layout.md has a row of. */
const layout = read('docs/redis-layout.md');
const described = new Set(
  [...luaKeys().matchAll(/function K\.(\w+)\(/g)]
    .map(([, family = '']) => family)
    .filter((family) => NOT_KEYS.has(family) || layout.includes(`| \`${family}\` |`)),
);
const shared = filesBelow(`${LUA}/lib`, /\.lua$/);
const library = shared.map(read).join('\n');

for (const path of verbs) {
  describe(path.slice(LUA.length + 1), () => {
    const header = headerOf(read(path));
    const used = useOf(read(path), library);

    it('begins with its purpose', () => {
      expect(header.purpose).toMatch(/^-- [A-Z]\w+ .{10,}/);
      expect(header.purpose).not.toMatch(/^-- (KEYS|ARGV|Reads|Writes|Returns|Cost)\b/);
    });

    it('documents KEYS[1], and every key that it is given', () => {
      expect(header.keys.has(1)).toBe(true);
      expect([...header.keys.keys()]).toEqual([...used.keys].sort((a, b) => a - b));
    });

    it('documents its ARGV, in order', () => {
      const documented = [...header.args.keys()];
      expect(documented).toEqual(documented.map((_, at) => at + 1));
      expect([...used.args].filter((at) => !header.args.has(at) && !header.more)).toEqual([]);
      const unused = documented.filter((at) => !used.args.has(at));
      expect(used.anyArgs ? [] : unused).toEqual([]);
    });

    it('calls its KEYS and ARGV by the names of the header', () => {
      const spelled = (name: string): string => name.replaceAll('_', '').toLowerCase();
      const wrong = [...useOf(read(path)).names].filter(([slot, name]) => {
        const at = Number(/\d+/.exec(slot)?.[0]);
        const said = (slot.startsWith('KEYS') ? header.keys : header.args).get(at);
        return said !== undefined && spelled(said) !== spelled(name);
      });
      expect(wrong).toEqual([]);
    });

    it('reaches only keys that src/backends/redis/layout/ names and the layout page describes', () => {
      const unknown = [...used.families].filter((family) => !described.has(family));
      expect(unknown).toEqual([]);
    });

    it('says what it returns and costs', () => {
      expect(header).toMatchObject({ returns: true, cost: true });
    });
  });
}

for (const path of shared) {
  it(`${path.slice(LUA.length + 1)} begins with its purpose`, () => {
    expect(headerOf(read(path)).purpose).toMatch(/^-- [A-Z]\w+ .{10,}/);
  });
}

it('no file says what the bundler knows by itself', () => {
  const all = [...verbs, ...shared];
  expect(all.length).toBeGreaterThan(120);
  expect(all.filter((path) => /^-- @\w/m.test(read(path)))).toEqual([]);
});
