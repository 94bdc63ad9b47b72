/** Looking at runs and changing them: ids and keys, states, cancel, rerun, explain. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import {
  InvalidOptionError,
  KeyTakenError,
  QueueFullError,
  ResultTimeoutError,
  RunCanceledError,
  TaskConflictError,
  TaskNotFoundError,
} from '../../../src/domain/errors/errors.ts';
import { toAscii } from '../../../src/workflow/notation/render-ascii.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { TaskContext } from '../../../src/workflow/task-context.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { refusal, settled } from '../../support/runs.ts';
import { aborted } from '../../support/workers.ts';

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);
const show = task('show', (value: unknown) => JSON.stringify(value));
const pair = inc.pipe(double).as('pair');

eachBackend((open) => {
  const harness = opened(open);

  async function working(steps: Parameters<Harness['loom']>[0]): Promise<Fairloom> {
    const loom = harness.loom(steps);
    await loom.worker({ concurrency: 10 }).start();
    return loom;
  }

  describe('an id or a key', () => {
    it('sent again is the same run; with another input it is refused', async () => {
      const loom = harness.loom([pair]);
      const first = await loom.enqueue(pair, 1, { id: 'r1' });
      const again = await loom.enqueue(pair, 1, { id: 'r1' });
      expect([first.created, again.created, again.id]).toEqual([true, false, 'r1']);
      await expect(loom.enqueue(pair, 2, { id: 'r1' })).rejects.toBeInstanceOf(TaskConflictError);
      await expect(loom.enqueue(inc, 1, { id: 'r1' })).rejects.toBeInstanceOf(TaskConflictError);
      const reject = loom.enqueue(pair, 1, { id: 'r1', onDuplicate: 'reject' });
      await expect(reject).rejects.toBeInstanceOf(TaskConflictError);
      expect((await loom.stats()).totals.enqueued).toBe(3);
    });

    it('of a key gives the run that holds it, and stores nothing', async () => {
      const loom = harness.loom([pair]);
      const first = await loom.enqueue(pair, 1, { idempotencyKey: 'k' });
      const again = await loom.enqueue(pair, 1, { idempotencyKey: 'k' });
      const other = await loom.enqueue(pair, 2, { idempotencyKey: 'k' });
      expect([again.id, again.created, again.conflict]).toEqual([first.id, false, false]);
      expect([other.id, other.conflict]).toEqual([first.id, true]);
      const key = { idempotencyKey: 'k', idempotency: { policy: 'reject' } } as const;
      await expect(loom.enqueue(pair, 1, key)).rejects.toBeInstanceOf(KeyTakenError);
      expect((await loom.stats()).totals.enqueued).toBe(3);
    });

    it('a full queue refuses the whole run', async () => {
      const loom = harness.loom([pair]);
      await loom.users.set('ann', { maxQueued: 2 });
      const wide = parallel({ a: inc, b: double, c: show });
      const refused = loom.enqueue(wide as never, 1 as never, { user: 'ann' });
      await expect(refused).rejects.toBeInstanceOf(QueueFullError);
      expect((await loom.stats()).totals.enqueued).toBe(0);
    });
  });

  describe('a run', () => {
    it('shows its nodes, its graph and its states', async () => {
      const loom = await working([pair]);
      const whole = pair.pipe(parallel({ x: inc.as('x'), y: show })).as('whole');
      const run = await loom.enqueue(whole, 3, {
        user: 'ann',
        queue: 'q',
        priority: 'high',
        delay: '1h',
      });
      expect(await loom.runs.get(run.id)).toMatchObject({
        ...{ id: run.id, name: 'whole', form: 'dispatched', state: 'deferred' },
        ...{ user: 'ann', queue: 'q', priority: 4, input: 3 },
        nodes: [
          {
            node: 'pair.inc',
            state: 'scheduled',
            taskId: expect.stringMatching(/^~r\.[0-9a-f]{32}$/),
          },
          { node: 'pair.double', state: 'deferred' },
          { node: 'x', state: 'deferred' },
          { node: 'show', state: 'deferred' },
          { node: '~group.show', state: 'deferred' },
        ],
      });
      const { graph, states } = await loom.runs.graph(run.id);
      expect(toAscii(graph, states)).toContain('inc [scheduled]');
      expect(await loom.graphs.get((await loom.runs.get(run.id))?.graph ?? '')).toEqual(graph);
      expect(await loom.runs.get('nobody')).toBeUndefined();
      await expect(loom.runs.graph('nobody')).rejects.toBeInstanceOf(TaskNotFoundError);
      const alone = await loom.enqueue(inc, 1);
      expect(await loom.runs.get(alone.id)).toBeUndefined();
    });

    it('is listed by state, user and form', async () => {
      const loom = await working([pair]);
      const late = await loom.enqueue(pair, 1, { user: 'ann', delay: '1h' });
      const done = await loom.enqueue(pair, 2, { user: 'bob' });
      await settled(harness, done.result());
      const ids = async (options: Parameters<Fairloom['runs']['list']>[0]) =>
        (await loom.runs.list(options)).items.map(({ id }) => id);
      expect(await ids({ state: 'deferred' })).toEqual([late.id]);
      expect(await ids({ state: 'finished' })).toEqual([done.id]);
      expect(await ids({ state: 'deferred', user: 'bob' })).toEqual([]);
      expect(await ids({ state: 'deferred', form: 'driven' })).toEqual([]);
      const wrong = loom.runs.list({ state: 'open' as never });
      await expect(wrong).rejects.toBeInstanceOf(InvalidOptionError);
    });

    it('tells the states of its nodes as they change, until its end', async () => {
      const hold = gate();
      const slow = task('slow', async (n: number) => {
        await hold.passed;
        return n;
      });
      const whole = inc.pipe(slow).pipe(double);
      const loom = await working([whole]);
      const run = await loom.enqueue(whole, 1);
      const seen: string[] = [];
      const watching = (async () => {
        for await (const { node, state } of run.nodes()) {
          seen.push(`${node} ${state}`);
          if (node === 'slow' && state === 'started') hold.open();
        }
      })();
      await settled(harness, watching);
      expect(await run.result()).toBe(4);
      expect(seen).toContain('slow started');
      expect(seen.filter((line) => line.endsWith(' finished')).sort()).toEqual([
        'double finished',
        'inc finished',
        'slow finished',
      ]);
    });

    it('explains what it waits for', async () => {
      const loom = harness.loom([pair]);
      const run = await loom.enqueue(pair, 1, { delay: '1h' });
      expect(await loom.runs.explain(run.id)).toMatchObject({
        id: run.id,
        state: 'deferred',
        counts: { scheduled: 1, deferred: 1 },
        waitsFor: [
          { node: 'inc', why: { obstacles: [{ kind: 'delayed' }, { kind: 'no-worker' }] } },
        ],
      });
    });

    it('may be waited for only so long', async () => {
      const loom = harness.loom([pair]);
      const run = await loom.enqueue(pair, 1, { delay: '1h' });
      const late = settled(harness, run.result({ timeout: 0 }));
      await expect(late).rejects.toBeInstanceOf(ResultTimeoutError);
      const stop = new AbortController();
      stop.abort(new RangeError('enough'));
      await expect(run.result({ signal: stop.signal })).rejects.toThrow('enough');
    });
  });

  describe('cancel', () => {
    it('ends what waits and what runs, and says which', async () => {
      const started = gate();
      const slow = task('slow', async (n: number, ctx: TaskContext) => {
        started.open();
        await aborted(ctx.signal);
        return n;
      });
      const whole = parallel({ a: slow, b: inc.pipe(double) }).pipe(show);
      const loom = await working([slow, show]);
      const run = await loom.enqueue(whole, 1);
      await started.passed;
      const report = await settled(
        harness,
        loom.runs.cancel(run.id, { reason: 'no more', wait: true }),
      );
      expect(report.run).toEqual({ kind: 'canceled' });
      expect(
        Object.fromEntries(report.nodes.map(({ node, reply }) => [node, reply.kind])),
      ).toMatchObject({
        slow: 'requested',
        inc: 'canceled',
        show: 'already-ended',
      });
      const states = (await loom.runs.get(run.id))?.nodes.map(({ state }) => state);
      expect(new Set(states)).toEqual(new Set(['canceled', 'skipped']));
      const error = await refusal(run.result());
      expect(error).toBeInstanceOf(RunCanceledError);
      expect(String(error)).toContain('no more');
      expect((await run.cancel()).run).toEqual({ kind: 'already-ended', state: 'canceled' });
      expect(await loom.runs.cancel('nobody')).toEqual({ run: { kind: 'not-found' }, nodes: [] });
    });

    it('of one node cancels what follows, and the run with it', async () => {
      const loom = await working([double]);
      const run = await loom.enqueue(pair, 1);
      const node = (await loom.runs.get(run.id))?.nodes[0]?.taskId ?? '';
      await loom.tasks.cancel(node, { reason: 'by hand' });
      const error = await settled(harness, refusal(run.result()));
      expect(error).toBeInstanceOf(RunCanceledError);
      expect(String(error)).toContain('by hand');
    });
  });

  describe('a driven run', () => {
    it('shows its nodes and open members, is listed, canceled with them, and run again', async () => {
      const began = gate();
      let isSlow = true;
      const slow = task('slow', async (n: number, ctx: TaskContext) => {
        if (!isSlow) return n;
        if (n === 2) began.open();
        await aborted(ctx.signal);
        return n;
      });
      const list = task('list', (n: number) => [n, n + 1]);
      const whole = list
        .pipe(each(slow, { name: 'all' }))
        .pipe(show)
        .as('whole');
      const loom = await working([whole]);
      const run = await loom.enqueue(whole, 1, { user: 'ann' });
      await began.passed;
      await harness.until(async () => (await loom.tasks.get(run.id))?.state === 'deferred');
      expect(await loom.runs.get(run.id)).toMatchObject({
        ...{ form: 'driven', name: 'whole', input: 1, user: 'ann', state: 'deferred' },
        nodes: [
          { node: 'list', state: 'finished' },
          { node: 'all.slow', state: 'started' },
          { node: 'all', state: 'started' },
          { node: 'show', state: 'pending' },
          { node: 'all/0', state: 'started' },
          { node: 'all/1', state: 'started' },
        ],
      });
      const listed = await loom.runs.list({ state: 'deferred', form: 'driven' });
      expect(listed.items.map(({ id }) => id)).toEqual([run.id]);
      const report = await settled(harness, loom.runs.cancel(run.id, { wait: true }));
      expect(report).toEqual({
        run: { kind: 'canceled' },
        nodes: ['all/0', 'all/1'].map((node) => ({
          node,
          reply: expect.objectContaining({ kind: 'requested' }),
        })),
      });
      expect(await refusal(run.result())).toBeInstanceOf(RunCanceledError);
      isSlow = false;
      const again = await loom.runs.rerun(run.id);
      expect(await settled(harness, again.result())).toBe('[1,2]');
      const from = await loom.runs.rerun(again.id, { from: 'show' });
      expect(await settled(harness, from.result())).toBe('[1,2]');
      const nowhere = loom.runs.rerun(run.id, { from: 'nowhere' });
      await expect(nowhere).rejects.toBeInstanceOf(InvalidOptionError);
    });

    it('is what a run without any task becomes, so that it can wait for its time', async () => {
      const loom = await working([]);
      const run = await loom.enqueue(
        parallel({}, {}) as never,
        undefined as never,
        {
          delay: '1h',
        } as never,
      );
      expect((await loom.tasks.get((run as { readonly id: string }).id))?.state).toBe('scheduled');
    });
  });

  describe('rerun', () => {
    let calls: string[];
    beforeEach(() => {
      calls = [];
    });

    function counted(name: string, work: (n: number) => number) {
      return task(name, { retries: 0 }, (n: number) => {
        calls.push(name);
        return work(n);
      });
    }

    it('goes on from what has finished', async () => {
      let isBroken = true;
      const first = counted('first', (n) => n + 1);
      const shaky = counted('shaky', (n) => {
        if (isBroken) throw new Error('broken');
        return n * 10;
      });
      const whole = first.pipe(parallel({ a: shaky, b: double })).pipe(show);
      const loom = await working([whole]);
      const run = await loom.enqueue(whole, 1, { user: 'ann', priority: 'high' });
      await settled(harness, refusal(run.result()));
      isBroken = false;
      const again = await loom.runs.rerun(run.id);
      expect(await settled(harness, again.result())).toBe('{"a":20,"b":4}');
      expect(calls).toEqual(['first', 'shaky', 'shaky']);
      expect(await loom.runs.get(again.id)).toMatchObject({
        ...{ user: 'ann', priority: 4, past: [run.id], state: 'finished' },
        nodes: [{ node: 'first', state: 'finished' }, {}, {}, {}, {}],
      });
      const third = await loom.runs.rerun(again.id, { from: 'show' });
      expect(await settled(harness, third.result())).toBe('{"a":20,"b":4}');
      expect(calls).toHaveLength(3);
      const fourth = await loom.runs.rerun(third.id);
      expect(await settled(harness, fourth.result())).toBe('{"a":20,"b":4}');
    });

    it('stores the tasks where those of the first run were, with its options', async () => {
      const far = task('far', { queue: 'far', priority: 'low' }, (n: number) => n);
      const near = task('near', (n: number) => n);
      const whole = far.pipe(near);
      const loom = harness.loom([whole]);
      const places = async (run: { readonly id: string }): Promise<unknown> => {
        const nodes = (await loom.runs.get(run.id))?.nodes ?? [];
        const records = await harness.backend.inspect.get(nodes.map(({ taskId = '' }) => taskId));
        return records.map((one) => [one?.queue, one?.level, one?.options.includes('"retries":7')]);
      };
      const usual = await loom.enqueue(whole, 1);
      const said = await loom.enqueue(whole, 1, { queue: 'q', priority: 'high', retries: 7 });
      for (const [run, expected] of [
        [
          usual,
          [
            ['far', 2, false],
            ['default', 3, false],
          ],
        ],
        [
          said,
          [
            ['q', 4, true],
            ['q', 4, true],
          ],
        ],
      ] as const) {
        expect(await places(run)).toEqual(expected);
        expect(await places(await loom.runs.rerun(run.id))).toEqual(expected);
      }
    });

    it('from a node runs that and all that follows again', async () => {
      const [a, b, c] = ['a', 'b', 'c'].map((name) => counted(name, (n) => n + 1));
      if (a === undefined || b === undefined || c === undefined) throw new Error('three');
      const whole = a.pipe(b).pipe(c);
      const loom = await working([whole]);
      const run = await loom.enqueue(whole, 1);
      await settled(harness, run.result());
      const again = await loom.runs.rerun(run.id, { from: 'b', id: 'again' });
      expect(await settled(harness, again.result())).toBe(4);
      expect([again.id, calls]).toEqual(['again', ['a', 'b', 'c', 'b', 'c']]);
      const wrong = loom.runs.rerun(run.id, { from: 'd' });
      await expect(wrong).rejects.toBeInstanceOf(InvalidOptionError);
      await expect(loom.runs.rerun('nobody')).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    // O68
    it('keeps the results of runs apart, for as long as the run is stored', async () => {
      const [a, b] = [counted('a', (n) => n + 1), counted('b', (n) => n * 2)];
      const whole = a.pipe(b);
      const loom = harness.loom([whole], { retention: { finished: '5m', failed: '7d' } });
      await loom.worker().start();
      const [one, two] = [await loom.enqueue(whole, 1), await loom.enqueue(whole, 5)];
      expect(await settled(harness, Promise.all([one.result(), two.result()]))).toEqual([4, 12]);
      const again = await loom.runs.rerun(two.id, { from: 'b' });
      expect(await settled(harness, again.result())).toBe(12);
      expect(calls).toHaveLength(5);
      await harness.clock.advance('10m');
      await expect(loom.runs.rerun(two.id)).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    it('keeps a lenient group that finished, though a member had failed', async () => {
      const bad = counted('bad', () => {
        throw new Error('always');
      });
      const last = counted('last', (n) => n);
      const group = parallel({ bad, good: double }, { policy: 'bestEffort' });
      const whole = group.pipe(show).pipe(last as never);
      const loom = await working([whole]);
      const run = await loom.enqueue(whole, 1);
      await settled(harness, run.result());
      const again = await loom.runs.rerun(run.id, { from: 'last' });
      await settled(harness, again.result());
      expect(calls).toEqual(['bad', 'last', 'last']);
      const whole2 = await loom.runs.rerun(run.id, { from: '~group.bad' });
      await settled(harness, whole2.result());
      expect(calls).toEqual(['bad', 'last', 'last', 'bad', 'last']);
    });
  });
});
