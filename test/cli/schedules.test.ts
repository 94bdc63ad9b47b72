/** Schedules by the binary: set, looked at, run, paused, filled, removed, and fired. */
import { join } from 'node:path';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { fairloomQuick } from '../support/cli-here.ts';
import { type Ended, ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const MODULE = join(ROOT, 'test/fixtures/cli/workflow.mjs');
const BACKEND = ['--redis', inject('redisUrl'), '--prefix', `schedules-${process.pid}`];

const run = (...args: readonly string[]): Promise<Ended> => fairloomQuick([...args, ...BACKEND]);

async function ok(ended: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

async function json(...args: readonly string[]): Promise<unknown> {
  return JSON.parse(await ok(run(...args, '-o', 'json')));
}

const NIGHTLY = ['--cron', '0 3 * * *', '--time-zone', 'Asia/Tokyo', '--user', 'ops'];

describe('fairloom schedules', () => {
  it('sets a schedule, and shows it', async () => {
    const set = ['schedules', 'set', 'nightly', 'extract', '{"day":1}', ...NIGHTLY];
    const nightly = {
      ...{ id: 'nightly', task: 'extract', cron: '0 3 * * *', timeZone: 'Asia/Tokyo' },
      ...{ user: 'ops', missed: 'one', overlap: 'skip', state: 'active', fired: 0 },
    };
    expect(await json(...set)).toMatchObject(nightly);
    expect(await json('schedules', 'get', 'nightly')).toMatchObject(nightly);
    expect(await json('schedules', 'list')).toMatchObject([nightly]);
    const table = await ok(run('schedules', 'list'));
    expect(table).toMatch(/^nightly +extract +0 3 \* \* \* Asia\/Tokyo +ops +active +in /m);
    expect(await ok(run('schedules', 'get', 'nightly'))).toMatch(/^cron +0 3 \* \* \*$/m);
    expect((await ok(run('schedules', 'list', '-o', 'id'))).trim()).toBe('nightly');
  });

  it('tells the slots that come next', async () => {
    const next = (await json('schedules', 'next', 'nightly', '-n', '3')) as {
      readonly slots: readonly number[];
    };
    expect(next.slots).toHaveLength(3);
    for (const slot of next.slots) expect(new Date(slot).toISOString()).toMatch(/T18:00:00.000Z$/);
    expect(await ok(run('schedules', 'next', 'nightly'))).toMatch(/T18:00:00\.000Z {2}in /);
  });

  it('pauses and resumes', async () => {
    expect(await json('schedules', 'pause', 'nightly')).toEqual([
      { id: 'nightly', ok: true, outcome: 'paused' },
    ]);
    expect(await json('schedules', 'next', 'nightly')).toMatchObject({ slots: [] });
    expect(await json('schedules', 'resume', 'nightly')).toMatchObject([{ outcome: 'active' }]);
  });

  it('runs its task now, and fills a stretch that has passed', async () => {
    const { id } = (await json('schedules', 'run', 'nightly')) as { readonly id: string };
    expect(await json('tasks', 'get', id)).toMatchObject({ name: 'extract', input: { day: 1 } });
    const stretch = ['--from', '2026-01-01T00:00:00Z', '--to', '2026-01-03T00:00:00Z'];
    const filled = (await json('schedules', 'backfill', 'nightly', ...stretch)) as {
      readonly created: readonly number[];
    };
    expect(filled.created.map((slot) => new Date(slot).toISOString().slice(0, 10))).toEqual([
      '2026-01-01',
      '2026-01-02',
    ]);
    expect(await ok(run('schedules', 'backfill', 'nightly', ...stretch))).toBe(
      '0 stored, 2 were there\n',
    );
  });

  it('says what is wrong by its exit code', async () => {
    const set = ['schedules', 'set', 'x', 'extract'];
    expect(await run(...set, '--cron', '0 0 31 4 *')).toMatchObject({ code: 2, stdout: '' });
    expect(await run(...set, '--every', '1m', '--time-zone', 'Mars')).toMatchObject({ code: 2 });
    expect(await run(...set)).toMatchObject({ code: 2 });
    expect(await run(...set, '--every', '1m', '--missed', 'some')).toMatchObject({ code: 2 });
    for (const verb of ['get', 'next', 'run', 'pause', 'resume']) {
      expect(await run('schedules', verb, 'nobody')).toMatchObject({ code: 7 });
    }
    expect(await run('schedules', 'remove', 'nightly')).toMatchObject({ code: 6 });
  });

  it('starts a task at events', async () => {
    const user = ['--user', 'eve'];
    const on = [
      'schedules',
      'on',
      'ship',
      'extract',
      '--event',
      'order.paid',
      '--key',
      'o:7',
      ...user,
    ];
    const ship = { id: 'ship', task: 'extract', event: 'order.paid', key: 'o:7', user: 'eve' };
    expect(JSON.parse(await ok(run(...on, '-o', 'json')))).toMatchObject(ship);
    expect(await ok(run('schedules', 'list'))).toMatch(
      /^ship +extract +at order\.paid of o:7 +eve +active /m,
    );
    expect(await ok(run('schedules', 'get', 'ship'))).toMatch(/^event +order\.paid$/m);
    for (const key of ['o:7', 'o:8']) {
      await ok(run('publish', 'order.paid', key, '{"day":3}', ...user));
    }
    const shown = JSON.parse(await ok(run('schedules', 'get', 'ship', '-o', 'json')));
    expect(shown).toMatchObject({ fired: 1, lastTaskId: expect.stringMatching(/^~e\.ship\./) });
    expect(await json('tasks', 'get', shown.lastTaskId)).toMatchObject({ input: { day: 3 } });
    const refused = await run('schedules', 'run', 'ship');
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('publish order.paid'),
    ]);
    const nameless = await run('schedules', 'on', 'ship', 'extract');
    expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining('--event')]);
    await ok(run('schedules', 'remove', 'ship', '--yes'));
  });

  it('removes after a question, and not twice', async () => {
    expect(await json('schedules', 'remove', 'nightly', 'none', '--dry-run')).toEqual([
      { id: 'nightly', ok: true, outcome: 'would be removed' },
      { id: 'none', ok: false, outcome: 'it is not stored' },
    ]);
    for (const end of ['2030', '-5', 'Tuesday 7']) {
      const loose = await run('schedules', 'update', 'nightly', `--end=${end}`);
      expect([loose.code, loose.stderr]).toEqual([2, expect.stringContaining('a moment such as')]);
    }
    expect(await json('schedules', 'remove', 'nightly', '--yes')).toEqual([
      { id: 'nightly', ok: true, outcome: 'removed' },
    ]);
    expect((await run('schedules', 'remove', 'nightly', '--yes')).code).toBe(7);
    expect(await json('schedules', 'list')).toEqual([]);
  });
});

describe('fairloom scheduler', () => {
  let scheduler: WorkerProcess | undefined;
  afterAll(async () => {
    await scheduler?.end('SIGKILL');
  });

  it('fires without handlers, also pipelines, until it is told to end', async () => {
    scheduler = await startWorker(['scheduler', '--id', 'only', ...BACKEND], 'fires');
    const often = ['--every', '1s', '--times', '1', '--overlap', 'allow'];
    await ok(run('schedules', 'set', 'often', 'etl', '4', '--module', MODULE, ...often));
    const worker = await startWorker(['worker', MODULE, ...BACKEND]);
    let fired: unknown;
    await expect
      .poll(async () => {
        fired = await json('schedules', 'get', 'often');
        return fired;
      })
      .toMatchObject({ fired: 1, state: 'over', task: 'etl' });
    const { lastTaskId = '' } = fired as { readonly lastTaskId?: string };
    await expect
      .poll(() => json('runs', 'get', lastTaskId))
      .toMatchObject({ name: 'etl', form: 'driven', state: 'finished' });
    await worker.end('SIGTERM');
    const { code, stderr } = await scheduler.end('SIGTERM');
    expect(code).toBe(0);
    expect(stderr).toMatch(/fairloom scheduler: only fires; SIGTERM or SIGINT ends it\n.*ended\n/);
    scheduler = undefined;
  });
});
