/** `fairloom enqueue` and `schedules set` of names without code, and what `--wait` says. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { fairloomQuick } from '../support/cli-here.ts';
import { ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const STEPS = join(ROOT, 'test/fixtures/cli/workflow.mjs');
const where = ['--redis', inject('redisUrl'), '--prefix', `by-name-${process.pid}`];

let worker: WorkerProcess;
beforeAll(async () => {
  worker = await startWorker(['worker', STEPS, ...where]);
});
afterAll(() => worker?.end('SIGTERM'));

it.each([
  ['enqueue', 'etl', '1'],
  ['schedules', 'set', 'nightly', 'etl', '1', '--every', '1h'],
  // F30
])('%s %s: what live workers know as a pipeline is no task', async (...args) => {
  const refused = await fairloomQuick([...args, ...where]);
  expect(refused.code).toBe(2);
  expect(refused.stdout).toBe('');
  expect(refused.stderr).toMatch(/etl is a pipeline on worker .+\n.*--module/);
  const { stdout } = await fairloomQuick(['status', '-o', 'json', ...where]);
  expect(JSON.parse(stdout).totals.enqueued).toBe(0);
});

it.each([
  ['enqueue', 'etl', '1'],
  ['schedules', 'set', 'nightly', 'etl', '1', '--every', '1h'],
  // F30
])('%s %s with its module is right', async (...args) => {
  const done = await fairloomQuick([...args, '--module', STEPS, ...where]);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/\S/) });
});

// F30
it('workers say which pipelines they know', async () => {
  const { stdout } = await fairloomQuick(['workers', 'list', '-o', 'json', ...where]);
  const [one] = JSON.parse(stdout);
  expect(one.pipelines).toContain('etl');
  expect(one.names).not.toContain('etl');
});

// F30
it('a name that no worker knows is taken, and said', async () => {
  const { code, stderr } = await fairloomQuick(['enqueue', 'nobody', '--id', 'n', ...where]);
  expect(code).toBe(0);
  expect(stderr).toContain('no live worker knows nobody');
});

// F30
it('--wait says what it waits for until it is there', async () => {
  const args = ['enqueue', 'nobody', '--wait', '5s', '--queue', 'empty', ...where];
  const { code, stderr, stdout } = await fairloomQuick(args);
  expect(code).toBe(5);
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^waiting: \S+ is queued: no live worker serves its queue empty/m);
  expect(stderr).toContain('fairloom workers list');
});
