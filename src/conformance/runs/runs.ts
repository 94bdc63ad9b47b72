/** What workflows stand on: joins, fences, suspension. */

import { LIMITS } from '../../domain/limits.ts';
import type { Leased, SettleAnswer, Suspension } from '../../domain/port/backend.ts';
import { GROUP_CHARS, givenUpField } from '../../domain/task/journal.ts';
import type { Cases } from '../cases.ts';
import { type Kit, REFUSING_EDGES } from '../kit.ts';

const RUN = { onFailure: 'run', onCancel: 'run' } as const;
const FAIL = { onFailure: 'fail', onCancel: 'fail' } as const;
const DAY_MS = 86_400_000;

function suspend(
  kit: Kit,
  leased: Leased,
  waitFor: readonly string[],
  more: Partial<Suspension> = {},
): Promise<SettleAnswer> {
  return kit.settle(leased, { type: 'suspend', waitFor, wakeOn: 'all', ...more });
}

/** A run that is leased, and members of it that wait in line. */
async function runWith(
  kit: Kit,
  members: number,
): Promise<{ readonly run: Leased; readonly ids: readonly string[] }> {
  await kit.add({ id: 'run' });
  const run = await kit.leaseOne();
  const ids: string[] = [];
  for (let at = 0; at < members; at++) ids.push(await kit.add({ owner: 'run' }));
  return { run, ids };
}

/** Tasks that end by themselves as soon as all they wait for has ended. */
export const joins: Cases = {
  'a join ends as soon as nothing blocks it, and is never leased': async (kit, expect) => {
    const [a, b] = [await kit.add(), await kit.add()];
    const join = await kit.add({ join: true, dependsOn: [a, b] });
    const after = await kit.add({ dependsOn: [join] });
    await kit.runToEnd(a);
    expect(await kit.record(join)).toMatchObject({ state: 'deferred', blockedBy: [b] });
    await kit.runToEnd(b);
    await kit.rest();
    expect(await kit.states([join, after])).toEqual(['finished', 'queued']);
    await kit.runToEnd(after);
    expect(await kit.lease(5)).toEqual([]);
  },

  'a join of nothing, or of what has ended, ends at once': async (kit, expect) => {
    const a = await kit.add();
    await kit.runToEnd(a);
    const ids = [await kit.add({ join: true }), await kit.add({ join: true, dependsOn: [a] })];
    await kit.rest();
    expect(await kit.states(ids)).toEqual(['finished', 'finished']);
  },

  'a join obeys the policies of its edges': async (kit, expect) => {
    const a = await kit.add();
    const strict = await kit.add({
      join: true,
      dependsOn: [a],
      edges: { ...REFUSING_EDGES, ...FAIL },
    });
    const lenient = await kit.add({
      join: true,
      dependsOn: [a],
      edges: { ...REFUSING_EDGES, ...RUN },
    });
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    expect(await kit.states([strict, lenient])).toEqual(['failed', 'finished']);
  },

  'what a join has joined stays until the join goes': async (kit, expect) => {
    const a = await kit.add();
    const join = await kit.add({ join: true, dependsOn: [a] });
    await kit.runToEnd(a);
    await kit.rest();
    const reader = await kit.add({ dependsOn: [join], delayMs: 30 * DAY_MS });
    await kit.jump(2 * DAY_MS);
    expect(await kit.states([a, join])).toEqual(['finished', 'finished']);
    await kit.cancel(reader);
    await kit.jump(2 * DAY_MS);
    await kit.rest();
    expect(await kit.states([a, join])).toEqual(['missing', 'missing']);
  },

  'a run is in line as soon as its last member is settled, also through joins': async (
    kit,
    expect,
  ) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    const members = await kit.addMany(LIMITS.dependencies, { owner: 'run' });
    await kit.add({ id: 'join', join: true, dependsOn: members });
    await suspend(kit, run, ['join']);
    const leases = await kit.leaseMany(LIMITS.dependencies);
    await kit.settleAll(leases.slice(1), { type: 'finish', result: 'null' });
    await kit.rest();
    expect(await kit.states(['run', 'join'])).toEqual(['deferred', 'deferred']);
    await kit.settleAll(leases.slice(0, 1), { type: 'finish', result: 'null' });
    expect(await kit.states(['run', 'join'])).toEqual(['queued', 'finished']);
  },

  'joins may join joins, across a batch': async (kit, expect) => {
    const tasks = ['m1', 'm2', 'm3', 'm4'].map((id) => ({ id }));
    await kit.send(
      ...tasks,
      { id: 'j1', join: true, dependsOn: ['m1', 'm2'] },
      { id: 'j2', join: true, dependsOn: ['m3', 'm4'] },
      { id: 'j', join: true, dependsOn: ['j1', 'j2'] },
    );
    await kit.serve(4, { batch: 4 });
    await kit.rest();
    expect(await kit.states(['j1', 'j2', 'j'])).toEqual(['finished', 'finished', 'finished']);
  },
};

/** What is stored on behalf of a run, only by who holds its lease. */
export const fences: Cases = {
  'stores for the holder of the lease alone': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const { id, token } = await kit.leaseOne();
    const send = (fence: { readonly id: string; readonly token: string }) =>
      kit.backend.tasks.enqueue([kit.task({ id: 'm1' }), kit.task({ id: 'm2' })], {
        atomic: false,
        fence,
      });
    const lost = { kind: 'refused', refusal: { type: 'lease-lost' } };
    expect(await send({ id, token: `${token}0` })).toEqual([lost, lost]);
    expect(await send({ id: 'nobody', token })).toEqual([lost, lost]);
    expect(await kit.states(['m1', 'm2'])).toEqual(['missing', 'missing']);
    expect(await send({ id, token })).toMatchObject([{ kind: 'created' }, { kind: 'created' }]);
    expect(await send({ id, token })).toMatchObject([{ kind: 'existing' }, { kind: 'existing' }]);
    await kit.finish({ id, token });
    expect(await send({ id, token })).toEqual([lost, lost]);
  },

  'more than one script is fenced throughout': async (kit, expect) => {
    await kit.add({ id: 'run' });
    const { id, token } = await kit.leaseOne();
    const tasks = Array.from({ length: 600 }, () => kit.task({ owner: 'run' }));
    const fenced = { atomic: false, fence: { id, token } } as const;
    const replies = await kit.backend.tasks.enqueue(tasks, fenced);
    expect(replies.filter(({ kind }) => kind === 'created')).toHaveLength(600);
  },

  'a full queue does not refuse what a run stores': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 1 });
    await kit.add({ id: 'run' });
    const { id, token } = await kit.leaseOne();
    const tasks = [kit.task(), kit.task(), kit.task()];
    const fenced = { atomic: false, fence: { id, token } } as const;
    const replies = await kit.backend.tasks.enqueue(tasks, fenced);
    expect(replies.map(({ kind }) => kind)).toEqual(['created', 'created', 'created']);
  },

  'a member of a group that its run has given up is canceled instead of started': async (
    kit,
    expect,
  ) => {
    await kit.add({ id: 'run' });
    const run = await kit.leaseOne();
    const [idOf, otherOf] = ['a', 'b'].map((one) => `~g.${one.repeat(GROUP_CHARS)}`);
    const [id, other] = [`${idOf}.a`, `${otherOf}.a`];
    const put = await kit.add({ id: `${idOf}.b`, owner: 'run' });
    await kit.backend.runs.checkpoint(run, { [givenUpField(put)]: '1' });
    await kit.backend.runs.checkpoint(run, { [givenUpField(put)]: null });
    expect(await kit.leaseIds(4)).toEqual([put]);
    await kit.add({ id, owner: 'run' });
    await kit.add({ id: other, owner: 'run' });
    await kit.backend.runs.checkpoint(run, { [givenUpField(id)]: '1' });
    expect(await kit.leaseIds(4)).toEqual([other]);
    await kit.rest();
    expect(await kit.record(id)).toMatchObject({
      state: 'canceled',
      cause: { type: 'run-ended', run: 'run' },
    });
  },

  'a member of a member whose run has ended is canceled instead of started': async (
    kit,
    expect,
  ) => {
    const { run, ids } = await runWith(kit, 1);
    const member = ids[0] ?? '';
    await kit.leaseOne();
    const inner = await kit.add({ owner: member });
    await kit.finish(run);
    expect(await kit.leaseIds(4)).toEqual([]);
    await kit.rest();
    expect(await kit.record(inner)).toMatchObject({
      state: 'canceled',
      cause: { type: 'run-ended', run: member },
    });
  },

  'a member whose run has ended is canceled instead of started': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 3);
    const other = await kit.add();
    await kit.finish(run);
    expect(await kit.leaseIds(4)).toEqual([other]);
    await kit.rest();
    expect(await kit.states(ids)).toEqual(['canceled', 'canceled', 'canceled']);
    expect((await kit.record(ids[0] ?? ''))?.cause).toEqual({ type: 'run-ended', run: 'run' });
  },

  'a lease tells of a member as it stood when the turn of its dependent came': async (
    kit,
    expect,
  ) => {
    await kit.setQueue({ paused: true });
    const run = await kit.add();
    const member = await kit.add({ owner: run, expiresInMs: 1_000 });
    const edges = { ...REFUSING_EDGES, ...RUN };
    const before = await kit.add({ dependsOn: [member], edges, level: 6 });
    const behind = await kit.add({ dependsOn: [member], edges, delayMs: 2_000 });
    await kit.advance(1_000);
    await kit.cancel(run);
    expect(await kit.backend.tasks.redrive(member)).toEqual({ kind: 'ok', state: 'queued' });
    await kit.advance(1_000);
    await kit.setQueue({ paused: null });
    // Between their turns the member is canceled, since its run is over.
    expect(await kit.lease(3)).toMatchObject([
      { id: before, upstreams: [{ id: member, state: 'missing' }] },
      { id: behind, upstreams: [{ id: member, state: 'canceled' }] },
    ]);
    expect(await kit.state(member)).toBe('canceled');
  },

  'a run without a slot for its members does not hold up others': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 40);
    await kit.finish(run);
    const other = await kit.add();
    const got: string[] = [];
    for (let calls = 0; calls < 20 && got.length === 0; calls++) {
      got.push(...(await kit.leaseIds(2)));
    }
    expect(got).toEqual([other]);
    expect(new Set(await kit.states(ids))).toEqual(new Set(['canceled']));
  },
};

/** Runs that give their lease back until others have ended. */
export const suspensions: Cases = {
  'waits until all have ended, however they end': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 3);
    const [a = '', b = '', c = ''] = ids;
    expect(await suspend(kit, run, ids)).toEqual({
      kind: 'ok',
      state: 'deferred',
      repeated: false,
    });
    expect(await kit.record('run')).toMatchObject({
      state: 'deferred',
      blockedBy: [...ids].sort(),
    });
    await kit.runToEnd(a, '"a"');
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    expect(await kit.record('run')).toMatchObject({ state: 'deferred', blockedBy: [c] });
    await kit.cancel(c);
    await kit.rest();
    expect(await kit.record('run')).toMatchObject({ state: 'queued', blockedBy: [] });
    expect(await kit.states([a, b, c])).toEqual(['finished', 'failed', 'canceled']);
    const again = await kit.leaseOne();
    expect(again).toMatchObject({ id: 'run', attempt: 1, losses: 0 });
    expect(again.token).not.toBe(run.token);
  },

  'the token is void from then on, and the same again is known': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 1);
    await suspend(kit, run, ids);
    expect(await suspend(kit, run, ids)).toMatchObject({ kind: 'ok', repeated: true });
    expect(await kit.backend.runs.checkpoint(run, { a: '1' })).toBe('lost');
    const { answers } = await kit.backend.tasks.extend({
      worker: 'w',
      leaseMs: LIMITS.leaseMs,
      leases: [run],
    });
    expect(answers).toEqual(['lost']);
  },

  'goes on at once when all have ended already, before tasks that came later': async (
    kit,
    expect,
  ) => {
    const { run, ids } = await runWith(kit, 2);
    const later = await kit.add();
    await kit.serve(2, { batch: 2 });
    expect(await suspend(kit, run, [...ids, 'nobody'])).toMatchObject({ state: 'queued' });
    expect(await kit.leaseIds(2)).toEqual(['run', later]);
  },

  'wakes at the first that does not finish, when asked to': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 3);
    await suspend(kit, run, ids, { wakeOn: 'failure' });
    await kit.runToEnd(ids[0] ?? '');
    await kit.rest();
    expect(await kit.state('run')).toBe('deferred');
    await kit.fail(await kit.leaseOne());
    await kit.rest();
    expect(await kit.record('run')).toMatchObject({ state: 'queued', blockedBy: [] });
    await kit.runToEnd('run');
    await kit.rest();
    expect(await kit.state(ids[2] ?? '')).toBe('queued');
  },

  'wakes at once when one has failed before': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 2);
    await kit.fail(await kit.leaseOne());
    expect(await suspend(kit, run, ids, { wakeOn: 'failure' })).toMatchObject({ state: 'queued' });
  },

  'wakes after its time, also while some have not ended': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 2);
    await kit.setUser('bob', {});
    await suspend(kit, run, ids, { wakeAfterMs: 2_000 });
    const leases = await kit.lease(2);
    await kit.advance(1_999);
    expect(await kit.state('run')).toBe('deferred');
    await kit.advance(1);
    expect(await kit.record('run')).toMatchObject({ state: 'queued', blockedBy: [] });
    // Ends that come late change nothing.
    for (const leased of leases) await kit.finish(leased);
    await kit.rest();
    const again = await kit.leaseOne();
    expect(again.id).toBe('run');
    await kit.finish(again);
  },

  'may be suspended again and again; what it waited for goes when it is not read': async (
    kit,
    expect,
  ) => {
    await kit.add({ id: 'run' });
    for (let round = 0; round < 3; round++) {
      const run = await kit.leaseOne();
      expect(run.id).toBe('run');
      const member = await kit.add({ id: `member${round}`, owner: 'run' });
      await suspend(kit, run, [member]);
      await kit.runToEnd(member);
      await kit.rest();
      await kit.jump(2 * DAY_MS);
      // The newest is read by the run until the next one.
      expect(await kit.state(member)).toBe('finished');
      if (round > 0) expect(await kit.state(`member${round - 1}`)).toBe('missing');
    }
    await kit.runToEnd('run');
    await kit.rest();
    await kit.jump(2 * DAY_MS);
    await kit.rest();
    expect(await kit.states(['run', 'member2'])).toEqual(['missing', 'missing']);
  },

  'counts no attempt and forgives losses': async (kit, expect) => {
    await kit.add({ id: 'run' });
    await kit.leaseOne();
    await kit.advance(LIMITS.leaseMs + 1);
    const run = await kit.leaseOne();
    expect(run).toMatchObject({ id: 'run', losses: 1 });
    const member = await kit.add({ owner: 'run' });
    await suspend(kit, run, [member]);
    await kit.runToEnd(member);
    await kit.rest();
    expect(await kit.leaseOne()).toMatchObject({ id: 'run', losses: 0, attempt: 1 });
  },

  'does not count as running, and can be canceled': async (kit, expect) => {
    await kit.setUser('ann', { maxRunning: 1 });
    const { run, ids } = await runWith(kit, 2);
    await suspend(kit, run, ids);
    expect(await kit.user('ann')).toMatchObject({ running: 0 });
    expect(await kit.leaseIds(2)).toEqual([ids[0]]);
    expect(await kit.cancel('run')).toEqual({ kind: 'canceled' });
    await kit.rest();
    expect(await kit.state('run')).toBe('canceled');
  },

  'a requested cancel comes first': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 1);
    await kit.cancel('run');
    expect(await suspend(kit, run, ids)).toMatchObject({ kind: 'ok', state: 'canceled' });
  },

  'a foreign token suspends nothing': async (kit, expect) => {
    const { run, ids } = await runWith(kit, 1);
    expect(await suspend(kit, { ...run, token: `${run.token}0` }, ids)).toEqual({
      kind: 'leaseLost',
    });
    expect(await kit.state('run')).toBe('started');
  },
};
