/** Groups that a handler waits for no more when it ends: their members, those that run and those that do not yet. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { Fatal } from '../../../src/domain/errors/errors.ts';
import { causeText } from '../../../src/domain/task/cause.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { each } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { type Gate, gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';

const FORMS = ['task', 'driven', 'dispatched'] as const;
type Form = (typeof FORMS)[number];

const NUMBERS = [1, 2, 3, 4];
const counts = channel<{ n: number }>('counts');

/** A group whose first member ends at once; the second says that it has begun, and runs until it is told to end. */
interface Members {
  readonly sub: Step<number, number>;
  readonly begun: number[];
  readonly told: number[];
  readonly second: Gate;
}

function members(): Members {
  const [begun, told]: [number[], number[]] = [[], []];
  const second = gate();
  const sub = task('sub', { retries: 0 }, async (n: number, ctx) => {
    begun.push(n);
    await ctx.channel(counts).add('n', 1);
    if (n === 1) return n;
    second.open();
    await new Promise<void>((resolve) => ctx.signal.addEventListener('abort', () => resolve()));
    told.push(n);
    return n;
  });
  return { sub, begun, told, second };
}

const first = task('first', async (all: number[]) => all);

/** How a handler gives a group up, with what it returns. */
const WAYS: Readonly<Record<string, (ctx: TaskContext, sub: Members) => Promise<string>>> = {
  'that it raced': (ctx, { sub, second }) =>
    Promise.race([
      ctx.run(each(sub, { concurrency: 1 }), NUMBERS).then(() => 'the group'),
      second.passed.then(() => 'own'),
    ]),
  'that it did not await': async (ctx, { sub, second }) => {
    void ctx.run(each(sub, { concurrency: 1 }), NUMBERS);
    await second.passed;
    return 'own';
  },
  'in a node of a step that it did not await': async (ctx, { sub, second }) => {
    void ctx.run(first.pipe(each(sub, { concurrency: 1 })).as('inner'), NUMBERS);
    await second.passed;
    return 'own';
  },
  'of groups': async (ctx, { sub, second }) => {
    const inner = first.pipe(each(sub, { concurrency: 1 })).as('inner');
    return Promise.race([
      ctx.run(each(inner), [NUMBERS]).then(() => 'the group'),
      second.passed.then(() => 'own'),
    ]);
  },
};

eachBackend((open) => {
  const harness = opened(open);

  const enqueue = (loom: Fairloom, step: Step<number, string>, form: Form) =>
    form === 'task' ? loom.enqueue(step, 1) : loom.enqueue(step, 1, { form });

  /** Why those were canceled that belong to a group. */
  const causes = async (loom: Fairloom): Promise<readonly string[]> => {
    const { items } = await loom.tasks.list({ state: 'canceled' });
    return items.map(
      ({ cause }) => (cause === undefined ? '' : causeText(cause)).split(' ')[0] ?? '',
    );
  };

  describe('a group that a handler gives up', () => {
    const cases = FORMS.flatMap((form) => Object.keys(WAYS).map((way) => [way, form] as const));

    // F79
    it.each(cases)('%s ends with the handler (%s)', async (way, form) => {
      const group = members();
      const over = gate();
      const work = task('work', { retries: 0 }, (_: number, ctx) => WAYS[way]?.(ctx, group) ?? '');
      const after = task('after', async (said: string, ctx) => {
        await over.passed;
        return `${said} ${await ctx.channel(counts).get('n')}`;
      });
      const step = form === 'task' ? work : work.pipe(after).as('whole');
      const loom = harness.loom([work, after, first, group.sub]);
      await loom.worker({ concurrency: 8 }).start();
      const handle = await enqueue(loom, step, form);
      await harness.until(() => group.told.length > 0);
      await harness.until(async () => (await loom.tasks.counts()).canceled >= 3);
      await harness.quiet();
      expect(group.begun).toEqual([1, 2]);
      expect(group.told).toEqual([2]);
      over.open();
      expect(await settled(harness, handle.result())).toBe(form === 'task' ? 'own' : 'own 1');
      expect(group.begun).toEqual([1, 2]);
      expect(new Set(await causes(loom))).toEqual(new Set(['run']));
      const { queued, deferred, started } = await loom.tasks.counts();
      expect({ queued, deferred, started }).toEqual({ queued: 0, deferred: 0, started: 0 });
    });

    // F79
    it.each(FORMS)('by throwing ends with the handler (%s)', async (form) => {
      const group = members();
      const work = task('work', { retries: 0 }, async (_: number, ctx): Promise<string> => {
        void ctx.run(each(group.sub, { concurrency: 1 }), NUMBERS).catch(() => undefined);
        await group.second.passed;
        throw new Fatal('no more');
      });
      const after = task('after', async (said: string) => said);
      const step = form === 'task' ? work : work.pipe(after).as('whole');
      const loom = harness.loom([work, after, group.sub]);
      await loom.worker({ concurrency: 8 }).start();
      const handle = await enqueue(loom, step, form);
      await expect(settled(harness, handle.result())).rejects.toThrow(/no more|fatal|failed/);
      await harness.until(() => group.told.length > 0);
      await harness.until(async () => (await loom.tasks.counts()).canceled >= 3);
      expect(group.begun).toEqual([1, 2]);
      expect(group.told).toEqual([2]);
    });

    // F79
    it.each(FORMS)('and that its next attempt waits for again goes on (%s)', async (form) => {
      const [begun, told]: [number[], number[]] = [[], []];
      const [second, go] = [gate(), gate()];
      const sub = task('sub', { retries: 0 }, async (n: number, ctx) => {
        begun.push(n);
        ctx.signal.addEventListener('abort', () => told.push(n));
        if (n === 2) second.open();
        if (n === 2) await go.passed;
        return n;
      });
      let tries = 0;
      const options = { retries: 1, backoff: { base: 0 } } as const;
      const work = task('work', options, async (_: number, ctx): Promise<string> => {
        const all = ctx.run(each(sub, { concurrency: 1 }), NUMBERS);
        if (++tries === 1) {
          await second.passed;
          throw new Error('once');
        }
        go.open();
        return JSON.stringify(await all);
      });
      const after = task('after', async (said: string) => said);
      const step = form === 'task' ? work : work.pipe(after).as('whole');
      const loom = harness.loom([work, after, sub]);
      await loom.worker({ concurrency: 8 }).start();
      const handle = await enqueue(loom, step, form);
      expect(await settled(harness, handle.result())).toBe('[1,2,3,4]');
      expect(begun).toEqual(NUMBERS);
      expect(told).toEqual([]);
    });

    const ends = FORMS.flatMap((form) => ['returns', 'throws'].map((end) => [end, form] as const));

    // F79
    it.each(ends)('ends with a step that %s, while its caller goes on (%s)', async (end, form) => {
      const group = members();
      const over = gate();
      const step = task('step', { retries: 0 }, async (_: number, ctx): Promise<string> => {
        void ctx.run(each(group.sub, { concurrency: 1 }), NUMBERS).catch(() => undefined);
        await group.second.passed;
        if (end === 'throws') throw new Fatal('no more');
        return 'own';
      });
      const work = task('work', { retries: 0 }, async (_: number, ctx): Promise<string> => {
        const said = await ctx.run(step, 1).catch(() => 'caught');
        await over.passed;
        return said;
      });
      const after = task('after', async (said: string) => said);
      const whole = form === 'task' ? work : work.pipe(after).as('whole');
      const loom = harness.loom([work, after, step, group.sub]);
      await loom.worker({ concurrency: 8 }).start();
      const handle = await enqueue(loom, whole, form);
      await harness.until(() => group.told.length > 0);
      await harness.until(async () => (await loom.tasks.counts()).canceled >= 3);
      over.open();
      const said = end === 'throws' ? 'caught' : 'own';
      expect(await settled(harness, handle.result())).toBe(said);
      expect(group.begun).toEqual([1, 2]);
      expect(group.told).toEqual([2]);
    });
  });
});
