/** Queues on SQLite need its binding, which is compiled code: tests and users of Fairloom do not install it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../../scripts/run.ts';

const FOLDER = `${ROOT}temp/bench-peers/`;

const SQLITE_PEERS: Readonly<Record<string, string>> = {
  'better-sqlite3': '12.11.1',
  plainjob: '0.0.14',
};

/** Installs them beside the repository's own packages, unless they are there. */
function installPeers(): void {
  if (Object.keys(SQLITE_PEERS).every((name) => existsSync(`${FOLDER}node_modules/${name}`)))
    return;
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(
    `${FOLDER}package.json`,
    JSON.stringify({ private: true, dependencies: SQLITE_PEERS }),
  );
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'inherit' });
}

/** Where to import one of them from. */
export function peerUrl(name: string): string {
  installPeers();
  const { resolve } = createRequire(`${FOLDER}package.json`);
  return pathToFileURL(resolve(name)).href;
}
