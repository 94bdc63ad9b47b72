/** However work ends, its spans do: started and ended are counted (B-W34). */
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';
import { type Spans, spans } from '../../support/spans.ts';
import { aborted } from '../../support/workers.ts';

const driven = { form: 'driven' } as const;
const never = new Promise<never>(() => undefined);

eachBackend((open) => {
  let harness: Harness;
  let seen: Spans;
  beforeEach(async () => {
    harness = await open();
    seen = spans();
  });
  afterEach(async () => {
    await harness.close();
    seen.close();
  });

  const inc = task('inc', async (n: number) => n + 1);
  /** Ends when it is asked to. */
  const wait = task('wait', { retries: 0 }, async (_: number, ctx: TaskContext) => {
    await aborted(ctx.signal);
    throw ctx.signal.reason;
  });
  /** Never ends, and looks at no signal. */
  const deaf = task('deaf', { retries: 0, timeout: '10s' }, (_: number) => never);

  function client(tasks: Parameters<Harness['loom']>[0], backend = harness.backend): Fairloom {
    return harness.loom(tasks, { tracer: seen.tracer, backend });
  }

  async function working(tasks: Parameters<Harness['loom']>[0]): Promise<Fairloom> {
    const loom = client(tasks);
    await loom.worker({ concurrency: 4 }).start();
    return loom;
  }

  const outcomes = (name: string): readonly unknown[] =>
    seen.named(name).map(({ attributes }) => attributes['fairloom.outcome']);
  const errors = (some: readonly ReadableSpan[]): readonly unknown[] =>
    some.map(({ attributes }) => attributes['error.type']);
  const isOpen = (name: string) => () => seen.open().includes(name);
  const isStarted = (loom: Fairloom, id: string) => async () =>
    (await loom.tasks.get(id))?.state === 'started';

  /** Nothing is left open, and no span is there that was not begun. */
  function expectBalance(): void {
    expect(seen.open()).toEqual([]);
    expect(seen.ended()).toHaveLength(seen.started.length);
  }

  describe('an attempt', () => {
    it('that throws, is retried, and fails', async () => {
      const fail = task('fail', { retries: 1, backoff: { base: 0 } }, () => {
        throw new RangeError('mine');
      });
      const loom = await working([fail]);
      await refusal(settled(harness, (await loom.enqueue(fail)).result()));
      expectBalance();
      expect(outcomes('process')).toEqual(['retried', 'failed']);
      expect(errors(seen.named('process'))).toEqual(['RangeError', 'RangeError']);
      expect(seen.named('process')[1]).toMatchObject({
        status: { code: 2, message: 'mine' },
        events: [{ name: 'exception' }],
      });
    });

    it('that takes too long, and never settles', async () => {
      const loom = await working([deaf]);
      await refusal(settled(harness, (await loom.enqueue(deaf, 1)).result()));
      expectBalance();
      expect([outcomes('process'), errors(seen.named('process'))]).toEqual([
        ['failed'],
        ['TimedOutError'],
      ]);
    });

    it('whose lease is lost', async () => {
      const backend = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.extend' ? 'lose-request' : undefined,
      );
      const end = gate();
      let calls = 0;
      const slow = task('slow', async () => {
        if (++calls === 1) await end.passed;
      });
      const first = client([slow], backend).worker();
      await first.start();
      const loom = client([slow]);
      const handle = await loom.enqueue(slow);
      await harness.until(isOpen('process default'));
      first.pause();
      await loom.worker().start();
      await harness.clock.advance(LIMITS.leaseMs + 6_000);
      await settled(harness, handle.result());
      await settled(harness, first.stop({ grace: 0 }));
      expectBalance();
      expect(outcomes('process').toSorted()).toEqual(['finished', 'lost']);
      end.open();
    });

    it('that is canceled before it starts, while it runs, and when it looks at no signal', async () => {
      const loom = await working([wait, deaf]);
      for (const step of [wait, deaf]) {
        const handle = await loom.enqueue(step, 1, { timeout: 'none' });
        await harness.until(isStarted(loom, handle.id));
        await loom.tasks.cancel(handle.id);
        await refusal(settled(harness, handle.result()));
      }
      const later = await loom.enqueue(wait, 1, { delay: '1h' });
      await loom.tasks.cancel(later.id);
      expectBalance();
      expect(outcomes('process')).toEqual(['canceled', 'canceled']);
    });

    it('on a worker that stops, with grace and without, and of a client that closes', async () => {
      const loom = client([wait, deaf]);
      for (const stop of ['stop', 'hurry', 'close'] as const) {
        const own = client([wait, deaf]);
        const worker = own.worker();
        await worker.start();
        const handles = [await loom.enqueue(wait, 1), await loom.enqueue(deaf, 1)];
        for (const { id } of handles) await harness.until(isStarted(loom, id));
        if (stop === 'close') await settled(harness, own.close({ timeout: 0 }));
        else await settled(harness, worker.stop({ grace: stop === 'hurry' ? 0 : '1s' }));
        expectBalance();
        if (stop === 'close') break;
        for (const { id } of handles) await harness.backend.tasks.cancel(id, { type: 'request' });
      }
      expect(new Set(outcomes('process'))).toEqual(new Set(['released', 'lost']));
    });

    it('whose input cannot be built, or read', async () => {
      const bad = task('bad', { retries: 0 }, () => 1n as never);
      const loom = await working([inc, bad]);
      await refusal(settled(harness, (await loom.enqueue(bad)).result()));
      const run = await loom.enqueue(inc.pipe(inc.as('two')), 'x' as never);
      await settled(harness, run.result());
      expectBalance();
      expect(errors(seen.named('process'))).toContain('InvalidResultError');
    });

    it('of an unknown task: there is none', async () => {
      const loom = await working([inc]);
      const handle = await loom.enqueueByName('stranger', 1);
      await harness.clock.advance('5s');
      await harness.quiet();
      expect(await loom.tasks.get(handle.id)).toMatchObject({ failures: 0 });
      expectBalance();
      expect(seen.ended().map(({ name }) => name)).toContain('enqueue default');
    });
  });

  describe('a run', () => {
    // B-W34
    it('that fails, dispatched and driven, leaves no span open', async () => {
      const fail = task('fail', { retries: 1, backoff: { base: 0 } }, (_: number): number => {
        throw new RangeError('mine');
      });
      const whole = inc.pipe(parallel({ fail, inc: inc.as('b') }));
      const loom = await working([whole]);
      for (const form of ['dispatched', 'driven'] as const) {
        const run = await loom.enqueue(whole, 1, { form });
        await refusal(settled(harness, run.result()));
      }
      await harness.quiet();
      expectBalance();
      expect(outcomes('group')).toEqual(['suspended', 'failed']);
    });

    it('that waits, is canceled then, or left by its worker', async () => {
      const whole = inc.pipe(parallel({ wait, inc: inc.as('b') }));
      const loom = client([whole]);
      const worker = loom.worker({ concurrency: 4 });
      await worker.start();
      const run = await loom.enqueue(whole, 1, driven);
      await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'deferred');
      await settled(harness, loom.runs.cancel(run.id, { wait: true }));
      const left = await loom.enqueue(whole, 1, driven);
      await harness.until(async () => (await loom.tasks.get(left.id))?.state === 'deferred');
      await settled(harness, worker.stop({ grace: 0 }));
      expectBalance();
      expect(outcomes('group')).toEqual(['suspended', 'suspended']);
    });

    it('whose node hangs: canceled, timed out, lost and stopped', async () => {
      const hang = task('hang', { retries: 0, timeout: 'none' }, (_: number) => never);
      const late = task('late', { retries: 0, timeout: '1s' }, (_: number) => never);
      const loom = await working([hang, late]);
      const first = await loom.enqueue(hang.pipe(inc) as never, 1 as never, driven);
      await harness.until(isOpen('node hang'));
      await loom.tasks.cancel(first.id);
      await refusal(settled(harness, first.result()));
      const second = await loom.enqueue(late.pipe(inc) as never, 1 as never, driven);
      await refusal(settled(harness, second.result()));
      expectBalance();
      const own = client([hang]);
      const worker = own.worker();
      await loom.enqueue(hang.pipe(inc) as never, 1 as never, driven);
      await worker.start();
      await harness.until(isOpen('node hang'));
      await settled(harness, worker.stop({ grace: 0 }));
      await settled(harness, loom.close({ timeout: 0 }));
      expectBalance();
      expect(outcomes('node')).toEqual(['canceled', 'failed', 'lost']);
    });

    it('whose code is not here', async () => {
      const loom = await working([inc]);
      const unknown = task('strange', (n: number) => n);
      const run = await loom.enqueue(inc.pipe(unknown), 1, driven);
      await harness.until(() => outcomes('process').length > 0);
      expectBalance();
      expect(outcomes('process')).toEqual(['released']);
      await loom.runs.cancel(run.id);
    });

    it('of which a handler decides: again, next, goto, terminate, cancelRun', async () => {
      const ends = {
        next: dynamic('next', (n: number, ctx) => ctx.next(inc, n)),
        terminate: dynamic('terminate', (n: number, ctx) => ctx.terminate(n)),
        again: dynamic('again', (n: number, ctx) => (ctx.cycle === 0 ? ctx.again(n) : n)),
        cancelRun: dynamic('cancelRun', (_: number, ctx): number => ctx.cancelRun('enough')),
      };
      const loom = await working(ends);
      for (const step of Object.values(ends)) {
        const run = await loom.enqueue(step as never, 1 as never);
        await settled(harness, run.result()).catch(() => undefined);
      }
      expectBalance();
      expect(outcomes('node cancelRun')).toEqual(['canceled']);
    });
  });

  describe('a handler that waits for its group', () => {
    const outer = task('outer', { retries: 0 }, async (n: number, ctx) =>
      ctx.run(each(wait).as('members'), [n]),
    );

    it.each(['canceled', 'stopped', 'closed'] as const)('and is %s', async (how) => {
      const loom = client([outer, wait]);
      const worker = loom.worker({ concurrency: 1 });
      await worker.start();
      const handle = await loom.enqueue(outer, 1);
      await harness.until(async () => (await loom.tasks.get(handle.id))?.state === 'deferred');
      expect(seen.open()).toEqual(expect.arrayContaining(['process default', 'run members']));
      if (how === 'canceled') {
        await loom.tasks.cancel(handle.id);
        await refusal(settled(harness, handle.result()));
        await settled(harness, worker.stop({ grace: 0 }));
      } else if (how === 'stopped') await settled(harness, worker.stop({ grace: 0 }));
      else await settled(harness, loom.close({ timeout: 0 }));
      expectBalance();
      expect(outcomes('run')).toEqual([how === 'canceled' ? 'canceled' : 'lost']);
    });
  });

  describe('here and now', () => {
    it('by an error, and by a signal', async () => {
      const loom = client([]);
      const fail = task('fail', { retries: 0 }, (_: number): number => {
        throw new Error('mine');
      });
      await refusal(loom.run(inc.pipe(parallel({ fail, inc: inc.as('b') })), 1));
      const over = new AbortController();
      const run = loom.run(inc.pipe(parallel({ deaf, wait })), 1, { signal: over.signal });
      await harness.until(isOpen('node deaf'));
      over.abort(new Error('enough'));
      await refusal(run);
      expectBalance();
      expect(outcomes('run')).toEqual(['failed', 'failed']);
    });
  });
});
