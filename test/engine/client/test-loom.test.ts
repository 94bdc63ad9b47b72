/** The testing kit: what it promises to those who test their own tasks with it. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { BackendUnavailableError } from '../../../src/domain/errors/errors.ts';
import type { TaskSource } from '../../../src/handlers/registry.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { type TestLoom, type TestLoomOptions, testLoom } from '../../../src/testing/test-loom.ts';
import { ref, task } from '../../../src/workflow/task-definition.ts';

const invoice = task('invoice', async (i: { order: string }, ctx) => `${ctx.user}/${i.order}.pdf`);
const charge = task('charge', async (_: { cents: number }): Promise<{ ok: boolean }> => {
  throw new RangeError('no card in a test');
});

let t: TestLoom;
function open(tasks: TaskSource, options?: TestLoomOptions): TestLoom {
  t = testLoom(tasks, options);
  return t;
}
afterEach(() => t.close());

describe('drain', () => {
  it('runs what can run, in fair order, and nothing before', async () => {
    open([invoice]);
    await t.enqueueMany(invoice, [{ order: '1' }, { order: '2' }], { user: 'busy' });
    const handle = await t.enqueue(invoice, { order: '3' }, { user: 'quiet' });
    expect(t.order()).toEqual([]);
    await t.drain();
    expect(t.order()).toEqual([
      ['busy', 'invoice'],
      ['quiet', 'invoice'],
      ['busy', 'invoice'],
    ]);
    expect(await handle.result()).toBe('quiet/3.pdf');
  });

  it('rejects with the first failure that was not asked for, once', async () => {
    open([charge]);
    await t.enqueue(charge, { cents: 1 });
    await expect(t.drain()).rejects.toThrow('no card in a test');
    await expect(t.drain()).resolves.toBeUndefined();
    await t.clock.advance('1h', { allowFailures: true });
    expect((await t.tasks.counts()).failed).toBe(1);
  });

  it('runs what tasks enqueue', async () => {
    const child = task('child', async (n: number) => n);
    const parent = task('parent', async () => {
      await t.enqueueMany(child, [1, 2, 3]);
    });
    open([child, parent]);
    await t.enqueue(parent);
    await t.drain();
    expect(t.spy(child).runs.map(({ input }) => input)).toEqual([1, 2, 3]);
  });

  it('is done each time, however often it was asked', async () => {
    open([invoice]);
    for (let n = 1; n <= 20; n++) {
      await t.enqueue(invoice, { order: `${n}` });
      await t.drain();
      expect((await t.tasks.counts()).finished).toBe(n);
    }
  });

  it('is done when there is nothing', async () => {
    open([invoice]);
    await t.drain();
    await t.drain();
    expect(t.history).toEqual([]);
  });
});

describe('the clock', () => {
  it('stands still, and lets delays, retries and timeouts happen as it moves', async () => {
    const times: number[] = [];
    const flaky = task(
      'flaky',
      { retries: 1, backoff: { base: '30m', jitter: 'none' } },
      async () => void times.push(t.clock.now()),
    );
    open([flaky]);
    const from = t.clock.now();
    t.fail(flaky);
    const handle = await t.enqueue(flaky, undefined, { delay: '1h' });
    await t.drain();
    expect(t.history).toEqual([]);
    await t.clock.advance('1h');
    expect(t.spy(flaky).runs).toMatchObject([{ state: 'threw' }]);
    await t.clock.advance('30m');
    await handle.result();
    expect(times).toEqual([from + 5_400_000]);
  });

  it('passes years in no time', async () => {
    open([invoice]);
    const handle = await t.enqueue(invoice, { order: 'late' }, { delay: '3000d' });
    await t.clock.advance('2999d');
    expect((await t.tasks.get(handle.id))?.state).toBe('scheduled');
    await t.clock.advance('25h');
    expect(await handle.result()).toBe('default/late.pdf');
  });

  it('lets a handler run across two advances', async () => {
    const slow = task('slow', { timeout: '10m', retries: 0 }, async (_: undefined, ctx) => {
      await new Promise<void>((resolve) => {
        ctx.signal.addEventListener('abort', () => resolve());
      });
      throw ctx.signal.reason;
    });
    open([slow]);
    const handle = await t.enqueue(slow);
    await t.clock.advance('6m');
    expect((await t.tasks.get(handle.id))?.state).toBe('started');
    await t.clock.advance('6m', { allowFailures: true });
    await expect(handle.result()).rejects.toMatchObject({ failureType: 'timeout' });
  });

  it('does not go back', async () => {
    open([invoice]);
    await expect(t.clock.advance(-1)).rejects.toThrow('advance');
  });
});

describe('stand-ins', () => {
  it('take the place of handlers, typed', async () => {
    open([invoice, charge]);
    t.stub(charge, async ({ cents }) => ({ ok: cents > 0 }));
    const handle = await t.enqueue(charge, { cents: 5 });
    await t.drain();
    expect(await handle.result()).toEqual({ ok: true });
    expect(await t.run(charge, { cents: 0 })).toEqual({ ok: false });
  });

  it('stubs one version of a task, or each that a pipeline gives it', async () => {
    const versions = ['1', '2'].map((version) => task('size', { version }, async () => version));
    const [first = invoice as never, second = first] = versions;
    const inner = task('inner', async () => 'real');
    const whole = inner
      .pipe(task('last', async (text: string) => text))
      .as('whole', { version: '3' });
    open([first, second, whole]);
    t.stub(second, async () => 'stubbed');
    t.stub(inner, async () => 'stubbed');
    const handles = [await t.enqueue(first), await t.enqueue(second), await t.enqueue(whole)];
    await t.drain();
    const results = await Promise.all(handles.map((handle) => handle.result()));
    expect(results).toEqual(['1', 'stubbed', 'stubbed']);
  });

  it('stand for code that is elsewhere', async () => {
    const remote = ref<typeof invoice>('remote');
    open([]);
    t.stub(remote, () => 'stub.pdf');
    const handle = await t.enqueue(remote, { order: '1' });
    await t.drain();
    expect(await handle.result()).toBe('stub.pdf');
  });

  it('fail as often as told', async () => {
    open([invoice]);
    t.fail(invoice, { times: 2 });
    const handle = await t.enqueue(invoice, { order: '1' });
    await t.drain();
    await t.clock.advance('1h');
    expect(await handle.result()).toBe('default/1.pdf');
    expect(t.spy(invoice).runs.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, 'threw'],
      [2, 'threw'],
      [3, 'returned'],
    ]);
  });
});

describe('spies', () => {
  it('resolve for what has been and for what is to come', async () => {
    open([invoice]);
    const spy = t.spy(invoice);
    const coming = spy.returned(({ order }) => order === '2');
    await t.enqueueMany(invoice, [{ order: '1' }, { order: '2' }], { user: 'u' });
    await t.drain();
    expect(await coming).toMatchObject({ input: { order: '2' }, result: 'u/2.pdf', attempt: 1 });
    expect(await spy.started()).toMatchObject({ input: { order: '1' }, user: 'u' });
    expect(await spy.returned()).toMatchObject({ result: 'u/1.pdf' });
    t.fail(invoice);
    await t.enqueue(invoice, { order: '3' });
    await t.drain();
    expect(await spy.threw()).toMatchObject({ error: { name: 'InjectedFailure' } });
  });
});

describe('a flaky backend', () => {
  it('loses requests, loses replies, holds and throws, as planned', async () => {
    open([]);
    let release: (() => void) | undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const backend = flakyBackend(memory(), ({ operation, count }) => {
      if (operation !== 'users.set') return undefined;
      if (count === 1) return 'lose-request';
      if (count === 2) return 'lose-reply';
      if (count === 3) return { throw: new RangeError('planned') };
      if (count === 4) return { holdUntil: until };
      return count === 5 ? { holdReplyUntil: until } : undefined;
    });
    const set = (maxRunning: number) => backend.users.set('u', { maxRunning }, {});
    const now = async () => (await backend.users.get('u', 'default'))?.settings.maxRunning;
    await expect(set(1)).rejects.toBeInstanceOf(BackendUnavailableError);
    expect(await now()).toBeUndefined();
    await expect(set(2)).rejects.toBeInstanceOf(BackendUnavailableError);
    expect(await now()).toBe(2);
    await expect(set(3)).rejects.toThrow('planned');
    const fourth = set(4);
    expect(await now()).toBe(2);
    const fifth = set(5);
    expect(await now()).toBe(5);
    release?.();
    await Promise.all([fourth, fifth]);
    expect(await now()).toBe(4);
    expect(backend.name).toBe('memory');
    expect(backend.capabilities).toEqual({ durable: false, shared: false });
  });
});

describe('a manual clock', () => {
  it('fires timers in order, at their own moments, also those set on the way', async () => {
    open([]);
    const clock = new ManualClock(1_000);
    const fired: (readonly [string, number])[] = [];
    const set = (name: string, ms: number) =>
      clock.setTimer(ms, () => {
        fired.push([name, clock.now()]);
        if (name === 'b') set('inner', 5);
      });
    set('c', 30);
    set('b', 20);
    set('a', 20).cancel();
    set('late', 200);
    await clock.advance(100);
    expect(fired).toEqual([
      ['b', 1_020],
      ['inner', 1_025],
      ['c', 1_030],
    ]);
    expect(clock.now()).toBe(1_100);
    expect(clock.pending).toBe(1);
  });
});
