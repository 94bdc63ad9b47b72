/** `fairloom users`: who is configured is shown before it has work, with where each setting comes from. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { fairloom } from '../support/processes/run-process.ts';

const prefix = `configured-${process.pid}`;
const url = inject('redisUrl');
const loom = new Fairloom({ backend: redis(url, { prefix }), tasks: [], log: silentLogger });

beforeAll(async () => {
  await loom.queues.set('mail', { perUser: { maxQueued: 9 } });
});
afterAll(() => loom.close());

async function users(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await fairloom([
    'users',
    ...args,
    '--redis',
    url,
    '--prefix',
    prefix,
  ]);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

// F33
it('users set, then users list: the user is there, until its settings are taken back', async () => {
  await users('set', 'acme', '--weight', '3');
  await users('set', 'acme', '--queue', 'mail', '--rate', '100/1m');
  await users('pause', 'bolt', '--queue', 'mail');
  const list = await users('list');
  expect(list).toMatch(/^USER .* SETTINGS /);
  expect(list).toMatch(/^acme +default .* weight 3 \(user\)/m);
  expect(list).not.toContain('bolt');
  const mail = await users('list', '--queue', 'mail');
  expect(mail).toMatch(
    /^acme .* weight 3 \(user\), max queued 9 \(queue\), rate 100\/1m\/10 \(user in queue\)/m,
  );
  expect(mail).toMatch(/^bolt .* max queued 9 \(queue\), paused yes \(user in queue\) +paused/m);
  const one = await users('get', 'acme', '--queue', 'mail');
  expect(one).toMatch(/^weight +3 \(user\)$/m);
  expect(one).toMatch(/^max running +– \(built in\)$/m);
  expect(one).toMatch(/^max queued +9 \(queue\)$/m);
  expect(one).toMatch(/^paused +no \(built in\)$/m);
  const json: unknown = JSON.parse(await users('list', '-o', 'json'));
  expect(json).toMatchObject([
    { user: 'acme', settings: { weight: 3 }, origins: { weight: 'user', rate: 'built-in' } },
  ]);
  await users('set', 'acme', '--weight', 'default');
  expect(await users('list')).not.toContain('acme');
  expect(await users('list', '--queue', 'mail')).toContain('acme');
});
