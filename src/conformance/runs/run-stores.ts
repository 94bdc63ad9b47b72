/** What runs leave behind: what they write down, and snapshots of their graphs. */
import { LIMITS } from '../../domain/limits.ts';
import type { Cases } from '../cases.ts';

const DAY_MS = 86_400_000;

/** What a run writes down to find after a restart. */
export const journals: Cases = {
  'keeps what was written down, and takes away what is null': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    expect(await kit.backend.runs.load('run')).toEqual({});
    expect(await kit.backend.runs.checkpoint(run, { a: '1', 'b:é': '{"x":[]}' })).toBe('ok');
    expect(await kit.backend.runs.checkpoint(run, { a: null, c: '"2"' })).toBe('ok');
    expect(await kit.backend.runs.load('run')).toEqual({ 'b:é': '{"x":[]}', c: '"2"' });
  },

  'is fenced by the lease': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const slow = await kit.leaseOne();
    await kit.advance(LIMITS.leaseMs + 1);
    const next = await kit.leaseOne();
    expect(await kit.backend.runs.checkpoint(slow, { a: '1' })).toBe('lost');
    expect(await kit.backend.runs.checkpoint({ ...next, id: 'nobody' }, { a: '1' })).toBe('lost');
    expect(await kit.backend.runs.load('run')).toEqual({});
    expect(await kit.backend.runs.checkpoint(next, { a: '2' })).toBe('ok');
    await kit.finish(next);
    expect(await kit.backend.runs.checkpoint(next, { a: '3' })).toBe('lost');
    expect(await kit.backend.runs.load('run')).toEqual({ a: '2' });
  },

  // F2
  'takes nothing once a cancel was requested': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    expect(await kit.backend.runs.checkpoint(run, { a: '1' })).toBe('ok');
    await kit.backend.tasks.cancel('run', { type: 'request' });
    const channel = {
      key: 'n',
      run: 'run',
      writes: [{ type: 'set', field: 'c:k', text: '1' }],
    } as const;
    expect(await kit.backend.runs.checkpoint(run, { a: '2' })).toBe('canceling');
    expect(await kit.backend.runs.checkpoint(run, { b: '1' }, channel)).toBe('canceling');
    expect(await kit.backend.runs.load('run')).toEqual({ a: '1' });
    expect(await kit.backend.runs.readChannel('run')).toEqual({});
    await kit.finish(run);
    expect(await kit.state('run')).toBe('canceled');
    expect(await kit.backend.runs.checkpoint(run, { a: '3' })).toBe('lost');
  },

  'forgives losses: a run that gets on is not given up': async (kit, expect) => {
    await kit.add({ id: 'run' });
    for (let round = 0; round < 5; round++) {
      const run = await kit.leaseOne();
      expect(run.losses).toBe(round === 0 ? 0 : 1);
      expect(await kit.backend.runs.checkpoint(run, { round: String(round) })).toBe('ok');
      await kit.advance(LIMITS.leaseMs + 1);
    }
    expect(await kit.state('run')).toBe('queued');
  },

  'outlives a redrive, and counts it once something was written down': async (kit, expect) => {
    const { runs, tasks } = kit.backend;
    await kit.add({ id: 'run' });
    await kit.fail(await kit.leaseOne());
    expect(await tasks.redrive('run')).toMatchObject({ kind: 'ok' });
    expect(await runs.load('run')).toEqual({});
    const run = await kit.leaseOne();
    await runs.checkpoint(run, { a: '1' });
    await kit.fail(run);
    await tasks.redrive('run');
    expect(await runs.load('run')).toEqual({ a: '1', redrives: '1' });
    expect(await tasks.redrive('run')).toMatchObject({ kind: 'wrong-state' });
    await kit.retry(await kit.leaseOne(), 0);
    expect(await runs.load('run')).toEqual({ a: '1', redrives: '1' });
    await kit.fail(await kit.leaseOne());
    await tasks.redrive('run');
    const again = await kit.leaseOne();
    expect(await runs.checkpoint(again, { a: null, b: '2' })).toBe('ok');
    expect(await runs.load('run')).toEqual({ b: '2', redrives: '2' });
    await kit.finish(again);
    await kit.backend.tasks.remove('run');
    await kit.add({ id: 'run' });
    await kit.fail(await kit.leaseOne());
    await tasks.redrive('run');
    expect(await runs.load('run')).toEqual({});
  },

  'goes with the record': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    await kit.backend.runs.checkpoint(run, { a: '1' });
    await kit.finish(run);
    await kit.jump(2 * DAY_MS);
    await kit.rest();
    expect(await kit.state('run')).toBe('missing');
    expect(await kit.backend.runs.load('run')).toEqual({});
  },
};

/** Graphs of runs, stored under their hash while a task needs them. */
export const snapshots: Cases = {
  'are stored once and found by their hash': async (kit, expect) => {
    const { graphs } = kit.backend;
    expect(await graphs.load('h1')).toEqual({ kind: 'unknown' });
    expect(await graphs.save('h1', 'body é')).toBe('saved');
    expect(await graphs.save('h1', 'body é')).toBe('known');
    expect(await graphs.load('h1')).toEqual({ kind: 'found', body: 'body é' });
  },

  'go after a day without use, and it is known that they did': async (kit, expect) => {
    const { graphs } = kit.backend;
    await graphs.save('h1', 'one');
    await kit.jump(LIMITS.graphTtlMs - 60_000);
    expect(await graphs.load('h1')).toEqual({ kind: 'found', body: 'one' });
    await kit.jump(LIMITS.graphTtlMs - 60_000);
    expect(await graphs.load('h1')).toEqual({ kind: 'found', body: 'one' });
    await kit.jump(LIMITS.graphTtlMs + 1);
    expect(await graphs.load('h1')).toEqual({ kind: 'expired' });
    expect(await graphs.save('h1', 'one')).toBe('saved');
    expect(await graphs.load('h1')).toEqual({ kind: 'found', body: 'one' });
  },

  'stay as long as a stored task needs them': async (kit, expect) => {
    const { graphs } = kit.backend;
    await graphs.save('h1', 'one');
    await kit.add({ id: 'run', graph: 'h1', delayMs: 40 * DAY_MS });
    await kit.jump(39 * DAY_MS);
    expect(await graphs.load('h1')).toEqual({ kind: 'found', body: 'one' });
    await kit.cancel('run');
    await kit.jump(2 * DAY_MS);
    await kit.rest();
    expect(await kit.state('run')).toBe('missing');
    expect((await graphs.load('h1')).kind).toBe('found');
    await kit.jump(LIMITS.graphTtlMs + 1);
    expect(await graphs.load('h1')).toEqual({ kind: 'expired' });
  },

  'a task whose snapshot is not there is refused': async (kit, expect) => {
    expect(await kit.sendOne({ id: 'run', graph: 'h1' })).toEqual({
      kind: 'refused',
      refusal: { type: 'graph-missing', hash: 'h1' },
    });
    expect(await kit.state('run')).toBe('missing');
    await kit.backend.graphs.save('h1', 'one');
    expect(await kit.sendOne({ id: 'run', graph: 'h1' })).toMatchObject({ kind: 'created' });
  },
};
