/** Words that were retired do not come back: docs/glossary.md tells what to write. */
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesBelow, read } from '../support/files.ts';

const RETIRED =
  /\b(lanes?|arrears|displace[sd]?|poke|pulse|hollow|mended|mending|dice|looking on|write-book)\b|stranger|orphan|hunger|doorbell|zombie|notary|(user|known|all)lanes?\b|laneof|taskstanding/i;
/** Their list, what happened under these names, and words of ordinary English about other things. */
const OUTSIDE = /^docs\/(glossary\.md|adr\/)/;
const ORDINARY: readonly (readonly [path: string, text: string])[] = [
  ['scripts/docs/floor-plan.ts', 'What a stranger finds in it'],
  ['docs/guide/dependencies.md', 'mending and redriving'],
  ['docs/fairness.md', 'adr/0008-orphans-by-class-family.md'],
];

/** Ordinary English in a sentence, and no word for a name: `tellFailed` is made of `tell` and `failed`. */
const NO_WORD_OF_A_NAME = new Set([
  'held',
  'plain',
  'book',
  'books',
  'mend',
  'mends',
  'room',
  'roomy',
  'rooms',
  'stage',
  'strange',
  'terms',
]);
/** The same in what is built and run for users; tests and benches may say what somebody was told. */
const NO_WORD_OF_SOURCE = new Set([
  'hear',
  'heard',
  'hears',
  'tell',
  'telling',
  'tells',
  'told',
  'untold',
]);
/** Names that mean what the word says. */
const MEANT: readonly (readonly [path: RegExp, names: RegExp])[] = [
  // A task that uses nothing optional; an object that is of no class; what a test has beside something special.
  [/./, /^((is|are|store)P|p)lain(Task|Tasks|Batch)$|^isPlainObject$/],
  [/^test\//, /^plain$/],
  // Folders of src/.
  [/floor-plan/, /rooms?$|^roomOf$/i],
  // The stages of a mutant's run; a label of a metric; where a build is put together.
  [/^test\/mutants\/run\.ts$/, /stage/i],
  [/^src\/metrics\/store-figures\.ts$/, /^stage$/],
  [/^scripts\/bundle\.ts$/, /^STAGE$/],
  // Faults of chaos: SIGTERM, so many times.
  [/^test\/e2e\/chaos\.test\.ts$/, /^terms$/],
];

const IS_MADE = /\.generated\.ts$|\/expanded\//;

it('words that docs/glossary.md retires are used nowhere', () => {
  const files = [
    ...filesBelow('src', /\.(ts|lua)$/),
    ...filesBelow('docs', /\.md$/),
    ...filesBelow('scripts', /\.ts$/),
    'CONTRIBUTING.md',
    'README.md',
  ].filter((path) => !OUTSIDE.test(path) && !IS_MADE.test(path));
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

describe('a name', () => {
  it.each([
    ['src', 400],
    ['scripts', 40],
    ['bench', 40],
    ['test', 400],
  ])('is made of no word that is retired for names: %s', (folder, most) => {
    const files = filesBelow(folder, /\.(ts|lua)$/).filter((path) => !IS_MADE.test(path));
    expect(files.length).toBeGreaterThan(most);
    const found = files.flatMap((path) =>
      [...namesIn(path, folder)]
        .filter((name) => wordsOf(name).some((word) => isRetired(word, folder)))
        .filter((name) => !MEANT.some(([file, names]) => file.test(path) && names.test(name)))
        .map((name) => `${path}: ${name}`),
    );
    expect(found).toEqual([]);
  });
});

function isRetired(word: string, folder: string): boolean {
  return NO_WORD_OF_A_NAME.has(word) || (folder === 'src' && NO_WORD_OF_SOURCE.has(word));
}

function wordsOf(name: string): readonly string[] {
  return (name.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []).map((word) => word.toLowerCase());
}

/** Names that a file declares or uses; of files that hold none of the words nothing is read. */
function namesIn(path: string, folder: string): ReadonlySet<string> {
  const text = read(path);
  const names = new Set<string>();
  if (!wordsOf(text).some((word) => isRetired(word, folder))) return names;
  if (path.endsWith('.lua')) {
    const code = text.replaceAll(/--[^\n]*|'(?:\\.|[^'\\\n])*'/g, ' ');
    return new Set(code.match(/\w+/g));
  }
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
  return names;
}
