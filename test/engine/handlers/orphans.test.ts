/** What becomes of the process of a handler whose worker is killed: nothing may be left of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { processProgram } from '../../../src/handlers/host-programs.generated.ts';
import { isAlive } from '../../support/processes/processes.ts';

/** Stands in for a worker: starts one process as `ProcessHost` does, and says its id once it runs. */
const WORKER = `
const { spawn } = require('node:child_process');
const [, source, url, exportName] = process.argv;
const child = spawn(process.execPath, ['-e', source, String(process.pid)], {
  stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  serialization: 'advanced',
  detached: true,
});
child.on('message', ({ kind }) => kind === 'log' && console.log(child.pid));
process.on('SIGUSR2', () => child.send({ kind: 'abort', reason: { name: 'E', message: 'm' } }));
child.send({ kind: 'run', url, exportName, input: 1, ctx: {} });
setInterval(() => {}, 1000);
`;

const { href } = new URL('../../fixtures/process-handlers.mjs', import.meta.url);
const started: number[] = [];

afterEach(() => {
  for (const pid of started.splice(0)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
});

it.each(['polite', 'spin'])('the process of "%s" ends with its worker', async (exportName) => {
  const worker = spawn(process.execPath, ['-e', WORKER, processProgram, href, exportName]);
  const [said] = (await once(worker.stdout, 'data')) as [Buffer];
  const pid = Number(String(said));
  started.push(pid);
  expect(isAlive(pid)).toBe(true);
  worker.kill('SIGKILL');
  while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
});

it('a signal for all processes of a service is left to the worker', async () => {
  const worker = spawn(process.execPath, ['-e', WORKER, processProgram, href, 'polite']);
  const [said] = (await once(worker.stdout, 'data')) as [Buffer];
  const pid = Number(String(said));
  started.push(pid);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.kill(pid, signal);
  // Its handler still hears of the end of its task, and says so.
  worker.kill('SIGUSR2');
  const [again] = (await once(worker.stdout, 'data')) as [Buffer];
  expect(Number(String(again))).toBe(pid);
  worker.kill('SIGKILL');
});
