/** A wait that was out of time has failed: a redrive of its task gets a new one. */
import { expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { event } from '../../../src/workflow/event.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { Step } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { refusal, settled, waitingFor } from '../../support/runs.ts';

const LIMIT = { timeout: '10s' } as const;

/** Each wait that may be out of time: how it is asked for, and what ends it well. */
const WAITS = {
  signal: {
    wait: async (ctx: TaskContext) => ctx.waitFor(signal<string>('go'), LIMIT),
    end: async (loom: Fairloom) => {
      const { items } = await loom.tasks.list({ state: 'deferred' });
      const late = items.filter(({ name }) => name === 'late');
      // A node of a driven run is no task of its own.
      const waiting = late.length > 0 ? late : (await loom.runs.list({ state: 'deferred' })).items;
      for (const { id } of waiting) await loom.signal(id, 'go', 'well');
    },
  },
  event: {
    wait: async (ctx: TaskContext) => ctx.waitFor(event<string>('paid', 'o-7'), LIMIT),
    end: async (loom: Fairloom) => void (await loom.publish('paid', 'o-7', 'well')),
  },
  ask: {
    wait: async (ctx: TaskContext) =>
      (await ctx.ask({ title: 'fine?', choices: ['well'], ...LIMIT })).choice,
    end: async (loom: Fairloom) => {
      const [open] = (await loom.asks.list()).items;
      await loom.asks.answer(open?.id ?? '', { choice: 'well', by: 'ann' });
    },
  },
} as const;

type Place = readonly [name: string, made: (late: never) => Step<number, unknown>, options: object];

const list = task('list', async (n: number) => [n]);

/** Wherever it may stand; each is put back by `tasks.redrive`, which resumes a run. */
const PLACES: readonly Place[] = [
  ['a task', (late) => late, {}],
  [
    'a node of a dispatched run',
    (late) =>
      task('one', async (n: number) => n)
        .pipe(late)
        .as('r') as never,
    { form: 'dispatched' },
  ],
  [
    'a node of a driven run',
    (late) =>
      task('one', async (n: number) => n)
        .pipe(late)
        .as('r') as never,
    { form: 'driven' },
  ],
  [
    'a member of a dispatched run',
    (late) => parallel({ a: late }).as('r') as never,
    { form: 'dispatched' },
  ],
  [
    'a member of a driven run',
    (late) => list.pipe(each(late)).as('r') as never,
    { form: 'driven' },
  ],
];

eachBackend((open) => {
  const harness = opened(open);

  for (const [kind, { wait, end }] of Object.entries(WAITS)) {
    for (const [place, made, options] of PLACES) {
      // F85
      it(`${place} whose wait for ${kind} was out of time waits anew once it is put back`, async () => {
        let slept = 0;
        const late = task('late', { retries: 0 }, async (_n: number, ctx) => {
          await ctx.sleep('1s');
          slept++;
          return wait(ctx);
        });
        const step = made(late as never);
        const loom = harness.loom([step, late]);
        await loom.worker().start();
        const handle = await loom.enqueue(step as never, 1 as never, options as never);
        const { id } = handle;
        const old = kind === 'ask' ? await firstAsk(loom) : undefined;
        await refusal(settled(harness, handle.result()));
        expect((await loom.tasks.get(id))?.state).toBe('failed');

        const before = slept;
        await loom.tasks.redrive(id);
        await settled(harness, waitingFor(harness, loom, kind as keyof typeof WAITS));
        const [figure] = await loom.tasks
          .waiting()
          .then((all) => all.filter((one) => one.kind === kind));
        expect(figure?.since).toBeGreaterThanOrEqual(harness.clock.now() - 9_000);
        if (old !== undefined) {
          const [now] = (await loom.asks.list()).items;
          expect(now?.id).not.toBe(old);
          const late = loom.asks.answer(old, { choice: 'well', by: 'eve' });
          expect(await refusal(late)).toMatchObject({ code: 'ASK_CLOSED', how: 'timed-out' });
        }
        await end(loom);
        expect(
          JSON.stringify(await settled(harness, loom.handle(step as never, id).result())),
        ).toContain('well');
        // What has not failed is not waited for again, but where a member is another task.
        if (!place.includes('member of a driven')) expect(slept).toBe(before + 1);
      });

      async function firstAsk(loom: Fairloom): Promise<string> {
        await settled(harness, waitingFor(harness, loom, 'ask'));
        return (await loom.asks.list()).items[0]?.id ?? '';
      }
    }
  }

  // F85
  it('a value in place of an answer is kept when its task is put back', async () => {
    const gives: unknown[] = [];
    const late = task('late', { retries: 0 }, async (_n: number, ctx) => {
      const answer = await ctx.ask({
        title: '?',
        choices: ['a'],
        ...LIMIT,
        onTimeout: { value: 7 },
      });
      gives.push(answer.answered);
      if (gives.length === 1) throw new Error('once');
      return 'well';
    });
    const loom = harness.loom([late]);
    await loom.worker().start();
    const handle = await loom.enqueue(late, 1);
    await refusal(settled(harness, handle.result()));
    const failedAt = harness.clock.now();
    await loom.tasks.redrive(handle.id);
    expect(await settled(harness, handle.result())).toBe('well');
    expect(harness.clock.now() - failedAt).toBeLessThan(9_000);
  });
});
