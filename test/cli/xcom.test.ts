/** `fairloom xcom`: named values by the real binary. */
import { expect, inject, it } from 'vitest';
import { fairloomQuick } from '../support/cli-here.ts';

let spaces = 0;

/** Commands on a namespace of Redis of their own. */
function ownStore(): (...args: readonly string[]) => ReturnType<typeof fairloomQuick> {
  const where = ['--redis', inject('redisUrl'), '--prefix', `xcom-${process.pid}-${++spaces}`];
  return (...args) => fairloomQuick(['xcom', ...args, ...where]);
}

it('a value is pushed, listed, shown and deleted', async () => {
  const run = ownStore();
  const place = ['--user', 'a:b', '--namespace', '"eu"'];
  expect(await run('push', 'rates', '{"JPY":160}', '--ttl', '1d', ...place)).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'rates is pushed\n',
  });
  expect((await run('get', 'rates', ...place)).stdout).toBe('{\n  "JPY": 160\n}\n');
  const list = await run('list', ...place);
  expect(list.stdout).toMatch(/^KEY +PUSHED +BY TASK +GOES\nrates /);
  expect((await run('list', '-o', 'id', ...place)).stdout).toBe('rates\n');
  expect((await run('namespaces', '--user', 'a:b', '-o', 'id')).stdout).toBe('"eu"\n');
  // Another user's are others.
  expect(await run('list')).toMatchObject({ code: 0, stdout: '', stderr: 'no values\n' });
  expect(await run('delete', 'rates', ...place)).toMatchObject({ code: 6 });
  expect(await run('delete', 'rates', '--dry-run', ...place)).toMatchObject({ code: 0 });
  expect((await run('get', 'rates', ...place)).code).toBe(0);
  expect(await run('delete', 'rates', '--yes', ...place)).toMatchObject({ code: 0 });
  expect(await run('get', 'rates', ...place)).toMatchObject({ code: 7, stdout: '' });
  expect(await run('delete', 'rates', '--yes', ...place)).toMatchObject({ code: 7 });
});

it.each([
  [['push', 'k', '{'], 'is not JSON'],
  [['push', '', '1'], "argument 'key'"],
  [['push', 'k', '1', '--ttl', 'soon'], 'ttl'],
  [['list', '--user', ''], 'user'],
  [['list', '--namespace', 'x'.repeat(129)], 'namespace'],
])('%j is refused', async (args, words) => {
  const { code, stderr } = await ownStore()(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});
