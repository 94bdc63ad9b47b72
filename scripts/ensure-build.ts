/** Builds when dist/ is missing or older than the newest file of src/ and dashboard/. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Whether a checkout has no build, or one of older files. */
export function isStale(root: string): boolean {
  const built = join(root, 'dist/cli/main.js');
  if (!existsSync(built)) return true;
  const sources = [join(root, 'src'), join(root, 'dashboard')];
  return statSync(built).mtimeMs < Math.max(...sources.map(newest));
}

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(0, ...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url && isStale(ROOT)) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
