/** The log of a task whose handler starts anew behind a wait: what it had logged stands in it once. */
import { expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { type Gate, gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';

const go = signal<string>('go');
const member = task('member', { retries: 0 }, async (_: number, ctx) => {
  await ctx.waitFor(go);
});
const group = parallel({ a: member.as('a') });

/** What a handler may wait for. */
const WAITS: Readonly<Record<string, (ctx: TaskContext) => Promise<unknown>>> = {
  time: (ctx) => ctx.sleep('1m'),
  signal: (ctx) => ctx.waitFor(go),
  'a named signal': (ctx) => ctx.waitFor(go, { id: 'of-ann' }),
  ask: (ctx) => ctx.ask({ title: 'q', choices: ['y'] }),
  group: (ctx) => ctx.run(group, 1),
};
const FORMS = ['task', 'dispatched', 'driven'] as const;
const CASES = FORMS.flatMap((form) => Object.keys(WAITS).map((wait) => [wait, form] as const));

eachBackend((open) => {
  const harness = opened(open);

  /** Its lines, with the number of an attempt that is not the first. */
  async function shown(loom: Fairloom, id: string): Promise<readonly string[]> {
    const lines: string[] = [];
    for await (const { message, attempt } of loom.tasks.logs(id)) {
      lines.push(attempt === 1 ? message : `${message} #${attempt}`);
    }
    return lines;
  }

  const idOf = async (loom: Fairloom): Promise<string | undefined> => {
    for (const state of ['deferred', 'finished'] as const) {
      const { items } = await loom.tasks.list({ state, name: 'talking' });
      if (items[0] !== undefined) return items[0].id;
    }
    return undefined;
  };

  const waiting = (loom: Fairloom, name?: string) =>
    harness.until(async () => {
      const ofName = name === undefined ? {} : { name };
      const { items } = await loom.tasks.list({ state: 'deferred', ...ofName });
      return items.length > 0;
    });

  /** Ends all that waits. */
  async function wake(loom: Fairloom): Promise<void> {
    await harness.clock.advance('1m');
    for (const { id } of (await loom.asks.list()).items) {
      await loom.asks.answer(id, { choice: 'y', by: 'ann' });
    }
    const { items } = await loom.tasks.list({ state: 'deferred' });
    for (const { id } of items) await loom.signal(id, go, 'on').catch(() => undefined);
  }

  // F129
  it.each(CASES)(
    'behind a wait for %s lines from before are not stored again (%s)',
    async (wait, form) => {
      let starts = 0;
      const talking = task(
        'talking',
        { retries: 0, keepLogs: 'always' },
        async (n: number, ctx) => {
          starts++;
          ctx.log.info('before', { starts });
          await WAITS[wait]?.(ctx);
          ctx.log.info('behind', { starts });
          return n;
        },
      );
      const first = task('first', async (n: number) => n);
      const step = form === 'task' ? talking : first.pipe(talking).as('r');
      const one = harness.loom([step, member]);
      const worker = one.worker();
      await worker.start();
      const options = (form === 'task' ? {} : { form }) as object;
      const handle = await one.enqueue(step as typeof talking, 1, options);
      await waiting(one, form === 'dispatched' ? 'talking' : undefined);
      await harness.until(async () => (await one.tasks.waiting()).some(({ count }) => count > 0));
      await worker.stop();
      const two = harness.loom([step, member]);
      await two.worker().start();
      await wake(two);
      expect(await settled(harness, handle.result())).toBe(1);
      expect(starts).toBe(2);
      const id = form === 'dispatched' ? ((await idOf(two)) ?? '') : handle.id;
      expect(await shown(two, id)).toEqual(['before', 'behind']);
    },
  );

  /** Waits twice, behind a gate each time. */
  function twice(gates: readonly Gate[], failures: readonly number[] = []) {
    let starts = 0;
    return task(
      'twice',
      { retries: 1, backoff: { base: 0 }, keepLogs: 'always' },
      async (n: number, ctx) => {
        starts++;
        ctx.log.info('one');
        await gates[0]?.passed;
        await ctx.sleep('1m');
        ctx.log.info('two');
        if (failures.includes(starts)) throw new Error('no');
        await gates[1]?.passed;
        await ctx.waitFor(go);
        ctx.log.info('three');
        return n;
      },
    );
  }

  // F129
  it('a handler that takes its time on its way back stores nothing again either', async () => {
    const closed = gate();
    const open = gate();
    open.open();
    const fast = twice([open, open]);
    const slow = twice([closed, open]);
    const one = harness.loom([fast]);
    const worker = one.worker();
    await worker.start();
    const handle = await one.enqueue(fast, 1);
    await waiting(one);
    await harness.clock.advance('1m');
    await harness.until(async () => (await one.tasks.waiting())[1]?.count === 1);
    await worker.stop();
    const two = harness.loom([slow]);
    await two.worker().start();
    await two.signal(handle.id, go, 'on');
    await harness.until(async () => (await two.tasks.get(handle.id))?.state === 'started');
    for (let n = 0; n < 3; n++) {
      await harness.clock.advance('1s');
      await harness.quiet();
    }
    closed.open();
    expect(await settled(harness, handle.result())).toBe(1);
    expect(await shown(two, handle.id)).toEqual(['one', 'two', 'three']);
  });

  // F129
  it('the next attempt logs what the one before has logged, once', async () => {
    const open = gate();
    open.open();
    const failing = twice([open, open], [1]);
    const one = harness.loom([failing]);
    const worker = one.worker();
    await worker.start();
    const handle = await one.enqueue(failing, 1);
    await waiting(one);
    await harness.clock.advance('1m');
    await harness.until(async () => (await one.tasks.waiting())[1]?.count === 1);
    await worker.stop();
    const two = harness.loom([failing]);
    await two.worker().start();
    await two.signal(handle.id, go, 'on');
    expect(await settled(harness, handle.result())).toBe(1);
    expect(await shown(two, handle.id)).toEqual(['one', 'two', 'one #2', 'two #2', 'three #2']);
  });
});
