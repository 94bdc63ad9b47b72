/** How rules of src/domain/fairness/ become Lua. */
import { expect, it } from 'vitest';
import { translated } from '../../../scripts/lua/rules.ts';

function lua(text: string, ...names: string[]): string {
  return translated(text, 'Tag', names, { SEATS: 1_024 });
}

it('a rule of one expression is one line', () => {
  const text =
    'export function seated(tag: number, from: number): number {\n  return tag + Math.ceil((from - tag) / SEATS) * SEATS;\n}';
  expect(lua(text, 'seated')).toBe(
    'function Tag.seated(tag, from) return tag + math.ceil((from - tag) / 1024) * 1024 end',
  );
});

it('what is worked out before stands in locals, and an object is as many values', () => {
  const text = [
    'function one(next: number): number { return next ** 2; }',
    'function two(a: number | undefined, b: number): C {',
    '  const c = one(a ?? b);',
    '  let d = 1;',
    '  while (d < c) {',
    '    d *= 2;',
    '    d++;',
    '  }',
    '  return { c, d: a === undefined ? d : c };',
    '}',
  ].join('\n');
  expect(lua(text, 'one', 'two')).toBe(
    [
      'function Tag.one(next_) return next_ ^ 2 end',
      'function Tag.two(a, b)',
      '  local c = Tag.one(a or b)',
      '  local d = 1',
      '  while d < c do',
      '  d = d * 2',
      '  d = d + 1',
      'end',
      '  return c, (a == nil and d or c)',
      'end',
    ].join('\n'),
  );
});

it('refuses what it does not know', () => {
  const body = (text: string): string => `function one(a: number): number { ${text} }`;
  expect(() => lua(body('return Math.log2(a);'), 'one')).toThrow('no rule for scripts');
  expect(() => lua(body('return other(a);'), 'one')).toThrow('no rule for scripts: other(a)');
  expect(() => lua(body('if (a > 1) return 1; return 2;'), 'one')).toThrow('no rule for scripts');
  expect(() => lua(body('return a % 2;'), 'one')).toThrow('no rule for scripts: a % 2');
  expect(() => lua(body('return a;'), 'two')).toThrow('there is no function two');
});
