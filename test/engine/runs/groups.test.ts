/** Groups of driven runs: members as tasks, their ends and what the policy makes of them. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { GroupFailedError } from '../../../src/domain/errors/errors.ts';
import type { JoinPolicy } from '../../../src/graph/graph.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { groupPolicy } from '../../../src/workflow/group-policy.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { stride } from '../../support/rounds.ts';
import { settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

const driven = { form: 'driven' } as const;

const inc = task('inc', async (n: number) => n + 1);
const wait = task('wait', async (_: number, ctx) => {
  await aborted(ctx.signal);
  throw ctx.signal.reason;
});

type End = 'finished' | 'failed' | 'canceled';
const ENDS: readonly End[] = ['finished', 'failed', 'canceled'];

/** A member that ends as it is told to. */
const member = (name: string) =>
  task(
    name,
    { retries: 0, decider: (outcome, _) => decisionOf(outcome) },
    (ends: Record<string, End>) => {
      if (ends[name] === 'finished') return name;
      throw new RangeError(`${ends[name]} ${name}`);
    },
  );

function decisionOf(outcome: {
  readonly type: string;
  readonly result?: string;
  readonly error?: string;
}) {
  const { result = '', error = '' } = outcome;
  if (outcome.type === 'succeeded') return { type: 'finish', result } as const;
  if (error.includes('canceled')) return { type: 'cancel', reason: 'as told' } as const;
  return { type: 'dead-letter', failureType: 'error', reason: 'as told', error } as const;
}

const members = { a: member('a'), b: member('b'), c: member('c') };
const most = groupPolicy(
  'most',
  (all) => all.filter(({ state }) => state === 'finished').length > 1,
);
const POLICIES = [
  { kind: 'strict' },
  { kind: 'bestEffort' },
  { kind: 'atLeast', count: 2 },
  { kind: 'critical', members: ['a'] },
  { kind: 'registered', name: 'most' },
] as const satisfies readonly JoinPolicy[];

function groupOf(policy: JoinPolicy, failFast: boolean) {
  const name = `g-${policy.kind}-${failFast}`.toLowerCase();
  switch (policy.kind) {
    case 'strict':
      return parallel(members, { name, failFast });
    case 'bestEffort':
      return parallel(members, { name, failFast, policy: 'bestEffort' });
    case 'atLeast':
      return parallel(members, { name, failFast, policy: { atLeast: policy.count } });
    case 'critical':
      return parallel(members, { name, failFast, policy: { critical: ['a'] } });
    case 'registered':
      return parallel(members, { name, failFast, policy: most });
  }
}

/** What the policy should make of these ends, in the words of the documentation. */
function isGood(policy: JoinPolicy, ends: readonly End[]): boolean {
  const good = ends.filter((end) => end === 'finished').length;
  switch (policy.kind) {
    case 'strict':
      return good === 3;
    case 'bestEffort':
      return true;
    case 'critical':
      return ends[0] === 'finished';
    default:
      return good >= 2;
  }
}

eachBackend((open, name) => {
  const harness = opened(open);

  async function working(steps: readonly unknown[], concurrency = 10): Promise<Fairloom> {
    const loom = harness.loom(steps as never);
    await loom.worker({ concurrency }).start();
    return loom;
  }

  const start = (loom: Fairloom, step: unknown, input: unknown): Promise<RunHandle<unknown>> =>
    loom.enqueue(step as never, input as never, driven) as Promise<RunHandle<unknown>>;

  describe('a group', () => {
    it('of members that give nothing has null for each of them', async () => {
      const silent = task('silent', async (_: number) => undefined);
      const list = each(silent, { name: 'list' });
      const pair = parallel(silent, silent.as('again'));
      const loom = await working([list, pair]);
      const first = await start(loom, list, [1, 2]);
      expect(await settled(harness, first.result())).toEqual([null, null]);
      const second = await loom.enqueue(pair, 1);
      expect(await settled(harness, second.result())).toEqual([null, null]);
      expect(await loom.run(list, [1])).toEqual([null]);
    });

    it.each([false, true])(
      // O47 O49 O50 O58
      'every way for three members to end, under every policy; failFast: %s',
      async (failFast) => {
        const loom = await working(POLICIES.map((policy) => groupOf(policy, failFast)));
        let way = 0;
        for (const policy of POLICIES) {
          for (const a of ENDS) {
            for (const b of ENDS) {
              for (const c of ENDS) {
                way += 1;
                if (way % stride(name) > 0) continue;
                const run = await start(loom, groupOf(policy, failFast), { a, b, c });
                const result = await settled(harness, run.result()).then(
                  (value) => ({ value }),
                  (error: unknown) => ({ error }),
                );
                const label = [policy.kind, a, b, c];
                expect([label, 'value' in result]).toEqual([label, isGood(policy, [a, b, c])]);
                if ('value' in result) continue;
                const info = await loom.tasks.get(run.id);
                // With `failFast` the first of several says.
                const mayCancel =
                  policy.kind === 'strict' &&
                  [a, b, c].includes('canceled') &&
                  (failFast || ![a, b, c].includes('failed'));
                if (mayCancel && info?.state === 'canceled') {
                  expect(info.cause).toMatchObject({ type: 'upstream', state: 'canceled' });
                  continue;
                }
                expect([label, [a, b, c].includes('failed') || !mayCancel]).toEqual([label, true]);
                expect(JSON.stringify(info?.error)).toContain('GroupFailedError');
              }
            }
          }
        }
      },
    );

    it('an error names each member that did not finish, with its error', async () => {
      const group = groupOf({ kind: 'strict' }, false);
      const loom = await working([group]);
      const run = await start(loom, group, { a: 'failed', b: 'finished', c: 'failed' });
      const error = await settled(harness, run.result()).catch((thrown: unknown) => thrown);
      expect(String(error)).toContain('a (RangeError: failed a), c (RangeError: failed c)');
      expect(GroupFailedError.name).toBe('GroupFailedError');
    });

    // O53
    it('of nothing is done at once, three in a row and as the last', async () => {
      const none = each(inc, { name: 'one' })
        .pipe(each(inc, { name: 'two' }))
        .pipe(each(inc, { name: 'three' }));
      const loom = await working([none, parallel({})]);
      expect(await settled(harness, (await start(loom, none, [])).result())).toEqual([]);
      expect(await settled(harness, (await start(loom, parallel({}), 1)).result())).toEqual({});
    });

    it('of one plain member stores it as that task', async () => {
      const step = each(inc);
      const loom = await working([step]);
      expect(await settled(harness, (await start(loom, step, [4])).result())).toEqual([5]);
      const ended = (await loom.tasks.list({ state: 'finished', values: true })).items;
      expect(ended.map((one) => one.name).toSorted()).toEqual(['inc', '~drive']);
      expect(ended.find((one) => one.name === 'inc')).toMatchObject({ input: 4, result: 5 });
    });

    // O44
    it('a member that is retried counts once', async () => {
      let calls = 0;
      const flaky = task('flaky', { retries: 3, backoff: { base: 0 } }, async (n: number) => {
        if (++calls % 2 === 1) throw new Error('again');
        return n;
      });
      let after = 0;
      const step = each(flaky).pipe(
        task('after', (all: readonly number[]) => {
          after++;
          return all.length;
        }),
      );
      const loom = await working([step]);
      expect(await settled(harness, (await start(loom, step, [1, 2, 3, 4, 5])).result())).toBe(5);
      expect(after).toBe(1);
    });

    it('a lost member is run again elsewhere, and its run goes on', async () => {
      const [started, done] = [gate(), gate()];
      let calls = 0;
      const slow = task('slow', async (n: number) => {
        if (++calls > 1) return n;
        started.open();
        await done.passed;
        return -1;
      });
      const step = parallel({ slow, inc });
      const deaf = flakyBackend(harness.backend, ({ operation }) =>
        operation === 'tasks.extend' ? { holdUntil: done.passed } : undefined,
      );
      const doomed = harness.loom([slow], { backend: deaf });
      const loom = harness.loom([step]);
      await doomed.worker().start();
      await loom.worker({ concurrency: 1 }).start();
      const run = await start(loom, step, 1);
      const result = settled(harness, run.result());
      expect(await result).toEqual({ slow: 1, inc: 2 });
      done.open();
      await harness.quiet();
    });

    it('failFast wakes the run at once, and ends what is left', async () => {
      const fail = task('fail', { retries: 0 }, async () => {
        throw new RangeError('mine');
      });
      const step = parallel({ fail, wait, other: wait.as('other') }, { failFast: true });
      const loom = await working([step]);
      const run = await start(loom, step, 1);
      await expect(settled(harness, run.result())).rejects.toThrow('mine');
      await harness.clock.advance('10s');
      await harness.quiet();
      const canceled = (await loom.tasks.list({ state: 'canceled' })).items;
      expect(canceled.map((one) => one.name)).toEqual(['wait', 'wait']);
    });

    it('a timeout fails the group, and ends what is left', async () => {
      const step = parallel({ inc, wait }, { timeout: '20s', policy: 'bestEffort' });
      const loom = await working([step]);
      const begun = harness.clock.now();
      const run = await start(loom, step, 1);
      await expect(settled(harness, run.result())).rejects.toThrow('wait (TimedOutError');
      expect(harness.clock.now() - begun).toBeLessThan(21_000);
    });

    it('runs so many members at once, and no more', async () => {
      let running = 0;
      let atMost = 0;
      const slow = task('slow', { retries: 0 }, async (n: number) => {
        atMost = Math.max(atMost, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
        if (n % 4 === 0) throw new Error('one of four');
        return n;
      });
      const step = each(slow, { concurrency: 3, policy: 'bestEffort' });
      const loom = await working([step], 10);
      const input = Array.from({ length: 12 }, (_, n) => n);
      const all = await settled(harness, (await start(loom, step, input)).result());
      expect(all).toHaveLength(12);
      expect(atMost).toBe(3);
    });

    it('nested groups, four deep, with one slot in the whole fleet', async () => {
      const deep = each(each(each(each(inc))));
      const loom = await working([deep], 1);
      await loom.users.set('default', { maxRunning: 1 });
      const run = await start(loom, deep, [[[[1], [2]]], [[[3]]]]);
      expect(await settled(harness, run.result())).toEqual([[[[2], [3]]], [[[4]]]]);
    });

    it('more members than one task may wait for', async () => {
      const step = each(inc).pipe(task('count', (all: readonly number[]) => all.length));
      const loom = await working([step], 100);
      const input = Array.from({ length: 450 }, (_, n) => n);
      expect(await settled(harness, (await start(loom, step, input)).result())).toBe(450);
    });

    it('10,000 members', async () => {
      const step = each(inc).pipe(task('count', (all: readonly number[]) => all.length));
      const loom = await working([step], 1_000);
      const input = Array.from({ length: 10_000 }, (_, n) => n);
      const run = await start(loom, step, input);
      expect(await settled(harness, run.result())).toBe(10_000);
    });

    it('failFast through joins, and again when the first failure decides nothing', async () => {
      const odd = task('odd', { retries: 0 }, async (n: number) => {
        if (n % 100 === 7) throw new Error(`no ${n}`);
        return n;
      });
      const input = Array.from({ length: 300 }, (_, n) => n);
      const enough = each(odd, { name: 'enough', failFast: true, policy: { atLeast: 297 } });
      const tooFew = each(odd, { name: 'too-few', failFast: true, policy: { atLeast: 299 } });
      const loom = await working([enough, tooFew], 50);
      const all = await settled(harness, (await start(loom, enough, input)).result());
      expect((all as { ok: boolean }[]).filter(({ ok }) => ok)).toHaveLength(297);
      await expect(settled(harness, (await start(loom, tooFew, input)).result())).rejects.toThrow(
        'no',
      );
    });

    // O46 O61
    it('the two last arrivals at once wake the run once', async () => {
      let shown = 0;
      const count = task('count', (value: unknown) => {
        shown++;
        return value;
      });
      const step = parallel({ x: inc.as('x'), y: inc.as('y') }).pipe(count);
      const loom = await working([step, inc]);
      const other = harness.loom([step, inc]);
      await other.worker().start();
      const rounds = name === 'memory' ? 200 : 40;
      for (let round = 0; round < rounds; round++) {
        const run = await start(loom, step, round);
        expect(await settled(harness, run.result())).toEqual({ x: round + 1, y: round + 1 });
      }
      expect(shown).toBe(rounds);
    });

    // O76
    it('a cancel of the run while members arrive has one end, and the API tells it', async () => {
      const step = each(inc);
      const loom = await working([step]);
      for (let round = 0; round < 20; round++) {
        const run = await start(loom, step, [1, 2, 3]);
        for (let turn = 0; turn < round; turn++) await new Promise((go) => setImmediate(go));
        await loom.tasks.cancel(run.id);
        const end = await settled(harness, run.result()).then(
          () => 'finished',
          () => 'canceled',
        );
        await harness.quiet();
        expect((await loom.tasks.get(run.id))?.state).toBe(end);
      }
    });

    // O52
    it('a run that is redriven runs what failed again, and what finished not', async () => {
      const calls: string[] = [];
      let isRepaired = false;
      const part = task('part', { retries: 0 }, async (n: number) => {
        calls.push(`part ${n}`);
        if (n === 2 && !isRepaired) throw new Error('broken');
        return n * 10;
      });
      const step = inc.pipe(task('list', (n: number) => [n, 3, 4])).pipe(each(part));
      const loom = await working([step]);
      const run = await start(loom, step, 1);
      await expect(settled(harness, run.result())).rejects.toThrow('broken');
      isRepaired = true;
      await harness.backend.tasks.redrive(run.id);
      await harness.until(async () => {
        await harness.clock.advance(250);
        return (await loom.tasks.get(run.id))?.state === 'finished';
      });
      expect(await loom.tasks.get(run.id)).toMatchObject({ result: [20, 30, 40] });
      expect(calls.toSorted()).toEqual(['part 2', 'part 2', 'part 3', 'part 4']);
    });

    it('with other members in the same attempt is refused', async () => {
      const step = each(inc);
      const loom = harness.loom([step]);
      const run = await start(loom, step, [1]);
      const { backend } = harness;
      const worker = loom.worker();
      await backend.workers.register({
        id: 'w1',
        queues: ['default'],
        names: ['~drive'],
        concurrency: 1,
      } as never);
      const lease = {
        requestId: 'request00',
        worker: 'w1',
        limit: 1,
        leaseMs: 15_000,
        queues: [{ queue: 'default', weight: 1, pass: 0 }],
        wait: false,
      };
      const [leased] = (await backend.tasks.lease(lease)).leases;
      if (leased === undefined) throw new Error('nothing leased');
      const entry = JSON.stringify({ attempt: '0.1', epoch: 0, opener: '1-x', hash: 'another' });
      await backend.runs.checkpoint(leased, { 'o:~group.inc#1': entry });
      await backend.tasks.settle({
        worker: 'w1',
        settlements: [
          {
            id: leased.id,
            token: leased.token,
            decision: { type: 'release', cause: { type: 'shutdown' } },
          },
        ],
      });
      await worker.start();
      await expect(settled(harness, run.result())).rejects.toThrow('is open with other members');
    });
  });
});
