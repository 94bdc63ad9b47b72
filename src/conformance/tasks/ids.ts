import type { Cases } from '../cases.ts';
import { REFUSING_EDGES } from '../kit.ts';

/** Ids that have broken other queues, each for another reason. */
const NASTY_IDS: readonly string[] = [
  '0',
  '1',
  '-1',
  '1e3',
  '00',
  '9007199254740993',
  'NaN',
  'null',
  'undefined',
  'true',
  'a:b',
  'a::b',
  ':',
  '{x}',
  '{}',
  '}{',
  ' ',
  '  a ',
  '\t\n\r',
  '\u0000',
  'a\u0000b',
  '\u001f\u007f',
  'é',
  'e\u0301',
  '💥',
  '\uffff',
  '\u{10ffff}',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '../../',
  '/etc/passwd',
  '*',
  '?',
  '[a]',
  '"',
  "'",
  '\\',
  '%s%d',
  '$1',
  '-',
  '+inf',
  '(1',
  'default',
  'critical',
  'normal',
  'user:ann:normal',
  'queue:bulk:user:ann',
  'x'.repeat(128),
  'é'.repeat(64),
];

/** Ids and texts are opaque: what looks like a number, a key, a prototype or a path is none. */
export const nasty: Cases = {
  // O93
  'task ids come back as they were sent': async (kit, expect) => {
    await kit.send(...NASTY_IDS.map((id) => ({ id })));
    expect(await kit.leaseIds(60)).toEqual(NASTY_IDS);
    const records = await kit.backend.inspect.get(NASTY_IDS);
    expect(records.map((record) => record?.id)).toEqual(NASTY_IDS);
    for (const record of records) {
      if (record?.token === undefined) throw new TypeError('each of them is started');
      expect(await kit.finish({ id: record.id, token: record.token })).toMatchObject({
        kind: 'ok',
      });
    }
    const again = await kit.send(...NASTY_IDS.map((id) => ({ id })));
    expect(again.filter(({ kind }) => kind !== 'existing')).toEqual([]);
    expect(await kit.state('2')).toBe('missing');
    const page = await kit.backend.inspect.list({ state: 'finished' }, { limit: 500 });
    expect(new Set(page.items.map(({ id }) => id))).toEqual(new Set(NASTY_IDS));
  },

  // O93
  'task ids depend on each other, are canceled and removed': async (kit, expect) => {
    for (const id of NASTY_IDS) {
      const below = `${id}`.slice(0, 60) + kit.fresh('~').slice(-4);
      await kit.send({ id }, { id: below, dependsOn: [id] });
      expect((await kit.record(below))?.blockedBy).toEqual([id]);
      expect(await kit.cancel(id)).toEqual({ kind: 'canceled' });
      await kit.rest();
      expect([id, await kit.states([id, below])]).toEqual([id, ['canceled', 'canceled']]);
      expect(await kit.backend.tasks.remove(id)).toMatchObject({ kind: 'ok' });
      expect(await kit.state(id)).toBe('missing');
    }
  },

  // O93
  'users stay apart under any names': async (kit, expect) => {
    await kit.send(...NASTY_IDS.map((user) => ({ user })));
    for (const user of NASTY_IDS) {
      await kit.setUser(user, { weight: 150 });
      expect(await kit.user(user)).toMatchObject({ user, queued: 1, settings: { weight: 150 } });
    }
    const leases = await kit.lease(60);
    expect(new Set(leases.map(({ user }) => user))).toEqual(new Set(NASTY_IDS));
    const listed = await kit.backend.users.list('default', { limit: 500 });
    expect(new Set(listed.items.map(({ user }) => user))).toEqual(new Set(NASTY_IDS));
  },

  // O93
  'users of another name may be assigned and stolen from': async (kit, expect) => {
    await kit.worker('a', { assignedUsers: NASTY_IDS });
    await kit.send(...NASTY_IDS.map((user) => ({ user })), { user: 'nobody' });
    const leases = await kit.lease(60, { worker: 'a' });
    expect(new Set(leases.map(({ user }) => user))).toEqual(new Set(NASTY_IDS));
  },

  // O93
  'idempotency keys stay apart': async (kit, expect) => {
    const keys = NASTY_IDS.map((key) => ({ idempotency: { key, policy: 'reject' } as const }));
    const first = await kit.send(...keys);
    expect(first.filter(({ kind }) => kind !== 'created')).toEqual([]);
    const second = await Promise.all(keys.map((fields) => kit.sendOne(fields)));
    expect(second.filter(({ kind }) => kind !== 'refused')).toEqual([]);
    // User and key together must not read like another pair.
    await kit.send(
      { user: 'a', idempotency: { key: 'b:c', policy: 'reject' } },
      { user: 'a:b', idempotency: { key: 'c', policy: 'reject' } },
    );
    expect((await kit.stats()).counts.queued).toBe(NASTY_IDS.length + 2);
  },

  // O94
  'payloads, options, results, errors and reasons are only kept': async (kit, expect) => {
    for (const text of NASTY_IDS) {
      const payload = `{"n":9007199254740993,"text":${JSON.stringify(text)}}`;
      const id = await kit.add({ payload, options: JSON.stringify([text]) });
      const leased = await kit.leaseOne();
      expect(leased).toMatchObject({ id, payload, options: JSON.stringify([text]) });
      if (text.length % 2 === 0) await kit.finish(leased, payload);
      else {
        const cause = { type: 'decider', reason: text, failure: 'error' } as const;
        await kit.settle(leased, { type: 'dead-letter', cause, error: payload });
      }
      const record = await kit.record(id);
      expect([record?.result ?? record?.error, record?.payload]).toEqual([payload, payload]);
      if (record?.state === 'failed') expect(record.cause).toMatchObject({ reason: text });
    }
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  },

  // O93
  'upstreams of any name are told to their dependents': async (kit, expect) => {
    const edges = { ...REFUSING_EDGES, onFailure: 'run' } as const;
    await kit.send(...NASTY_IDS.map((id) => ({ id })));
    const id = await kit.add({ dependsOn: NASTY_IDS, edges });
    await kit.serve(NASTY_IDS.length, { batch: 10 });
    const leased = await kit.leaseOne();
    expect(leased.id).toBe(id);
    expect(leased.upstreams.map((fact) => fact.id).toSorted()).toEqual(NASTY_IDS.toSorted());
  },
};
