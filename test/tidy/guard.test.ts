/** What reads with care knows all that the scripts write. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const LIB = new URL('../../src/backends/redis/lua/lib/', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, LIB), 'utf8');
const GUARD = read('guard.lua');

/** Keys of several types begin with this word, or none is ever written. */
const NO_TYPE = new Set(['oom', 'deps', 'lane']);

it('knows the type of every family of keys', () => {
  const found = [...read('keys.lua').matchAll(/(?:prefix|lane) \.\. '([\w-]+)/g)];
  const names = found.map(([, name = '']) => name);
  const [types = ''] = /local TYPES = \{[\s\S]*?\n {2}\}/.exec(GUARD) ?? [];
  const known = new Set(types.match(/[\w-]+/g));
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !known.has(name) && !NO_TYPE.has(name))).toEqual([]);
});

it('knows the bytes of every packed record', () => {
  const lines = readdirSync(LIB)
    .filter((file) => file !== 'guard.lua')
    .flatMap((file) => read(file).match(/^local [A-Z, _]+ = .*'<.*/gm) ?? []);
  // A queue's is in two parts, of which one is seldom read.
  const whole = lines.map((line) => line.replace(/(?<= = '<d+)', '<(?=d+')/, ''));
  const formats = whole.flatMap((line) => line.match(/'<\w+'/g) ?? []);
  const known = GUARD.replaceAll(/'<' \.\. string\.rep\('d', (\d+)\)/g, (_, count: string) => {
    return `'<${'d'.repeat(Number(count))}'`;
  });
  expect(formats.length).toBeGreaterThan(5);
  expect(formats.filter((format) => !known.includes(format))).toEqual([]);
});
