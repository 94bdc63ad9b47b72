/** What the page says of JSON that is typed into it. */
import { expect, it } from 'vitest';
import { inputWord, jsonProblem } from '../../dashboard/src/words/json.ts';

it.each([
  ['', undefined],
  [' \n', undefined],
  ['{"a": [1, 2]}', undefined],
  ['null', undefined],
])('says nothing of %j', (text, problem) => {
  expect(jsonProblem(text)).toBe(problem);
});

it.each([
  ['{"a": 1,\n "b": oops}', /^Line 2, column 7: Unexpected token/],
  ['{\n  "a": 1\n', /^Line 3, column 1: /],
  ["{'a': 1}", /^Line 1, column 2: /],
  ['x', /^Line 1, column 1: Unexpected token/],
])('says where %j is wrong', (text, problem) => {
  expect(jsonProblem(text)).toMatch(problem);
});

it('puts a short input on the line, and a long one into a file', () => {
  expect(inputWord('{ "a":\n 1 }')).toBe('{"a":1}');
  expect(inputWord(JSON.stringify('x'.repeat(2_000)))).toBe('@input.json');
});
