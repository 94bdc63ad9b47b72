/** Builds when dist/ is missing or older than the newest file of src/ and dashboard/. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = [join(ROOT, 'src'), join(ROOT, 'dashboard')];
const BUILT = join(ROOT, 'dist/cli/main.js');

if (!existsSync(BUILT) || statSync(BUILT).mtimeMs < Math.max(...SOURCES.map(newest))) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(0, ...files.map((file) => statSync(join(file.parentPath, file.name)).mtimeMs));
}
