/** Many settlements in one call come to what they would come to one by one. */

import { LIMITS } from '../../domain/limits.ts';
import type { Decision, Leased, SettleAnswer } from '../../domain/port/backend.ts';
import { type Cases, retaining } from '../cases.ts';
import { type Kit, REFUSING_EDGES, RETRIED } from '../kit.ts';

const FINISH: Decision = { type: 'finish', result: '1' };

/** Tried again at once. */
function again(error = '{"name":"Error","message":"not yet"}'): Decision {
  return { type: 'retry', delayMs: 0, cause: RETRIED, error };
}

function settled(
  kit: Kit,
  leases: readonly Leased[],
  decision: Decision,
): Promise<readonly SettleAnswer[]> {
  const settlements = leases.map(({ id, token }) => ({ id, token, decision }));
  return kit.backend.tasks.settle({ worker: 'w', settlements }).then(({ answers }) => answers);
}

/** Nothing that is counted is counted wrong. */
async function sound(kit: Kit): Promise<void> {
  const { drift } = await kit.backend.inspect.reconcile({ repair: false });
  kit.expect(drift).toEqual([]);
}

/** Of tasks that are tried again. */
export const retries: Cases = {
  'those of one user stand where they stood, in any order of coming back': async (kit, expect) => {
    const ids = await kit.addMany(6);
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [1, 3, 0, 2],
    ]) {
      const leases = await kit.lease(4);
      const shuffled = order.flatMap((at) => leases[at] ?? []);
      await kit.settleAll(shuffled, again());
      const all = await kit.lease(6);
      expect(all.map(({ id }) => id)).toEqual(ids);
      for (const leased of all) await kit.release(leased);
    }
    await sound(kit);
  },

  'those of a user that was given settings meanwhile count for these': async (kit, expect) => {
    await kit.addMany(3);
    await kit.add({ user: 'bob' });
    const leases = await kit.lease(4);
    await kit.setUser('ann', { maxRunning: 1 });
    await kit.settleAll(leases, again());
    expect(await kit.user('ann')).toMatchObject({ running: 0, queued: 3 });
    expect(await kit.lease(4)).toHaveLength(2);
    expect(await kit.user('ann')).toMatchObject({ running: 1, queued: 2 });
    await sound(kit);
  },

  'those of a user that has tasks of other levels meanwhile are counted': async (kit, expect) => {
    const ids = await kit.addMany(3);
    const leases = await kit.lease(3);
    const first = await kit.add({ level: 5 });
    await kit.settleAll(leases, again());
    expect(await kit.user('ann')).toMatchObject({ running: 0, queued: 4 });
    await sound(kit);
    expect(await kit.leaseIds(4)).toEqual([first, ...ids]);
  },

  'a second time: each is known by its newest settlement alone': async (kit, expect) => {
    for (const user of ['ann', 'bob', 'cid']) await kit.add({ user });
    const first = await kit.lease(3);
    await kit.settleAll(first, again());
    const second = await kit.lease(3);
    await kit.settleAll(second, again());
    const known = { kind: 'ok', state: 'queued', repeated: true };
    expect(await settled(kit, second, again())).toEqual([known, known, known]);
    const lost = { kind: 'leaseLost' };
    expect(await settled(kit, first, again())).toEqual([lost, lost, lost]);
    expect((await kit.lease(3)).map(({ attempt }) => attempt)).toEqual([3, 3, 3]);
    const started = { ...known, state: 'started' };
    expect(await settled(kit, second, again())).toEqual([started, started, started]);
    expect(await settled(kit, first, again())).toEqual([lost, lost, lost]);
  },

  'of long errors the newest alone is kept whole': async (kit, expect) => {
    const ids = [await kit.add({ user: 'ann' }), await kit.add({ user: 'bob' })];
    const errors = ['a', 'b', 'c'].map((letter) =>
      JSON.stringify({ name: 'Error', message: letter.repeat(LIMITS.oldErrorBytes * 2) }),
    );
    for (const error of errors) await kit.settleAll(await kit.lease(2), again(error));
    for (const id of ids) {
      const items = await kit.backend.inspect.attempts(id);
      const lengths = items.map(({ error = '' }) => error.length);
      expect(lengths).toHaveLength(3);
      expect(lengths.at(-1)).toBe(errors[2]?.length);
      for (const length of lengths.slice(0, -1)) {
        expect(length).toBeLessThanOrEqual(LIMITS.oldErrorBytes);
      }
    }
  },
};

/** Of tasks that finish. */
export const finishes: Cases = {
  'those of a user with settings are counted no more': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 10 });
    await kit.addMany(5);
    await kit.settleAll(await kit.lease(3), FINISH);
    expect(await kit.user('ann')).toMatchObject({ running: 0, queued: 2 });
    await sound(kit);
    await kit.settleAll(await kit.lease(2), FINISH);
    await sound(kit);
    await kit.setUser('ann', { maxRunning: null });
    await kit.rest();
    await sound(kit);
  },

  'those whose user is counted from the same call on are counted no more': async (kit, expect) => {
    const others: readonly Decision[] = [
      { ...again(), delayMs: 60_000 } as Decision,
      { type: 'release', cause: { type: 'shutdown' }, delayMs: 60_000 },
      { type: 'dead-letter', cause: { type: 'fatal', failure: 'error' }, error: '{}' },
      again(),
      FINISH,
    ];
    for (const [at, decision] of others.entries()) {
      const user = `u${at}`;
      await kit.addMany(3, { user });
      const [one, ...rest] = await kit.lease(3);
      const settlements = [
        { id: one?.id ?? '', token: one?.token ?? '', decision },
        ...rest.map(({ id, token }) => ({ id, token, decision: FINISH })),
      ];
      const { answers } = await kit.backend.tasks.settle({ worker: 'w', settlements });
      expect(answers.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
      await sound(kit);
      expect((await kit.user(user))?.running ?? 0).toBe(0);
      for (const leased of await kit.lease(3)) await kit.finish(leased);
    }
  },

  'a task that waits for some of them goes on after the last of these': async (kit, expect) => {
    const [one, two] = await kit.addMany(2);
    const dependsOn = [one ?? '', two ?? ''];
    const edges = { ...REFUSING_EDGES, allowCrossUser: true };
    const both = await kit.add({ user: 'bob', dependsOn, edges });
    const single = await kit.add({ user: 'cid', dependsOn: dependsOn.slice(0, 1), edges });
    await kit.settleAll(await kit.lease(2), FINISH);
    await kit.rest();
    expect(await kit.leaseIds(2)).toEqual([single, both]);
    await sound(kit);
  },

  'those with more dependents than one step tells are not redriven or removed before all have heard':
    async (kit, expect) => {
      const upstreams = await kit.addMany(2);
      for (const id of upstreams) await kit.addMany(LIMITS.cascadeStep, { dependsOn: [id] });
      await kit.settleAll(await kit.lease(2), FINISH);
      const [, second = ''] = upstreams;
      expect(await kit.backend.tasks.remove(second)).toEqual({ kind: 'busy' });
      await kit.rest();
      expect(await kit.runnable()).toBe(2 * LIMITS.cascadeStep);
      await sound(kit);
    },

  'those that a run has begun to wait for in the same call are read by it': retaining(
    { finishedMs: 60_000 },
    async (kit, expect) => {
      await kit.addMany(4);
      const [run, ...members] = await kit.lease(4);
      const waitFor = members.map(({ id }) => id);
      const { answers } = await kit.backend.tasks.settle({
        worker: 'w',
        settlements: [
          {
            ...{ id: run?.id ?? '', token: run?.token ?? '' },
            decision: { type: 'suspend', waitFor, wakeOn: 'all' },
          },
          ...members.map(({ id, token }) => ({ id, token, decision: FINISH })),
        ],
      });
      expect(answers.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok', 'ok']);
      await kit.rest();
      await sound(kit);
      expect(await kit.leaseIds()).toEqual([run?.id]);
      await kit.advance(LIMITS.resendMs);
      expect(await kit.states(waitFor)).toEqual(['finished', 'finished', 'finished']);
    },
  ),

  'a suspended run that waits for them reads none of them': retaining(
    { finishedMs: 60_000 },
    async (kit, expect) => {
      await kit.add({ id: 'run' });
      const run = await kit.leaseOne();
      const members = await kit.addMany(3);
      await kit.settle(run, { type: 'suspend', waitFor: members, wakeOn: 'all' });
      await kit.settleAll(await kit.lease(3), FINISH);
      await kit.rest();
      expect(await kit.state('run')).toBe('queued');
      await sound(kit);
      const again = await kit.leaseOne();
      await kit.finish(again);
      await kit.advance(60_000 + LIMITS.resendMs);
      for (const id of members) expect(await kit.state(id)).toBe('missing');
    },
  ),

  'a dead letter of a step that has removed as many as it may goes in its time': retaining(
    { finishedMs: 60_000, failedMs: 60_000 },
    async (kit, expect) => {
      // More than one step removes; and the failed are looked at, of which none is left.
      await kit.addMany(90);
      await kit.settleAll(await kit.leaseMany(90), FINISH);
      const gone = await kit.add();
      await kit.fail(await kit.leaseOne());
      await kit.shift(LIMITS.resendMs);
      expect(await kit.backend.tasks.remove(gone)).toEqual({ kind: 'ok' });
      const id = await kit.add();
      const { token } = await kit.leaseOne();
      await kit.shift(60_000 + LIMITS.resendMs);
      const decision: Decision = {
        ...{ type: 'dead-letter', cause: { type: 'fatal', failure: 'error' }, error: '{}' },
      };
      const lease = kit.request({ limit: 1 });
      const call = { worker: 'w', settlements: [{ id, token, decision }], lease };
      await kit.backend.tasks.settle(call);
      expect(await kit.state(id)).toBe('failed');
      await kit.advance(60_000 + LIMITS.resendMs);
      expect(await kit.state(id)).toBe('missing');
      await sound(kit);
    },
  ),
};

/** Of one queue the turns are dealt out one by one, of the other many at once. */
const QUEUES = ['default', 'bulk'] as const;

/** Levels of tasks that come, and how many turns are dealt out then; again and again. */
const STEPS: readonly (readonly [levels: readonly number[], turns: number])[] = [
  [[2, 2, 2, 2, 5, 5, 1], 5],
  [[5, 1, 4], 3],
  [[1, 1, 2, 4], 4],
  [[5, 2], 2],
  [[1, 4, 5, 5, 2, 2], 5],
  [[3, 3, 1], 6],
];

/** Of turns that one call deals out. */
export const turns: Cases = {
  'are those that many calls deal out, also when levels run empty and fill again': async (
    kit,
    expect,
  ) => {
    const served: Record<string, number[]> = { default: [], bulk: [] };
    for (const [levels, count] of STEPS) {
      for (const queue of QUEUES) {
        await kit.send(...levels.map((level) => ({ queue, level: level as 1 })));
        const calls = queue === 'bulk' ? 1 : count;
        for (let call = 0; call < calls; call++) {
          const queues = [{ queue, weight: 1, pass: 0 }];
          const leases = await kit.leaseMany(count / calls, { queues });
          served[queue]?.push(...leases.map(({ level }) => level));
        }
      }
    }
    expect(served['bulk']).toHaveLength(STEPS.reduce((sum, [, count]) => sum + count, 0));
    expect(served['bulk']).toEqual(served['default']);
    await sound(kit);
  },
};

/** Dead letters that are put back by many calls, some of which come late. */
export const redrives: Cases = {
  'with a moment only what has ended by then is put back or removed': async (kit, expect) => {
    const { tasks } = kit.backend;
    const late = { kind: 'wrong-state', state: 'failed' };
    const id = await kit.add();
    await kit.fail(await kit.leaseOne());
    const ended = (await kit.record(id))?.endedAt ?? 0;
    expect(await tasks.redrive(id, undefined, ended - 1)).toEqual(late);
    expect(await tasks.remove(id, ended - 1)).toEqual(late);
    expect(await tasks.redrive(id, undefined, ended)).toEqual({ kind: 'ok', state: 'queued' });
    await kit.advance(5);
    await kit.fail(await kit.leaseOne());
    expect(await tasks.redrive(id, undefined, ended)).toEqual(late);
    expect(await tasks.remove(id, ended + 60_000)).toEqual({ kind: 'ok' });
  },

  'many that are asked for at once each get their own answer': async (kit, expect) => {
    const { tasks } = kit.backend;
    const ids: string[] = [];
    for (let n = 0; n < 30; n++) {
      ids.push(await kit.add());
      await kit.fail(await kit.leaseOne());
    }
    await kit.rest();
    const asked = ['none', ...ids, ids[3] ?? ''];
    const replies = await Promise.all(asked.map((id) => tasks.redrive(id)));
    expect(replies[0]).toEqual({ kind: 'not-found' });
    expect(replies.slice(1, -1)).toEqual(ids.map(() => ({ kind: 'ok', state: 'queued' })));
    expect(replies.at(-1)).toEqual({ kind: 'wrong-state', state: 'queued' });
    const leased: string[] = [];
    for (let n = 0; n < 30; n++) leased.push((await kit.leaseOne()).id);
    expect(leased).toEqual(ids);
  },

  'those that are not put back stay in their order, with any of them put back first': async (
    kit,
    expect,
  ) => {
    const { tasks, inspect } = kit.backend;
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) {
      ids.push(await kit.add());
      await kit.fail(await kit.leaseOne());
    }
    const some = ids.filter((_, at) => at % 3 === 1);
    const others = ids.filter((_, at) => at % 3 === 2).reverse();
    const asked = [...some.slice(0, 7), ...others, ...some.slice(7)];
    const replies = await Promise.all(asked.map((id) => tasks.redrive(id)));
    expect(replies).toEqual(asked.map(() => ({ kind: 'ok', state: 'queued' })));
    const { items } = await inspect.list({ state: 'failed' }, { limit: 50 });
    expect(items.map(({ id }) => id)).toEqual(ids.filter((_, at) => at % 3 === 0));
    expect((await inspect.stats()).counts).toMatchObject({ failed: 14, queued: 26 });
    await sound(kit);
  },
};
