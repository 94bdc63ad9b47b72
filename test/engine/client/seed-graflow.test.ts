/**
 * The test list of the seed about distributed execution (its section 5, phases 1 and 2), one named
 * test for each line of it, on both backends.
 */
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import {
  GraphEvictedError,
  GraphExpiredError,
  GraphNotFoundError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Backend } from '../../../src/domain/port/backend.ts';
import type { RunHandle } from '../../../src/runs/calls/run-handle.ts';
import { flakyBackend } from '../../../src/testing/flaky-backend.ts';
import { each, parallel } from '../../../src/workflow/parallel.ts';
import type { AnyStep, Pipeline } from '../../../src/workflow/step.ts';
import { dynamic, task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { gate } from '../../support/gate.ts';
import { settled } from '../../support/runs.ts';
import { FORMS, replaced, turn } from '../runs/cases/kit.ts';

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);
const pair = inc.pipe(double);
const HOUR_MS = 3_600_000;

/** A pipeline of so many steps. */
function chain(steps: number): Pipeline<number, number> {
  let whole: Pipeline<number, number> = inc.pipe(inc.as('n0'));
  for (let at = 1; at < steps - 1; at++) whole = whole.pipe(inc.as(`n${at}`));
  return whole.as(`chain${steps}`);
}

/** A group of so many members. */
function wide(members: number): AnyStep {
  return parallel(
    Object.fromEntries(
      Array.from({ length: members }, (_, at) => [`m${at}`, inc.as(`member-${at}`)]),
    ),
    { name: `wide${members}` },
  );
}

eachBackend((open, name) => {
  const harness = opened(open);

  const hashOf = async (loom: Fairloom, run: { readonly id: string }): Promise<string> =>
    (await loom.runs.get(run.id))?.graph ?? '';

  const start = (loom: Fairloom, step: unknown, input: unknown, options: object = {}) =>
    loom.enqueue(step as never, input as never, options as never) as Promise<RunHandle<unknown>>;

  /** The backend, and its calls that have to do with graphs. */
  function watched(): { readonly backend: Backend; readonly calls: string[] } {
    const calls: string[] = [];
    const backend = flakyBackend(harness.backend, ({ operation, args }) => {
      if (operation.startsWith('graphs.'))
        calls.push(`${operation} ${String(args[0]).slice(0, 8)}`);
      return undefined;
    });
    return { backend, calls };
  }

  /** Lets time pass in which nothing is done, then does what was due. */
  async function pass(ms: number): Promise<void> {
    await harness.jump(ms);
    await harness.clock.advance(0);
    while ((await harness.backend.tasks.tick()).more) await turn();
    await harness.quiet();
  }

  /** A graph in the store that no run refers to any more, and its hash. */
  async function unneeded(step: AnyStep = pair): Promise<string> {
    const loom = harness.loom([inc, double], { retention: { canceled: 0 } });
    const run = await start(loom, step, 1);
    const hash = await hashOf(loom, run);
    await run.cancel();
    for (let minute = 0; minute < 4; minute++) await pass(LIMITS.resendMs + 1);
    expect(await loom.tasks.get(run.id)).toBeUndefined();
    return hash;
  }

  describe('phase 1', () => {
    it('the same workflow many times stores one graph', async () => {
      const hashes = new Set<string>();
      for (let client = 0; client < 5; client++) {
        const loom = harness.loom([pair]);
        const runs = await Promise.all(Array.from({ length: 20 }, (_, n) => start(loom, pair, n)));
        for (const run of runs) hashes.add(await hashOf(loom, run));
        const known = client === 0 ? 0 : 1;
        expect(loom.graphs.stats()).toMatchObject({ saves: 1, known });
      }
      expect(hashes.size).toBe(1);
    });

    it('a worker restores the graph by its hash', async () => {
      const producer = harness.loom([pair]);
      const run = await start(producer, pair, 3);
      const hash = await hashOf(producer, run);
      const { backend, calls } = watched();
      // It knows the handlers and has never seen the pipeline.
      await harness.loom([inc, double], { backend }).worker().start();
      expect(await settled(harness, run.result())).toBe(8);
      expect(calls).toEqual([`graphs.load ${hash.slice(0, 8)}`]);
    });

    it('a known hash is not uploaded again', async () => {
      const { backend, calls } = watched();
      const loom = harness.loom([pair], { backend });
      for (let n = 0; n < 10; n++) await start(loom, pair, n);
      await Promise.all([10, 11, 12].map((n) => start(loom, inc.pipe(double), n)));
      expect(calls.map((call) => call.split(' ')[0])).toEqual(['graphs.save']);
    });

    it('a load extends the time to live', async () => {
      const hash = await unneeded();
      const look = (): Promise<unknown> => harness.loom([]).graphs.get(hash);
      // Looked at every 20 h, it outlives its 24 h twice.
      for (let day = 0; day < 3; day++) {
        await pass(20 * HOUR_MS);
        expect(await look()).toMatchObject({ nodes: [{}, {}] });
      }
      await pass(LIMITS.graphTtlMs + 60_000);
      await expect(look()).rejects.toBeInstanceOf(GraphExpiredError);
    });

    it('the cache drops what was used longest ago', async () => {
      const saver = harness.loom([inc]);
      const hashes: string[] = [];
      for (let at = 0; at < 101; at++) {
        hashes.push(await hashOf(saver, await start(saver, chain(2).as(`g${at}`), 1)));
      }
      const loom = harness.loom([]);
      for (const hash of hashes.slice(0, 100)) await loom.graphs.get(hash);
      await loom.graphs.get(hashes[0] ?? '');
      expect(loom.graphs.stats()).toMatchObject({ loads: 100, hits: 1 });
      await loom.graphs.get(hashes[100] ?? '');
      await loom.graphs.get(hashes[0] ?? '');
      expect(loom.graphs.stats().loads).toBe(101);
      await loom.graphs.get(hashes[1] ?? '');
      expect(loom.graphs.stats().loads).toBe(102);
    });

    it('compression halves what has 10 KiB, and a hundred runs store a tenth at most', async ({
      annotate,
    }) => {
      const lines: string[] = [];
      for (const step of [chain(120), chain(1_000), wide(80), wide(900)]) {
        const loom = harness.loom([inc]);
        await start(loom, step, 1);
        const { bytesBefore, bytesAfter } = loom.graphs.stats();
        expect(bytesBefore).toBeGreaterThanOrEqual(10 * 1_024);
        expect(bytesAfter).toBeLessThanOrEqual(bytesBefore / 2);
        lines.push(`${step.name}: ${bytesBefore} to ${bytesAfter} bytes`);
      }
      const loom = harness.loom([inc, double]);
      for (let n = 0; n < 100; n++) await start(loom, pair, n);
      const { saves, bytesBefore, bytesAfter } = loom.graphs.stats();
      const [each1, stored] = [bytesBefore / saves, bytesAfter];
      expect(stored).toBeLessThanOrEqual((100 * each1) / 10);
      lines.push(`100 runs: ${100 * each1} to ${stored} bytes`);
      await annotate(lines.join('; '));
    });

    it('a run that takes longer than the time to live keeps its graph', async () => {
      const loom = harness.loom([pair]);
      const runs = [
        await start(loom, pair, 1, { delay: '3d' }),
        await start(loom, pair, 1, { delay: '3d', form: 'driven' }),
      ];
      const hash = await hashOf(loom, runs[0] ?? { id: '' });
      for (let day = 0; day < 3; day++) await pass(LIMITS.graphTtlMs + 1);
      expect(await harness.backend.graphs.load(hash)).toMatchObject({ kind: 'found' });
      const other = harness.loom([inc, double]);
      await other.worker().start();
      const values = await settled(harness, Promise.all(runs.map((run) => run.result())));
      expect(values).toEqual([4, 4]);
    });

    it('expired, never uploaded and evicted are told apart', async () => {
      const get = (hash: string, backend = harness.backend): Promise<unknown> =>
        harness.loom([], { backend }).graphs.get(hash);
      const missing = get('b'.repeat(64));
      await expect(missing).rejects.toBeInstanceOf(GraphNotFoundError);
      await expect(missing).rejects.toMatchObject({ retryable: true });
      const loom = harness.loom([inc, double]);
      const hash = await hashOf(loom, await start(loom, chain(3), 1, { delay: '9d' }));
      const evicted = await evict(harness.backend, hash);
      await expect(get(hash, evicted)).rejects.toBeInstanceOf(GraphEvictedError);
      const old = await unneeded();
      await pass(LIMITS.graphTtlMs + 60_000);
      await expect(get(old)).rejects.toBeInstanceOf(GraphExpiredError);
    });

    it.each(FORMS)('a group is a super-step: all of it, then the next (%s)', async (form) => {
      const log: string[] = [];
      const gates = new Map(['b', 'c', 'd'].map((one) => [one, gate()]));
      const note = (one: string) =>
        task(one, async (value: unknown) => {
          log.push(`+${one}`);
          await gates.get(one)?.passed;
          log.push(`-${one}`);
          return value;
        });
      const group = parallel({ b: note('b'), c: note('c'), d: note('d') });
      const whole = note('a').pipe(group).pipe(note('e'));
      const loom = harness.loom([whole]);
      await loom.worker({ concurrency: 10 }).start();
      const run = await start(loom, whole, 1, { form });
      await harness.until(() => log.length === 5);
      expect(log.slice(2).toSorted()).toEqual(['+b', '+c', '+d']);
      for (const one of ['c', 'b', 'd']) {
        expect(log).not.toContain('+e');
        gates.get(one)?.open();
        await harness.until(() => log.includes(`-${one}`));
        await harness.quiet();
      }
      await settled(harness, run.result());
      expect(log).toEqual(['+a', '-a', ...log.slice(2, 5), '-c', '-b', '-d', '+e', '-e']);
    });
  });

  describe('phase 2', () => {
    const all = [inc, double];

    it('a next of a worker stays in that worker: no other task, no other graph', async () => {
      const more = dynamic('more', (n: number, ctx) => ctx.next(inc.pipe(double), n));
      const whole = more.pipe(inc.as('last') as never);
      const { backend, calls } = watched();
      const loom = harness.loom([whole, ...all], { backend });
      await loom.worker().start();
      const run = await start(loom, whole, 1);
      expect(await settled(harness, run.result())).toBe(5);
      await harness.quiet();
      expect((await loom.stats()).totals.enqueued).toBe(1);
      expect(calls.filter((call) => call.startsWith('graphs.save'))).toHaveLength(1);
    });

    it('a group in a worker dispatches its members under the new hash', async () => {
      const show = task('show', String);
      const fan = dynamic('fan', (n: number, ctx) => ctx.next(each(inc.pipe(double)), [n, n + 1]));
      const loom = harness.loom([fan, show, ...all]);
      await loom.worker().start();
      const run = await start(loom, fan.pipe(show as never), 1);
      expect(await settled(harness, run.result())).toBe('4,6');
      const drives = (await loom.tasks.list({ state: 'finished' })).items.filter(
        (one) => one.name === '~drive',
      );
      const records = await harness.backend.inspect.get(drives.map(({ id }) => id));
      const hashes = records.map((record) => JSON.parse(record?.options ?? '{}').run);
      const own = hashes.find(({ id, node }) => id === run.id && node === '')?.graph;
      const members = hashes.filter(({ id, node }) => id === run.id && node !== '');
      expect(members).toHaveLength(2);
      expect(new Set(members.map(({ graph }) => graph)).size).toBe(1);
      expect(members[0]?.graph).not.toBe(own);
      expect(await loom.graphs.get(members[0]?.graph)).toMatchObject({ nodes: [{}] });
    });

    it.each([2, 3, 4])(
      'groups %i levels deep give what they should, with one slot',
      async (depth) => {
        let step: AnyStep = inc;
        let input: unknown = 1;
        let output: unknown = 2;
        for (let level = 0; level < depth; level++) {
          step = each(step as never) as unknown as AnyStep;
          input = [input, input];
          output = [output, output];
        }
        const loom = harness.loom(all);
        await loom.users.set('default', { maxRunning: 1 });
        await loom.worker({ concurrency: 1 }).start();
        const run = await start(loom, step, input);
        expect(await settled(harness, run.result())).toEqual(output);
      },
    );

    it('nodes that come in at run time may hold groups, also in a member of a group', async () => {
      const grow = dynamic('grow', (n: number, ctx) =>
        ctx.next(parallel({ a: inc.pipe(double), b: parallel({ c: inc.as('c') }) }), n),
      );
      const loom = harness.loom([grow, ...all]);
      await loom.worker({ concurrency: 2 }).start();
      const value = { a: 4, b: { c: 2 } };
      expect(await settled(harness, (await start(loom, grow, 1)).result())).toEqual(value);
      const run = await start(loom, parallel({ x: grow, y: double }), 1);
      expect(await settled(harness, run.result())).toEqual({ x: value, y: 2 });
    });

    it('goto out of a group is refused, within a member it is not', async () => {
      const out = dynamic('out', (n: number, ctx) => ctx.goto(double, n));
      const within = dynamic('within', (n: number, ctx) => ctx.goto(inc, n));
      const skipped = task('skipped', (): number => {
        throw new Error('it was to be skipped');
      });
      const loom = harness.loom([out, within, skipped, ...all]);
      await loom.worker().start();
      const bad = await start(loom, parallel({ out, inc }).pipe(double as never), 1);
      await expect(settled(harness, bad.result())).rejects.toThrow('GotoInGroupError');
      const member = within.pipe(skipped as never).pipe(inc as never);
      const good = await start(loom, parallel({ member, double }), 1);
      expect(await settled(harness, good.result())).toEqual({ member: 2, double: 2 });
    });
  });

  it('two namespaces never meet', async () => {
    const other = await open();
    try {
      const seen: string[] = [];
      const say = (who: string) =>
        task('say', (n: number) => {
          seen.push(`${who} ${n}`);
          return n;
        });
      const [here, there] = [harness.loom([say('here')]), other.loom([say('there')])];
      await Promise.all([here.worker().start(), there.worker().start()]);
      const step = each(say('nobody'));
      const mine = await start(here, step, [1, 2], { id: 'same' });
      expect(await there.runs.get('same')).toBeUndefined();
      await expect(there.graphs.get(await hashOf(here, mine))).rejects.toBeInstanceOf(
        GraphNotFoundError,
      );
      const theirs = await start(there, step, [3, 4], { id: 'same' });
      expect(await settled(harness, mine.result())).toEqual([1, 2]);
      expect(await settled(other, theirs.result())).toEqual([3, 4]);
      expect(seen.toSorted()).toEqual(['here 1', 'here 2', 'there 3', 'there 4']);
    } finally {
      await other.close();
    }
  });

  /** What a server under memory pressure does; the embedded backend has no such thing. */
  async function evict(backend: Backend, hash: string): Promise<Backend> {
    if (name === 'memory') {
      return replaced(backend, 'graphs', { load: async () => ({ kind: 'evicted' }) });
    }
    const client = new Redis(inject('redisUrl'));
    const keys = await client.keys(`engine-${process.pid}-*:graph:${hash}`);
    expect(keys).toHaveLength(1);
    await client.del(...keys);
    client.disconnect();
    return backend;
  }
});
