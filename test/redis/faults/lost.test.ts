/** Replies, requests and connections that get lost between a client and the server. */
import { describe, expect, it } from 'vitest';
import type { FaultProxy } from '../../support/redis/fault-proxy.ts';
import { isScript } from '../../support/redis/scripts.ts';
import { codeOf, kitOn, ownProxy, ownServer, proxyTo } from './kit.ts';

/** Loses the reply of the nth script from now on, and cuts the connection. */
function loseReply(proxy: FaultProxy, nth = 1): () => number {
  let seen = 0;
  proxy.setRule(([name]) => {
    if (!isScript(name)) return undefined;
    seen += 1;
    return seen === nth ? { type: 'lose-reply', cut: true } : undefined;
  });
  return () => seen;
}

/** Calls until it is answered, as callers that know it to be safe do. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error && 'retryable' in error && error.retryable)) throw error;
    }
  }
}

describe('the reply of an enqueue is lost', () => {
  // O7
  it('of a thousand tasks: each is stored once', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    let scripts = 0;
    proxy.setRule(([name]) => {
      if (!isScript(name)) return undefined;
      scripts += 1;
      return scripts % 2 === 1 ? { type: 'lose-reply', cut: true } : undefined;
    });
    const ROUNDS = 20;
    const EACH = 50;
    for (let round = 0; round < ROUNDS; round++) {
      const tasks = Array.from({ length: EACH }, (_, at) => kit.task({ id: `t${round}-${at}` }));
      await insist(() => kit.backend.tasks.enqueue(tasks, { atomic: false }));
    }
    proxy.setRule(undefined);
    expect((await kit.stats()).totals.enqueued).toBe(ROUNDS * EACH);
    expect((await kit.stats()).counts.queued).toBe(ROUNDS * EACH);
  });

  // O7
  it('one by one, forty times', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    for (let count = 0; count < 40; count++) {
      loseReply(proxy);
      await insist(() => kit.sendOne({ id: `t${count}` }));
    }
    proxy.setRule(undefined);
    expect((await kit.stats()).totals.enqueued).toBe(40);
  });

  // O7
  it('under an idempotency key that had an owner: the same owner is named', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    const idempotency = { key: 'k', policy: 'return' } as const;
    const owner = await kit.add({ idempotency });
    loseReply(proxy);
    expect(await insist(() => kit.sendOne({ idempotency }))).toMatchObject({
      kind: 'existing',
      id: owner,
    });
  });

  // O19
  it('a large batch whose connection breaks at each step is stored whole or not at all', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    const batch = (name: string) =>
      Array.from({ length: 700 }, (_, at) => kit.task({ id: `${name}-${at}` }));
    for (let nth = 1; ; nth++) {
      const tasks = batch(`b${nth}`);
      const seen = loseReply(proxy, nth);
      const replies = await insist(() => kit.backend.tasks.enqueue(tasks, { atomic: true }));
      expect(replies).toHaveLength(700);
      proxy.setRule(undefined);
      expect((await kit.stats()).totals.enqueued).toBe(nth * 700);
      if (seen() < nth) break;
    }
    await kit.rest();
    const { counts } = await kit.stats();
    expect(counts.queued).toBe((await kit.stats()).totals.enqueued);
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });
});

describe('the reply of a lease is lost', () => {
  // O8
  it('the same request again is answered with the same leases', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    await kit.addMany(10);
    await kit.worker('w');
    const request = kit.request({ limit: 4 });
    loseReply(proxy);
    expect(await codeOf(kit.backend.tasks.lease(request))).toBe('BACKEND_UNAVAILABLE');
    const { leases } = await kit.backend.tasks.lease(request);
    expect(leases).toHaveLength(4);
    expect((await kit.stats()).counts).toMatchObject({ started: 4, queued: 6 });
  });

  // O8
  it('from a worker that is heard of no more, the tasks go to others after the lease', async () => {
    const { url } = await ownServer();
    const proxy = await proxyTo(url);
    const lost = await kitOn(proxy.url, 'faults-o8');
    const other = await kitOn(url, 'faults-o8');
    const id = await lost.add();
    await lost.worker('w');
    loseReply(proxy);
    expect(await codeOf(lost.lease(1, { leaseMs: 300 }))).toBe('BACKEND_UNAVAILABLE');
    expect(await other.state(id)).toBe('started');
    await expect.poll(() => other.leaseIds(1, { worker: 'v' })).toEqual([id]);
    await other.backend.tasks.cancel(id, { type: 'request' });
  });

  it('extend tells the worker of leases that it does not know', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    const [known] = await kit.addMany(2);
    const leased = await kit.leaseOne();
    loseReply(proxy);
    expect(await codeOf(kit.lease(1))).toBe('BACKEND_UNAVAILABLE');
    proxy.setRule(undefined);
    const reply = await kit.backend.tasks.extend({
      worker: 'w',
      leaseMs: 60_000,
      leases: [leased],
    });
    expect(leased.id).toBe(known);
    expect(reply.unknown).toHaveLength(1);
  });
});

describe('the reply of a settle is lost', () => {
  // O46
  it('the same settle again is answered as the first, and counts once', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    const ids = await kit.addMany(3);
    const next = await kit.add({ dependsOn: ids });
    const leases = await kit.lease(3);
    for (const leased of leases) {
      loseReply(proxy);
      expect(await codeOf(kit.finish(leased))).toBe('BACKEND_UNAVAILABLE');
      expect(await kit.finish(leased)).toEqual({ kind: 'ok', state: 'finished', repeated: true });
    }
    expect(await kit.state(next)).toBe('queued');
    expect((await kit.stats()).totals.finished).toBe(3);
  });

  // O46
  it('a settle that leases: both answers are the same again', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    await kit.addMany(5);
    const [first] = await kit.lease(1);
    const settlements = [
      {
        id: first?.id ?? '',
        token: first?.token ?? '',
        decision: { type: 'finish', result: '1' } as const,
      },
    ];
    const request = { worker: 'w', settlements, lease: kit.request({ limit: 2 }) };
    loseReply(proxy);
    expect(await codeOf(kit.backend.tasks.settle(request))).toBe('BACKEND_UNAVAILABLE');
    const { answers, lease } = await kit.backend.tasks.settle(request);
    expect(answers).toEqual([{ kind: 'ok', state: 'finished', repeated: true }]);
    expect(lease?.leases).toHaveLength(2);
    expect((await kit.stats()).counts).toMatchObject({ started: 2, finished: 1, queued: 2 });
  });

  it('a cancel again says what the first one did', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    const id = await kit.add();
    loseReply(proxy);
    expect(await codeOf(kit.cancel(id))).toBe('BACKEND_UNAVAILABLE');
    expect(await kit.cancel(id)).toEqual({ kind: 'already-ended', state: 'canceled' });
    expect((await kit.stats()).totals.canceled).toBe(1);
  });
});

describe('requests get lost', () => {
  it('nothing is done, and the caller hears of it', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    await kit.add();
    proxy.setRule(() => ({ type: 'lose-request', cut: true }));
    expect(await codeOf(kit.sendOne())).toBe('BACKEND_UNAVAILABLE');
    expect(await codeOf(kit.lease(1))).toBe('BACKEND_UNAVAILABLE');
    proxy.setRule(undefined);
    expect((await kit.stats()).counts).toMatchObject({ queued: 1, started: 0 });
  });

  it('a connection that has gone silent is given up, not waited for', async () => {
    const proxy = await ownProxy();
    const kit = await kitOn(proxy.url);
    await kit.add();
    let frozen = true;
    proxy.setRule(() => (frozen ? { type: 'lose-request', cut: false } : undefined));
    expect(await codeOf(kit.stats())).toBe('BACKEND_UNAVAILABLE');
    frozen = false;
    expect((await kit.stats()).counts.queued).toBe(1);
  });
});
