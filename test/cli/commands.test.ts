/** Every noun and verb on Redis, many by the binary: exit codes, stdout and the documented JSON. */
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { fairloomHere } from '../support/cli-here.ts';
import { type Ended, fairloom, ROOT, type RunOptions } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

/** A namespace for each group, so that none sees another's tasks; `by`: what runs a command line. */
function commands(
  name: string,
  by: (args: readonly string[]) => Promise<Ended> = fairloom,
): (...args: readonly string[]) => Promise<Ended> {
  const backend = ['--redis', inject('redisUrl'), '--prefix', `${name}-${process.pid}`];
  return (...args) => by([...args, ...backend]);
}

async function ok(ended: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('enqueue', () => {
  const run = commands('enqueue');
  const env = { FAIRLOOM_REDIS_URL: inject('redisUrl') };
  const prefix = ['--prefix', `enqueue-${process.pid}`];
  const withEnv = (args: readonly string[], options: RunOptions = {}): Promise<Ended> =>
    fairloom([...args, ...prefix], { ...options, env });

  it('takes JSON, a file and stdin', async () => {
    const file = join(tmpdir(), `fairloom-input-${process.pid}.json`);
    writeFileSync(file, '{"from":"file"}');
    await ok(run('enqueue', 'double', '{"from":"text"}', '--id', 'text'));
    await ok(run('enqueue', 'double', `@${file}`, '--id', 'file'));
    await ok(withEnv(['enqueue', 'double', '-', '--id', 'stdin'], { stdin: '{"from":"ströme"}' }));
    const rows = JSON.parse(await ok(run('tasks', 'list', '--values', '-o', 'json'))) as {
      readonly id: string;
      readonly input: unknown;
    }[];
    expect(rows.map(({ id, input }) => [id, input])).toEqual([
      ['text', { from: 'text' }],
      ['file', { from: 'file' }],
      ['stdin', { from: 'ströme' }],
    ]);
  });

  it('answers with the id and whether it is new', async () => {
    const args = [
      'enqueue',
      'double',
      '1',
      '--user',
      'ada',
      '--idempotency-key',
      'k',
      '-o',
      'json',
    ];
    const first = JSON.parse(await ok(run(...args))) as { readonly id: string };
    expect(first).toEqual({ id: expect.any(String), created: true, conflict: false });
    expect(JSON.parse(await ok(run(...args)))).toEqual({ ...first, created: false });
  });

  it('passes every option on', async () => {
    const at = '2090-01-31T08:00:00.000Z';
    const place = ['--queue', 'bulk', '--user', 'a b', '--priority', 'high', '--cost', '2.5'];
    const time = ['--at', at, '--expires-in', '1h'];
    const edges = ['--depends-on', 'text', '--depends-on', 'file'];
    await ok(run('enqueue', 'double', '1', '--id', 'all', ...place, ...time));
    expect(JSON.parse(await ok(run('tasks', 'get', 'all', '-o', 'json')))).toMatchObject({
      queue: 'bulk',
      user: 'a b',
      priority: 4,
      cost: 2.5,
      state: 'scheduled',
      dueAt: Date.parse(at),
      expiresAt: Date.parse(at) + 3_600_000,
    });
    await ok(run('enqueue', 'double', '1', '--id', 'edges', ...edges));
    expect(JSON.parse(await ok(run('tasks', 'get', 'edges', '-o', 'json')))).toMatchObject({
      state: 'deferred',
      dependsOn: ['text', 'file'],
    });
  });
});

describe('tasks', () => {
  const run = commands('tasks', fairloomHere);

  beforeAll(async () => {
    await ok(run('enqueue', 'double', '1', '--id', 'one', '--user', 'ada'));
    await ok(run('enqueue', 'double', '2', '--id', 'two', '--user', 'ben'));
    await ok(run('enqueue', 'slow', '3', '--id', 'later', '--user', 'ben', '--delay', '1h'));
  });

  it('are listed in each form', async () => {
    const table = await ok(run('tasks', 'list'));
    expect(table.split('\n')[0]).toMatch(/^ID +NAME +USER +QUEUE +STATE +PRIORITY/);
    expect(table).toMatch(/^later +slow +ben +default +scheduled +normal +0 +in 59m/m);
    expect(await ok(run('tasks', 'list', '-o', 'id'))).toBe('one\ntwo\nlater\n');
    const rows = (await ok(run('tasks', 'list', '-o', 'jsonl'))).trim().split('\n');
    expect(rows.map((row) => (JSON.parse(row) as { id: string }).id)).toEqual([
      'one',
      'two',
      'later',
    ]);
    expect(JSON.parse(await ok(run('tasks', 'list', '--state', 'failed', '-o', 'json')))).toEqual(
      [],
    );
  });

  it('are filtered and limited', async () => {
    expect(await ok(run('tasks', 'list', '--user', 'ben', '-o', 'id'))).toBe('two\nlater\n');
    expect(await ok(run('tasks', 'list', '--name', 'slow', '-o', 'id'))).toBe('later\n');
    expect(await ok(run('tasks', 'list', '--queue', 'other', '-o', 'id'))).toBe('');
    const limited = await run('tasks', 'list', '--limit', '1', '-o', 'id');
    expect(limited).toMatchObject({ code: 0, stdout: 'one\n' });
    expect(limited.stderr).toContain('there are more');
  });

  it('have the documented shape', async () => {
    expect(JSON.parse(await ok(run('tasks', 'get', 'later', '-o', 'json')))).toEqual({
      id: 'later',
      name: 'slow',
      user: 'ben',
      queue: 'default',
      state: 'scheduled',
      priority: 3,
      cost: 1,
      input: 3,
      createdAt: expect.any(Number),
      dueAt: expect.any(Number),
      failures: 0,
      losses: 0,
      releases: 0,
      dependsOn: [],
      blockedBy: [],
      cancelRequested: false,
      attempts: [],
      dependents: { count: 0, awaitingRedrive: 0, ids: [] },
    });
  });

  it('run now when they are told to', async () => {
    expect(await ok(run('tasks', 'run-now', 'later', '-o', 'jsonl'))).toBe(
      '{"id":"later","ok":true,"outcome":"due"}\n',
    );
    expect(await ok(run('tasks', 'list', '--state', 'queued', '-o', 'id'))).toContain('later');
  });

  it('are canceled only with consent', async () => {
    const asked = await run('tasks', 'cancel', '--user', 'ben');
    expect(asked).toMatchObject({ code: 6, stdout: '' });
    expect(asked.stderr).toContain('cancel 2 tasks:\n  two\n  later\n');
    const dry = await run('tasks', 'cancel', '--user', 'ben', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: '' });
    expect(dry.stderr).toContain('would cancel 2 tasks');
    expect(await ok(run('tasks', 'list', '--state', 'canceled', '-o', 'id'))).toBe('');

    const done = await ok(run('tasks', 'cancel', '--user', 'ben', '--yes', '-o', 'id'));
    expect(done).toBe('two\nlater\n');
    const mixed = await run('tasks', 'cancel', 'one', 'two', 'nope', '--yes', '-o', 'jsonl');
    expect(mixed.code).toBe(6);
    expect(
      mixed.stdout
        .trim()
        .split('\n')
        .map((row) => JSON.parse(row) as object),
    ).toEqual([
      { id: 'one', ok: true, outcome: 'canceled' },
      { id: 'two', ok: false, outcome: 'cancel: task two is canceled' },
      { id: 'nope', ok: false, outcome: 'task nope is not stored' },
    ]);
  });

  it('are removed for good', async () => {
    expect((await run('tasks', 'remove', 'one')).code).toBe(6);
    expect(await ok(run('tasks', 'remove', 'one', '--yes', '-o', 'id'))).toBe('one\n');
    expect((await run('tasks', 'get', 'one')).code).toBe(7);
  });
});

describe('users and queues', () => {
  const run = commands('settings', fairloomHere);

  it('keep what is set and give it back', async () => {
    const limits = ['--max-running', '5', '--max-queued', '7', '--rate', '100/1m/20'];
    await ok(run('users', 'set', 'ada', '--weight', '2.5', ...limits));
    const got = JSON.parse(await ok(run('users', 'get', 'ada', '-o', 'json'))) as object;
    expect(got).toMatchObject({
      user: 'ada',
      queue: 'default',
      settings: {
        weight: 2.5,
        maxRunning: 5,
        maxQueued: 7,
        rate: { limit: 100, perMs: 60_000, burst: 20 },
      },
      queued: 0,
      levels: [0, 0, 0, 0, 0, 0],
      running: 0,
      later: 0,
      ready: false,
    });
    await ok(run('users', 'set', 'ada', '--weight', 'default', '--rate', 'default'));
    await ok(run('users', 'pause', 'ada'));
    expect(JSON.parse(await ok(run('users', 'get', 'ada', '-o', 'json')))).toMatchObject({
      settings: { weight: 1, maxRunning: 5, maxQueued: 7, paused: true },
    });
    expect(await ok(run('users', 'get', 'ada'))).toMatch(/^paused +yes \(user\)$/m);
    await ok(run('users', 'resume', 'ada'));
    expect(await ok(run('users', 'get', 'ada'))).toMatch(/^paused +no \(built in\)$/m);
  });

  it('refuse a task over the limit', async () => {
    await ok(run('users', 'set', 'full', '--max-queued', '1'));
    await ok(run('enqueue', 'double', '--user', 'full'));
    const { code, stderr } = await run('enqueue', 'double', '--user', 'full');
    expect(code).toBe(6);
    expect(stderr).toContain('1 of at most 1 waiting');
    expect(await ok(run('users', 'list', '-o', 'id'))).toContain('full\n');
  });

  it('hold for one queue alone', async () => {
    await ok(run('users', 'set', 'ada', '--weight', '9', '--queue', 'bulk'));
    const inBulk = await ok(run('users', 'get', 'ada', '--queue', 'bulk', '-o', 'json'));
    expect(JSON.parse(inBulk)).toMatchObject({ queue: 'bulk', settings: { weight: 9 } });
    expect(await ok(run('users', 'get', 'ada'))).toMatch(/^weight +1 \(built in\)$/m);
  });

  it('of queues are set, paused and listed', async () => {
    const own = [
      '--max-running',
      '3',
      '--priority-weights',
      '1,1,2,2,4',
      '--critical-burst',
      '8',
      '--charge',
      'time',
      '--retries',
      '0',
      '--timeout',
      'none',
      '--lease',
      '5s',
    ];
    await ok(run('queues', 'set', 'bulk', ...own, '--user-weight', '2', '--user-max-running', '1'));
    await ok(run('queues', 'pause', 'bulk'));
    const listed = async (): Promise<{ readonly queue: string; readonly settings: object }[]> =>
      JSON.parse(await ok(run('queues', 'list', '-o', 'json'))) as never;
    expect((await listed()).find(({ queue }) => queue === 'bulk')).toMatchObject({
      settings: {
        maxRunning: 3,
        priorityWeights: [1, 1, 2, 2, 4],
        criticalBurst: 8,
        charge: 'time',
        retries: 0,
        timeoutMs: 0,
        leaseMs: 5_000,
        perUser: { weight: 2, maxRunning: 1 },
        paused: true,
      },
      counts: { queued: 0, started: 0 },
      readyUsers: 0,
      runnable: 0,
    });
    await ok(run('queues', 'resume', 'bulk'));
    await ok(run('queues', 'set', 'bulk', '--max-running', 'default', '--no-user-defaults'));
    const after = (await listed()).find(({ queue }) => queue === 'bulk')?.settings;
    expect(after).not.toHaveProperty('paused');
    expect(after).not.toHaveProperty('maxRunning');
    expect(after).not.toHaveProperty('perUser');
  });
});

describe('with a worker', () => {
  const run = commands('worker');
  let worker: WorkerProcess;

  beforeAll(async () => {
    const args = ['worker', join(ROOT, 'test/fixtures/cli/tasks.mjs'), '--id', 'w1', '-c', '2'];
    const backend = ['--redis', inject('redisUrl'), '--prefix', `worker-${process.pid}`];
    worker = await startWorker([...args, ...backend]);
  });

  it('enqueue --wait prints the result, or ends with 1', async () => {
    expect(await ok(run('enqueue', 'double', '21', '--wait', '10s'))).toBe('42\n');
    const json = JSON.parse(
      await ok(run('enqueue', 'double', '4', '--wait', '-o', 'json')),
    ) as object;
    expect(json).toMatchObject({ created: true, result: 8 });
    const { code, stderr } = await run('enqueue', 'broken', '--id', 'dead', '--wait', '10s');
    expect(code).toBe(1);
    expect(stderr).toContain('no such customer');
  });

  it('dead letters are listed, redriven and removed', async () => {
    const row = JSON.parse(await ok(run('dead', 'list', '-o', 'jsonl'))) as object;
    expect(row).toMatchObject({
      id: 'dead',
      state: 'failed',
      failureType: 'error',
      error: { name: 'Fatal', message: 'no such customer' },
    });
    const got = JSON.parse(await ok(run('tasks', 'get', 'dead', '-o', 'json'))) as object;
    expect(got).toMatchObject({
      attempts: [{ attempt: 1, worker: 'w1', outcome: 'failed', decision: 'dead-letter' }],
    });
    expect((await run('dead', 'redrive', '--all')).code).toBe(6);
    expect((await run('dead', 'redrive', '--all', '--yes', '--rate', '9')).code).toBe(2);
    const atRate = ['--rate', '9/1s'];
    expect(await ok(run('dead', 'redrive', '--all', '--yes', ...atRate, '-o', 'id'))).toBe(
      'dead\n',
    );
    await expect.poll(() => ok(run('dead', 'list', '-o', 'id'))).toBe('dead\n');
    expect((await run('tasks', 'redrive', 'dead')).code).toBe(0);
    await expect.poll(() => ok(run('dead', 'list', '-o', 'id'))).toBe('dead\n');
    expect(await ok(run('dead', 'remove', '--name', 'broken', '--yes', '-o', 'id'))).toBe('dead\n');
    expect(await ok(run('dead', 'list', '-o', 'json'))).toBe('[]\n');
  });

  it('workers, status, health and doctor show the whole', async () => {
    const workers = JSON.parse(await ok(run('workers', 'list', '-o', 'json'))) as object[];
    expect(workers).toEqual([
      {
        id: 'w1',
        queues: ['default'],
        // What else the module of the fixture defines.
        names: expect.arrayContaining(['broken', 'double', 'gated']),
        concurrency: 2,
        host: expect.any(String),
        startedAt: expect.any(Number),
        lastSeenAt: expect.any(Number),
        running: 0,
        attempts: { succeeded: 2, failed: 3, lost: 0 },
      },
    ]);
    const status = JSON.parse(await ok(run('status', '-o', 'json'))) as object;
    expect(status).toMatchObject({
      counts: { queued: 0, finished: 2 },
      totals: { enqueued: 3, finished: 2 },
      queues: [{ queue: 'default' }],
      workers: [{ id: 'w1' }],
    });
    expect(await ok(run('status'))).toMatch(/^finished +2$/m);
    expect(JSON.parse(await ok(run('health', '-o', 'json')))).toEqual({
      isHealthy: true,
      pingMs: expect.any(Number),
      // The server of the tests writes nothing to its disk.
      backend: { name: 'redis', durable: false, shared: true },
      workers: [],
    });
    const doctor = JSON.parse(await ok(run('doctor', '-o', 'json'))) as object;
    expect(doctor).toMatchObject({ drift: [], checked: expect.any(Number), repaired: 0 });
  });

  it('SIGTERM lets running tasks end, and the worker ends with 0', async () => {
    const gate = join(tmpdir(), `fairloom-gate-${process.pid}`);
    await ok(run('enqueue', 'gated', JSON.stringify(gate), '--id', 'running'));
    await expect
      .poll(() => ok(run('tasks', 'list', '--state', 'started', '-o', 'id')))
      .toBe('running\n');
    const ended = worker.end('SIGTERM');
    await worker.says('draining');
    writeFileSync(gate, '');
    const { code, stderr } = await ended;
    rmSync(gate);
    expect(code).toBe(0);
    expect(stderr).toContain('drained');
    const got = JSON.parse(await ok(run('tasks', 'get', 'running', '-o', 'json'))) as object;
    expect(got).toMatchObject({ state: 'finished', result: 'went through' });
    expect(await ok(run('workers', 'list', '-o', 'json'))).toBe('[]\n');
  });
});
