/** What happens to a driven run while it waits: cancels, retries, days, and no slot to spare. */
import { beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../src/workflow/tasks/retry-after.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';

const driven = { form: 'driven' } as const;
const inc = task('inc', async (n: number) => n + 1);
const sum = task('sum', async (all: readonly number[]) => all.reduce((one, two) => one + two, 0));

/** Days after which an unused graph would be gone twice. */
const LONG_MS = 2 * LIMITS.graphTtlMs + 60_000;

eachBackend((open) => {
  const harness = opened(open);

  /** Nothing is left of any run. */
  async function demandNothingOpen(): Promise<void> {
    const { inspect } = harness.backend;
    await harness.until(async () => {
      const { counts } = await inspect.stats();
      if (counts.started + counts.deferred + counts.queued + counts.scheduled === 0) return true;
      await harness.clock.advance(LIMITS.leaseMs / 3);
      return false;
    });
    expect((await inspect.reconcile({ repair: false })).drift).toEqual([]);
  }

  describe('a driven run that is canceled while it waits', () => {
    const begun: string[] = [];
    const hold = { go: gate(), started: gate() };
    const member = task('member', async (n: number) => {
      begun.push(`member ${n}`);
      hold.started.open();
      await hold.go.passed;
      return n;
    });
    const after = task('after', async (value: unknown) => {
      begun.push('after');
      return value;
    });
    beforeEach(() => {
      begun.length = 0;
      hold.go = gate();
      hold.started = gate();
    });

    it.each([
      ['members', each(member).pipe(after)],
      ['members in chains', each(member, { concurrency: 2 }).pipe(after)],
    ] as const)('by its id alone starts nothing of it any more: %s', async (_, step) => {
      const loom = harness.loom([step]);
      await loom.worker({ concurrency: 1 }).start();
      const run = await loom.enqueue(step, [1, 2, 3, 4], driven);
      await hold.started.passed;
      await loom.tasks.cancel(run.id, { reason: 'enough' });
      hold.go.open();
      await demandNothingOpen();
      // What had begun has ended by itself.
      expect(begun).toEqual(['member 1']);
    });

    it('by its id alone leaves members of members, and goes on with nothing behind them', async () => {
      const inner = each(member, { name: 'in' }).pipe(after.as('inside'));
      const step = each(inner, { name: 'out' }).pipe(after);
      const loom = harness.loom([step]);
      await loom.worker({ concurrency: 1 }).start();
      const run = await loom.enqueue(step, [[1, 2], [3]], driven);
      await hold.started.passed;
      await loom.tasks.cancel(run.id, { reason: 'enough' });
      hold.go.open();
      await demandNothingOpen();
      // The member that waits for them is theirs to ask; it ends when its turn comes.
      expect(begun).not.toContain('after');
      const { items } = await loom.tasks.list({ state: 'canceled' });
      expect(items.filter(({ name }) => name === '~drive')).toHaveLength(3);
    });

    it('as a run ends its members too, at any depth', async () => {
      const step = each(each(member, { name: 'in' }), { name: 'out' }).pipe(after);
      const loom = harness.loom([step]);
      await loom.worker({ concurrency: 1 }).start();
      const run = await loom.enqueue(step, [[1, 2], [3]], driven);
      await hold.started.passed;
      const report = await run.cancel({ reason: 'enough' });
      expect(report.run).toEqual({ kind: 'canceled' });
      hold.go.open();
      expect(await settled(harness, refusal(run.result()))).toMatchObject({ code: 'RUN_CANCELED' });
      await demandNothingOpen();
      expect(begun).toEqual(['member 1']);
      const states = (await loom.tasks.list({ state: 'canceled' })).items.map(({ name }) => name);
      expect(states.filter((name) => name === 'member')).toHaveLength(3);
    });
  });

  it('a retried producer runs the member that failed again, and those that finished not', async () => {
    const calls: string[] = [];
    const part = task('part', { retries: 0 }, async (n: number) => {
      calls.push(`part ${n}`);
      if (n === 2 && calls.filter((call) => call === 'part 2').length < 3) throw new Error('yet');
      return n;
    });
    const first = task('first', async (n: number) => {
      calls.push('first');
      return [n, n + 1, n + 2];
    });
    const inner = each(part, { name: 'inner' }).pipe(sum);
    const step = first
      .pipe(each(task('list', async (n: number) => [n]).pipe(inner)))
      .pipe(sum.as('all'));
    const loom = harness.loom([step]);
    await loom.worker({ concurrency: 2 }).start();
    const run = await loom.enqueue(step, 1, { ...driven, retries: 3, backoff: { base: '1s' } });
    expect(await settled(harness, run.result())).toBe(6);
    expect(calls.toSorted()).toEqual(['first', 'part 1', 'part 2', 'part 2', 'part 2', 'part 3']);
    await demandNothingOpen();
  });

  it('steps that a handler asks for at once run one after the other', async () => {
    const order: string[] = [];
    const step = task('step', async (n: number) => {
      order.push(`${n} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${n} ends`);
      return n;
    });
    const outer = task('outer', async (_: undefined, ctx) =>
      Promise.all([1, 2].map((n) => ctx.run(step, n))),
    );
    const loom = harness.loom([outer, step]);
    await loom.worker().start();
    expect(await settled(harness, (await loom.enqueue(outer)).result())).toEqual([1, 2]);
    expect(order).toEqual(['1 begins', '1 ends', '2 begins', '2 ends']);
  });

  describe('a group with a timeout', () => {
    const far = task('far', { queue: 'far' }, async (n: number) => n);

    it('whose members ended in time finishes, though no worker looked in time', async () => {
      const step = parallel({ far, again: far.as('again') }, { timeout: '20s' });
      const loom = harness.loom([step]);
      const producer = loom.worker();
      await producer.start();
      const run = await loom.enqueue(step, 1, driven);
      await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'deferred');
      await settled(harness, producer.stop());
      await loom.worker({ queues: ['far'] }).start();
      await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'queued');
      await harness.clock.advance('1m');
      await loom.worker().start();
      expect(await settled(harness, run.result())).toEqual({ far: 1, again: 1 });
    });

    it('fails also when the worker that closed it has died before it said so', async () => {
      const step = parallel({ inc, far }, { timeout: '20s', policy: 'bestEffort' });
      const never = new Promise<never>(() => undefined);
      let isDead = false;
      const backend = flakyBackend(harness.backend, ({ operation }) => {
        if (isDead) return { holdUntil: never };
        isDead = operation === 'tasks.cancel';
        return isDead ? { holdReplyUntil: never } : undefined;
      });
      const doomed = harness.loom([step], { backend });
      await doomed.worker().start();
      const loom = harness.loom([step]);
      const run = await loom.enqueue(step, 1, driven);
      await harness.until(async () => {
        await harness.clock.advance(250);
        return isDead;
      });
      await loom.worker().start();
      await expect(settled(harness, run.result())).rejects.toThrow('far (TimedOutError');
    });
  });

  describe('longer than graphs are kept without use', () => {
    const whole = each(parallel({ a: inc, b: inc.as('b') }), { name: 'all' });
    const stepsAfterwards = [{ a: 2, b: 2 }];

    it('a delay', async () => {
      const first = harness.loom([whole]);
      const run = await first.enqueue(whole, [1], { ...driven, delay: LONG_MS });
      await harness.clock.advance(LONG_MS + 1_000);
      // One that has nothing of it in memory.
      await harness.loom([whole]).worker().start();
      expect(await settled(harness, run.result())).toEqual(stepsAfterwards);
    });

    it('a backlog', async () => {
      const first = harness.loom([whole]);
      await first.queues.pause('default');
      const run = await first.enqueue(whole, [1], driven);
      const static_ = await first.enqueue(inc.pipe(inc.as('two')), 1);
      await harness.clock.advance(LONG_MS);
      const second = harness.loom([whole]);
      await second.queues.resume('default');
      await second.worker().start();
      expect(await settled(harness, run.result())).toEqual(stepsAfterwards);
      expect(await settled(harness, static_.result())).toBe(3);
    });

    it('the members of an each', async () => {
      let calls = 0;
      const slow = task('slow', { retries: 1 }, async (n: number) => {
        if (++calls === 1) throw retryAfter(LONG_MS / 2);
        return n;
      });
      const step = each(slow.pipe(inc), { name: 'all' })
        .pipe(each(inc.as('more')))
        .pipe(sum);
      const first = harness.loom([step]);
      const worker = first.worker();
      await worker.start();
      const run = await first.enqueue(step, [1, 2], driven);
      await harness.until(async () => {
        await harness.clock.advance(250);
        return calls === 2;
      });
      await harness.quiet();
      await settled(harness, worker.stop());
      await harness.clock.advance(LONG_MS);
      await harness.loom([step]).worker().start();
      expect(await settled(harness, run.result())).toBe(7);
    });
  });

  describe('depth 4, one slot in the whole fleet, maxRunning 1 for user and queue', () => {
    async function alone(step: unknown, tasks: readonly unknown[]) {
      const loom = harness.loom(tasks as never);
      await loom.users.set('ann', { maxRunning: 1 });
      await loom.queues.set('default', { maxRunning: 1 });
      await loom.worker({ concurrency: 1 }).start();
      const enqueue = (input: unknown, options: object) =>
        loom.enqueue(step as never, input as never, { user: 'ann', ...options } as never);
      return { loom, enqueue };
    }

    it('groups in members in members in members, two runs at once', async () => {
      const deep = each(each(each(each(inc, { name: 'd' }), { name: 'c' }), { name: 'b' }));
      const { enqueue } = await alone(deep, [deep]);
      const runs = await Promise.all([0, 1].map(() => enqueue([[[[1], [2]]], [[[3]]]], driven)));
      const results = runs.map((run) => (run as { result(): Promise<unknown> }).result());
      expect(await settled(harness, Promise.all(results))).toEqual([
        [[[[2], [3]]], [[[4]]]],
        [[[[2], [3]]], [[[4]]]],
      ]);
      await demandNothingOpen();
    });

    it('handlers that wait for members that wait for members, in a driven run', async () => {
      const level = (depth: number, below: Step<number, number>): Step<number, number> =>
        task(`level-${depth}`, async (n: number, ctx: TaskContext) => {
          const all = await ctx.run(each(below), [n, n + 1]);
          return all.reduce((one, two) => one + two, 0);
        }) as unknown as Step<number, number>;
      const two = level(2, level(1, inc as unknown as Step<number, number>));
      const top = each(each(two, { name: 'in' }), { name: 'out' });
      const { enqueue } = await alone(top, [top, two, level(1, inc as never), inc]);
      const run = (await enqueue([[0], [1]], driven)) as { result(): Promise<unknown> };
      // Four leaves below each: n+1, n+2, n+2, n+3.
      expect(await settled(harness, run.result())).toEqual([[8], [12]]);
      await demandNothingOpen();
    });
  });
});
