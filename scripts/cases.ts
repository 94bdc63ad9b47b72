/**
 * Lists which test holds which row of the catalogues: id, backends, title. The line above a test names its
 * rows in a comment (`// O17`, or several: `// O11 O39`). `O` rows are bugs of queues and workflow engines,
 * rows in a comment (`// O17`, or several: `// O11 O39`). `O` rows are bugs of queues and workflow engines,
 * `F` rows faults found in use of this one, `A-W` and `B-W` rows defects of its two predecessors,
 * `C2` rows requirements of the tests of the second. Exits 1 when a row that concerns this release has no test
 *
 *   npm run cases               all rows
 *   npm run cases -- --missing  only those without a test
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROOT } from './run.ts';

export type BackendName = 'memory' | 'file' | 'redis';

export interface Case {
  /** `O17`, `B-W5`, or `O95.3` for one of a family. */
  readonly id: string;
  /** Where it must be tested; none: the row has no backend, and one test anywhere is enough. */
  readonly backends: readonly BackendName[];
}

/** A test below a comment that names a row, and the backends that it runs on. */
export interface NamedTest {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly backends: readonly BackendName[];
}

const ALL: readonly BackendName[] = ['memory', 'file', 'redis'];
const BOTH: readonly BackendName[] = ['memory', 'redis'];
const REDIS: readonly BackendName[] = ['redis'];
const MEMORY: readonly BackendName[] = ['memory'];
const FILE: readonly BackendName[] = ['file'];

/** Numbers between two chapters of a catalogue. */
const NO_ROW = 'no row has this number';

/** What can only go wrong with a server, a connection, another process, or the command line. */
const SERVER: ReadonlySet<string> = new Set(
  'O15 O18 O20 O46 O56 O95.12 B-W12 F29 F30 F36 F39 F61 F63 F64 F65 F66 F86 F92 F101 F132'.split(
    ' ',
  ),
);

/** What can only go wrong with a folder, its disk and its owner. */
const FOLDER: ReadonlySet<string> = new Set('F93 F94 F95 F96 F100 F128'.split(' '));

/** What only the embedded backend or the manual clock has. */
const EMBEDDED: ReadonlySet<string> = new Set(['F37', 'F38', 'F73', 'F99']);

/** Types, documents, hosts of handlers, routes, rules without a backend. */
const ANYWHERE: ReadonlySet<string> = new Set([
  ...'O83 O84 O85 O86 O87 O88 O89 F9 F16 F17 F27 F28 F40 F51 F52 F53 F71'.split(' '),
  ...'F74 F75 F76 F90 F98 F130 F135 F136 F137 F139 F143 F144 F145'.split(' '),
  ...ids('F', 102, 125),
]);

/** Rows without a test of their own, with the reason. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  F18: NO_ROW,
  F19: NO_ROW,
  ...reasons('F', [41, 49], NO_ROW),
  ...reasons('F', [54, 59], NO_ROW),
  'O95.14': 'the dashboard, which is a later part',
  'B-W1': 'waiting for people, which is a later part',
  'B-W2': 'waiting for people, which is a later part',
  'B-W28': 'waiting for people, which is a later part',
  'B-W29': 'waiting for people, which is a later part',
  'B-W36': 'no defect: a list of what the ancestor lacks and the rest of the suite tests',
  'C2.24': 'waiting for people, which is a later part',
  F76: 'how long a run takes is seen in what CI prints of each layer, not in a test',
  F118: 'bulk actions that only count, with the table of operations',
  F119: 'what `fairloom dev` shows, with the first ten minutes',
  F122: 'a figure in docs/performance.md',
  F124: 'facts of the comparison in README.md',
  F125: 'a sentence in docs/limits.md',
  F143: 'decided: no list of graphs is promised',
};

/** Of the first predecessor's defects those about pipelines; the others are listed with their subjects. */
const PIPELINES: readonly Case[] = ['A-W5', 'A-W26', 'A-W27'].map(of);

/** The rows in scope. */
export const CASES: readonly Case[] = [
  ...numbered('O', 1, 94),
  ...numbered('O95.', 1, 14),
  ...PIPELINES,
  ...numbered('B-W', 1, 36),
  ...numbered('C2.', 1, 25),
  ...numbered('F', 1, 145),
].filter(({ id }) => LEFT_OUT[id] === undefined);

function of(id: string): Case {
  if (SERVER.has(id) || (id.startsWith('O95.') && id !== 'O95.13')) return { id, backends: REDIS };
  if (EMBEDDED.has(id)) return { id, backends: MEMORY };
  if (FOLDER.has(id)) return { id, backends: FILE };
  return { id, backends: ANYWHERE.has(id) ? [] : BOTH };
}

function numbered(family: string, from: number, to: number): readonly Case[] {
  return ids(family, from, to).map(of);
}

function ids(family: string, from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, at) => `${family}${from + at}`);
}

function reasons(
  family: string,
  [from, to]: readonly [number, number],
  reason: string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(numbered(family, from, to).map(({ id }) => [id, reason]));
}

/** A title that begins with an id: readers of the repository do not have the catalogues. */
const CODED = /(['"`])(?:(?:O\d+(?:\.\d+)?|F\d+|[AB]-W\d*|C2\.\d+) )(?:\\.|(?!\1)[^\\\n])*\1/g;

/** A comment of ids alone, and the first string below it: the title of a test or of a group of tests. */
const NAMED =
  /^ *\/\/ ((?:(?:O\d+(?:\.\d+)?|F\d+|[AB]-W\d+|C2\.\d+) ?)+)\n[^'"`]*(['"`])((?:\\.|(?!\2).)*)/gms;

export function namedTests(): readonly NamedTest[] {
  return tests().flatMap(({ file, text }) => {
    const backends = backendsOf(file, text);
    return [...text.matchAll(NAMED)].flatMap(([, ids = '', , title = '']) =>
      ids
        .trim()
        .split(' ')
        .map((id) => ({ id, title, file, backends })),
    );
  });
}

/** Titles that are a code in place of a rule. */
export function codedTitles(): readonly string[] {
  return tests().flatMap(({ text }) => [...text.matchAll(CODED)].map(([title]) => title));
}

function tests(): readonly { readonly file: string; readonly text: string }[] {
  const files = [...below('test', /\.test\.ts$/), ...below('src/conformance', /\.ts$/)];
  return files.map((file) => ({
    file,
    text: readFileSync(new URL(file, pathToFileURL(ROOT)), 'utf8'),
  }));
}

/** Where the tests of a file run, by its imports and its path. */
function backendsOf(file: string, text: string): readonly BackendName[] {
  // The contract runs on each; rules and compiled workflows are the same on all.
  if (/^(src\/conformance|test\/domain|test\/workflow)\//.test(file)) return ALL;
  // What is decided above the backend too: one backend shows it for all.
  if (/\b(embedded|everyBackend)\(/.test(text)) return ALL;
  const found: BackendName[] = /\beachBackend\(/.test(text) ? [...BOTH] : [];
  if (/\b(openMemory|memory|testLoom)\(/.test(text)) found.push('memory');
  if (/^test\/(redis|e2e|examples)\//.test(file) || /\b(openRedis|redis)\(/.test(text)) {
    found.push('redis');
  }
  if (/^test\/file\//.test(file) || /\b(openFile|file)\(/.test(text)) found.push('file');
  return [...new Set(found)];
}

function below(folder: string, match: RegExp): readonly string[] {
  return readdirSync(new URL(`${folder}/`, pathToFileURL(ROOT)), { recursive: true })
    .map((path) => `${folder}/${String(path).replaceAll('\\', '/')}`)
    .filter((path) => match.test(path))
    .sort();
}

/** `O17 on redis`, for each row without a test on a backend that it concerns. */
export function missingCases(tests: readonly NamedTest[]): readonly string[] {
  return CASES.flatMap(({ id, backends }) => {
    const own = tests.filter((test) => test.id === id);
    if (own.length === 0) return [id];
    return backends
      .filter((backend) => !own.some((test) => test.backends.includes(backend)))
      .map((backend) => `${id} on ${backend}`);
  });
}

function print(tests: readonly NamedTest[]): void {
  const place = new Map(CASES.map(({ id }, at) => [id, at]));
  const order = (id: string): number => place.get(id) ?? place.size;
  const rows = [...tests].sort((one, other) => order(one.id) - order(other.id));
  for (const { id, title, file, backends } of rows) {
    console.log(`${id.padEnd(7)} ${backends.join(', ').padEnd(19)} ${title}  (${file})`);
  }
  for (const [id, reason] of Object.entries(LEFT_OUT)) console.log(`${id.padEnd(7)} – ${reason}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const tests = namedTests();
  if (!process.argv.includes('--missing')) print(tests);
  const missing = missingCases(tests);
  const rows = new Set(tests.map(({ id }) => id)).size;
  console.log(`${rows} rows have tests, ${CASES.length} are in scope`);
  if (missing.length > 0) console.error(`without a test: ${missing.join(', ')}`);
  process.exitCode = missing.length > 0 ? 1 : 0;
}
