/** `fairloom worker --health-port`: probes and figures of a running worker. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, inject, it } from 'vitest';
import { BIN, fairloom, ROOT } from '../support/run-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');

/** Which port a command says that it answers on. */
function portOf(stderr: Readable): Promise<string> {
  return new Promise((resolve) => {
    let said = '';
    stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const found = /\/metrics on port (\d+)/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
}

it('a worker answers /livez, /readyz and /metrics until it has drained', async () => {
  const where = ['--redis', inject('redisUrl'), '--prefix', `health-${process.pid}`];
  const worker = spawn(process.execPath, [BIN, 'worker', TASKS, '--health-port', '0', ...where], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => worker.once('close', resolve));
  const port = await portOf(worker.stderr);
  const page = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  await expect.poll(async () => (await page('/readyz')).status, { timeout: 20_000 }).toBe(200);
  expect(await page('/livez')).toEqual({ status: 200, text: 'alive\n' });
  const done = await fairloom(['enqueue', 'double', '4', '--wait', ...where]);
  expect(done.stdout).toContain('8');
  const figures = (await page('/metrics')).text;
  expect(figures).toContain('fairloom_ended_total{name="double",outcome="finished"} 1');
  worker.kill('SIGTERM');
  expect(await ended).toBe(0);
});

it('a scheduler answers them too', async () => {
  const where = ['--redis', inject('redisUrl'), '--prefix', `health-scheduler-${process.pid}`];
  const scheduler = spawn(process.execPath, [BIN, 'scheduler', '--health-port', '0', ...where], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => scheduler.once('close', resolve));
  const port = await portOf(scheduler.stderr);
  const page = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  await expect.poll(async () => (await page('/readyz')).status, { timeout: 20_000 }).toBe(200);
  expect(await (await page('/metrics')).text()).toContain('fairloom_scheduler_lag_seconds');
  scheduler.kill('SIGTERM');
  expect(await ended).toBe(0);
});

it.each([
  ['65536', 'Expected a port'],
  ['-1', 'Expected a whole number'],
  ['http', 'Expected a whole number'],
])('--health-port %s is refused', async (port, words) => {
  const { code, stderr } = await fairloom(['worker', TASKS, '--health-port', port]);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});
