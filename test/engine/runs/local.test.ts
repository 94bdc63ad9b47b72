/** `loom.run` of pipelines: every node here and now, with the rules of a worker and no backend. */
import { describe, expect, it } from 'vitest';
import { memory } from '../../../src/backends/memory/memory-backend.ts';
import { Fairloom } from '../../../src/client/client.ts';
import {
  GroupFailedError,
  MaxCyclesError,
  RunCanceledError,
} from '../../../src/domain/errors/errors.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { flow } from '../../../src/workflow/flow.ts';
import { groupPolicy } from '../../../src/workflow/group-policy.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { Task } from '../../../src/workflow/step.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { gate } from '../../support/gate.ts';
import { aborted } from '../../support/workers.ts';

function open(): { loom: Fairloom; clock: ManualClock } {
  const clock = new ManualClock();
  const backend = flakyBackend(memory({ clock }), () => {
    throw new RangeError('a local run needs no backend');
  });
  return { loom: new Fairloom({ backend, clock, log: silentLogger }), clock };
}

const double = task('double', async (n: number) => n * 2);
const inc = task('inc', (n: number) => n + 1);
const fail = task('fail', { retries: 0 }, async (n: number): Promise<number> => {
  throw new RangeError(`no ${n}`);
});
const wait = task('wait', async (_: number, ctx): Promise<number> => {
  await aborted(ctx.signal);
  throw ctx.signal.reason;
});

describe('a pipeline run here', () => {
  it('gives what its steps give: sequences, groups, flows and each', async () => {
    const { loom } = open();
    const report = flow('report', (f) => {
      const n = f.step(double, f.input as never);
      return f.step(
        task('sum', (all: { n: number; m: number }) => all.n + all.m),
        { n, m: 1 } as never,
      );
    });
    expect(await loom.run(inc.pipe(double), 1)).toBe(4);
    expect(await loom.run(parallel({ d: double, i: inc }), 3)).toEqual({ d: 6, i: 4 });
    expect(await loom.run(each(double), [1, 2, 3])).toEqual([2, 4, 6]);
    expect(await loom.run(each(double), [])).toEqual([]);
    expect(await loom.run(report as never, 4 as never)).toBe(9);
  });

  it('hands each member an input of its own, fresh from JSON', async () => {
    const { loom } = open();
    const spoil = (name: string) =>
      task(name, (value: { n: number }) => {
        value.n += 1;
        return value;
      });
    const made = task('made', () => ({ n: 0, at: undefined }));
    const result = await loom.run(made.pipe(parallel(spoil('a'), spoil('b'))));
    expect(result).toEqual([{ n: 1 }, { n: 1 }]);
    expect(result[0]).not.toBe(result[1]);
  });

  it('retries each node by its own rules, with a rising attempt', async () => {
    const { loom, clock } = open();
    const attempts: number[] = [];
    const flaky = task(
      'flaky',
      { retries: 2, backoff: { base: '10s', jitter: 'none' } },
      (n: number, ctx) => {
        attempts.push(ctx.attempt);
        if (ctx.attempt < 3) throw new Error('again');
        return n;
      },
    );
    const run = loom.run(inc.pipe(flaky).pipe(double), 1);
    await clock.advance('10s');
    await clock.advance('20s');
    expect(await run).toBe(4);
    expect(attempts).toEqual([1, 2, 3]);
  });

  // O47
  it('rejects with the error of the handler, or of the group with each member’s own', async () => {
    const { loom } = open();
    await expect(loom.run(inc.pipe(fail).pipe(double), 1)).rejects.toThrow(new RangeError('no 2'));
    const error = await loom
      .run(parallel({ a: inc, b: fail }), 1)
      .catch((thrown: unknown) => thrown);
    if (!(error instanceof GroupFailedError)) throw error;
    expect(error.failed.map(({ member }) => member)).toEqual(['b']);
    expect(error.failed[0]?.error).toBeInstanceOf(RangeError);
    expect(error.message).toContain('no 1');
  });

  // O47
  it('lenient policies give results of members', async () => {
    const { loom } = open();
    const members = { a: inc, b: fail };
    const lost = { ok: false, error: { name: 'RangeError', message: 'no 1' } };
    expect(await loom.run(parallel(members, { policy: 'bestEffort' }), 1)).toEqual({
      a: { ok: true, value: 2 },
      b: lost,
    });
    expect(await loom.run(parallel(members, { policy: { atLeast: 1 } }), 1)).toMatchObject({
      b: lost,
    });
    expect(await loom.run(parallel(members, { policy: { critical: ['a'] } }), 1)).toEqual({
      a: 2,
      b: lost,
    });
    const most = groupPolicy(
      'most',
      (all) => all.filter((one) => one.state === 'finished').length > 1,
    );
    await expect(loom.run(parallel(members, { policy: most }), 1)).rejects.toBeInstanceOf(
      GroupFailedError,
    );
  });

  it('failFast ends the others, a timeout all that are open', async () => {
    const { loom, clock } = open();
    const fast = loom.run(parallel({ wait, fail }, { failFast: true }), 1);
    await expect(fast).rejects.toMatchObject({ failed: [{ member: 'fail' }, { member: 'wait' }] });
    const slow = loom
      .run(parallel({ wait, inc }, { timeout: '5s' }), 1)
      .catch((thrown: unknown) => thrown);
    await clock.advance('5s');
    expect(await slow).toMatchObject({
      code: 'GROUP_FAILED',
      failed: [{ member: 'wait', error: { name: 'TimedOutError' } }],
    });
  });

  it('runs so many members at once, and no more', async () => {
    const { loom } = open();
    let running = 0;
    let most = 0;
    const open3 = gate();
    const slow = task('slow', async (n: number) => {
      most = Math.max(most, ++running);
      await open3.passed;
      running--;
      return n;
    });
    const run = loom.run(each(slow, { concurrency: 3 }), [1, 2, 3, 4, 5, 6, 7]);
    setImmediate(() => open3.open());
    expect(await run).toHaveLength(7);
    expect(most).toBe(3);
  });

  it('nested groups, four deep', async () => {
    const { loom } = open();
    const deep = each(each(each(each(double))));
    expect(await loom.run(deep, [[[[1], [2]]], [[[3]]]])).toEqual([[[[2], [4]]], [[[6]]]]);
  });

  it('10,000 members', async () => {
    const { loom } = open();
    const all = await loom.run(
      each(double),
      Array.from({ length: 10_000 }, (_, n) => n),
    );
    expect(all[9_999]).toBe(19_998);
  });

  it('ends with the caller’s signal, wherever it is', async () => {
    const { loom } = open();
    const stop = new AbortController();
    const reason = new Error('stop');
    const run = loom.run(each(wait), [1, 2, 3], { signal: stop.signal });
    setImmediate(() => stop.abort(reason));
    await expect(run).rejects.toBe(reason);
  });
});

describe('dynamic control, run here', () => {
  const agent: Task<number, number> = dynamic('agent', (n: number, ctx) =>
    ctx.cycle < 3 && ctx.canIterate ? ctx.again(n + 1) : n,
  );

  it('again, next, goto and terminate', async () => {
    const { loom } = open();
    expect(await loom.run(agent.pipe(double), 0)).toBe(6);
    const next = dynamic('next', (n: number, ctx) => ctx.next(parallel(double, inc), n));
    const sum = task('sum', ([a, b]: readonly [number, number]) => a + b);
    expect(await loom.run(next.pipe(sum), 5)).toBe(16);
    const goto = dynamic('goto', (n: number, ctx) => ctx.goto(inc, n));
    expect(await loom.run(goto.pipe(fail).pipe(inc), 5)).toBe(6);
    const stop = dynamic('stop', (n: number, ctx) => ctx.terminate(`at ${n}`));
    expect(await loom.run(inc.pipe(stop).pipe(fail as never), 5)).toBe('at 6');
  });

  it('two tasks may call each other until maxCycles', async () => {
    const { loom } = open();
    const visits: string[] = [];
    const ping: Task<number, number> = dynamic('ping', { maxCycles: 4 }, (n: number, ctx) => {
      visits.push('ping');
      return n === 0 ? n : ctx.next(pong, n);
    });
    const pong: Task<number, number> = dynamic('pong', (n: number, ctx) => {
      visits.push('pong');
      return ctx.next(ping, n - 1);
    });
    expect(await loom.run(ping, 3)).toBe(0);
    expect(visits).toHaveLength(7);
    await expect(loom.run(ping, 4)).rejects.toBeInstanceOf(MaxCyclesError);
  });

  it('cancelRun ends the run also when the handler catches it; so it does in a member', async () => {
    const { loom } = open();
    const quit = dynamic('quit', (n: number, ctx) => {
      try {
        ctx.cancelRun('enough');
      } catch {
        // It counts all the same.
      }
      return ctx.terminate(n);
    });
    await expect(loom.run(quit.pipe(inc as never), 1)).rejects.toEqual(
      new RunCanceledError({ type: 'cancel-run', node: 'quit', reason: 'enough' }),
    );
    await expect(loom.run(parallel({ quit, wait }), 1)).rejects.toBeInstanceOf(RunCanceledError);
  });

  it('terminate in a member ends the run; goto out of it fails the member', async () => {
    const { loom } = open();
    const stop = dynamic('stop', (n: number, ctx) => ctx.terminate(n));
    expect(await loom.run(parallel({ stop, wait }).pipe(fail as never), 7)).toBe(7);
    const out = dynamic('out', (n: number, ctx) => ctx.goto(inc, n));
    await expect(loom.run(parallel({ out, double }).pipe(inc as never), 1)).rejects.toMatchObject({
      failed: [{ member: 'out', error: { name: 'GotoInGroupError' } }],
    });
  });
});
