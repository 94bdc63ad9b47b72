/** The clock of the testing kit: what waits for it, and how fast it goes. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { coreOf } from '../../../src/client/client.ts';
import { ClockNotDrivenError } from '../../../src/domain/errors/errors.ts';
import type { TaskSource } from '../../../src/handlers/registry.ts';
import { type TestLoom, testLoom } from '../../../src/testing/test-loom.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { gate } from '../../support/gate.ts';

const hello = task('hello', async (who: string) => `Hello, ${who}!`);
const shout = task('shout', async (text: string) => text.toUpperCase());

let t: TestLoom;
function open(tasks: TaskSource): TestLoom {
  t = testLoom(tasks);
  return t;
}
afterEach(async () => {
  vi.useRealTimers();
  await t.close();
});

// F37
describe('a forgotten drain', () => {
  // F37
  it('ends result(), with a timeout and without, by an error that names the way out', async () => {
    open([hello]);
    const handle = await t.enqueue(hello, 'Ada');
    for (const options of [{ timeout: '100ms' }, {}, { timeout: '30d' }] as const) {
      const error = await handle.result(options).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ClockNotDrivenError);
      expect(error).toMatchObject({ code: 'CLOCK_NOT_DRIVEN', taskId: handle.id });
      expect(String(error)).toContain('nothing drives this clock: call drain or advance');
    }
    // The task waits on.
    await t.drain();
    expect(await handle.result()).toBe('Hello, Ada!');
  });

  // F37
  it('ends the results of runs, of delayed tasks after a drain, and under fake timers', async () => {
    vi.useFakeTimers();
    open([hello, shout]);
    const run = await t.enqueue(hello.pipe(shout), 'Ada');
    await expect(run.result()).rejects.toThrow(ClockNotDrivenError);
    const late = await t.enqueue(hello, 'Bob', { delay: '1h' });
    await t.drain();
    expect(await run.result()).toBe('HELLO, ADA!');
    await expect(late.result({ timeout: '2h' })).rejects.toThrow(ClockNotDrivenError);
    await t.clock.advance('1h');
    expect(await late.result()).toBe('Hello, Bob!');
  });

  // F37
  it('is none while something happens: a drive later, a handler that runs, a worker', async () => {
    const wait = gate();
    const gated = task('held', async () => wait.passed);
    open([hello, gated]);
    const before = (await t.enqueue(hello, 'Ada')).result({ timeout: '1h' });
    await t.drain();
    expect(await before).toBe('Hello, Ada!');
    const running = await t.enqueue(gated);
    await t.clock.advance('1s');
    expect(t.spy(gated).runs).toHaveLength(1);
    const result = running.result();
    // Longer than a test may forget to drive.
    await new Promise((resolve) => setTimeout(resolve, 250));
    wait.open();
    await result;
    await t.worker().start();
    expect(await (await t.enqueue(hello, 'Bob')).result()).toBe('Hello, Bob!');
  });

  // F37
  it('leaves a timeout that the clock passes, and a close, as they are', async () => {
    open([hello]);
    const handle = await t.enqueue(hello, 'Ada', { delay: '2d' });
    const waiting = handle.result({ timeout: '1d' }).catch((error: unknown) => error);
    await t.clock.advance('1d');
    expect(await waiting).toMatchObject({ code: 'RESULT_TIMEOUT' });
    const other = handle.result().catch((error: unknown) => error);
    await t.close();
    expect(await other).toMatchObject({ code: 'CLOSED' });
  });
});

// F38
describe('thirty days', () => {
  /** Calls of the backend on the way: these tell of polls on any machine. */
  async function callsOf(code: () => Promise<unknown>): Promise<number> {
    const { tasks, schedules } = coreOf(t).connection.backend;
    const spies = [vi.spyOn(tasks, 'lease'), vi.spyOn(tasks, 'tick'), vi.spyOn(schedules, 'due')];
    const began = cpuMs();
    await code();
    expect(cpuMs() - began).toBeLessThan(1_000);
    return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  }

  const CASES: readonly (readonly [name: string, prepare: () => Promise<unknown>])[] = [
    ['that has not begun', async () => undefined],
    ['after a drain', () => t.drain()],
    [
      'beside a user that is paused',
      async () => {
        await t.enqueue(hello, 'Ada', { user: 'ann' });
        await t.users.pause('ann');
      },
    ],
    ['beside a task that is due later', () => t.enqueue(hello, 'Ada', { delay: '60d' })],
    ['beside another worker', () => t.worker().start()],
    ['beside a task of another client', () => t.enqueueByName('strange', 1, { queue: 'other' })],
  ];

  // F38
  it.each(CASES)('with an idle worker need no poll: %s', async (_name, prepare) => {
    open([hello]);
    await prepare();
    expect(await callsOf(() => t.clock.advance('30d'))).toBeLessThan(20);
    // It is awake all the same.
    expect(
      await (async () => {
        const handle = await t.enqueue(hello, 'Bob');
        await t.drain();
        return handle.result();
      })(),
    ).toBe('Hello, Bob!');
  });

  // F38
  it('pass beside a handler that nothing ends', async () => {
    const hung = task(
      'hung',
      { timeout: '10s', retries: 0 },
      () => new Promise<void>(() => undefined),
    );
    open([hung, hello]);
    const handle = await t.enqueue(hung);
    const error = handle.result().catch((thrown: unknown) => thrown);
    const calls = await callsOf(() => t.clock.advance('30d', { allowFailures: true }));
    expect(calls).toBeLessThan(60);
    expect(await error).toMatchObject({ failureType: 'timeout' });
  });

  // F38
  it('pass what is due at its own moment', async () => {
    let ranAt = 0;
    const note = task('note', async () => {
      ranAt = t.clock.now();
    });
    open([note]);
    await t.enqueue(note, undefined, { delay: '20d' });
    const from = t.clock.now();
    expect(await callsOf(() => t.clock.advance('30d'))).toBeLessThan(20);
    expect(ranAt).toBe(from + 20 * 86_400_000);
    expect(t.clock.now()).toBe(from + 30 * 86_400_000);
  });
});
