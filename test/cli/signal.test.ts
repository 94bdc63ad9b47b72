/** `fairloom signal`: what a task waits for, from another process. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fairloomQuick } from '../support/cli-here.ts';
import { ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const WHERE = ['--redis', inject('redisUrl'), '--prefix', `signal-${process.pid}`];
const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');

const run = (...args: readonly string[]) => fairloomQuick([...args, ...WHERE]);

let worker: WorkerProcess;

beforeAll(async () => {
  worker = await startWorker(['worker', TASKS, ...WHERE]);
});
afterAll(() => worker.end('SIGTERM'));

it('ends a wait; explain names the command, and status counts', async () => {
  await run('enqueue', 'waiter', '0', '--id', 'w');
  let explained = '';
  while (!explained.includes('waits for a signal go')) {
    explained = (await run('tasks', 'explain', 'w')).stdout;
  }
  expect(explained).toContain('fairloom signal w go');
  expect((await run('status')).stdout).toMatch(/WAITING FOR\n(?:.*\n)*?signal +1\n/);
  expect(await run('signal', 'w', 'go', '{"by":"ann"}', '--signal-id', 'x')).toMatchObject({
    code: 0,
    stdout: 'signal go is delivered\n',
  });
  const ended = await run('tasks', 'get', 'w', '-o', 'json');
  expect(ended.code).toBe(0);
  while (!(await run('tasks', 'get', 'w')).stdout.includes('{"by":"ann"}'));
  expect(await run('signal', 'w', 'go', '1')).toMatchObject({ code: 6, stdout: '' });
});

it('is kept, and counts once under its id', async () => {
  await run('enqueue', 'waiter', '0', '--id', 'early', '--delay', '1h');
  const send = ['signal', 'early', 'go', '7', '--signal-id', 'x', '-o', 'json'];
  expect(JSON.parse((await run(...send)).stdout)).toEqual({
    id: 'early',
    name: 'go',
    outcome: 'buffered',
  });
  expect(JSON.parse((await run(...send)).stdout)).toMatchObject({ outcome: 'repeated' });
});

it('a sleep is ended by run-now', async () => {
  await run('enqueue', 'waiter', '86400000', '--id', 'sleeper');
  let explained = '';
  while (!explained.includes('it sleeps until')) {
    explained = (await run('tasks', 'explain', 'sleeper')).stdout;
  }
  expect(explained).toContain('fairloom tasks run-now sleeper');
  expect((await run('tasks', 'run-now', 'sleeper')).code).toBe(0);
});

it.each([
  [['signal', 'nobody', 'go'], 7, 'nobody'],
  [['signal', 'nobody', 'no name'], 2, 'signal: expected a name'],
  [['signal', 'nobody', 'go', '{'], 2, 'is not JSON'],
  [['signal', 'nobody', 'go', '1', '--signal-id', ''], 2, '--signal-id'],
])('%j is refused', async (args, code, words) => {
  const refused = await run(...args);
  expect(refused.code).toBe(code);
  expect(refused.stderr).toContain(words);
});
