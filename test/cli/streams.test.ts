/** `fairloom streams`: what tasks tell, by the real binary. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fairloomQuick } from '../support/cli-here.ts';
import { ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const REDIS = ['--redis', inject('redisUrl'), '--prefix', `streams-${process.pid}`];

const run = (...args: readonly string[]): ReturnType<typeof fairloomQuick> =>
  fairloomQuick([...args, ...REDIS]);

let worker: WorkerProcess;

beforeAll(async () => {
  worker = await startWorker(['worker', TASKS, ...REDIS]);
});

afterAll(async () => {
  await worker?.end('SIGTERM');
});

it('a stream is followed from another process, and read again from an offset', async () => {
  await run('enqueue', 'speak', '["one",{"two":2}]', '--id', 'x', '--delay', '5s');
  expect(await run('streams', 'read', 'x', 'tokens')).toMatchObject({ code: 0, stdout: '' });
  expect(await run('streams', 'read', 'x', 'tokens', '--follow')).toEqual({
    ...{ code: 0, stdout: 'one\none\n{"two":2}\n', stderr: 'attempt 2 begins anew\n' },
  });
  const rest = await run('streams', 'read', 'x', 'tokens', '--from', '3', '-o', 'jsonl');
  expect(JSON.parse(rest.stdout)).toEqual({
    ...{ type: 'chunk', offset: 3, next: 4, attempt: 2, value: { two: 2 } },
  });
  expect((await run('streams', 'read', 'x', 'tokens', '-o', 'id')).stdout).toBe('0\n1\n2\n3\n');
  const list = await run('streams', 'list', 'x');
  expect(list.stdout).toMatch(/^STREAM +FROM +NEXT +BYTES +CLOSED\ntokens +0 +5 +\d+ +yes\n$/);
  expect(await run('streams', 'read', 'x', 'other')).toMatchObject({ code: 0, stdout: '' });
});

it('the log of a task is kept of what fails, with its fields', async () => {
  await run('enqueue', 'speak', '["one"]', '--id', 'l', '--wait', '20s');
  const { stdout } = await run('tasks', 'logs', 'l', '--follow');
  expect(stdout).toMatch(/^\d{4}-\S+Z info {2}spoke \{"word":"one"\}\n$/);
  const rows = await run('tasks', 'logs', 'l', '-o', 'jsonl');
  expect(JSON.parse(rows.stdout)).toMatchObject({ level: 'info', attempt: 1, next: 1 });
  expect((await run('tasks', 'logs', 'l', '-o', 'id')).stdout).toBe('0\n');
  expect(await run('tasks', 'logs', 'l', '--from', '1')).toMatchObject({ code: 0, stdout: '' });
  expect((await run('tasks', 'get', 'l')).stdout).toMatch(
    /^progress +50 % of the words \(\S+ ago, attempt 2\)$/m,
  );
  // Its own streams, and no other.
  expect((await run('streams', 'list', 'l', '-o', 'id')).stdout).toBe('tokens\n');
});

it.each([
  [['read', 'nobody', 'tokens'], 7, 'nobody'],
  [['list', 'nobody'], 7, 'nobody'],
  [['read', 'x', 'no name'], 2, 'stream'],
  [['read', 'x', 'tokens', '--from', '-1'], 2, 'from'],
  [['read', 'x', 'tokens', '--from', '99'], 2, 'from'],
])('streams %j is refused', async (args, code, words) => {
  const ended = await run('streams', ...args);
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(words);
});

it.each([
  [['nobody'], 7, 'nobody'],
  [['x', '--from', '-1'], 2, 'from'],
  [['x', '--from', '99'], 2, 'from'],
])('tasks logs %j is refused', async (args, code, words) => {
  const ended = await run('tasks', 'logs', ...args);
  expect(ended.code).toBe(code);
  expect(ended.stderr).toContain(words);
});
