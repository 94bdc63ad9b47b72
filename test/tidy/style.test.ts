/** What a machine can see of the style in CONTRIBUTING.md and that no linter looks at. */
import { describe, expect, it } from 'vitest';
import { codeOf, filesBelow, read, trackedFiles } from '../support/files.ts';
import { LAYERS } from '../support/layers.ts';

/** What needs more lines than this is more than one noun; shorter files are a matter of judgement. */
const MAX_LINES = 500;

const page = filesBelow('dashboard/src', /\.(css|tsx?)$/);
const sources = [...filesBelow('src', /\.(ts|lua)$/), ...page].filter(
  (path) => !/\.generated\.ts$|\/lua\/expanded\//.test(path),
);
const typescript = ['src', 'test', 'scripts', 'bench', 'examples', 'dashboard'].flatMap((folder) =>
  filesBelow(folder, /\.tsx?$/).filter((path) => !path.endsWith('.generated.ts')),
);

/** Comments that name rows of the catalogues: they do not make a file longer to read. */
const ROWS = /^ *\/\/ (?:[A-Z]\d*(?:-W)?[\d.]+ ?)+\n/gm;

/** Lines that match, as `path:line: text`. */
function hits(path: string, text: string, pattern: RegExp): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : []));
}

describe('files', () => {
  it(`have at most ${MAX_LINES} lines`, () => {
    const long = sources
      // An entry point is a list of names, and the rule below sees to it.
      .filter((path) => !/^src\/[^/]+\.ts$/.test(path))
      .map((path) => ({ path, lines: read(path).replace(ROWS, '').trimEnd().split('\n').length }))
      .filter(({ lines }) => lines > MAX_LINES);
    expect(long).toEqual([]);
  });

  it('leave nothing for later', () => {
    const later = new RegExp(
      `\\b(${['TO', 'FIX'].map((start) => `${start}${start === 'TO' ? 'DO' : 'ME'}`).join('|')})\\b`,
    );
    const found = [...sources, ...typescript].flatMap((path) => hits(path, read(path), later));
    expect([...new Set(found)]).toEqual([]);
  });

  it('are free of any', () => {
    const pattern = /(?:[:<|&,(=]|\bas|\bkeyof|=>)\s*any\b(?!\s*[(:.?])/;
    expect(typescript.flatMap((path) => hits(path, codeOf(read(path)), pattern))).toEqual([]);
  });

  it('name no machine', () => {
    // A home or work folder, a URL of a package registry, a resolved address in the lock file.
    const pattern =
      /(?<![\w.@-])\/(work|root)\/|\/\/[\w.-]*\bregistry\b[\w.-]*|\bregistry\.[\w-]+\.[a-z]{2,}\b(?!\()|"resolved": "http/;
    const found = trackedFiles()
      .filter((path) => path !== 'test/tidy/style.test.ts')
      .flatMap((path) => hits(path, read(path), pattern));
    expect(found).toEqual([]);
  });
});

describe('pure code', () => {
  it('throws no dice', () => {
    const pure = /^src\/(base|domain|graph|workflow|backends)\//;
    const found = sources
      .filter((path) => pure.test(path) && path.endsWith('.ts'))
      .flatMap((path) => hits(path, codeOf(read(path)), /\bMath\s*\.\s*random\b/));
    expect(found).toEqual([]);
  });

  it('reads no clock in Lua but in lua/lib/base/moment.lua', () => {
    const found = sources
      .filter((path) => path.endsWith('.lua') && !path.endsWith('/lib/base/moment.lua'))
      .flatMap((path) =>
        hits(
          path,
          read(path).replaceAll(/--.*/g, ''),
          /\bmath\.random\b|\bos\.|call\(\s*['"]TIME['"]/i,
        ),
      );
    expect(found).toEqual([]);
  });
});

describe('words', () => {
  /** They hide the subject of a sentence. */
  const VAGUE = /\b(?:whoever|somebody|nobody|anybody|whatever)\b/gi;
  const MOST_IN_1000_LINES = 1;

  /** Lines of comments, without the code beside them. */
  function commentsOf(path: string): readonly string[] {
    const comment = path.endsWith('.lua') ? /^\s*--/ : /^\s*(?:\/\/|\/?\*)/;
    return read(path)
      .split('\n')
      .filter((line) => comment.test(line));
  }

  it('of comments and docs name their subject', () => {
    const comments = sources.filter((path) => path.startsWith('src/')).flatMap(commentsOf);
    const pages = ['README.md', ...filesBelow('docs', /\.md$/)];
    const lines = [...comments, ...pages.flatMap((path) => read(path).split('\n'))];
    const vague = lines.filter((line) => line.match(VAGUE) !== null);
    expect(lines.length).toBeGreaterThan(10_000);
    expect(vague.slice(Math.floor((lines.length * MOST_IN_1000_LINES) / 1_000))).toEqual([]);
  });
});

describe('entry points', () => {
  it('only name what others export', () => {
    const statement = /export\s+(?:type\s+)?\{[^}]*\}\s*from\s*''\s*;/g;
    const rest = filesBelow('src', /^src\/[^/]+\.ts$/)
      .map((path) => ({ path, rest: codeOf(read(path)).replaceAll(statement, '').trim() }))
      .filter(({ rest }) => rest !== '');
    expect(rest).toEqual([]);
  });
});

describe('tests', () => {
  const tests = filesBelow('test', /\.test\.ts$/);

  it('all belong to a layer, so that all run', () => {
    const layers = new Set(LAYERS.map(({ name }) => name));
    expect(tests.filter((path) => !layers.has(path.split('/')[1] ?? ''))).toEqual([]);
  });

  it('are neither left out nor alone', () => {
    // `context.skip(reason)` inside a test stays possible: the contract suite names its reasons.
    const pattern = /\b(it|test|describe)\s*\.\s*(skip|only|todo|skipIf|runIf)\b/;
    expect(tests.flatMap((path) => hits(path, codeOf(read(path)), pattern))).toEqual([]);
  });

  // F75
  it('have no time limit of their own: none depends on the speed of the machine', () => {
    const pattern = /^ *\}, (\d+_000|\{ timeout: [^}]*\})\);/m;
    expect(tests.flatMap((path) => hits(path, read(path), pattern))).toEqual([]);
  });

  it('run every example', () => {
    const text = tests.map((path) => read(path)).join('\n');
    const examples = filesBelow('examples', /\.(ts|mts|js|mjs)$/).filter(
      (path) => !/\/(node_modules|support)\//.test(path),
    );
    const unnamed = examples.filter(
      (path) => !text.includes(path) && !text.includes(`'${path.replace('examples/', '')}'`),
    );
    expect(unnamed).toEqual([]);
  });
});

// F8
it('nothing decides by the class of one of our own errors: there may be several copies of it', () => {
  const names =
    read('src/domain/errors/errors.ts').match(/\b(?:Fatal|RetryAfter|\w+Error)\b/g) ?? [];
  const pattern = new RegExp(`instanceof (?:${[...new Set(names)].join('|')})\\b`);
  const files = filesBelow('src', /\.ts$/);
  expect(files.flatMap((path) => hits(path, codeOf(read(path)), pattern))).toEqual([]);
});
