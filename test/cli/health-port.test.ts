/** `fairloom worker --health-port`: probes and figures of a running worker. */
import { spawn } from 'node:child_process';
import { get } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, inject, it } from 'vitest';
import { BIN, fairloom, ROOT } from '../support/processes/run-process.ts';

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
  await expect.poll(async () => (await page('/readyz')).status).toBe(200);
  expect(await page('/livez')).toEqual({ status: 200, text: 'alive\n' });
  const done = await fairloom(['enqueue', 'double', '4', '--wait', ...where]);
  expect(done.stdout).toContain('8');
  const figures = (await page('/metrics')).text;
  expect(figures).toContain('fairloom_ended_total{name="double",outcome="finished"} 1');
  worker.kill('SIGTERM');
  expect(await ended).toBe(0);
});

it.each([
  [['--metrics-users', 'top:1'], {}, ['ada']],
  [['--metrics-users', 'ben', '--metrics-users', 'cleo'], {}, ['ben']],
  [[], { FAIRLOOM_METRICS_USERS: 'all' }, ['ada', 'ben']],
  [[], {}, []],
  // F52
])('with %j and %j users have figures', async (flags, env, users) => {
  const prefix = `health-users-${process.pid}-${flags.length}-${Object.keys(env).length}${users.join('-')}`;
  const where = ['--redis', inject('redisUrl'), '--prefix', prefix];
  // No worker runs what waits here: a worker of another queue is alive.
  for (const user of ['ada', 'ben']) {
    await fairloom(['enqueue', 'double', '4', '--user', user, ...where]);
  }
  const started = ['worker', TASKS, '--queue', 'other', '--health-port', '0', ...flags, ...where];
  const worker = spawn(process.execPath, [BIN, ...started], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  const ended = new Promise<number | null>((resolve) => worker.once('close', resolve));
  const port = await portOf(worker.stderr);
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const shown = [...text.matchAll(/user_queued_tasks\{queue="default",user="(\w+)"\} 1/g)];
  expect(shown.map(([, user]) => user).sort()).toEqual(users);
  worker.kill('SIGTERM');
  expect(await ended).toBe(0);
});

// F52
it.each(['top:0', 'top:x', 'top:5000'])('--metrics-users %s', async (which) => {
  const where = ['--redis', inject('redisUrl')];
  const { code, stderr } = await fairloom(['worker', TASKS, '--metrics-users', which, ...where]);
  expect(stderr).toContain('--metrics-users: metrics.users');
  expect(stderr).toContain(which);
  expect(code).toBe(2);
});

it.each([['worker', TASKS], ['scheduler']])(
  'a %s shows its figures under public names that are allowed, and no others',
  async (...args) => {
    const where = ['--redis', inject('redisUrl'), '--prefix', `health-hosts-${process.pid}`];
    const flags = ['--health-port', '0', '--health-allow-host', 'worker.example'];
    const running = spawn(process.execPath, [BIN, ...args, ...flags, ...where], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise<number | null>((resolve) => running.once('close', resolve));
    const port = Number(await portOf(running.stderr));
    const under = (host: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path: '/metrics', headers: { host } };
        get(options, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        }).on('error', reject);
      });
    expect(await under('worker.example:9090')).toBe(200);
    expect(await under('evil.example:9090')).toBe(400);
    running.kill('SIGTERM');
    expect(await ended).toBe(0);
    const { code, stderr } = await fairloom([
      ...args,
      ...flags,
      '--health-allow-host',
      'a:80',
      ...where,
    ]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--health-allow-host')]);
  },
);

it('a scheduler answers them too', async () => {
  const where = ['--redis', inject('redisUrl'), '--prefix', `health-scheduler-${process.pid}`];
  const scheduler = spawn(process.execPath, [BIN, 'scheduler', '--health-port', '0', ...where], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => scheduler.once('close', resolve));
  const port = await portOf(scheduler.stderr);
  const page = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
  await expect.poll(async () => (await page('/readyz')).status).toBe(200);
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
