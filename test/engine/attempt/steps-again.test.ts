/** What failed among the steps that handlers run counts within its attempt; what has finished, for good. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import { each } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../src/workflow/tasks/retry-after.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';

/** What a step needs that may be broken, and how often each step was called. */
class World {
  readonly calls: string[] = [];
  isBroken = true;

  readonly charge = task('charge', { retries: 0 }, (n: number) => {
    this.calls.push(`charge ${n}`);
    return n;
  });

  readonly send = task('send', { retries: 0 }, (n: number) => {
    this.calls.push(`send ${n}`);
    if (this.isBroken && n % 2 === 0) throw new RangeError(`no ${n}`);
    return n;
  });

  /** Charges once, also when what it sends fails. */
  readonly order = task('order', { retries: 0 }, async (n: number, ctx) => {
    const charged = await ctx.run(this.charge, n);
    return ctx.run(this.send, charged);
  });

  take(): readonly string[] {
    return this.calls.splice(0);
  }
}

const backoff = { kind: 'fixed', base: '10ms', jitter: 'none' } as const;
const long = { kind: 'fixed', base: '10m', jitter: 'none' } as const;

const PUT_BACK: readonly (readonly [string, (loom: Fairloom, id: string) => Promise<unknown>])[] = [
  ['tasks.redrive', (loom, id) => loom.tasks.redrive(id)],
  ['dead.redrive of all', (loom) => loom.dead.redrive({ all: true })],
];

eachBackend((open) => {
  const harness = opened(open);
  let world: World;
  beforeEach(async () => {
    world = new World();
  });

  const ended = async (promise: Promise<unknown>): Promise<unknown> =>
    settled(
      harness,
      promise.catch((error: unknown) => error),
    );

  describe('a dead letter whose step had failed', () => {
    it.each(PUT_BACK)('runs it again after %s, and what had finished not', async (_, putBack) => {
      const { order } = world;
      const loom = harness.loom([order]);
      await loom.worker().start();
      const handle = await loom.enqueue(order, 2);
      expect(await ended(handle.result())).toMatchObject({ errorName: 'RangeError' });
      expect(world.take()).toEqual(['charge 2', 'send 2']);
      // Nothing is mended yet: the step is asked again, and not the journal.
      await putBack(loom, handle.id);
      expect(await ended(handle.result())).toMatchObject({ errorName: 'RangeError' });
      expect(world.take()).toEqual(['send 2']);
      world.isBroken = false;
      await putBack(loom, handle.id);
      expect(await ended(handle.result())).toBe(2);
      expect(world.take()).toEqual(['send 2']);
    });

    it('runs the failed members of a group again, and no others', async () => {
      const orders = task('orders', { retries: 0 }, async (all: number[], ctx) =>
        ctx.run(each(world.send), all),
      );
      const loom = harness.loom([orders, world.send]);
      await loom.worker().start();
      const handle = await loom.enqueue(orders, [1, 2, 3]);
      expect(await ended(handle.result())).toMatchObject({ errorName: 'GroupFailedError' });
      expect(world.take().toSorted()).toEqual(['send 1', 'send 2', 'send 3']);
      world.isBroken = false;
      await loom.tasks.redrive(handle.id);
      expect(await ended(handle.result())).toEqual([1, 2, 3]);
      expect(world.take()).toEqual(['send 2']);
    });

    it('does so below others, and with what is written down sealed', async () => {
      const inner = task('inner', { retries: 0 }, async (n: number, ctx) =>
        ctx.run(world.order, n),
      );
      const outer = task('outer', { retries: 0 }, async (n: number, ctx) => ctx.run(inner, n));
      const codec = encrypted({ keys: [{ id: 'k', key: randomBytes(32) }] });
      const loom = harness.loom([outer], { codec });
      await loom.worker().start();
      const handle = await loom.enqueue(outer, 2);
      await ended(handle.result());
      world.isBroken = false;
      await loom.tasks.redrive(handle.id);
      expect(await ended(handle.result())).toBe(2);
      expect(world.take()).toEqual(['charge 2', 'send 2', 'send 2']);
    });

    it('is told of it again within the attempt, wherever its handler starts anew', async () => {
      const seen: string[] = [];
      const started = gate();
      const release = gate();
      const slow = task('slow', async (n: number) => {
        started.open();
        await release.passed;
        return n;
      });
      let isOver = false;
      const outer = task('outer', { retries: 0 }, async (n: number, ctx) => {
        const one = await ctx.run(world.send, n).catch(() => 'failed');
        seen.push(`${one}`);
        if (!isOver) throw new Error('first life');
        const [two] = await ctx.run(each(slow), [n]);
        return [one, two];
      });
      const loom = harness.loom([outer, slow]);
      const first = loom.worker({ concurrency: 1 });
      await first.start();
      const handle = await loom.enqueue(outer, 2);
      await ended(handle.result());
      isOver = true;
      await loom.tasks.redrive(handle.id);
      await harness.until(async () => (await loom.tasks.get(handle.id))?.state === 'deferred');
      await settled(harness, started.passed);
      world.isBroken = false;
      // Another worker has no stack of it.
      await loom.worker({ concurrency: 1 }).start();
      const stopped = first.stop({ grace: 0 });
      release.open();
      await settled(harness, stopped);
      expect(await ended(handle.result())).toEqual(['failed', 2]);
      expect(seen).toEqual(['failed', 'failed', 'failed']);
      expect(world.take()).toEqual(['send 2', 'send 2']);
    });
  });

  it('a handler that gives itself back after a step failed runs that again', async () => {
    let passes = 0;
    const outer = task('outer', async (n: number, ctx) => {
      passes++;
      const charged = await ctx.run(world.charge, n);
      try {
        return await ctx.run(world.send, charged);
      } catch {
        world.isBroken = false;
        throw retryAfter('1s', { countAttempt: false });
      }
    });
    const loom = harness.loom([outer]);
    await loom.worker().start();
    const handle = await loom.enqueue(outer, 2);
    expect(await ended(handle.result())).toBe(2);
    expect(world.take()).toEqual(['charge 2', 'send 2', 'send 2']);
    expect(passes).toBe(2);
  });

  describe('a node of a driven run', () => {
    it.each([
      ['in place', backoff],
      ['off the worker', long],
    ])('that is tried again %s runs the failed step again, and no other', async (_, wait) => {
      const node = task('node', { retries: 2, backoff: wait }, async (n: number, ctx) => {
        const charged = await ctx.run(world.charge, n);
        if (ctx.attempt === 3) world.isBroken = false;
        return ctx.run(world.send, charged);
      });
      const step = node.pipe(world.charge);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 2, { form: 'driven' });
      expect(await ended(run.result())).toBe(2);
      expect(world.take()).toEqual(['charge 2', 'send 2', 'send 2', 'send 2', 'charge 2']);
    });

    it('that failed has all its tries again when its run is resumed', async () => {
      let passes = 0;
      const node = task('node', { retries: 1, backoff: long }, (n: number) => {
        passes++;
        if (passes < 4) throw new RangeError(`no ${n}`);
        return n;
      });
      const step = node.pipe(world.charge);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 2, { form: 'driven' });
      expect(await ended(run.result())).toMatchObject({ code: 'RUN_FAILED' });
      expect(passes).toBe(2);
      await loom.runs.resume(run.id);
      expect(await ended(run.result())).toBe(2);
      expect(passes).toBe(4);
    });

    it('is told again of what failed when a worker without its code has given its run back', async () => {
      const started = gate();
      const release = gate();
      const slow = task('slow', async (n: number) => {
        started.open();
        await release.passed;
        return n;
      });
      const node = task('node', async (n: number, ctx) => {
        const one = await ctx.run(world.send, n).catch(() => 'failed');
        world.isBroken = false;
        const [two] = await ctx.run(each(slow), [n]);
        return `${one} ${two}`;
      });
      const step = node.pipe(task('last', (text: string) => text));
      const keeper = harness.loom([step]).worker();
      await keeper.start();
      const loom = harness.loom([step]);
      const run = await loom.enqueue(step, 2, { form: 'driven' });
      await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'deferred');
      // The member is run, and the run come to, by one that does not know the node.
      await settled(harness, keeper.stop({ grace: 0 }));
      const other = harness.loom([slow]).worker();
      await other.start();
      await settled(harness, started.passed);
      release.open();
      await harness.until(async () => {
        await harness.clock.advance(250);
        return ((await loom.tasks.get(run.id))?.releases ?? 0) > 0;
      });
      await settled(harness, other.stop({ grace: 0 }));
      await harness.loom([step, slow]).worker().start();
      expect(await ended(run.result())).toBe('failed 2');
      expect(world.take()).toEqual(['send 2']);
    });

    it('that is tried again runs failed members of its group again, and no others', async () => {
      const node = task('node', { retries: 1, backoff }, async (all: number[], ctx) => {
        if (ctx.attempt === 2) world.isBroken = false;
        return ctx.run(each(world.send), all);
      });
      const step = node.pipe(task('sum', (all: number[]) => all.length));
      const loom = harness.loom([step, world.send]);
      await loom.worker().start();
      const run = await loom.enqueue(step, [1, 2, 3], { form: 'driven' });
      expect(await ended(run.result())).toBe(3);
      expect(world.take().toSorted()).toEqual(['send 1', 'send 2', 'send 2', 'send 3']);
    });

    it('waits for what its last attempt has left running, and is answered by that', async () => {
      const node = task('node', { retries: 1, backoff }, async (n: number, ctx) => {
        if (ctx.attempt === 2) world.isBroken = false;
        const [sent, charged] = await Promise.all([
          ctx.run(world.send, n),
          ctx.run(world.charge, n),
        ]);
        return sent + charged;
      });
      const step = node.pipe(world.charge);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 2, { form: 'driven' });
      expect(await ended(run.result())).toBe(4);
      expect(world.take()).toEqual(['send 2', 'charge 2', 'send 2', 'charge 4']);
    });
  });

  describe.each(['driven', 'dispatched'] as const)('a %s run', (form) => {
    it('that is resumed runs the failed step of its node again, and no other', async () => {
      const step = world.order.pipe(world.charge);
      const loom = harness.loom([step]);
      await loom.worker().start();
      const run = await loom.enqueue(step, 2, { form });
      expect(await ended(refusal(run.result()))).toMatchObject({ code: 'RUN_FAILED' });
      expect(world.take()).toEqual(['charge 2', 'send 2']);
      world.isBroken = false;
      await loom.runs.resume(run.id);
      expect(await ended(run.result())).toBe(2);
      expect(world.take()).toEqual(['send 2', 'charge 2']);
    });
  });
});
