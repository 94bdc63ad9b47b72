/** One trace per run, over all processes that it runs in; it begins with the enqueue. */
import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/domain/errors/errors.ts';
import { call } from '../../../src/enqueue/call.ts';
import { openTelemetry } from '../../../src/tracing/open-telemetry.ts';
import type { Tracer } from '../../../src/tracing/tracer.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, openMemory } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';
import { parentOf, type Spans, spans, traceIds } from '../../support/spans.ts';

const GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const GIVEN_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

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

  /** A client that enqueues only, and one that works, as in two processes. */
  async function pair(tasks: Parameters<Harness['loom']>[0]): Promise<ReturnType<Harness['loom']>> {
    const { tracer } = seen;
    await harness
      .loom(tasks, { tracer })
      .worker({ concurrency: 4, queues: ['default', 'mail'] })
      .start();
    return harness.loom([], { tracer });
  }

  const inc = task('inc', async (n: number) => n + 1);
  const double = task('double', (n: number) => n * 2);
  const both = parallel({ a: inc, b: double }).as('both');

  describe('a task', () => {
    it('is a span of its enqueue and one of its attempt, which is active in the handler', async () => {
      let inHandler: { readonly own: string | undefined; readonly active: unknown } | undefined;
      const look = task('look', { queue: 'mail' }, async (_: number, ctx: TaskContext) => {
        await Promise.resolve();
        inHandler = {
          own: ctx.traceparent,
          active: trace.getSpan(context.active())?.spanContext().spanId,
        };
      });
      const loom = await pair([look]);
      const handle = await loom.enqueue(look, 1, { user: 'acme' });
      await settled(harness, handle.result());
      const [enqueue, attempt] = [seen.named('enqueue')[0], seen.named('process')[0]];
      expect(enqueue).toMatchObject({
        name: 'enqueue mail',
        kind: SpanKind.PRODUCER,
        attributes: {
          'messaging.system': 'fairloom',
          'messaging.operation.name': 'enqueue',
          'messaging.operation.type': 'send',
          'messaging.destination.name': 'mail',
          'messaging.message.id': handle.id,
          'fairloom.task.name': 'look',
        },
      });
      expect(attempt).toMatchObject({
        name: 'process mail',
        kind: SpanKind.CONSUMER,
        parentSpanContext: { spanId: enqueue?.spanContext().spanId },
        status: { code: SpanStatusCode.UNSET },
        attributes: {
          'messaging.operation.type': 'process',
          'messaging.message.id': handle.id,
          'fairloom.user': 'acme',
          'fairloom.attempt': 1,
          'fairloom.outcome': 'finished',
        },
      });
      const { traceId, spanId } = attempt?.spanContext() ?? {};
      expect(inHandler).toEqual({ own: `00-${traceId}-${spanId}-01`, active: spanId });
      expect(traceIds(seen.ended())).toHaveLength(1);
    });

    it('goes on the trace that its caller names, or stands in', async () => {
      const loom = await pair([inc]);
      const named = await loom.enqueue(inc, 1, { traceparent: GIVEN });
      await settled(harness, named.result());
      expect(traceIds(seen.ended())).toEqual([GIVEN_TRACE]);
      expect(seen.named('enqueue')[0]?.parentSpanContext?.spanId).toBe('00f067aa0ba902b7');
      const outer = seen.provider.getTracer('test').startSpan('outer');
      const handle = await context.with(trace.setSpan(context.active(), outer), () =>
        loom.enqueue(inc, 2),
      );
      await settled(harness, handle.result());
      outer.end();
      expect(traceIds(seen.ended().slice(2))).toEqual([outer.spanContext().traceId]);
    });

    it('what a handler enqueues is of its trace; what another caller does, is not', async () => {
      const loom = harness.loom([inc], { tracer: seen.tracer });
      const spawn = task('spawn', async () => {
        await loom.enqueue(inc, 1, { id: 'child' });
      });
      const worker = harness.loom([inc, spawn], { tracer: seen.tracer }).worker();
      const stray = seen.provider.getTracer('test').startSpan('stray');
      await context.with(trace.setSpan(context.active(), stray), () => worker.start());
      await settled(harness, (await loom.enqueue(spawn)).result());
      await harness.until(() => seen.named('process').length === 2);
      expect(traceIds(seen.ended())).toHaveLength(1);
      // Enqueued where nothing traces, and run by a worker that was started inside of a span.
      const silent = await harness.loom([]).enqueue(inc, 1);
      await settled(harness, silent.result());
      stray.end();
      expect(traceIds(seen.ended())).toHaveLength(3);
      expect(seen.named('process').at(-1)?.parentSpanContext).toBeUndefined();
    });

    it('shares the span of its batch, unless it has a trace of its own', async () => {
      const loom = await pair([inc, double]);
      const handles = await loom.enqueueMany([
        call(inc, 1),
        call(double, 2, { traceparent: GIVEN }),
        call(double, 3),
      ]);
      await settled(harness, Promise.all(handles.map((handle) => handle.result())));
      const [batch] = seen.named('enqueue');
      expect(batch?.attributes).toMatchObject({ 'messaging.batch.message_count': 3 });
      const own = batch?.spanContext().traceId ?? '';
      const of = seen.named('process').map((span) => span.spanContext().traceId);
      expect(of.sort()).toEqual([own, own, GIVEN_TRACE].sort());
    });

    it('is refused as before when its options are wrong', async () => {
      const loom = await pair([inc]);
      for (const traceparent of ['nonsense', 7 as never]) {
        await expect(loom.enqueue(inc, 1, { traceparent })).rejects.toBeInstanceOf(
          InvalidOptionError,
        );
      }
      await expect(loom.enqueue(inc, 1, 5 as never)).rejects.toBeInstanceOf(InvalidOptionError);
      await expect(loom.enqueue(inc, 1, { user: '' })).rejects.toBeInstanceOf(InvalidOptionError);
      expect(seen.open()).toEqual([]);
    });
  });

  describe('a run is one trace', () => {
    it('dispatched', async () => {
      const whole = inc.pipe(both).pipe(task('show', (value: unknown) => JSON.stringify(value)));
      const loom = await pair([whole]);
      const run = await loom.enqueue(whole, 1);
      await settled(harness, run.result());
      expect(traceIds(seen.ended())).toHaveLength(1);
      const [enqueue] = seen.named('enqueue');
      const attempts = seen.named('process');
      expect(attempts.map(({ attributes }) => attributes['fairloom.run.node']).sort()).toEqual([
        'both.double',
        'both.inc',
        'inc',
        'show',
      ]);
      for (const one of attempts) expect(parentOf(seen.ended(), one)).toBe(enqueue);
    });

    it('driven: nodes are parts of its leases, members of the group that stored them', async () => {
      const inner = inc
        .as('before')
        .pipe(parallel({ c: inc, d: double }))
        .as('inner');
      const whole = inc.pipe(parallel({ a: double, inner })).as('whole');
      const loom = await pair([whole]);
      const run = await loom.enqueue(whole, 1, { form: 'driven' });
      await settled(harness, run.result());
      const all = seen.ended();
      expect(traceIds(all)).toHaveLength(1);
      const way = (name: string): readonly string[] => {
        const names: string[] = [];
        let span = all.find((one) => one.name === name);
        for (; span !== undefined; span = parentOf(all, span)) names.push(span.name);
        return names;
      };
      expect(way('node inc')).toEqual(['node inc', 'process default', 'enqueue default']);
      const [, ...above] = way('group of inner.double');
      expect(above).toEqual([
        'process default',
        'group of double',
        'process default',
        'enqueue default',
      ]);
      const outcomes = seen.named('group').map(({ attributes }) => attributes['fairloom.outcome']);
      expect(outcomes.sort()).toEqual(['finished', 'finished', 'suspended', 'suspended']);
      expect(seen.open()).toEqual([]);
    });

    it('of a handler: its steps are parts of its attempt, across a wait for a group', async () => {
      const outer = task('outer', async (n: number, ctx) => {
        const { a, b } = await ctx.run(both, await ctx.run(inc, n));
        return a + b;
      });
      const loom = await pair([outer, both]);
      await settled(harness, (await loom.enqueue(outer, 1)).result());
      const all = seen.ended();
      expect(traceIds(all)).toHaveLength(1);
      const attempt = all.find(
        ({ attributes }) =>
          attributes['fairloom.task.name'] === 'outer' &&
          attributes['messaging.operation.type'] === 'process',
      );
      const runs = seen.named('run');
      expect(runs.map(({ name }) => name)).toEqual(['run inc', 'run both']);
      for (const run of runs) expect(parentOf(all, run)).toBe(attempt);
      const members = all.filter(({ attributes }) => attributes['fairloom.run.node'] === 'both/a');
      expect(members.map((one) => parentOf(all, one)?.name)).toEqual(['group both']);
      expect(seen.open()).toEqual([]);
    });

    it('here and now', async () => {
      const outer = task('outer', async (n: number, ctx) => ctx.run(both, n));
      const loom = harness.loom([], { tracer: seen.tracer });
      await loom.run(outer, 1);
      await loom.run(outer.pipe(task('fine', () => 1)), 1);
      expect(traceIds(seen.ended())).toHaveLength(2);
      expect(
        seen
          .ended()
          .map(({ name }) => name)
          .slice(0, 6),
      ).toEqual(['node double', 'node inc', 'group both', 'run both', 'node outer', 'run outer']);
      expect(seen.open()).toEqual([]);
    });
  });
});

describe('a client without a tracer', () => {
  it('hands on what its caller gave, in every form, and makes nothing up', async () => {
    const harness = await openMemory();
    const got: (string | undefined)[] = [];
    const look = task('look', (n: number, ctx: TaskContext) => {
      got.push(ctx.traceparent);
      return n;
    });
    const outer = task('outer', async (n: number, ctx) => {
      got.push(ctx.traceparent);
      return ctx.run(parallel({ a: look, b: look.as('b') }), n);
    });
    const whole = outer.pipe(task('drop', () => 1)).pipe(parallel({ c: look.as('c') }));
    const loom = harness.loom([whole]);
    await loom.worker({ concurrency: 4 }).start();
    for (const form of ['dispatched', 'driven'] as const) {
      const run = await loom.enqueue(whole, 1, { form, traceparent: GIVEN });
      await settled(harness, run.result());
    }
    expect(got).toEqual(Array.from({ length: 8 }, () => GIVEN));
    got.length = 0;
    await settled(harness, (await loom.enqueue(whole, 1)).result());
    expect(got).toEqual(Array.from({ length: 4 }, () => undefined));
    await harness.close();
  });
});

describe('a tracer', () => {
  it('without an SDK hands on what was given', async () => {
    const harness = await openMemory();
    const got: (string | undefined)[] = [];
    const look = task('look', (_: number, ctx: TaskContext) => void got.push(ctx.traceparent));
    const loom = harness.loom([look], { tracer: openTelemetry() });
    await loom.worker().start();
    await settled(harness, (await loom.enqueue(look, 1, { traceparent: GIVEN })).result());
    await settled(harness, (await loom.enqueue(look, 1)).result());
    expect(got).toEqual([GIVEN, undefined]);
    await harness.close();
  });

  it('names spans by tasks when it is asked to', async () => {
    const harness = await openMemory();
    const seen = spans({ spanNames: 'task' });
    const look = task('look', (n: number) => n);
    const loom = harness.loom([look], { tracer: seen.tracer });
    await loom.worker().start();
    await settled(harness, (await loom.enqueue(look, 1)).result());
    expect(seen.ended().map(({ name }) => name)).toEqual(['enqueue look', 'process look']);
    await harness.close();
    seen.close();
  });

  it('that throws, or calls nothing, disturbs no task', async () => {
    const broken = (): never => {
      throw new Error('tracer');
    };
    const span = { traceparent: undefined, within: broken, end: broken };
    const mute = { traceparent: undefined, within: () => undefined, end: () => undefined };
    const tracers: Tracer[] = [{ start: broken }, { start: () => span }, { start: () => mute }];
    for (const tracer of tracers) {
      const harness = await openMemory();
      const both = parallel({ a: task('a', (n: number) => n), b: task('b', (n: number) => n) });
      const outer = task('outer', async (n: number, ctx) => ctx.run(both, n));
      const loom = harness.loom([outer, both], { tracer });
      await loom.worker().start();
      const handle = await loom.enqueue(outer, 1, { traceparent: GIVEN });
      expect(await settled(harness, handle.result())).toEqual({ a: 1, b: 1 });
      await harness.close();
    }
  });

  it('that is none is refused', async () => {
    const harness = await openMemory();
    for (const tracer of [{}, null, 5]) {
      expect(() => harness.loom([], { tracer: tracer as never })).toThrow(InvalidOptionError);
    }
    await harness.close();
  });
});
