/**
 * The API and the page in Bun, Deno and Next.js, and workers with processes in Bun and Deno. Each is too heavy for `npm ci`, so this file installs them in a
 * folder of their own. What of them cannot be installed fails here: nothing is left out in silence.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, inject, it } from 'vitest';
import { expectMounted } from '../support/http/mounted.ts';
import { isAlive } from '../support/processes/processes.ts';
import { ROOT, runProcess } from '../support/processes/run-process.ts';

const FIXTURE = join(ROOT, 'test/fixtures/web-servers');
/** A copy, since Next builds where its app is; kept, so that it is installed once. */
const FOLDER = join(ROOT, 'temp/web-servers');
const MODULES = join(FOLDER, 'node_modules');

const BUN = join(MODULES, '@oven/bun-linux-x64/bin/bun');
const DENO = join(MODULES, '@deno/linux-x64-glibc/deno');
const NEXT = join(MODULES, 'next/dist/bin/next');
const DENO_MAY = ['--allow-net', '--allow-env', '--allow-read', '--allow-sys'];

/** Whether the binaries are for this machine; Next runs on each. */
const isHere = process.platform === 'linux' && process.arch === 'x64';
const ELSEWHERE = 'its binary is for Linux on x64';

/** Each by its command. */
const SERVERS: Readonly<Record<string, readonly string[]>> = {
  Bun: [BUN, 'bun.mjs'],
  Deno: [DENO, 'run', ...DENO_MAY, 'deno.mjs'],
  'Next.js': [process.execPath, NEXT, 'dev', '--hostname', '127.0.0.1', '--port', '0'],
};

/** Without what vitest says of itself to the processes that it starts. */
const env = Object.fromEntries(
  Object.keys(process.env)
    .filter((name) => /^(VITEST|TEST$|NODE_|FAIRLOOM_|npm_)/.test(name))
    .map((name) => [name, undefined]),
);

beforeAll(async () => {
  const binaries = isHere ? [BUN, DENO] : [];
  const isInstalled =
    [...binaries, NEXT].every((file) => existsSync(file)) && lockIn(FOLDER) === lockIn(FIXTURE);
  cpSync(FIXTURE, FOLDER, { recursive: true });
  if (!isInstalled) {
    const options = { cwd: FOLDER, env };
    const { code, stderr } = await runProcess('npm', ['ci', '--ignore-scripts'], options);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
  }
  // What was installed without scripts; a binary that is not there is an error that names it.
  for (const file of binaries) chmodSync(file, 0o755);
  // As it is installed: a folder among the others, not a link to one elsewhere.
  const own = join(MODULES, 'fairloom');
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own);
  for (const part of ['package.json', 'dist']) {
    cpSync(join(ROOT, part), join(own, part), { recursive: true });
  }
});

it.for([
  ['Bun', 'memory'],
  ['Bun', 'Redis'],
  ['Deno', 'memory'],
  ['Deno', 'Redis'],
  ['Next.js', 'memory'],
] as const)(
  '%s reads, changes, streams, and shows the page, on %s',
  async ([name, store], { skip }) => {
    skip(!isHere && name !== 'Next.js', ELSEWHERE);
    const url = store === 'Redis' ? inject('redisUrl') : undefined;
    const { base, end } = await started(SERVERS[name] ?? [], {
      FAIRLOOM_REDIS_URL: url,
      SERVER_PREFIX: `web-${name}`,
      NEXT_TELEMETRY_DISABLED: '1',
    });
    try {
      await expectMounted(base, 'built');
    } finally {
      await end();
    }
  },
);

/** Each by its command, for a worker with processes. */
const WORKERS: Readonly<Record<string, readonly string[]>> = {
  'Node.js': [process.execPath],
  Bun: [BUN],
  Deno: [DENO, 'run', ...DENO_MAY, '--allow-run'],
};

// F135
it.for(Object.keys(WORKERS))('%s runs tasks in processes of their own', async (name, { skip }) => {
  skip(!isHere && name !== 'Node.js', ELSEWHERE);
  const lines = await linesOf(WORKERS[name] ?? [], 'all');
  expect(lines).toEqual([
    { twice: 8, isApart: true, user: 'ann' },
    ['TASK_FAILED', 'RangeError', 'below zero'],
    ['TASK_FAILED', 'ProcessEndedError', 'exit code 3'],
    'TaskCanceledError',
    ['TASK_CANCELED', 'TaskCanceledError', ''],
    ['TASK_CANCELED', 'TaskCanceledError', ''],
    'closed',
  ]);
});

// F135
it.for(
  Object.keys(WORKERS).flatMap((name) => ['polite', 'spin'].map((what) => [name, what] as const)),
)(
  'nothing is left of a process of %s whose worker is killed (%s)',
  async ([name, what], { skip }) => {
    skip(!isHere && name !== 'Node.js', ELSEWHERE);
    const [file = '', ...args] = WORKERS[name] ?? [];
    const worker = spawn(file, [...args, 'processes.mjs', 'keep', what], {
      cwd: FOLDER,
      env: { ...process.env, ...env },
    });
    const [said] = (await once(worker.stdout, 'data')) as [Buffer];
    const pid = Number(String(said));
    expect(isAlive(pid)).toBe(true);
    worker.kill('SIGKILL');
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
  },
);

// F135
it('Deno that may not start processes says so, and its worker goes on', async ({ skip }) => {
  skip(!isHere, ELSEWHERE);
  const [first, second, last] = await linesOf([DENO, 'run', ...DENO_MAY], 'few');
  const refused = ['TASK_FAILED', 'ProcessEndedError', expect.stringContaining('--allow-run')];
  expect([first, second, last]).toEqual([refused, refused, 'closed']);
});

async function linesOf([file = '', ...args]: readonly string[], what: string) {
  const options = { cwd: FOLDER, env };
  const { code, stdout, stderr } = await runProcess(
    file,
    [...args, 'processes.mjs', what],
    options,
  );
  expect([code, stderr]).toEqual([0, '']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));
}

function lockIn(folder: string): string {
  const file = join(folder, 'package-lock.json');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** Once it says where it listens; it runs without the programs and modules of this process. */
async function started(
  [file = '', ...args]: readonly string[],
  more: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly base: string; end(): Promise<void> }> {
  const child: ChildProcess = spawn(file, args, {
    cwd: FOLDER,
    env: { ...process.env, ...env, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const killChild = (): unknown => child.kill('SIGKILL');
  process.once('exit', killChild);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  const origin = await new Promise<string>((resolve, reject) => {
    let said = '';
    const look = (text: string): void => {
      said += text;
      const [found] = /http:\/\/[\w.]+:\d+/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    for (const pipe of [child.stdout, child.stderr]) pipe?.setEncoding('utf8').on('data', look);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${said}`)));
  });
  return {
    base: `${origin}/fairloom/`,
    end: () => {
      child.kill('SIGTERM');
      process.off('exit', killChild);
      return exited;
    },
  };
}
