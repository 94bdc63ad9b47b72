/** Handlers and steps that wait for time and for signals, in tasks and in both forms of runs. */
import * as client from 'prom-client';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import { prometheus } from '../../../src/metrics.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { sleep, waitFor } from '../../../src/workflow/waits.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { afterEveryCall } from '../../support/every-call.ts';
import { refusal, settled, waitingFor } from '../../support/runs.ts';

const DAY_MS = 86_400_000;

/** Refuses all but numbers. */
const aNumber: StandardSchemaV1<unknown, number> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) =>
      typeof value === 'number' ? { value } : { issues: [{ message: 'is no number' }] },
  },
};

const approved = signal<{ by: string }>('approved');
const counted = signal('counted', aNumber);

eachBackend((open, backendName) => {
  const harness = opened(open);

  const stateOf = async (loom: ReturnType<Harness['loom']>, id: string): Promise<string> =>
    (await loom.tasks.get(id))?.state ?? 'missing';

  const deferred = (loom: ReturnType<Harness['loom']>, id: string): Promise<void> =>
    harness.until(async () => (await stateOf(loom, id)) === 'deferred');

  /** Lets days go by in steps that are no outage. */
  const passDays = async (days: number): Promise<void> => {
    await harness.jump(days * DAY_MS);
    await harness.clock.advance(LIMITS.outagePauseMs + 1_000);
    await harness.quiet();
  };

  describe('ctx.sleep', () => {
    it('holds no slot and no lease, and ends to the tick', async () => {
      const nap = task('nap', async (_: undefined, ctx) => {
        await ctx.sleep('2s');
        return harness.clock.now();
      });
      const other = task('other', () => 'ran');
      const loom = harness.loom([nap, other]);
      await loom.worker({ concurrency: 1 }).start();
      const began = harness.clock.now();
      const handle = await loom.enqueue(nap);
      await deferred(loom, handle.id);
      expect(await settled(harness, (await loom.enqueue(other)).result())).toBe('ran');
      expect(await settled(harness, handle.result())).toBe(began + 2_000);
    });

    it('goes on with its stack after days, and its timeout does not count', async () => {
      const passes: string[] = [];
      const nap = task('nap', { timeout: '1m' }, async (_: undefined, ctx) => {
        passes.push('top');
        await ctx.sleep('3d');
        passes.push('end');
      });
      const loom = harness.loom([nap]);
      await loom.worker().start();
      const handle = await loom.enqueue(nap);
      await deferred(loom, handle.id);
      await passDays(2);
      expect(await stateOf(loom, handle.id)).toBe('deferred');
      await passDays(1);
      await settled(harness, handle.result());
      expect(passes).toEqual(['top', 'end']);
    });

    it('until a moment; one that has passed is no wait', async () => {
      const at = harness.clock.now() + 5_000;
      const nap = task('nap', async (_: undefined, ctx) => {
        await ctx.sleepUntil(new Date(at - 60_000));
        await ctx.sleepUntil(new Date(at));
        return harness.clock.now();
      });
      const loom = harness.loom([nap]);
      await loom.worker().start();
      expect(await settled(harness, (await loom.enqueue(nap)).result())).toBe(at);
    });

    it('does not begin anew on another worker, nor in another attempt', async () => {
      const passes: string[] = [];
      const nap = task('nap', { backoff: { base: 0 } }, async (_: undefined, ctx) => {
        passes.push(`top ${ctx.attempt}`);
        await ctx.sleep('10s');
        passes.push(`woken ${harness.clock.now() - began}`);
        if (ctx.attempt === 1) throw new Error('again');
      });
      const loom = harness.loom([nap]);
      const first = loom.worker({ concurrency: 1 });
      await first.start();
      const began = harness.clock.now();
      const handle = await loom.enqueue(nap);
      await deferred(loom, handle.id);
      await settled(harness, first.stop({ grace: 0 }));
      await loom.worker({ concurrency: 1 }).start();
      await settled(harness, handle.result());
      expect(passes).toEqual([
        'top 1',
        'top 1',
        'woken 10000',
        'top 2',
        expect.stringMatching(/^woken 1\d{4}$/),
      ]);
      expect(harness.clock.now() - began).toBeLessThan(12_000);
    });

    it('is explained, with the command that ends it', async () => {
      const nap = task('nap', (_: undefined, ctx) => ctx.sleep('3d'));
      const loom = harness.loom([nap]);
      await loom.worker().start();
      const handle = await loom.enqueue(nap);
      await deferred(loom, handle.id);
      const { obstacles } = await loom.tasks.explain(handle.id);
      expect(obstacles).toMatchObject([
        { kind: 'waiting', command: `fairloom tasks run-now ${handle.id}` },
      ]);
      expect(obstacles[0]?.text).toMatch(/^it sleeps until .* \(in 3 d\), since /);
      await loom.tasks.runNow(handle.id);
      await settled(harness, handle.result());
    });

    it('refuses what is no length of time', async () => {
      const nap = task('nap', { retries: 0 }, async (_: undefined, ctx) => {
        await ctx.sleep('soon' as never);
      });
      const loom = harness.loom([nap]);
      await loom.worker().start();
      const handle = await loom.enqueue(nap);
      await expect(settled(harness, handle.result())).rejects.toThrow('duration: expected ms');
    });

    it('a changed order of calls is found, not guessed', async () => {
      let passes = 0;
      const nap = task('nap', { backoff: { base: 0 } }, async (_: undefined, ctx) => {
        if (++passes === 1) await ctx.sleep('1s');
        else await ctx.waitFor(approved);
        throw new Error('again');
      });
      const loom = harness.loom([nap]);
      await loom.worker().start();
      const handle = await loom.enqueue(nap);
      await expect(settled(harness, handle.result())).rejects.toThrow('call 1 of this handler');
      expect(passes).toBe(2);
    });

    it('works here and now too', async () => {
      const nap = task('nap', async (_: undefined, ctx) => {
        await ctx.sleep('2s');
        return 'slept';
      });
      const loom = harness.loom([]);
      expect(await settled(harness, loom.run(nap))).toBe('slept');
      const wait = task('wait', { retries: 0 }, (_: undefined, ctx) => ctx.waitFor(approved));
      expect(await refusal(settled(harness, loom.run(wait)))).toMatchObject({ code: 'NOT_STORED' });
    });
  });

  describe('ctx.waitFor', () => {
    it('gives what comes with the signal, in order, whenever it was sent', async () => {
      const wait = task('wait', async (_: undefined, ctx) => {
        const first = await ctx.waitFor(approved);
        const second = await ctx.waitFor(approved);
        return [first.by, second.by];
      });
      const loom = harness.loom([wait]);
      const handle = await loom.enqueue(wait);
      expect(await loom.signal(handle.id, approved, { by: 'ann' })).toBe('buffered');
      await loom.worker().start();
      await deferred(loom, handle.id);
      expect(await loom.signal(handle.id, approved, { by: 'bob' })).toBe('delivered');
      expect(await settled(harness, handle.result())).toEqual(['ann', 'bob']);
    });

    it('ends with an error when none comes in time, which the handler may catch', async () => {
      const wait = task('wait', async (_: undefined, ctx) =>
        ctx
          .waitFor(approved, { timeout: '10s' })
          .catch((error: { code: string }) => [error.code, harness.clock.now()]),
      );
      const rash = task('rash', async (_: undefined, ctx) =>
        ctx.waitFor(approved, { timeout: 5_000 }),
      );
      const loom = harness.loom([wait, rash]);
      await loom.worker().start();
      const began = harness.clock.now();
      const [one, two] = [await loom.enqueue(wait), await loom.enqueue(rash)];
      const [code, at] = (await settled(harness, one.result())) as [string, number];
      expect(code).toBe('WAIT_TIMED_OUT');
      // Never early; late by what the worker slept at most.
      expect(at - began).toBeGreaterThanOrEqual(10_000);
      expect(at - began).toBeLessThan(11_000);
      await expect(settled(harness, two.result())).rejects.toThrow('signal approved did not come');
      expect(await loom.tasks.attempts(two.id)).toHaveLength(1);
    });

    it('checks what is sent before it is stored, and what comes by its name alone', async () => {
      const wait = task('wait', { retries: 0 }, (_: undefined, ctx) => ctx.waitFor(counted));
      const loom = harness.loom([wait]);
      await loom.worker().start();
      const handle = await loom.enqueue(wait);
      await deferred(loom, handle.id);
      const refused = await refusal(loom.signal(handle.id, counted, 'x' as never));
      expect(refused).toMatchObject({ code: 'INVALID_PAYLOAD' });
      expect(await stateOf(loom, handle.id)).toBe('deferred');
      await loom.signal(handle.id, 'counted', 'x');
      await expect(settled(harness, handle.result())).rejects.toThrow('is no number');
    });

    it('says what it waits for, since nothing else would', async () => {
      const wait = task('wait', (_: undefined, ctx) => ctx.waitFor(approved, { timeout: '1h' }));
      const loom = harness.loom([wait]);
      await loom.worker().start();
      const handle = await loom.enqueue(wait);
      await deferred(loom, handle.id);
      const { obstacles } = await loom.tasks.explain(handle.id);
      expect(obstacles).toMatchObject([
        { kind: 'waiting', command: `fairloom signal ${handle.id} approved` },
      ]);
      expect(obstacles[0]?.text).toMatch(/^it waits for a signal approved since .*, at most until/);
    });

    it('a cancel ends it, and its stack', async () => {
      const reasons: unknown[] = [];
      const wait = task('wait', async (_: undefined, ctx) => {
        await ctx.waitFor(approved).catch((error: unknown) => {
          reasons.push(error);
          throw error;
        });
      });
      const loom = harness.loom([wait]);
      await loom.worker().start();
      const handle = await loom.enqueue(wait);
      await deferred(loom, handle.id);
      await loom.tasks.cancel(handle.id);
      expect(await refusal(settled(harness, handle.result()))).toMatchObject({
        code: 'TASK_CANCELED',
      });
      expect(reasons).toMatchObject([{ code: 'TASK_CANCELED' }]);
      expect(await refusal(loom.signal(handle.id, approved, { by: 'ann' }))).toMatchObject({
        code: 'WRONG_STATE',
        state: 'canceled',
      });
    });

    it('refuses what is no signal, an unknown task, and too much', async () => {
      const wait = task('wait', (_: undefined, ctx) => ctx.waitFor(approved));
      const loom = harness.loom([wait]);
      const { id } = await loom.enqueue(wait);
      const send = (to: string, what: never, options?: object): Promise<unknown> =>
        refusal(loom.signal(to, what, { by: 'x' } as never, options));
      expect(await send('nobody', approved as never)).toMatchObject({ code: 'TASK_NOT_FOUND' });
      expect(await send(id, 'no name' as never)).toMatchObject({ code: 'INVALID_OPTION' });
      expect(await send(id, 7 as never)).toMatchObject({ code: 'INVALID_OPTION' });
      expect(await send('', approved as never)).toMatchObject({ code: 'INVALID_OPTION' });
      expect(await send(id, approved as never, { signalId: '' })).toMatchObject({
        code: 'INVALID_OPTION',
      });
      const half = 'x'.repeat(LIMITS.signalBytes / 2);
      await loom.signal(id, 'large', half);
      expect(await refusal(loom.signal(id, 'large', half))).toMatchObject({
        code: 'SIGNAL_LIMIT',
        limit: 'signalBytes',
      });
      const whole = 'x'.repeat(LIMITS.payloadBytes);
      expect(await refusal(loom.signal(id, 'large', whole))).toMatchObject({
        code: 'INVALID_PAYLOAD',
      });
    });
  });

  it('is counted by what it waits for, with how long the oldest has waited', async () => {
    const shown = prometheus({ client });
    const wait = task('wait', (_: undefined, ctx) => ctx.waitFor(approved));
    const loom = harness.loom([wait], { metrics: shown });
    await loom.worker().start();
    const handle = await loom.enqueue(wait);
    await deferred(loom, handle.id);
    await harness.clock.advance(30_000);
    const text = await shown.text();
    expect(text).toContain('fairloom_waiting_tasks{kind="signal"} 1');
    expect(text).toContain('fairloom_waiting_oldest_seconds{kind="signal"} 30');
    expect(text).toContain('fairloom_waiting_tasks{kind="time"} 0');
  });

  describe('steps that wait', () => {
    const add = task('add', (n: number) => n + 1);
    const join = task('join', ({ by }: { by: string }) => `by ${by}`);
    const step = add.pipe(sleep<number>('1h')).pipe(waitFor(approved)).pipe(join).as('expense');

    for (const form of ['dispatched', 'driven'] as const) {
      it(`pass on what they were given, and what came, ${form}`, async () => {
        const loom = harness.loom([step]);
        await loom.worker({ concurrency: 1 }).start();
        const run = await loom.enqueue(step, 1, { form });
        await harness.quiet();
        expect(await loom.signal(run.id, approved, { by: 'early' })).toBe('buffered');
        expect(await settled(harness, run.result())).toBe('by early');
      });

      it(`a signal to the run reaches the node that waits, ${form}`, async () => {
        const loom = harness.loom([step]);
        await loom.worker({ concurrency: 1 }).start();
        const run = await loom.enqueue(step, 1, { form });
        await settled(harness, harness.clock.advance(3_600_000 + 1_000));
        await waitingFor(harness, loom, 'signal');
        expect(await loom.signal(run.id, approved, { by: 'ann' })).toBe('delivered');
        expect(await settled(harness, run.result())).toBe('by ann');
      });
    }

    it('a node of a driven run sleeps longer than its timeout, also inside of ctx.run', async () => {
      const nap = task('nap', { timeout: '1m' }, async (n: number, ctx) => {
        await ctx.sleep('1d');
        return n + 1;
      });
      const passes: string[] = [];
      const outer = task('outer', { timeout: '1m', retries: 0 }, async (n: number, ctx) => {
        passes.push('top');
        const one = await ctx.run(nap, n);
        await ctx.sleep('1d');
        return one + 1;
      });
      const loom = harness.loom([outer.pipe(add), nap]);
      await loom.worker({ concurrency: 1 }).start();
      const run = await loom.enqueue(outer.pipe(add), 1, { form: 'driven' });
      await deferred(loom, run.id);
      await passDays(1);
      await deferred(loom, run.id);
      await passDays(1);
      expect(await settled(harness, run.result())).toBe(4);
      // Its stack went on: its time was not taken to be over.
      expect(passes).toEqual(['top']);
    });

    it('a dynamic node waits, and chooses by what came', async () => {
      const low = task('low', () => 'low');
      const ask = dynamic('ask', async (_: number, ctx) => {
        const n = await ctx.waitFor(counted);
        return n < 10 ? ctx.next(low) : ctx.terminate('high');
      });
      const loom = harness.loom([ask, low]);
      await loom.worker({ concurrency: 1 }).start();
      for (const [n, end] of [
        [3, 'low'],
        [30, 'high'],
      ] as const) {
        const run = await loom.enqueue(ask, 1);
        await deferred(loom, run.id);
        await loom.signal(run.id, counted, n);
        expect(await settled(harness, run.result())).toBe(end);
      }
    });

    it('members of a group wait each for their own, and share what is sent to the run', async () => {
      const member = task('member', async (n: number, ctx) => n + (await ctx.waitFor(counted)));
      const group = each(member);
      const loom = harness.loom([group]);
      await loom.worker({ concurrency: 1 }).start();
      const run = await loom.enqueue(group, [100, 200, 300]);
      await harness.until(async () => {
        const figures = await loom.tasks.waiting();
        return figures.some(({ kind, count }) => kind === 'signal' && count === 3);
      });
      for (const n of [1, 2, 3]) expect(await loom.signal(run.id, counted, n)).toBe('delivered');
      const given = await settled(harness, run.result());
      expect(given.map((n) => n % 100).toSorted()).toEqual([1, 2, 3]);
    });

    it('two pipelines of one client may have the same steps', async () => {
      const one = add.pipe(sleep<number>('1s')).pipe(waitFor(approved)).as('one');
      const two = add.pipe(sleep<number>('1s')).pipe(waitFor(approved)).as('two');
      const loom = harness.loom([one, two]);
      await loom.worker().start();
      const runs = [await loom.enqueue(one, 1), await loom.enqueue(two, 1)];
      for (const run of runs) await loom.signal(run.id, approved, { by: run.id });
      for (const run of runs) {
        expect(await settled(harness, run.result())).toEqual({ by: run.id });
      }
    });

    it('a group that fails fast ends the waits of the others', async () => {
      const wait = task('wait', (_: number, ctx) => ctx.waitFor(counted));
      const fail = task('fail', { retries: 0 }, async (_: number) => {
        throw new Error('no');
      });
      const group = parallel({ wait, late: sleep<number>('1m').pipe(fail) }, { failFast: true });
      const loom = harness.loom([group]);
      await loom.worker({ concurrency: 2 }).start();
      const run = await loom.enqueue(group, 1);
      await expect(settled(harness, run.result())).rejects.toThrow('late (Error: no)');
      const { items } = await loom.tasks.list({ state: 'deferred' });
      expect(items).toEqual([]);
    });
  });

  it('after every call of a worker that dies, another goes on, and nothing waits twice', async () => {
    const wait = task('wait', { backoff: { base: 0 } }, async (n: number, ctx) => {
      await ctx.sleep('5s');
      const more = await ctx.waitFor(counted);
      await ctx.sleep('5s');
      return n + more;
    });
    const every = { open, backend: backendName, tasks: [wait], least: 8 } as const;
    await afterEveryCall(every, async ({ own, loom, handle, lastCall, startDoomed }) => {
      expect(await loom.signal(handle.id, counted, 7, { signalId: 'one' })).toBe('buffered');
      await startDoomed();
      await own.clock.advance(5_000);
      await own.quiet();
      await loom.worker({ concurrency: 2 }).start();
      const began = own.clock.now();
      expect([lastCall, await settled(own, handle.result())]).toEqual([lastCall, 8]);
      expect(own.clock.now() - began).toBeLessThan(LIMITS.leaseMs + 25_000);
    });
  });
});
