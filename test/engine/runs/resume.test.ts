/** A failed run is put back under its own id, and goes on from what it has. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { TaskNotFoundError, WrongStateError } from '../../../src/domain/errors/errors.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';

const forms = ['dispatched', 'driven'] as const;

eachBackend((open) => {
  const harness = opened(open);
  /** Nodes in the order of their calls. */
  let calls: string[];
  /** Nodes that fail. */
  let broken: Set<string>;
  beforeEach(async () => {
    calls = [];
    broken = new Set();
  });

  const part = (name: string) =>
    task(name, { retries: 0 }, async (n: number) => {
      calls.push(name);
      if (broken.has(name)) throw new Error(`${name} is broken`);
      return n + 1;
    });
  const sum = task('sum', (all: readonly number[]) => all.reduce((a, b) => a + b, 0));

  async function working(tasks: Parameters<Harness['loom']>[0]): Promise<Fairloom> {
    const loom = harness.loom(tasks);
    await loom.worker({ concurrency: 4 }).start();
    return loom;
  }

  describe.each(forms)('resume of a %s run', (form) => {
    const [a, b, c, d] = [part('a'), part('b'), part('c'), part('d')];

    it('runs what failed and what follows; what has finished not', async () => {
      const whole = a.pipe(b).pipe(c);
      const loom = await working([whole]);
      broken.add('b');
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      await refusal(settled(harness, run.result()));
      broken.clear();
      const again = await loom.runs.resume('r');
      expect(again).toMatchObject({ id: 'r', created: false });
      expect(await settled(harness, again.result())).toBe(4);
      expect(calls).toEqual(['a', 'b', 'b', 'c']);
      expect(await loom.runs.get('r')).toMatchObject({
        state: 'finished',
        nodes: ['a', 'b', 'c'].map((node) => ({ node, state: 'finished' })),
      });
    });

    it('may fail and be resumed many times', async () => {
      const whole = a.pipe(parallel(b, c, d)).pipe(sum);
      const loom = await working([whole]);
      for (const name of ['b', 'c', 'd']) broken.add(name);
      const run = await loom.enqueue(whole, 1, { form });
      for (const name of ['b', 'c', 'd']) {
        await refusal(settled(harness, run.result()));
        await harness.quiet();
        broken.delete(name);
        await loom.runs.resume(run.id);
      }
      expect(await settled(harness, run.result())).toBe(9);
      const counts = ['a', 'b', 'c', 'd'].map((name) => calls.filter((one) => one === name).length);
      expect(counts).toEqual([1, 2, 3, 4]);
    });

    it('decides a group anew that failed by its policy', async () => {
      const policy = { atLeast: 2 } as const;
      const whole = a
        .pipe(parallel({ b, c, d }, { policy }))
        .pipe(task('show', (value: unknown) => JSON.stringify(value)));
      const loom = await working([whole]);
      for (const name of ['c', 'd']) broken.add(name);
      const run = await loom.enqueue(whole, 1, { form });
      await refusal(settled(harness, run.result()));
      await harness.quiet();
      broken.delete('c');
      // Each that is put back is through before the next one is.
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.redrive' ? { holdReplyUntil: harness.quiet() } : undefined,
      );
      await harness.loom([whole], { backend }).runs.resume(run.id);
      expect(JSON.parse((await settled(harness, run.result())) as string)).toMatchObject({
        b: { ok: true, value: 3 },
        c: { ok: true, value: 3 },
        d: { ok: false },
      });
      expect(calls.toSorted()).toEqual(['a', 'b', 'c', 'c', 'd', 'd']);
    });

    it('leaves a member alone that its group did without', async () => {
      const whole = parallel({ b, c }, { policy: 'bestEffort' }).pipe(
        task('last', { retries: 0 }, () => {
          calls.push('last');
          if (broken.has('last')) throw new Error('last is broken');
          return 'done';
        }),
      );
      const loom = await working([whole]);
      for (const name of ['b', 'last']) broken.add(name);
      const run = await loom.enqueue(whole, 1, { form });
      await refusal(settled(harness, run.result()));
      await harness.quiet();
      broken.clear();
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toBe('done');
      expect(calls.toSorted()).toEqual(['b', 'c', 'last', 'last']);
    });

    it('of one that goes on changes nothing; of one that ended otherwise is refused', async () => {
      const wait = gate();
      const hold = task('hold', async (n: number) => {
        calls.push('hold');
        await wait.passed;
        return n;
      });
      const whole = parallel({ b, hold }, { policy: 'bestEffort' });
      const loom = await working([whole]);
      broken.add('b');
      const run = await loom.enqueue(whole, 1, { form });
      await harness.until(() => calls.length === 2);
      await harness.quiet();
      await loom.runs.resume(run.id);
      await harness.quiet();
      wait.open();
      await settled(harness, run.result());
      expect(calls.toSorted()).toEqual(['b', 'hold']);
      await expect(loom.runs.resume(run.id)).rejects.toMatchObject({ state: 'finished' });
      const other = await loom.enqueue(whole, 1, { form, delay: '1h' });
      await loom.runs.cancel(other.id);
      await expect(loom.runs.resume(other.id)).rejects.toBeInstanceOf(WrongStateError);
      await expect(loom.runs.resume('nobody')).rejects.toBeInstanceOf(TaskNotFoundError);
      const alone = await loom.enqueue(a, 1);
      await expect(loom.runs.resume(alone.id)).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    it('twice at once runs once more', async () => {
      const whole = a.pipe(parallel(b, c)).pipe(sum);
      const loom = await working([whole]);
      broken.add('b');
      const run = await loom.enqueue(whole, 1, { form });
      await refusal(settled(harness, run.result()));
      await harness.quiet();
      broken.clear();
      await Promise.all([1, 2, 3].map(() => loom.runs.resume(run.id)));
      expect(await settled(harness, run.result())).toBe(6);
      expect(calls.toSorted()).toEqual(['a', 'b', 'b', 'c']);
    });

    it('beside a cancel: a canceled run runs nothing more', async () => {
      const whole = a.pipe(parallel(b, c)).pipe(sum);
      const loom = harness.loom([whole]);
      const worker = loom.worker({ concurrency: 4 });
      await worker.start();
      for (const isFirst of [true, false]) {
        calls.length = 0;
        broken.add('b');
        worker.resume();
        const run = await loom.enqueue(whole, 1, { form });
        await refusal(settled(harness, run.result()));
        await harness.quiet();
        worker.pause();
        broken.clear();
        const resumed = isFirst ? refusalOrNone(loom.runs.resume(run.id)) : undefined;
        const canceled = loom.runs.cancel(run.id);
        const late = isFirst ? resumed : refusalOrNone(loom.runs.resume(run.id));
        await Promise.all([late, canceled]);
        const { state } = (await loom.runs.get(run.id)) ?? {};
        worker.resume();
        await settled(
          harness,
          run.result().catch(() => 0),
        );
        await harness.quiet();
        expect(calls.filter((name) => name === 'b')).toHaveLength(state === 'canceled' ? 1 : 2);
      }
    });
  });

  it('takes back what it has put back when a cancel came in between', async () => {
    const [a, b, c] = [part('a'), part('b'), part('c')];
    const whole = a.pipe(b).pipe(c);
    const loom = harness.loom([whole]);
    const worker = loom.worker();
    await worker.start();
    broken.add('b');
    const run = await loom.enqueue(whole, 1);
    await refusal(settled(harness, run.result()));
    await harness.quiet();
    worker.pause();
    broken.clear();
    const [begun, canceled] = [gate(), gate()];
    let changes = 0;
    const backend = flakyBackend(harness.backend, ({ operation }) => {
      if (operation !== 'tasks.redrive' || ++changes === 1) return undefined;
      begun.open();
      return { holdUntil: canceled.passed };
    });
    const resumed = refusal(harness.loom([whole], { backend }).runs.resume(run.id));
    await begun.passed;
    await loom.runs.cancel(run.id);
    canceled.open();
    expect(await resumed).toMatchObject({ code: 'WRONG_STATE', state: 'canceled' });
    worker.resume();
    await harness.clock.advance('1m');
    await harness.quiet();
    expect(calls).toEqual(['a', 'b']);
    const nodes = (await loom.runs.get(run.id))?.nodes ?? [];
    expect(nodes.map(({ state }) => state)).toEqual(['finished', 'canceled', 'canceled']);
  });

  it('ends a resume that broke off half way', async () => {
    const [a, b, c] = [part('a'), part('b'), part('c')];
    const whole = a.pipe(b).pipe(c);
    const loom = await working([whole]);
    broken.add('a');
    const run = await loom.enqueue(whole, 1, { id: 'r' });
    await refusal(settled(harness, run.result()));
    broken.clear();
    for (let steps = 1; steps <= 3; steps++) {
      let left = 1;
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.redrive' && --left < 0 ? 'lose-request' : undefined,
      );
      await refusal(harness.loom([whole], { backend }).runs.resume('r'));
      await harness.quiet();
      expect(calls).toEqual(['a']);
    }
    await loom.runs.resume('r');
    expect(await settled(harness, run.result())).toBe(4);
    expect(calls).toEqual(['a', 'a', 'b', 'c']);
  });

  it('refuses what a canceled node, a lost record or a task outside stands in the way of', async () => {
    const [a, b] = [part('a'), part('b')];
    const loom = await working([a, b]);
    broken.add('a');
    const outside = await loom.enqueue(a, 1);
    await refusal(settled(harness, outside.result()));
    const waiting = await loom.enqueue(b.pipe(a.as('x')), 1, {
      dependsOn: [outside],
      onUpstreamFailure: 'fail',
    });
    await refusal(settled(harness, waiting.result()));
    await expect(loom.runs.resume(waiting.id)).rejects.toMatchObject({
      taskId: outside.id,
      state: 'failed',
    });
    const both = parallel(a, b.as('later')).pipe(sum);
    const run = await loom.enqueue(both, 1);
    await refusal(settled(harness, run.result()));
    const node = (await loom.runs.get(run.id))?.nodes.find((one) => one.node === 'a');
    await harness.quiet();
    await loom.tasks.remove(node?.taskId ?? '');
    await expect(loom.runs.resume(run.id)).rejects.toMatchObject({ taskId: node?.taskId });
  });

  it('of a driven run that waits for its next attempt goes on now', async () => {
    let failures = 1;
    const backoff = { kind: 'fixed', base: '10m', jitter: 'none' } as const;
    const slow = task('slow', { retries: 1, backoff }, async (n: number) => {
      if (failures-- > 0) throw new Error('later');
      return n;
    });
    const whole = slow.pipe(part('a'));
    const loom = await working([whole]);
    const run = await loom.enqueue(whole, 1, { form: 'driven' });
    await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'scheduled');
    const before = harness.clock.now();
    await loom.runs.resume(run.id);
    expect(await settled(harness, run.result())).toBe(2);
    expect(harness.clock.now() - before).toBeLessThan(60_000);
  });

  it('runs members anew that were not started, since their run had ended', async () => {
    const wait = gate();
    const slow = task('slow', { retries: 0 }, async (n: number) => {
      calls.push(`slow ${n}`);
      if (calls.length > 1) return n;
      await wait.passed;
      throw new Error('the first');
    });
    const whole = each(slow, { concurrency: 1, failFast: true, policy: 'bestEffort' });
    const loom = harness.loom([whole]);
    const worker = loom.worker({ concurrency: 1 });
    await worker.start();
    const run = await loom.enqueue(whole, [1, 2, 3]);
    await harness.until(() => calls.length === 1);
    worker.pause();
    wait.open();
    await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'queued');
    // Another worker leases the run, and loses it for good.
    const { tasks, workers } = harness.backend;
    const spec = { id: 'other', queues: ['default'], names: ['~drive'], concurrency: 1 };
    await workers.register(spec as never);
    const queues = [{ queue: 'default', weight: 1, pass: 0 }];
    const options = { requestId: 'request00', worker: 'other', limit: 1, leaseMs: 15_000 };
    const { leases } = await tasks.lease({ ...options, queues, wait: false });
    const { id = '', token = '' } = leases[0] ?? {};
    const decision = {
      type: 'dead-letter',
      cause: { type: 'lost', leases: 3 },
      error: '{}',
    } as const;
    await tasks.settle({ worker: 'other', settlements: [{ id, token, decision }] });
    expect(id).toBe(run.id);
    await refusal(settled(harness, run.result()));
    worker.resume();
    await harness.quiet();
    await loom.runs.resume(run.id);
    const values = (await settled(harness, run.result())) as readonly unknown[];
    expect(values).toEqual([1, 2, 3].map((value) => ({ ok: true, value })));
    expect(calls.toSorted()).toEqual(['slow 1', 'slow 1', 'slow 2', 'slow 3']);
  });
});

/** What it rejects with; nothing when it does not. */
function refusalOrNone(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
