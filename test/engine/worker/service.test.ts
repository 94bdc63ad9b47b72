/** A worker as a service: its options, its events, its end, and what it says when it is unwell. */
import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Logger } from '../../../src/base/logger.ts';
import { ClosedError, InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { serveUntilSignal } from '../../../src/worker/serve.ts';
import type { WorkerOptions } from '../../../src/worker/worker-options.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened, openMemory } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { aborted, observe } from '../../support/workers.ts';

const quick = task('quick', async () => 'ran');

function keeping(lines: string[]): Logger {
  const keep = (message: string): void => void lines.push(message);
  return { debug: () => undefined, info: keep, warn: keep, error: keep };
}

describe('options', () => {
  it.each<[string, WorkerOptions]>([
    ['id', { id: 'no spaces' }],
    ['concurrency', { concurrency: 0 }],
    ['concurrency', { concurrency: Number.NaN }],
    ['concurrency', { concurrency: 1.5 }],
    ['queues', { queues: [] }],
    ['queues', { queues: ['a b'] }],
    ['queues.a', { queues: { a: 0 } }],
    ['queues', { queues: Array.from({ length: 17 }, (_, at) => `q${at}`) }],
    ['assignedUsers', { assignedUsers: [] }],
    ['assignedUsers', { assignedUsers: ['a', 'a'] }],
    ['assignedUsers', { assignedUsers: Array.from({ length: 1_001 }, (_, at) => `u${at}`) }],
    ['stealTargets', { assignedUsers: ['a'], stealTargets: ['a'] }],
    ['stealTargets', { stealTargets: 'all' as 'any' }],
    ['assignedUsers', { stealTargets: [] }],
    ['lease', { lease: '50ms' }],
    ['lease', { lease: '25h' }],
    ['grace', { grace: -1 }],
    ['decider', { decider: 'none' as unknown as never }],
  ])('refuses a wrong %s', async (option, options) => {
    const harness = await openMemory();
    const loom = harness.loom([quick]);
    let thrown: unknown;
    try {
      loom.worker(options);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidOptionError);
    expect(thrown).toMatchObject({ option });
    await harness.close();
  });
});

eachBackend((open, name) => {
  const harness = opened(open);

  describe('a worker', () => {
    it('serves its queues by weight', async () => {
      const order: string[] = [];
      const note = task('note', async (queue: string) => void order.push(queue));
      const loom = harness.loom([note]);
      for (const queue of ['a', 'b']) {
        const inputs = Array.from({ length: 40 }, () => queue);
        await loom.enqueueMany(note, inputs, { queue });
      }
      const worker = loom.worker({ concurrency: 1, queues: { a: 3, b: 1 } });
      await worker.start();
      await worker.whenIdle();
      expect(order).toHaveLength(80);
      const ofA = order.slice(0, 40).filter((queue) => queue === 'a').length;
      expect(ofA).toBeGreaterThanOrEqual(29);
      expect(ofA).toBeLessThanOrEqual(31);
    });

    it('serves its assigned users first, then whom it may steal from', async () => {
      const order: string[] = [];
      const note = task('note', async (_: undefined, ctx) => void order.push(ctx.user));
      const loom = harness.loom([note]);
      await harness.backend.workers.register({
        id: 'other',
        queues: ['default'],
        names: ['note'],
        assignedUsers: ['theirs'],
        concurrency: 1,
        host: 'test',
      });
      for (const user of ['theirs', 'mine']) {
        await loom.enqueueMany(
          note,
          Array.from({ length: 5 }, () => undefined),
          { user },
        );
      }
      const options = { concurrency: 1, assignedUsers: ['mine'], stealTargets: 'any' } as const;
      const worker = loom.worker(options);
      await worker.start();
      await worker.whenIdle();
      expect(order).toEqual([...Array(5).fill('mine'), ...Array(5).fill('theirs')]);
    });

    it('is listed while it lives, and gone once it has stopped', async () => {
      const loom = harness.loom([quick]);
      const worker = loom.worker({ id: 'me', concurrency: 3, queues: ['default', 'mail'] });
      const seen = observe(worker);
      await worker.start();
      expect(await loom.workers.list()).toMatchObject([
        { id: 'me', concurrency: 3, queues: ['default', 'mail'], names: ['quick'] },
      ]);
      expect(worker.isHealthy).toBe(true);
      expect(await worker.stop()).toEqual({ unfinished: [] });
      expect(await loom.workers.list()).toEqual([]);
      expect(worker.isHealthy).toBe(false);
      expect([seen.of('worker.started'), seen.of('worker.stopped')]).toMatchObject([
        [{ worker: 'me' }],
        [{ worker: 'me', unfinished: [] }],
      ]);
      await expect(loom.worker().stop()).resolves.toEqual({ unfinished: [] });
    });

    it('runs as many tasks at once as it has slots', async () => {
      const end = gate();
      let most = 0;
      let now = 0;
      const hold = task('hold', async () => {
        most = Math.max(most, ++now);
        await end.passed;
        now--;
      });
      const loom = harness.loom([hold]);
      const handles = await loom.enqueueMany(
        hold,
        Array.from({ length: 30 }, () => undefined),
      );
      const worker = loom.worker({ concurrency: 7 });
      await worker.start();
      await harness.until(() => now === 7);
      await harness.quiet();
      expect(await loom.tasks.counts()).toMatchObject({ started: 7, queued: 23 });
      end.open();
      await Promise.all(handles.map((handle) => handle.result()));
      expect(most).toBe(7);
    });

    it('runs more tasks than one lease holds', async () => {
      const loom = harness.loom([quick]);
      const handles = await loom.enqueueMany(
        quick,
        Array.from({ length: 500 }, () => undefined),
      );
      const worker = loom.worker({ concurrency: 200 });
      await worker.start();
      await Promise.all(handles.map((handle) => handle.result()));
      expect(await loom.tasks.counts()).toMatchObject({ finished: 500 });
    });

    it('hears of an enqueue while some of its slots are busy', async () => {
      const end = gate();
      const hold = task('hold', async () => end.passed);
      const loom = harness.loom([hold, quick]);
      await loom.worker({ concurrency: 5 }).start();
      const holding = await loom.enqueue(hold);
      for (let round = 0; round < 5; round++) {
        expect(await (await loom.enqueue(quick)).result()).toBe('ran');
        await harness.quiet();
      }
      end.open();
      await holding.result();
    });

    it('keeps a listener that throws to itself', async () => {
      const lines: string[] = [];
      const loom = harness.loom([quick], { log: keeping(lines) });
      const worker = loom.worker();
      worker.on('task.started', () => {
        throw new Error('bad listener');
      });
      await worker.start();
      expect(await (await loom.enqueue(quick)).result()).toBe('ran');
      expect(lines).toContain('a listener of task.started threw');
    });

    it('follows its own decider, and its rules when that is nonsense', async () => {
      const failing = task('failing', async () => {
        throw new Error('no');
      });
      const loom = harness.loom([failing, quick]);
      const worker = loom.worker({
        decider: (outcome) =>
          outcome.type === 'failed'
            ? { type: 'dead-letter', failureType: 'error', reason: 'mine', error: outcome.error }
            : ('nonsense' as unknown as never),
      });
      await worker.start();
      const failed = await loom.enqueue(failing);
      await expect(failed.result()).rejects.toMatchObject({ code: 'TASK_FAILED' });
      expect(await loom.tasks.get(failed.id)).toMatchObject({
        cause: { type: 'decider', reason: 'mine', failure: 'error' },
        failures: 1,
      });
      expect(await (await loom.enqueue(quick)).result()).toBe('ran');
    });

    it('waits for a backend that is not there yet', async () => {
      let isUp = false;
      const backend = flakyBackend(harness.backend, () => (isUp ? undefined : 'lose-request'));
      const loom = harness.loom([quick], { backend });
      const worker = loom.worker();
      const started = worker.start();
      await harness.clock.advance('10s');
      await expect(loom.enqueue(quick)).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
      isUp = true;
      await harness.clock.advance('2s');
      await started;
      expect(await (await loom.enqueue(quick)).result()).toBe('ran');
    });

    it('stops while the backend is away', async () => {
      let isUp = true;
      const backend = flakyBackend(harness.backend, () => (isUp ? undefined : 'lose-request'));
      const end = gate();
      const hold = task('hold', async () => end.passed);
      const loom = harness.loom([hold], { backend });
      const worker = loom.worker();
      const seen = observe(worker);
      await worker.start();
      await loom.enqueue(hold);
      await seen.count('task.started', 1);
      isUp = false;
      const closed = loom.close({ timeout: '3s' });
      end.open();
      await harness.clock.advance('3s');
      await closed;
      await seen.count('worker.stopped', 1);
      isUp = true;
      expect(seen.of('worker.error').length).toBeGreaterThan(0);
    });

    it('pauses and resumes', async () => {
      const loom = harness.loom([quick]);
      const worker = loom.worker();
      await worker.start();
      worker.pause();
      const handle = await loom.enqueue(quick);
      await harness.clock.advance('10s');
      expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'queued' });
      worker.resume();
      expect(await handle.result()).toBe('ran');
    });
  });

  describe('a signal', () => {
    it('lets handlers end; a second one aborts them', async () => {
      const wait = task('wait', async (_: undefined, ctx) => {
        await aborted(ctx.signal);
        throw ctx.signal.reason;
      });
      const loom = harness.loom([wait]);
      const worker = loom.worker();
      const seen = observe(worker);
      const source = new EventEmitter();
      const served = serveUntilSignal([worker], source);
      const handle = await loom.enqueue(wait);
      await seen.count('task.started', 1);
      source.emit('SIGTERM');
      await harness.quiet();
      expect(seen.of('worker.stopped')).toEqual([]);
      source.emit('SIGTERM');
      expect(await served).toEqual({ unfinished: [] });
      expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'queued', failures: 0 });
      expect(source.listenerCount('SIGTERM')).toBe(0);
    });

    it('names what did not end in time', async () => {
      const deaf = task('deaf', () => new Promise<void>(() => undefined));
      const loom = harness.loom([deaf]);
      const worker = loom.worker({ grace: '1s' });
      const seen = observe(worker);
      const source = new EventEmitter();
      const served = serveUntilSignal([worker], source);
      const handle = await loom.enqueue(deaf);
      await seen.count('task.started', 1);
      source.emit('SIGINT');
      await harness.clock.advance('6s');
      expect(await served).toEqual({ unfinished: [handle.id] });
    });
  });

  describe('two workers', () => {
    it('are drained by one signal, and tell together what did not end', async () => {
      const deaf = task('deaf', () => new Promise<void>(() => undefined));
      const loom = harness.loom([deaf]);
      const workers = ['a', 'b'].map((id) => loom.worker({ id, concurrency: 1, grace: '1s' }));
      const source = new EventEmitter();
      const served = serveUntilSignal(workers, source);
      const handles = await loom.enqueueMany(deaf, [undefined, undefined]);
      await harness.until(() => workers.every(({ running }) => running === 1));
      source.emit('SIGTERM');
      await harness.clock.advance('6s');
      const ids = handles.map(({ id }) => id);
      expect((await served).unfinished.toSorted()).toEqual(ids.toSorted());
    });

    it('end together when one ends by itself', async () => {
      const loom = harness.loom([quick]);
      const [first, second] = [loom.worker({ id: 'a' }), loom.worker({ id: 'b' })];
      const source = new EventEmitter();
      const served = serveUntilSignal([first, second], source);
      await harness.until(async () => (await loom.workers.list()).length === 2);
      await first.stop();
      expect(await served).toEqual({ unfinished: [] });
      expect(await loom.workers.list()).toEqual([]);
      expect(source.listenerCount('SIGTERM')).toBe(0);
    });
  });

  it('warns once when no worker serves a task', async () => {
    const lines: string[] = [];
    const loom = harness.loom([quick], { log: keeping(lines) });
    const other = task('other', async () => undefined);
    await loom.worker().start();
    await loom.enqueue(quick);
    for (let round = 0; round < 3; round++) {
      await loom.enqueue(other);
      await loom.enqueue(quick, undefined, { queue: 'nowhere' });
      await harness.clock.advance('5s');
    }
    expect(lines.filter((line) => line.startsWith('no live worker'))).toEqual([
      'no live worker serves task other in queue default',
      'no live worker serves task quick in queue nowhere',
    ]);
  });

  it('says that the event loop was blocked', async () => {
    const lines: string[] = [];
    const end = gate();
    const hold = task('hold', async () => end.passed);
    const loom = harness.loom([hold], { log: keeping(lines) });
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    const { id } = await loom.enqueue(hold);
    await seen.count('task.started', 1);
    await harness.jump(2_500);
    await harness.clock.advance(1);
    expect(seen.of('worker.blocked')).toEqual([{ ms: expect.any(Number), taskIds: [id] }]);
    expect(lines.join()).toContain('use threadTask');
    end.open();
  });

  it('gives back what a request that was given up had leased', async () => {
    const loom = harness.loom([quick]);
    const end = gate();
    const hold = task('hold', async () => end.passed);
    const both = harness.loom([quick, hold]);
    const worker = both.worker({ concurrency: 2, lease: '3s' });
    const seen = observe(worker);
    await worker.start();
    await both.enqueue(hold);
    await seen.count('task.started', 1);
    await harness.quiet();
    worker.pause();
    const handle = await loom.enqueue(quick);
    // As if the worker had asked, and never got the answer.
    await harness.backend.tasks.lease({
      requestId: 'forgotten01',
      worker: worker.id,
      limit: 1,
      leaseMs: 3_000,
      queues: [{ queue: 'default', weight: 1, pass: 0 }],
      wait: false,
    });
    expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'started' });
    await harness.clock.advance('1s');
    expect(await loom.tasks.get(handle.id)).toMatchObject({ state: 'queued', losses: 0 });
    end.open();
    worker.resume();
    expect(await handle.result()).toBe('ran');
  });

  it(`a worker and a scheduler of ${name} that were stopped do not start again`, async () => {
    const loom = harness.loom([quick]);
    for (const service of [loom.worker(), loom.scheduler()]) {
      await service.start();
      const stopped = service.stop();
      await expect(service.start()).rejects.toBeInstanceOf(ClosedError);
      await stopped;
      await expect(service.start()).rejects.toBeInstanceOf(ClosedError);
    }
    const never = loom.worker();
    await never.stop();
    await expect(never.start()).rejects.toBeInstanceOf(ClosedError);
  });

  it(`closing ${name} ends a worker that was not stopped`, async () => {
    const loom = harness.loom([quick]);
    const worker = loom.worker();
    const seen = observe(worker);
    await worker.start();
    await loom.close();
    expect(seen.of('worker.stopped')).toHaveLength(1);
    await expect(worker.start()).rejects.toBeInstanceOf(ClosedError);
    await expect(loom.stats()).rejects.toBeInstanceOf(ClosedError);
  });
});
