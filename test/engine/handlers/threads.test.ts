/** Handlers in threads: their results and errors, and their end when they do not end by themselves. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ThreadContext } from '../../../src/workflow/task-context.ts';
import { threadTask } from '../../../src/workflow/tasks/module-task.ts';
import { type Harness, openMemory } from '../../support/backends.ts';
import { keepLog } from '../../support/processes/processes.ts';
import { observe } from '../../support/workers.ts';

type Act = (input: unknown, ctx: ThreadContext) => Promise<unknown>;

const module = new URL('../../fixtures/thread-handlers.mjs', import.meta.url);
const options = { module, retries: 1, backoff: { base: 0 } } as const;
const echo = threadTask<Act>('echo', { ...options, exportName: 'echo' });
const spin = threadTask<Act>('spin', { ...options, exportName: 'spin', timeout: '1s' });
const act = threadTask<Act>('act', options);

let harness: Harness;
beforeEach(async () => {
  harness = await openMemory();
});
afterEach(() => harness.close());

it('runs the module’s export with input and context, off the main thread', async () => {
  const loom = harness.loom([echo]);
  await loom.worker().start();
  const handle = await loom.enqueue(echo, { n: [1] }, { user: 'u', id: 't' });
  expect(await handle.result()).toEqual({
    input: { n: [1] },
    isMainThread: false,
    ctx: { taskId: 't', user: 'u', attempt: 1, fencingToken: expect.any(Number) },
  });
  expect(await loom.run(echo, 1)).toMatchObject({ input: 1, isMainThread: false });
});

it('hands on what the handler logs, with the task', async () => {
  const say = threadTask<Act>('say', { ...options, exportName: 'say' });
  const log = keepLog();
  await harness.loom([say], { log }).run(say, 'x', { user: 'u' });
  const fields = { text: 'x', name: 'say', user: 'u' };
  expect(await log.said('said')).toMatchObject([{ level: 'warn', fields }]);
});

it('ends the thread of a handler that spins, at its timeout', async () => {
  const loom = harness.loom([spin, echo]);
  const worker = loom.worker({ concurrency: 1 });
  const seen = observe(worker);
  await worker.start();
  const handle = await loom.enqueue(spin);
  await seen.count('task.started', 1);
  await harness.clock.advance('1s');
  await seen.count('task.started', 2);
  await harness.clock.advance('1s');
  await expect(handle.result()).rejects.toMatchObject({ failureType: 'timeout' });
  expect(worker.running).toBe(0);
  expect(await (await loom.enqueue(echo, 'after')).result()).toMatchObject({ input: 'after' });
});

it('ends the thread of a handler that is canceled', async () => {
  const loom = harness.loom([spin]);
  const worker = loom.worker();
  const seen = observe(worker);
  await worker.start();
  const handle = await loom.enqueue(spin);
  await seen.count('task.started', 1);
  await loom.tasks.cancel(handle.id);
  await expect(handle.result()).rejects.toMatchObject({ code: 'TASK_CANCELED' });
  await harness.until(() => worker.running === 0);
});

it.each([
  ['throw', 'error', 'RangeError', 2],
  ['fatal', 'error', 'Fatal', 1],
  ['exit', 'error', 'ThreadEndedError', 2],
  ['crash', 'error', 'ThreadEndedError', 2],
  ['function', 'invalid-result', 'InvalidResultError', 1],
  ['date', 'invalid-result', 'InvalidResultError', 1],
  // O18
])('a thread that ends by "%s" is a failed attempt', async (how, failureType, name, starts) => {
  const loom = harness.loom([act]);
  const worker = loom.worker();
  const seen = observe(worker);
  await worker.start();
  const handle = await loom.enqueue(act, how);
  await expect(handle.result()).rejects.toMatchObject({ failureType, errorName: name });
  expect(seen.of('task.started')).toHaveLength(starts);
});

it('says when there is no such module or export', async () => {
  const missing = threadTask<Act>('missing', { ...options, retries: 0, exportName: 'none' });
  const loom = harness.loom([missing]);
  await loom.worker().start();
  const handle = await loom.enqueue(missing, 1);
  await expect(handle.result()).rejects.toThrow('no function named none');
});
