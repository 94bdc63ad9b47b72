/** Each exit code of docs/cli.md: one case of each by the binary, the others in this process. */
import { join } from 'node:path';
import { beforeAll, expect, inject, it } from 'vitest';
import { EXIT, type ExitCode } from '../../src/cli/terminal/exit-code.ts';
import { ERRORS } from '../../src/domain/errors/errors.ts';
import { fairloomQuick } from '../support/cli-here.ts';
import { BIN, fairloom, ROOT, runProcess } from '../support/processes/run-process.ts';

/** A port on which nothing listens. */
const NOBODY = ['--redis', 'redis://127.0.0.1:1'];

const TASKS = ['--module', join(ROOT, 'test/fixtures/cli/tasks.mjs')];
const REDIS = ['--redis', inject('redisUrl'), '--prefix', `exit-${process.pid}`];

/** The code, what leads to it, the command, and a word of what is said. */
type Case = readonly [code: ExitCode, what: string, args: readonly string[], says: string];

/** The store holds `waits`, a task that no worker serves. */
const CASES: readonly Case[] = [
  [EXIT.ok, 'the backend answers', ['health', ...REDIS], 'healthy'],
  [EXIT.ok, 'a listing of nothing', ['dead', 'list', ...REDIS], 'no dead letters'],
  [EXIT.ok, 'the same task', ['enqueue', 'strange', '1', '--id', 'waits', ...REDIS], 'before'],
  [EXIT.failed, 'a task that fails', ['run', 'broken', ...TASKS], 'no such customer'],
  [EXIT.failed, 'a file to write', ['demo', '--trace', '/no/such/folder/file'], 'the trace'],
  [EXIT.usage, 'an unknown command', ['taks'], 'Did you mean tasks?'],
  [EXIT.usage, 'a wrong option', ['tasks', 'list', '--limit', '0', ...REDIS], 'at least 1'],
  [EXIT.usage, 'an input that is not JSON', ['enqueue', 'double', '{a', ...REDIS], 'not JSON'],
  [EXIT.usage, 'half a notation', ['run', 'double >>', ...TASKS], 'expected a step'],
  [EXIT.usage, 'a step that no module has', ['run', 'nothing', ...TASKS], 'nothing'],
  [EXIT.usage, 'no backend', ['status'], 'no backend was named'],
  [EXIT.unhealthy, 'a task that no worker serves', ['doctor', ...REDIS], 'no live worker serves'],
  [EXIT.unreachable, 'no server', ['status', ...NOBODY], 'ECONNREFUSED'],
  [EXIT.unreachable, 'health without a server', ['health', ...NOBODY], 'unhealthy'],
  [EXIT.timedOut, 'no result yet', ['enqueue', 'strange', '--wait', '50ms', ...REDIS], '50 ms'],
  [EXIT.refused, 'no consent', ['tasks', 'cancel', 'waits', ...REDIS], 'needs --yes'],
  [EXIT.refused, 'a wrong state', ['tasks', 'redrive', 'waits', ...REDIS], 'waits'],
  [EXIT.refused, 'a taken id', ['enqueue', 'strange', '2', '--id', 'waits', ...REDIS], 'waits'],
  [EXIT.notFound, 'a task to get', ['tasks', 'get', 'nope', ...REDIS], 'nope is not stored'],
  [EXIT.notFound, 'a task to explain', ['tasks', 'explain', 'nope', ...REDIS], 'not stored'],
  [EXIT.notFound, 'a task to change', ['tasks', 'run-now', 'nope', ...REDIS], 'not stored'],
  [EXIT.notFound, 'a run', ['runs', 'get', 'nope', ...REDIS], 'nope'],
  [EXIT.notFound, 'a schedule', ['schedules', 'get', 'nope', ...REDIS], 'nope'],
  [EXIT.notFound, 'a user', ['users', 'get', 'nobody', ...REDIS], 'nobody'],
  [EXIT.notFound, 'an input', ['enqueue', 'a', '@/no/such/file', ...REDIS], 'no such file'],
  [EXIT.notFound, 'a module', ['worker', './no-such.mjs', ...REDIS], 'no module ./no-such.mjs'],
];

beforeAll(async () => {
  const { code } = await fairloom(['enqueue', 'strange', '1', '--id', 'waits', ...REDIS]);
  if (code !== EXIT.ok) throw new Error(`the task was not stored: ${code}`);
});

/** The first case of each code. */
const byBinary = new Set(
  Object.values(EXIT).map((code) => CASES.find(([one]) => one === code)?.[1]),
);

it.each(CASES)('%i: %s', async (expected, what, args, says) => {
  const run = byBinary.has(what) ? fairloom : fairloomQuick;
  const { code, stdout, stderr } = await run(args);
  expect(code).toBe(expected);
  expect(`${stdout}${stderr}`).toContain(says);
});

it('the table has every code', () => {
  expect([...new Set(CASES.map(([code]) => code))]).toEqual(Object.values(EXIT));
});

it('errors of the library end with all but those of a command that succeeds and of doctor', () => {
  const others = Object.values(EXIT).filter((code) => code !== EXIT.ok && code !== EXIT.unhealthy);
  const codes = Object.values(ERRORS).map(({ exit }) => EXIT[exit]);
  expect([...new Set(codes)].toSorted()).toEqual(others);
});

it('output that cannot be written fails, but for a reader that has seen enough', async () => {
  const listing = `"$0" "${BIN}" dead list ${REDIS.join(' ')}`;
  const inShell = (script: string) => runProcess('sh', ['-c', script, process.execPath]);
  const full = await inShell(`${listing} > /dev/full`);
  expect(full).toMatchObject({
    code: EXIT.failed,
    stderr: expect.stringContaining('the output cannot be written: ENOSPC'),
  });
  const closed = await inShell(`(${listing}; echo "code $?" >&2) | true`);
  expect(closed.stderr).toContain(`code ${EXIT.ok}`);
});
