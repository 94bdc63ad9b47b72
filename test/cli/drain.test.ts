/** `fairloom worker --drain`, by the binary: what it works on, what it waits for, what it leaves. */
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, inject, it } from 'vitest';
import { redis } from '../../src/backends/redis/redis-backend.ts';
import { Fairloom } from '../../src/client/client.ts';
import type { EnqueueOptions } from '../../src/enqueue/enqueue-options.ts';
import { type Ended, fairloom, ROOT } from '../support/processes/run-process.ts';
import { startWorker, type WorkerProcess } from '../support/processes/worker-process.ts';

const TASKS = join(ROOT, 'test/fixtures/cli/tasks.mjs');
const STEPS = join(ROOT, 'test/fixtures/cli/workflow.mjs');

let spaces = 0;
const looms: Fairloom[] = [];
const workers: WorkerProcess[] = [];
const files: string[] = [];

afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.end('SIGKILL');
  for (const loom of looms.splice(0)) await loom.close();
  for (const file of files.splice(0)) rmSync(file, { force: true });
});

/** A store of its own for one test. */
interface Space {
  readonly loom: Fairloom;
  /** Where commands find it. */
  readonly where: readonly string[];
  /** Stores a task that gives its double. */
  store(id: string, options?: EnqueueOptions): Promise<unknown>;
  state(id: string): Promise<string | undefined>;
  drain(...args: readonly string[]): Promise<Ended>;
  /** Until the test is over, unless it is ended before. */
  worker(...args: readonly string[]): Promise<WorkerProcess>;
}

function space(): Space {
  const prefix = `drain-${process.pid}-${spaces++}`;
  const where = ['--redis', inject('redisUrl'), '--prefix', prefix];
  const loom = new Fairloom({ backend: redis(inject('redisUrl'), { prefix }) });
  looms.push(loom);
  return {
    loom,
    where,
    store: (id, options) => loom.enqueueByName('double', 1, { ...options, id }),
    state: async (id) => (await loom.tasks.get(id))?.state,
    drain: (...args) => fairloom(['worker', TASKS, STEPS, '--drain', ...args, ...where]),
    worker: async (...args) => {
      const worker = await startWorker(['worker', TASKS, STEPS, ...args, ...where]);
      workers.push(worker);
      return worker;
    },
  };
}

/** A file for which a task of `gated` waits. */
function gateFile(): { readonly path: string; open(): void } {
  const path = join(tmpdir(), `fairloom-drain-${process.pid}-${files.length}-${spaces}`);
  files.push(path);
  return { path, open: () => writeFileSync(path, '') };
}

it('ends at once where there is nothing', async () => {
  const { code, stderr } = await space().drain();
  expect(code).toBe(0);
  expect(stderr).toMatch(/^fairloom worker: nothing more can run now\n.*drained$/m);
});

it('works on what there is and on what that leads to, and leaves what is delayed', async () => {
  const here = space();
  await fairloom(['enqueue', 'etl', '4', '--id', 'run', '--module', STEPS, ...here.where]);
  await here.store('last', { dependsOn: ['run'] });
  await here.store('later', { delay: '1h' });
  await here.store('after', { dependsOn: ['later'] });
  const { code, stderr } = await here.drain();
  expect(code).toBe(0);
  expect(stderr).toContain('nothing more can run now; left: 1 delayed, 1 waiting for others\n');
  expect(await here.state('run')).toBe('finished');
  expect(await here.state('last')).toBe('finished');
  expect(await here.state('later')).toBe('scheduled');
});

it('leaves what may not start, and whom it does not serve', async () => {
  const here = space();
  await here.loom.users.pause('ann');
  await here.loom.queues.pause('closed');
  await here.loom.users.set('cara', { rate: { limit: 1, per: '1h' } });
  await here.store('paused', { user: 'ann' });
  await here.store('closed', { user: 'ben', queue: 'closed' });
  await here.store('first', { user: 'cara' });
  await here.store('second', { user: 'cara' });
  await here.store('stranger', { user: 'dan' });
  const users = ['--assigned', 'ann', '--assigned', 'ben', '--assigned', 'cara'];
  const { code, stderr } = await here.drain('--queue', 'default', '--queue', 'closed', ...users);
  expect(code).toBe(0);
  expect(stderr).toContain('nothing more can run now; left: 4 held back\n');
  expect(await here.state('first')).toBe('finished');
  expect(await here.state('second')).toBe('queued');
});

it('leaves what waits for a failed task, and for one that no worker serves', async () => {
  const here = space();
  await here.loom.enqueueByName('broken', undefined, { id: 'dead' });
  await here.store('behind-dead', { dependsOn: ['dead'] });
  await here.store('unserved', { queue: 'other' });
  await here.store('between', { queue: 'other', dependsOn: ['unserved'] });
  await here.store('behind-other', { dependsOn: ['between'] });
  const { code, stderr } = await here.drain();
  expect(code).toBe(0);
  expect(stderr).toContain('nothing more can run now; left: 2 waiting for others\n');
  expect(await here.state('dead')).toBe('failed');
});

it('waits for what runs elsewhere in its queue, until it is told to end', async () => {
  const here = space();
  const gate = gateFile();
  await here.loom.enqueueByName('gated', gate.path, { id: 'held' });
  const other = await here.worker();
  await expect.poll(() => here.state('held')).toBe('started');
  const told = await here.worker('--drain');
  await told.says('waits: tasks of queue default run');
  const { code, stderr } = await told.end('SIGTERM');
  expect(code).toBe(0);
  expect(stderr).toMatch(/draining[^\n]*\n[^\n]*drained\n$/);
  const patient = await here.worker('--drain');
  await patient.says('waits: tasks of queue default run');
  gate.open();
  expect(await patient.ended).toMatchObject({ code: 0 });
  expect((await other.end('SIGTERM')).code).toBe(0);
});

it('lets its own tasks end when it is told to', async () => {
  const here = space();
  const gate = gateFile();
  await here.loom.enqueueByName('gated', gate.path, { id: 'own' });
  const drain = await here.worker('--drain');
  await expect.poll(() => here.state('own')).toBe('started');
  const ended = drain.end('SIGTERM');
  await drain.says('draining');
  gate.open();
  expect(await ended).toMatchObject({ code: 0 });
  expect(await here.state('own')).toBe('finished');
});

it('waits for another queue when a task of its own waits for that', async () => {
  const here = space();
  const gate = gateFile();
  await here.loom.enqueueByName('gated', gate.path, { id: 'held', queue: 'other' });
  await here.store('behind', { queue: 'other', dependsOn: ['held'] });
  await here.store('mine', { dependsOn: ['behind'] });
  await here.worker('--queue', 'other', '-c', '1');
  const drain = await here.worker('--drain');
  await drain.says('waits: task held is awaited');
  gate.open();
  expect(await drain.ended).toMatchObject({ code: 0 });
  expect(await here.state('mine')).toBe('finished');
});

it('ends in each of several workers', async () => {
  const here = space();
  const ids = Array.from({ length: 40 }, (_, at) => `t${at}`);
  for (const [at, id] of ids.entries()) {
    await here.store(id, at === 0 ? {} : { dependsOn: [`t${at - 1}`] });
  }
  const ends = await Promise.all([here.drain('--id', 'a'), here.drain('--id', 'b')]);
  expect(ends.map(({ code }) => code)).toEqual([0, 0]);
  expect((await here.loom.tasks.counts()).finished).toBe(ids.length);
});
