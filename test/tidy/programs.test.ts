/** The programs that tests drive: one place finds them and installs them, once for all who ask. */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { run } from '../../scripts/run.ts';
import { findProgram, PROGRAMS } from '../support/processes/programs.ts';
import { ROOT, runProcess } from '../support/processes/run-process.ts';

/** What a shell script and the installer of a bare machine use. */
const BARE = ['sh', 'flock', 'rm', 'mkdir', 'mv', 'chmod', 'sleep', 'env', 'rmdir'];

/** A package manager that fails, as Debian's does, while another one runs; what it does stands in `log`. */
const APT = (root: string): string => `#!/bin/sh
mkdir ${root}/apt-lock || { echo 'E: Could not get lock' >&2; exit 100; }
for last in "$@"; do :; done
case "$*" in
  *install*) echo "install $last" >>${root}/log; sleep 0.05
    for program in "$last" vgdb; do printf '#!/bin/sh\\n' >${root}/bin/$program; chmod 755 ${root}/bin/$program; done ;;
  *download*) echo "download $last" >>${root}/log; : >$last.deb ;;
  *) echo update >>${root}/log ;;
esac
rmdir ${root}/apt-lock
`;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A machine that has Node, a shell and a package manager, and no other program. */
function bareMachine(): string {
  const root = mkdtempSync(join(tmpdir(), 'fairloom-bare-'));
  folders.push(root);
  mkdirSync(join(root, 'bin'));
  for (const name of BARE) symlinkSync(findProgram(name) ?? '', join(root, 'bin', name));
  script(root, 'apt-get', APT(root));
  // Installed is what the package manager has put there; the others it knows as well, since some package names them.
  const isThere = `test -e ${root}/bin/$last && echo installed || echo not-installed`;
  script(root, 'dpkg-query', `#!/bin/sh\nfor last in "$@"; do :; done\n${isThere}\n`);
  const unpack = `mkdir -p usr/bin; printf '#!/bin/sh\\n' >usr/bin/promtool; chmod 755 usr/bin/promtool`;
  script(root, 'dpkg-deb', `#!/bin/sh\n${unpack}\n`);
  return root;
}

function script(root: string, name: string, text: string): void {
  const path = join(root, 'bin', name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** Asks for all programs in a process of its own, and answers where they are. */
async function ask(root: string, isRoot: boolean): Promise<{ code: number | null; out: string }> {
  const { code, stdout, stderr } = await runProcess(
    process.execPath,
    ['--import', 'tsx', 'test/fixtures/ask-for-programs.ts', root, String(isRoot)],
    { cwd: ROOT, env: { PATH: join(root, 'bin'), FAIRLOOM_TEST_REDIS: undefined } },
  );
  return { code, out: code === 0 ? stdout : stderr };
}

// F74
describe('programs that a machine has not got', () => {
  it('are installed once, however many processes ask at the same time', async () => {
    const root = bareMachine();
    const asked = await Promise.all([ask(root, true), ask(root, true), ask(root, true)]);
    const paths = [
      join(root, 'bin/redis-server'),
      join(root, 'bin/chromium'),
      join(root, 'bin/valgrind'),
      join(root, 'unpacked/prometheus/usr/bin/promtool'),
    ];
    for (const { code, out } of asked)
      expect({ code, out: out.trim().split('\n') }).toEqual({ code: 0, out: paths });
    const log = readFileSync(join(root, 'log'), 'utf8').trim().split('\n');
    expect(log).toEqual([
      'update',
      ...['redis-server', 'chromium', 'valgrind'].map((name) => `install ${name}`),
      'download prometheus',
    ]);
  });

  it('are named, each with its package, where they cannot be installed', async () => {
    const { code, out } = await ask(bareMachine(), false);
    expect(code).toBe(1);
    for (const { package: from } of Object.values(PROGRAMS)) expect(out).toContain(`"${from}"`);
  });

  it('are installed by one file alone', async () => {
    const { output } = await run([
      'git',
      'grep',
      '-lE',
      'apt-get|dpkg',
      '--',
      'test',
      'scripts',
      'bench',
      '.ci',
    ]);
    expect(output.trim().split('\n').sort()).toEqual([
      'test/support/processes/programs.ts',
      'test/tidy/programs.test.ts',
    ]);
  });
});
