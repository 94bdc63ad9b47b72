/** `fairloom workers list` and what became of the attempts of each worker, by the binary. */
import { join } from 'node:path';
import { afterEach, expect, inject, it } from 'vitest';
import { EXIT } from '../../src/cli/terminal/exit-code.ts';
import { type Ended, fairloom, ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const where = ['--redis', inject('redisUrl'), '--prefix', `worker-attempts-${process.pid}`];
const run = (...args: readonly string[]): Promise<Ended> => fairloom([...args, ...where]);

let worker: WorkerProcess | undefined;
afterEach(() => worker?.end('SIGKILL'));

// F35
it('workers list has totals of attempts since the start of each, which a restart resets', async () => {
  worker = await startWorker(['worker', TASKS, '--id', 'mine', ...where]);
  const enqueue = (name: string): Promise<Ended> => run('enqueue', name, '1', '--wait', '20s');
  const ended = await Promise.all([enqueue('double'), enqueue('double'), enqueue('broken')]);
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 1]);

  const { stdout } = await run('workers', 'list');
  const [head = '', row = ''] = stdout.split('\n');
  expect(head).toMatch(/ID +HOST +RUNNING +SUCCEEDED +FAILED +LOST +QUEUES .*STARTED +SEEN/);
  expect(row).toMatch(/^mine +\S+ +0\/\d+ +2 +1 +0 +default /);
  const listed = async (): Promise<unknown> =>
    JSON.parse((await run('workers', 'list', '-o', 'json')).stdout);
  expect(await listed()).toMatchObject([
    { id: 'mine', running: 0, attempts: { succeeded: 2, failed: 1, lost: 0 } },
  ]);

  await worker.end('SIGKILL');
  worker = await startWorker(['worker', TASKS, '--id', 'mine', ...where]);
  expect(await listed()).toMatchObject([
    { id: 'mine', attempts: { succeeded: 0, failed: 0, lost: 0 } },
  ]);
  await worker.end('SIGTERM');
  expect(await listed()).toEqual([]);
});

// F139
it('a worker does not start under the id of another that lives, and a killed one leaves its id', async () => {
  worker = await startWorker(['worker', TASKS, '--id', 'same', ...where]);
  const { code, stderr } = await fairloom(['worker', TASKS, '--id', 'same', ...where]);
  expect(code).toBe(EXIT.usage);
  expect(stderr).toContain('id: expected a name that no other live worker has, got "same"');
  await worker.end('SIGKILL');
  worker = await startWorker(['worker', TASKS, '--id', 'same', ...where]);
  await worker.end('SIGTERM');
});
