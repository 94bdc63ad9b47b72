/**
 * Makes the generated files of src/, as `GENERATORS` lists them. None is committed: branches would
 * conflict in them. `npm ci`, `npm test`, vitest, and the commands of package.json that run or compile src/ call this.
 *
 * temp/generated.json records the sources of each file with a hash, so that it is made again only when
 * a source changed.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The result of a generator; paths are relative to the repository. */
export interface Generated {
  /** Text by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Source files and folders, its own program among them. */
  readonly madeOf: readonly string[];
}

type Generator = () => Promise<Generated> | Generated;

/** A generator is loaded only when it has to run. */
const GENERATORS: Readonly<Record<string, () => Promise<Generator>>> = {
  lua: async () => (await import('./lua/bundle.ts')).luaScripts,
  hosts: async () => (await import('./generate/programs.ts')).hostPrograms,
  schemas: async () => (await import('./generate/schemas.ts')).answerSchemas,
  pageRoutes: async () => (await import('./generate/page-routes.ts')).pageRoutes,
  compaction: async () => (await import('./generate/programs.ts')).compactionProgram,
};

/** The text of the file that records the sources. */
interface Note {
  readonly files: readonly string[];
  readonly madeOf: readonly string[];
  readonly hash: string;
}
type Notes = Readonly<Record<string, Note>>;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NOTES = 'temp/generated.json';
/** The versions of the packages that generators use. */
const VERSIONS = 'package-lock.json';

/** Makes missing and outdated files. */
export async function generate(): Promise<void> {
  const before: Notes = existsSync(`${ROOT}${NOTES}`) ? JSON.parse(textOf(NOTES)) : {};
  const notes: Record<string, Note> = {};
  for (const [name, load] of Object.entries(GENERATORS)) {
    const note = before[name];
    const isCurrent = note !== undefined && note.hash === hashOf(note.files, note.madeOf);
    notes[name] = isCurrent ? note : await make(await load());
  }
  write(NOTES, JSON.stringify(notes));
}

async function make(generator: Generator): Promise<Note> {
  const { files, madeOf } = await generator();
  for (const [path, text] of Object.entries(files)) write(path, text);
  const paths = Object.keys(files);
  return { files: paths, madeOf, hash: hashOf(paths, madeOf) };
}

function hashOf(files: readonly string[], madeOf: readonly string[]): string {
  const made = new Set(files);
  const sources = madeOf.flatMap(filesOf).filter((path) => !made.has(path));
  const hash = createHash('sha256');
  for (const path of [VERSIONS, ...sources, ...files]) {
    hash.update(`${path}\n${existsSync(`${ROOT}${path}`) ? textOf(path) : ''}\n`);
  }
  return hash.digest('hex');
}

/** A file itself, or the files of a folder. */
function filesOf(path: string): readonly string[] {
  if (!existsSync(`${ROOT}${path}`) || statSync(`${ROOT}${path}`).isFile()) return [path];
  return readdirSync(`${ROOT}${path}`, { recursive: true, encoding: 'utf8' })
    .map((name) => `${path}/${name.replaceAll('\\', '/')}`)
    .filter((name) => statSync(`${ROOT}${name}`).isFile())
    .sort();
}

function textOf(path: string): string {
  return readFileSync(`${ROOT}${path}`, 'utf8');
}

/** Atomically: another process may be reading the file. An unchanged file is not written. */
function write(path: string, text: string): void {
  const file = `${ROOT}${path}`;
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  mkdirSync(dirname(file), { recursive: true });
  const half = `${file}.${process.pid}.tmp`;
  writeFileSync(half, text);
  renameSync(half, file);
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) await generate();
