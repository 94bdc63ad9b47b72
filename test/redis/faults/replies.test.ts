/** Replies that a server gives while it loads, fails over, is busy, or is no Redis at all. */
import { Fairloom, type FairloomError, task, type Worker } from 'fairloom';
import { redis } from 'fairloom/redis';
import { describe, expect, it } from 'vitest';
import type { Fault, FaultProxy } from '../../support/redis/fault-proxy.ts';
import { isScript } from '../../support/redis/scripts.ts';
import { atEnd, codeOf, freshPrefix, kitOn, proxyTo } from './kit.ts';

/** What servers say instead of an answer, as the whole reply. */
const REPLIES: Readonly<Record<string, string>> = {
  UNBLOCKED: '-UNBLOCKED force unblock from blocking operation, instance state changed\r\n',
  READONLY: "-READONLY You can't write against a read only replica.\r\n",
  LOADING: '-LOADING Redis is loading the dataset in memory\r\n',
  MASTERDOWN:
    "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
  CLUSTERDOWN: '-CLUSTERDOWN The cluster is down\r\n',
  TRYAGAIN: '-TRYAGAIN Multiple keys request during rehashing of slot\r\n',
  BUSY: '-BUSY Redis is busy running a script. You can only call SCRIPT KILL\r\n',
  OOM: "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
  NOAUTH: '-NOAUTH Authentication required.\r\n',
  NOPERM: '-NOPERM this user has no permissions\r\n',
  unknown: '-ERR something that was never seen before\r\n',
  null: '$-1\r\n',
  number: ':7\r\n',
  text: '$4\r\nwhat\r\n',
  'empty list': '*0\r\n',
  'nested list': '*2\r\n*1\r\n$1\r\nx\r\n*-1\r\n',
  garbage: 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n',
};

/** Replies after which the same call may succeed. */
const PASSING = [
  'READONLY',
  'LOADING',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'BUSY',
  'UNBLOCKED',
];

const isBlock = (name = ''): boolean => name.toUpperCase() === 'BLPOP';

/** The next `times` commands that `chosen` picks get the fault. */
function hurt(
  proxy: FaultProxy,
  fault: Fault,
  times: number,
  chosen: (name?: string) => boolean,
): () => number {
  let left = times;
  proxy.setRule(([name]) => {
    if (left === 0 || !chosen(name)) return undefined;
    left -= 1;
    return fault;
  });
  return () => left;
}

const work = task('work', { retries: 0 }, (n: number) => n + 1);
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

async function running(proxy: FaultProxy): Promise<{ loom: Fairloom; worker: Worker }> {
  const loom = new Fairloom({
    backend: redis(proxy.url, { prefix: freshPrefix() }),
    tasks: [work],
    log: QUIET,
  });
  const worker = loom.worker({ concurrency: 2, lease: '2s', grace: 500 });
  await worker.start();
  atEnd(async () => {
    proxy.setRule(undefined);
    await loom.close({ timeout: '3s' });
  });
  return { loom, worker };
}

describe('a worker goes on', () => {
  it.each(Object.keys(REPLIES))(
    // O14
    'when scripts are answered by %s',
    async (name) => {
      const proxy = await proxyTo();
      const { loom, worker } = await running(proxy);
      expect(await (await loom.enqueue(work, 1)).result({ timeout: '5s' })).toBe(2);
      const left = hurt(proxy, { type: 'answer', reply: REPLIES[name] ?? '' }, 4, isScript);
      const sent = insist(() => loom.enqueue(work, 2, { id: 'again' }));
      await expect.poll(left).toBe(0);
      const handle = await sent;
      expect(await handle.result({ timeout: '10s' })).toBe(3);
      expect(worker.running).toBe(0);
      expect((await loom.stats()).totals.finished).toBe(2);
    },
  );

  it.each(Object.keys(REPLIES))(
    // O14
    'when its blocking wait is answered by %s',
    async (name) => {
      const proxy = await proxyTo();
      const { loom } = await running(proxy);
      const left = hurt(proxy, { type: 'answer', reply: REPLIES[name] ?? '' }, 2, isBlock);
      // The wait that is out already is not hurt: cut it, so that the next one is.
      proxy.cut();
      await expect.poll(left).toBe(0);
      const handle = await insist(() => loom.enqueue(work, 1));
      expect(await handle.result({ timeout: '7s' })).toBe(2);
    },
  );

  it.each(['text', 'null', 'garbage'])(
    // O14
    'when a script ran and its reply is %s',
    async (name) => {
      const proxy = await proxyTo();
      const { loom } = await running(proxy);
      const handles = await Promise.all([1, 2, 3].map((n) => loom.enqueue(work, n)));
      const left = hurt(proxy, { type: 'replace', reply: REPLIES[name] ?? '' }, 3, isScript);
      await insist(() => loom.enqueue(work, 4, { id: 'hurt' }));
      await expect.poll(left).toBe(0);
      for (const handle of handles) {
        expect(typeof (await handle.result({ timeout: '15s' }))).toBe('number');
      }
      await expect.poll(async () => (await loom.stats()).counts.started).toBe(0);
    },
  );
});

describe('a result is kept', () => {
  it.each(['NOAUTH', 'OOM', 'LOADING'])(
    'while the server says %s, and is written then',
    async (name) => {
      const proxy = await proxyTo();
      const { loom } = await running(proxy);
      const handle = await loom.enqueue(work, 1);
      const left = hurt(proxy, { type: 'answer', reply: REPLIES[name] ?? '' }, 12, isScript);
      await expect.poll(left).toBe(0);
      expect(await handle.result({ timeout: '10s' })).toBe(2);
      expect((await loom.stats()).totals).toMatchObject({ finished: 1, lost: 0 });
    },
  );
});

describe('a caller is told', () => {
  // O95.5
  it.each(PASSING)('that %s passes', async (name) => {
    const proxy = await proxyTo();
    const kit = await kitOn(proxy.url);
    hurt(proxy, { type: 'answer', reply: REPLIES[name] ?? '' }, 9, isScript);
    const error = await kit.sendOne().catch((error: FairloomError) => error);
    expect(error).toMatchObject({ code: 'BACKEND_UNAVAILABLE', retryable: true });
    proxy.setRule(undefined);
    expect(await kit.sendOne()).toMatchObject({ kind: 'created' });
  });

  it('that the server is full', async () => {
    const proxy = await proxyTo();
    const kit = await kitOn(proxy.url);
    hurt(proxy, { type: 'answer', reply: REPLIES['OOM'] ?? '' }, 9, isScript);
    expect(await codeOf(kit.sendOne())).toBe('BACKEND_FULL');
  });

  it.each(['NOAUTH', 'NOPERM'])('that %s will not pass by itself', async (name) => {
    const proxy = await proxyTo();
    const kit = await kitOn(proxy.url);
    hurt(proxy, { type: 'answer', reply: REPLIES[name] ?? '' }, 9, isScript);
    expect(await codeOf(kit.sendOne())).toBe('BACKEND_UNSUPPORTED');
  });

  it.each(['null', 'number', 'text', 'garbage', 'unknown'])(
    'by an error, never by a made-up answer, when the reply is %s',
    async (name) => {
      const proxy = await proxyTo();
      const kit = await kitOn(proxy.url);
      await kit.sendOne();
      hurt(proxy, { type: 'answer', reply: REPLIES[name] ?? '' }, 99, isScript);
      for (const call of [
        () => kit.sendOne(),
        () => kit.lease(1),
        () => kit.finish({ id: 'a', token: '1-x' }),
        () => kit.stats(),
      ]) {
        expect(await codeOf(call())).not.toBe('no error');
      }
    },
  );
});

/** Calls until it is answered; refusals before are passed over. */
async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries > 20) throw error;
    }
  }
}
