/** Graphs of workflows in the store: one for many runs, kept while needed, told apart when missing. */
import { describe, expect, it } from 'vitest';
import {
  GraphCorruptError,
  GraphEvictedError,
  GraphExpiredError,
  GraphNotFoundError,
  InvalidOptionError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Backend, GraphReply } from '../../../src/domain/port/backend.ts';
import { packGraph } from '../../../src/runs/snapshot.ts';
import { parallel } from '../../../src/workflow/parallel.ts';
import type { Pipeline } from '../../../src/workflow/step.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { settled } from '../../support/runs.ts';

const inc = task('inc', (n: number) => n + 1);
const double = task('double', async (n: number) => n * 2);
const pair = inc.pipe(double);

/** A pipeline of so many steps. */
function chain(steps: number, name: string): Pipeline<number, number> {
  let whole: Pipeline<number, number> = inc.pipe(inc.as('n0'));
  for (let at = 1; at < steps - 1; at++) whole = whole.pipe(inc.as(`n${at}`));
  return whole.as(name);
}

/** A backend whose snapshots are watched, and may be changed under way. */
function watched(backend: Backend, change: (reply: GraphReply) => GraphReply = (reply) => reply) {
  const calls: string[] = [];
  const graphs: Backend['graphs'] = {
    save: (hash, body) => {
      calls.push(`save ${body.length}`);
      return backend.graphs.save(hash, body);
    },
    load: async (hash) => {
      calls.push('load');
      return change(await backend.graphs.load(hash));
    },
  };
  const { name, capabilities, tasks, users, queues, workers, inspect, runs } = backend;
  const { schedules, xcom, waits, streams, asks, series } = backend;
  const around: Backend = {
    ...{
      name,
      capabilities,
      tasks,
      users,
      queues,
      workers,
      inspect,
      runs,
      graphs,
      schedules,
      xcom,
      waits,
      streams,
      asks,
      series,
    },
    open: (settings) => backend.open(settings),
    close: () => backend.close(),
  };
  return { calls, backend: around };
}

eachBackend((open) => {
  const harness = opened(open);

  async function hashOf(
    run: { readonly id: string },
    loom = harness.loom([pair]),
  ): Promise<string> {
    return (await loom.runs.get(run.id))?.graph ?? '';
  }

  describe('the same workflow a hundred times', () => {
    it('stores one graph, uploaded once, to which every run refers', async () => {
      const { calls, backend } = watched(harness.backend);
      const loom = harness.loom([pair], { backend });
      const runs = await Promise.all(Array.from({ length: 100 }, (_, n) => loom.enqueue(pair, n)));
      const hashes = await Promise.all(runs.map((run) => hashOf(run, loom)));
      expect(new Set(hashes).size).toBe(1);
      expect(calls).toHaveLength(1);
      expect(loom.graphs.stats()).toMatchObject({ saves: 1, known: 0, loads: 0, touches: 0 });
    });

    it('is the same graph in another process, which does not store it again', async () => {
      const [one, two] = [harness.loom([pair]), harness.loom([inc.pipe(double)])];
      const first = await one.enqueue(pair, 1);
      const second = await two.enqueue(inc.pipe(double), 2);
      expect(await hashOf(second, two)).toBe(await hashOf(first, one));
      expect(two.graphs.stats()).toMatchObject({ saves: 1, known: 1 });
    });
  });

  describe('a worker', () => {
    it('restores the graph by its hash, once for all tasks', async () => {
      const loom = harness.loom([pair]);
      const runs = await Promise.all([1, 2, 3].map((n) => loom.enqueue(pair, n)));
      const { calls, backend } = watched(harness.backend);
      const other = harness.loom([inc, double], { backend });
      await other.worker().start();
      const results = Promise.all(runs.map((run) => run.result()));
      expect(await settled(harness, results)).toEqual([4, 6, 8]);
      expect(calls).toEqual(['load']);
      expect(await settled(harness, (await loom.enqueue(pair, 4)).result())).toBe(10);
      expect(other.graphs.stats()).toMatchObject({ loads: 1, hits: 1, saves: 0 });
    });

    it('has the graph of a run that waits for longer than a graph lives', async () => {
      const loom = harness.loom([pair]);
      const run = await loom.enqueue(pair, 1, { delay: '30d' });
      await harness.jump(LIMITS.graphTtlMs * 29);
      const other = harness.loom([inc, double]);
      await harness.jump(LIMITS.graphTtlMs + 1);
      await other.worker().start();
      expect(await settled(harness, run.result())).toBe(4);
      expect(other.graphs.stats()).toMatchObject({ loads: 1 });
    });

    it('tries again when the graph is not there yet, and gives up when it is gone', async () => {
      const loom = harness.loom([pair]);
      let answers: GraphReply[] = [{ kind: 'unknown' }];
      const { backend } = watched(harness.backend, (reply) => answers.pop() ?? reply);
      const other = harness.loom([inc, double], { backend });
      await other.worker().start();
      const late = await loom.enqueue(pair, 1);
      expect(await settled(harness, late.result())).toBe(4);
      const next = chain(3, 'next');
      answers = [{ kind: 'evicted' }];
      const lost = await loom.enqueue(next, 1);
      await expect(settled(harness, lost.result())).rejects.toMatchObject({
        code: 'RUN_FAILED',
        errorName: 'GraphEvictedError',
      });
    });
  });

  describe('a client', () => {
    it('uploads again when the store has lost it, and once only', async () => {
      const loom = harness.loom([pair]);
      await loom.enqueue(pair, 1);
      await loom.runs.cancel((await loom.enqueue(pair, 2)).id);
      const { calls, backend } = watched(harness.backend);
      const again = harness.loom([pair], { backend });
      const [first] = await Promise.all([again.enqueue(pair, 1), again.enqueue(pair, 2)]);
      expect(calls).toHaveLength(1);
      expect(first.created).toBe(true);
    });

    it('stores what the backend does not know any more, in the same call', async () => {
      const loom = harness.loom([pair]);
      const run = await loom.enqueue(pair, 1);
      await loom.runs.cancel(run.id);
      await harness.quiet();
      await harness.clock.advance(LIMITS.graphTtlMs / 5);
      const hash = await hashOf(run);
      let isLost = true;
      const enqueue = harness.backend.tasks.enqueue.bind(harness.backend.tasks);
      const tasks: Backend['tasks'] = Object.assign(Object.create(harness.backend.tasks), {
        enqueue: async (
          items: Parameters<typeof enqueue>[0],
          options: Parameters<typeof enqueue>[1],
        ) => {
          if (!isLost) return enqueue(items, options);
          isLost = false;
          return items.map((_, at) => ({
            kind: 'refused' as const,
            refusal:
              at === items.length - 1
                ? { type: 'graph-missing' as const, hash }
                : { type: 'batch-refused' as const },
          }));
        },
      });
      const backend = { ...watched(harness.backend).backend, tasks };
      const other = harness.loom([pair], { backend });
      expect((await other.enqueue(pair, 3)).created).toBe(true);
      expect(other.graphs.stats()).toMatchObject({ saves: 2 });
    });

    it('moves its end on when it is used after a quarter of its life, not before', async () => {
      const loom = harness.loom([pair]);
      const hash = await hashOf(await loom.enqueue(pair, 1), loom);
      await harness.jump(LIMITS.graphTtlMs / 4 - 1);
      await loom.graphs.get(hash);
      expect(loom.graphs.stats()).toMatchObject({ saves: 1, touches: 0 });
      await harness.jump(1);
      await loom.graphs.get(hash);
      await loom.graphs.get(hash);
      expect(loom.graphs.stats()).toMatchObject({ saves: 2, touches: 1, known: 1 });
      await harness.jump(LIMITS.graphTtlMs / 4);
      await loom.enqueue(pair, 2);
      expect(loom.graphs.stats()).toMatchObject({ saves: 3, touches: 1 });
    });

    it('saves again what is gone when it is used after all', async () => {
      const graph = chain(4, 'unused');
      const one = harness.loom([inc]);
      const run = await one.enqueue(graph, 1);
      const hash = await hashOf(run, one);
      await one.runs.cancel(run.id);
      for (let day = 0; day < 4; day++) {
        await harness.jump(LIMITS.graphTtlMs + 1);
        while ((await harness.backend.tasks.tick()).more) await harness.quiet();
      }
      const other = harness.loom([]);
      await expect(other.graphs.get(hash)).rejects.toBeInstanceOf(GraphExpiredError);
      expect((await one.graphs.get(hash)).name).toBe('unused');
      expect((await other.graphs.get(hash)).name).toBe('unused');
    });

    it('keeps the hundred graphs that were used last', async () => {
      const loom = harness.loom([inc]);
      const hashes: string[] = [];
      for (let at = 0; at < 101; at++) {
        hashes.push(await hashOf(await loom.enqueue(chain(2, `g${at}`), 1), loom));
      }
      const { loads } = loom.graphs.stats();
      await loom.graphs.get(hashes[1] ?? '');
      expect(loom.graphs.stats().loads).toBe(loads);
      await loom.graphs.get(hashes[0] ?? '');
      expect(loom.graphs.stats().loads).toBe(loads + 1);
      await loom.graphs.get(hashes[2] ?? '');
      expect(loom.graphs.stats().loads).toBe(loads + 2);
    });

    it('loads one graph once for any number of callers at a time', async () => {
      const hash = await hashOf(await harness.loom([pair]).enqueue(pair, 1));
      const { calls, backend } = watched(harness.backend);
      const other = harness.loom([], { backend });
      const graphs = await Promise.all([1, 2, 3].map(() => other.graphs.get(hash)));
      expect(calls).toEqual(['load']);
      expect(graphs[1]).toBe(graphs[0]);
      expect(Object.isFrozen(graphs[0]?.nodes[0])).toBe(true);
    });
  });

  describe('a graph that is not there', () => {
    const hash = 'a'.repeat(64);

    it.each([
      ['never stored', { kind: 'unknown' }, GraphNotFoundError, true],
      ['not used for long', { kind: 'expired' }, GraphExpiredError, false],
      ['dropped by the server', { kind: 'evicted' }, GraphEvictedError, false],
    ] as const)('is told apart: %s', async (_, reply, type, retryable) => {
      const { backend } = watched(harness.backend, () => reply);
      const got = harness.loom([], { backend }).graphs.get(hash);
      await expect(got).rejects.toBeInstanceOf(type);
      await expect(got).rejects.toMatchObject({ hash, retryable });
    });

    it.each([
      ['other content', `p${'fairloom-graph\n{}'}`],
      ['no format', 'x'],
      ['no data', 'd####'],
    ])('or damaged: %s', async (_, body) => {
      const { backend } = watched(harness.backend, () => ({ kind: 'found', body }));
      const got = harness.loom([], { backend }).graphs.get(hash);
      await expect(got).rejects.toBeInstanceOf(GraphCorruptError);
      await expect(harness.loom([]).graphs.get('no hash')).rejects.toBeInstanceOf(
        InvalidOptionError,
      );
    });
  });

  it('packs graphs by their size, and unpacks what it packed', async () => {
    const wide = parallel(
      ...(Array.from({ length: 900 }, (_, at) => inc.as(`member-${at}`)) as [
        typeof inc,
        typeof inc,
      ]),
    );
    for (const [steps, whole] of [
      [2, chain(2, 'short')],
      [120, chain(120, 'long')],
      [900, wide],
    ] as const) {
      const loom = harness.loom([inc]);
      const hash = await hashOf(await loom.enqueue(whole as typeof pair, 1), loom);
      const { bytesBefore, bytesAfter } = loom.graphs.stats();
      if (steps === 2) expect(bytesAfter).toBe(bytesBefore + 1);
      else expect(bytesAfter).toBeLessThan(bytesBefore / 4);
      expect(await harness.loom([]).graphs.get(hash)).toEqual(await loom.graphs.get(hash));
    }
    expect((await packGraph('x'.repeat(10_239)))[0]).toBe('p');
    expect((await packGraph('x'.repeat(10_240)))[0]).toBe('d');
  });

  it('two namespaces never meet', async () => {
    const other = await open();
    try {
      const here = harness.loom([pair]);
      const there = other.loom([pair]);
      const run = await here.enqueue(pair, 1, { id: 'same' });
      const hash = await hashOf(run, here);
      expect(await there.runs.get('same')).toBeUndefined();
      await expect(there.graphs.get(hash)).rejects.toBeInstanceOf(GraphNotFoundError);
      await there.worker().start();
      const theirs = await there.enqueue(pair, 5, { id: 'same' });
      expect(await settled(other, theirs.result())).toBe(12);
      expect((await here.runs.get('same'))?.state).toBe('deferred');
    } finally {
      await other.close();
    }
  });
});
