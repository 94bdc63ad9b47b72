/** What `fairloom worker` says of work that fails, and how much of it. */
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { fairloom, ROOT } from '../support/processes/run-process.ts';
import { startWorker } from '../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');

it.each([
  [[], 1, true],
  [['--log-level', 'error'], 1, true],
  [['--log-level', 'silent'], 0, false],
  // F20
])('with %j a failure is %i lines', async (flags, lines, isNamed) => {
  const prefix = `worker-log-${process.pid}-${flags.join('')}`;
  const where = ['--redis', inject('redisUrl'), '--prefix', prefix];
  const worker = await startWorker(['worker', TASKS, ...flags, ...where]);
  const secret = '{"card":"4111-secret"}';
  const asked = ['enqueue', 'broken', secret, '--id', 'b1', '--user', 'ada', '--wait', '20s'];
  expect((await fairloom([...asked, ...where])).code).toBe(1);
  const { stderr } = await worker.end('SIGTERM');
  const told = stderr.split('\n').filter((line) => line.includes('task.failed'));
  expect(told).toHaveLength(lines);
  if (isNamed) expect(told[0]).toMatch(/error.*broken.*no such customer.*"user":"ada"/);
  expect(stderr).not.toContain('4111-secret');
});

// F20
it('a level that there is not is refused', async () => {
  const args = ['worker', TASKS, '--log-level', 'loud', '--redis', inject('redisUrl')];
  expect(await fairloom(args)).toMatchObject({ code: 2, stderr: expect.stringContaining('loud') });
});
