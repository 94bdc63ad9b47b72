/**
 * Prometheus' own checker of alerts: from the PATH, or out of Debian's package, which is taken apart
 * in `temp/` and not installed. Otherwise one line says what to do; its tests are never skipped.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../scripts/run.ts';

const OWN = join(ROOT, 'temp', 'promtool');

/** The path of promtool. Throws with the line to print. */
export function findPromtool(): string {
  if (existsSync(OWN)) return OWN;
  if (answers('promtool')) return 'promtool';
  // The lists of packages may be missing or old on a new machine.
  if (taken(() => undefined) || taken(() => run('apt-get', ['-qq', 'update']))) return OWN;
  throw new Error('These tests need promtool on the PATH: install the package "prometheus".');
}

function answers(command: string): boolean {
  try {
    run(command, ['--version']);
    return true;
  } catch {
    return false;
  }
}

function taken(before: () => void): boolean {
  mkdirSync(join(ROOT, 'temp'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'temp', 'prometheus-'));
  try {
    before();
    run('apt-get', ['-qq', 'download', 'prometheus'], folder);
    const [file = ''] = readdirSync(folder);
    run('dpkg-deb', ['--extract', file, 'all'], folder);
    renameSync(join(folder, 'all', 'usr', 'bin', 'promtool'), OWN);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(command: string, args: readonly string[], cwd = ROOT): void {
  execFileSync(command, args, { cwd, stdio: 'ignore' });
}
