/**
 * A process dies before or after any of its calls, with everything that it had in hand: producers,
 * members and handlers that run steps. Another one goes on; no result is taken twice, and nothing
 * runs again once its result was written down.
 */
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { TaskState } from '../../../src/domain/task/task.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { ManualClock } from '../../../src/testing/manual-clock.ts';
import { each } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { mortal } from '../../support/processes/mortal.ts';
import { rounds, stride } from '../../support/rounds.ts';
import { settled } from '../../support/runs.ts';
import { Witness } from '../../support/witness.ts';

type Enqueue = { readonly form: 'driven' } | Record<string, never>;

/** What is run, and what it gives for 1. */
interface Scenario {
  readonly step: Step<number, number>;
  readonly tasks: readonly unknown[];
  readonly options: Enqueue;
  readonly result: number;
  /** Tasks and nodes whose results are taken. */
  readonly results: number;
}

type Make = (witness: Witness) => Scenario;

/** Groups in members of a group: two producers, of which one is a member itself. */
const nested: Make = (witness) => {
  const { step, sum } = partsFor(witness);
  const list = step('list', (n: number) => [n, n + 1]);
  const inner = step('inner', (n: number) => [n, n * 10]);
  const leaf = step('leaf', (n: number) => n + 1);
  const member = inner.pipe(each(leaf, { name: 'leaves' })).pipe(sum('add'));
  const whole = list.pipe(each(member, { name: 'members' })).pipe(sum('total'));
  // list, 2 × (inner, 2 leaves, their group, add, the member), the group, total, the run.
  const results = 1 + 2 * 6 + 2 + 1;
  return { step: whole, tasks: [whole], options: { form: 'driven' }, result: 37, results };
};

/** The same, by handlers that run steps. */
const inside: Make = (witness) => {
  const { step, sum } = partsFor(witness);
  const leaf = step('leaf', (n: number) => n + 1);
  const add = sum('add');
  const member = task('member', { backoff: { base: 0 } }, async (n: number, ctx) => {
    witness.ran(ctx);
    const all = await ctx.run(each(leaf), [n, n * 10]);
    return ctx.run(add, all);
  });
  const outer = task('outer', { backoff: { base: 0 } }, async (n: number, ctx) => {
    witness.ran(ctx);
    const one = await ctx.run(leaf, n);
    const all = await ctx.run(each(member), [one - 1, one]);
    return ctx.run(add, all);
  });
  // leaf, 2 × (2 leaves, their group, add, the member), the group, add, the handler.
  const results = 1 + 2 * 5 + 2 + 1;
  return { step: outer, tasks: [outer, member, leaf, add], options: {}, result: 37, results };
};

function partsFor(witness: Witness) {
  const step = <I, O>(name: string, work: (input: I) => O): Step<I, O> =>
    task(name, { backoff: { base: 0 } }, async (input: I, ctx: TaskContext) => {
      witness.ran(ctx);
      return work(input);
    }) as unknown as Step<I, O>;
  const sum = (name: string): Step<readonly number[], number> =>
    step(name, (all) => all.reduce((one, other) => one + other, 0));
  return { step, sum };
}

/** Every task of the harness that has not ended. */
async function openTasks(harness: Harness): Promise<readonly string[]> {
  const open: TaskState[] = ['scheduled', 'deferred', 'started'];
  const pages = await Promise.all(
    open.map((state) => harness.backend.inspect.list({ state }, { limit: 100 })),
  );
  return pages.flatMap(({ items }) => items.map(({ id, state }) => `${id} ${state}`));
}

/** What must hold when the run has ended, after any fault on the way. */
async function demandOnce(harness: Harness, witness: Witness, results: number): Promise<void> {
  expect(witness.complaints).toEqual([]);
  expect(witness.results).toBe(results);
  expect(await openTasks(harness)).toEqual([]);
  expect((await harness.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
}

eachBackend((open, backendName) => {
  const scenarios = [
    ['nested groups', nested],
    ['handlers that run steps', inside],
  ] as const;

  describe.each(scenarios)('%s', (_, make) => {
    it.each(['before', 'after'] as const)(
      'a process dies %s any of its calls: another goes on, and no result is taken twice',
      async (moment) => {
        const runUntil = async (lastCall: number): Promise<boolean> => {
          const harness = await open();
          const witness = new Witness(harness.backend);
          const { step, tasks, options, result, results } = make(witness);
          const { backend, died } = mortal(witness.backend, lastCall, moment);
          const doomed = harness.loom(tasks as never, { backend });
          const loom = harness.loom(tasks as never, { backend: witness.backend });
          const handle = await loom.enqueue(step as never, 1 as never, options as never);
          const starting = doomed.worker({ concurrency: 3 }).start();
          void starting.catch(() => undefined);
          await harness.quiet();
          const hasDied = died();
          await loom.worker({ concurrency: 3 }).start();
          await harness.clock.advance(LIMITS.leaseMs);
          expect([lastCall, await settled(harness, handle.result())]).toEqual([lastCall, result]);
          await harness.quiet();
          await demandOnce(harness, witness, results);
          // What was in hand ran once more, and nothing else did.
          for (const [node, times] of witness.runs)
            expect([node, times <= 2]).toEqual([node, true]);
          await harness.close();
          return hasDied;
        };
        let lastCall = 1;
        while (await runUntil(lastCall)) lastCall += stride(backendName);
        expect(lastCall).toBeGreaterThan(backendName === 'memory' ? 20 : 15);
      },
    );

    it.each(['request', 'reply'] as const)(
      'a process is frozen at the %s of any of its calls: when it goes on, nothing counts',
      async (part) => {
        let refused = 0;
        const runUntil = async (number: number): Promise<boolean> => {
          const harness = await open();
          const witness = new Witness(harness.backend);
          const { step, tasks, options, result, results } = make(witness);
          const thaw = gate();
          let calls = 0;
          const backend = flakyBackend(witness.backend, ({ operation }) => {
            if (operation === 'workers.waitForWork') return { holdUntil: thaw.passed };
            calls++;
            if (calls < number) return undefined;
            return part === 'request' || calls > number
              ? { holdUntil: thaw.passed }
              : { holdReplyUntil: thaw.passed };
          });
          // Its clock stands still: it does not know how long it was away.
          const clock = new ManualClock(harness.clock.now());
          const slow = harness.loom(tasks as never, { backend, clock });
          const loom = harness.loom(tasks as never, { backend: witness.backend });
          const handle = await loom.enqueue(step as never, 1 as never, options as never);
          const starting = slow.worker({ concurrency: 3 }).start();
          void starting.catch(() => undefined);
          await harness.quiet();
          const isFrozen = calls >= number;
          await loom.worker({ concurrency: 3 }).start();
          await harness.clock.advance(LIMITS.leaseMs);
          expect([number, await settled(harness, handle.result())]).toEqual([number, result]);
          await harness.quiet();
          const journal = await harness.backend.runs.load(handle.id);
          const { totals } = await loom.stats();
          expect(witness.refused).toBe(0);
          thaw.open();
          await harness.quiet();
          refused += witness.refused;
          await demandOnce(harness, witness, results);
          expect(await harness.backend.runs.load(handle.id)).toEqual(journal);
          expect((await loom.stats()).totals).toEqual(totals);
          expect((await loom.tasks.get(handle.id))?.result).toBe(result);
          await harness.close();
          return isFrozen;
        };
        let number = 1;
        while (await runUntil(number)) number += stride(backendName);
        expect(number).toBeGreaterThan(15);
        expect(refused).toBeGreaterThan(number / 2 / stride(backendName));
      },
    );
  });

  it.each(['before', 'after'] as const)(
    'a producer dies %s any call of opening a group that takes several',
    async (moment) => {
      const runUntil = async (lastCall: number): Promise<void> => {
        const harness = await open();
        const witness = new Witness(harness.backend);
        const { step, sum } = partsFor(witness);
        const list = step('list', (n: number) => Array.from({ length: 620 }, () => n));
        const whole = list.pipe(each(step('leaf', (n: number) => n))).pipe(sum('total'));
        const { backend } = mortal(witness.backend, lastCall, moment);
        const doomed = harness.loom([whole], { backend });
        const loom = harness.loom([whole], { backend: witness.backend });
        const run = await loom.enqueue(whole, 1, { form: 'driven' });
        const starting = doomed.worker({ concurrency: 2 }).start();
        void starting.catch(() => undefined);
        await harness.quiet();
        await loom.worker({ concurrency: 200 }).start();
        await harness.clock.advance(LIMITS.leaseMs);
        expect([lastCall, await settled(harness, run.result())]).toEqual([lastCall, 620]);
        await harness.quiet();
        await demandOnce(harness, witness, 1 + 620 + 2 + 1);
        await harness.close();
      };
      // Registered, leased, journal, graph, list, opened, two chunks, joins, suspended, and members.
      for (let lastCall = 3; lastCall <= 14; lastCall += rounds(1, 3)) await runUntil(lastCall);
    },
  );

  it('after a wait a handler and what it runs have the token of the lease of then', async () => {
    const harness = await open();
    const tokens: number[] = [];
    const note = (ctx: TaskContext): unknown => tokens.push(ctx.fencingToken);
    const leaf = task('leaf', async (n: number) => n);
    const tail = task('tail', async (_: unknown, ctx: TaskContext) => void note(ctx));
    const outer = task('outer', async (n: number, ctx) => {
      note(ctx);
      await ctx.run(each(leaf).pipe(tail), [n]);
      note(ctx);
    });
    const loom = harness.loom([outer, leaf, tail]);
    await loom.worker().start();
    const alone = await loom.enqueue(outer, 1);
    await settled(harness, alone.result());
    const asNode = await loom.enqueue(outer.pipe(tail.as('last')), 1, { form: 'driven' });
    await settled(harness, asNode.result());
    const [first = 0, inside, end = 0, ...ofNode] = tokens;
    expect([inside, end > first]).toEqual([end, true]);
    const [begin = 0, within, after = 0, last] = ofNode;
    expect([within, last, after > begin]).toEqual([after, after, true]);
    await harness.close();
  });
});
