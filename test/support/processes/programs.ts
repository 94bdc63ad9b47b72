/**
 * The programs that tests drive beside Node, and the one place that installs them.
 *
 * A program comes from the PATH, else from the Debian package that has it, if this process is root. `npm test`
 * provides all of them before any layer starts; a layer that vitest runs alone provides its own. Processes that
 * ask at the same time wait for each other, and the first installs for all.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ROOT } from '../../../scripts/run.ts';
import { isRedisUrl } from '../redis/redis-url.ts';

/** Where a program comes from. */
interface Program {
  /** What it may be called, the first choice first. */
  readonly names: readonly string[];
  /** The package of Debian that has it. */
  readonly package: string;
  /** Its package brings a service that no test needs: it is unpacked to `temp/`, and not installed. */
  readonly unpacked?: true;
}

export const PROGRAMS = {
  redis: { names: ['redis-server', 'valkey-server'], package: 'redis-server' },
  chromium: {
    names: ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'],
    package: 'chromium',
  },
  valgrind: { names: ['valgrind'], package: 'valgrind' },
  promtool: { names: ['promtool'], package: 'prometheus', unpacked: true },
} satisfies Readonly<Record<string, Program>>;

export type ProgramName = keyof typeof PROGRAMS;

/** What a test of this file replaces. */
export interface PackageManager {
  readonly isRoot: boolean;
  /** Held while packages are installed. */
  readonly lock: string;
  /** Debian asks this script before a package may start a service; 101 forbids it. */
  readonly policy: string;
  /** Where packages are unpacked. */
  readonly folder: string;
  /** Told what is about to be installed. */
  readonly tell: (line: string) => void;
}

const DEBIAN: PackageManager = {
  isRoot: process.getuid?.() === 0,
  lock: '/tmp/fairloom-packages.lock',
  policy: '/usr/sbin/policy-rc.d',
  folder: join(ROOT, 'temp', 'programs'),
  tell: (line) => process.stderr.write(`${line}\n`),
};

/**
 * Runs while the lock is held: another process may have installed the packages meanwhile. `apt-get update` does
 * not wait for another package manager by itself. Arguments: the policy, the folder, then the packages, those to
 * be unpacked with a `+` before them.
 */
const INSTALL = `
set -e
policy=$1; folder=$2; shift 2
missing=
for package in "$@"; do
  case $package in
    +*) test -d "$folder/\${package#+}" || missing="$missing $package" ;;
    *)
      # Debian also knows packages that others only name, as those that they break.
      status=$(dpkg-query -W -f '\${db:Status-Status}' "$package" 2>/dev/null) || true
      test "$status" = installed || missing="$missing $package" ;;
  esac
done
test -n "$missing" || exit 0
tries=0
until apt-get -qq update; do
  tries=$((tries + 1)); test $tries -lt 60 || exit 1; sleep 2
done
for package in $missing; do
  case $package in
    +*)
      name=\${package#+}; rm -rf "$folder/$name.part"; mkdir -p "$folder/$name.part"
      (cd "$folder/$name.part" && apt-get -qq download "$name" && dpkg-deb --extract ./*.deb . && rm ./*.deb)
      mv "$folder/$name.part" "$folder/$name" ;;
    *)
      if test ! -e "$policy"; then
        printf '#!/bin/sh\\nexit 101\\n' >"$policy"; chmod 755 "$policy"; trap 'rm -f "$policy"' EXIT
      fi
      apt-get -qq -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "$package" >/dev/null ;;
  esac
done
`;

/** Installs what is missing of these. Throws with a line that says what to do. */
export function provide(names: readonly ProgramName[], apt: PackageManager = DEBIAN): void {
  const missing = names.filter((name) => find(name, apt) === undefined);
  if (missing.length === 0) return;
  if (apt.isRoot && findProgram('apt-get') !== undefined) {
    const wanted = missing.map((name) => PROGRAMS[name].package);
    apt.tell(`installing with apt: ${wanted.join(', ')}`);
    install(missing, apt);
  }
  const left = missing.filter((name) => find(name, apt) === undefined);
  if (left.length === 0) return;
  const lines = left.map(
    (name) => `${PROGRAMS[name].names[0]} (package "${PROGRAMS[name].package}")`,
  );
  throw new Error(
    `These tests need ${lines.join(', ')}: not on the PATH, and not installed by apt.`,
  );
}

/** The path of a program, installed if it must and may be. Throws as `provide` does. */
export function programPath(name: ProgramName, apt: PackageManager = DEBIAN): string {
  provide([name], apt);
  return find(name, apt) ?? '';
}

/** The first of these names that is on the PATH. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function find(name: ProgramName, { folder }: PackageManager): string | undefined {
  if (name === 'redis') {
    const named = process.env['FAIRLOOM_TEST_REDIS'];
    if (named !== undefined && named !== '' && !isRedisUrl(named)) {
      return isExecutable(named) ? named : undefined;
    }
  }
  const { names, package: from }: Program = PROGRAMS[name];
  const unpacked = join(folder, from, 'usr', 'bin', names[0] ?? '');
  return findProgram(...names) ?? (existsSync(unpacked) ? unpacked : undefined);
}

function install(names: readonly ProgramName[], { lock, policy, folder }: PackageManager): void {
  const packages = names.map((name) => {
    const { package: from, unpacked }: Program = PROGRAMS[name];
    return unpacked === true ? `+${from}` : from;
  });
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const script = ['sh', '-c', INSTALL, 'sh', policy, folder, ...packages];
  try {
    execFileSync('flock', [lock, ...script], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch {
    // `provide` looks again, and names what is still missing.
  }
}
