/** A lone task that is handed to a worker which waits: when it is, when not, and what becomes of it. */
import { describe, expect, inject, it } from 'vitest';
import { FLAGS } from '../../src/backends/redis/layout/codes.ts';
import { decodeHanded } from '../../src/backends/redis/wire/decode.ts';
import type { LeaseFields, TaskFields } from '../../src/conformance/kit.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Leased } from '../../src/domain/port/backend.ts';
import { adminOf, freshPrefix, manualKitOn, ownProxy, proxyTo } from './faults/kit.ts';

async function setUp(url = inject('redisUrl')) {
  const prefix = freshPrefix();
  const kit = await manualKitOn(url, undefined, prefix);
  const raw = adminOf();
  const key = (name: string): string => `${prefix}:${name}`;
  /** What the worker was told, without waiting for it. */
  const told = async (worker = 'w'): Promise<string | Leased | undefined> => {
    const [sign] = await raw.lrange(key(`wake:${worker}`), 0, -1);
    return sign === undefined || sign === '1' ? sign : decodeHanded(sign);
  };
  const fetched = async (worker = 'w'): Promise<Leased> => {
    const { signal } = new AbortController();
    const sign = await kit.backend.workers.waitForWork(worker, 10_000, signal);
    if (typeof sign !== 'object') throw new Error(`it was told ${sign}`);
    return sign;
  };
  const stand = async (fields: LeaseFields = {}): Promise<void> => {
    expect((await kit.leaseReply({ wait: 'hand', ...fields })).leases).toEqual([]);
  };
  /** Each alone: what a call for several stores is not handed over. */
  const enqueue = async (fields: TaskFields = {}): Promise<string> => {
    const task = kit.task(fields);
    const [reply] = await kit.backend.tasks.enqueue([task], { atomic: false });
    expect(reply?.kind).toBe('created');
    return task.id;
  };
  return { kit, raw, key, prefix, told, fetched, stand, enqueue };
}

type At = Awaited<ReturnType<typeof setUp>>;

describe('a lone task', () => {
  it('is handed to a worker that waits, which settles it as any other', async () => {
    const { kit, key, raw, fetched, stand, enqueue } = await setUp();
    await stand();
    const id = await enqueue({ user: 'ann', payload: '{"a":"ä\\u0000"}', options: '{"x":1}' });
    expect(await kit.state(id)).toBe('started');
    const handed = await fetched();
    expect(handed).toMatchObject({
      ...{ id, user: 'ann', queue: 'default', name: 'work', level: 3, options: '{"x":1}' },
      ...{ attempt: 1, losses: 0, releases: 0, payload: '{"a":"ä\\u0000"}', alone: false },
      ...{ leasedAt: kit.now(), leaseUntil: kit.now() + LIMITS.leaseMs, createdAt: kit.now() },
    });
    expect(await raw.exists(key(`attempts:${id}`))).toBe(0);
    expect(await kit.finish(handed)).toMatchObject({
      kind: 'ok',
      state: 'finished',
      repeated: false,
    });
    expect(await kit.queue()).toMatchObject({ counts: { started: 0, finished: 1, queued: 0 } });
    // Its end says that its text is all that is kept beside it.
    expect((await raw.hgetBuffer(key('ends'), id))?.[0]).toBeGreaterThanOrEqual(FLAGS.ending.bare);
    // Nothing is left of its turn.
    expect(await raw.keys(key('line:*'))).toEqual([]);
    expect(await raw.exists(key('users'), key('kept-tags'), key('leases'))).toBe(0);
  });

  it('moves virtual time as if it had stood in line', async () => {
    const [one, two] = [await setUp(), await setUp()];
    const states: unknown[] = [];
    for (const { kit, stand, enqueue, fetched, raw, key } of [one, two]) {
      await kit.worker('other');
      for (let nth = 0; nth < 3; nth++) {
        if (kit === one.kit) {
          await stand();
          await enqueue({ user: 'ann' });
          await fetched();
        } else {
          await enqueue({ user: 'ann' });
          await kit.leaseOne();
        }
      }
      const fair = await raw.hgetBuffer(key('clock'), 'q:default');
      states.push([fair?.readDoubleLE(0), fair?.readDoubleLE(8), fair?.readDoubleLE(16)]);
    }
    expect(states[0]).toEqual(states[1]);
    expect(states[0]).toEqual([3, 0, expect.any(Number)]);
  });

  it.each<[string, (at: At) => Promise<unknown>, user?: string]>([
    ['that asked for no more than a sign', ({ stand }) => stand({ wait: true })],
    [
      'of a queue with a rate',
      async ({ stand, kit }) => {
        await stand();
        await kit.setQueue({ rate: { limit: 9, perMs: 1_000, burst: 1 } });
      },
    ],
    [
      'of a queue with leases of its own',
      async ({ stand, kit }) => {
        await stand();
        await kit.setQueue({ leaseMs: 20_000 });
      },
    ],
    [
      'while its user has settings',
      async ({ stand, kit }) => {
        await stand();
        await kit.setUser('ann', { maxRunning: 5 });
      },
    ],
    [
      'with lists',
      async ({ stand, kit }) => {
        await kit.worker('w', { assignedUsers: ['ann', 'bob'], stealTargets: 'any' });
        await stand();
      },
      'zoe',
    ],
  ])('is not handed to a worker %s', async (_, prepare, user = 'ann') => {
    const at = await setUp();
    await prepare(at);
    await at.enqueue({ user });
    expect(await at.told()).toBe('1');
    expect(await at.kit.runnable()).toBe(1);
  });

  it.each<[string, TaskFields]>([
    ['is due later', { delayMs: 60_000 }],
    ['costs more', { cost: 2 }],
    ['is of another level', { level: 1 }],
    ['has a long payload', { payload: JSON.stringify('x'.repeat(LIMITS.apartBytes)) }],
    ['has a name that the worker does not know', { name: 'strange' }],
  ])('that %s is not', async (_, fields) => {
    const { stand, enqueue, kit, raw, key } = await setUp();
    await kit.worker('w', { names: ['work'] });
    await stand();
    const id = await enqueue(fields);
    expect(await kit.state(id)).not.toBe('started');
    expect(await raw.hlen(key('hot:w'))).toBe(0);
  });

  it('waits its turn while others are ready', async () => {
    const { stand, enqueue, kit } = await setUp();
    await stand({ worker: 'v' });
    await stand();
    const [one, two] = [await enqueue({ user: 'bob', cost: 2 }), await enqueue()];
    expect(await kit.states([one, two])).toEqual(['queued', 'queued']);
    expect(await kit.leaseIds(2, { worker: 'v' })).toEqual([one, two]);
  });

  it('waits while its queue is paused', async () => {
    const { stand, enqueue, kit } = await setUp();
    await kit.setQueue({ paused: true });
    await stand();
    const [one, two] = [await enqueue(), await enqueue({ user: 'bob' })];
    expect(await kit.states([one, two])).toEqual(['queued', 'queued']);
    await stand();
    await kit.setQueue({ paused: false });
    expect(await kit.states([one, two])).toEqual(['queued', 'queued']);
  });

  it('is not handed to a worker that was silent for long', async () => {
    const { stand, enqueue, kit } = await setUp();
    await stand();
    await kit.jump(7_001);
    expect(await kit.state(await enqueue())).toBe('queued');
  });
});

describe('a task that was handed over', () => {
  it('goes back uncounted when its worker does not fetch it', async () => {
    const { stand, enqueue, kit, raw, key } = await setUp();
    await stand();
    const id = await enqueue();
    await kit.advance(LIMITS.handMs);
    expect(await kit.state(id)).toBe('queued');
    expect(await raw.exists(key('wake:w'))).toBe(0);
    expect(await kit.leaseOne({ worker: 'other' })).toMatchObject({ id, attempt: 1, losses: 0 });
    expect(await raw.exists(key(`attempts:${id}`))).toBe(0);
  });

  it.each(['fetched', 'extended', 'looked for by a sweep'])(
    'stays where it is once it was %s, and is lost then as any other',
    async (how) => {
      const { stand, enqueue, kit, fetched } = await setUp();
      await stand();
      const id = await enqueue();
      const { token } = await fetched();
      const leases = [{ id, token }];
      const { leaseMs, handMs } = LIMITS;
      const extend = () => kit.backend.tasks.extend({ worker: 'w', leaseMs, leases });
      const isExtended = how === 'extended';
      if (isExtended) expect((await extend()).answers).toEqual(['ok']);
      await kit.advance(handMs);
      if (how === 'looked for by a sweep') await kit.backend.tasks.tick();
      await kit.advance(leaseMs - handMs - 1_000);
      expect(await kit.state(id)).toBe('started');
      await kit.advance(1_000);
      expect(await kit.leaseOne({ worker: 'other' })).toMatchObject({ id, losses: 1 });
      expect((await extend()).answers).toEqual(['lost']);
    },
  );

  it('stays with its worker while that asks for more, stands in line, and gets another', async () => {
    const { stand, enqueue, kit, fetched } = await setUp();
    await stand();
    const one = await enqueue();
    const first = await fetched();
    await stand();
    await kit.advance(LIMITS.handMs - 10);
    const two = await enqueue({ user: 'bob' });
    // A sweep looks for the first, and finds the second in the list.
    await kit.advance(10);
    await kit.backend.tasks.tick();
    expect(await kit.states([one, two])).toEqual(['started', 'started']);
    const second = await fetched();
    expect(second.id).toBe(two);
    for (const lease of [first, second])
      expect(await kit.finish(lease)).toMatchObject({ kind: 'ok' });
  });

  it('stays with its worker while that leases another', async () => {
    const { stand, enqueue, kit, fetched } = await setUp();
    await stand();
    const one = await enqueue();
    await fetched();
    const two = await enqueue({ user: 'bob' });
    expect(await kit.leaseOne()).toMatchObject({ id: two });
    expect(await kit.state(one)).toBe('started');
  });

  it('goes back when its worker asks for more before it has come, and is dropped when it comes', async () => {
    const proxy = await proxyTo();
    const { stand, kit, prefix, raw, key } = await setUp(proxy.url);
    const other = await manualKitOn(undefined, undefined, prefix);
    await stand();
    const { signal } = new AbortController();
    const told = kit.backend.workers.waitForWork('w', 10_000, signal);
    await expect.poll(() => proxy.pending).toBe(1);
    proxy.freeze();
    const [reply] = await other.backend.tasks.enqueue([other.task()], { atomic: false });
    expect(reply?.kind).toBe('created');
    // The server has sent it.
    await expect.poll(() => raw.exists(key('wake:w'))).toBe(0);
    const asked = kit.leaseOne();
    proxy.thaw();
    expect(await asked).toMatchObject({ attempt: 1, losses: 0, releases: 0 });
    await kit.backend.close();
    expect(await told).toBe('timeout');
  });

  it('goes back when its worker has got another one before, and the answer between is lost', async () => {
    const proxy = await ownProxy();
    const { stand, enqueue, kit, fetched } = await setUp(proxy.url);
    await stand({ requestId: 'request1' });
    await enqueue();
    await fetched();
    proxy.setRule((command) =>
      command.includes('request2') ? { type: 'lose-reply', cut: true } : undefined,
    );
    await expect(kit.leaseReply({ requestId: 'request2', wait: 'hand' })).rejects.toThrow();
    const id = await enqueue({ user: 'bob' });
    expect(await kit.state(id)).toBe('started');
    expect(await kit.leaseOne()).toMatchObject({ id });
  });

  it('hands the alarm of its worker to another that waits', async () => {
    const { stand, enqueue, kit, told } = await setUp();
    await kit.add({ delayMs: 60_000 });
    for (const worker of ['v', 'w']) await kit.worker(worker);
    await stand();
    await kit.advance(1);
    await stand({ worker: 'v' });
    await enqueue();
    expect(await told()).toMatchObject({ attempt: 1 });
    expect(await told('v')).toBe('1');
  });

  it('stays when the request that says that it has come is lost', async () => {
    const proxy = await ownProxy();
    const { stand, enqueue, kit, fetched } = await setUp(proxy.url);
    await stand({ requestId: 'request1' });
    const id = await enqueue();
    await fetched();
    proxy.setRule((command) =>
      command.includes('request2') ? { type: 'lose-request', cut: true } : undefined,
    );
    await expect(kit.leaseReply({ requestId: 'request2', wait: 'hand' })).rejects.toThrow();
    await stand({ requestId: 'request3' });
    await stand({ requestId: 'request4' });
    expect(await kit.state(id)).toBe('started');
  });

  it('goes back when the answer that brought it is lost, and its worker asks again', async () => {
    const proxy = await ownProxy();
    const { stand, enqueue, kit } = await setUp(proxy.url);
    let lost = 0;
    proxy.setRule(([word]) => {
      if (word?.toLowerCase() !== 'blpop') return undefined;
      lost++;
      return { type: 'lose-reply', cut: true };
    });
    await stand();
    const id = await enqueue();
    const { signal } = new AbortController();
    const told = kit.backend.workers.waitForWork('w', 10_000, signal);
    await expect.poll(() => lost).toBeGreaterThan(0);
    await expect.poll(() => proxy.pending).toBe(0);
    expect(await kit.state(id)).toBe('started');
    expect(await kit.leaseOne()).toMatchObject({ id, attempt: 1, losses: 0, releases: 0 });
    await kit.backend.close();
    expect(await told).toBe('timeout');
  });

  it.each([false, true])(
    'is of a worker that begins anew under its id (fetched: %s)',
    async (isFetched) => {
      const { stand, enqueue, kit, fetched, prefix } = await setUp();
      await stand();
      const id = await enqueue();
      if (isFetched) await fetched();
      const again = await manualKitOn(undefined, undefined, prefix);
      const [known] = await kit.backend.workers.list();
      if (known === undefined) throw new Error('it is registered');
      await again.backend.workers.register(known, { starts: true });
      expect(await kit.state(id)).toBe(isFetched ? 'started' : 'queued');
      if (!isFetched) return;
      const asked = await again.leaseReply({ requestId: 'another1', wait: 'hand' });
      expect(asked.leases).toEqual([]);
      await kit.advance(LIMITS.leaseMs);
      await kit.backend.tasks.tick();
      expect(await kit.leaseOne({ worker: 'other' })).toMatchObject({ id, losses: 1 });
    },
  );

  // F63
  it('is no damage, and neither is its worker, nor one that stands in line for another', async () => {
    const { stand, enqueue, kit, fetched } = await setUp();
    await stand();
    const id = await enqueue();
    await stand({ worker: 'v' });
    for (const repair of [false, true]) {
      expect(await kit.backend.inspect.reconcile({ repair })).toMatchObject({ drift: [] });
    }
    const handed = await fetched();
    expect(handed.id).toBe(id);
    for (const repair of [false, true]) {
      expect(await kit.backend.inspect.reconcile({ repair })).toMatchObject({ drift: [] });
    }
    expect(await kit.finish(handed)).toMatchObject({ kind: 'ok', repeated: false });
    expect((await kit.backend.workers.list()).map((one) => one.id).toSorted()).toEqual(['v', 'w']);
    await enqueue();
    expect(await fetched('v')).toMatchObject({ attempt: 1 });
  });

  it('is not taken from the worker that has it by now', async () => {
    const { stand, enqueue, kit } = await setUp();
    await stand();
    const id = await enqueue();
    await kit.advance(LIMITS.handMs);
    const lease = await kit.leaseOne({ worker: 'other' });
    expect(lease.id).toBe(id);
    await stand();
    expect(await kit.finish(lease)).toMatchObject({ kind: 'ok' });
  });

  it('is not told as unknown while it is on its way', async () => {
    const { stand, enqueue, kit } = await setUp();
    await kit.setUser('bob', {});
    await enqueue({ user: 'bob' });
    const leased = await kit.leaseOne();
    await stand();
    await enqueue();
    const reply = await kit.backend.tasks.extend({
      worker: 'w',
      leaseMs: 30_000,
      leases: [leased],
    });
    expect(reply).toMatchObject({ answers: ['ok'], unknown: [] });
  });

  it('is canceled like any that runs, also when it never began', async () => {
    const { stand, enqueue, kit } = await setUp();
    await stand();
    const id = await enqueue();
    expect(await kit.cancel(id)).toMatchObject({ kind: 'requested', worker: 'w' });
    await kit.advance(LIMITS.handMs);
    expect(await kit.state(id)).toBe('canceled');
  });

  it('is part of the next lease when it was not fetched before, in a usual step and in others', async () => {
    for (const fill of [0, 1, 2]) {
      const { stand, enqueue, kit, raw, key } = await setUp();
      await stand();
      const id = await enqueue();
      if (fill === 1) await kit.setUser('bob', { maxRunning: 3 });
      const { leases } = await kit.leaseReply({ wait: fill === 2 ? 'hand' : false });
      expect(leases).toMatchObject([{ id, attempt: 1, losses: 0, releases: 0 }]);
      const [lease] = leases;
      if (lease === undefined) throw new Error('there is one');
      expect(await raw.exists(key('wake:w'))).toBe(0);
      expect(await kit.finish(lease)).toMatchObject({ kind: 'ok' });
    }
  });

  it('is answered to the request that it was handed for, when that is sent again', async () => {
    const { stand, enqueue, kit, raw, key } = await setUp();
    await stand({ requestId: 'request1' });
    const id = await enqueue();
    const again = await kit.leaseReply({ requestId: 'request1', wait: 'hand' });
    expect(again.leases).toMatchObject([{ id }]);
    expect(await raw.exists(key('wake:w'))).toBe(0);
    expect(again.leases[0]?.token).toMatch(/-request1$/);
  });

  it('goes back when its worker is taken out before it has fetched it', async () => {
    const { stand, enqueue, kit, raw, key } = await setUp();
    await stand();
    const id = await enqueue();
    await kit.backend.workers.unregister('w');
    expect(await kit.state(id)).toBe('queued');
    expect(await raw.exists(key('wake:w'))).toBe(0);
    expect(await kit.leaseOne({ worker: 'v' })).toMatchObject({ id, attempt: 1, losses: 0 });
  });

  it('goes back when the wait for it is given up', async () => {
    const { stand, enqueue, kit } = await setUp();
    await stand();
    const id = await enqueue();
    const over = new AbortController();
    const wait = kit.backend.workers.waitForWork('w', 10_000, over.signal);
    over.abort();
    expect(await wait).toBe('timeout');
    expect(await kit.state(id)).toBe('queued');
  });
});
