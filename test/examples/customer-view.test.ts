/** examples/customer-view/server.mjs: each customer sees what is theirs, and nothing else. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { ROOT } from '../support/processes/run-process.ts';

it('customer-view/server.mjs shows acme its own tasks and nothing of zeta', async () => {
  const child = spawn(process.execPath, [join(ROOT, 'examples/customer-view/server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PORT: '0' },
  });
  const ended = once(child, 'close');
  const [line] = await once(createInterface(child.stdout), 'line');
  const base = `${String(line)}api/v1`;
  const ask = async (path: string, who: string) => {
    const answer = await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${who}` } });
    return { status: answer.status, text: await answer.text() };
  };
  await expect.poll(async () => (await ask('/dead', 'of-zeta')).text).toContain('this is no image');
  const [foreign] = /"id":"([^"]+)"/.exec((await ask('/dead', 'of-zeta')).text)?.slice(1) ?? [];
  for (const path of ['/overview', '/users', '/dead', '/tasks?where=', '/tasks?where=user:zeta']) {
    const { status, text } = await ask(path, 'of-acme');
    expect([path, status, text]).toEqual([path, 200, expect.not.stringContaining('zeta')]);
  }
  expect((await ask(`/tasks/${foreign}`, 'of-acme')).status).toBe(404);
  expect((await ask('/queues', 'of-acme')).status).toBe(403);
  expect((await ask('/overview', 'of-nobody')).status).toBe(403);
  const own = await ask('/dead', 'of-acme');
  const [id] = /"id":"([^"]+)"/.exec(own.text)?.slice(1) ?? [];
  expect((await ask(`/tasks/${id}`, 'of-acme')).text).toContain('"password":"[redacted]"');
  child.kill('SIGTERM');
  await ended;
});
