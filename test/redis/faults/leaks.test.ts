/** Connections, listeners, commands and keys: what is used is given back. */
import { getActiveResourcesInfo } from 'node:process';
import { Fairloom, silentLogger, task } from 'fairloom';
import { redis } from 'fairloom/redis';
import { describe, expect, it } from 'vitest';
import { rounds } from '../../support/rounds.ts';
import { adminOf, atEnd, freshPrefix, kitOn, manualKitOn, ownServer, RETENTION } from './kit.ts';

const work = task('work', (n: number) => n);

async function connections(admin: ReturnType<typeof adminOf>): Promise<number> {
  const text = String(await admin.client('LIST'));
  return text.trim().split('\n').length;
}

// O95.8
describe('connections', () => {
  it('are back at the base after 200 times open and close', async () => {
    const server = await ownServer();
    const admin = adminOf(server.url);
    await admin.ping();
    const base = await connections(admin);
    const sockets = (): number =>
      getActiveResourcesInfo().filter((name) => /TCP|Socket/i.test(name)).length;
    const before = sockets();
    for (let count = 0; count < 200; count++) {
      const loom = new Fairloom({
        backend: redis(server.url, { prefix: freshPrefix() }),
        tasks: [work],
        log: silentLogger,
      });
      const worker = loom.worker({ concurrency: 1 });
      await worker.start();
      if (count % 10 === 0) {
        expect(await (await loom.enqueue(work, count)).result({ timeout: '5s' })).toBe(count);
      }
      await loom.close();
    }
    await expect.poll(() => connections(admin)).toBe(base);
    await expect.poll(sockets).toBeLessThanOrEqual(before);
  });

  // O95.7
  it('one client for a thousand queues and ten thousand waits, without listeners piling up', async () => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', note);
    atEnd(() => void process.off('warning', note));
    const server = await ownServer();
    const kit = await kitOn(server.url);
    for (let queue = 0; queue < 1_000; queue++) await kit.add({ queue: `q${queue}` });
    const over = new AbortController();
    await kit.worker('w');
    await Promise.all(
      Array.from({ length: 10_000 }, () => kit.backend.inspect.waitForEnd('none', 1, over.signal)),
    );
    for (let count = 0; count < 500; count++) {
      await kit.backend.workers.waitForWork('w', 0, over.signal);
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual([]);
    expect(await connections(adminOf(server.url))).toBeLessThanOrEqual(5);
  });
});

it('a backend that many clients share is closed without a warning', async () => {
  const server = await ownServer();
  const backend = redis(server.url);
  const looms = Array.from({ length: 20 }, () => new Fairloom({ backend, log: silentLogger }));
  await Promise.all(looms.map((loom) => loom.stats()));
  const warned: Error[] = [];
  const note = (warning: Error): void => void warned.push(warning);
  process.on('warning', note);
  try {
    await Promise.all(looms.map((loom) => loom.close()));
    // Warnings are told in a turn of their own.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', note);
  }
  expect(warned).toEqual([]);
});

describe('idle workers', () => {
  it('ten of them send at most five commands a second', async () => {
    const server = await ownServer();
    const admin = adminOf(server.url);
    const prefix = freshPrefix();
    for (let count = 0; count < 10; count++) {
      const loom = new Fairloom({
        backend: redis(server.url, { prefix }),
        tasks: [work],
        log: silentLogger,
      });
      atEnd(() => loom.close());
      const worker = loom.worker({ id: `w${count}` });
      await worker.start();
    }
    // The start is not idle yet: every worker has leased once and waits.
    await expect
      .poll(async () => (await admin.info('clients')).includes('blocked_clients:10'))
      .toBe(true);
    await admin.config('RESETSTAT');
    const SECONDS = 10;
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
    const stats = await admin.info('commandstats');
    const calls = ['fcall', 'evalsha', 'blpop'].map((name) =>
      Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0),
    );
    const perSecond = calls.reduce((sum, count) => sum + count, 0) / SECONDS;
    expect(perSecond).toBeLessThanOrEqual(5);
    expect(perSecond).toBeGreaterThan(0);
  });
});

// O95.9
describe('keys', () => {
  it('values of XCom leave none once their time is over', async () => {
    const server = await ownServer();
    const admin = adminOf(server.url);
    const kit = await manualKitOn(server.url);
    await kit.add();
    const { id, token } = await kit.leaseOne();
    const xcom = ['é:1', '2', ' '].map((name) => ({
      type: 'push' as const,
      place: { user: name, namespace: name, key: name },
      text: '1',
      ttlMs: 60_000,
    }));
    const settlements = [{ id, token, decision: { type: 'finish', result: '' } as const, xcom }];
    await kit.backend.tasks.settle({ worker: 'w', settlements });
    await kit.backend.xcom.write(xcom.slice(0, 1));
    expect(await admin.keys('*xcom*')).toHaveLength(10);
    await kit.advance(60_000);
    expect(await admin.keys('*xcom*')).toEqual([]);
    await kit.backend.xcom.write(xcom);
    await kit.backend.xcom.write(xcom.map(({ place }) => ({ type: 'delete', place })));
    expect(await admin.keys('*xcom*')).toEqual([]);
  });

  it('an input that another one has replaced leaves none', async () => {
    const server = await ownServer();
    const admin = adminOf(server.url);
    const kit = await manualKitOn(server.url);
    const long = JSON.stringify('l'.repeat(5_000));
    const id = await kit.add({ payload: long });
    await kit.fail(await kit.leaseOne());
    const [key = ''] = await admin.keys('*payload*');
    expect(await admin.call('HKEYS', key)).toEqual([id]);
    await kit.backend.tasks.redrive(id, { payload: '1', options: '{}' });
    expect(await admin.keys('*payload*')).toEqual([]);
    await kit.fail(await kit.leaseOne());
    await kit.backend.tasks.redrive(id, { payload: long, options: '{}' });
    await kit.fail(await kit.leaseOne());
    await kit.backend.tasks.remove(id);
    expect(await admin.keys('*payload*')).toEqual([]);
  });

  it('users with one task each, drained and past retention, leave none', async () => {
    const server = await ownServer();
    const admin = adminOf(server.url);
    const kit = await manualKitOn(server.url);
    await kit.add({ user: 'first' });
    await kit.serve(1);
    await kit.advance(RETENTION.finishedMs + 60_000);
    await kit.rest();
    const base = await admin.keys('*');
    const USERS = rounds(100_000, 20_000);
    for (let from = 0; from < USERS; from += 1_000) {
      const users = Array.from({ length: 1_000 }, (_, at) => ({ user: `user-${from + at}` }));
      await kit.backend.tasks.enqueue(
        users.map((fields) => kit.task(fields)),
        { atomic: false },
      );
    }
    expect(await kit.serve(USERS, { batch: 40 })).toHaveLength(USERS);
    await kit.jump(RETENTION.finishedMs + 60_000);
    await kit.rest();
    const left = await admin.keys('*');
    expect(left.toSorted()).toEqual(base.toSorted());
    expect((await kit.stats()).totals.finished).toBe(USERS + 1);
  });
});
