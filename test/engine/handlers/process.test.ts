/** Handlers in processes of their own: their results, and that no process is left. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ProcessContext } from '../../../src/workflow/task-context.ts';
import { processTask } from '../../../src/workflow/tasks/module-task.ts';
import { type Harness, openMemory } from '../../support/backends.ts';
import { isAlive, type KeptLog, keepLog } from '../../support/processes/processes.ts';
import { observe } from '../../support/workers.ts';

type Act = (input: unknown, ctx: ProcessContext) => Promise<unknown>;

const module = new URL('../../fixtures/process-handlers.mjs', import.meta.url);
const options = { module, retries: 1, backoff: { base: 0 }, timeout: '1s' } as const;
const of = (exportName: string) => processTask<Act>(exportName, { ...options, exportName });
const echo = of('echo');
const spin = of('spin');
const stubborn = of('stubborn');
const parent = of('parent');
const act = processTask<Act>('act', options);

let harness: Harness;
let log: KeptLog;
beforeEach(async () => {
  harness = await openMemory();
  log = keepLog();
});
afterEach(() => harness.close());

function loomOf(...tasks: Parameters<Harness['loom']>[0][]) {
  return harness.loom(tasks.flat() as Parameters<Harness['loom']>[0], { log });
}

async function pidOf(nth: number, key = 'pid'): Promise<number> {
  const lines = await log.said('here', nth);
  return Number(lines[nth - 1]?.fields[key]);
}

it('runs the module’s export with input and context, in another process, and keeps that', async () => {
  const loom = loomOf([echo]);
  await loom.worker().start();
  const handle = await loom.enqueue(echo, { n: [1] }, { user: 'u', id: 't' });
  const first = await handle.result();
  expect(first).toEqual({
    input: { n: [1] },
    isMainThread: true,
    ctx: { taskId: 't', user: 'u', attempt: 1, fencingToken: expect.any(Number) },
    pid: expect.any(Number),
  });
  const { pid } = first as { pid: number };
  expect(pid).not.toBe(process.pid);
  expect(await loom.run(echo, 1)).toMatchObject({ input: 1, pid });
  await loom.close();
  expect(isAlive(pid)).toBe(false);
});

it('hands on what the handler logs, with the task, and drops messages of its own', async () => {
  const loom = loomOf([echo]);
  await loom.run(echo, 7, { user: 'u' });
  const own = log.lines.filter(({ fields }) => fields['name'] === 'echo');
  expect(own).toMatchObject([
    { level: 'info', message: 'echoing', fields: { input: 7, user: 'u', name: 'echo' } },
    { level: 'warn', message: 'not data' },
  ]);
});

it('kills a handler that spins at its timeout, and only then runs it again', async () => {
  const loom = loomOf([spin, echo]);
  const worker = loom.worker({ concurrency: 1 });
  await worker.start();
  const handle = await loom.enqueue(spin);
  const first = await pidOf(1);
  expect(isAlive(first)).toBe(true);
  await harness.clock.advance('1s');
  const second = await pidOf(2);
  expect([first === second, isAlive(first)]).toEqual([false, false]);
  await harness.clock.advance('1s');
  await expect(handle.result()).rejects.toMatchObject({ failureType: 'timeout' });
  await harness.until(() => !isAlive(second));
  expect(await (await loom.enqueue(echo, 'after')).result()).toMatchObject({ input: 'after' });
});

it('gives a handler that looked at its signal three seconds, then kills it', async () => {
  const loom = loomOf([stubborn]);
  const worker = loom.worker();
  await worker.start();
  const handle = await loom.enqueue(stubborn);
  const pid = await pidOf(1);
  await loom.tasks.cancel(handle.id);
  await harness.clock.advance(2_999);
  expect([isAlive(pid), worker.running]).toEqual([true, 1]);
  await harness.clock.advance(1);
  await expect(handle.result()).rejects.toMatchObject({ code: 'TASK_CANCELED' });
  await harness.until(() => worker.running === 0);
  expect(isAlive(pid)).toBe(false);
});

// F2
it('lets a handler end by its signal, with the reason, and takes nothing that it gives then', async () => {
  const once = processTask<Act>('polite', { ...options, exportName: 'polite', retries: 0 });
  const loom = loomOf([once]);
  const worker = loom.worker();
  const seen = observe(worker);
  await worker.start();
  const [late, canceled] = [await loom.enqueue(once, 'late'), await loom.enqueue(once, 'x')];
  const [a, b] = [await pidOf(1), await pidOf(2)];
  await loom.tasks.cancel(canceled.id);
  await expect(canceled.result()).rejects.toMatchObject({ code: 'TASK_CANCELED' });
  await seen.count('task.canceled', 1);
  await harness.clock.advance('1s');
  await expect(late.result()).rejects.toMatchObject({ failureType: 'timeout' });
  expect((await log.said('asked to end', 2)).map(({ fields }) => fields)).toMatchObject([
    { name: 'TaskCanceledError', code: 'TASK_CANCELED' },
    { name: 'TimedOutError', code: 'TIMED_OUT' },
  ]);
  await harness.until(() => !isAlive(a) && !isAlive(b));
});

it('leaves no process when the worker stops, nor the children of one', async () => {
  const loom = loomOf([spin, parent]);
  const worker = loom.worker();
  await worker.start();
  const [one, two] = [await loom.enqueue(spin), await loom.enqueue(parent)];
  const pids = [await pidOf(1), await pidOf(2)];
  const lines = await log.said('here', 2);
  const grandchild = Number(lines.find(({ fields }) => fields['child'])?.fields['child']);
  expect([...pids, grandchild].map(isAlive)).toEqual([true, true, true]);
  const stopped = worker.stop({ grace: 0 });
  await harness.until(() => worker.running === 0);
  expect(await stopped).toEqual({ unfinished: [] });
  expect(pids.map(isAlive)).toEqual([false, false]);
  // It was killed with its parent; only the system waits for its end.
  await harness.until(() => !isAlive(grandchild));
  // Given back, uncounted.
  expect((await loom.tasks.get(one.id))?.state).toBe('queued');
  expect((await loom.tasks.get(two.id))?.state).toBe('queued');
});

it('leaves no process when the client closes in a hurry', async () => {
  const loom = loomOf([stubborn]);
  await loom.worker().start();
  await loom.enqueue(stubborn);
  const pid = await pidOf(1);
  const closed = loom.close({ timeout: 0 });
  await harness.clock.advance(0);
  await closed;
  await harness.until(() => !isAlive(pid));
  await expect(loom.run(stubborn)).rejects.toMatchObject({ code: 'CLOSED' });
});

it.each([
  ['throw', 'error', 'RangeError', 2],
  ['fatal', 'error', 'Fatal', 1],
  ['exit', 'error', 'ProcessEndedError', 2],
  ['crash', 'error', 'ProcessEndedError', 2],
  ['function', 'invalid-result', 'InvalidResultError', 1],
  ['date', 'invalid-result', 'InvalidResultError', 1],
])('a process that ends by "%s" is a failed attempt', async (how, failureType, name, starts) => {
  const loom = loomOf([act]);
  const worker = loom.worker();
  const seen = observe(worker);
  await worker.start();
  const handle = await loom.enqueue(act, how);
  await expect(handle.result()).rejects.toMatchObject({ failureType, errorName: name });
  expect(seen.of('task.started')).toHaveLength(starts);
});

it('says when there is no such module or export', async () => {
  const missing = processTask<Act>('missing', { ...options, retries: 0, exportName: 'none' });
  const gone = new URL('../fixtures/no-such-module.mjs', import.meta.url);
  const nowhere = processTask<Act>('nowhere', { ...options, retries: 0, module: gone });
  const loom = loomOf([missing, nowhere]);
  await expect(loom.run(missing, 1)).rejects.toThrow('no function named none');
  await expect(loom.run(nowhere, 1)).rejects.toThrow('no-such-module.mjs');
});
