/** What Graflow's own tests ask of retries, policies, data and barriers, on both backends. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../../src/client/client.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { RunHandle } from '../../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../../src/testing/flaky-backend.ts';
import { type Flow, flow } from '../../../../src/workflow/flow.ts';
import { groupPolicy } from '../../../../src/workflow/group-policy.ts';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import type { AnyStep } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { gate } from '../../../support/gate.ts';
import { settled } from '../../../support/runs.ts';
import { aborted } from '../../../support/workers.ts';
import { FORMS } from './kit.ts';

type Form = (typeof FORMS)[number];

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);

eachBackend((open) => {
  const harness = opened(open);

  interface Ended {
    readonly value?: unknown;
    readonly error?: { readonly code?: string; readonly message: string };
  }

  /** Runs a step to its end, by a worker that is gone then, so that names may be used again. */
  async function outcome(step: unknown, input: unknown, form: Form = 'dispatched'): Promise<Ended> {
    const loom = harness.loom([step] as never);
    const worker = loom.worker();
    await worker.start();
    const run = (await loom.enqueue(step as never, input as never, { form })) as RunHandle<unknown>;
    const end = await settled(harness, run.result()).then(
      (value): Ended => ({ value }),
      (error): Ended => ({ error }),
    );
    await settled(harness, worker.stop({ grace: 0 }));
    return end;
  }

  // A-W5
  it('a pipeline is enqueued as it is: all of it, or nothing', async () => {
    const load = task('load', ([rows, count]: readonly [number, number]) => rows + count);
    const etl = inc
      .pipe(parallel(double, inc.as('count')))
      .pipe(load)
      .as('etl');
    const loom = harness.loom([etl]);
    await loom.worker().start();
    const run = await loom.enqueue(etl, 3, { user: 'acme' });
    expect(await settled(harness, run.result())).toBe(8 + 5);
    const nodes = (await loom.runs.get(run.id))?.nodes ?? [];
    expect(nodes.map(({ node, state }) => [node, state])).toContainEqual(['load', 'finished']);
    const { totals } = await loom.stats();
    const refused = loom.enqueue(etl, { not: 'a number', at: new Date() } as never);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_PAYLOAD' });
    expect((await loom.stats()).totals.enqueued).toBe(totals.enqueued);
  });

  describe('retries', () => {
    /** A node that fails so many times, and when its attempts began. */
    function failing(times: number, options: object): { step: AnyStep; begun: number[] } {
      const begun: number[] = [];
      const step = task('failing', options, (n: number) => {
        begun.push(harness.clock.now());
        if (begun.length <= times) throw new RangeError(`attempt ${begun.length}`);
        return n;
      });
      return { step: inc.pipe(step) as AnyStep, begun };
    }

    it.each(FORMS)(
      // C2.12 C2.13
      'are as many as were said: none, one, and then the error (%s)',
      async (form) => {
        for (const [retries, fails, attempts, isGood] of [
          [0, 1, 1, false],
          [1, 1, 2, true],
          [1, 2, 2, false],
          [undefined, LIMITS.retries, LIMITS.retries + 1, true],
          [undefined, LIMITS.retries + 1, LIMITS.retries + 1, false],
        ] as const) {
          const { step, begun } = failing(fails, { retries, backoff: { base: 0 } });
          const { error } = await outcome(step, 1, form);
          expect([retries, fails, begun.length, error === undefined]).toEqual([
            ...[retries, fails, attempts, isGood],
          ]);
          if (error !== undefined) expect(error.message).toContain(`attempt ${attempts}`);
        }
      },
    );

    // C2.14
    it.each(FORMS)('wait 1, 2 and 4 s, and no longer than the cap (%s)', async (form) => {
      const backoff = { kind: 'exponential', base: '1s', max: '5s', jitter: 'none' } as const;
      const { step, begun } = failing(5, { retries: 5, backoff });
      await outcome(step, 1, form);
      const waits = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
      for (const [at, expected] of [1_000, 2_000, 4_000, 5_000, 5_000].entries()) {
        // The clock of the test moves in steps of a quarter of a second.
        expect(waits[at]).toBeGreaterThanOrEqual(expected);
        expect(waits[at]).toBeLessThan(expected + 1_500);
      }
    });

    // C2.15
    it.each(FORMS)('of one member are none of the others (%s)', async (form) => {
      const calls: string[] = [];
      const member = (name: string, fails: number) =>
        task(name, { retries: 3, backoff: { base: 0 } }, (n: number, ctx) => {
          calls.push(`${name}${ctx.attempt}`);
          if (ctx.attempt <= fails) throw new Error('again');
          return n;
        });
      const group = parallel({ a: member('a', 0), b: member('b', 2), c: member('c', 0) });
      expect((await outcome(group, 1, form)).value).toEqual({ a: 1, b: 1, c: 1 });
      expect(calls.toSorted()).toEqual(['a1', 'b1', 'b2', 'b3', 'c1']);
    });
  });

  describe('policies', () => {
    const fail = task('fail', { retries: 0 }, (_: number): number => {
      throw new Error('no');
    });
    const start = (loom: Fairloom, step: unknown, input: unknown) =>
      loom.enqueue(step as never, input as never) as Promise<RunHandle<unknown>>;
    const most = groupPolicy(
      'most',
      (all) => all.filter((one) => one.state === 'finished').length > 1,
    );

    // C2.16
    it('decide as the table says', async () => {
      for (const [policy, good, isGood] of [
        ['strict', 3, true],
        ['strict', 2, false],
        ['bestEffort', 0, true],
        [{ atLeast: 2 }, 2, true],
        [{ atLeast: 2 }, 1, false],
        [{ critical: ['m0'] }, 1, true],
        [{ critical: ['m2'] }, 2, false],
        [most, 2, true],
        [most, 1, false],
      ] as const) {
        const members = [0, 1, 2].map((at) => {
          return [`m${at}`, (at < good ? inc : fail).as(`m${at}`)] as const;
        });
        const options = { policy: policy as 'bestEffort' };
        const { error } = await outcome(
          parallel(Object.fromEntries(members), options),
          1,
          'driven',
        );
        expect([policy, good, error === undefined]).toEqual([policy, good, isGood]);
        const ofGroup = error === undefined || error.message.includes('no');
        expect(ofGroup).toBe(true);
      }
    });

    // C2.17
    it('by name are found by the worker, and an unknown one is an error', async () => {
      const members = { a: inc, b: double, c: fail };
      const group = parallel(members, { policy: { name: 'most' } });
      const knowing = harness.loom([group, most]);
      const run = await start(harness.loom([inc]), group, 1);
      await knowing.worker().start();
      expect(await settled(harness, run.result())).toMatchObject({ c: { ok: false } });
      const { graph } = await knowing.runs.graph(run.id);
      expect(JSON.stringify(graph)).toContain('"most"');
      const nobody = parallel(members, { policy: { name: 'nobody' } });
      const here = harness.loom([inc, double, fail]).run(nobody as never, 1 as never);
      await expect(here).rejects.toThrow('nobody');
    });
  });

  describe('data', () => {
    // C2.18
    it('is handed on as it is: null stays null, nothing is turned into something else', async () => {
      const seen: unknown[] = [];
      const look = task('look', (value: unknown) => {
        seen.push(value);
        return value;
      });
      const give = task('give', () => ({
        none: null,
        text: '5',
        zero: 0,
        no: false,
        list: [null],
      }));
      const whole = flow('whole', (f: Flow<undefined>) => {
        const all = f.step(give, undefined);
        const parts = ['none', 'text', 'zero', 'no', 'list', 'absent'] as const;
        const looks = parts.map((part) =>
          f.step(
            look.as(`look-${part}`),
            (all as unknown as { get(key: string): never }).get(part),
          ),
        );
        return f.step(look, looks.slice(0, 5) as never);
      });
      const values = [null, '5', 0, false, [null]];
      expect((await outcome(whole, undefined)).value).toEqual(values);
      expect(seen.slice(0, 6)).toEqual(expect.arrayContaining([...values, undefined]));
      expect(seen.at(-1)).toEqual(values);
    });

    // C2.19
    it('a task may be there more than once under names of its own', async () => {
      const loom = harness.loom([inc]);
      await loom.worker().start();
      await expect((async () => loom.enqueue(inc.pipe(inc), 1))()).rejects.toThrow('inc');
      const twice = inc.pipe(inc.as('again'));
      expect(await settled(harness, (await loom.enqueue(twice, 1)).result())).toBe(3);
    });
  });

  describe('a barrier', () => {
    // C2.25
    it('is passed though all members have ended before it is waited for', async () => {
      const blocker = gate();
      let ended = 0;
      const quick = task('quick', (n: number) => {
        ended++;
        return n;
      });
      const whole = each(quick).pipe(task('count', (all: readonly number[]) => all.length));
      const isSuspension = (args: readonly unknown[]): boolean =>
        JSON.stringify(args).includes('"suspend"');
      const slow = flakyBackend(harness.backend, ({ operation, args }) =>
        operation === 'tasks.settle' && isSuspension(args)
          ? { holdUntil: blocker.passed }
          : undefined,
      );
      const producer = harness.loom([whole], { backend: slow });
      await producer.worker({ concurrency: 1 }).start();
      const loom = harness.loom([quick]);
      const run = await loom.enqueue(whole as never, [1, 2, 3] as never);
      await harness.quiet();
      await loom.worker().start();
      await harness.until(async () => {
        if (ended === 3) return true;
        await harness.clock.advance(250);
        return false;
      });
      await harness.quiet();
      blocker.open();
      expect(await settled(harness, (run as RunHandle<unknown>).result())).toBe(3);
    });

    // C2.25
    it('whose time is up fails then, and ends its members', async () => {
      const wait = task('wait', async (_: number, ctx): Promise<number> => {
        await aborted(ctx.signal);
        throw ctx.signal.reason;
      });
      const group = parallel({ inc, wait, other: wait.as('other') }, { timeout: '5s' });
      const loom = harness.loom([group]);
      await loom.worker().start();
      const begun = harness.clock.now();
      const run = await loom.enqueue(group, 1);
      await expect(settled(harness, run.result())).rejects.toMatchObject({ code: 'RUN_FAILED' });
      const took = harness.clock.now() - begun;
      expect(took).toBeGreaterThanOrEqual(5_000);
      expect(took).toBeLessThan(6_500);
      await harness.clock.advance('10s');
      await harness.quiet();
      const { counts } = await loom.stats();
      expect(counts).toMatchObject({ started: 0, queued: 0, deferred: 0, canceled: 2 });
    });

    // C2.25
    it.each(FORMS)('may hold others, two and three levels deep (%s)', async (form) => {
      const two = parallel({ a: inc, b: parallel({ c: double, d: inc.as('d') }) });
      expect((await outcome(two, 3, form)).value).toEqual({ a: 4, b: { c: 6, d: 4 } });
      const three = parallel({ x: two, y: double.as('y') });
      const value = { x: { a: 4, b: { c: 6, d: 4 } }, y: 6 };
      expect((await outcome(three, 3, form)).value).toEqual(value);
    });
  });
});
