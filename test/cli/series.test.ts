/** `fairloom series`, and what `users get`, `tasks explain` and `top` say of the last minutes. */
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { Fairloom, type SeriesReport, task, type UserHistory } from '../../src/index.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { redis } from '../../src/redis.ts';
import { fairloomHere } from '../support/cli-here.ts';
import { gate } from '../support/gate.ts';

const prefix = `series-${process.pid}`;
const WHERE = ['--redis', inject('redisUrl'), '--prefix', prefix];
const hold = gate();
const quick = task('quick', async () => 1);
const slow = task('slow', () => hold.passed);

function client(): Fairloom {
  const backend = redis(inject('redisUrl'), { prefix });
  return new Fairloom({ backend, tasks: [quick, slow], log: silentLogger });
}

let loom: Fairloom;

beforeAll(async () => {
  const before = client();
  const handles = await before.enqueueMany(quick, Array(6).fill(undefined), { user: 'ann' });
  await before.worker({ concurrency: 2 }).start();
  await Promise.all(handles.map((handle) => handle.result()));
  // It sends what it has counted.
  await before.close();
  loom = client();
  await loom.worker({ concurrency: 1 }).start();
  await loom.enqueue(slow, undefined, { user: 'ann' });
  while ((await loom.stats()).counts.started === 0) await loom.tasks.missing();
  await loom.enqueueMany(quick, Array(3).fill(undefined), { user: 'ann' });
  await loom.enqueue(quick, undefined, { user: 'ann', id: 'last' });
});
afterAll(async () => {
  hold.open();
  await loom.close();
});

it('prints points and users as JSON, drawn and as tables otherwise', async () => {
  const { stdout } = await fairloomHere(['series', '-o', 'json', ...WHERE]);
  const report: SeriesReport = JSON.parse(stdout);
  expect(report.points).toHaveLength(60);
  expect(report.users).toMatchObject([
    { user: 'ann', queue: 'default', enqueued: 6, started: 6, finished: 6, wait: { count: 6 } },
  ]);
  const table = await fairloomHere(['series', ...WHERE]);
  expect(table.stdout).toMatch(/^finished {2} *█/m);
  expect(table.stdout).toMatch(
    /^FROM +ENQUEUED +STARTED .* WAIT P50 +WAIT P95 +RUN P50 +RUN P95$/m,
  );
  expect(table.stdout).toMatch(/^ann +default +6 +6 +6 +0 +0 +0 +0 /m);
  const hours = await fairloomHere(['series', '--step', 'hour', '--user', 'ann', ...WHERE]);
  expect(hours.stdout).toMatch(/Z +6 +6 +6 /);
  expect(hours.stdout).not.toContain('USER');
});

it('says so when there is nothing, and what is no step', async () => {
  const none = await fairloomHere(['series', '--user', 'nobody', ...WHERE]);
  expect(none.stdout).toMatch(/^nothing was counted from .*Z to .*Z\n$/);
  const wrong = await fairloomHere(['series', '--step', 'day', ...WHERE]);
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('minute, hour') });
  const turned = await fairloomHere([
    'series',
    '--from',
    '2026-01-02',
    '--to',
    '2026-01-01',
    ...WHERE,
  ]);
  expect(turned.code).toBe(2);
});

it('a user is shown with what became of its tasks of late', async () => {
  const { stdout } = await fairloomHere(['users', 'get', 'ann', '-o', 'json', ...WHERE]);
  const { history }: { readonly history: UserHistory } = JSON.parse(stdout);
  expect(history).toMatchObject({ oldestWaitMs: expect.any(Number), run: { count: 6 } });
  expect(history.etaMs).toBe(Math.round((4 / history.perMinute) * 60_000));
  const lines = await fairloomHere(['users', 'get', 'ann', ...WHERE]);
  expect(lines.stdout).toMatch(/^waited +half within .*, 95 % within /m);
  expect(lines.stdout).toMatch(/^starts +\d+\.\d a minute$/m);
  expect(lines.stdout).toMatch(/^line is over +in about .* at that rate$/m);
});

it('a task that waits for its turn is told when that is likely to come', async () => {
  const { stdout } = await fairloomHere(['tasks', 'explain', 'last', ...WHERE]);
  expect(stdout).toMatch(
    /^ {2}its turn comes in about \S.*, at the rate of the last 10 minutes of its user$/m,
  );
});

it('top shows how long tasks waited, and when a line is over', async () => {
  const { stdout } = await fairloomHere(['top', ...WHERE]);
  expect(stdout).toMatch(/^USER .* WAIT P95 +LINE OVER +WHY$/m);
  expect(stdout).toMatch(/^ann +default .* \d\S* +\d\S*( \S+)? +in line$/m);
});
