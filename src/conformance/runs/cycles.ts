import { LIMITS } from '../../domain/limits.ts';
import type { Cases } from '../cases.ts';
import { type Kit, REFUSING_EDGES, type TaskFields } from '../kit.ts';

const BLOCK = { ...REFUSING_EDGES, onMissing: 'block' } as const;

/** Tasks in a chain, each waiting for the one before; in the order of their ids. */
function chain(kit: Kit, length: number, first: readonly string[] = []): TaskFields[] {
  const ids = Array.from({ length }, () => kit.fresh('c'));
  return ids.map((id, i) => {
    const before = ids[i - 1];
    return { id, dependsOn: before === undefined ? first : [before], edges: BLOCK };
  });
}

/** Each on its own, in this order. */
async function addEach(kit: Kit, tasks: readonly TaskFields[]): Promise<void> {
  for (let at = 0; at < tasks.length; at += 200) {
    const part = tasks.slice(at, at + 200).map((fields) => kit.task(fields));
    const replies = await kit.backend.tasks.enqueue(part, { atomic: false });
    kit.expect(replies.filter(({ kind }) => kind !== 'created')).toEqual([]);
  }
}

/** Layers of 200, each waiting for all of the one before: many edges by few tasks. */
async function thicket(kit: Kit, edges: number, first: readonly string[] = []): Promise<string> {
  const { dependencies } = LIMITS;
  const roots = await kit.addMany(dependencies, { dependsOn: first, edges: BLOCK });
  const ends = await kit.addMany(Math.ceil(edges / dependencies), { dependsOn: roots });
  const last: string[] = [];
  for (let at = 0; at < ends.length; at += dependencies) {
    last.push(await kit.add({ dependsOn: ends.slice(at, at + dependencies) }));
  }
  return kit.add({ dependsOn: last });
}

/** More than are followed one by one. */
function crowd(kit: Kit, id: string): Promise<readonly string[]> {
  return kit.addMany(LIMITS.cycleFan + 1, { dependsOn: [id], edges: BLOCK });
}

/** Tasks that would wait for each other: found exactly, however far apart, or said that it cannot be. */
export const cycles: Cases = {
  // F67
  'an awaited task may stand behind a chain of any length': async (kit, expect) => {
    for (const length of [600, 2_000]) {
      const x = kit.fresh('x');
      const w = await kit.add({ dependsOn: [x], edges: BLOCK });
      const tasks = chain(kit, length);
      await addEach(kit, tasks);
      expect(await kit.sendOne({ id: x, dependsOn: [tasks.at(-1)?.id ?? ''] })).toEqual({
        kind: 'created',
        id: x,
      });
      expect(await kit.record(w)).toMatchObject({ state: 'deferred', blockedBy: [x] });
      await kit.cancel(tasks[0]?.id ?? '');
      await kit.rest();
      expect(await kit.state(w)).toBe('canceled');
    }
  },

  // F67
  'also when many wait for it, and however it is stored': async (kit, expect) => {
    const edges = LIMITS.cycleStep * 3;
    const end = await thicket(kit, edges);
    const alone = { id: 'x1', dependsOn: [end] };
    const keyed = { ...alone, id: 'x2', idempotency: { key: 'k', policy: 'return' } as const };
    for (const id of ['x1', 'x2', 'x3', 'x4', 'x5']) await crowd(kit, id);
    expect(await kit.sendOne(alone)).toEqual({ kind: 'created', id: 'x1' });
    expect(await kit.sendOne(alone)).toMatchObject({ kind: 'existing', id: 'x1' });
    expect(await kit.sendOne(keyed)).toEqual({ kind: 'created', id: 'x2' });
    expect(await kit.sendOne({ ...keyed, id: 'x9' })).toMatchObject({ kind: 'existing', id: 'x2' });
    const each = ['a', 'x3', 'b'].map((id) => kit.task({ id, dependsOn: [end] }));
    const replies = await kit.backend.tasks.enqueue(each, { atomic: false });
    expect(replies.map(({ kind }) => kind)).toEqual(['created', 'created', 'created']);
    const batch = await kit.send({ id: 'c', dependsOn: ['x4'] }, { id: 'x4', dependsOn: [end] });
    expect(batch.map(({ kind }) => kind)).toEqual(['created', 'created']);
    const many = chain(kit, 300, [end]);
    const last = await kit.send(...many, { id: 'x5', dependsOn: [many.at(-1)?.id ?? ''] });
    expect(new Set(last.map(({ kind }) => kind))).toEqual(new Set(['created']));
    expect(await kit.states(['x1', 'x2', 'x3', 'x4', 'x5'])).toEqual(Array(5).fill('deferred'));
  },

  // F67
  'also when many such are stored at once': async (kit, expect) => {
    const end = await thicket(kit, LIMITS.cycleStep / 2);
    const ids = Array.from({ length: 12 }, () => kit.fresh('x'));
    for (const id of ids) await kit.addMany(20, { dependsOn: [id], edges: BLOCK });
    const below = await kit.addMany(20, { dependsOn: ids.slice(0, 1), edges: BLOCK });
    await kit.addMany(200, { dependsOn: below.slice(0, 3) });
    const tasks = ids.map((id) => kit.task({ id, dependsOn: [end] }));
    const replies = await kit.backend.tasks.enqueue(tasks, { atomic: false });
    expect(replies).toEqual(ids.map((id) => ({ kind: 'created', id })));
    expect(new Set(await kit.states(ids))).toEqual(new Set(['deferred']));
    expect((await kit.record(ids[11] ?? ''))?.blockedBy).toEqual([end]);
  },

  // F67
  'a cycle is found however long it is, with its whole path': async (kit, expect) => {
    for (const length of [3, LIMITS.cycleStep + 50, 1_500]) {
      const x = kit.fresh('x');
      const tasks = chain(kit, length, [x]);
      await addEach(kit, tasks);
      const ids = tasks.map(({ id = '' }) => id);
      const reply = await kit.sendOne({ id: x, dependsOn: [ids.at(-1) ?? ''] });
      const path = [x, ...[...ids].reverse(), x];
      expect(reply).toEqual({ kind: 'refused', refusal: { type: 'cycle', path } });
      expect(await kit.state(x)).toBe('missing');
      expect(await kit.state(ids[0] ?? '')).toBe('deferred');
      // Nothing of it is left: those that wait are served by the next of this id.
      await kit.add({ id: x });
      await kit.runToEnd(x);
      await kit.runToEnd(ids[0] ?? '');
      await kit.cancel(ids[1] ?? '');
      await kit.rest();
    }
  },

  // F67
  'a cycle behind many edges is found where many wait': async (kit, expect) => {
    const end = await thicket(kit, LIMITS.cycleStep * 3, ['x']);
    await crowd(kit, 'x');
    expect(await kit.backend.inspect.missing()).toBe(1);
    const live = (await kit.stats()).counts.deferred;
    for (const fields of [{}, { idempotency: { key: 'k', policy: 'reject' } as const }]) {
      const reply = await kit.sendOne({ id: 'x', dependsOn: [end], ...fields });
      expect(reply).toMatchObject({ kind: 'refused', refusal: { type: 'cycle' } });
      const refusal = reply.kind === 'refused' ? reply.refusal : undefined;
      const path = refusal?.type === 'cycle' ? refusal.path : [];
      expect([path[0], path.length, path.at(-1)]).toEqual(['x', 6, 'x']);
    }
    const batch = await kit.send({ id: 'y', dependsOn: ['x'] }, { id: 'x', dependsOn: [end] });
    expect(batch[0]).toEqual({ kind: 'refused', refusal: { type: 'batch-refused' } });
    expect(batch[1]).toMatchObject({ kind: 'refused', refusal: { type: 'cycle' } });
    expect(await kit.states(['x', 'y'])).toEqual(['missing', 'missing']);
    expect((await kit.stats()).counts.deferred).toBe(live);
    expect(await kit.backend.inspect.missing()).toBe(1);
    await kit.add({ id: 'x', idempotency: { key: 'k', policy: 'reject' } });
    const page = await kit.backend.inspect.dependents('x', { limit: 1 });
    expect(page.count).toBe(LIMITS.cycleFan + 1 + LIMITS.dependencies);
  },

  // F67
  'a cycle is found where only those that wait are few': async (kit, expect) => {
    const end = await thicket(kit, LIMITS.cycleEdges + 1);
    const w = await kit.add({ dependsOn: ['x'], edges: BLOCK });
    const v = await kit.add({ dependsOn: [w] });
    const reply = await kit.sendOne({ id: 'x', dependsOn: [end, v] });
    expect(reply).toEqual({ kind: 'refused', refusal: { type: 'cycle', path: ['x', v, w, 'x'] } });
    const others = await kit.addMany(3);
    const b = await kit.add({ dependsOn: ['y'], edges: BLOCK, expiresInMs: 1_000 });
    const c = await kit.add({ dependsOn: [b] });
    await kit.advance(1_000);
    await kit.add({ id: 'y', dependsOn: [end, ...others, c] });
    expect(await kit.backend.tasks.redrive(b)).toEqual({ kind: 'cycle', path: [b, 'y', c, b] });
  },

  'a cycle from a batch through a stored task back into it': async (kit, expect) => {
    const w = await kit.add({ dependsOn: ['x'], edges: BLOCK });
    const between = [
      { id: 'y', dependsOn: ['z'] },
      { id: 'z', dependsOn: ['v'] },
    ];
    const batch = [{ id: 'x', dependsOn: ['y'] }, ...between, { id: 'v', dependsOn: [w] }];
    const replies = await kit.send(...batch);
    const path = ['x', 'y', 'z', 'v', w, 'x'];
    expect(replies[0]).toEqual({ kind: 'refused', refusal: { type: 'cycle', path } });
    const other = { kind: 'refused', refusal: { type: 'batch-refused' } };
    expect(replies.slice(1)).toEqual([other, other, other]);
    expect(await kit.states(['x', 'y', 'z', 'v'])).toEqual(Array(4).fill('missing'));
    expect(await kit.send(...batch.slice(1))).toMatchObject(Array(3).fill({ kind: 'created' }));
    expect(await kit.sendOne({ id: 'x', dependsOn: ['y'] })).toMatchObject({ refusal: { path } });
  },

  // F67
  'a cycle through parts of a batch that takes several scripts': async (kit, expect) => {
    const s = await kit.add({ dependsOn: ['m0'], edges: BLOCK });
    const others = Array.from({ length: 400 }, () => ({ dependsOn: [s] }));
    const batch = [{ id: 'm0', dependsOn: ['m9'] }, ...others, { id: 'm9', dependsOn: [s] }];
    const replies = await kit.send(...batch);
    const refusals = replies.flatMap((reply) => (reply.kind === 'refused' ? [reply.refusal] : []));
    expect(refusals.length).toBe(batch.length);
    const cycle = { type: 'cycle', path: ['m0', 'm9', s, 'm0'] };
    expect(refusals.filter(({ type }) => type !== 'batch-refused')).toEqual([cycle]);
    expect((await kit.stats()).counts.deferred).toBe(1);
    await kit.add({ id: 'm0' });
    await kit.runToEnd('m0');
    expect(await kit.leaseIds()).toEqual([s]);
  },

  // F67
  'a cycle that keys make within a batch': async (kit, expect) => {
    const key = { key: 'k', policy: 'return' } as const;
    const turned = [
      { id: 'a', dependsOn: ['c'], idempotency: key },
      { id: 'b', idempotency: key },
      { id: 'c', dependsOn: ['b'] },
    ];
    const [first] = await kit.send(...turned);
    expect(first).toMatchObject({ kind: 'refused', refusal: { type: 'cycle' } });
    expect(await kit.states(['a', 'c'])).toEqual(['missing', 'missing']);
    // The same edges without a cycle: the one that waits for b waits for a.
    const straight = [
      { id: 'a', idempotency: key },
      { id: 'b', dependsOn: ['c'], idempotency: key },
      { id: 'c', dependsOn: ['b'] },
    ];
    const replies = await kit.send(...straight);
    expect(replies.map(({ kind }) => kind)).toEqual(['created', 'existing', 'created']);
    await kit.runToEnd('a');
    expect(await kit.leaseIds()).toEqual(['c']);
  },

  'an item that a key answers for waits for no task, and closes no cycle': async (kit, expect) => {
    const idempotency = { key: 'k', policy: 'return' } as const;
    const owner = await kit.add({ idempotency });
    const w = await kit.add({ dependsOn: ['x'], edges: BLOCK });
    const behind = { id: 'y', dependsOn: [w] };
    const batch = await kit.send({ id: 'x', dependsOn: ['y'], idempotency }, behind);
    expect(batch).toMatchObject([
      { kind: 'existing', id: owner },
      { kind: 'created', id: 'y' },
    ]);
    // Sent again under an id that the key has answered for.
    const again = await kit.send({ id: 'x', dependsOn: [w], idempotency });
    expect(again).toMatchObject([{ kind: 'existing', id: owner }]);
  },

  'a cycle through an item that the next owner of a key answers for': async (kit, expect) => {
    const idempotency = { key: 'k', policy: 'run-once-more' } as const;
    const owner = await kit.add({ idempotency });
    const leased = await kit.leaseOne();
    const twice = [
      { id: 'f', dependsOn: ['x'], idempotency },
      { id: 'g', idempotency },
    ];
    const [first] = await kit.send(...twice, { id: 'x', dependsOn: ['g'] });
    expect(first).toMatchObject({ kind: 'refused', refusal: { type: 'cycle' } });
    expect(await kit.states(['f', 'x'])).toEqual(['missing', 'missing']);
    const replies = await kit.send(...twice, { id: 'x' }, { id: 'z', dependsOn: ['g'] });
    expect(replies[1]).toMatchObject({ kind: 'existing', id: 'f' });
    expect((await kit.record('f'))?.blockedBy).toEqual(['x', owner].toSorted());
    expect((await kit.record('z'))?.blockedBy).toEqual(['f']);
    // That next owner stands already: it answers in a batch, too.
    const v = { id: 'v', dependsOn: ['u'], idempotency };
    expect(await kit.send(v, { id: 'u', dependsOn: ['z'] })).toMatchObject([
      { kind: 'existing', id: 'f' },
      { kind: 'created', id: 'u' },
    ]);
    await kit.finish(leased);
  },

  // F67
  'a batch of several scripts waits for whom keys let answer': async (kit, expect) => {
    const key = { key: 'k', policy: 'return' } as const;
    const others = Array.from({ length: 400 }, () => ({ delayMs: 86_400_000 }));
    const batch = [
      { id: 'a', idempotency: key },
      { id: 'first', dependsOn: ['b'] },
      ...others,
      { id: 'b', idempotency: key },
      { id: 'last', dependsOn: ['b'] },
    ];
    const replies = await kit.send(...batch);
    expect(replies.at(-2)).toMatchObject({ kind: 'existing', id: 'a' });
    expect((await kit.record('first'))?.blockedBy).toEqual(['a']);
    expect((await kit.record('last'))?.blockedBy).toEqual(['a']);
    await kit.runToEnd('a');
    expect([...(await kit.leaseIds(2))].sort()).toEqual(['first', 'last']);
  },

  // F67
  'one that cannot be told within the limit has a refusal of its own': async (kit, expect) => {
    const end = await thicket(kit, LIMITS.cycleEdges + 1);
    await crowd(kit, 'x');
    const limit = LIMITS.cycleEdges;
    const refusal = { type: 'dependency-limit', limit };
    expect(await kit.sendOne({ id: 'x', dependsOn: [end] })).toEqual({ kind: 'refused', refusal });
    const batch = await kit.send({ id: 'y', dependsOn: ['x'] }, { id: 'x', dependsOn: [end] });
    expect(batch[1]).toEqual({ kind: 'refused', refusal });
    expect(await kit.states(['x', 'y'])).toEqual(['missing', 'missing']);
    // Few wait for this one: that decides, however much it waits for.
    const w = await kit.add({ dependsOn: ['z'], edges: BLOCK });
    expect(await kit.sendOne({ id: 'z', dependsOn: [end] })).toEqual({ kind: 'created', id: 'z' });
    expect((await kit.record(w))?.blockedBy).toEqual(['z']);
    // This one has no dependents.
    expect(await kit.sendOne({ dependsOn: [end] })).toMatchObject({ kind: 'created' });
  },

  // F67
  'a redrive does not come back into a cycle': async (kit, expect) => {
    const b = await kit.add({ dependsOn: ['x'], edges: BLOCK, expiresInMs: 1_000 });
    const c = await kit.add({ dependsOn: [b] });
    await kit.advance(1_000);
    expect(await kit.states([b, c])).toEqual(['failed', 'deferred']);
    // A failed task waits for no other: this is no cycle, until it is put back.
    await kit.add({ id: 'x', dependsOn: [c] });
    expect(await kit.backend.tasks.redrive(b)).toEqual({ kind: 'cycle', path: [b, 'x', c, b] });
    expect(await kit.states([b, c, 'x'])).toEqual(['failed', 'deferred', 'deferred']);
    expect((await kit.stats()).counts).toMatchObject({ failed: 1, deferred: 2 });
    await kit.cancel(c);
    await kit.rest();
    expect(await kit.state('x')).toBe('canceled');
    expect(await kit.backend.tasks.redrive(b)).toMatchObject({ kind: 'ok' });
  },

  // F67
  'a redrive that cannot be told within the limit says so': async (kit, expect) => {
    const b = await kit.add({ dependsOn: ['x'], edges: BLOCK, expiresInMs: 1_000 });
    await kit.advance(1_000);
    const end = await thicket(kit, LIMITS.cycleStep + 1);
    await kit.add({ id: 'x', dependsOn: [end] });
    // It has no dependents: that decides.
    expect(await kit.backend.tasks.redrive(b)).toEqual({ kind: 'ok', state: 'deferred' });
    const d = await kit.add({ dependsOn: ['y'], edges: BLOCK, expiresInMs: 1_000 });
    await kit.addMany(LIMITS.cycleFan + 1, { dependsOn: [d] });
    await kit.advance(1_000);
    expect(await kit.state(d)).toBe('failed');
    await kit.add({ id: 'y', dependsOn: [end] });
    const limit = LIMITS.cycleStep;
    expect(await kit.backend.tasks.redrive(d)).toEqual({ kind: 'dependency-limit', limit });
    expect(await kit.state(d)).toBe('failed');
  },
};
