/** `--where`: tasks chosen by the filter language. */
import { expect, inject, it } from 'vitest';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { task } from '../../src/workflow/task-definition.ts';
import { fairloomHere } from '../support/cli-here.ts';
import type { Ended } from '../support/processes/run-process.ts';

const fine = task('fine', async (n: number) => n);
const broken = task('broken', { retries: 0 }, async (n: number) => {
  throw new RangeError(`number ${n}`);
});

function place(name: string): {
  readonly loom: Fairloom;
  readonly run: (...args: readonly string[]) => Promise<Ended>;
} {
  const prefix = `where-${name}-${process.pid}`;
  const backend = redis(inject('redisUrl'), { prefix });
  const loom = new Fairloom({ backend, tasks: [fine, broken], log: silentLogger });
  const around = ['--redis', inject('redisUrl'), '--prefix', prefix];
  return { loom, run: (...args) => fairloomHere([...args, ...around]) };
}

it('chooses what is listed, canceled, put back and removed', async () => {
  const { loom, run } = place('all');
  await using _end = loom;
  const worker = loom.worker();
  await worker.start();
  const handles = await loom.enqueueMany(broken, [1, 2, 3], { user: 'acme' });
  await Promise.allSettled(handles.map((handle) => handle.result()));
  const [one, two, three] = handles.map(({ id }) => id);
  await worker.stop();
  await loom.enqueue(fine, 1, { id: 'later', user: 'acme', delay: '1h' });
  await loom.enqueue(fine, 1, { id: 'now', user: 'beta' });

  const ids = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { code, stdout } = await run(...args, '-o', 'id');
    expect(code).toBe(0);
    return stdout.split('\n').filter(Boolean);
  };
  expect(await ids('tasks', 'list', '--where', 'name:fine')).toEqual(['now', 'later']);
  expect(await ids('tasks', 'list', '--where', '"number 2"')).toEqual([two]);
  expect(await ids('dead', 'list', '--where', 'user:acme -"number 2"')).toEqual([one, three]);
  expect(await ids('dead', 'list', '--where', 'name:fine,broken state:scheduled')).toEqual([]);
  expect(await ids('tasks', 'cancel', '--yes', '--where', 'name:fine')).toEqual(['now', 'later']);
  expect(await ids('dead', 'redrive', '--yes', '--where', '"number 1"')).toEqual([one]);
  expect(await ids('dead', 'remove', '--yes', '--where', 'error:RangeError "number 3"')).toEqual([
    three,
  ]);
  expect(await ids('tasks', 'list', '--where', 'name:broken')).toEqual([one, two]);
});

it('says what it cannot read, and takes no other filter beside it', async () => {
  const { loom, run } = place('wrong');
  await using _end = loom;
  const wrong = await run('tasks', 'list', '--where', 'state:gone');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('at character 7') });
  for (const command of [
    ['tasks', 'list'],
    ['tasks', 'cancel', '--yes'],
    ['dead', 'list'],
  ]) {
    const both = await run(...command, '--where', 'state:failed', '--user', 'acme');
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--where') });
  }
});

it('says how far it has looked, and looks further when asked to', async () => {
  const { loom, run } = place('bound');
  await using _end = loom;
  const [many, some] = [LIMITS.searchScan + 500, 1_000];
  for (let from = 0; from < many; from += some) {
    const inputs = Array.from({ length: Math.min(some, many - from) }, (_, n) => n);
    await loom.enqueueMany(fine, inputs, { user: 'u', delay: '1h' });
  }
  await loom.enqueue(fine, 1, { id: 'last', user: 'u', delay: '2h' });
  const first = await run('tasks', 'list', '--where', 'last');
  expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining('first 10000 tasks') });
  expect(first.stdout).not.toContain('last');
  const all = await run('tasks', 'list', '--where', 'last', '--limit', 'all', '-o', 'id');
  expect(all).toMatchObject({ code: 0, stdout: 'last\n', stderr: '' });
});
