import type { EdgePolicy, TaskState } from '../../domain/task/task.ts';
import type { Cases } from '../cases.ts';
import { type Kit, REFUSING_EDGES, type TaskFields } from '../kit.ts';

type Outcome = 'finished' | 'failed' | 'canceled';

const OUTCOMES: readonly Outcome[] = ['finished', 'failed', 'canceled'];

/** What one upstream's end means to a dependent with these policies. */
function effect(outcome: Outcome, onFailure: EdgePolicy, onCancel: EdgePolicy): EdgePolicy {
  if (outcome === 'finished') return 'run';
  return outcome === 'failed' ? onFailure : onCancel;
}

/** The state of a dependent whose upstreams have ended like this, in this order. */
function expected(effects: readonly EdgePolicy[]): TaskState {
  for (const each of effects) {
    if (each === 'cancel') return 'canceled';
    if (each === 'fail') return 'failed';
  }
  return effects.includes('wait') ? 'deferred' : 'queued';
}

async function endAs(kit: Kit, outcome: Outcome): Promise<void> {
  const leased = await kit.leaseOne();
  if (outcome === 'finished') await kit.finish(leased);
  else if (outcome === 'failed') await kit.fail(leased);
  else await kit.settle(leased, { type: 'cancel', cause: { type: 'decider', reason: 'so' } });
}

async function mix(kit: Kit, onFailure: EdgePolicy, onCancel: EdgePolicy): Promise<void> {
  for (const first of OUTCOMES) {
    for (const second of OUTCOMES) {
      // Upstreams are critical, so that they are leased before dependents of earlier rounds.
      const upstreams = await kit.addMany(2, { level: 6 });
      const edges = { ...REFUSING_EDGES, onFailure, onCancel };
      const id = await kit.add({ dependsOn: upstreams, edges });
      const below = await kit.add({ dependsOn: [id], edges: { ...edges, onCancel: 'cancel' } });
      await endAs(kit, first);
      await endAs(kit, second);
      await kit.rest();
      const effects = [first, second].map((outcome) => effect(outcome, onFailure, onCancel));
      const mixed = [onFailure, onCancel, first, second, await kit.state(id)];
      kit.expect(mixed).toEqual([onFailure, onCancel, first, second, expected(effects)]);
      await kit.cancel(below);
      await kit.cancel(id);
    }
  }
}

/** Numbers in [0, 1) that are the same in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** A graph in which each node may depend on up to three of those before it, in any order. */
function randomGraph(kit: Kit, nodes: number, random: () => number): readonly TaskFields[] {
  const ids = Array.from({ length: nodes }, () => kit.fresh('g'));
  const tasks = ids.map((id, i) => {
    const picks = Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * i));
    const dependsOn = i === 0 ? [] : [...new Set(picks)].map((pick) => ids[pick] ?? '');
    return { id, dependsOn, delayMs: random() < 0.2 ? 1_000 : 0 };
  });
  return tasks
    .map((task) => ({ task, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ task }) => task);
}

/** Dependencies in numbers: every mix of outcomes and policies, and graphs of any shape. */
export const graphs: Cases = {
  // O50
  'every mix of two outcomes and all policies ends as its policies say': async (kit, expect) => {
    const policies: readonly EdgePolicy[] = ['wait', 'cancel', 'fail', 'run'];
    for (const onFailure of policies) {
      for (const onCancel of policies) await mix(kit, onFailure, onCancel);
    }
    expect((await kit.stats()).counts.started).toBe(0);
  },

  // O63
  'runs 20 random graphs, every task once and after all it depends on': async (kit, expect) => {
    const random = seeded(7);
    for (let round = 0; round < 20; round++) {
      const tasks = randomGraph(kit, 25, random);
      await kit.send(...tasks);
      const done = new Set<string>();
      for (let calls = 0; done.size < tasks.length && calls < 200; calls++) {
        const leases = await kit.lease(5);
        for (const leased of leases) {
          const { dependsOn = [] } = tasks.find(({ id }) => id === leased.id) ?? {};
          expect(dependsOn.filter((id) => !done.has(id))).toEqual([]);
          expect(done.has(leased.id)).toBe(false);
        }
        for (const leased of leases.toSorted(() => random() - 0.5)) {
          await kit.finish(leased);
          done.add(leased.id);
        }
        if (leases.length === 0) await kit.advance(1_000);
      }
      expect(done.size).toBe(tasks.length);
    }
  },

  // O45
  'an upstream that ends twice counts once': async (kit, expect) => {
    const upstreams = await kit.addMany(3);
    const id = await kit.add({ dependsOn: upstreams });
    const [first, second, third] = await kit.lease(3);
    if (!(first && second && third)) throw new TypeError('three leases');
    for (let i = 0; i < 3; i++) await kit.finish(first);
    expect((await kit.record(id))?.blockedBy).toEqual([second.id, third.id]);
    await kit.finish(second);
    await kit.finish(second);
    expect(await kit.state(id)).toBe('deferred');
    await kit.finish(third);
    expect(await kit.leaseIds(5)).toEqual([id]);
  },

  // O44
  'an upstream that is retried or lost still counts once': async (kit, expect) => {
    const upstreams = await kit.addMany(3);
    const id = await kit.add({ dependsOn: upstreams });
    const [first, second] = await kit.lease(3);
    if (!(first && second)) throw new TypeError('three leases');
    await kit.retry(first, 0);
    await kit.release(second);
    await kit.advance(20_000);
    expect(await kit.state(id)).toBe('deferred');
    await kit.serve(3);
    expect(await kit.leaseIds(5)).toEqual([id]);
  },

  // O61
  'the two last upstreams may end at the same time': async (kit, expect) => {
    for (let round = 0; round < 100; round++) {
      const upstreams = await kit.addMany(2);
      const id = await kit.add({ dependsOn: upstreams });
      const leases = await kit.lease(2);
      await Promise.all(leases.map((leased) => kit.finish(leased)));
      await kit.rest();
      expect([round, await kit.leaseIds(5)]).toEqual([round, [id]]);
      const { token = '' } = (await kit.record(id)) ?? {};
      await kit.finish({ id, token });
    }
  },
};
