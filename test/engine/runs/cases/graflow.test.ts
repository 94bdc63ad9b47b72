/** What Graflow's workers and groups get wrong, each row as a test in the other direction. */
import { describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../../src/client/client.ts';
import { InvalidOptionError } from '../../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../../src/domain/limits.ts';
import type { GraphReply } from '../../../../src/domain/port/backend.ts';
import type { RunHandle } from '../../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../../src/workflow/parallel.ts';
import { task } from '../../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../../support/backends.ts';
import { gate } from '../../../support/gate.ts';
import { settled } from '../../../support/runs.ts';
import { aborted } from '../../../support/workers.ts';
import { FORMS, replaced, turn } from './kit.ts';

type Form = (typeof FORMS)[number];

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);
const list = task('list', (n: number) => Array.from({ length: n }, (_, at) => at));
const never = new Promise<never>(() => undefined);

eachBackend((open) => {
  const harness = opened(open);

  async function working(steps: readonly unknown[], concurrency = 10): Promise<Fairloom> {
    const loom = harness.loom(steps as never);
    await loom.worker({ concurrency }).start();
    return loom;
  }

  const start = (loom: Fairloom, step: unknown, input: unknown, form: Form) =>
    loom.enqueue(step as never, input as never, { form }) as Promise<RunHandle<unknown>>;

  describe('a worker', () => {
    it.each(FORMS)(
      // B-W3
      'that dies with a member in hand loses nothing: another runs it (%s)',
      async (form) => {
        const began = gate();
        const calls: string[] = [];
        const member = (name: string) =>
          task(name, async () => {
            calls.push(name);
            if (calls.length === 1) {
              began.open();
              await never;
            }
            return name;
          });
        const whole = parallel({ a: member('a'), b: member('b') });
        const loom = harness.loom([whole]);
        let isDead = false;
        const backend = flakyBackend(harness.backend, () =>
          isDead ? { holdUntil: never } : undefined,
        );
        await harness.loom([whole], { backend }).worker({ concurrency: 2 }).start();
        const run = await start(loom, whole, 1, form);
        await began.passed;
        isDead = true;
        await loom.worker().start();
        const died = harness.clock.now();
        expect(await settled(harness, run.result())).toEqual({ a: 'a', b: 'b' });
        // Graflow's group failed after 30 s; here the lease is what it takes.
        expect(harness.clock.now() - died).toBeLessThan(LIMITS.leaseMs + 6_000);
      },
    );

    it.each(FORMS)(
      // B-W11
      'that stops hands its members back, in time, and keeps nothing (%s)',
      async (form) => {
        const began = gate();
        let calls = 0;
        const names = ['a', 'b', 'c'];
        const member = (name: string) =>
          task(name, async (_: unknown, ctx) => {
            if (++calls > 3) return name;
            if (calls === 3) began.open();
            await aborted(ctx.signal);
            throw ctx.signal.reason;
          });
        const whole = parallel(Object.fromEntries(names.map((one) => [one, member(one)])));
        const loom = harness.loom([whole]);
        const first = loom.worker({ concurrency: 5 });
        await first.start();
        const run = await start(loom, whole, 1, form);
        await began.passed;
        const asked = harness.clock.now();
        await settled(harness, first.stop({ grace: '1s' }));
        expect(harness.clock.now() - asked).toBeLessThan(2_000);
        const { counts } = await loom.stats();
        expect(counts.started).toBe(0);
        await loom.worker({ concurrency: 5 }).start();
        expect(await settled(harness, run.result())).toEqual({ a: 'a', b: 'b', c: 'c' });
        expect(calls).toBe(6);
      },
    );

    // B-W14
    it('with 300 runs of one pipeline at a time never mixes their contexts', async () => {
      const look = (name: string) =>
        task(name, async (value: { readonly run: string }, ctx) => {
          const before = [ctx.runId, ctx.taskId, ctx.user];
          for (let turns = 0; turns < 3; turns++) await turn();
          expect([ctx.runId, ctx.taskId, ctx.user]).toEqual(before);
          expect([ctx.runId, ctx.user]).toEqual([value.run, `u-${value.run}`]);
          return value;
        });
      const whole = look('a')
        .pipe(parallel({ b: look('b'), c: look('c') }))
        .pipe(task('one', ({ b }: { b: { run: string } }) => b))
        .pipe(look('d'));
      const loom = await working([whole], 100);
      const ids = Array.from({ length: 300 }, (_, at) => `run-${at}`);
      const runs = await Promise.all(
        ids.map((id, at) =>
          loom.enqueue(
            whole,
            { run: id },
            { id, user: `u-${id}`, form: FORMS[at % 2] ?? 'driven' },
          ),
        ),
      );
      const values = await settled(harness, Promise.all(runs.map((run) => run.result())));
      expect(values).toEqual(ids.map((run) => ({ run })));
    });
  });

  describe('a group', () => {
    // B-W4
    it('waits for as long as a healthy member takes, and the next run of its name is well', async () => {
      const slow = task('slow', async (ms: number) => {
        const till = harness.clock.now() + ms;
        while (harness.clock.now() < till) await turn();
        return ms;
      });
      const whole = parallel({ slow, inc }, { name: 'group' });
      const loom = await working([whole]);
      for (const form of FORMS) {
        const long = await start(loom, whole, 36_000, form);
        expect(await settled(harness, long.result())).toEqual({ slow: 36_000, inc: 36_001 });
        const next = await start(loom, whole, 1, form);
        expect(await settled(harness, next.result())).toEqual({ slow: 1, inc: 2 });
      }
    });

    // B-W5
    it('of the same name in two workflows, run at once, is not shared', async () => {
      const [x, y] = [task('x', (n: number) => n * 2), task('y', async (n: number) => n * 3)];
      const first = parallel({ x, y }).pipe(
        task('sum', ({ x, y }: { x: number; y: number }) => x + y),
      );
      const second = parallel({ x, y, z: inc }).pipe(
        task('sum3', ({ x, y, z }: { x: number; y: number; z: number }) => x + y + z),
      );
      const loom = await working([first, second]);
      for (const form of FORMS) {
        const runs = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            start(loom, at % 2 === 0 ? first : second, at, form),
          ),
        );
        const values = await settled(harness, Promise.all(runs.map((run) => run.result())));
        expect(values).toEqual(runs.map((_, at) => (at % 2 === 0 ? 5 * at : 6 * at + 1)));
      }
    });

    // B-W9
    it.each(FORMS)('starts its members in their order (%s)', async (form) => {
      const order: string[] = [];
      const names = ['t0', 't1', 't2', 't3', 't4', 't5'];
      const members = names.map((name) => [name, task(name, () => order.push(name))] as const);
      const whole = parallel(Object.fromEntries(members));
      const loom = await working([whole], 1);
      await settled(harness, (await start(loom, whole, 1, form)).result());
      expect(order).toEqual(names);
    });

    // B-W10
    it('ends although a member cannot be read, or its graph is gone', async () => {
      const whole = each(inc);
      const garbled = replaced(harness.backend, 'tasks', {
        lease: async (request) => {
          const reply = await harness.backend.tasks.lease(request);
          const leases = reply.leases.map((one) =>
            one.payload === '2' ? { ...one, payload: '{"' } : one,
          );
          return { ...reply, leases };
        },
        // No lease comes with a settle, so that all of them come through here.
        settle: async ({ lease: _, ...request }) => harness.backend.tasks.settle(request),
      });
      const loom = harness.loom([whole], { backend: garbled });
      const worker = loom.worker();
      await worker.start();
      const run = await start(loom, whole, [1, 2, 3], 'driven');
      await expect(settled(harness, run.result())).rejects.toThrow('1 (');
      await settled(harness, worker.stop());

      const nested = each(inc.pipe(double));
      const reply: GraphReply = { kind: 'evicted' };
      const bare = replaced(harness.backend, 'graphs', { load: async () => reply });
      // It knows the first node only, so that members are left for the other.
      const producer = await working([list], 1);
      await harness.loom([inc, double], { backend: bare }).worker({ concurrency: 5 }).start();
      const waiting = await start(producer, list.pipe(nested), 3, 'driven');
      await expect(settled(harness, waiting.result())).rejects.toMatchObject({
        code: 'RUN_FAILED',
      });
      expect((await producer.stats()).counts).toMatchObject({ deferred: 0, started: 0 });
    });

    // B-W24
    it('is told apart from its siblings: each error stands at the member whose it is', async () => {
      const fail = (name: string) =>
        task(name, { retries: 0 }, async () => {
          throw new RangeError(`by ${name}`);
        });
      const whole = parallel(
        { sibling: fail('sibling'), group: parallel({ a: inc, b: double }) },
        { policy: 'bestEffort' },
      );
      const loom = await working([whole]);
      const expected = {
        sibling: { ok: false, error: { name: 'RangeError', message: 'by sibling' } },
        group: { ok: true, value: { a: 2, b: 2 } },
      };
      expect(await loom.run(whole as never, 1 as never)).toEqual(expected);
      for (const form of FORMS) {
        const run = await start(loom, whole, 1, form);
        expect(await settled(harness, run.result())).toEqual(expected);
      }
    });

    // B-W25
    it('keeps its policy beside all other options, and a policy that is none is refused', async () => {
      const fail = task('fail', { retries: 0 }, async (_: number): Promise<number> => {
        throw new RangeError('no');
      });
      const options = {
        policy: 'bestEffort',
        name: 'kept',
        concurrency: 1,
        timeout: '1m',
      } as const;
      const whole = parallel({ fail, inc }, options);
      const loom = await working([whole]);
      const run = await loom.enqueue(whole, 1);
      const value = { fail: { ok: false }, inc: { ok: true, value: 2 } };
      expect(await settled(harness, run.result())).toMatchObject(value);
      for (const policy of ['critical', 'none', { critical: ['nobody'] }]) {
        expect(() => parallel({ inc }, { policy: policy as never })).toThrow(InvalidOptionError);
      }
    });

    it.each(FORMS)(
      // B-W26
      'that fails shows which members failed, with their errors, and what finished (%s)',
      async (form) => {
        const fail = task('fail', { retries: 0 }, async () => {
          throw new RangeError('mine');
        });
        const whole = parallel({ fail, inc, double }, { policy: { atLeast: 3 } });
        const loom = await working([whole]);
        const run = await start(loom, whole, 4, form);
        const error: unknown = await settled(harness, run.result()).catch(
          (thrown: unknown) => thrown,
        );
        expect(String(error)).toContain('fail (RangeError: mine)');
        const finished = (await loom.tasks.list({ state: 'finished', values: true })).items;
        expect(finished.find((one) => one.name === 'inc')).toMatchObject({ result: 5 });
        const failed = (await loom.tasks.list({ state: 'failed' })).items;
        expect(failed.find((one) => one.name === 'fail')).toMatchObject({
          error: { name: 'RangeError', message: 'mine' },
        });
      },
    );

    // B-W33
    it('whose member waits for its retry holds up nothing, and a timeout bounds a task', async () => {
      const order: string[] = [];
      const backoff = { kind: 'fixed', base: '1m', jitter: 'none' } as const;
      const shaky = task('shaky', { retries: 1, backoff }, (n: number, ctx) => {
        order.push(`shaky ${ctx.attempt}`);
        if (ctx.attempt === 1) throw new Error('later');
        return n;
      });
      const note = task('note', (n: number) => {
        order.push(`note ${n}`);
        return n;
      });
      const whole = parallel({ shaky, note: note.pipe(note.as('again')) });
      const endless = task('endless', { retries: 0, timeout: '2s' }, async (_: number, ctx) => {
        await aborted(ctx.signal);
        throw ctx.signal.reason;
      });
      const bounded = parallel({ endless, inc });
      const loom = await working([whole, bounded], 1);
      const run = await loom.enqueue(whole, 1);
      const others = await Promise.all([2, 3].map((n) => loom.enqueue(note, n)));
      await settled(harness, Promise.all(others.map((one) => one.result())));
      expect(order.toSorted()).toEqual(['note 1', 'note 1', 'note 2', 'note 3', 'shaky 1']);
      await harness.clock.advance('1m');
      expect(await settled(harness, run.result())).toEqual({ shaky: 1, note: 1 });
      const begun = harness.clock.now();
      const late = await loom.enqueue(bounded, 1);
      await expect(settled(harness, late.result())).rejects.toMatchObject({
        failureType: 'timeout',
      });
      expect(harness.clock.now() - begun).toBeLessThan(9_000);
    });
  });
});
