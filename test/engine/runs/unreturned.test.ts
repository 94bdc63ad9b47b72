/** A dynamic handler that asks for what comes next has to return it. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { ControlNotReturnedError } from '../../../src/domain/errors/errors.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { channel } from '../../../src/workflow/channel.ts';
import type { DynamicContext } from '../../../src/workflow/dynamic-context.ts';
import { each } from '../../../src/workflow/parallel.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

const log = channel<{ n: number }>('log');
const inc = task('inc', (n: number) => n + 1);

/** What a handler calls and forgets to return. */
const FORGOTTEN: Readonly<Record<string, (n: number, ctx: DynamicContext<number>) => unknown>> = {
  next: (n, ctx) => ctx.next(inc, n),
  goto: (n, ctx) => ctx.goto(inc, n),
  again: (n, ctx) => ctx.again(n),
  terminate: (n, ctx) => ctx.terminate(n),
  nextTask: (n, ctx) => ctx.nextTask(inc, n),
  nextIteration: (n, ctx) => ctx.nextIteration(n),
};

let calls = 0;
const forgets = Object.entries(FORGOTTEN).map(([call, ask]) =>
  dynamic(`forgets-${call.toLowerCase()}`, { retries: 3 }, async (n: number, ctx) => {
    calls++;
    await ctx.channel(log).add('n', 1);
    ask(n, ctx);
    return n;
  }),
);
const twice = dynamic('twice', (n: number, ctx) => {
  ctx.again(n);
  return ctx.next(inc, n);
});
const nested = dynamic('nested', (n: number, ctx) => ({ next: ctx.next(inc, n) }));
const caught = dynamic('caught', { retries: 0 }, (n: number, ctx): number => {
  ctx.next(inc, n);
  throw new Error('its own');
});
const good = dynamic('good', (n: number, ctx) => ctx.next(inc, n));
const list = task('list', (n: number) => [n]);
const twiceIn = list.pipe(each(twice));

eachBackend((open) => {
  const harness = opened(open);
  beforeEach(async () => {
    calls = 0;
  });

  async function working(): Promise<Fairloom> {
    const loom = harness.loom([...forgets, twiceIn, nested, caught, good, inc]);
    await loom.worker().start();
    return loom;
  }

  /** What a stored run of the step gives or fails with, and one here and now. */
  async function endsOf(loom: Fairloom, step: unknown): Promise<readonly string[]> {
    const said = (result: Promise<unknown>): Promise<string> =>
      settled(harness, result).then(
        (value) => `gave ${JSON.stringify(value)}`,
        (error: Error) => error.message,
      );
    const run = (await loom.enqueue(step as never, 1 as never)) as RunHandle<unknown>;
    return [await said(run.result()), await said(loom.run(step as never, 1 as never))];
  }

  describe('a control that is not returned', () => {
    it.each(Object.keys(FORGOTTEN))(
      // F12
      'ctx.%s: its node fails, once, and says so',
      async (call) => {
        const step = forgets.find(({ name }) => name === `forgets-${call.toLowerCase()}`);
        const errors = await endsOf(await working(), inc.pipe(step as never));
        for (const error of errors) {
          expect(error).toContain(`called ctx.${call} and did not return what that gave`);
        }
        expect(calls).toBe(2);
      },
    );

    // F12
    it('two of them, one returned; one inside of an output; in a member; alone', async () => {
      const loom = await working();
      for (const step of [twice, inc.pipe(twice), twiceIn]) {
        for (const error of await endsOf(loom, step)) {
          expect(error).toContain('twice called ctx.again and did not return');
        }
      }
      for (const error of await endsOf(loom, nested))
        expect(error).toContain('nested called ctx.next');
    });

    // F12
    it('what the handler wrote is not kept, and the error is one of the catalogue', async () => {
      const loom = await working();
      const [first] = forgets;
      const run = (await loom.enqueue(first as never, 1 as never)) as RunHandle<unknown>;
      await expect(settled(harness, run.result())).rejects.toMatchObject({
        errorName: 'ControlNotReturnedError',
      });
      expect(await loom.runs.channels(run.id)).toEqual({});
      const here = loom.run(first as never, 1 as never);
      await expect(here).rejects.toBeInstanceOf(ControlNotReturnedError);
      await expect(here).rejects.toMatchObject({ calls: ['next'], retryable: false });
    });

    // F12
    it('a handler that throws fails by that, and one that returns what it asked for goes on', async () => {
      const loom = await working();
      for (const error of await endsOf(loom, caught)) expect(error).toContain('its own');
      expect(await endsOf(loom, good)).toEqual(['gave 2', 'gave 2']);
    });
  });
});
