/**
 * Which test holds which row of the bug catalogue: O-id, backend, test. A test says so by its title,
 * which begins with the id (`O17 …`, or several: `O11 O39 …`). Exits 1 when a row that concerns this
 * release has no test on a backend that it concerns.
 *
 *   npm run cases               all rows
 *   npm run cases -- --missing  only those without a test
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ROOT } from './run.ts';

export type BackendName = 'memory' | 'redis';

export interface Case {
  /** `O17`, or `O95.3` for one of the family of O95. */
  readonly id: string;
  readonly backends: readonly BackendName[];
}

/** A title that names a row, and the backends that its test runs on. */
export interface NamedTest {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly backends: readonly BackendName[];
}

const BOTH: readonly BackendName[] = ['memory', 'redis'];
const REDIS: readonly BackendName[] = ['redis'];

/**
 * The rows in scope. Left out: 2B but for what tests name anyway, O37 (fan-in of a run), O74 and
 * O83–O92 (schedules), O95.6 (Cluster) and O95.14 (dashboard), which belong to later parts.
 */
export const CASES: readonly Case[] = [
  ...numbered(1, 43).filter(({ id }) => id !== 'O37'),
  ...numbered(69, 78).filter(({ id }) => id !== 'O74'),
  ...numbered(79, 82),
  ...numbered(93, 94),
  ...[1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13].map((n) => of(`O95.${n}`)),
];

/** What can only go wrong with a server, a connection or another process. */
function of(id: string): Case {
  const server = new Set(['O15', 'O18', 'O20', 'O46']);
  const ofServer = server.has(id) || (id.startsWith('O95.') && !['O95.12', 'O95.13'].includes(id));
  return { id, backends: ofServer || id === 'O95.12' ? REDIS : BOTH };
}

function numbered(from: number, to: number): readonly Case[] {
  return Array.from({ length: to - from + 1 }, (_, at) => of(`O${from + at}`));
}

/** A string that begins with one or more ids: the title of a test or of a group of tests. */
const TITLE = /(['"`])((?:O\d+(?:\.\d+)? )+)((?:\\.|(?!\1)[^\\\n])*)/g;

export function namedTests(): readonly NamedTest[] {
  const files = [...below('test', /\.test\.ts$/), ...below('src/testing/contract', /\.ts$/)];
  return files.flatMap((file) => {
    const text = readFileSync(new URL(file, pathToFileURL(ROOT)), 'utf8');
    const backends = backendsOf(file, text);
    return [...text.matchAll(TITLE)].flatMap(([, , ids = '', title = '']) =>
      ids
        .trim()
        .split(' ')
        .map((id) => ({ id, title, file, backends })),
    );
  });
}

/** Where the tests of a file run, by what the file uses and where it stands. */
function backendsOf(file: string, text: string): readonly BackendName[] {
  // The contract is run for each; the rules are those of both.
  if (/^(src\/testing\/contract|test\/domain)\//.test(file)) return BOTH;
  if (/\beachBackend\(/.test(text)) return BOTH;
  const found: BackendName[] = [];
  if (/\b(openMemory|memory|testLoom)\(/.test(text)) found.push('memory');
  if (/^test\/(redis|e2e|examples)\//.test(file) || /\b(openRedis|redis)\(/.test(text)) {
    found.push('redis');
  }
  return found;
}

function below(folder: string, match: RegExp): readonly string[] {
  return readdirSync(new URL(`${folder}/`, pathToFileURL(ROOT)), { recursive: true })
    .map((path) => `${folder}/${String(path).replaceAll('\\', '/')}`)
    .filter((path) => match.test(path))
    .sort();
}

/** `O17 on redis`, for each row without a test on a backend that it concerns. */
export function missingCases(tests: readonly NamedTest[]): readonly string[] {
  return CASES.flatMap(({ id, backends }) =>
    backends
      .filter((backend) => !tests.some((test) => test.id === id && test.backends.includes(backend)))
      .map((backend) => `${id} on ${backend}`),
  );
}

function print(tests: readonly NamedTest[]): void {
  const order = (id: string): number => Number(id.slice(1)) * 1_000 + Number(id.split('.')[1] ?? 0);
  const rows = [...tests].sort((one, other) => order(one.id) - order(other.id));
  for (const { id, title, file, backends } of rows) {
    console.log(`${id.padEnd(7)} ${backends.join(', ').padEnd(14)} ${title}  (${file})`);
  }
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
