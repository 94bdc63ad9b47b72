/** docs/errors.md says of every error what its class says. */
import { expect, it } from 'vitest';
import { renderErrors } from '../../../scripts/docs/errors-doc.ts';
import * as errors from '../../../src/domain/errors/errors.ts';
import { filesBelow, read } from '../../support/files.ts';

it('says what "npm run docs" writes', () => {
  const page = read('docs/errors.md');
  expect(page).toBe(renderErrors(page));
});

it('covers every class that is exported', () => {
  const abstract = ['FairloomError', 'CodedError', 'GraphStoreError'];
  const exported = Object.keys(errors).filter(
    (name) => /^[A-Z]\w*[a-z]/.test(name) && !abstract.includes(name),
  );
  const names = Object.values(errors.ERRORS).map(({ name }) => name);
  expect(exported.toSorted()).toEqual(names.toSorted());
});

it('has each code in the class that the catalogue names', () => {
  const source = filesBelow('src/domain/errors', /-errors\.ts$/).map((path) => read(path));
  const pattern =
    /class (\w+) extends (?:CodedError<'(\w+)'>|GraphStoreError \{[^;]*?declare readonly code: '(\w+)')/g;
  const classes = [...source.join('\n').matchAll(pattern)].map(([, name = '', code, graphCode]) => [
    code ?? graphCode,
    name,
  ]);
  const rows = Object.entries(errors.ERRORS).map(([code, { name }]) => [code, name]);
  expect(classes.toSorted()).toEqual(rows.toSorted());
});

it('has a row for every failure type', () => {
  const union = /type FailureType =([^;]*);/.exec(read('src/domain/task/cause.ts'))?.[1] ?? '';
  const types = [...union.matchAll(/'([a-z-]+)'/g)].map((match) => match[1]);
  expect(rowsUnder('## Why a task failed')).toEqual(types);
});

// F13
it('has a row for every cause', () => {
  const unions = read('src/domain/task/cause.ts').split('/** The cause of a task')[0] ?? '';
  const types = [...unions.matchAll(/readonly type: '([a-z-]+)'/g)].map((match) => match[1]);
  expect(types.length).toBeGreaterThan(15);
  expect(rowsUnder('## Causes')).toEqual(types);
});

/** The words in the first column of the table of one section. */
function rowsUnder(heading: string): readonly (string | undefined)[] {
  const section = read('docs/errors.md').split(`${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/^\| `([a-z-]+)` \|/gm)].map((match) => match[1]);
}
