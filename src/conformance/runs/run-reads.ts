import { LIMITS } from '../../domain/limits.ts';
import type { Cases } from '../cases.ts';
import { type Kit, REFUSING_EDGES } from '../kit.ts';

const RUN = { ...REFUSING_EDGES, onFailure: 'run', onCancel: 'run' } as const;
const DAY_MS = 86_400_000;

/** A run that reads a dead letter which was put back, and is suspended until that has ended. */
async function readsAgain(kit: Kit): Promise<void> {
  await kit.add({ id: 'a' });
  await kit.add({ id: 'run', dependsOn: ['a'], edges: RUN });
  await kit.fail(await kit.leaseOne());
  await kit.rest();
  const run = await kit.leaseOne();
  await kit.backend.tasks.redrive('a');
  await kit.settle(run, { type: 'suspend', waitFor: ['a'], wakeOn: 'all' });
}

/** Everything is over; past retention nothing of it may be left. */
async function forgets(kit: Kit, ids: readonly string[]): Promise<readonly string[]> {
  for (let turn = 0; turn < ids.length; turn++) await kit.jump(30 * DAY_MS);
  return kit.states(ids);
}

/** Joins and suspended runs in rarer turns: redriven, canceled, late; and what they read for how long. */
export const runReads: Cases = {
  'a join that had to wait for its time is not queued when that comes': async (kit, expect) => {
    const late = await kit.add({ join: true, delayMs: 1_000 });
    const asked = await kit.add({ join: true, delayMs: DAY_MS });
    const after = await kit.add({ dependsOn: [asked] });
    await kit.advance(1_000);
    expect(await kit.state(late)).toBe('finished');
    expect(await kit.backend.tasks.runNow(asked)).toEqual({ kind: 'ok', state: 'finished' });
    expect(await kit.states([asked, after])).toEqual(['finished', 'queued']);
  },

  'a redriven join is not queued either, and tells whom it kept waiting': async (kit, expect) => {
    const edges = { ...REFUSING_EDGES, onFailure: 'fail' } as const;
    await kit.add({ id: 'a' });
    await kit.add({ id: 'join', join: true, dependsOn: ['a'], edges });
    await kit.add({ id: 'after', dependsOn: ['join'] });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    expect(await kit.states(['join', 'after'])).toEqual(['failed', 'deferred']);
    await kit.backend.tasks.redrive('a');
    await kit.runToEnd('a');
    expect(await kit.backend.tasks.redrive('join')).toEqual({ kind: 'ok', state: 'finished' });
    expect(await kit.states(['join', 'after'])).toEqual(['finished', 'queued']);
  },

  'joins of a batch that takes several scripts end when all of it is stored': async (
    kit,
    expect,
  ) => {
    const leaves = Array.from({ length: 1_500 }, (_, at) => kit.task({ id: `leaf${at}` }));
    const ids = leaves.slice(0, 200).map(({ id }) => id);
    const tasks = [
      kit.task({ id: 'empty', join: true }),
      ...leaves,
      kit.task({ id: 'join', join: true, dependsOn: ids }),
      kit.task({ id: 'end', join: true, dependsOn: ['join', 'empty', 'leaf1400'] }),
    ];
    const replies = await kit.backend.tasks.enqueue(tasks, { atomic: true });
    expect(new Set(replies.map(({ kind }) => kind))).toEqual(new Set(['created']));
    await kit.rest();
    expect(await kit.states(['empty', 'join', 'end'])).toEqual([
      'finished',
      'deferred',
      'deferred',
    ]);
    await kit.serve(1_500, { batch: 100 });
    await kit.rest();
    expect(await kit.states(['join', 'end'])).toEqual(['finished', 'finished']);
  },

  'a join has no attempts': async (kit, expect) => {
    const join = await kit.add({ join: true });
    expect(await kit.state(join)).toBe('finished');
    expect(await kit.backend.inspect.attempts(join)).toEqual([]);
  },

  'a canceled join waits for no task, and holds what it had joined': async (kit, expect) => {
    const [a, b] = [await kit.add(), await kit.add({ delayMs: 20 * DAY_MS })];
    const join = await kit.add({ join: true, dependsOn: [a, b] });
    await kit.runToEnd(a);
    await kit.rest();
    const reader = await kit.add({ dependsOn: [join], edges: RUN, delayMs: 3 * DAY_MS });
    await kit.cancel(join);
    expect(await kit.record(join)).toMatchObject({ state: 'canceled', blockedBy: [] });
    await kit.jump(2 * DAY_MS);
    expect(await kit.states([a, join])).toEqual(['finished', 'canceled']);
    await kit.cancel(reader);
    await kit.cancel(b);
    expect(await forgets(kit, [reader, join, a, b])).toEqual([
      'missing',
      'missing',
      'missing',
      'missing',
    ]);
  },

  'a canceled run has never read whom it still waited for': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    const [a, b] = [await kit.add(), await kit.add()];
    await kit.settle(run, { type: 'suspend', waitFor: [a, b], wakeOn: 'all' });
    await kit.runToEnd(a);
    await kit.rest();
    await kit.cancel('run');
    await kit.runToEnd(b);
    await kit.rest();
    expect(await forgets(kit, ['run', a, b])).toEqual(['missing', 'missing', 'missing']);
  },

  'whom a canceled run waited for anew is read no more': async (kit, expect) => {
    await readsAgain(kit);
    await kit.cancel('run');
    await kit.runToEnd('a');
    await kit.rest();
    expect(await forgets(kit, ['run', 'a'])).toEqual(['missing', 'missing']);
  },

  'whom a run waited for anew is read until the run goes': async (kit, expect) => {
    await readsAgain(kit);
    await kit.runToEnd('a');
    await kit.rest();
    await kit.jump(2 * DAY_MS);
    expect(await kit.states(['run', 'a'])).toEqual(['queued', 'finished']);
    await kit.runToEnd('run');
    await kit.rest();
    expect(await forgets(kit, ['run', 'a'])).toEqual(['missing', 'missing']);
  },

  'a dependency that was missing and came is read like any other': async (kit, expect) => {
    const edges = { ...REFUSING_EDGES, onMissing: 'satisfied' } as const;
    await kit.add({ id: 'run', dependsOn: ['a'], edges });
    const run = await kit.leaseOne();
    await kit.add({ id: 'a' });
    await kit.settle(run, { type: 'suspend', waitFor: ['a'], wakeOn: 'all' });
    await kit.runToEnd('a');
    await kit.rest();
    await kit.runToEnd('run');
    await kit.rest();
    expect(await forgets(kit, ['run', 'a'])).toEqual(['missing', 'missing']);
  },

  'a journal takes any name of a field': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    const entries = Object.fromEntries([
      ['__proto__', '1'],
      ['', '2'],
    ]);
    expect(await kit.backend.runs.checkpoint(run, entries)).toBe('ok');
    expect(Object.entries(await kit.backend.runs.load('run')).sort()).toEqual([
      ['', '2'],
      ['__proto__', '1'],
    ]);
  },

  'a journal takes thousands of entries at once': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    const entries = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, '1']));
    expect(await kit.backend.runs.checkpoint(run, entries)).toBe('ok');
    expect(Object.keys(await kit.backend.runs.load('run'))).toHaveLength(10_000);
  },

  // F68
  'a long snapshot is saved once, read, held and missed as a short one': async (kit, expect) => {
    const { graphs } = kit.backend;
    const body = 'ä\u0000"'.repeat(LIMITS.graphScriptBytes / 2);
    expect(await graphs.load('long')).toEqual({ kind: 'unknown' });
    expect(await graphs.save('long', body)).toBe('saved');
    expect(await graphs.save('long', body)).toBe('known');
    expect(await graphs.load('long')).toEqual({ kind: 'found', body });
    const id = await kit.add({ graph: 'long' });
    await kit.jump(LIMITS.graphTtlMs + 1);
    expect(await graphs.load('long')).toEqual({ kind: 'found', body });
    await kit.runToEnd(id);
    expect((await kit.backend.tasks.remove(id)).kind).toBe('ok');
    await kit.jump(LIMITS.graphTtlMs + 1);
    expect(await graphs.load('long')).toEqual({ kind: 'expired' });
    expect(await graphs.save('long', body)).toBe('saved');
  },

  'a snapshot whose time is over is missing to a task, and saved anew': async (kit, expect) => {
    const { graphs } = kit.backend;
    await graphs.save('h1', 'one');
    await kit.jump(LIMITS.graphTtlMs + 1);
    expect(await kit.sendOne({ id: 'run', graph: 'h1' })).toEqual({
      kind: 'refused',
      refusal: { type: 'graph-missing', hash: 'h1' },
    });
    expect(await graphs.save('h1', 'one')).toBe('saved');
    expect(await kit.sendOne({ id: 'run', graph: 'h1' })).toMatchObject({ kind: 'created' });
  },
};
