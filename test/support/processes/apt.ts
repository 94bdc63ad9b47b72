/** Packages of the distribution, for tests that need a program which a bare machine has not got. */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';

/** Debian asks this script before a package may start a service; 101 forbids it. */
const POLICY = '/usr/sbin/policy-rc.d';

/** Installs a package without letting it start a service. False: we are not root, or it failed. */
export function installPackage(name: string): boolean {
  if (process.getuid?.() !== 0) return false;
  const ours = !existsSync(POLICY);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const apt = (...args: string[]): unknown =>
    execFileSync('apt-get', ['-qq', ...args], { env, stdio: 'ignore' });
  try {
    if (ours) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
    apt('update');
    apt('install', '-y', '--no-install-recommends', name);
    return true;
  } catch {
    return false;
  } finally {
    if (ours) rmSync(POLICY, { force: true });
  }
}
