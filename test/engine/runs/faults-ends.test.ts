/** Every way for a member of a group to end, under every policy. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { TaskBusyError } from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { groupPolicy } from '../../../src/workflow/group-policy.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import type { Step } from '../../../src/workflow/step.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

type Member = Step<number, number>;

const both = groupPolicy('both', (all) => all.every(({ state }) => state === 'finished'));
const some = groupPolicy('some', (all) => all.some(({ state }) => state === 'finished'));

/** A group of a and b, and whether it finishes when a does not and b does. */
const POLICIES: readonly {
  readonly name: string;
  readonly isLenient: boolean;
  readonly of: (a: Member, b: Member) => unknown;
}[] = [
  { name: 'strict', isLenient: false, of: (a, b) => parallel({ a, b }, { name: 'strict' }) },
  {
    name: 'best-effort',
    isLenient: true,
    of: (a, b) => parallel({ a, b }, { name: 'best-effort', policy: 'bestEffort' }),
  },
  {
    name: 'at-least-1',
    isLenient: true,
    of: (a, b) => parallel({ a, b }, { name: 'at-least-1', policy: { atLeast: 1 } }),
  },
  {
    name: 'at-least-2',
    isLenient: false,
    of: (a, b) => parallel({ a, b }, { name: 'at-least-2', policy: { atLeast: 2 } }),
  },
  {
    name: 'critical-a',
    isLenient: false,
    of: (a, b) => parallel({ a, b }, { name: 'critical-a', policy: { critical: ['a'] } }),
  },
  {
    name: 'critical-b',
    isLenient: true,
    of: (a, b) => parallel({ a, b }, { name: 'critical-b', policy: { critical: ['b'] } }),
  },
  {
    name: 'both',
    isLenient: false,
    of: (a, b) => parallel({ a, b }, { name: 'registered-both', policy: both }),
  },
  {
    name: 'some',
    isLenient: true,
    of: (a, b) => parallel({ a, b }, { name: 'registered-some', policy: some }),
  },
  {
    name: 'fail-fast',
    isLenient: false,
    of: (a, b) => parallel({ a, b }, { name: 'fail-fast', failFast: true }),
  },
];

/** What a way needs of the test. */
interface Scene {
  readonly harness: Harness;
  readonly loom: Fairloom;
  /** Members a that have begun, or were found in the store. */
  readonly begun: readonly string[];
  /** Lets the members b end. */
  readonly releaseB: () => void;
}

interface Way {
  readonly name: string;
  /** What a's record says in the end. */
  readonly record: { readonly state: string; readonly failureType?: string };
  readonly a: (begun: string[]) => Member;
  /** No worker here has its handler. */
  readonly isForeign?: true;
  readonly act?: (scene: Scene) => Promise<void>;
}

const failed = (failureType: string): Way['record'] => ({ state: 'failed', failureType });

function memberA(
  begun: string[],
  options: object,
  work: (n: number, ctx: TaskContext) => unknown,
): Member {
  return task('a', { retries: 0, ...options }, async (n: number, ctx: TaskContext) => {
    begun.push(ctx.taskId);
    return work(n, ctx);
  }) as unknown as Member;
}

const nothing = { '~standard': { version: 1, vendor: 'test', validate: () => refusedInput } };
const refusedInput = { issues: [{ message: 'nothing is right' }] };

const waits = async (_: number, ctx: TaskContext): Promise<never> => {
  await aborted(ctx.signal);
  throw ctx.signal.reason;
};

const WAYS: readonly Way[] = [
  { name: 'finish', record: { state: 'finished' }, a: (begun) => memberA(begun, {}, (n) => n) },
  {
    name: 'fail',
    record: failed('error'),
    a: (begun) =>
      memberA(begun, {}, () => {
        throw new RangeError('mine');
      }),
  },
  {
    name: 'cancel',
    record: { state: 'canceled' },
    a: (begun) => memberA(begun, {}, waits),
    act: async ({ harness, loom, begun }) => {
      await harness.until(() => begun.length === POLICIES.length);
      for (const id of begun) await loom.tasks.cancel(id);
    },
  },
  {
    name: 'timeout',
    record: failed('timeout'),
    a: (begun) => memberA(begun, { timeout: '1s' }, waits),
  },
  {
    name: 'lost',
    record: failed('lost'),
    a: (begun) => memberA(begun, { queue: 'far' }, (n) => n),
    act: loseAll,
  },
  {
    name: 'expired',
    record: failed('expired'),
    a: (begun) => memberA(begun, { expiresIn: '1m', queue: 'nowhere' }, (n) => n),
    act: async ({ harness }) => harness.clock.advance('61s'),
  },
  {
    name: 'unknown-task',
    record: failed('unknown-task'),
    a: (begun) => memberA(begun, {}, (n) => n),
    isForeign: true,
    act: async ({ harness }) => harness.clock.advance(LIMITS.unknownTaskMs + 60_000),
  },
  {
    name: 'invalid-payload',
    record: failed('invalid-payload'),
    a: (begun) => memberA(begun, { input: nothing }, (n) => n),
  },
  {
    name: 'invalid-result',
    record: failed('invalid-result'),
    a: (begun) => memberA(begun, {}, () => 1n),
  },
  {
    // One that its run is to read cannot be removed.
    name: 'removed',
    record: { state: 'finished' },
    a: (begun) => memberA(begun, {}, (n) => n),
    act: async ({ harness, loom, begun, releaseB }) => {
      const ended = async (id: string): Promise<boolean> =>
        (await loom.tasks.get(id))?.state === 'finished';
      await harness.until(async () => {
        if (begun.length < POLICIES.length) return false;
        return (await Promise.all(begun.map(ended))).every(Boolean);
      });
      for (const id of begun) {
        await expect(loom.tasks.remove(id)).rejects.toBeInstanceOf(TaskBusyError);
      }
      releaseB();
    },
  },
];

/** Workers lease the members and die, again and again. */
async function loseAll({ harness: { backend, clock, until }, loom }: Scene): Promise<void> {
  const queues = [{ queue: 'far', weight: 1, pass: 0 }];
  let number = 0;
  await until(async () => {
    const worker = `ghost-${++number}`;
    const requestId = `request${String(number).padStart(4, '0')}`;
    await backend.workers.register({
      id: worker,
      queues: ['far'],
      names: ['a'],
      concurrency: 20,
    } as never);
    await backend.tasks.lease({
      requestId,
      worker,
      limit: 20,
      leaseMs: 1_000,
      queues,
      wait: false,
    });
    await clock.advance(7_500);
    const { items } = await loom.tasks.list({ state: 'failed', name: 'a' } as never);
    return items.length === POLICIES.length;
  });
}

eachBackend((open) => {
  const harness = opened(open);

  // O47 O49 O58
  describe('a member that ends by', () => {
    it.each(WAYS)('$name, under every policy', async ({ name, record, a: make, ...way }) => {
      const begun: string[] = [];
      const release = gate();
      if (name !== 'removed') release.open();
      const a = make(begun);
      const b = task('b', async (n: number) => {
        await release.passed;
        return n * 2;
      }) as unknown as Member;
      const groups = POLICIES.map(({ of }) => of(a, b));
      const policies = [parallel({ b }, { policy: both }), parallel({ b }, { policy: some })];
      const loom = harness.loom((way.isForeign ? policies : [...groups, ...policies]) as never);
      await loom.worker({ concurrency: 40 }).start();
      const runs: RunHandle<unknown>[] = [];
      for (const group of groups) {
        const run = loom.enqueue(group as never, 7 as never, { form: 'driven' });
        runs.push((await run) as RunHandle<unknown>);
      }
      const ends = runs.map((run) =>
        run.result().then(
          (value) => ({ value }),
          (error: Error) => ({ error: error.message }),
        ),
      );
      await harness.quiet();
      await way.act?.({ harness, loom, begun, releaseB: release.open });
      const all = await settled(harness, Promise.all(ends));
      const isFine = record.state === 'finished';
      expect(all.map((end, at) => [POLICIES[at]?.name, 'value' in end])).toEqual(
        POLICIES.map((policy) => [policy.name, isFine || policy.isLenient]),
      );
      for (const [at, end] of all.entries()) {
        if (!('error' in end)) continue;
        // Strict groups are canceled with a member that is.
        const isStrict = /^(strict|fail-fast)/.test(POLICIES[at]?.name ?? '');
        const isCanceled = record.state === 'canceled' && isStrict;
        expect(end.error).toContain(isCanceled ? 'the run was canceled' : 'a (');
      }
      const { state } = record;
      const { items } = await loom.tasks.list({ state, name: 'a' } as never);
      expect(items.map((one) => one.failureType)).toEqual(POLICIES.map(() => record.failureType));
      expect((await loom.reconcile({ repair: false })).drift).toEqual([]);
    });
  });
});
