/** The files of the repository, for tests that read them. Paths are relative, with slashes. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);
/** Made, not written. */
const MADE =
  /^((node_modules|dist|coverage|temp|\.git|docs\/api|src\/backends\/redis\/lua\/expanded)\/|.*\.generated\.ts$)/;
const BINARY = /\.(png|jpg|gif|ico|woff2?|gz|tgz|zip)$/;

/** The text of a file; throws when it does not exist. */
export function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8');
}

function exists(path: string): boolean {
  return existsSync(new URL(path, ROOT));
}

function isFile(path: string): boolean {
  return exists(path) && statSync(new URL(path, ROOT)).isFile();
}

/** Every file below a folder whose path matches; nothing when there is no such folder. */
export function filesBelow(folder: string, match: RegExp): readonly string[] {
  if (!exists(folder)) return [];
  return readdirSync(new URL(`${folder}/`, ROOT), { recursive: true })
    .map((path) => `${folder}/${String(path).replaceAll('\\', '/')}`)
    .filter((path) => match.test(path) && !/\/node_modules\/|^docs\/api\//.test(path))
    .sort();
}

/** Every text file that is committed or would be; without git, every file that is not made. */
export function trackedFiles(): readonly string[] {
  return candidates().filter((path) => !MADE.test(path) && !BINARY.test(path) && isFile(path));
}

function candidates(): readonly string[] {
  try {
    const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
    const options = { cwd: fileURLToPath(ROOT), encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', args, options).split('\0').filter(Boolean);
  } catch {
    return walk('');
  }
}

function walk(folder: string): readonly string[] {
  return readdirSync(new URL(folder, ROOT), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (!entry.isDirectory()) return [path];
    return MADE.test(`${path}/`) ? [] : walk(`${path}/`);
  });
}

/** TypeScript without comments and the insides of strings, so that words in prose do not count. */
export function codeOf(text: string): string {
  return text.replaceAll(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g,
    (found) => (found.startsWith('/') ? '' : "''"),
  );
}
