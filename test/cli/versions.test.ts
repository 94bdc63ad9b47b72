/** `fairloom versions`, and a rolling deploy of real workers: old and new, then back. */
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { fairloomHere, fairloomQuick } from '../support/cli-here.ts';
import { fairloom, ROOT } from '../support/processes/run-process.ts';
import { startWorker } from '../support/processes/worker-process.ts';

const OLD = join(ROOT, 'test/fixtures/cli/release-1.mjs');
const NEW = join(ROOT, 'test/fixtures/cli/release-2.mjs');

let spaces = 0;

/** Commands on a namespace of Redis of their own. */
function ownStore(): readonly string[] {
  return ['--redis', inject('redisUrl'), '--prefix', `versions-${process.pid}-${++spaces}`];
}

it('old and new workers each do their own, and versions says when the old ones may go', async () => {
  const where = ownStore();
  const run = (...args: readonly string[]) => fairloomQuick([...args, ...where]);
  const needed = async (name: string): Promise<unknown> => {
    const { stdout } = await run('versions', name, '-o', 'json');
    return JSON.parse(stdout).map((one: { needed: number }) => one.needed);
  };
  expect(await run('versions')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'no tasks and no live workers\n',
  });
  // What the old release has left behind: a task and a run.
  await run('enqueue', 'resize@1', '7', '--id', 'task');
  await run('enqueue', 'thumbs', '8', '--id', 'run', '--form', 'driven', '--module', OLD);
  const fresh = await startWorker(['worker', NEW, '--id', 'new', ...where]);
  expect((await run('enqueue', 'resize@2', '9', '--wait', '20s')).stdout).toBe('"2:9"\n');
  expect((await run('enqueue', 'resize', '3', '--wait', '20s')).stdout).toBe('"2:3"\n');
  expect(await needed('resize@1')).toEqual([2]);
  const { stdout } = await run('versions', 'resize');
  expect(stdout).toMatch(
    /^NAME +VERSION +NEEDED +QUEUED +STARTED +DEFERRED +SCHEDULED +RUNS +SCHEDULES +WORKERS\n/,
  );
  expect(stdout).toMatch(/\nresize +2 +0 +0 +0 +0 +0 +0 +0 +new\nresize +1 +2 +1 +0 +0 +0 +1 +0/);
  for (const id of ['task', 'run']) {
    expect((await run('tasks', 'explain', id)).stdout).toContain(
      'it needs version 1 of resize; live workers of queue default have 2',
    );
  }
  expect((await run('tasks', 'list', '--state', 'queued', '--user', 'default')).stdout).toMatch(
    /\ntask +resize@1 /,
  );
  expect((await run('tasks', 'get', 'task', '-o', 'json')).stdout).toMatch(/"version": "1"/);
  expect((await run('enqueue', 'resize@3', '1', '--id', 'later')).stderr).toContain(
    'no live worker knows resize@3',
  );
  expect((await run('versions', '--limit', '1')).stderr).toMatch(/more than the 1 tasks/);
  const latest = await run('runs', 'rerun', 'run', '--latest', '--id', 'again');
  expect(latest.code).toBe(0);
  const old = await startWorker(['worker', OLD, '--id', 'old', ...where]);
  expect((await run('enqueue', 'resize@1', '7', '--id', 'task', '--wait', '20s')).stdout).toBe(
    '"1:7"\n',
  );
  const waited = ['enqueue', 'thumbs', '8', '--id', 'run', '--form', 'driven', '--wait', '20s'];
  expect((await run(...waited, '--module', OLD)).stdout).toBe('"1:8"\n');
  expect(await needed('resize@1')).toEqual([0]);
  const ended = await run('runs', 'get', 'again', '-o', 'json');
  expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'finished', result: '2:8' });
  await Promise.all([fresh.end('SIGTERM'), old.end('SIGTERM')]);
});

it.each([
  [['enqueue', 'resize@', '1'], 'name'],
  [['enqueue', '@2', '1'], 'name'],
  [['tasks', 'list', '--name', 'a@b@c'], 'name'],
  [['versions', '--limit', '0'], 'limit'],
])('%j is refused', async (args, words) => {
  const { code, stderr } = await fairloom([...args, ...ownStore()]);
  expect(code).toBe(2);
  expect(stderr).toContain(words);
});

it('names an unknown task, and ends with 7', async () => {
  const where = ownStore();
  const enqueued = await fairloomHere(['enqueue', 'resize', '7', '--delay', '1h', ...where]);
  expect(enqueued.code).toBe(0);
  for (const form of ['table', 'json', 'id']) {
    const { code, stdout, stderr } = await fairloomHere(['versions', 'nope', '-o', form, ...where]);
    expect([form, code, stdout]).toEqual([form, 7, '']);
    expect(stderr).toContain('nope');
    expect(stderr).not.toContain('no tasks');
    const known = await fairloomHere(['versions', 'resize', '-o', form, ...where]);
    expect([form, known.code, known.stdout]).toEqual([form, 0, expect.stringContaining('resize')]);
  }
});
