/** A server at its `maxmemory`: no new work, while everything that ends work goes on. */
import { describe, expect, it } from 'vitest';
import { Fairloom } from '../../../src/client/client.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Decision } from '../../../src/domain/port/backend.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { isScript } from '../../support/redis/scripts.ts';
import { adminOf, codeOf, kitOn, manualKitOn, ownServer, proxyTo, teach } from './kit.ts';

const ERROR = '{"name":"Error","message":"no"}';

const OOM = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
/** The worker's own record, the list of workers, and those of the one task that it had. */
const WORKER_KEYS = 6;

/** Every way to settle. */
const DECISIONS: readonly Decision[] = [
  { type: 'finish', result: JSON.stringify('r'.repeat(10_000)) },
  { type: 'retry', delayMs: 0, cause: { type: 'fatal', failure: 'error' }, error: ERROR },
  { type: 'retry', delayMs: 5_000, cause: { type: 'fatal', failure: 'error' }, error: ERROR },
  { type: 'dead-letter', cause: { type: 'fatal', failure: 'error' }, error: ERROR },
  { type: 'cancel', cause: { type: 'request', reason: 'asked' } },
  { type: 'release', cause: { type: 'shutdown' } },
  { type: 'release', cause: { type: 'shutdown' }, delayMs: 1_000 },
];

const nightly = task('nightly', async () => undefined);

async function fullServer() {
  const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
  const admin = adminOf(server.url);
  const kit = await kitOn(server.url);
  return {
    kit,
    admin,
    /** From now on every write that needs memory is refused. */
    fill: () => admin.config('SET', 'maxmemory', '1'),
    empty: () => admin.config('SET', 'maxmemory', '0'),
  };
}

// O95.3
describe('OOM with noeviction', () => {
  it('refuses new work whole, and takes it again when there is room', async () => {
    const { kit, admin, fill, empty } = await fullServer();
    await kit.add();
    await fill();
    const keys = await admin.dbsize();
    expect(await codeOf(kit.sendOne())).toBe('BACKEND_FULL');
    expect(await codeOf(kit.send({}, {}, {}))).toBe('BACKEND_FULL');
    const many = Array.from({ length: 1_000 }, () => ({}));
    expect(await codeOf(kit.send(...many))).toBe('BACKEND_FULL');
    expect(await codeOf(kit.sendOne({ idempotency: { key: 'k', policy: 'return' } }))).toBe(
      'BACKEND_FULL',
    );
    expect(await codeOf(kit.sendOne({ delayMs: 5_000 }))).toBe('BACKEND_FULL');
    expect(await admin.dbsize()).toBe(keys);
    expect((await kit.stats()).totals.enqueued).toBe(1);
    await empty();
    expect(await kit.sendOne()).toMatchObject({ kind: 'created' });
  });

  it('refuses new values, and takes values away and with the end of a task', async () => {
    const { kit, admin, fill, empty } = await fullServer();
    const { xcom, tasks } = kit.backend;
    const place = (key: string) => ({ user: 'ann', namespace: 'default', key });
    const push = (key: string) =>
      ({ type: 'push', place: place(key), text: '1', ttlMs: 60_000 }) as const;
    await xcom.write([push('a'), push('b')]);
    await kit.add();
    const { id, token } = await kit.leaseOne();
    await fill();
    const keys = await admin.dbsize();
    const drop = { type: 'delete', place: place('a') } as const;
    expect(await codeOf(xcom.write([drop, push('c')]))).toBe('BACKEND_FULL');
    expect(await admin.dbsize()).toBe(keys);
    await xcom.write([drop]);
    const decision = { type: 'finish', result: '1' } as const;
    const settlements = [{ id, token, decision, xcom: [push('c')] }];
    expect((await tasks.settle({ worker: 'w', settlements })).answers).toMatchObject([
      { state: 'finished' },
    ]);
    const texts = (await xcom.read(['a', 'b', 'c'].map(place))).map((value) => value?.text);
    expect(texts).toEqual([undefined, '1', '1']);
    await empty();
    await xcom.write([push('a')]);
  });

  it.each([2, 3])('a large batch that stops at script %d leaves nothing behind', async (nth) => {
    const server = await ownServer();
    const admin = adminOf(server.url);
    await teach(server.url);
    const proxy = await proxyTo(server.url);
    const kit = await manualKitOn(proxy.url);
    await kit.add();
    const keys = await admin.dbsize();
    let scripts = 0;
    proxy.setRule(([name]) => {
      if (!isScript(name)) return undefined;
      scripts += 1;
      return scripts < nth ? undefined : { type: 'answer', reply: OOM };
    });
    const many = Array.from({ length: 1_500 }, () => ({ user: 'many' }));
    expect(await codeOf(kit.send(...many))).toBe('BACKEND_FULL');
    proxy.setRule(undefined);
    expect(await kit.lease(10)).toHaveLength(1);
    await kit.advance(LIMITS.submissionMs + LIMITS.outagePauseMs);
    await kit.rest();
    expect((await kit.stats()).counts).toMatchObject({ deferred: 0, queued: 1 });
    // The record of the worker that has leased.
    expect(await admin.dbsize()).toBeLessThanOrEqual(keys + WORKER_KEYS);
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });

  it('leases, settles in every way, and leases the next in the same call', async () => {
    const { kit, fill } = await fullServer();
    const ids = await kit.addMany(2 * DECISIONS.length);
    await fill();
    expect(await codeOf(kit.sendOne())).toBe('BACKEND_FULL');
    for (const decision of DECISIONS) {
      const leased = await kit.leaseOne();
      expect(await kit.settle(leased, decision)).toMatchObject({ kind: 'ok' });
    }
    const leased = await kit.lease(3);
    const lease = kit.request({ limit: 2 });
    const settlements = leased.map(({ id, token }) => ({ id, token, decision: DECISIONS[0] }));
    const reply = await kit.backend.tasks.settle({
      worker: 'w',
      settlements: settlements as { id: string; token: string; decision: Decision }[],
      lease,
    });
    expect(reply.answers.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
    expect(reply.lease?.leases).toHaveLength(2);
    expect((await kit.states(ids)).includes('missing')).toBe(false);
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });

  it('extends, sweeps, promotes, cancels, redrives and removes', async () => {
    const { kit, fill } = await fullServer();
    const later = await kit.add({ delayMs: 300 });
    const dead = await kit.add();
    await kit.fail(await kit.leaseOne());
    const gone = await kit.add();
    await kit.runToEnd(gone);
    await kit.addMany(3);
    await fill();
    const [kept, lost] = await kit.lease(2, { leaseMs: 200 });
    const leases = [{ id: kept?.id ?? '', token: kept?.token ?? '' }];
    const extended = await kit.backend.tasks.extend({ worker: 'w', leaseMs: 60_000, leases });
    expect(extended.answers).toEqual(['ok']);
    await expect
      .poll(async () => {
        await kit.rest();
        return kit.states([lost?.id ?? '', later]);
      })
      .toEqual(['queued', 'queued']);
    expect(await kit.cancel(kept?.id ?? '')).toMatchObject({ kind: 'requested' });
    expect(await kit.cancel(later)).toMatchObject({ kind: 'canceled' });
    expect(await kit.backend.tasks.redrive(dead)).toMatchObject({ kind: 'ok' });
    expect(await kit.backend.tasks.remove(later)).toMatchObject({ kind: 'ok' });
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });

  it('releases the dependents of what ends', async () => {
    const { kit, fill } = await fullServer();
    const first = await kit.add();
    const waiting = await Promise.all(
      Array.from({ length: 300 }, () => kit.add({ dependsOn: [first] })),
    );
    await fill();
    await kit.runToEnd(first);
    await kit.rest();
    expect(new Set(await kit.states(waiting))).toEqual(new Set(['queued']));
  });

  // F72
  it('pauses, resumes and removes schedules, users and queues, and takes values away', async () => {
    const { kit, fill, empty } = await fullServer();
    const { backend } = kit;
    const loom = new Fairloom({ backend, tasks: [nightly], log: silentLogger });
    await loom.schedules.set('s', { task: nightly, cron: '@daily' });
    await loom.schedules.set('gone', { task: nightly, cron: '@daily' });
    await loom.xcom.push('k', 1);
    const { id } = await loom.enqueue(nightly, undefined, { delay: '1h' });
    await fill();
    expect(await loom.schedules.pause('s')).toMatchObject({ state: 'paused' });
    expect(await loom.schedules.resume('s')).toMatchObject({ state: 'active' });
    expect(await loom.schedules.remove('gone')).toBe(true);
    const added = loom.schedules.set('new', { task: nightly, cron: '@daily' });
    expect(await codeOf(added)).toBe('BACKEND_FULL');
    const changed = loom.schedules.set('s', { task: nightly, cron: '@hourly' });
    expect(await codeOf(changed)).toBe('BACKEND_FULL');
    await loom.users.pause('default');
    await loom.users.resume('default');
    await loom.queues.pause('default');
    await loom.xcom.delete('k');
    const over = new AbortController().signal;
    expect(await codeOf(backend.inspect.waitForEnd(id, 10, over))).toBe('no error');
    expect(await loom.tasks.cancel(id)).toMatchObject({ kind: 'canceled' });
    await loom.tasks.remove(id);
    await empty();
    await loom.close();
  });

  it('lets a worker come and go, and be woken', async () => {
    const { kit, fill, empty } = await fullServer();
    await kit.worker('idle');
    expect(await kit.lease(1, { worker: 'idle', wait: true })).toEqual([]);
    await fill();
    await kit.worker('other');
    expect(await kit.lease(1, { worker: 'other' })).toEqual([]);
    await kit.backend.workers.unregister('other');
    await empty();
    const woken = kit.backend.workers.waitForWork('idle', 5_000, new AbortController().signal);
    await kit.add();
    expect(await woken).toBe('woken');
  });
});

// O95.4
describe('eviction', () => {
  it('warns unless the policy is noeviction', async () => {
    const server = await ownServer({ args: ['--maxmemory-policy', 'allkeys-lru'] });
    const { info } = await kitOn(server.url);
    expect(info.warnings.join('\n')).toContain('allkeys-lru');
  });

  it.each([
    [['--appendonly', 'yes', '--appendfsync', 'always'], 'a crash loses no answered call', 0],
    [['--appendonly', 'yes', '--appendfsync', 'everysec'], 'about the last second', 0],
    [[], 'nothing is written', 1],
  ])('says the durability in force: %j', async (args, line, warnings) => {
    const server = await ownServer({ args });
    const { info } = await kitOn(server.url);
    expect(info.description).toContain(line);
    expect(info.warnings).toHaveLength(warnings);
  });
});
