/** `loom.run`: a task here and now, with the same rules and no backend. */
import { describe, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import type { FairloomOptions } from '../../../src/core/options.ts';
import { decide } from '../../../src/domain/attempt/decider.ts';
import { Fatal, InvalidResultError, TimedOutError } from '../../../src/domain/errors/errors.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { retryAfter } from '../../../src/workflow/tasks/retry-after.ts';
import { aborted } from '../../support/workers.ts';

function open(options: Partial<FairloomOptions> = {}): { loom: Fairloom; clock: ManualClock } {
  const clock = new ManualClock();
  const calls = (): never => {
    throw new RangeError('a local run needs no backend');
  };
  const backend = flakyBackend(memory({ clock }), calls);
  return { loom: new Fairloom({ backend, clock, log: silentLogger, ...options }), clock };
}

const backoff = { base: '10s', jitter: 'none' } as const;

describe('run', () => {
  it('gives the result, back from JSON', async () => {
    const make = task('make', async (n: number, ctx) => ({ n, user: ctx.user, gone: undefined }));
    const { loom } = open();
    expect(Object.keys(await loom.run(make, 2, { user: 'u' }))).toEqual(['n', 'user']);
  });

  it('rejects with the error of the handler itself', async () => {
    const error = new RangeError('mine');
    const fail = task('fail', { retries: 0 }, async () => {
      throw error;
    });
    const { loom } = open();
    await expect(loom.run(fail)).rejects.toBe(error);
  });

  it('retries after the backoff, then gives the last error', async () => {
    const attempts: number[] = [];
    const fail = task('fail', { retries: 2, backoff }, async (_: undefined, ctx) => {
      attempts.push(ctx.attempt);
      throw new Error(`attempt ${ctx.attempt}`);
    });
    const { loom, clock } = open();
    const run = loom.run(fail).catch((error: unknown) => error);
    await clock.advance('10s');
    expect(attempts).toEqual([1, 2]);
    await clock.advance('20s');
    expect(await run).toMatchObject({ message: 'attempt 3' });
  });

  it('steers by Fatal and retryAfter', async () => {
    const steps: string[] = [];
    const steered = task('steered', async (_: undefined, ctx) => {
      steps.push(`attempt ${ctx.attempt}`);
      if (steps.length === 1) throw retryAfter('1s', { countAttempt: false });
      throw new Fatal('enough');
    });
    const { loom, clock } = open();
    const run = loom.run(steered).catch((error: unknown) => error);
    await clock.advance('1s');
    expect(await run).toBeInstanceOf(Fatal);
    expect(steps).toEqual(['attempt 1', 'attempt 1']);
  });

  it('times out: a handler that notices is retried, a deaf one is given up', async () => {
    const slow = task('slow', { timeout: '2s', retries: 1, backoff }, async (_: undefined, ctx) => {
      if (ctx.attempt === 2) return 'second';
      await aborted(ctx.signal);
      throw ctx.signal.reason;
    });
    const deaf = task('deaf', { timeout: '2s' }, () => new Promise<void>(() => undefined));
    const { loom, clock } = open();
    const first = loom.run(slow);
    const second = loom.run(deaf).catch((error: unknown) => error);
    await clock.advance('12s');
    expect(await first).toBe('second');
    expect(await second).toBeInstanceOf(TimedOutError);
  });

  it('ends with the caller’s signal', async () => {
    const seen: unknown[] = [];
    const wait = task('wait', async (_: undefined, ctx) => {
      await aborted(ctx.signal);
      seen.push(ctx.signal.reason);
    });
    const { loom } = open();
    const stop = new AbortController();
    const run = loom.run(wait, undefined, { signal: stop.signal });
    const reason = new RangeError('stop');
    setImmediate(() => stop.abort(reason));
    await expect(run).rejects.toBe(reason);
    expect(seen).toEqual([reason]);
    await expect(loom.run(wait, undefined, { signal: stop.signal })).rejects.toBe(reason);
  });

  it('checks input and result as a worker would', async () => {
    const even: StandardSchemaV1<number, number> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (n) => (Number(n) % 2 === 0 ? { value: n } : { issues: [{ message: 'odd' }] }),
      },
    };
    const half = task('half', { input: even, output: even }, (n) => n / 2);
    const date = task('date', () => new Date(0));
    const { loom } = open();
    expect(await loom.run(half, 4)).toBe(2);
    await expect(loom.run(half, 3)).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    await expect(loom.run(half, 2)).rejects.toMatchObject({ code: 'INVALID_RESULT' });
    await expect(loom.run(date)).rejects.toBeInstanceOf(InvalidResultError);
  });

  it('follows the decider of the definition', async () => {
    let runs = 0;
    const picky = task(
      'picky',
      {
        decider: (outcome, facts) =>
          outcome.type === 'succeeded' && outcome.result === '1'
            ? { type: 'retry', delayMs: 0, reason: 'too little', error: '' }
            : decide(outcome, facts),
      },
      async () => ++runs,
    );
    const { loom, clock } = open();
    const run = loom.run(picky);
    await clock.advance(0);
    expect(await run).toBe(2);
  });

  it('cannot run what is no definition', async () => {
    const { loom } = open();
    await expect(loom.run({} as ReturnType<typeof task>)).rejects.toThrow('expected a step');
  });
});
