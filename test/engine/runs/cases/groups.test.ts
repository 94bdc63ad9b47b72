/** Rows of the bug catalogue about groups whose members or producers go, each as its recipe says. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../../src/client/client.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { RunHandle } from '../../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import type { AnyStep, Step } from '../../../../src/workflow/step.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { gate } from '../../../support/gate.ts';
import { mortal } from '../../../support/processes/mortal.ts';
import { rounds } from '../../../support/rounds.ts';
import { settled } from '../../../support/runs.ts';
import { seeded } from './kit.ts';

const FORMS = ['dispatched', 'driven'] as const;
type Form = (typeof FORMS)[number];

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);

type End = 'finished' | 'failed' | 'canceled';
type Ends = Readonly<Record<string, End>>;
const ENDS: readonly End[] = ['finished', 'failed', 'canceled'];
const LEAVES = ['a', 'b', 'c', 'd'] as const;
const POLICIES = ['strict', 'bestEffort', 'atLeast', 'critical'] as const;
type Policy = (typeof POLICIES)[number];

/** Tasks that end as the input says. */
const leaves = LEAVES.map((name) =>
  task(
    name,
    {
      retries: 0,
      decider: (outcome) => {
        if (outcome.type === 'succeeded') return { type: 'finish', result: '"done"' } as const;
        const error = outcome.type === 'failed' ? outcome.error : '{}';
        if (error.includes('canceled')) return { type: 'cancel', reason: 'as told' } as const;
        return { type: 'dead-letter', failureType: 'error', reason: 'as told', error } as const;
      },
    },
    (ends: Ends) => {
      if (ends[name] !== 'finished') throw new Error(ends[name]);
      return 'done';
    },
  ),
);

/** A group of two; the first is the critical one, and one of both is enough for `atLeast`. */
function groupOf(x: AnyStep, y: AnyStep, policy: Policy, name: string): AnyStep {
  const policies = {
    strict: 'strict',
    bestEffort: 'bestEffort',
    atLeast: { atLeast: 1 },
    critical: { critical: ['x'] },
  } as const;
  return parallel({ x, y }, { name, policy: policies[policy] as 'bestEffort' });
}

function isGood(policy: Policy, x: boolean, y: boolean): boolean {
  if (policy === 'bestEffort') return true;
  if (policy === 'atLeast') return x || y;
  return policy === 'critical' ? x : x && y;
}

eachBackend((open) => {
  const harness = opened(open);

  const start = (loom: Fairloom, step: unknown, input: unknown, form: Form) =>
    loom.enqueue(step as never, input as never, { form }) as Promise<RunHandle<unknown>>;

  describe('nested groups', () => {
    // O50
    it('all 81 ways for four members to end, in two groups of a third, with random policies', async () => {
      const loom = harness.loom(leaves);
      await loom.worker({ concurrency: 100 }).start();
      const [a = inc, b = inc, c = inc, d = inc] = leaves as readonly AnyStep[];
      const random = seeded(50);
      const pick = (): Policy => POLICIES[Math.floor(random() * POLICIES.length)] ?? 'strict';
      const all = ENDS.flatMap((one) =>
        ENDS.flatMap((two) =>
          ENDS.flatMap((three) =>
            ENDS.map((four): Ends => ({ a: one, b: two, c: three, d: four })),
          ),
        ),
      );
      for (let round = 0; round < rounds(64, 4); round++) {
        const cases = all.map((ends) => ({ ends, policies: [pick(), pick(), pick()] as const }));
        const form = FORMS[round % 2] ?? 'driven';
        const runs = await Promise.all(
          cases.map(({ ends, policies: [p, q, r] }) => {
            const whole = groupOf(groupOf(a, b, p, 'left'), groupOf(c, d, q, 'right'), r, 'all');
            return start(loom, whole, ends, form);
          }),
        );
        const results = await settled(harness, Promise.allSettled(runs.map((run) => run.result())));
        for (const [at, { ends, policies }] of cases.entries()) {
          const [p, q, r] = policies;
          const ok = (leaf: string): boolean => ends[leaf] === 'finished';
          const expected = isGood(r, isGood(p, ok('a'), ok('b')), isGood(q, ok('c'), ok('d')));
          const label = `${form} ${policies} ${Object.values(ends)}`;
          expect(results[at]?.status, label).toBe(expected ? 'fulfilled' : 'rejected');
        }
      }
      // Nothing waits for ever, as it would with a count that is off.
      await harness.until(async () => {
        const { counts } = await loom.stats();
        if (counts.deferred + counts.queued + counts.started === 0) return true;
        await harness.clock.advance(250);
        return false;
      });
    });

    it.each(FORMS)(
      // O53
      'of nothing, three in a row and as a leaf, end at once (%s)',
      async (form) => {
        const none = (group: string): Step<unknown, unknown> =>
          parallel({}, { name: group }) as unknown as Step<unknown, unknown>;
        const leaf = parallel(
          { full: inc, empty: parallel({}, { name: 'deep' }) },
          { name: 'leaf' },
        );
        const row = none('one').pipe(none('two')).pipe(none('three'));
        const loom = harness.loom([inc, double]);
        await loom.worker().start();
        const before = harness.clock.now();
        expect(await (await start(loom, row, 1, form)).result()).toEqual({});
        expect(await settled(harness, (await start(loom, leaf, 1, form)).result())).toEqual({
          full: 2,
          empty: {},
        });
        expect(harness.clock.now() - before).toBeLessThan(1_000);
      },
    );
  });

  describe('a group', () => {
    it.each(FORMS)(
      // O60
      'of one whose worker is killed in its shutdown ends all the same (%s)',
      async (form) => {
        const began = gate();
        let calls = 0;
        const slow = task('slow', async (_: unknown, ctx) => {
          if (++calls > 1) return 'again';
          began.open();
          await new Promise<void>((resolve) =>
            ctx.signal.addEventListener('abort', () => resolve()),
          );
          return new Promise<never>(() => undefined);
        });
        const whole = parallel({ slow }).pipe(
          task('body', (all: object) => Object.keys(all)) as never,
        );
        let isDead = false;
        const never = new Promise<never>(() => undefined);
        const backend = flakyBackend(harness.backend, () =>
          isDead ? { holdUntil: never } : undefined,
        );
        const doomed = harness.loom([whole], { backend });
        const worker = doomed.worker({ concurrency: 2 });
        await worker.start();
        const loom = harness.loom([whole]);
        const run = await start(loom, whole, 1, form);
        await began.passed;
        // The first signal, then the kill: nothing that it meant to write arrives.
        void worker.stop({ grace: '10s' }).catch(() => undefined);
        await harness.quiet();
        isDead = true;
        await loom.worker({ concurrency: 2 }).start();
        await harness.clock.advance(2 * LIMITS.leaseMs);
        expect(await settled(harness, run.result())).toEqual(['slow']);
        expect(calls).toBe(2);
      },
    );

    // O62
    it('whose producer dies before all members are stored is completed by another', async () => {
      // Members are stored 500 at a time: it dies after the first, the second, … of three.
      const input = Array.from({ length: 1_100 }, (_, at) => at);
      const whole = each(inc).pipe(task('count', (all: readonly number[]) => all.length));
      for (const chunk of [1, 2, 3]) {
        const never = new Promise<never>(() => undefined);
        let chunks = 0;
        let isDead = false;
        const backend = flakyBackend(harness.backend, ({ operation }) => {
          if (isDead) return { holdUntil: never };
          if (operation !== 'tasks.enqueue' || ++chunks < chunk) return undefined;
          isDead = true;
          return { holdReplyUntil: never };
        });
        const doomed = harness.loom([whole], { backend });
        const loom = harness.loom([whole]);
        const run = await start(loom, whole, input, 'driven');
        await doomed.worker({ concurrency: 1 }).start();
        await harness.until(() => isDead);
        const worker = loom.worker({ concurrency: 500 });
        await worker.start();
        await harness.clock.advance(2 * LIMITS.leaseMs);
        expect([chunk, await settled(harness, run.result())]).toEqual([chunk, 1_100]);
        await settled(harness, worker.stop());
      }
    });

    // O62
    it('that no worker goes on with is given up by its lease, and so are its members', async () => {
      const whole = each(inc);
      const loom = harness.loom([whole]);
      const run = await start(loom, whole, [1, 2, 3], 'driven');
      const isOver = async () => {
        await harness.backend.tasks.tick();
        return (await loom.tasks.get(run.id))?.state === 'failed';
      };
      // One may die before it has leased anything: the run waits between its losses.
      for (let death = 1; death <= 20 && !(await isOver()); death++) {
        const { backend, died } = mortal(harness.backend, 4);
        void harness
          .loom([], { backend })
          .worker({ concurrency: 1 })
          .start()
          .catch(() => undefined);
        await harness.until(async () => {
          if (died()) return true;
          await harness.clock.advance(250);
          return false;
        });
        await harness.clock.advance(2 * LIMITS.leaseMs);
        await harness.quiet();
      }
      expect(await isOver()).toBe(true);
      await expect(settled(harness, run.result())).rejects.toMatchObject({ failureType: 'lost' });
      expect((await loom.stats()).counts.started).toBe(0);
    });
  });

  // O68
  it('results belong to a run, a node and an attempt: kept on resume, replaced when run again', async () => {
    const calls: string[] = [];
    let isFirst = true;
    const never = new Promise<never>(() => undefined);
    const read = task('read', (n: number, ctx) => {
      calls.push(`read ${n} ${ctx.runId}`);
      return n * 10 + calls.length;
    });
    const crash = task('crash', async (n: number, ctx) => {
      calls.push(`crash ${n} ${ctx.runId}`);
      if (isFirst && ctx.runId === 'one') {
        isFirst = false;
        await never;
      }
      return n;
    });
    const whole = read.pipe(crash).as('whole');
    const deaf = flakyBackend(harness.backend, ({ operation }) =>
      operation === 'tasks.extend' ? { holdUntil: never } : undefined,
    );
    const doomed = harness.loom([whole], { backend: deaf });
    await doomed.worker({ concurrency: 1 }).start();
    const loom = harness.loom([whole]);
    // Two runs of the same pipeline in the same millisecond.
    const options = { form: 'driven' } as const;
    const one = await loom.enqueue(whole, 1, { ...options, id: 'one' });
    const two = await loom.enqueue(whole, 2, { ...options, id: 'two' });
    await harness.until(() => calls.includes('crash 11 one'));
    await loom.worker({ concurrency: 2 }).start();
    expect(await settled(harness, two.result())).toBe(23);
    await harness.clock.advance(2 * LIMITS.leaseMs);
    expect(await settled(harness, one.result())).toBe(11);
    expect(calls.filter((call) => call.startsWith('read'))).toEqual(['read 1 one', 'read 2 two']);
    expect(await harness.backend.runs.load('one')).toMatchObject({ 'n:read#1': 'o11' });
    // Dispatched, one node may be run again: the other's result stays, its own is replaced.
    const first = await loom.enqueue(whole, 3, { id: 'three' });
    const value = await settled(harness, first.result());
    const again = await loom.runs.rerun('three', { from: 'crash', id: 'four' });
    expect(await settled(harness, again.result())).toBe(value);
    expect(calls.filter((call) => call.includes('read 3'))).toHaveLength(1);
    const whole2 = await loom.runs.rerun('three', { from: 'read', id: 'five' });
    expect(await settled(harness, whole2.result())).not.toBe(value);
    expect((await loom.runs.get('three'))?.state).toBe('finished');
  });
});
