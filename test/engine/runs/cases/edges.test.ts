/**
 * Rows of the bug catalogue about what a run waits for, each as its recipe says. Recipes with
 * thousands of rounds run a share of them here; `FAIRLOOM_ALL_ROUNDS=1` runs all.
 */
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import type { RedisClient } from '../../../../src/backends/redis/connection/client.ts';
import { redisForTests } from '../../../../src/backends/redis/manual-time.ts';
import { Fairloom } from '../../../../src/client/client.ts';
import { Fatal } from '../../../../src/domain/errors/handler-errors.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import { silentLogger } from '../../../../src/logging/logger.ts';
import type { RunHandle } from '../../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../../src/testing/flaky-backend.ts';
import { ManualClock } from '../../../../src/testing/manual-clock.ts';
import { flow } from '../../../../src/workflow/flow.ts';
import { parallel } from '../../../../src/workflow/parallel.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { gate } from '../../../support/gate.ts';
import { rounds } from '../../../support/rounds.ts';
import { settled } from '../../../support/runs.ts';
import { seeded, turn } from './kit.ts';

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);
const pair = inc.pipe(double);

eachBackend((open, name) => {
  const harness = opened(open);

  const ticked = async (): Promise<void> => {
    while ((await harness.backend.tasks.tick()).more) await harness.quiet();
    await harness.quiet();
  };

  /** Nothing is left that could go on now. */
  const rested = async (loom: Fairloom): Promise<void> => {
    await harness.until(async () => {
      await ticked();
      const { counts } = await loom.stats();
      if (counts.queued + counts.started === 0) return true;
      await harness.clock.advance(250);
      return false;
    });
  };

  describe('a run that waits for a task', () => {
    // O51
    it('which has ended in one of six ways has one fixed outcome for each policy', async () => {
      const fail = task('fail', { retries: 0 }, () => {
        throw new Error('no');
      });
      const dead = task('dead', () => {
        throw new Fatal('never');
      });
      const loom = harness.loom([inc, double, fail, dead]);
      await loom.worker({ concurrency: 20 }).start();
      await settled(harness, (await loom.enqueue(inc, 1, { id: 'expired' })).result());
      await harness.jump(LIMITS.retainFinishedMs + LIMITS.resendMs + 1);
      await ticked();
      expect(await loom.tasks.get('expired')).toBeUndefined();
      await loom.enqueue(inc, 1, { id: 'finished' });
      await loom.enqueue(fail, undefined, { id: 'failed' });
      await loom.enqueue(dead, undefined, { id: 'dead' });
      await loom.enqueue(inc, 1, { id: 'canceled', delay: '1h' });
      await loom.tasks.cancel('canceled');
      await rested(loom);
      const outcome = async (id: string, options: object): Promise<string> => {
        try {
          const run = await loom.enqueue(pair, 1, { dependsOn: [id], ...options });
          await rested(loom);
          return (await loom.tasks.get(run.id))?.state ?? 'gone';
        } catch (error) {
          return (error as { readonly code: string }).code;
        }
      };
      const outcomes = async (options: object): Promise<Record<string, string>> => {
        const found: Record<string, string> = {};
        for (const id of ['finished', 'failed', 'canceled', 'dead', 'missing', 'expired']) {
          found[id] = await outcome(id, options);
        }
        return found;
      };
      const refused = { missing: 'UNKNOWN_DEPENDENCY', expired: 'UNKNOWN_DEPENDENCY' };
      const done = { finished: 'finished', ...refused };
      expect(await outcomes({})).toEqual({
        ...done,
        ...{ failed: 'deferred', dead: 'deferred', canceled: 'canceled' },
      });
      expect(await outcomes({ onUpstreamFailure: 'fail', onUpstreamCancel: 'fail' })).toEqual({
        ...done,
        ...{ failed: 'failed', dead: 'failed', canceled: 'failed' },
      });
      expect(await outcomes({ onUpstreamFailure: 'cancel', onUpstreamCancel: 'wait' })).toEqual({
        ...done,
        ...{ failed: 'canceled', dead: 'canceled', canceled: 'deferred' },
      });
      const all = { failed: 'finished', dead: 'finished', canceled: 'finished' };
      expect(
        await outcomes({
          ...{ onUpstreamFailure: 'run', onUpstreamCancel: 'run', onMissing: 'satisfied' },
        }),
      ).toEqual({ ...all, finished: 'finished', missing: 'finished', expired: 'finished' });
    });

    // O54
    it('that ends at the same moment is run all the same, every time', async () => {
      let waiting: (() => void)[] = [];
      const upstream = task('upstream', () => new Promise<void>((go) => waiting.push(go)));
      const loom = harness.loom([upstream, inc, double]);
      await loom.worker({ concurrency: 100 }).start();
      const batch = 50;
      const times = rounds(10_000, name === 'memory' ? 1_000 : 300);
      for (let round = 0; round < times; round += batch) {
        waiting = [];
        const random = seeded(round);
        const gates = await Promise.all(
          Array.from({ length: batch }, () => loom.enqueue(upstream, undefined)),
        );
        await harness.until(() => waiting.length === batch);
        const runs = await Promise.all(
          gates.map(async (one, at) => {
            const isFirst = random() < 0.5;
            for (let turns = random() * 4; turns > 1; turns--) await turn();
            if (isFirst) waiting[at]?.();
            const stored = loom.enqueue(pair, at, { dependsOn: [one] });
            if (!isFirst) waiting[at]?.();
            return stored;
          }),
        );
        const values = await settled(harness, Promise.all(runs.map((run) => run.result())));
        expect(values).toEqual(runs.map((_, at) => (at + 1) * 2));
      }
    });

    // O55
    it('is stored as things stand then, when its first try was lost or refused', async () => {
      for (const fault of ['lose-request', 'lose-reply'] as const) {
        const go = gate();
        const first = task('first', async (n: number) => {
          await go.passed;
          return n;
        });
        const loom = harness.loom([first, inc, double]);
        const worker = loom.worker();
        await worker.start();
        const upstream = await loom.enqueue(first, 1);
        let isFirst = true;
        const backend = flakyBackend(harness.backend, ({ operation }) => {
          if (operation !== 'tasks.enqueue' || !isFirst) return undefined;
          isFirst = false;
          return fault;
        });
        const shaky = harness.loom([first, inc, double], { backend });
        const send = () => shaky.enqueue(pair, 1, { id: `run-${fault}`, dependsOn: [upstream] });
        await expect(send()).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE' });
        // What the first try saw does not hold any more: its upstream ends meanwhile.
        go.open();
        expect(await settled(harness, upstream.result())).toBe(1);
        const run = await send();
        expect(run.created).toBe(fault === 'lose-request');
        expect(await settled(harness, run.result())).toBe(4);
        expect((await loom.runs.get(run.id))?.nodes.map(({ state }) => state)).toEqual([
          'finished',
          'finished',
        ]);
        await settled(harness, worker.stop());
      }
    });

    // O57
    it('that was never stored is refused with all of the run, or blocks it', async () => {
      const loom = harness.loom([inc, double]);
      await loom.worker().start();
      const refused = loom.enqueue(pair, 1, { dependsOn: ['draft'] });
      await expect(refused).rejects.toMatchObject({ code: 'UNKNOWN_DEPENDENCY' });
      expect((await loom.stats()).totals.enqueued).toBe(0);
      const run = await loom.enqueue(pair, 1, { dependsOn: ['draft'], onMissing: 'block' });
      await harness.clock.advance('5m');
      expect((await loom.tasks.get(run.id))?.state).toBe('deferred');
      await loom.enqueue(inc, 1, { id: 'draft' });
      expect(await settled(harness, run.result())).toBe(4);
    });

    // O66
    it('twice waits for it once; so does a step of a flow', async () => {
      const loom = harness.loom([inc, double]);
      const first = await loom.enqueue(inc, 1);
      const twice = [first, first.id, first];
      const alone = await loom.enqueue(double, 1, { dependsOn: twice });
      const [record] = await harness.backend.inspect.get([alone.id]);
      expect(record?.dependsOn).toEqual([first.id]);
      const wired = flow('wired', (f) => {
        const one = f.step(inc, f.input as never);
        return f.step(double, one, { after: [one, one] });
      });
      const run = (await loom.enqueue(
        wired as never,
        1 as never,
        {
          dependsOn: twice,
        } as never,
      )) as RunHandle<number>;
      const nodes = (await loom.runs.get(run.id))?.nodes ?? [];
      const records = await harness.backend.inspect.get(nodes.map(({ taskId = '' }) => taskId));
      expect(records.map((one) => one?.dependsOn.length)).toEqual([1, 1]);
      await loom.worker().start();
      expect(await settled(harness, run.result())).toBe(4);
    });
  });

  // O59
  it('a chain of 3 with a slow middle has its results, though none is kept', async () => {
    for (const form of ['dispatched', 'driven'] as const) {
      const [began, go] = [gate(), gate()];
      const slow = task('slow', async (n: number) => {
        began.open();
        await go.passed;
        return n * 10;
      });
      const chain = inc.pipe(slow).pipe(task('last', (n: number) => n + 1));
      const loom = harness.loom([chain], { retention: { finished: 0, failed: 0, canceled: 0 } });
      const worker = loom.worker();
      await worker.start();
      const run = await loom.enqueue(chain, 1, { form });
      const result = run.result();
      await began.passed;
      await harness.clock.advance(2 * LIMITS.resendMs);
      await ticked();
      go.open();
      expect(await settled(harness, result)).toBe(21);
      await settled(harness, worker.stop());
      await harness.clock.advance(2 * LIMITS.resendMs);
      await ticked();
      expect((await loom.stats()).counts.finished).toBe(0);
    }
  });
});

describe('redis', () => {
  /** A run with a node that waits for two; true when it ends. */
  async function runsThrough(change: (text: string) => string): Promise<boolean> {
    const real = new Redis(inject('redisUrl'));
    const client = rewritten(real as unknown as RedisClient, change);
    const prefix = `keys-${process.pid}-${change('').length}`;
    const { backend, setTime, dispose } = redisForTests(client, { prefix });
    const clock = new ManualClock(Date.UTC(2026, 0, 5), { moved: setTime });
    await setTime(clock.now());
    const loom = new Fairloom({ backend, clock, tasks: [inc, double], log: silentLogger });
    try {
      await loom.worker().start();
      const ids = [await loom.enqueue(inc, 1), await loom.enqueue(double, 2)];
      const run = await loom.enqueue(parallel({ a: inc, b: double }), 1, { dependsOn: ids });
      for (let step = 0; step < 80; step++) {
        for (let count = 0; count < 10; count++) await turn();
        if ((await loom.tasks.get(run.id))?.state === 'finished') return true;
        await clock.advance(250);
      }
      return false;
    } finally {
      const closed = loom.close({ timeout: 0 });
      await clock.advance(0);
      await closed;
      await dispose();
      real.disconnect();
    }
  }

  // O56
  it('one key name that differs in one place is found out by a run with two dependencies', async () => {
    expect(await runsThrough((text) => text)).toBe(true);
    for (const key of ['deps:waiting:', 'deps:blocked:']) {
      let hits = 0;
      const passed = await runsThrough((text) =>
        text.replaceAll(BLOCKING, (written) => {
          if (written.includes(key)) hits++;
          return written.replaceAll(key, `x${key}`);
        }),
      );
      expect([key, hits > 0, passed]).toEqual([key, true, false]);
    }
  });
});

/** The lines that write down who waits for whom, in the script of all verbs. */
const BLOCKING = /^.*(?:'SADD', |F\.zset\(\().*(?<!, false\))$/gm;

/** A client whose scripts are changed on their way. */
function rewritten(client: RedisClient, change: (text: string) => string): RedisClient {
  const known = new Map<unknown, string>();
  const changed = (text: string): string => {
    const made = known.get(text) ?? change(text);
    known.set(text, made);
    return made;
  };
  return new Proxy(client, {
    get(target, member): unknown {
      if (member === 'call') {
        return async (command: string, args: (string | number)[]): Promise<unknown> => {
          if (command === 'FCALL') throw new Error("ERR unknown command 'FCALL'");
          if (command === 'EVALSHA') throw new Error('NOSCRIPT it has to be sent');
          const [text = '', ...rest] = args;
          return target.call(command, command === 'EVAL' ? [changed(String(text)), ...rest] : args);
        };
      }
      const value: unknown = Reflect.get(target, member);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
