/** What a worker does with one task: start, end, retry, timeout, cancel. */
import { describe, expect, it } from 'vitest';
import {
  Fatal,
  LeaseLostError,
  TaskCanceledError,
  TimedOutError,
} from '../../../src/domain/errors/errors.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../src/workflow/tasks/retry-after.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { aborted, observe } from '../../support/workers.ts';

eachBackend((open) => {
  const harness = opened(open);

  describe('a handler', () => {
    it('gets its input fresh from JSON, and its result is stored', async () => {
      const echo = task('echo', async (input: { n: number; gone?: undefined }, ctx) => ({
        ...input,
        user: ctx.user,
        attempt: ctx.attempt,
      }));
      const loom = harness.loom([echo]);
      await loom.worker().start();
      const input = { n: 1, gone: undefined };
      const handle = await loom.enqueue(echo, input, { user: 'acme' });
      expect(await handle.result()).toEqual({ n: 1, user: 'acme', attempt: 1 });
      expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'finished', input: { n: 1 } });
    });

    it('that returns nothing gives undefined', async () => {
      const nothing = task('nothing', async () => undefined);
      const loom = harness.loom([nothing]);
      await loom.worker().start();
      expect(await (await loom.enqueue(nothing)).result()).toBeUndefined();
    });

    it('sees a rising fencing token and its traceparent', async () => {
      const seen: unknown[] = [];
      const look = task('look', { backoff: { base: 0 } }, async (_: undefined, ctx) => {
        seen.push([ctx.fencingToken, ctx.traceparent, ctx.taskId]);
        if (ctx.attempt === 1) throw new Error('once more');
      });
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const loom = harness.loom([look]);
      await loom.worker().start();
      await (await loom.enqueue(look, undefined, { id: 'l', traceparent })).result();
      const tokens = seen.map((one) => (one as number[])[0] ?? 0);
      expect(tokens[1]).toBeGreaterThan(tokens[0] ?? Number.POSITIVE_INFINITY);
      expect(seen[0]).toMatchObject([expect.any(Number), traceparent, 'l']);
    });
  });

  describe('retries', () => {
    it('run after the backoff, with the error kept', async () => {
      const starts: number[] = [];
      const backoff = { base: '10s', jitter: 'none' } as const;
      const flaky = task('flaky', { retries: 2, backoff }, async () => {
        starts.push(harness.clock.now());
        if (starts.length < 3) throw new RangeError(`no ${starts.length}`);
        return 'ok';
      });
      const loom = harness.loom([flaky]);
      await loom.worker().start();
      const handle = await loom.enqueue(flaky);
      await harness.until(() => starts.length === 1);
      await harness.quiet();
      expect(await loom.tasks.get(handle.id)).toMatchObject({
        state: 'scheduled',
        failures: 1,
        error: { name: 'RangeError', message: 'no 1' },
      });
      await harness.clock.advance('10s');
      await harness.until(() => starts.length === 2);
      await harness.quiet();
      await harness.clock.advance('20s');
      expect(await handle.result()).toBe('ok');
      expect(starts.map((at) => at - (starts[0] ?? 0))).toEqual([0, 10_000, 30_000]);
      expect(await loom.tasks.attempts(handle.id)).toMatchObject([
        { attempt: 1, outcome: 'failed', decision: 'retry', error: { message: 'no 1' } },
        { attempt: 2, outcome: 'failed', decision: 'retry', error: { message: 'no 2' } },
        { attempt: 3, outcome: 'succeeded', decision: 'finish' },
      ]);
    });

    it('are of no use to Fatal', async () => {
      const never = task('never', async () => {
        throw new Fatal('wrong address');
      });
      const loom = harness.loom([never]);
      await loom.worker().start();
      const handle = await loom.enqueue(never);
      await expect(handle.result()).rejects.toMatchObject({
        code: 'TASK_FAILED',
        failureType: 'error',
        message: expect.stringContaining('wrong address'),
      });
    });

    it('follow retryAfter, counted or not', async () => {
      const attempts: number[] = [];
      const later = task('later', { retries: 1 }, async (_: undefined, ctx) => {
        attempts.push(ctx.attempt);
        if (attempts.length === 1) throw retryAfter('5s', { countAttempt: false });
        if (attempts.length === 2) throw retryAfter('7s');
      });
      const loom = harness.loom([later]);
      await loom.worker().start();
      const handle = await loom.enqueue(later);
      await harness.until(() => attempts.length === 1);
      await harness.quiet();
      await harness.clock.advance('5s');
      await harness.until(() => attempts.length === 2);
      await harness.quiet();
      await harness.clock.advance('7s');
      await handle.result();
      expect(attempts).toEqual([1, 1, 2]);
    });
  });

  describe('a timeout', () => {
    it('aborts the signal; a handler that notices is retried', async () => {
      const reasons: unknown[] = [];
      const slow = task('slow', { timeout: '2s', retries: 0 }, async (_: undefined, ctx) => {
        await aborted(ctx.signal);
        reasons.push(ctx.signal.reason);
        throw new Error('stopped');
      });
      const loom = harness.loom([slow]);
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      const handle = await loom.enqueue(slow);
      await seen.count('task.started', 1);
      await harness.clock.advance('2s');
      await expect(handle.result()).rejects.toMatchObject({ failureType: 'timeout' });
      expect(reasons[0]).toBeInstanceOf(TimedOutError);
    });

    it('settles a deaf handler after five seconds, and keeps its slot', async () => {
      const end = gate();
      const starts: number[] = [];
      const deaf = task('deaf', { timeout: '1s', retries: 1, backoff: { base: 0 } }, async () => {
        starts.push(harness.clock.now());
        if (starts.length === 1) await end.passed;
      });
      const other = task('other', async () => 'ran');
      const loom = harness.loom([deaf, other]);
      const worker = loom.worker({ concurrency: 2 });
      await worker.start();
      const handle = await loom.enqueue(deaf);
      await harness.until(() => starts.length === 1);
      await harness.clock.advance('6s');
      expect(await loom.tasks.attempts(handle.id)).toMatchObject([
        { cause: { type: 'attempts', failure: 'timeout', made: 1, of: 2 } },
      ]);
      // The retry is leased, and waits for the zombie: nothing runs beside it on this worker.
      expect(starts).toHaveLength(1);
      expect(worker.running).toBe(2);
      end.open();
      await handle.result();
      expect(starts).toHaveLength(2);
      expect(await (await loom.enqueue(other)).result()).toBe('ran');
    });

    it('"none" never comes', async () => {
      const end = gate();
      const long = task('long', { timeout: 'none' }, async (_: undefined, ctx) => {
        await end.passed;
        return ctx.signal.aborted;
      });
      const loom = harness.loom([long], { defaults: { timeout: '1s' } });
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      const handle = await loom.enqueue(long);
      await seen.count('task.started', 1);
      await harness.clock.advance('10s');
      end.open();
      expect(await handle.result()).toBe(false);
    });
  });

  describe('a cancel', () => {
    it('aborts the signal of a running handler, and is the end for any result', async () => {
      const reasons: unknown[] = [];
      const wait = task('wait', async (_: undefined, ctx) => {
        await aborted(ctx.signal);
        reasons.push(ctx.signal.reason);
        return 'finished all the same';
      });
      const loom = harness.loom([wait]);
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      const handle = await loom.enqueue(wait);
      await seen.count('task.started', 1);
      expect(await loom.tasks.cancel(handle.id, { reason: 'changed my mind' })).toMatchObject({
        kind: 'requested',
      });
      await expect(handle.result()).rejects.toBeInstanceOf(TaskCanceledError);
      expect(reasons[0]).toBeInstanceOf(TaskCanceledError);
      expect(await loom.tasks.cancel(handle.id)).toEqual({
        kind: 'already-ended',
        state: 'canceled',
      });
      expect(await loom.tasks.cancel('nobody')).toEqual({ kind: 'not-found' });
    });

    it('reaches another process within a heartbeat', async () => {
      const wait = task('wait', async (_: undefined, ctx) => aborted(ctx.signal));
      const loom = harness.loom([wait]);
      const worker = loom.worker({ lease: '3s' });
      const seen = observe(worker);
      await worker.start();
      const handle = await loom.enqueue(wait);
      await seen.count('task.started', 1);
      // Past the client, as another process would.
      await harness.backend.tasks.cancel(handle.id, { type: 'request', reason: 'elsewhere' });
      await harness.clock.advance('1s');
      await expect(handle.result()).rejects.toMatchObject({
        code: 'TASK_CANCELED',
        message: expect.stringContaining('elsewhere'),
      });
    });

    it('settles a deaf handler after thirty seconds', async () => {
      const end = gate();
      const deaf = task('deaf', async () => end.passed);
      const loom = harness.loom([deaf]);
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      const handle = await loom.enqueue(deaf);
      await seen.count('task.started', 1);
      await loom.tasks.cancel(handle.id);
      await harness.clock.advance('29s');
      expect((await loom.tasks.get(handle.id))?.state).toBe('started');
      await harness.clock.advance('1s');
      expect((await loom.tasks.get(handle.id))?.state).toBe('canceled');
      expect(worker.running).toBe(1);
      end.open();
      await harness.until(() => worker.running === 0);
    });
  });

  describe('a lost lease', () => {
    it('aborts the signal and drops the result', async () => {
      const reasons: unknown[] = [];
      const slow = task('slow', async (_: undefined, ctx) => {
        if (ctx.attempt === 1 && reasons.length === 0) {
          await aborted(ctx.signal);
          reasons.push(ctx.signal.reason);
          return 'late';
        }
        return 'second';
      });
      const backend = flakyBackend(harness.backend, ({ operation, count }) =>
        operation === 'tasks.extend' && count < 12 ? 'lose-request' : undefined,
      );
      const loom = harness.loom([slow], { backend });
      const worker = loom.worker({ lease: '3s' });
      const seen = observe(worker);
      const handle = await loom.enqueue(slow);
      await worker.start();
      await seen.count('task.started', 1);
      await harness.clock.advance('15s');
      await seen.count('lease.lost', 1);
      expect(seen.of('lease.lost')[0]).toMatchObject({ taskId: handle.id, attempt: 1 });
      expect(reasons[0]).toBeInstanceOf(LeaseLostError);
      expect(await handle.result()).toBe('second');
    });
  });
});
