/** Words that were retired do not come back: docs/glossary.md tells what to write. */
import { expect, it } from 'vitest';
import { filesBelow, read } from '../support/files.ts';

const RETIRED =
  /\b(lanes?|arrears|displace[sd]?|poke|pulse|hollow|mended|mending|dice|looking on)\b|stranger|orphan|hunger|doorbell|zombie|notary|(user|known|all)lanes?\b|laneof|taskstanding/i;
/** Their list, what happened under these names, and words of ordinary English about other things. */
const OUTSIDE = /^docs\/(glossary\.md|adr\/)/;
const ORDINARY: readonly (readonly [path: string, text: string])[] = [
  ['scripts/docs/floor-plan.ts', 'What a stranger finds in it'],
  ['docs/guide/dependencies.md', 'mending and redriving'],
  ['docs/fairness.md', 'adr/0008-orphans-by-class-family.md'],
];

it('words that docs/glossary.md retires are used nowhere', () => {
  const files = [
    ...filesBelow('src', /\.(ts|lua)$/),
    ...filesBelow('docs', /\.md$/),
    ...filesBelow('scripts', /\.ts$/),
    'CONTRIBUTING.md',
    'README.md',
  ].filter((path) => !OUTSIDE.test(path) && !/\.generated\.ts$|\/expanded\//.test(path));
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => RETIRED.test(line))
      .filter((line) => !ORDINARY.some(([file, text]) => file === path && line.includes(text)))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
