/**
 * Rows of the bug catalogue about dependencies, groups and runs, each as its recipe says. Recipes
 * with thousands of rounds run a share of them here; `FAIRLOOM_ALL_ROUNDS=1` runs all.
 */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../../src/client/client.ts';
import { Fatal } from '../../../../src/domain/errors/handler-errors.ts';
import type { RunHandle } from '../../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../../src/testing/flaky-backend.ts';
import { parallel } from '../../../../src/workflow/parallel.ts';
import type { TaskContext } from '../../../../src/workflow/task-context.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, opened } from '../../../support/backends.ts';
import { gate } from '../../../support/gate.ts';
import { rounds } from '../../../support/rounds.ts';
import { settled } from '../../../support/runs.ts';
import { seeded, shuffled, turn } from './kit.ts';

const FORMS = ['dispatched', 'driven'] as const;
type Form = (typeof FORMS)[number];

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);

eachBackend((open, name) => {
  const harness = opened(open);

  async function working(steps: readonly unknown[], concurrency = 10): Promise<Fairloom> {
    const loom = harness.loom(steps as never);
    await loom.worker({ concurrency }).start();
    return loom;
  }

  const start = (loom: Fairloom, step: unknown, input: unknown, form: Form) =>
    loom.enqueue(step as never, input as never, { form }) as Promise<RunHandle<unknown>>;

  /** A group of these names, whose members do what is said for all of them. */
  function groupOf(
    names: readonly string[],
    work: (name: string, ctx: TaskContext) => unknown,
    options: object = {},
  ) {
    const members = names.map((one) => {
      const definition = { retries: 1, backoff: { base: 0 }, ...options };
      return [one, task(one, definition, (_: unknown, ctx) => work(one, ctx))] as const;
    });
    return parallel(Object.fromEntries(members));
  }

  describe('a fan-in', () => {
    // O37
    it('of 100 nodes that end in any order lets the run end, every time', async () => {
      const names = Array.from({ length: 100 }, (_, at) => `n${at}`);
      let waiting: (() => void)[] = [];
      const group = groupOf(names, async (one) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return one;
      });
      const loom = await working([group], 200);
      const times = rounds(10_000, name === 'memory' ? 30 : 10);
      for (let round = 0; round < times; round++) {
        waiting = [];
        const run = await start(loom, group, 1, FORMS[round % 2] ?? 'driven');
        await harness.until(() => waiting.length === names.length);
        const random = seeded(round);
        for (const release of shuffled(waiting, random)) {
          release();
          if (random() < 0.3) await turn();
        }
        const value = await settled(harness, run.result());
        expect([round, Object.keys(value as object)]).toEqual([round, names.toSorted()]);
      }
    });

    it.each(FORMS)(
      // O44
      'of five, two of which fail once, runs the body once, after all (%s)',
      async (form) => {
        const names = ['a', 'b', 'c', 'd', 'e'];
        const ended: string[] = [];
        const bodies: number[] = [];
        const group = groupOf(names, (one, ctx) => {
          if ((one === 'b' || one === 'd') && ctx.attempt === 1) throw new Error('once');
          ended.push(one);
          return one;
        });
        const body = task('body', () => bodies.push(ended.length));
        const whole = group.pipe(body as never);
        const loom = await working([whole]);
        await settled(harness, (await start(loom, whole, 1, form)).result());
        expect(ended.toSorted()).toEqual(names);
        expect(bodies).toEqual([5]);
      },
    );

    // O45 B-W6
    it.each(FORMS)('counts a member once that reports twice (%s)', async (form) => {
      const [first, others] = [gate(), gate()];
      const bodies: number[] = [];
      const group = groupOf(['a', 'b', 'c'], async (one) => {
        await (one === 'a' ? first : others).passed;
        return one;
      });
      const whole = group.pipe(task('body', () => bodies.push(1)) as never);
      const reports: Parameters<Harness['backend']['tasks']['settle']>[0][] = [];
      const seen = flakyBackend(harness.backend, ({ operation, args }) => {
        if (operation === 'tasks.settle') reports.push(args[0] as (typeof reports)[number]);
        return undefined;
      });
      const loom = harness.loom([whole], { backend: seen });
      await loom.worker({ concurrency: 4 }).start();
      const run = await start(loom, whole, 1, form);
      first.open();
      await harness.until(
        async () => (await loom.tasks.list({ state: 'finished' })).items.length > 0,
      );
      for (let times = 0; times < 3; times++) {
        for (const { settlements, worker } of [...reports]) {
          await harness.backend.tasks.settle({ worker, settlements });
        }
        while ((await harness.backend.tasks.tick()).more) await turn();
      }
      await harness.clock.advance('10s');
      expect(bodies).toEqual([]);
      others.open();
      await settled(harness, run.result());
      expect(bodies).toEqual([1]);
    });

    it.each(FORMS)(
      // O46
      'survives that any report of a member, or its answer, is lost (%s)',
      async (form) => {
        for (const fault of ['lose-request', 'lose-reply'] as const) {
          for (let count = 1; count <= 5; count++) {
            let bodies = 0;
            const group = groupOf(['a', 'b', 'c'], (one) => one);
            const whole = group.pipe(task('body', () => ++bodies) as never);
            const backend = flakyBackend(harness.backend, (call) =>
              call.operation === 'tasks.settle' && call.count === count ? fault : undefined,
            );
            const loom = harness.loom([whole], { backend });
            const worker = loom.worker({ concurrency: 4 });
            await worker.start();
            const run = await start(loom, whole, 1, form);
            await settled(harness, run.result());
            expect([fault, count, bodies]).toEqual([fault, count, 1]);
            await settled(harness, worker.stop());
          }
        }
      },
    );

    it.each(FORMS)(
      // O49
      'ends its run when a member fails for good, without time passing (%s)',
      async (form) => {
        const bad = task('bad', () => {
          throw new Fatal('never');
        });
        const whole = parallel({ bad, good: inc }).pipe(double as never);
        const loom = await working([whole]);
        const before = harness.clock.now();
        const run = await start(loom, whole, 1, form);
        const failed = expect(run.result()).rejects.toMatchObject({ code: 'RUN_FAILED' });
        await harness.until(async () => {
          await harness.backend.tasks.tick();
          return (await loom.tasks.get(run.id))?.state === 'failed';
        });
        expect(harness.clock.now()).toBe(before);
        await harness.clock.advance(250);
        await failed;
      },
    );

    // O61 B-W6
    it('whose two last members end together wakes its run once, every time', async () => {
      const bodies = new Map<string, number>();
      let waiting: (() => void)[] = [];
      const group = groupOf(['a', 'b'], async (one) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return one;
      });
      const body = task('body', (_: unknown, ctx) => {
        bodies.set(ctx.runId ?? '', (bodies.get(ctx.runId ?? '') ?? 0) + 1);
      });
      const whole = group.pipe(body as never);
      const looms = [await working([whole], 50), await working([whole], 50)];
      const [loom] = looms;
      if (loom === undefined) throw new Error('two looms');
      const batch = 50;
      const times = rounds(10_000, name === 'memory' ? 1_000 : 300);
      for (let round = 0; round < times; round += batch) {
        waiting = [];
        const form = FORMS[(round / batch) % 2] ?? 'driven';
        const runs = await Promise.all(
          Array.from({ length: batch }, () => start(loom, whole, 1, form)),
        );
        await harness.until(() => waiting.length === 2 * batch);
        for (const release of waiting) release();
        await settled(harness, Promise.all(runs.map((run) => run.result())));
      }
      expect([...bodies.values()].every((count) => count === 1)).toBe(true);
      expect(bodies.size).toBe(Math.ceil(times / batch) * batch);
    });
  });
});
