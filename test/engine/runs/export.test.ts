/** Runs as JSON: to be kept, and to go on in another place. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { Fairloom } from '../../../src/client/client.ts';
import {
  InvalidOptionError,
  RunFormatError,
  TaskConflictError,
  TaskNotFoundError,
} from '../../../src/domain/errors/errors.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import type { RunExport } from '../../../src/runs/calls/run-format.ts';
import { channel } from '../../../src/workflow/channel.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, type Harness, openMemory } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

const forms = ['dispatched', 'driven'] as const;

eachBackend((open) => {
  let from: Harness;
  /** The other kind of backend. */
  let to: Harness;
  let calls: string[];
  let broken: Set<string>;
  beforeEach(async () => {
    from = await open();
    to = await openMemory();
    calls = [];
    broken = new Set();
  });
  afterEach(async () => {
    await from.close();
    await to.close();
  });

  const part = (node: string) =>
    task(node, { retries: 0 }, async (n: number) => {
      calls.push(node);
      if (broken.has(node)) throw new Error(`${node} is broken`);
      return n + 1;
    });
  const [a, b, c, d] = [part('a'), part('b'), part('c'), part('d')];
  const show = task('show', (value: unknown) => JSON.stringify(value));

  async function working(
    harness: Harness,
    tasks: Parameters<Harness['loom']>[0],
  ): Promise<Fairloom> {
    const loom = harness.loom(tasks);
    await loom.worker({ concurrency: 4 }).start();
    return loom;
  }

  /** As it comes back from a file. */
  const written = (run: RunExport): RunExport => JSON.parse(JSON.stringify(run));

  describe.each(forms)('a %s run', (form) => {
    it('that failed half way goes on in another place, and gives there what it would have', async () => {
      const whole = a
        .pipe(parallel({ b, c }))
        .pipe(show)
        .pipe(d as never);
      const loom = await working(from, [whole]);
      broken.add('c');
      const run = await loom.enqueue(whole as never, 1 as never, {
        form,
        user: 'acme',
        priority: 'high',
        retries: 0,
      });
      await refusal(settled(from, run.result()));
      await from.quiet();
      const text = JSON.stringify(await loom.runs.export(run.id));
      broken.clear();
      calls.length = 0;
      const other = await working(to, [whole]);
      const moved = await other.runs.import(text, { id: run.id });
      expect(await settled(to, moved.result())).toBe('{"b":3,"c":3}1');
      expect(calls).toEqual(['c', 'd']);
      expect(await other.runs.get(run.id)).toMatchObject({
        state: 'finished',
        form,
        user: 'acme',
        input: 1,
        priority: 4,
        name: 'a-to-d',
      });
    });

    it('that has not begun, and one that has ended', async () => {
      const whole = a.pipe(b).pipe(show);
      const loom = await working(from, [whole]);
      const late = await loom.enqueue(whole, 1, { form, delay: '1h' });
      const done = await loom.enqueue(whole, 1, { form });
      expect(await settled(from, done.result())).toBe('3');
      const exports = [await loom.runs.export(late.id), await loom.runs.export(done.id)];
      expect(exports.map(({ state }) => state)).toEqual([
        form === 'driven' ? 'scheduled' : 'deferred',
        'finished',
      ]);
      calls.length = 0;
      const other = await working(to, [whole]);
      const counts: number[] = [];
      for (const one of exports) {
        const moved = await other.runs.import(written(one));
        expect(await settled(to, moved.result())).toBe('3');
        counts.push(calls.length);
      }
      expect(counts).toEqual([2, 2]);
    });

    it('stands for itself when it comes back, and stays what it is', async () => {
      const whole = a.pipe(b);
      const loom = await working(from, [whole]);
      const run = await loom.enqueue(whole, 1, { form });
      await settled(from, run.result());
      const one = await loom.runs.export(run.id);
      const copy = await loom.runs.import(one);
      expect(copy.id).not.toBe(run.id);
      await settled(from, copy.result());
      expect(calls).toEqual(['a', 'b']);
      const again = await loom.runs.export(copy.id);
      expect({ ...again, id: one.id }).toEqual(one);
      await expect(
        loom.runs.import(one, { id: (await loom.enqueue(a, 1)).id }),
      ).rejects.toBeInstanceOf(TaskConflictError);
      await expect(loom.runs.export('nobody')).rejects.toBeInstanceOf(TaskNotFoundError);
    });

    it('gives undefined and null as they are', async () => {
      const nothing = task('nothing', () => undefined);
      const none = task('none', () => null);
      const whole = parallel({ u: nothing, n: none }).pipe(
        task('last', { retries: 0 }, (value: { u: unknown; n: unknown }) => {
          if (broken.has('last')) throw new Error('last is broken');
          return `${typeof value.u} ${String(value.n)}`;
        }),
      );
      const loom = await working(from, [whole]);
      broken.add('last');
      const run = await loom.enqueue(whole as never, undefined as never, { form });
      await refusal(settled(from, run.result()));
      await from.quiet();
      broken.clear();
      const other = await working(to, [whole]);
      const moved = await other.runs.import(written(await loom.runs.export(run.id)));
      expect(await settled(to, moved.result())).toBe('undefined null');
    });
  });

  it('a dispatched run keeps what a lenient group did without', async () => {
    const whole = parallel({ b, c }, { policy: 'bestEffort' })
      .pipe(show)
      .pipe(d as never);
    const loom = await working(from, [whole]);
    for (const one of ['b', 'd']) broken.add(one);
    const run = await loom.enqueue(whole as never, 1 as never);
    await refusal(settled(from, run.result()));
    await from.quiet();
    broken.clear();
    calls.length = 0;
    const other = await working(to, [whole]);
    const moved = await other.runs.import(written(await loom.runs.export(run.id)));
    expect(await settled(to, moved.result())).toContain('b is broken');
    expect(calls).toEqual(['d']);
  });

  it('a driven run that waits goes on with the members that have finished', async () => {
    const whole = a.pipe(task('list', (n: number) => [n, n + 1, n + 2])).pipe(
      each(
        task('member', { retries: 0 }, async (n: number) => {
          calls.push(`member ${n}`);
          if (n === 3 && broken.has('member')) throw new Error('member is broken');
          return n * 10;
        }),
      ),
    );
    const loom = await working(from, [whole]);
    broken.add('member');
    const run = await loom.enqueue(whole, 1);
    await refusal(settled(from, run.result()));
    await from.quiet();
    broken.clear();
    calls.length = 0;
    const other = await working(to, [whole]);
    const once = await other.runs.import(written(await loom.runs.export(run.id)), { id: 'once' });
    // Exported again before it has begun, it is the same.
    expect(await settled(to, once.result())).toEqual([20, 30, 40]);
    expect(calls).toEqual(['member 3']);
  });

  it('a dynamic run goes on behind what its handlers chose', async () => {
    const choose = dynamic('choose', (n: number, ctx) => ctx.next(b.pipe(c.as('c2')), n));
    const whole = a.pipe(choose as never).pipe(d as never);
    const loom = await working(from, [a, choose, b, c, d]);
    broken.add('c');
    const run = await loom.enqueue(whole as never, 1 as never);
    await refusal(settled(from, run.result()));
    broken.clear();
    calls.length = 0;
    const other = await working(to, [a, choose, b, c, d]);
    const moved = await other.runs.import(written(await loom.runs.export(run.id)));
    expect(await settled(to, moved.result())).toBe(5);
    expect(calls).toEqual(['c', 'd']);
  });

  it('a driven run takes the values of its channels along', async () => {
    const notes = channel<{ seen: number[] }>('notes');
    const note = task('note', async (n: number, ctx) => {
      await ctx.channel(notes).append('seen', n);
      return n;
    });
    const read = task('read', { retries: 0 }, async (_: number, ctx) => {
      if (broken.has('read')) throw new Error('read is broken');
      return ctx.channel(notes).get('seen');
    });
    const whole = note.pipe(note.as('two')).pipe(read);
    const loom = await working(from, [whole]);
    broken.add('read');
    const run = await loom.enqueue(whole, 7, { form: 'driven' });
    await refusal(settled(from, run.result()));
    broken.clear();
    const other = await working(to, [whole]);
    const moved = await other.runs.import(written(await loom.runs.export(run.id)));
    expect(await settled(to, moved.result())).toEqual([7, 7]);
  });

  describe('rerun of a driven run', () => {
    it('reuses what has finished, and from a node what was before it', async () => {
      const whole = a.pipe(b).pipe(parallel({ c, d })).pipe(show);
      const loom = await working(from, [whole]);
      broken.add('d');
      const run = await loom.enqueue(whole, 1, { form: 'driven' });
      await refusal(settled(from, run.result()));
      broken.clear();
      const counts = async (
        options: Parameters<Fairloom['runs']['rerun']>[1],
      ): Promise<readonly string[]> => {
        calls.length = 0;
        const again = await loom.runs.rerun(run.id, options);
        expect(await settled(from, again.result())).toBe('{"c":4,"d":4}');
        return calls.toSorted();
      };
      expect(await counts({})).toEqual(['d']);
      expect(await counts({ from: 'b' })).toEqual(['b', 'c', 'd']);
      expect(await counts({ from: 'c' })).toEqual(['c', 'd']);
      expect(await counts({ from: 'a' })).toEqual(['a', 'b', 'c', 'd']);
      await expect(loom.runs.rerun(run.id, { from: 'x' })).rejects.toBeInstanceOf(
        InvalidOptionError,
      );
    });
  });
});

it('goes from the embedded backend to Redis', async () => {
  const from = await openMemory();
  const prefix = `export-${process.pid}`;
  const { backend, setTime, dispose } = redisForTests(inject('redisPlace'), { prefix });
  await setTime(from.clock.now());
  const calls: string[] = [];
  let isBroken = true;
  const part = (node: string) =>
    task(node, { retries: 0 }, async (n: number) => {
      calls.push(node);
      if (isBroken && node === 'c') throw new Error('c is broken');
      return n + 1;
    });
  const [a, b, c] = [part('a'), part('b'), part('c')];
  const show = task('show', (value: unknown) => JSON.stringify(value));
  const whole = a.pipe(parallel({ b, c })).pipe(show);
  const loom = from.loom([whole]);
  await loom.worker({ concurrency: 4 }).start();
  const other = new Fairloom({ backend, tasks: [whole], log: silentLogger });
  await other.worker().start();
  for (const form of forms) {
    isBroken = true;
    const run = await loom.enqueue(whole, 1, { form });
    await refusal(settled(from, run.result()));
    await from.quiet();
    isBroken = false;
    calls.length = 0;
    const moved = await other.runs.import(JSON.stringify(await loom.runs.export(run.id)));
    expect(await moved.result()).toBe('{"b":3,"c":3}');
    expect(calls).toEqual(['c']);
  }
  await other.close();
  await dispose();
  await from.close();
});

describe('what is no exported run is refused, and nothing is stored', () => {
  let harness: Harness;
  let loom: Fairloom;
  const whole = task('a', (n: number) => n).pipe(task('b', (n: number) => n));
  const base = async (form: (typeof forms)[number]): Promise<Record<string, unknown>> => {
    const run = await loom.enqueue(whole, 1, { form });
    await settled(harness, run.result());
    return JSON.parse(JSON.stringify(await loom.runs.export(run.id)));
  };
  beforeEach(async () => {
    harness = await openMemory();
    loom = harness.loom([whole]);
    await loom.worker().start();
  });
  afterEach(() => harness.close());

  const nodes = [{ node: 'a', state: 'finished', result: '1' }];
  it.each([
    ['$', 'nonsense'],
    ['$', '[]'],
    ['$', null],
    ['$', 7],
    ['$.format', { format: 'other' }],
    ['$.version', { version: 3 }],
    ['$.version', { version: 0 }],
    ['$.version', { version: '1' }],
    ['$.form', { form: 'both' }],
    ['$.form', { form: 7 }],
    ['$.state', { state: 'gone' }],
    ['$.user', { user: '' }],
    ['$.id', { id: 5 }],
    ['$.name', { name: undefined }],
    ['$.input', { input: 5 }],
    ['$.input', { input: '{' }],
    ['$.graph', { graph: null }],
    ['$.graph', { graph: {} }],
    ['$.graphHash', { graphHash: 'a'.repeat(64) }],
    ['$.said', { said: undefined }],
    ['$.said.queue', { said: { queue: 'no queue' } }],
    ['$.said.level', { said: { level: 9 } }],
    ['$.said.cost', { said: { cost: -1 } }],
    ['$.options', { options: [] }],
    ['$.options.retries', { options: { retries: -1 } }],
    ['$.options.backoff', { options: { backoff: 5 } }],
    ['$.options.traceparent', { options: { traceparent: 'nonsense' } }],
    ['$.options.checkpoint', { options: { checkpoint: 'never' } }],
    ['$.nodes', { nodes: {} }],
    ['$.nodes[0]', { nodes: [5] }],
    ['$.nodes[1].node', { nodes: [...nodes, ...nodes] }],
    ['$.nodes[0].state', { nodes: [{ node: 'a', state: 'unknown' }] }],
    ['$.nodes[0].node', { nodes: [{ node: 'x', state: 'finished', result: '1' }] }],
    ['$.nodes[0].result', { nodes: [{ node: 'a', state: 'finished' }] }],
    ['$.nodes[0].result', { nodes: [{ node: 'a', state: 'finished', result: '{' }] }],
    ['$.channels', { channels: { 'c:k': '1' } }],
    ['$.journal', { form: 'driven', journal: [] }],
    ['$.journal', { form: 'driven', journal: { 'n:a#1': 'o{' } }],
    ['$.journal', { form: 'driven', journal: { 'n:a#1': 'c{}' } }],
    ['$.journal.e', { form: 'driven', journal: { e: '1' } }],
    ['$.journal.n:a#1', { form: 'driven', journal: { 'n:a#1': 5 } }],
    ['$.journal.m:g#1/x', { form: 'driven', journal: { 'm:g#1/x': '{' } }],
  ])('%s: %j', async (path, change) => {
    const isWhole = typeof change !== 'object' || change === null;
    const before = (await loom.stats()).counts;
    const given = isWhole ? change : { ...(await base('dispatched')), ...change };
    const stored = (await loom.stats()).counts;
    const error = await refusal(loom.runs.import(given as never));
    expect(error).toBeInstanceOf(RunFormatError);
    expect(error).toMatchObject({ code: 'RUN_FORMAT', path });
    expect((await loom.stats()).counts).toEqual(isWhole ? before : stored);
  });

  it('a graph that has to be driven in the form of one that has not', async () => {
    const loop = each(whole);
    const run = await harness.loom([loop]).enqueue(loop, [1]);
    const one = await loom.runs.export(run.id);
    await expect(loom.runs.import({ ...one, form: 'dispatched' })).rejects.toMatchObject({
      path: '$.form',
    });
  });

  it('version 1 is what it was', async () => {
    const text = readFileSync(
      new URL('../../fixtures/run-version-1.json', import.meta.url),
      'utf8',
    );
    const moved = await loom.runs.import(text);
    expect(await settled(harness, moved.result())).toBe(4);
    expect(JSON.parse(text).version).toBe(1);
  });
});
