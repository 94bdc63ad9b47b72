/** Calls that a damaged record breaks off in the middle, and repair beside workers that go on. */
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { type Guarded, Repair } from '../../../src/backends/redis/connection/repair.ts';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import {
  BackendUnavailableError,
  BackendUnsupportedError,
} from '../../../src/domain/errors/errors.ts';
import { atEnd, freshPrefix } from '../faults/kit.ts';
import { DamagedStore } from './kit.ts';

const QUEUES = ['default', 'bulk'].map((queue) => ({ queue, weight: 1, pass: 0 }));

/** A store with nothing in it. */
async function emptied() {
  const store = await DamagedStore.make();
  const { kit, raw, prefix } = store;
  await raw.del(...(await raw.keys(`${prefix}:*`)).filter((key) => !key.endsWith('-by-hand')));
  return { store, kit, raw, prefix };
}

const broken = (): Error =>
  new BackendUnsupportedError('lease: a script failed', {
    cause: new Error('ERR user_script:1: oh no'),
  });

/** Answers, or throws, what comes next; `repairs` counts how often all was made anew. */
function repairOf(...answers: readonly (Error | string)[]) {
  const left = [...answers];
  const asked: string[] = [];
  const session: Guarded = {
    guarded: async (verb, args, look) => {
      asked.push(`${verb} ${args.join(' ')} ${look}`);
      const answer = left.shift();
      if (answer === undefined || answer instanceof Error) throw answer;
      return answer;
    },
  };
  const repairs = { count: 0, fails: false };
  const repair = new Repair(session, async () => {
    repairs.count++;
    if (repairs.fails) throw new Error('the server is gone');
  });
  return { repair, asked, repairs };
}

// F63
describe('a call that was broken off', () => {
  it('is sent again with care, and what it left half done is made anew afterwards', async () => {
    const { repair, asked, repairs } = repairOf('ok');
    expect(await repair.again('lease', ['w'], broken())).toBe('ok');
    await repair.settled();
    expect(asked).toEqual(['lease w false']);
    expect(repairs.count).toBe(1);
  });

  it('is sent a third time when what was left half done stands in its way', async () => {
    const { repair, repairs } = repairOf(broken(), 'ok');
    expect(await repair.again('settle', [], broken())).toBe('ok');
    expect(repairs.count).toBe(1);
  });

  it('that only reads leaves nothing half done', async () => {
    const { repair, repairs } = repairOf('ok', broken());
    expect(await repair.again('get', ['t'], broken())).toBe('ok');
    await expect(repair.again('get', ['t'], broken())).rejects.toThrow('script failed');
    expect(repairs.count).toBe(0);
  });

  it('again and again is no damage: not everything is looked at for it each time', async () => {
    const { repair, repairs } = repairOf(broken(), broken(), broken(), broken());
    await expect(repair.again('lease', [], broken())).rejects.toThrow('script failed');
    await expect(repair.again('lease', [], broken())).rejects.toThrow('script failed');
    expect(repairs.count).toBe(1);
  });

  it('fails as it did when all cannot be made anew', async () => {
    const { repair, repairs } = repairOf(broken());
    repairs.fails = true;
    await expect(repair.again('lease', [], broken())).rejects.toThrow('script failed');
  });

  it('by anything but a record is not sent again from here', async () => {
    const { repair, asked } = repairOf('ok');
    const gone = new BackendUnavailableError('lease', new Error('closed'));
    await expect(repair.again('lease', [], gone)).rejects.toBe(gone);
    expect(asked).toEqual([]);
  });
});

// F63
it('tests that damage nothing are told of a call that broke off', async () => {
  const prefix = freshPrefix();
  const strict = redisForTests(inject('redisPlace'), { prefix });
  const raw = new Redis(inject('redisUrl'));
  atEnd(async () => {
    await strict.dispose();
    raw.disconnect();
  });
  await strict.setTime(1_800_000_000_000);
  await raw.set(`${prefix}:tasks`, 'x');
  await expect(strict.backend.inspect.get(['any'])).rejects.toThrow('script failed');
});

// F63
it('a text that cannot be read costs no task its place, and the lease goes on in the same call', async () => {
  const { kit, raw, prefix } = await emptied();
  await kit.addMany(6, { user: 'ann' });
  await kit.addMany(6, { user: 'bob' });
  const line = await raw.lrange(`${prefix}:line:ann`, 0, -1);
  const text = await raw.hgetBuffer(`${prefix}:tasks`, line[2] ?? '');
  await raw.hset(`${prefix}:tasks`, line[2] ?? '', (text ?? Buffer.alloc(0)).subarray(0, 40));
  await kit.worker('w');
  const first = await kit.lease(8, { worker: 'w' });
  const ids = first.map(({ id }) => id);
  expect(ids).toHaveLength(8);
  const before = line.filter((_, at) => at !== 2);
  const own = ids.filter((id) => line.includes(id)).sort();
  expect(own).toEqual(before.slice(0, own.length));
  await kit.backend.inspect.reconcile({ repair: true });
  expect((await kit.backend.inspect.reconcile({ repair: true })).drift).toEqual([]);
  expect((await kit.stats()).counts).toMatchObject({ queued: 3, started: 8 });
});

// F63
it('users of a class that their queue has forgotten have turns again', async () => {
  const { kit, raw, prefix } = await emptied();
  await kit.setUser('ann', { weight: 3 });
  const ids = await kit.addMany(3, { user: 'ann' });
  const key = `${prefix}:clock`;
  const known = await raw.hgetBuffer(key, 'q:default');
  // Its numbers alone, without the classes behind them.
  await raw.hset(key, 'q:default', (known ?? Buffer.alloc(0)).subarray(0, 26 * 8 + 1));
  await kit.worker('w');
  const { drift } = await kit.backend.inspect.reconcile({ repair: true });
  expect(drift).toContain('ready pw3 is not known to its queue');
  expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  expect(await kit.leaseIds(3, { worker: 'w' })).toEqual(ids);
});

it.each([
  ['a member of the rotation of parked names that no task has', 'parked-users:odd'],
  ['leases that are none', 'hot:w2'],
  // F63
])('%s stops no task', async (_, name) => {
  const store = await DamagedStore.make();
  const { raw, prefix } = store;
  const key = `${prefix}:${name}`;
  expect(await raw.exists(key)).toBe(1);
  if (name.startsWith('hot:')) await raw.set(key, 'x');
  else await raw.zadd(key, 1, Buffer.from([0xfe, 7, 1]));
  await store.serveQuietUser();
  await store.repair();
  expect((await store.repair()).drift).toEqual([]);
  await store.drain();
  expect(await store.unended()).toEqual([]);
  expect(await store.missing()).toEqual([]);
});

// F64
it('what comes after a clock was lost stands behind what came before', async () => {
  const { kit, raw, prefix } = await DamagedStore.make();
  const stampOf = async (id: string): Promise<string> => {
    return ((await raw.hget(`${prefix}:tasks`, id)) ?? '').slice(13, 25);
  };
  const before = await stampOf(await kit.add({ user: 'ann' }));
  await raw.del(`${prefix}:clock`);
  expect((await stampOf(await kit.add({ user: 'ann' }))) > before).toBe(true);
});

// F63
it('what a call had leased when it was broken off goes with its answer', async () => {
  const { kit, raw, prefix } = await emptied();
  await kit.addMany(2, { user: 'ann' });
  // Taken by all rules, behind the others.
  await kit.add({ id: 'odd', user: 'bob', cost: 2 });
  await kit.add({ id: 'lost', user: 'cat', level: 1, cost: 2 });
  await raw.del(`${prefix}:line1:cat`);
  await raw.set(`${prefix}:line1:cat`, 'x');
  await kit.worker('w');
  const leased = await kit.lease(9, { worker: 'w' });
  expect(leased.length).toBeGreaterThan(0);
  // None is held by a worker that was not told of it; what stands nowhere comes back.
  expect(new Set(leased.map(({ id }) => id))).toEqual(new Set(await raw.hkeys(`${prefix}:hot:w`)));
  await kit.backend.inspect.reconcile({ repair: true });
  const rest = await kit.lease(9, { worker: 'w' });
  expect(new Set([...leased, ...rest].map(({ id }) => id)).size).toBe(4);
  expect(leased.length + rest.length).toBe(4);
  expect((await kit.backend.inspect.reconcile({ repair: true })).drift).toEqual([]);
});

// F64
it('a key that is given back holds for the time that it was to hold for', async () => {
  const { store, kit, raw, prefix } = await emptied();
  const key = { policy: 'return', ttlMs: 300_000 } as const;
  const timed = { user: 'kim', idempotency: { key: 'timed', ...key } };
  const over = { user: 'kim', idempotency: { key: 'over', ...key } };
  const throttle = { policy: 'throttle', perMs: 300_000, trailing: false } as const;
  const slow = { user: 'kim', idempotency: { key: 'slow', ...throttle } };
  const ids = [await kit.add(over)];
  await kit.runToEnd(ids[0] ?? '');
  ids.push(await kit.add(timed), await kit.add(slow));
  await raw.del(await raw.keys(`${prefix}:key:*`));
  await store.repair();
  expect((await store.repair()).drift).toEqual([]);
  for (const leased of await kit.lease(2)) await kit.finish(leased);
  for (const [at, fields] of [over, timed, slow].entries()) {
    expect(await kit.sendOne(fields)).toMatchObject({ kind: 'existing', id: ids[at] });
  }
  await kit.advance(300_000);
  for (const fields of [over, timed, slow]) {
    expect(await kit.sendOne(fields)).toMatchObject({ kind: 'created' });
  }
  expect((await store.repair()).drift).toEqual([]);
});

// F132
it.each([
  ['gone', (raw: Redis, key: string) => raw.del(key)],
  ['unreadable', (raw: Redis, key: string) => raw.hset(key, 'k', 'x')],
  ['of another type', (raw: Redis, key: string) => raw.set(key, 'x')],
] as const)('a key that is %s comes back with its time to live', async (_what, damage) => {
  const { store, kit, raw, prefix } = await emptied();
  const policies = [
    { policy: 'return', ttlMs: 300_000 },
    { policy: 'reject', ttlMs: 300_000 },
    { policy: 'run-once-more', ttlMs: 300_000 },
    { policy: 'throttle', perMs: 300_000, trailing: false },
    { policy: 'return' },
  ] as const;
  for (const policy of policies) {
    const fields = { user: 'kim', idempotency: { key: JSON.stringify(policy), ...policy } };
    await kit.runToEnd(await kit.add(fields));
  }
  for (const policy of policies) {
    await kit.add({ user: 'lee', idempotency: { key: JSON.stringify(policy), ...policy } });
  }
  const keys = (await raw.keys(`${prefix}:key:*`)).toSorted();
  const lives = async () =>
    Promise.all(keys.map(async (key) => [key, await raw.pttl(key)] as const));
  const before = await lives();
  for (const key of keys) await damage(raw, key);
  await store.repair();
  expect((await store.repair()).drift).toEqual([]);
  for (const [at, [key, ms]] of (await lives()).entries()) {
    const wanted = before[at]?.[1] ?? 0;
    // What has ended and holds for no time is kept for a late resend alone: that one is a new task then.
    if (key.includes('"return"}') && wanted > 0) continue;
    expect([key, ms]).toEqual([key, wanted < 0 ? -1 : expect.closeTo(wanted, -4)]);
  }
});

// F132
it.each([
  ['is gone', (raw: Redis, key: string) => raw.del(key)],
  ['has unreadable fields', damageFields],
  ['is of another type', (raw: Redis, key: string) => raw.set(key, 'x', 'KEEPTTL')],
] as const)('no key that was to expire stays for ever, once it %s', async (_what, damage) => {
  const { store, raw, prefix, kit } = await emptied();
  await kit.backend.graphs.save('g'.repeat(40), '{}');
  const event = { name: 'e', key: 'k', payload: '1', eventId: 'e1', keepMs: 60_000 };
  await kit.backend.waits.publish('ann', event, []);
  await kit.add();
  await kit.fail(await kit.leaseOne());
  const expiring: string[] = [];
  for (const key of await raw.keys(`${prefix}:*`)) {
    if ((await raw.pttl(key)) > 0) expiring.push(key);
  }
  expect(expiring.length).toBeGreaterThan(2);
  for (const key of expiring) await damage(raw, key);
  await store.repair();
  for (const key of expiring) {
    const ms = await raw.pttl(key);
    expect([key, ms === -1]).toEqual([key, false]);
  }
  expect((await store.repair()).drift).toEqual([]);
  for (const key of await raw.keys(`${prefix}:set-aside:*`)) expect(key).toBe('');
});

async function damageFields(raw: Redis, key: string): Promise<void> {
  if ((await raw.type(key)) !== 'hash') return;
  for (const field of await raw.hkeys(key)) await raw.hset(key, field, 'x');
}

// F64
it('a key that another task has taken over is not given back', async () => {
  const { kit, raw, prefix } = await emptied();
  const key = (ttlMs: number) =>
    ({ user: 'kim', idempotency: { key: 'k', policy: 'run-once-more', ttlMs } }) as const;
  const first = await kit.add(key(300_000));
  const leased = await kit.leaseOne();
  expect(leased.id).toBe(first);
  const heir = await kit.add(key(300_000));
  await kit.finish(leased);
  await raw.del(await raw.keys(`${prefix}:key:*`));
  await kit.backend.inspect.reconcile({ repair: true });
  expect(await kit.sendOne(key(300_000))).toMatchObject({ kind: 'existing', id: heir });
});

// F64
it('indexes are made anew beside workers that go on, and nothing runs twice', async () => {
  const store = await DamagedStore.make();
  const { kit, raw, prefix } = store;
  await kit.worker('w', { names: ['work', 'odd'] });
  const runs = new Map<string, number>();
  let isRepairing = true;
  const work = async (): Promise<void> => {
    for (let round = 0; isRepairing || round < 20; round++) {
      await kit.add({ user: `n${round % 7}` });
      const { leases } = await kit.leaseReply({ worker: 'w', limit: 4, queues: QUEUES });
      for (const { id, token } of leases) {
        runs.set(id, (runs.get(id) ?? 0) + 1);
        await kit.settle({ id, token }, { type: 'finish', result: 'null' });
      }
    }
  };
  const repair = async (): Promise<void> => {
    for (const family of ['ready:*', 'line*', 'users', 'leases', 'fair', 'deps:*', 'clock']) {
      const keys = await raw.keys(`${prefix}:${family}`);
      const kept = keys.filter((key) => !key.endsWith('-by-hand') && !key.includes(':lines'));
      if (kept.length > 0) await raw.del(kept);
      await store.repair();
    }
    isRepairing = false;
  };
  await Promise.all([work(), repair()]);
  await store.repair();
  expect((await store.repair()).drift).toEqual([]);
  await store.drain();
  expect(await store.unended()).toEqual([]);
  expect(await store.missing()).toEqual([]);
  expect([...runs].filter(([, count]) => count > 1)).toEqual([]);
});
