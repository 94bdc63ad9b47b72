/** A run is paused: nothing of it begins until it is resumed. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { TaskNotFoundError, WrongStateError } from '../../../src/domain/errors/errors.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { Step } from '../../../src/workflow/step.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../src/workflow/tasks/retry-after.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { type Gate, gate } from '../../support/gate.ts';
import { refusal, settled, waitingFor } from '../../support/runs.ts';

type Part = Step<number, number>;

const forms = ['dispatched', 'driven'] as const;

eachBackend((open) => {
  const harness = opened(open);
  /** Nodes in the order in which they began. */
  let begun: string[];
  /** What each node waits for, by its name. */
  let gates: Map<string, Gate>;
  beforeEach(async () => {
    begun = [];
    gates = new Map();
  });

  const stop = (name: string): Gate => {
    const made = gate();
    gates.set(name, made);
    return made;
  };
  const part = (name: string, options: object = {}) =>
    task(name, { retries: 0, ...options }, async (n: number) => {
      begun.push(name);
      await gates.get(name)?.passed;
      return n + 1;
    });
  const sum = task('sum', (all: readonly number[]) => all.reduce((a, b) => a + b, 0));
  const [a, b, c] = [part('a'), part('b'), part('c')];

  async function working(tasks: Parameters<Harness['loom']>[0]): Promise<Fairloom> {
    const loom = harness.loom(tasks);
    await loom.worker({ concurrency: 4 }).start();
    return loom;
  }

  /** Leases and delays end, and nothing begins. */
  async function demandStill(): Promise<void> {
    const before = [...begun];
    await harness.clock.advance('2m');
    await harness.quiet();
    expect(begun).toEqual(before);
    expect((await harness.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  }

  async function begins(name: string, times = 1): Promise<void> {
    await harness.until(() => begun.filter((one) => one === name).length >= times);
  }

  describe.each(forms)('a %s run', (form) => {
    it('ends the node in hand, begins no other, and goes on from there', async () => {
      const whole = a.pipe(b).pipe(c);
      const loom = await working([whole]);
      const hold = stop('b');
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('b');
      const since = harness.clock.now();
      const pause = { since, reason: 'look' };
      expect(await loom.runs.pause('r', { reason: 'look' })).toEqual(pause);
      expect(await loom.runs.pause('r', { reason: 'again' })).toEqual(pause);
      hold.open();
      await demandStill();
      expect(begun).toEqual(['a', 'b']);
      expect(await loom.runs.get('r')).toMatchObject({ state: 'deferred', paused: pause });
      const { items } = await loom.runs.list({ state: 'deferred' });
      expect(items).toMatchObject([{ id: 'r', paused: pause }]);
      const why = await loom.runs.explain('r');
      expect(why).toMatchObject({ paused: pause, command: 'fairloom runs resume r' });
      const { nodes } = (await loom.runs.get('r')) ?? { nodes: [] };
      const taskId = nodes.find(({ node }) => node === 'c')?.taskId ?? 'r';
      const { obstacles } = await loom.tasks.explain(taskId);
      expect(obstacles[0]).toMatchObject({
        kind: 'run-paused',
        command: 'fairloom runs resume r',
      });
      expect(obstacles[0]?.text).toContain(': look');
      await loom.runs.resume('r');
      expect(await settled(harness, run.result())).toBe(4);
      expect(begun).toEqual(['a', 'b', 'c']);
      expect((await loom.runs.get('r'))?.paused).toBeUndefined();
      expect((await loom.stats()).totals).toMatchObject({ retried: 0, lost: 0 });
      expect(await loom.tasks.get('r')).toMatchObject({ failures: 0, releases: 0, losses: 0 });
    });

    it('is refused when unknown, ended, or no run', async () => {
      const loom = await working([a]);
      const plain = await loom.enqueue(a, 1);
      const run = await loom.enqueue(a.pipe(b), 1, { form, id: 'r' });
      const worker = harness.loom([a.pipe(b)]).worker();
      await worker.start();
      await settled(harness, Promise.all([run.result(), plain.result()]));
      for (const id of ['nobody', plain.id]) {
        expect(await refusal(loom.runs.pause(id))).toBeInstanceOf(TaskNotFoundError);
      }
      expect(await refusal(loom.runs.pause('r'))).toBeInstanceOf(WrongStateError);
      expect(await refusal(loom.runs.pause('r', { reason: 1 as never }))).toMatchObject({
        code: 'INVALID_OPTION',
      });
    });

    it('before its first node, delayed, or behind another task', async () => {
      const whole = a.pipe(b);
      const loom = await working([whole]);
      const hold = stop('c');
      const before = await loom.enqueue(c, 1);
      await harness.loom([c]).worker().start();
      const late = await loom.enqueue(whole, 1, { form, id: 'late', delay: '1m' });
      const behind = await loom.enqueue(whole, 1, { form, id: 'behind', dependsOn: [before.id] });
      await begins('c');
      for (const id of ['late', 'behind']) await loom.runs.pause(id);
      hold.open();
      await demandStill();
      expect(begun).toEqual(['c']);
      for (const id of ['late', 'behind']) await loom.runs.resume(id);
      expect(await settled(harness, Promise.all([late.result(), behind.result()]))).toEqual([3, 3]);
    });

    it('resume of one that is delayed leaves its delay', async () => {
      const loom = await working([a.pipe(b)]);
      const run = await loom.enqueue(a.pipe(b), 1, { form, delay: '10m' });
      await loom.runs.pause(run.id);
      await loom.runs.resume(run.id);
      await demandStill();
      await harness.clock.advance('10m');
      expect(await settled(harness, run.result())).toBe(3);
    });

    it('no attempt begins: of what fails, is given back, or loses its lease', async () => {
      const isFirst = (name: string): boolean => begun.filter((one) => one === name).length === 1;
      const flaky = task('flaky', { retries: 3, backoff: { base: '5s' } }, async (n: number) => {
        begun.push('flaky');
        await gates.get('flaky')?.passed;
        if (isFirst('flaky')) throw new Error('not yet');
        return n;
      });
      const lazy = task('lazy', async (n: number) => {
        begun.push('lazy');
        await gates.get('lazy')?.passed;
        if (isFirst('lazy')) throw retryAfter('1s');
        return n;
      });
      const whole = parallel({ flaky, lazy, lost: part('lost') });
      let isDead = false;
      const never = new Promise<never>(() => undefined);
      const backend = flakyBackend(harness.backend, () =>
        isDead ? { holdUntil: never } : undefined,
      );
      await harness.loom([whole], { backend }).worker({ concurrency: 3 }).start();
      const holds = ['flaky', 'lazy', 'lost'].map(stop);
      const loom = harness.loom([whole]);
      const run = await loom.enqueue(whole, 1, { form });
      for (const name of ['flaky', 'lazy', 'lost']) await begins(name);
      await loom.runs.pause(run.id);
      for (const hold of holds.slice(0, 2)) hold.open();
      await harness.quiet();
      isDead = true;
      await loom.worker({ concurrency: 9 }).start();
      await demandStill();
      expect((await loom.stats()).totals.lost).toBe(1);
      holds[2]?.open();
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toEqual({ flaky: 1, lazy: 1, lost: 2 });
    });

    it('takes signals and answers, and sleepers stay where they are', async () => {
      const waits = task('waits', async (_: unknown, ctx) => {
        begun.push('waits');
        const got = await ctx.waitFor(signal('go'));
        begun.push('woken');
        return got;
      });
      const sleeps = task('sleeps', async (_: unknown, ctx) => {
        begun.push('sleeps');
        await ctx.sleep('1m');
        begun.push('awake');
        return 1;
      });
      const asks = task('asks', async (_: unknown, ctx) => {
        begun.push('asks');
        const { choice } = await ctx.ask({ title: 'May I?', choices: ['yes', 'no'] });
        begun.push('answered');
        return choice;
      });
      const whole = parallel({ waits, sleeps, asks });
      const loom = await working([whole]);
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      for (const kind of ['signal', 'time', 'ask'] as const) await waitingFor(harness, loom, kind);
      await loom.runs.pause('r');
      await loom.signal('r', 'go', 7);
      const [question] = (await loom.asks.list()).items;
      await loom.asks.answer(question?.id ?? '', { choice: 'yes', by: 'ann' });
      await demandStill();
      expect(begun.toSorted()).toEqual(['asks', 'sleeps', 'waits']);
      await loom.runs.resume('r');
      expect(await settled(harness, run.result())).toEqual({ waits: 7, sleeps: 1, asks: 'yes' });
    });

    it('members of groups at depth, and those of handlers', async () => {
      const leaf = part('leaf');
      const inner = task('inner', async (n: number, ctx) => {
        begun.push('inner');
        await gates.get('inner')?.passed;
        return sumOf(await ctx.run(each(leaf), [n, n]));
      });
      const list = task('list', (n: number) => [n, n]);
      const many = list.pipe(each(inner.pipe(b), { name: 'deep' })).pipe(sum);
      const whole = parallel({ deep: form === 'driven' ? many : inner.pipe(b), c });
      const loom = harness.loom([whole, leaf]);
      await loom.worker({ concurrency: 1 }).start();
      const hold = stop('inner');
      const run = await loom.enqueue(whole, 1, { form });
      await begins('inner');
      await loom.runs.pause(run.id);
      const before = begun.length;
      hold.open();
      await demandStill();
      expect(begun.length).toBe(before);
      await loom.runs.resume(run.id);
      expect(await settled(harness, run.result())).toEqual({
        deep: form === 'driven' ? 10 : 5,
        c: 2,
      });
      expect(begun.filter((one) => one === 'leaf')).toHaveLength(form === 'driven' ? 4 : 2);
    });

    // F87
    it.each([
      ['strict', (bad: Part) => parallel({ bad, a }, { name: 'g' })],
      ['failFast', (bad: Part) => parallel({ bad, a }, { failFast: true, name: 'g' })],
      ['bestEffort', (bad: Part) => parallel({ bad, a }, { policy: 'bestEffort', name: 'g' })],
      ['atLeast', (bad: Part) => parallel({ bad, a }, { policy: { atLeast: 1 }, name: 'g' })],
    ] as const)('with a group that is all of it ends with that: %s', async (policy, of) => {
      // A group that fails fast is driven, in any form that is asked for.
      const asked = policy === 'failFast' ? 'driven' : form;
      const bad = task('bad', { retries: 0 }, async (n: number): Promise<number> => {
        begun.push('bad');
        await gates.get('bad')?.passed;
        throw new RangeError(`${n}`);
      });
      const whole = of(bad);
      const loom = await working([whole]);
      const [holdA, holdBad] = [stop('a'), stop('bad')];
      const run = await loom.enqueue(whole as never, 1 as never, { form: asked });
      await begins('a');
      await begins('bad');
      await loom.runs.pause(run.id);
      holdBad.open();
      await harness.quiet();
      holdA.open();
      await demandStill();
      const isStrict = policy === 'strict' || policy === 'failFast';
      expect((await loom.runs.get(run.id))?.state).toBe(isStrict ? 'failed' : 'finished');
      const end = await settled(
        harness,
        run.result().catch((error: Error) => error.name),
      );
      if (isStrict) expect(end).toBe('RunFailedError');
      else expect(end).toMatchObject({ a: { ok: true }, bad: { ok: false } });
    });

    it('can be canceled, run again, exported and imported', async () => {
      const whole = a.pipe(b);
      const loom = await working([whole]);
      const hold = stop('a');
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('a');
      await loom.runs.pause('r');
      hold.open();
      await demandStill();
      const again = await loom.runs.rerun('r');
      expect(await settled(harness, again.result())).toBe(3);
      const imported = await loom.runs.import(await loom.runs.export('r'), { id: 'copy' });
      expect(await settled(harness, imported.result())).toBe(3);
      expect(begun).toEqual(['a', 'b', 'b']);
      await loom.runs.cancel('r');
      expect(await settled(harness, refusal(run.result()))).toMatchObject({ code: 'RUN_CANCELED' });
      expect((await loom.runs.get('r'))?.paused).toBeUndefined();
      await demandStill();
      expect(await refusal(loom.runs.resume('r'))).toBeInstanceOf(WrongStateError);
    });

    it('that fails stays paused until it is put back', async () => {
      let isBroken = true;
      const bad = task('bad', { retries: 0 }, async (n: number) => {
        begun.push('bad');
        await gates.get('bad')?.passed;
        if (isBroken) throw new Error('broken');
        return n;
      });
      const whole = a.pipe(bad).pipe(b);
      const loom = await working([whole]);
      const hold = stop('bad');
      const run = await loom.enqueue(whole, 1, { form, id: 'r' });
      await begins('bad');
      await loom.runs.pause('r', { reason: 'look' });
      hold.open();
      await demandStill();
      expect(await loom.runs.get('r')).toMatchObject({ state: 'failed', paused: {} });
      isBroken = false;
      await loom.runs.resume('r');
      expect(await settled(harness, run.result())).toBe(3);
      expect(begun).toEqual(['a', 'bad', 'bad', 'b']);
      expect((await loom.runs.get('r'))?.paused).toBeUndefined();
    });

    it('lets its time to start run out', async () => {
      const loom = harness.loom([a.pipe(b)]);
      const run = await loom.enqueue(a.pipe(b), 1, { form, expiresIn: '1m' });
      await loom.runs.pause(run.id);
      await loom.worker().start();
      await harness.clock.advance('2m');
      expect(await settled(harness, refusal(run.result()))).toMatchObject({ code: 'RUN_FAILED' });
      expect(begun).toEqual([]);
      await demandStill();
    });
  });

  it('a driven run that writes down groups alone stops at its next group', async () => {
    const whole = a.pipe(b).pipe(parallel({ c, d: part('d') }));
    const loom = await working([whole]);
    const hold = stop('a');
    const run = await loom.enqueue(whole, 1, { form: 'driven', checkpoint: 'group' });
    await begins('a');
    await loom.runs.pause(run.id);
    hold.open();
    await begins('b');
    await demandStill();
    expect(begun).toEqual(['a', 'b']);
    await loom.runs.resume(run.id);
    expect(await settled(harness, run.result())).toEqual({ c: 4, d: 4 });
  });

  it('an id that comes again is not paused', async () => {
    const loom = await working([a.pipe(b)]);
    const first = await loom.enqueue(a.pipe(b), 1, { form: 'driven', id: 'r', delay: '1h' });
    await loom.runs.pause('r');
    await loom.runs.cancel('r');
    await settled(harness, refusal(first.result()));
    await harness.clock.advance('1m');
    await loom.tasks.remove('r');
    const second = await loom.enqueue(a.pipe(b), 1, { form: 'driven', id: 'r' });
    expect(await settled(harness, second.result())).toBe(3);
  });
});

function sumOf(all: readonly number[]): number {
  return all.reduce((one, other) => one + other, 0);
}
