/** Handlers that a process registers, and workers that do not have them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { UnknownHandlerError } from '../../../src/domain/errors/errors.ts';
import { testLoom } from '../../../src/testing/test-loom.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import {
  type HandledTask,
  handlerTask,
  type TaskHandler,
} from '../../../src/workflow/tasks/handler-task.ts';
import { type Harness, openMemory } from '../../support/backends.ts';
import { keepLog } from '../../support/processes/processes.ts';
import { aborted, observe } from '../../support/workers.ts';

/** Doubles a number, or does what the settings say. */
class Gpu implements TaskHandler {
  readonly seen: HandledTask[] = [];
  closed = 0;

  async run(input: unknown, ctx: Parameters<TaskHandler['run']>[1], handled: HandledTask) {
    this.seen.push(handled);
    if (handled.settings === 'fail once' && ctx.attempt === 1) throw new RangeError('no memory');
    if (handled.settings === 'hang') {
      await aborted(ctx.signal);
      throw ctx.signal.reason;
    }
    return Number(input) * 2;
  }

  async close() {
    this.closed++;
    throw new Error('late');
  }
}

const double = handlerTask<number, number>('double', { handler: 'gpu', settings: { model: 's' } });
const shaky = handlerTask<number, number>('shaky', {
  handler: 'gpu',
  settings: 'fail once',
  backoff: { base: 0 },
});
const hang = handlerTask<number, number>('hang', {
  handler: 'gpu',
  settings: 'hang',
  timeout: '1s',
  retries: 0,
});
const inc = task('inc', async (n: number) => n + 1);

let harness: Harness;
beforeEach(async () => {
  harness = await openMemory();
});
afterEach(() => harness.close());

it('runs tasks with settings and retries, and is closed with the client', async () => {
  const gpu = new Gpu();
  const log = keepLog();
  const loom = harness.loom([double, shaky], { handlers: { gpu }, log });
  await loom.worker().start();
  expect(await (await loom.enqueue(double, 4)).result()).toBe(8);
  expect(await (await loom.enqueue(shaky, 5)).result()).toBe(10);
  expect(await loom.run(double.as('again'), 6)).toBe(12);
  expect(gpu.seen).toContainEqual({ name: 'double', settings: { model: 's' } });
  await loom.close();
  expect(gpu.closed).toBe(1);
  await log.said(/closing a handler failed: late/);
});

it('is told by its signal when a task should end', async () => {
  const loom = harness.loom([hang], { handlers: { gpu: new Gpu() } });
  const worker = loom.worker();
  const seen = observe(worker);
  await worker.start();
  const [slow, canceled] = [await loom.enqueue(hang, 1), await loom.enqueue(hang, 2)];
  await seen.count('task.started', 2);
  await loom.tasks.cancel(canceled.id);
  await expect(canceled.result()).rejects.toMatchObject({ code: 'TASK_CANCELED' });
  await harness.clock.advance('1s');
  await expect(slow.result()).rejects.toMatchObject({ failureType: 'timeout' });
});

// B-W23
it('a worker without the handler leaves the task to one that has it, and says so', async () => {
  const log = keepLog();
  const without = harness.loom([double, inc], { log });
  await without.worker({ id: 'without' }).start();
  const [line] = await log.said(/handler/);
  expect(line).toMatchObject({ level: 'warn', message: expect.stringContaining('"gpu"') });
  const handle = await without.enqueue(double, 4);
  expect(await (await without.enqueue(inc, 1)).result()).toBe(2);
  expect((await without.tasks.get(handle.id))?.state).toBe('queued');
  expect((await without.workers.list())[0]?.names).toEqual(['inc']);

  const having = harness.loom([double], { handlers: { gpu: new Gpu() } });
  await having.worker({ id: 'having' }).start();
  await harness.clock.advance('1m');
  expect(await handle.result()).toBe(8);
});

it('run here without the handler is an error that names it', async () => {
  const loom = harness.loom([double]);
  const error: unknown = await loom.run(double, 1).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UnknownHandlerError);
  expect(error).toMatchObject({ taskName: 'double', handler: 'gpu', retryable: false });
  const both = parallel({ a: double, b: inc });
  const failed: unknown = await loom.run(both, 1).catch((thrown: unknown) => thrown);
  expect(String(failed)).toContain('needs a handler "gpu"');
});

it('a driven run waits for a worker that has the handler', async () => {
  const first = dynamic('first', async (n: number, ctx) => ctx.next(double, n));
  const without = harness.loom([first]);
  const worker = without.worker();
  await worker.start();
  const run = await without.enqueue(first, 3);
  await harness.quiet();
  await worker.stop();
  const having = harness.loom([first, double], { handlers: { gpu: new Gpu() } });
  await having.worker().start();
  await harness.clock.advance('1m');
  expect(await run.result()).toBe(6);
});

it('testLoom runs it stubbed, or as it is registered', async () => {
  await using stubbed = testLoom([double]);
  stubbed.stub(double, (n) => n * 100);
  const handle = await stubbed.enqueue(double, 2);
  await stubbed.drain();
  expect(await handle.result()).toBe(200);
  expect(await stubbed.run(double, 3)).toBe(300);

  await using real = testLoom([double], { handlers: { gpu: new Gpu() } });
  const other = await real.enqueue(double, 2);
  await real.drain();
  expect(await other.result()).toBe(4);

  await using bare = testLoom([double]);
  const left = await bare.enqueue(double, 2);
  await bare.drain();
  expect((await bare.tasks.get(left.id))?.state).toBe('queued');
});

it.each([
  [{ gpu: {} }, 'handlers.gpu'],
  [{ 'a b': new Gpu() }, 'handlers'],
  [7, 'handlers'],
])('refuses handlers that are none: %j', (handlers, option) => {
  expect(() => harness.loom([], { handlers: handlers as never })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', option }),
  );
});
