/** docs/errors.md says of every error what its class says. */
import { expect, it } from 'vitest';
import * as errors from '../../../src/domain/errors/errors.ts';
import { filesBelow, read } from '../../support/files.ts';

interface Row {
  readonly code: string;
  readonly className: string;
  readonly retryable: string;
}

const source = filesBelow('src/domain', /-errors\.ts$/)
  .map(read)
  .join('\n');
const declared = [
  ...source.matchAll(
    /export class (\w+) extends (?:FairloomError|GraphStoreError) \{[\s\S]*?code = '([A-Z_]+)';[^;]*?readonly retryable = (true|false);/g,
  ),
].map(
  ([, className = '', code = '', retryable = '']): Row => ({
    code,
    className,
    retryable: retryable === 'true' ? 'yes' : 'no',
  }),
);
const rows = [
  ...read('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \| `(\w+)` \| (yes|no) \|(.*)\|(.*)\|$/gm),
];

it('names the class of every code, and whether a retry may help', () => {
  const written = rows.map(
    ([, code = '', className = '', retryable = '']): Row => ({ code, className, retryable }),
  );
  const byCode = (a: Row, b: Row): number => a.code.localeCompare(b.code);
  expect(declared.length).toBeGreaterThan(20);
  expect(written.toSorted(byCode)).toEqual(declared.toSorted(byCode));
});

it('covers every class that is exported', () => {
  const abstract = ['FairloomError', 'GraphStoreError'];
  const exported = Object.keys(errors).filter(
    (name) => /^[A-Z]/.test(name) && !abstract.includes(name),
  );
  expect(declared.map(({ className }) => className).sort()).toEqual(exported.sort());
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
