/** The timeout of a handler that waits: what counts of it, and what is left. */
import { expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal } from '../../support/runs.ts';

const go = signal<string>('go');
const slow = task('slow', { retries: 0 }, async (n: number, ctx) => {
  await ctx.sleep('1m');
  return n;
});
const group = parallel({ a: slow.as('a'), b: slow.as('b') });

/** What a handler may wait for, for a minute. */
const WAITS: Readonly<Record<string, (ctx: TaskContext) => Promise<unknown>>> = {
  time: (ctx) => ctx.sleep('1m'),
  signal: (ctx) => ctx.waitFor(go, { timeout: '1m' }).catch(() => 'late'),
  group: (ctx) => ctx.run(group, 1),
};
const FORMS = ['task', 'dispatched', 'driven'] as const;
const CASES = FORMS.flatMap((form) => Object.keys(WAITS).map((wait) => [form, wait] as const));

eachBackend((open) => {
  const harness = opened(open);

  /** A handler that works, waits for what is named, and works again. */
  async function started(form: (typeof FORMS)[number], wait: string) {
    const [before, after] = [gate(), gate()];
    const begun = [gate(), gate()];
    const working = task('working', { timeout: '10s', retries: 0 }, async (n: number, ctx) => {
      begun[0]?.open();
      await before.passed;
      await WAITS[wait]?.(ctx);
      begun[1]?.open();
      await after.passed;
      return n;
    });
    const first = task('first', async (n: number) => n);
    const step = form === 'task' ? working : first.pipe(working).as('r');
    const loom = harness.loom([step, slow]);
    await loom.worker().start();
    const options = (form === 'task' ? {} : { form }) as object;
    const handle = await loom.enqueue(step as typeof working, 1, options);
    await begun[0]?.passed;
    return { loom, handle, before, after, begun };
  }

  /** Of the task whose handler waits. */
  async function waiting(loom: Fairloom, form: string, id: string) {
    await suspended(loom, form);
    if (form !== 'dispatched') return loom.tasks.explain(id);
    const { items } = await loom.tasks.list({ state: 'deferred', name: 'working' });
    return loom.tasks.explain(items[0]?.id ?? '');
  }

  const suspended = async (loom: Fairloom, form: string) =>
    harness.until(async () => {
      const ofNode = form === 'dispatched' ? { name: 'working' } : {};
      const { items } = await loom.tasks.list({ state: 'deferred', ...ofNode });
      return items.length > 0;
    });

  // F91
  it.each(CASES)(
    'what a handler works before and behind a wait counts together (%s, %s)',
    async (form, wait) => {
      const { loom, handle, before, begun } = await started(form, wait);
      await harness.clock.advance('4s');
      before.open();
      await suspended(loom, form);
      const over = refusal(handle.result());
      await harness.clock.advance('1m');
      await begun[1]?.passed;
      await harness.clock.advance('5s');
      expect((await loom.tasks.get(handle.id))?.state).not.toBe('failed');
      await harness.clock.advance('10s');
      expect(await over).toMatchObject({ failureType: 'timeout' });
    },
  );

  // F91
  it.each(CASES)('explain says what is left of it while it waits (%s, %s)', async (form, wait) => {
    const { loom, handle, before, after, begun } = await started(form, wait);
    await harness.clock.advance('4s');
    before.open();
    const waits = await waiting(loom, form, handle.id);
    expect(waits?.timeLeftMs).toBe(6_000);
    expect(waits?.obstacles[0]?.text).toMatch(/; 6 s of its timeout are left$/);
    await harness.clock.advance('30s');
    expect((await waiting(loom, form, handle.id))?.timeLeftMs).toBe(6_000);
    await harness.clock.advance('30s');
    await begun[1]?.passed;
    after.open();
    expect(await handle.result()).toBe(1);
    expect(await loom.tasks.explain(handle.id)).not.toHaveProperty('timeLeftMs');
  });

  // F91
  it.each(['dispatched', 'driven'])(
    'explain of a %s run says it of the node that waits',
    async (form) => {
      const { loom, handle, before } = await started(form as 'driven', 'signal');
      before.open();
      await suspended(loom, form);
      const { waitsFor } = await loom.runs.explain(handle.id);
      expect(waitsFor[0]?.why.timeLeftMs).toBe(10_000);
    },
  );

  // F91
  it('explain says what is left of it while it runs, before a wait and behind it', async () => {
    const { loom, handle, before, begun } = await started('task', 'signal');
    await harness.clock.advance('4s');
    const runs = await loom.tasks.explain(handle.id);
    expect(runs.timeLeftMs).toBe(6_000);
    expect(runs.obstacles[0]?.text).toMatch(/; 6 s of its timeout are left$/);
    before.open();
    await suspended(loom, 'task');
    await loom.signal(handle.id, go, 'on');
    await begun[1]?.passed;
    await harness.clock.advance('2s');
    expect((await loom.tasks.explain(handle.id)).timeLeftMs).toBe(4_000);
  });
});
