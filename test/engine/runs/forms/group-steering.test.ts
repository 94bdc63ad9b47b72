/** What a handler throws to steer means the same however deep the group is that it is a member of. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { failureOf } from '../../../../src/attempt/handler-call.ts';
import type { Fairloom } from '../../../../src/client/client.ts';
import { encrypted } from '../../../../src/codec/encrypted.ts';
import { Fatal } from '../../../../src/domain/errors/errors.ts';
import { parallel } from '../../../../src/workflow/parallel.ts';
import type { Step } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../../src/workflow/tasks/retry-after.ts';
import { embedded, type Harness, opened } from '../../../support/backends.ts';
import { settled } from '../../../support/runs.ts';

type Thrown = 'fatal' | 'retryAfter' | 'retryAfter, uncounted' | 'plain';

const throwing: Readonly<Record<Thrown, () => Error>> = {
  fatal: () => new Fatal('no retry will help'),
  retryAfter: () => retryAfter('20s'),
  'retryAfter, uncounted': () => retryAfter('20s', { countAttempt: false }),
  plain: () => new RangeError('once'),
};

/** What is seen of each: how often it is called, and whether it waits 20 s before the second time. */
const MEANS: Readonly<Record<Thrown, { readonly calls: number; readonly isLate: boolean }>> = {
  fatal: { calls: 1, isLate: false },
  retryAfter: { calls: 2, isLate: true },
  'retryAfter, uncounted': { calls: 2, isLate: true },
  plain: { calls: 2, isLate: false },
};

const OUTER = { retries: 2, backoff: { kind: 'fixed', base: '50ms', jitter: 'none' } } as const;

const other = task('other', (_: unknown) => 1);
const beside = task('beside', (_: unknown) => 2);
const last = task('last', (_: unknown) => 'ok');

/** A member that throws the first time. */
function world(harness: Harness) {
  const calledAt: number[] = [];
  const inner = task('inner', { retries: 0 }, (thrown: Thrown) => {
    calledAt.push(harness.clock.now());
    if (calledAt.length === 1 || thrown === 'fatal') throw throwing[thrown]();
    return 'ok';
  });
  const around = (name: string, step: Step<Thrown, unknown>) =>
    task(name, OUTER, async (thrown: Thrown, ctx) => {
      await ctx.run(step, thrown);
      return 'ok';
    });
  return { calledAt, inner, around };
}

type World = ReturnType<typeof world>;
type Outer = ReturnType<World['around']>;

/** Where the step stands that throws. */
const PLACES: Readonly<Record<string, (of: World) => Step<Thrown, unknown>>> = {
  'a step alone': ({ inner }) => inner,
  'a member that is a task': ({ inner }) => parallel({ inner, other }),
  'a member that is a pipeline': ({ inner }) => parallel({ inner: inner.pipe(last), other }),
  'a member of a group in a group': ({ inner }) =>
    parallel({ deep: parallel({ inner, other }), beside }),
  'a member of a group that fails fast': ({ inner }) =>
    parallel({ inner, other }, { failFast: true }),
  'a member whose handler runs it in a group': ({ inner }) =>
    parallel({
      within: task('within', { retries: 0 }, (thrown: Thrown, ctx) =>
        ctx.run(parallel({ inner, other }), thrown),
      ),
      other,
    }),
};

/** What runs the handler around it. */
const HOSTS: Readonly<
  Record<string, (loom: Fairloom, outer: Outer, thrown: Thrown) => Promise<unknown>>
> = {
  'a task': async (loom, outer, thrown) => (await loom.enqueue(outer, thrown)).result(),
  'a driven run': async (loom, outer, thrown) =>
    (await loom.enqueue(outer.pipe(last), thrown, { form: 'driven' })).result(),
  'a dispatched run': async (loom, outer, thrown) =>
    (await loom.enqueue(outer.pipe(last), thrown, { form: 'dispatched' })).result(),
  'loom.run': (loom, outer, thrown) => loom.run(outer, thrown),
};

// F83
embedded((open) => {
  const harness = opened(open);

  const ended = (promise: Promise<unknown>): Promise<unknown> =>
    settled(
      harness,
      promise.catch((error: unknown) => error),
    );

  const seen = (calledAt: readonly number[]) => ({
    calls: calledAt.length,
    isLate: (calledAt[1] ?? 0) - (calledAt[0] ?? 0) >= 20_000,
  });

  describe.each(Object.keys(HOSTS))('under ctx.run in %s', (host) => {
    it.each(Object.keys(PLACES))('%s steers what runs it', async (place) => {
      for (const thrown of Object.keys(MEANS) as Thrown[]) {
        const of = world(harness);
        const name = `outer-${thrown.replace(/\W+/g, '-')}`;
        const outer = of.around(name, PLACES[place]?.(of) ?? other);
        const loom = harness.loom([outer, last, other, of.inner, PLACES[place]?.(of) ?? other]);
        const worker = loom.worker();
        await worker.start();
        const end = await ended(HOSTS[host]?.(loom, outer, thrown) ?? Promise.resolve());
        expect([thrown, seen(of.calledAt)]).toEqual([thrown, MEANS[thrown]]);
        if (thrown === 'fatal') expect(end).toBeInstanceOf(Error);
        else expect(end).toBe('ok');
        await worker.stop();
      }
    });
  });

  // F83
  describe('a group that is a node of a driven run with retries', () => {
    it.each(Object.keys(MEANS) as Thrown[])('means by %s what a task would', async (thrown) => {
      const of = world(harness);
      const loom = harness.loom([of.inner, other, last]);
      await loom.worker().start();
      const flow = parallel({ inner: of.inner, other }).pipe(last);
      const handle = await loom.enqueue(flow, thrown, { form: 'driven', ...OUTER });
      await ended(handle.result());
      expect(seen(of.calledAt)).toEqual(MEANS[thrown]);
      const cause = (await loom.tasks.get(handle.id))?.cause?.type;
      expect(cause).toBe(thrown === 'fatal' ? 'fatal' : undefined);
    });
  });

  // F83
  describe('a policy', () => {
    const fatal = task('fatal', { retries: 0 }, (_: unknown) => {
      throw new Fatal('never');
    });

    it('that members which threw Fatal leave a chance is tried again', async () => {
      const of = world(harness);
      const group = parallel({ inner: of.inner, fatal }, { policy: { atLeast: 1 } });
      const outer = of.around('outer', group);
      const loom = harness.loom([outer, of.inner, fatal]);
      await loom.worker().start();
      const handle = await loom.enqueue(outer, 'retryAfter');
      expect(await ended(handle.result())).toBe('ok');
      expect(seen(of.calledAt)).toEqual(MEANS.retryAfter);
    });

    it('that they leave none fails for good, though others asked for a wait', async () => {
      const of = world(harness);
      const group = parallel({ inner: of.inner, fatal }, { policy: { atLeast: 2 } });
      const outer = of.around('outer', group);
      const loom = harness.loom([outer, of.inner, fatal]);
      await loom.worker().start();
      const handle = await loom.enqueue(outer, 'retryAfter');
      await ended(handle.result());
      expect((await loom.tasks.get(handle.id))?.cause).toMatchObject({ type: 'fatal' });
      expect(of.calledAt).toHaveLength(1);
    });
  });

  // F83
  it('is told again from the journal, and sealed, as it was thrown', async () => {
    const of = world(harness);
    const steps: readonly Step<Thrown, unknown>[] = [
      of.inner,
      parallel({ inner: of.inner, other }),
    ];
    const seenByHandler: unknown[] = [];
    const outer = task('outer', OUTER, async (thrown: Thrown, ctx) => {
      for (const step of steps) {
        await ctx.run(step, thrown).catch((error: unknown) => seenByHandler.push(error));
      }
      await ctx.sleep('1m');
    });
    const codec = encrypted({ keys: [{ id: 'k', key: randomBytes(32) }] });
    const first = harness.loom([outer, of.inner, other], { codec });
    const worker = first.worker();
    await worker.start();
    const handle = await first.enqueue(outer, 'fatal');
    await harness.until(
      async () =>
        seenByHandler.length === steps.length &&
        (await first.tasks.get(handle.id))?.state === 'deferred',
    );
    await worker.stop();
    const second = harness.loom([outer, of.inner, other], { codec });
    await second.worker().start();
    await ended(handle.result());
    expect(of.calledAt).toHaveLength(2);
    expect(seenByHandler.map((error) => failureOf(error).retryable)).toEqual(Array(4).fill(false));
  });
});
