/** Handlers that wait for events, in tasks and in runs. */
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { event } from '../../../src/workflow/event.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { sleep, waitFor } from '../../../src/workflow/waits.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { afterEveryCall } from '../../support/every-call.ts';
import { refusal, settled, waitingFor } from '../../support/runs.ts';

/** Refuses all but numbers. */
const aNumber: StandardSchemaV1<unknown, number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'is no number' }] },
  },
};

eachBackend((open, backendName) => {
  const harness = opened(open);

  type Loom = ReturnType<Harness['loom']>;

  const deferred = (loom: Loom, id: string): Promise<void> =>
    harness.until(async () => (await loom.tasks.get(id))?.state === 'deferred');

  const paid = task('paid', (order: string, ctx) =>
    ctx.waitFor(event<{ cents: number }>('order.paid', order)),
  );

  it('wakes all tasks of its user that wait for it, and no others', async () => {
    const loom = harness.loom([paid]);
    await loom.worker({ concurrency: 1 }).start();
    const [one, two] = [
      await loom.enqueue(paid, 'o-7', { user: 'ann' }),
      await loom.enqueue(paid, 'o-7', { user: 'ann' }),
    ];
    const other = await loom.enqueue(paid, 'o-8', { user: 'ann' });
    const foreign = await loom.enqueue(paid, 'o-7', { user: 'bob' });
    for (const { id } of [one, two, other, foreign]) await deferred(loom, id);
    const options = { user: 'ann', eventId: 'e1' };
    expect(await loom.publish('order.paid', 'o-7', { cents: 7 }, options)).toBe('published');
    expect(await loom.publish('order.paid', 'o-7', { cents: 8 }, options)).toBe('repeated');
    expect(await settled(harness, one.result())).toEqual({ cents: 7 });
    expect(await settled(harness, two.result())).toEqual({ cents: 7 });
    for (const { id } of [other, foreign]) {
      expect((await loom.tasks.get(id))?.state).toBe('deferred');
    }
  });

  it('looks back as far as it says, and times out', async () => {
    const look = task('look', async (within: number, ctx) =>
      ctx
        .waitFor(event<number>('order.paid', 'o-7'), { within, timeout: '5s' })
        .catch(({ code }: { code: string }) => code),
    );
    const loom = harness.loom([look]);
    await loom.publish('order.paid', 'o-7', 1);
    await harness.clock.advance(60_000);
    await loom.worker().start();
    const [back, short] = [await loom.enqueue(look, 61_000), await loom.enqueue(look, 59_000)];
    expect(await settled(harness, back.result())).toBe(1);
    expect(await settled(harness, short.result())).toBe('WAIT_TIMED_OUT');
  });

  it('a handler that starts anew is answered as before; another key is found', async () => {
    let passes = 0;
    const again = task('again', { backoff: { base: 0 } }, async (_: undefined, ctx) => {
      const key = ++passes > 2 ? 'other' : 'o-7';
      throw new Error(String(await ctx.waitFor(event<number>('order.paid', key))));
    });
    const loom = harness.loom([again]);
    await loom.worker().start();
    const handle = await loom.enqueue(again);
    await deferred(loom, handle.id);
    await loom.publish('order.paid', 'o-7', 5);
    await expect(settled(harness, handle.result())).rejects.toThrow('call 1 of this handler');
    expect((await loom.tasks.attempts(handle.id))[0]?.error?.message).toBe('5');
  });

  describe('in runs', () => {
    const show = task('show', ({ cents }: { cents: number }) => `paid ${cents}`);

    for (const form of ['dispatched', 'driven'] as const) {
      it(`a node waits, ${form}`, async () => {
        const step = paid.pipe(show);
        const loom = harness.loom([step]);
        await loom.worker({ concurrency: 1 }).start();
        const run = await loom.enqueue(step, 'o-7', { form });
        await waitingFor(harness, loom, 'event');
        await loom.publish('order.paid', 'o-7', { cents: 7 });
        expect(await settled(harness, run.result())).toBe('paid 7');
      });
    }

    it('steps wait for one event, or for what their input says', async () => {
      const begin = task('begin', (order: string) => ({ order }));
      const show = task('show', ({ cents }: { cents: number }) => `paid ${cents}`);
      const open = waitFor(event<number>('shop.open', 'all'), { within: '1h' });
      const own = waitFor(
        ({ order }: { order: string }) => event<{ cents: number }>('order.paid', order),
        { name: 'payment', timeout: '5s' },
      );
      const days = begin.pipe(own).pipe(show).as('days');
      const gate = open.pipe(task('opened', (n: number) => n + 1)).as('gate');
      for (const form of ['driven', 'dispatched'] as const) {
        const loom = harness.loom([days, gate]);
        const worker = loom.worker({ concurrency: 1 });
        await worker.start();
        const options = { form, user: form };
        const run = await loom.enqueue(days, 'o-9', options);
        await waitingFor(harness, loom, 'event');
        await loom.publish('order.paid', 'o-8', { cents: 8 }, { user: form });
        await loom.publish('order.paid', 'o-9', { cents: 9 }, { user: form });
        expect(await settled(harness, run.result())).toBe('paid 9');
        await loom.publish('shop.open', 'all', 4, { user: form });
        const late = await loom.enqueue(gate, undefined, options);
        expect(await settled(harness, late.result())).toBe(5);
        const unpaid = await loom.enqueue(days, 'o-1', options);
        await waitingFor(harness, loom, 'event');
        await harness.clock.advance('5s');
        expect(await refusal(settled(harness, unpaid.result()))).toMatchObject({
          message: expect.stringContaining('order.paid'),
        });
        await worker.stop();
      }
      expect(waitFor(event('a', 'k'), { timeout: '1s' }).name).toBe('wait-a-1s');
      for (const make of [
        () => waitFor(signal('s'), { within: '1h' }),
        () => waitFor(event('a', 'k'), { within: 'soon' as '1s' }),
        () => waitFor(() => event('a', 'k'), {} as { name: string }),
        () => waitFor({} as never),
      ]) {
        expect(make).toThrow(InvalidOptionError);
      }
    });

    it('members of a group all hear of it', async () => {
      const member = task('member', async (n: number, ctx) => {
        return n + (await ctx.waitFor(event<number>('go', 'all')));
      });
      const loom = harness.loom([each(member)]);
      await loom.worker({ concurrency: 1 }).start();
      const run = await loom.enqueue(each(member), [10, 20, 30]);
      await waitingFor(harness, loom, 'event', 3);
      await loom.publish('go', 'all', 1);
      expect(await settled(harness, run.result())).toEqual([11, 21, 31]);
    });

    it('a group that fails fast ends the waits of the others', async () => {
      const fail = task('fail', { retries: 0 }, async (_: string) => {
        throw new Error('no');
      });
      const group = parallel({ paid, late: sleep<string>('1m').pipe(fail) }, { failFast: true });
      const loom = harness.loom([group]);
      await loom.worker({ concurrency: 2 }).start();
      const run = await loom.enqueue(group, 'o-7');
      await expect(settled(harness, run.result())).rejects.toThrow('late (Error: no)');
      expect((await loom.tasks.list({ state: 'deferred' })).items).toEqual([]);
    });
  });

  it('is checked where a schema is known, and refuses what is none', async () => {
    const wait = task('wait', { retries: 0 }, (_: undefined, ctx) =>
      ctx.waitFor(event('counted', 'k', aNumber)),
    );
    const wrong = task('wrong', async (_: undefined, ctx) =>
      ctx.waitFor(signal('s'), { within: '1h' }).catch(({ code }: { code: string }) => code),
    );
    const loom = harness.loom([wait, wrong]);
    await loom.worker().start();
    const refused = async (...args: readonly unknown[]): Promise<unknown> =>
      Reflect.get(Object(await refusal(loom.publish(...(args as [string, string])))), 'code');
    expect(await refused('no name', 'k')).toBe('INVALID_OPTION');
    expect(await refused('n', '')).toBe('INVALID_OPTION');
    expect(await refused('n', 'k', 1, { keep: '1s' })).toBe('INVALID_OPTION');
    expect(await refused('n', 'k', 'x', { schema: aNumber })).toBe('INVALID_PAYLOAD');
    expect(await refused('n', 'k', 'x'.repeat(LIMITS.eventBytes))).toBe('INVALID_PAYLOAD');
    const handle = await loom.enqueue(wait);
    await deferred(loom, handle.id);
    await loom.publish('counted', 'k', 'x');
    await expect(settled(harness, handle.result())).rejects.toThrow('is no number');
    const other = await loom.enqueue(wrong);
    expect(await settled(harness, other.result())).toBe('INVALID_OPTION');
  });

  it('is explained, with the command that publishes it', async () => {
    const loom = harness.loom([paid]);
    await loom.worker().start();
    const handle = await loom.enqueue(paid, 'o-7', { user: 'ann' });
    await deferred(loom, handle.id);
    const { obstacles } = await loom.tasks.explain(handle.id);
    expect(obstacles).toMatchObject([
      { kind: 'waiting', command: 'fairloom publish order.paid o-7 --user ann' },
    ]);
    expect(obstacles[0]?.text).toMatch(/^it waits for an event order.paid of o-7 since/);
  });

  it('after every call of a worker that dies, another goes on, and no event is lost', async () => {
    const wait = task('wait', { backoff: { base: 0 } }, async (_: number, ctx) => {
      const first = await ctx.waitFor(event<number>('n', 'k'), { within: '1h' });
      await ctx.sleep('5s');
      return first + (await ctx.waitFor(event<number>('m', 'k'), { within: '1h' }));
    });
    const every = { open, backend: backendName, tasks: [wait], least: 6 } as const;
    await afterEveryCall(every, async ({ own, loom, handle, lastCall, startDoomed }) => {
      await startDoomed();
      await loom.publish('n', 'k', 1);
      await own.quiet();
      await own.clock.advance(5_000);
      await own.quiet();
      await loom.publish('m', 'k', 10);
      await loom.worker({ concurrency: 2 }).start();
      expect([lastCall, await settled(own, handle.result())]).toEqual([lastCall, 11]);
    });
  });
});
