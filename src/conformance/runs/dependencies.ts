/** What a dependency does to a task at its enqueue, and what releases it later. */
import { LIMITS } from '../../domain/limits.ts';
import type { EdgePolicies, EdgePolicy } from '../../domain/task/task.ts';
import type { Cases } from '../cases.ts';
import { type Kit, REFUSING_EDGES, type TaskFields } from '../kit.ts';

const POLICIES: readonly EdgePolicy[] = ['wait', 'cancel', 'fail', 'run'];

function edges(fields: Partial<EdgePolicies>): { readonly edges: EdgePolicies } {
  return { edges: { ...REFUSING_EDGES, ...fields } };
}

/** A task that has ended in this state. */
async function ended(kit: Kit, state: 'finished' | 'failed' | 'canceled'): Promise<string> {
  const id = await kit.add();
  if (state === 'canceled') await kit.cancel(id);
  else if (state === 'failed') await kit.fail(await kit.leaseOne());
  else await kit.runToEnd(id, '"done"');
  await kit.rest();
  return id;
}

/** What a task is when its upstream has ended badly, by the policy of the edge. */
const BY_POLICY: Readonly<Record<EdgePolicy, object>> = {
  wait: { state: 'deferred' },
  cancel: { state: 'canceled' },
  fail: { state: 'failed', cause: { type: 'upstream' } },
  run: { state: 'queued', blockedBy: [] },
};

/** What it means to depend on a task in each state, and on one that is missing or not one's own. */
export const atEnqueue: Cases = {
  // O51
  'a dependency that has not ended blocks in every state': async (kit, expect) => {
    const started = await kit.add();
    await kit.leaseOne();
    const queued = await kit.add();
    const scheduled = await kit.add({ delayMs: 1_000 });
    const deferred = await kit.add({ dependsOn: [queued] });
    for (const upstream of [started, queued, scheduled, deferred]) {
      const id = await kit.add({ dependsOn: [upstream] });
      const expected = { state: 'deferred', dependsOn: [upstream], blockedBy: [upstream] };
      expect(await kit.record(id)).toMatchObject(expected);
    }
  },

  'a finished one is satisfied at once': async (kit, expect) => {
    const upstream = await ended(kit, 'finished');
    const id = await kit.add({ dependsOn: [upstream] });
    expect(await kit.record(id)).toMatchObject({ state: 'queued', blockedBy: [] });
    const leased = await kit.leaseOne();
    expect(leased.upstreams).toMatchObject([
      { id: upstream, name: 'work', state: 'finished', result: '"done"', cut: false },
    ]);
  },

  'a failed or canceled one applies the policy of its edge at once': async (kit, expect) => {
    const failed = await ended(kit, 'failed');
    const canceled = await ended(kit, 'canceled');
    for (const policy of POLICIES) {
      const afterFailure = edges({ onFailure: policy, onCancel: 'run' });
      const a = await kit.add({ dependsOn: [failed], ...afterFailure });
      const afterCancel = edges({ onFailure: 'run', onCancel: policy });
      const b = await kit.add({ dependsOn: [canceled], ...afterCancel });
      await kit.rest();
      expect(await kit.record(a)).toMatchObject(BY_POLICY[policy]);
      expect(await kit.record(b)).toMatchObject(BY_POLICY[policy]);
    }
  },

  'says which upstream took a task along': async (kit, expect) => {
    const failed = await ended(kit, 'failed');
    const id = await kit.add({ dependsOn: [failed], ...edges({ onFailure: 'fail' }) });
    expect((await kit.record(id))?.cause).toEqual({
      type: 'upstream',
      id: failed,
      state: 'failed',
    });
  },

  // O57
  'an unknown one is refused': async (kit, expect) => {
    expect(await kit.sendOne({ id: 'a', dependsOn: ['nowhere'] })).toEqual({
      kind: 'refused',
      refusal: { type: 'unknown-dependency', dependency: 'nowhere' },
    });
    expect(await kit.state('a')).toBe('missing');
  },

  'an unknown one counts as satisfied where that was asked for': async (kit, expect) => {
    const id = await kit.add({ dependsOn: ['nowhere'], ...edges({ onMissing: 'satisfied' }) });
    const leased = await kit.leaseOne();
    expect(leased).toMatchObject({ id, upstreams: [{ id: 'nowhere', state: 'missing' }] });
  },

  'an unknown one blocks where that was asked for, until it has come and finished': async (
    kit,
    expect,
  ) => {
    const id = await kit.add({ dependsOn: ['later'], ...edges({ onMissing: 'block' }) });
    expect(await kit.record(id)).toMatchObject({ state: 'deferred', blockedBy: ['later'] });
    expect(await kit.backend.inspect.missing()).toBe(1);
    await kit.add({ id: 'later' });
    expect(await kit.backend.inspect.missing()).toBe(0);
    await kit.runToEnd('later', '7');
    const leased = await kit.leaseOne();
    expect(leased).toMatchObject({ id, upstreams: [{ id: 'later', result: '7' }] });
  },

  'an unknown one that comes is waited for by all, from their user or from any': async (
    kit,
    expect,
  ) => {
    for (const [anybody, own] of [
      [1, 1],
      [1, 2],
      [2, 1],
    ] as const) {
      const missing = kit.fresh('m');
      const waits = (count: number, allowCrossUser: boolean): Promise<readonly string[]> =>
        kit.addMany(count, {
          dependsOn: [missing],
          ...edges({ onMissing: 'block', allowCrossUser }),
        });
      const ids = [...(await waits(anybody, true)), ...(await waits(own, false))];
      const before = kit.fresh('a');
      await kit.backend.tasks.enqueue([kit.task({ id: before }), kit.task({ id: missing })], {
        atomic: false,
      });
      const queued = { state: 'queued', queue: 'default', user: 'ann' } as const;
      const { items } = await kit.backend.inspect.list(queued, { limit: 10 });
      expect(items.map(({ id }) => id)).toEqual([before, missing]);
      await kit.serve(10);
      for (const id of ids) expect(await kit.state(id)).toBe('finished');
    }
  },

  'does not wait for a missing one beyond 30 days': async (kit, expect) => {
    const id = await kit.add({ dependsOn: ['never'], ...edges({ onMissing: 'block' }) });
    await kit.jump(LIMITS.waitMaxMs - 60_000);
    expect(await kit.state(id)).toBe('deferred');
    await kit.jump(60_001);
    expect(await kit.record(id)).toMatchObject({
      state: 'canceled',
      cause: { type: 'waited', id: 'never' },
    });
  },

  "another user's is refused unless allowed": async (kit, expect) => {
    const upstream = await kit.add({ user: 'bob' });
    expect(await kit.sendOne({ dependsOn: [upstream] })).toEqual({
      kind: 'refused',
      refusal: { type: 'cross-user', dependency: upstream },
    });
    const id = await kit.add({ dependsOn: [upstream], ...edges({ allowCrossUser: true }) });
    await kit.runToEnd(upstream);
    expect(await kit.leaseIds()).toEqual([id]);
  },

  // O64
  'refuses a cycle through missing ones': async (kit, expect) => {
    const block = edges({ onMissing: 'block' });
    const itself = await kit.sendOne({ id: 'x', dependsOn: ['x'], ...block });
    expect(itself).toMatchObject({ kind: 'refused', refusal: { type: 'cycle' } });
    await kit.add({ id: 'a', dependsOn: ['b'], ...block });
    await kit.add({ id: 'b', dependsOn: ['c'], ...block });
    const reply = await kit.sendOne({ id: 'c', dependsOn: ['a'], ...block });
    expect(reply).toMatchObject({ kind: 'refused', refusal: { type: 'cycle' } });
    await kit.add({ id: 'c' });
    const served = await kit.serve(10);
    expect(served.map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  },

  // O63
  'accepts a diamond and runs its end once, after both sides': async (kit, expect) => {
    await kit.send(
      { id: 'a' },
      { id: 'b', dependsOn: ['a'] },
      { id: 'c', dependsOn: ['a'] },
      { id: 'd', dependsOn: ['b', 'c'] },
    );
    await kit.runToEnd('a');
    const [b, c] = await kit.lease(5);
    if (b === undefined || c === undefined) throw new TypeError('both sides are to be leased');
    await kit.finish(b);
    expect(await kit.record('d')).toMatchObject({ state: 'deferred', blockedBy: ['c'] });
    await kit.finish(c);
    await kit.runToEnd('d');
    expect(await kit.lease()).toEqual([]);
  },

  'stays scheduled until it is due, however early its dependency finishes': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ delayMs: 10_000, dependsOn: [upstream] });
    expect(await kit.record(id)).toMatchObject({ state: 'scheduled', blockedBy: [upstream] });
    await kit.runToEnd(upstream);
    expect(await kit.record(id)).toMatchObject({ state: 'scheduled', blockedBy: [] });
    await kit.advance(10_000);
    expect(await kit.leaseIds()).toEqual([id]);
  },

  'is deferred when it is due before its dependency has finished': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ delayMs: 1_000, dependsOn: [upstream] });
    await kit.advance(1_000);
    expect(await kit.state(id)).toBe('deferred');
    await kit.runToEnd(upstream);
    expect(await kit.state(id)).toBe('queued');
  },

  'takes as many dependencies as the limit allows': async (kit, expect) => {
    const upstreams = await kit.addMany(LIMITS.dependencies);
    const id = await kit.add({ dependsOn: upstreams });
    await kit.serve(LIMITS.dependencies - 1, { batch: 50 });
    expect((await kit.record(id))?.blockedBy).toHaveLength(1);
    await kit.serve(1);
    expect(await kit.leaseIds()).toEqual([id]);
  },
};

/** Ends an upstream that has not started, and answers what became of its one dependent. */
async function dependentOf(
  kit: Kit,
  end: 'failed' | 'canceled',
  fields: TaskFields,
): Promise<string> {
  const upstream = await kit.add();
  const id = await kit.add({ dependsOn: [upstream], ...fields });
  if (end === 'canceled') await kit.cancel(upstream);
  else await kit.fail(await kit.leaseOne());
  await kit.rest();
  return id;
}

/** What an end means to those that wait for it. */
export const atTheEnd: Cases = {
  'applies the policy of the edge when the upstream fails': async (kit, expect) => {
    for (const policy of POLICIES) {
      const id = await dependentOf(kit, 'failed', edges({ onFailure: policy }));
      expect(await kit.record(id)).toMatchObject(BY_POLICY[policy]);
      if (policy === 'run') {
        const leased = await kit.leaseOne();
        expect(leased.upstreams).toMatchObject([{ state: 'failed', cut: false }]);
        expect(leased.upstreams[0]?.error).toContain('"no"');
      }
    }
  },

  'applies the policy of the edge when the upstream is canceled': async (kit, expect) => {
    for (const policy of POLICIES) {
      const id = await dependentOf(kit, 'canceled', edges({ onCancel: policy }));
      expect(await kit.record(id)).toMatchObject(BY_POLICY[policy]);
      if (policy === 'run') await kit.runToEnd(id);
    }
  },

  // O58
  'an upstream that is canceled in any state takes dependents along': async (kit, expect) => {
    const blocker = await kit.add({ queue: 'bulk' });
    const started = await kit.add();
    const lease = await kit.leaseOne();
    const queued = await kit.add();
    const scheduled = await kit.add({ delayMs: 60_000 });
    const deferred = await kit.add({ dependsOn: [blocker] });
    for (const upstream of [started, queued, scheduled, deferred]) {
      const id = await kit.add({ dependsOn: [upstream] });
      const below = await kit.add({ dependsOn: [id] });
      await kit.cancel(upstream);
      if (upstream === started) await kit.finish(lease);
      await kit.rest();
      expect(await kit.states([upstream, id, below])).toEqual(['canceled', 'canceled', 'canceled']);
      const cause = { type: 'upstream', id, state: 'canceled' };
      expect((await kit.record(below))?.cause).toEqual(cause);
    }
  },

  // O49
  'ends a dependent one tick after its upstream has failed for good': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ dependsOn: [upstream], ...edges({ onFailure: 'fail' }) });
    await kit.fail(await kit.leaseOne());
    await kit.backend.tasks.tick();
    expect(await kit.record(id)).toMatchObject({
      state: 'failed',
      cause: { type: 'upstream', id: upstream, state: 'failed' },
    });
  },

  'keeps the other dependents of an upstream whose dependent is canceled': async (kit, expect) => {
    const upstream = await kit.add();
    const one = await kit.add({ dependsOn: [upstream] });
    const other = await kit.add({ dependsOn: [upstream] });
    await kit.cancel(one);
    await kit.rest();
    await kit.runToEnd(upstream);
    expect(await kit.states([one, other])).toEqual(['canceled', 'queued']);
  },

  'releases 1,000 dependents in bounded steps, in the order of their creation': async (
    kit,
    expect,
  ) => {
    const upstream = await kit.add();
    const waiting = await kit.addMany(1_000, { dependsOn: [upstream] });
    await kit.runToEnd(upstream);
    expect(await kit.sendOne({ id: upstream })).toMatchObject({ kind: 'existing' });
    await kit.rest();
    expect(new Set(await kit.states(waiting))).toEqual(new Set(['queued']));
    const served = await kit.serve(1_000, { batch: 50 });
    expect(served.map(({ id }) => id)).toEqual(waiting);
  },

  'what a step had no room to tell is due at once': async (kit, expect) => {
    const upstream = await kit.add();
    const waiting = await kit.addMany(250, { dependsOn: [upstream] });
    await kit.runToEnd(upstream);
    const tick = await kit.backend.tasks.tick();
    expect(tick).toMatchObject({ more: true, nextDueAt: tick.now });
    await kit.rest();
    expect((await kit.backend.tasks.tick()).nextDueAt).toBeUndefined();
    expect(new Set(await kit.states(waiting))).toEqual(new Set(['queued']));
  },

  'tells at the first lease how long after its last dependency a task was queued': async (
    kit,
    expect,
  ) => {
    const [first, upstream] = [await kit.add(), await kit.add()];
    await kit.addMany(250, { dependsOn: [first, upstream] });
    await kit.runToEnd(first);
    await kit.advance(1_000);
    await kit.runToEnd(upstream);
    // The step that ends it has room for some; the others hear of it later.
    await kit.advance(40);
    const head = await kit.leaseOne();
    expect(head.releasedMs).toBe(0);
    await kit.release(head);
    expect((await kit.leaseOne()).releasedMs).toBeUndefined();
    const others = await kit.serve(249, { batch: 50 });
    expect(new Set(others.map(({ releasedMs }) => releasedMs))).toEqual(new Set([0, 40]));
  },

  'tells nothing of that when it never waited, or its own delay was over later': async (
    kit,
    expect,
  ) => {
    const upstream = await kit.add();
    await kit.add({ dependsOn: [upstream], delayMs: 1_000 });
    await kit.runToEnd(upstream);
    await kit.add({ dependsOn: [upstream] });
    await kit.advance(1_000);
    const leased = await kit.serve(2);
    expect(leased.map(({ releasedMs }) => releasedMs)).toEqual([undefined, undefined]);
  },

  'cancels a chain of 500 link by link': async (kit, expect) => {
    const ids = Array.from({ length: 500 }, () => kit.fresh('c'));
    await kit.send(...ids.map((id, i) => ({ id, dependsOn: i === 0 ? [] : [ids[i - 1] ?? ''] })));
    await kit.cancel(ids[0] ?? '');
    await kit.rest();
    expect(new Set(await kit.states(ids))).toEqual(new Set(['canceled']));
    expect(await kit.user('ann')).toBeUndefined();
  },

  // O54
  'wakes a dependent that is stored while its upstream ends': async (kit, expect) => {
    for (let round = 0; round < 200; round++) {
      const upstream = await kit.add();
      const leased = await kit.leaseOne();
      const id = kit.fresh('d');
      await Promise.all([kit.finish(leased), kit.add({ id, dependsOn: [upstream] })]);
      await kit.rest();
      expect([round, await kit.leaseIds()]).toEqual([round, [id]]);
      await kit.cancel(id);
    }
  },

  'carries the results of all upstreams, and says which did not fit': async (kit, expect) => {
    const big = await kit.add();
    const small = await kit.add();
    const id = await kit.add({ dependsOn: [big, small] });
    const result = JSON.stringify('x'.repeat(LIMITS.upstreamBytes));
    await kit.runToEnd(big, result);
    await kit.runToEnd(small, '"s"');
    const leased = await kit.leaseOne();
    expect(leased.id).toBe(id);
    const facts = new Map(leased.upstreams.map((fact) => [fact.id, fact]));
    expect(facts.get(big)).toMatchObject({ state: 'finished', cut: true });
    expect(facts.get(big)?.result).toBeUndefined();
    expect(facts.get(small)).toMatchObject({ state: 'finished', cut: false, result: '"s"' });
    expect((await kit.record(big))?.result === result).toBe(true);
  },

  'carries the result of an upstream that ends in the step that leases': async (kit, expect) => {
    const upstream = await kit.add();
    const id = await kit.add({ dependsOn: [upstream] });
    const { token } = await kit.leaseOne();
    const finish = { type: 'finish', result: '"fresh"' } as const;
    const { lease } = await kit.backend.tasks.settle({
      worker: 'w',
      settlements: [{ id: upstream, token, decision: finish }],
      lease: kit.request({ limit: 1 }),
    });
    expect(lease?.leases).toMatchObject([{ id, upstreams: [{ id: upstream, result: '"fresh"' }] }]);
  },
};
