/** A paused run ends when all that is left of it follows from what has ended, in both forms alike. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import type { TaskSource } from '../../../src/handlers/registry.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { embedded, opened } from '../../support/backends.ts';
import { type Gate, gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';

const forms = ['dispatched', 'driven'] as const;

embedded((open) => {
  const harness = opened(open);
  /** Nodes in the order in which they began. */
  let begun: string[];
  let gates: Map<string, Gate>;
  let isBroken: boolean;
  beforeEach(async () => {
    begun = [];
    gates = new Map();
    isBroken = true;
  });

  const stop = (name: string): Gate => {
    const made = gate();
    gates.set(name, made);
    return made;
  };
  const part = (name: string) =>
    task(name, { retries: 0 }, async (n: number) => {
      begun.push(name);
      await gates.get(name)?.passed;
      return n + 1;
    });
  const [a, b] = [part('a'), part('b')];
  const bad = task('bad', { retries: 0 }, async (n: number) => {
    begun.push('bad');
    await gates.get('bad')?.passed;
    if (isBroken) throw new RangeError('broken');
    return n;
  });
  const after = task('after', async (all: unknown) => {
    begun.push('after');
    return all;
  });

  async function working(tasks: TaskSource): Promise<Fairloom> {
    const loom = harness.loom(tasks);
    await loom.worker({ concurrency: 4 }).start();
    return loom;
  }

  async function begins(name: string): Promise<void> {
    await harness.until(() => begun.includes(name));
  }

  async function demandState(loom: Fairloom, state: string): Promise<void> {
    const before = [...begun];
    await harness.quiet();
    await harness.clock.advance('10s');
    await harness.quiet();
    expect(await loom.runs.get('r')).toMatchObject({ state });
    expect(begun).toEqual(before);
    expect((await harness.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  }

  describe.each(forms)('a %s run that is paused', (form) => {
    // F87
    it('fails with the last attempt of a member, and is put back by its end', async () => {
      const whole = parallel({ bad, a }).pipe(after);
      const loom = await working([whole]);
      const hold = stop('bad');
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('bad');
      await loom.runs.pause('r', { reason: 'look' });
      hold.open();
      await demandState(loom, 'failed');
      expect((await loom.runs.get('r'))?.paused).toMatchObject({ reason: 'look' });
      expect(await settled(harness, refusal(run.result()))).toMatchObject({ code: 'RUN_FAILED' });
      isBroken = false;
      await loom.runs.resume('r');
      expect(await settled(harness, run.result())).toEqual({ bad: 1, a: 2 });
      expect(begun.toSorted()).toEqual(['a', 'after', 'bad', 'bad']);
    });

    // F87
    it('finishes when its last node is a group whose members have finished', async () => {
      const whole = part('first').pipe(parallel({ a, b }));
      const loom = await working([whole]);
      const hold = stop('a');
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('a');
      await loom.runs.pause('r');
      hold.open();
      await demandState(loom, 'finished');
      expect(await run.result()).toEqual({ a: 3, b: 3 });
      expect((await loom.runs.get('r'))?.paused).toBeUndefined();
    });

    // F87
    it.each([
      ['bestEffort', parallel({ bad, a }, { policy: 'bestEffort', name: 'g' })],
      ['atLeast', parallel({ bad, a }, { policy: { atLeast: 1 }, name: 'g' })],
    ] as const)(
      'goes on behind a group that does without a member at its end alone: %s',
      async (_, of) => {
        const whole = of.pipe(after);
        const loom = await working([whole]);
        const [holdBad, holdA] = [stop('bad'), stop('a')];
        const run = await loom.enqueue(whole, 1, { form, id: 'r' });
        await begins('bad');
        await begins('a');
        await loom.runs.pause('r');
        holdBad.open();
        await demandState(loom, 'deferred');
        holdA.open();
        await demandState(loom, 'deferred');
        expect((await loom.runs.get('r'))?.paused).toBeDefined();
        await loom.runs.resume('r');
        const result = await settled(harness, run.result());
        expect(result).toMatchObject({ a: { ok: true }, bad: { ok: false } });
        expect(begun.filter((one) => one === 'after')).toHaveLength(1);
      },
    );

    // F87
    it('fails by a group that cannot do with what is left', async () => {
      const whole = parallel({ bad, a }, { policy: { atLeast: 2 } }).pipe(after);
      const loom = await working([whole]);
      const hold = stop('bad');
      await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('bad');
      await loom.runs.pause('r');
      hold.open();
      await demandState(loom, 'failed');
    });

    // F87
    it('fails though members did not begin, and what runs goes on', async () => {
      const whole = parallel({ bad, a, late: part('late') }).pipe(after);
      const loom = harness.loom([whole]);
      await loom.worker({ concurrency: 2 }).start();
      const [holdBad, holdA] = [stop('bad'), stop('a')];
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('bad');
      await begins('a');
      await loom.runs.pause('r');
      await harness.quiet();
      holdBad.open();
      await demandState(loom, 'failed');
      holdA.open();
      await harness.quiet();
      expect((await loom.stats()).counts).toMatchObject({ started: 0 });
      isBroken = false;
      await loom.runs.resume('r');
      expect(await settled(harness, run.result())).toEqual({ bad: 1, a: 2, late: 2 });
      expect(begun.toSorted()).toEqual(['a', 'after', 'bad', 'bad', 'late']);
    });

    // F87
    it('fails by a member of a member', async () => {
      const deep = a.pipe(parallel({ bad, b }, { name: 'in' })).pipe(after.as('behind'));
      const whole = parallel({ deep, c: part('c') }, { name: 'out' }).pipe(after);
      const loom = await working([whole]);
      const hold = stop('bad');
      await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('bad');
      await loom.runs.pause('r');
      hold.open();
      await demandState(loom, 'failed');
      isBroken = false;
      await loom.runs.resume('r');
      await settled(harness, loom.runs.handle(whole, 'r').result());
      expect(begun.filter((one) => one === 'after')).toHaveLength(2);
    });
  });

  // F87
  it('a driven run fails when the pause comes after the member has', async () => {
    const whole = parallel({ bad, a }).pipe(after);
    const loom = await working([whole]);
    const hold = stop('bad');
    await loom.enqueue(whole, 1, { form: 'driven', id: 'r' });
    await begins('bad');
    await begins('a');
    await loom.queues.pause('default');
    hold.open();
    await harness.quiet();
    expect(await loom.runs.get('r')).toMatchObject({ state: 'queued' });
    await loom.runs.pause('r');
    await loom.queues.resume('default');
    await demandState(loom, 'failed');
  });

  // F87
  it('a driven run ends with the time of its group', async () => {
    const whole = parallel({ a, b }, { timeout: '1m' }).pipe(after);
    const loom = harness.loom([whole]);
    await loom.worker({ concurrency: 1 }).start();
    stop('a');
    stop('b');
    await loom.enqueue(whole, 1, { form: 'driven', id: 'r' });
    await harness.until(() => begun.length === 1);
    await loom.runs.pause('r');
    await loom.worker({ concurrency: 1 }).start();
    await harness.clock.advance('30s');
    await demandState(loom, 'deferred');
    await harness.clock.advance('30s');
    await demandState(loom, 'failed');
    expect(begun).toHaveLength(1);
  });

  // F87
  it('a driven run whose group fails fast ends at the first failure', async () => {
    const whole = parallel({ bad, a }, { failFast: true }).pipe(after);
    const loom = await working([whole]);
    const [hold] = [stop('bad'), stop('a')];
    await loom.enqueue(whole, 1, { form: 'driven', id: 'r' });
    await begins('bad');
    await begins('a');
    await loom.runs.pause('r');
    hold.open();
    await demandState(loom, 'failed');
  });

  // F87
  it('a driven run with an attempt left begins it when the pause is over', async () => {
    const whole = parallel({ bad, a }).pipe(after);
    const loom = await working([whole]);
    const hold = stop('bad');
    const run = await loom.enqueue(whole, 1, { form: 'driven', id: 'r', retries: 1 } as never);
    await begins('bad');
    await loom.runs.pause('r');
    hold.open();
    await harness.clock.advance('1m');
    await demandState(loom, 'deferred');
    isBroken = false;
    await loom.runs.resume('r');
    expect(await settled(harness, run.result())).toEqual({ bad: 1, a: 2 });
  });

  // F87
  it('a worker that dies while it decides leaves that to another', async () => {
    const whole = parallel({ bad, a }).pipe(after);
    let isDead = false;
    let isPaused = false;
    const never = new Promise<never>(() => undefined);
    const backend = flakyBackend(harness.backend, ({ operation }) => {
      isDead ||= isPaused && operation === 'runs.load';
      return isDead ? { holdUntil: never } : undefined;
    });
    await harness.loom([whole], { backend }).worker({ concurrency: 4 }).start();
    const loom = harness.loom([whole]);
    const hold = stop('bad');
    await loom.enqueue(whole, 1, { form: 'driven', id: 'r' });
    await begins('bad');
    await begins('a');
    await harness.quiet();
    await loom.runs.pause('r');
    isPaused = true;
    hold.open();
    await harness.until(() => isDead);
    await loom.worker().start();
    await harness.clock.advance('2m');
    await demandState(loom, 'failed');
    expect((await loom.stats()).totals.lost).toBe(1);
  });

  // F87
  it('a run that decides stores no other group', async () => {
    const list = task('list', (_: unknown) => [1, 2]);
    const whole = parallel({ a, b }).pipe(parallel({ after, list })).pipe(after.as('end'));
    const loom = await working([whole]);
    const hold = stop('a');
    const run = await loom.enqueue(whole, 1, { form: 'driven', id: 'r' });
    await begins('a');
    await loom.runs.pause('r');
    hold.open();
    await demandState(loom, 'deferred');
    expect((await loom.stats()).counts).toMatchObject({ queued: 0, deferred: 1, finished: 2 });
    await loom.runs.resume('r');
    const result = await settled(harness, run.result());
    expect(result).toEqual({ after: { a: 2, b: 2 }, list: [1, 2] });
  });

  // F87
  it.each(forms)('the handler of a %s run that waits for a group waits on', async (form) => {
    const calls = task('calls', { retries: 0 }, async (n: number, ctx) => {
      begun.push('calls');
      const got = await ctx.run(parallel({ bad, a }), n).catch((error: Error) => error.name);
      begun.push('called');
      return got;
    });
    const whole = calls.pipe(after);
    const loom = await working([whole, bad, a]);
    const hold = stop('bad');
    const run = await loom.enqueue(whole, 1, { form, id: 'r' });
    await begins('bad');
    await begins('a');
    await loom.runs.pause('r');
    hold.open();
    await harness.quiet();
    expect(begun).not.toContain('called');
    await demandState(loom, 'deferred');
    await loom.runs.resume('r');
    expect(await settled(harness, run.result())).toBe('GroupFailedError');
  });
});
