/** Answers and signals that come after the time of a wait, while no worker lives that would have noticed. */
import { describe, expect, it } from 'vitest';
import { signal } from '../../../src/workflow/signal.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { ask } from '../../../src/workflow/waits.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { askerOf } from '../../support/http/api.ts';
import { refusal, settled } from '../../support/runs.ts';

const CHOICES = ['approve', 'reject'] as const;
const QUESTION = { title: 'Pay?', choices: CHOICES, timeout: '1s' } as const;
const go = signal('go');

eachBackend((open) => {
  const harness = opened(open);

  const pay = task('pay', { retries: 0 }, async (_: number, ctx) => {
    return ctx.ask(QUESTION);
  });
  const listen = task('listen', { retries: 0 }, async (_: number, ctx) =>
    ctx.waitFor(go, { timeout: '1s' }),
  );
  const step = task('add', (n: number) => n + 1)
    .pipe(ask(QUESTION))
    .as('expense');

  /** Runs until the question is open, and lets its time pass while no worker lives. */
  async function unheard(
    loom: ReturnType<Harness['loom']>,
    isWaiting: () => Promise<boolean>,
  ): Promise<void> {
    const worker = loom.worker({ concurrency: 1 });
    await worker.start();
    await harness.until(isWaiting);
    await worker.stop();
    await harness.jump(4_000);
  }

  describe('after the time of a wait, before a worker comes back', () => {
    for (const [what, handler, options] of [
      ['of a task', pay, {}],
      ['of a dispatched run', step, { form: 'dispatched' }],
      ['of a driven run', step, { form: 'driven' }],
    ] as const) {
      // F82
      it(`an answer to a question ${what} is refused as timed out, and the task fails by that`, async () => {
        const loom = harness.loom([pay, step]);
        const handle = await loom.enqueue(handler, 1, options);
        let id = '';
        await unheard(loom, async () => {
          id = (await loom.asks.list()).items[0]?.id ?? '';
          return id !== '';
        });
        expect((await loom.asks.list()).items).toEqual([]);
        const path = `/asks/${encodeURIComponent(id)}/answer`;
        const json = { choice: 'approve', by: 'ann' };
        expect(await askerOf(loom)(path, { method: 'POST', json })).toMatchObject({
          status: 409,
          body: { code: 'ASK_CLOSED' },
        });
        const answered = loom.asks.answer(id, { choice: 'approve', by: 'ann' });
        expect(await refusal(answered)).toMatchObject({ code: 'ASK_CLOSED', how: 'timed-out' });
        await loom.worker({ concurrency: 1 }).start();
        await refusal(settled(harness, handle.result()));
        const { taskId } = (await loom.asks.get(id)) ?? {};
        expect((await loom.tasks.get(taskId ?? ''))?.error).toMatchObject({
          code: 'WAIT_TIMED_OUT',
        });
      });
    }

    // F82
    it('a signal is kept for another wait, and the one whose time is over fails', async () => {
      const loom = harness.loom([listen]);
      const handle = await loom.enqueue(listen, 1);
      await unheard(loom, async () => (await loom.tasks.get(handle.id))?.state === 'deferred');
      expect(await loom.signal(handle.id, go, 1)).toBe('buffered');
      await loom.worker({ concurrency: 1 }).start();
      await refusal(settled(harness, handle.result()));
      expect((await loom.tasks.get(handle.id))?.error).toMatchObject({ code: 'WAIT_TIMED_OUT' });
    });
  });
});
