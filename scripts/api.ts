/**
 * Runs API Extractor on every entry point against etc/*.api.md: exits 1 when the public API is not
 * the one that the reports show. With `--local` it writes the reports. Needs a build.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CONFIGS = ['api-extractor.json', 'api-extractor.redis.json', 'api-extractor.testing.json'];

const local = process.argv.includes('--local');

if (local) mkdirSync(new URL('../etc/', import.meta.url), { recursive: true });
for (const config of CONFIGS) {
  const args = ['run', '--config', config, ...(local ? ['--local'] : [])];
  const { status } = spawnSync('npx', ['--no-install', 'api-extractor', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
