/** Handlers that modules export are there for the command line: B-W23 on a stock worker. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fairloom, ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const MODULE = join(ROOT, 'test/fixtures/cli/handlers.mjs');
const AGAIN = join(ROOT, 'test/fixtures/cli/handlers-again.mjs');
const backend = (): readonly string[] => [
  '--redis',
  inject('redisUrl'),
  '--prefix',
  `handlers-${process.pid}`,
];

let worker: WorkerProcess;
beforeAll(async () => {
  worker = await startWorker(['worker', MODULE, ...backend()]);
});
afterAll(async () => {
  await worker.end('SIGTERM');
});

it('a worker runs the task by the exported handler', async () => {
  const args = ['enqueue', 'double', '21', '--wait', '-o', 'json', ...backend()];
  const { code, stdout } = await fairloom(args);
  expect([code, stdout]).toEqual([0, expect.stringContaining('42')]);
});

it('so does a run here and now', async () => {
  const { code, stdout } = await fairloom(['run', 'double', '4', '--module', MODULE]);
  expect([code, stdout.trim()]).toEqual([0, '8']);
});

it('two handlers of one name are refused', async () => {
  const args = ['run', 'double', '4', '--module', MODULE, '--module', AGAIN];
  const { code, stderr } = await fairloom(args);
  expect([code, stderr]).toEqual([2, expect.stringContaining('two handlers named adder')]);
});
