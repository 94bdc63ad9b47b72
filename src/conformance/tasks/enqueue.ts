/** Enqueue: what is stored, what is answered again, what is refused, and that it is all or none. */
import type { EnqueueReply } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import { retaining } from '../cases.ts';
import type { TaskFields } from '../kit.ts';

const DAY_MS = 86_400_000;

function kinds(replies: readonly EnqueueReply[]): readonly string[] {
  return replies.map((reply) => (reply.kind === 'refused' ? reply.refusal.type : reply.kind));
}

/** One call as it should be: everything comes back as it was sent. */
export const storing: Cases = {
  'stores everything about a task': async (kit, expect) => {
    const task = kit.task({
      id: 'a',
      user: 'bob',
      level: 5,
      cost: 2.5,
      payload: '{"to":"é💥\\u0000"}',
      options: '{"retries":7}',
      idempotency: { key: 'k', policy: 'return' },
    });
    expect(await kit.backend.tasks.enqueue([task], { atomic: true })).toEqual([
      { kind: 'created', id: 'a' },
    ]);
    const record = await kit.record('a');
    expect(record).toMatchObject({
      id: 'a',
      name: 'work',
      queue: 'default',
      user: 'bob',
      level: 5,
      cost: 2.5,
      payload: task.payload,
      options: task.options,
      state: 'queued',
      createdAt: kit.now(),
      failures: 0,
      losses: 0,
      releases: 0,
      dependsOn: [],
      blockedBy: [],
      cancelRequested: false,
      idempotencyKey: 'k',
    });
    for (const field of ['dueAt', 'token', 'worker', 'leaseUntil', 'endedAt', 'result'] as const) {
      expect([field, record?.[field]]).toEqual([field, undefined]);
    }
  },

  'answers an empty call with nothing': async (kit, expect) => {
    expect(await kit.backend.tasks.enqueue([], { atomic: true })).toEqual([]);
    expect(await kit.backend.tasks.enqueue([], { atomic: false })).toEqual([]);
  },

  'keeps a payload of one mebibyte': async (kit, expect) => {
    const payload = JSON.stringify('é'.repeat(524_287));
    const id = await kit.add({ payload });
    const leased = await kit.leaseOne();
    expect(leased.id).toBe(id);
    expect(leased.payload === payload).toBe(true);
    await kit.finish(leased, payload);
    expect((await kit.record(id))?.result === payload).toBe(true);
  },

  'schedules what has a delay or a moment, and queues what is due': async (kit, expect) => {
    const now = kit.now();
    await kit.send(
      { id: 'delay', delayMs: 5_000 },
      { id: 'moment', executeAfter: now + 7_000 },
      { id: 'zero', delayMs: 0 },
      { id: 'now', executeAfter: now },
    );
    expect(await kit.record('delay')).toMatchObject({ state: 'scheduled', dueAt: now + 5_000 });
    expect(await kit.record('moment')).toMatchObject({ state: 'scheduled', dueAt: now + 7_000 });
    expect(await kit.states(['zero', 'now'])).toEqual(['queued', 'queued']);
  },

  // O82
  'queues a negative delay and a moment in the past at once': async (kit, expect) => {
    const times: readonly TaskFields[] = [
      { delayMs: -1 },
      { delayMs: -0 },
      { delayMs: -DAY_MS },
      { executeAfter: kit.now() - 1 },
      { executeAfter: 0 },
    ];
    for (const fields of times) expect(await kit.state(await kit.add(fields))).toBe('queued');
  },
};

/** Calls whose replies were lost make no second task. */
export const sendingAgain: Cases = {
  'answers the same id again without writing': async (kit, expect) => {
    const id = await kit.add({ payload: '1' });
    expect(await kit.sendOne({ id, payload: '1', options: '{"other":1}', level: 5 })).toEqual({
      kind: 'existing',
      id,
      state: 'queued',
      conflict: false,
      replaced: false,
    });
    expect(await kit.record(id)).toMatchObject({ options: '{}', level: 3 });
  },

  // O7
  'makes one task of a call whose reply is lost a thousand times': async (kit, expect) => {
    const task = kit.task();
    const calls = Array.from({ length: 1_000 }, () =>
      kit.backend.tasks.enqueue([task], { atomic: true }),
    );
    const replies = (await Promise.all(calls)).flat();
    expect(replies.filter(({ kind }) => kind === 'created')).toHaveLength(1);
    expect(await kit.leaseIds(10)).toEqual([task.id]);
    expect((await kit.stats()).totals.enqueued).toBe(1);
  },

  'answers with the present state, also after the end': async (kit, expect) => {
    const id = await kit.add();
    const leased = await kit.leaseOne();
    expect(await kit.sendOne({ id })).toMatchObject({ kind: 'existing', state: 'started' });
    await kit.finish(leased);
    expect(await kit.sendOne({ id })).toMatchObject({ kind: 'existing', state: 'finished' });
  },

  'refuses the id with another user, name or payload': async (kit, expect) => {
    const id = await kit.add({ user: 'ann', payload: '1' });
    const others: readonly TaskFields[] = [
      { user: 'bob', payload: '1' },
      { name: 'other', payload: '1' },
      { payload: '2' },
    ];
    for (const other of others) {
      expect(await kit.sendOne({ id, ...other })).toEqual({
        kind: 'refused',
        refusal: { type: 'task-conflict', id },
      });
    }
    expect(await kit.record(id)).toMatchObject({ user: 'ann', name: 'work', payload: '1' });
  },

  'looks for the id before everything else': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 1 });
    const id = await kit.add();
    expect(await kit.sendOne({ id, dependsOn: ['nowhere'] })).toMatchObject({ kind: 'existing' });
    const key = { key: 'k', policy: 'reject' } as const;
    expect(await kit.sendOne({ id, idempotency: key })).toMatchObject({ kind: 'existing' });
  },

  'runs nothing twice when a call is sent again while one may come late': retaining(
    { finishedMs: 0, failedMs: 0, canceledMs: 0 },
    async (kit, expect) => {
      const id = await kit.add();
      await kit.runToEnd(id);
      await kit.advance(kit.leastKeptMs() - 1);
      expect(await kit.sendOne({ id })).toMatchObject({ kind: 'existing', state: 'finished' });
      expect(await kit.lease()).toEqual([]);
    },
  ),
};

/** Many tasks in one call, all or none of them, or each on its own. */
export const batches: Cases = {
  'stores all of an atomic batch or none': async (kit, expect) => {
    await kit.add({ id: 'taken', payload: '1' });
    const replies = await kit.send({ id: 'a' }, { id: 'taken', payload: '2' }, { id: 'b' });
    expect(kinds(replies)).toEqual(['batch-refused', 'task-conflict', 'batch-refused']);
    expect(await kit.states(['a', 'b'])).toEqual(['missing', 'missing']);
    expect((await kit.stats()).totals.enqueued).toBe(1);
    expect(await kit.leaseIds(10)).toEqual(['taken']);
  },

  'refuses of two that have one id the later one when they differ': async (kit, expect) => {
    const [one, same, other] = [{ id: 'a' }, { id: 'a' }, { id: 'a', payload: '2' }];
    const replies = await kit.send({ id: 'b' }, one, same, other);
    expect(kinds(replies)).toEqual([
      'batch-refused',
      'batch-refused',
      'batch-refused',
      'task-conflict',
    ]);
    expect(await kit.states(['a', 'b'])).toEqual(['missing', 'missing']);
  },

  'lets each item stand on its own when asked to': async (kit, expect) => {
    await kit.add({ id: 'taken', payload: '1' });
    const tasks = [
      { id: 'a' },
      { id: 'taken', payload: '2' },
      { id: 'b', dependsOn: ['none'] },
      { id: 'c' },
    ];
    const replies = await kit.backend.tasks.enqueue(
      tasks.map((fields) => kit.task(fields)),
      { atomic: false },
    );
    expect(kinds(replies)).toEqual(['created', 'task-conflict', 'unknown-dependency', 'created']);
    expect(await kit.states(['a', 'b', 'c'])).toEqual(['queued', 'missing', 'queued']);
  },

  // O66
  'stores an id named twice in a batch once, and refuses it with two payloads': async (
    kit,
    expect,
  ) => {
    expect(kinds(await kit.send({ id: 'a' }, { id: 'a' }))).toEqual(['created', 'existing']);
    const replies = await kit.send({ id: 'b', payload: '1' }, { id: 'b', payload: '2' });
    expect(kinds(replies)).toContain('task-conflict');
    expect(await kit.states(['a', 'b'])).toEqual(['queued', 'missing']);
    expect(await kit.leaseIds(10)).toEqual(['a']);
  },

  'stores 10,000 tasks at once, in order, and again without change': async (kit, expect) => {
    const tasks = Array.from({ length: 10_000 }, () => kit.task());
    const replies = await kit.backend.tasks.enqueue(tasks, { atomic: true });
    expect(replies).toHaveLength(10_000);
    expect(replies.filter(({ kind }) => kind !== 'created')).toEqual([]);
    const again = await kit.backend.tasks.enqueue(tasks, { atomic: true });
    expect(again.filter(({ kind }) => kind !== 'existing')).toEqual([]);
    expect((await kit.stats()).counts.queued).toBe(10_000);
    const first = tasks.slice(0, 50).map(({ id }) => id);
    expect(await kit.leaseIds(50)).toEqual(first);
  },

  'leases nothing of a large batch before all of it is stored': async (kit, expect) => {
    const tasks = Array.from({ length: 10_000 }, () => kit.task());
    let stored = false;
    const storing = kit.backend.tasks.enqueue(tasks, { atomic: true }).then(() => {
      stored = true;
    });
    while (!stored) {
      if ((await kit.lease(1)).length === 0) continue;
      // A backend may release what it has stored in steps, in order.
      expect(await kit.state(tasks.at(-1)?.id ?? '')).not.toBe('missing');
    }
    await storing;
    expect((await kit.stats()).totals.enqueued).toBe(10_000);
  },

  'leaves nothing of 10,000 tasks when the last is refused': async (kit, expect) => {
    await kit.add({ id: 'taken', user: 'bob' });
    const tasks = Array.from({ length: 9_999 }, () => kit.task({ user: 'cat' }));
    const replies = await kit.backend.tasks.enqueue([...tasks, kit.task({ id: 'taken' })], {
      atomic: true,
    });
    expect(kinds(replies.slice(-2))).toEqual(['batch-refused', 'task-conflict']);
    await kit.rest();
    expect(await kit.states(tasks.slice(0, 500).map(({ id }) => id))).not.toContain('queued');
    expect((await kit.stats()).counts.queued).toBe(1);
    expect(await kit.leaseIds(10)).toEqual(['taken']);
    expect(await kit.user('cat')).toBeUndefined();
  },

  'lets dependencies of a batch point forward and back': async (kit, expect) => {
    await kit.send(
      { id: 'b', dependsOn: ['a'] },
      { id: 'a' },
      { id: 'd', dependsOn: ['b', 'c'] },
      { id: 'c', dependsOn: ['a'] },
    );
    expect(await kit.states(['a', 'b', 'c', 'd'])).toEqual([
      'queued',
      'deferred',
      'deferred',
      'deferred',
    ]);
    const served = await kit.serve(10);
    expect(served.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
  },

  'takes a chain of 1,000 in one batch, whichever end comes first': async (kit, expect) => {
    for (const backwards of [false, true]) {
      const ids = Array.from({ length: 1_000 }, () => kit.fresh('c'));
      const chain = ids.map((id, i) => ({ id, dependsOn: i === 0 ? [] : [ids[i - 1] ?? ''] }));
      await kit.send(...(backwards ? chain.toReversed() : chain));
      const served = await kit.serve(1_000);
      expect(served.map(({ id }) => id)).toEqual(ids);
    }
  },
};

/** Users that have as many tasks waiting as they may. */
export const fullQueues: Cases = {
  'refuses what a user may not have waiting, and says how many wait': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 3 });
    await kit.addMany(3);
    expect(await kit.sendOne()).toEqual({
      kind: 'refused',
      refusal: { type: 'queue-full', user: 'ann', limit: 3, size: 3 },
    });
    await kit.leaseOne();
    await kit.add();
    await kit.add({ user: 'bob' });
  },

  // O31
  'counts every place in which a task can wait': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 4 });
    const running = await kit.add();
    const leased = await kit.leaseOne();
    await kit.add({ delayMs: 60_000 });
    await kit.add({ dependsOn: [running] });
    await kit.add();
    await kit.retry(leased, 60_000);
    expect(kinds([await kit.sendOne()])).toEqual(['queue-full']);
    await kit.cancel(running);
    await kit.rest();
    expect(await kit.user('ann')).toMatchObject({ running: 0, queued: 1, later: 1 });
  },

  'refuses no retry, loss or release for a full queue': async (kit, expect) => {
    await kit.addMany(2);
    const [retried, released] = await kit.lease(2);
    await kit.setUser('ann', { maxQueued: 1 });
    await kit.add();
    if (retried === undefined || released === undefined) throw new TypeError('two leases');
    expect(await kit.retry(retried, 0)).toMatchObject({ kind: 'ok', state: 'queued' });
    expect(await kit.release(released)).toMatchObject({ kind: 'ok', state: 'queued' });
    expect(kinds([await kit.sendOne()])).toEqual(['queue-full']);
  },

  'counts the items of one batch': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 3 });
    const tooMany = await kit.send({}, {}, {}, {});
    expect(kinds(tooMany)).toEqual([
      'batch-refused',
      'batch-refused',
      'batch-refused',
      'queue-full',
    ]);
    expect(kinds(await kit.send({}, {}, {}))).toEqual(['created', 'created', 'created']);
  },

  'counts per queue': async (kit, expect) => {
    await kit.setUser('ann', { maxQueued: 1 });
    await kit.add();
    await kit.add({ queue: 'bulk' });
    expect(kinds([await kit.sendOne({ queue: 'bulk' })])).toEqual(['queue-full']);
  },
};
