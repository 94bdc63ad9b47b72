/** A wait beside another one, or beside a run: it would not be noticed, so it is refused. */
import { expect, it } from 'vitest';
import { event } from '../../../src/workflow/event.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { embedded, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

const go = signal<string>('go');
const then = signal<string>('then');
const member = task('member', async (n: number) => n);
const group = parallel({ a: member.as('a'), b: member.as('b') });

/** What takes a while, and what errors call it. */
const CALLS = {
  time: [(ctx: TaskContext) => ctx.sleep('1h'), 'a sleep'],
  moment: [(ctx: TaskContext) => ctx.sleepUntil(new Date('2027-01-01')), 'a sleep'],
  signal: [(ctx: TaskContext) => ctx.waitFor(go), 'a wait for signal go'],
  event: [(ctx: TaskContext) => ctx.waitFor(event('paid', 'k')), 'a wait for event paid'],
  ask: [(ctx: TaskContext) => ctx.ask({ title: 'q', choices: ['y'] }), 'a question'],
  run: [(ctx: TaskContext) => ctx.run(group, 1), 'a run'],
} as const;
type Name = keyof typeof CALLS;
const NAMES = Object.keys(CALLS) as readonly Name[];
const PAIRS = NAMES.flatMap((one) => NAMES.map((other) => [one, other] as const)).filter(
  ([one, other]) => one !== 'run' || other !== 'run',
);
const FORMS = ['task', 'dispatched', 'driven'] as const;

embedded((open) => {
  const harness = opened(open);

  /** Enqueues a handler alone, or as a node. */
  async function started(
    form: (typeof FORMS)[number],
    handler: (ctx: TaskContext, n: number) => unknown,
  ) {
    const racing = task('racing', { retries: 5 }, async (n: number, ctx) => handler(ctx, n));
    const first = task('first', async (n: number) => n);
    const step = form === 'task' ? racing : first.pipe(racing).as('r');
    const loom = harness.loom([step, group]);
    await loom.worker().start();
    const options = (form === 'task' ? {} : { form }) as object;
    return { loom, enqueue: (n: number) => loom.enqueue(step as typeof racing, n, options) };
  }

  // F133
  it.each(FORMS)('is refused for every pair that is raced (%s)', async (form) => {
    const starts = PAIRS.map(() => 0);
    const { loom, enqueue } = await started(form, (ctx, n) => {
      starts[n] = (starts[n] ?? 0) + 1;
      const [one = 'time', other = 'time'] = PAIRS[n] ?? [];
      return Promise.race([CALLS[one][0](ctx), CALLS[other][0](ctx)]);
    });
    for (const [n, [one, other]] of PAIRS.entries()) {
      const handle = await enqueue(n);
      const error = await refusal(settled(harness, handle.result()));
      const words = `${CALLS[other][1]} cannot begin beside ${CALLS[one][1]}`;
      expect(String(error)).toContain(words);
    }
    expect(new Set(starts)).toEqual(new Set([1]));
    expect((await loom.tasks.waiting()).map(({ count }) => count)).toEqual([0, 0, 0, 0]);
    expect((await loom.asks.list()).items).toEqual([]);
  });

  // F133
  it.each(FORMS)('is a typed error that the handler may catch, and goes on (%s)', async (form) => {
    const { enqueue } = await started(form, async (ctx) => {
      const first = ctx.sleep('1m');
      const second = await refusal(ctx.waitFor(go, { timeout: '1s' }));
      await first;
      return Reflect.get(Object(second), 'code');
    });
    expect(await settled(harness, (await enqueue(1)).result())).toBe('WAIT_OPEN');
  });

  // F133
  it.each(FORMS)(
    'is none where the one before is over, nor are runs at once (%s)',
    async (form) => {
      const { loom, enqueue } = await started(form, async (ctx) => {
        const late = await refusal(ctx.waitFor(go, { timeout: '1s' }));
        await ctx.sleep('1s');
        const both = await Promise.all([ctx.run(group, 1), ctx.run(group, 2)]);
        const said = await ctx.waitFor(then);
        return [Reflect.get(Object(late), 'code'), both.map(({ a, b }) => a + b), said];
      });
      const handle = await enqueue(1);
      await loom.signal(handle.id, then, 'on');
      expect(await settled(harness, handle.result())).toEqual(['WAIT_TIMED_OUT', [2, 4], 'on']);
    },
  );

  // F133
  it('is refused in a handler that is run here and now, too', async () => {
    const racing = task('racing', { retries: 0 }, async (_: number, ctx) =>
      Promise.race([ctx.sleep('1h'), ctx.sleep('2h')]),
    );
    const loom = harness.loom([racing]);
    const error = await refusal(settled(harness, loom.run(racing, 1)));
    expect(String(error)).toContain('a sleep cannot begin beside a sleep');
  });
});
