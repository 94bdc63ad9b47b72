/** A namespace with every feature in it, and what may befall its keys. */
import { Redis } from 'ioredis';
import { expect, inject } from 'vitest';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { Kit, REFUSING_EDGES, type TaskFields } from '../../../src/conformance/kit.ts';
import { store } from '../../../src/conformance/schedule-kit.ts';
import type { ReconcileReport } from '../../../src/domain/port/inspection.ts';
import type { Leased } from '../../../src/domain/port/leasing.ts';
import { SeriesRow } from '../../../src/domain/series/series-row.ts';
import type { EdgePolicies, TaskState } from '../../../src/domain/task/task.ts';
import { atEnd, freshPrefix } from '../faults/kit.ts';
import { fillWaits } from './waiting.ts';

const YEAR = 365 * 86_400_000;
const START = Date.UTC(2026, 0, 5, 12);
const BLOCKS: EdgePolicies = { ...REFUSING_EDGES, onMissing: 'block' };
const ENDS: ReadonlySet<TaskState | 'missing'> = new Set(['finished', 'failed', 'canceled']);

/** One key as it was. */
interface Dump {
  readonly key: string;
  readonly bytes: Buffer;
}

/** A store that can be put back to where it was. */
export class DamagedStore {
  readonly kit: Kit;
  readonly raw: Redis;
  readonly prefix: string;
  accepted: readonly string[] = [];
  readonly #now: { at: number };
  readonly #dumps: Dump[] = [];

  private constructor(kit: Kit, raw: Redis, prefix: string, now: { at: number }) {
    this.kit = kit;
    this.raw = raw;
    this.prefix = prefix;
    this.#now = now;
  }

  static async make(): Promise<DamagedStore> {
    const prefix = freshPrefix();
    const manual = redisForTests(inject('redisPlace'), { prefix }, true);
    const raw = new Redis(inject('redisPlace'));
    atEnd(async () => {
      await manual.dispose();
      raw.disconnect();
    });
    const now = { at: START };
    const advance = async (ms: number): Promise<void> => {
      now.at += ms;
      await manual.setTime(now.at);
    };
    await advance(0);
    const { backend } = manual;
    const retention = { finishedMs: YEAR, failedMs: YEAR, canceledMs: YEAR };
    await backend.open({ retention });
    const close = (): Promise<void> => manual.dispose();
    const kit = new Kit({ backend, now: () => now.at, advance, close }, expect);
    const made = new DamagedStore(kit, raw, prefix, now);
    made.accepted = await fill(kit);
    made.#dumps.push(...(await made.#dump()));
    return made;
  }

  async keys(): Promise<readonly string[]> {
    const found = await this.raw.keys(`${this.prefix}:*`);
    return found.filter((key) => !/:(clock-by-hand|meta|damaged|set-aside:.*)$/.test(key)).sort();
  }

  async #dump(): Promise<readonly Dump[]> {
    const keys = await this.raw.keys(`${this.prefix}:*`);
    const bytes = await Promise.all(keys.map((key) => this.raw.dumpBuffer(key)));
    return keys.flatMap((key, at) => {
      const value = bytes[at];
      return value === undefined || value === null ? [] : [{ key, bytes: value }];
    });
  }

  /** Everything as it was when it was made. */
  async restore(): Promise<void> {
    const keys = await this.raw.keys(`${this.prefix}:*`);
    if (keys.length > 0) await this.raw.del(keys);
    await Promise.all(this.#dumps.map(({ key, bytes }) => this.raw.restore(key, 0, bytes)));
    await this.kit.shift(START + 60_000 - this.#now.at);
  }

  repair(): Promise<ReconcileReport> {
    return this.kit.backend.inspect.reconcile({ repair: true });
  }

  /**
   * A quiet user sends a task and is served, also after damage; how many leases that took. What a call that was broken
   * off has left half done is made anew in steps beside them, some 30.
   */
  async serveQuietUser(): Promise<number> {
    const { kit } = this;
    const id = kit.fresh('quiet');
    await kit.backend.tasks.enqueue([kit.task({ id, user: 'quiet' })], { atomic: false });
    for (let calls = 1; calls <= 60; calls++) {
      const leases = await this.#serve();
      if (leases.some((leased) => leased.id === id)) return calls;
    }
    throw new Error(`${id} of the quiet user waits`);
  }

  async #serve(): Promise<readonly Leased[]> {
    const { kit } = this;
    await kit.worker('w', { names: ['work', 'odd'] });
    const queues = ['default', 'bulk'].map((queue) => ({ queue, weight: 1, pass: 0 }));
    const reply = await kit.backend.tasks.lease(kit.request({ limit: 50, queues }));
    const { leases } = reply ?? { leases: [] };
    const decision = { type: 'finish', result: 'null' } as const;
    const settlements = leases.map(({ id, token }) => ({ id, token, decision }));
    if (leases.length > 0) await kit.backend.tasks.settle({ worker: 'w', settlements });
    return leases;
  }

  /** Lets time pass and works until nothing is left to do; then each that waits in vain gives up. */
  async drain(): Promise<void> {
    await this.kit.backend.runs.resume('paused');
    for (let rounds = 0; rounds < 8; rounds++) {
      for (let calls = 0; calls < 20; calls++) if ((await this.#serve()).length === 0) break;
      await this.kit.advance(30_000);
    }
    if ((await this.unended()).length === 0) return;
    await this.kit.jump(2_592_000_000);
    for (let calls = 0; calls < 20; calls++) if ((await this.#serve()).length === 0) break;
    await this.kit.advance(10_000);
  }

  /** Accepted tasks that are stored and have not ended. */
  async unended(): Promise<readonly string[]> {
    const states = await this.kit.states(this.accepted);
    const rows = this.accepted.map((id, at) => `${id}: ${states[at]}`);
    return rows.filter((_, at) => {
      const state = states[at] ?? 'missing';
      return state !== 'missing' && !ENDS.has(state);
    });
  }

  async missing(): Promise<readonly string[]> {
    const states = await this.kit.states(this.accepted);
    return this.accepted.filter((_, at) => states[at] === 'missing');
  }
}

/** Tasks of all kinds; their ids. */
async function fill(kit: Kit): Promise<readonly string[]> {
  const ids: string[] = [];
  const add = async (fields: TaskFields): Promise<string> => {
    const id = await kit.add(fields);
    ids.push(id);
    return id;
  };
  await kit.worker('w5', { names: ['work'] });
  for (let n = 0; n < 4; n++) await add({ id: `odd-${n}`, name: 'odd', user: 'eve' });
  await kit.lease(4, { worker: 'w5' });
  await kit.setUser('rob', { rate: { limit: 1, perMs: 60_000, burst: 1 } });
  for (const n of [1, 2]) await add({ id: `rob-${n}`, user: 'rob' });
  await kit.leaseMany(2, { worker: 'w3' });
  await kit.setUser('bob', { weight: 300, maxRunning: 5 });
  await kit.setUser('bob', { rate: { limit: 10, perMs: 1_000, burst: 10 } }, 'default');
  await kit.setQueue({ maxRunning: 1_000, priorityWeights: [1, 2, 4, 8, 16] });
  await kit.worker('w2');
  await kit.worker('listed', { assignedUsers: ['lea'], stealTargets: 'any' });
  for (const name of ['done', 'dead', 'gone', 'retried']) await add({ id: name, user: 'eve' });
  const leases = await kit.lease(4, { worker: 'w' });
  for (const leased of leases) {
    if (leased.id === 'done') await kit.finish(leased, '{"é":1}');
    else if (leased.id === 'dead') await kit.fail(leased);
    else if (leased.id === 'retried') await kit.retry(leased, 20_000);
  }
  await kit.cancel('gone');
  for (let n = 0; n < 5; n++) await add({ id: `started-${n}`, user: 'eve' });
  await kit.lease(5, { worker: 'w2' });
  for (let n = 0; n < 18; n++) {
    await add({ id: `line-${n}`, user: n % 3 === 0 ? 'bob' : 'ann', level: ((n % 6) + 1) as 1 });
    if (n % 4 === 0) await add({ id: `bulk-${n}`, user: 'ann', queue: 'bulk' });
  }
  for (let n = 0; n < 4; n++)
    await add({ id: `late-${n}`, user: `cat${n % 2}`, delayMs: 40_000 * (n + 1) });
  await add({ id: 'root', user: 'dan', delayMs: 30_000 });
  for (let n = 0; n < 3; n++) await add({ id: `leaf-${n}`, user: 'dan', dependsOn: ['root'] });
  await add({ id: 'join', user: 'dan', dependsOn: ['leaf-0', 'leaf-1', 'leaf-2'], join: true });
  await add({ id: 'after', user: 'dan', dependsOn: ['join', 'leaf-1'], edges: BLOCKS });
  await add({ id: 'early', user: 'dan', dependsOn: ['never'], edges: BLOCKS });
  await add({ id: 'reads', user: 'eve', dependsOn: ['done'] });
  await add({ id: 'holds', user: 'eve', dependsOn: ['dead'] });
  await add({ id: 'expires', user: 'fay', delayMs: 20_000, expiresInMs: 90_000 });
  await add({ id: 'keyed', user: 'fay', idempotency: { key: 'k', policy: 'return' } });
  await add({ id: 'long', user: 'fay', payload: JSON.stringify('x'.repeat(3_000)) });
  await add({ id: 'lea-1', user: 'lea' });
  await add({ id: 'run', user: 'gus' });
  const run = (await kit.leaseMany(100, { worker: 'w3' })).find(({ id }) => id === 'run');
  if (run !== undefined) {
    const lease = { id: run.id, token: run.token };
    await kit.backend.runs.checkpoint(lease, { a: '1' });
    const set = { type: 'set', field: 'c:a', text: '{"x":[]}' } as const;
    await kit.backend.runs.writeChannel(lease, { run: 'run', writes: [set] });
    const chunks = {
      name: 's',
      node: '',
      call: 'c',
      attempt: 1,
      ordinal: 0,
      count: 1,
      text: '1:1',
    };
    await kit.backend.streams.append({ worker: 'w3', ...lease }, { ...chunks, closes: false });
    await add({ id: 'step', user: 'gus', owner: 'run' });
    await add({ id: 'paused', user: 'gus', delayMs: 60_000 });
    await add({ id: 'aside', user: 'gus', owner: 'paused' });
    await kit.backend.runs.pause('paused');
    await kit.backend.runs.pausePart('aside', 'paused');
    await kit.settle(lease, { type: 'suspend', waitFor: ['step'], wakeOn: 'all' });
  }
  const row = new SeriesRow();
  row.count('started');
  await kit.backend.series.add([
    { queue: 'default', row },
    { queue: 'default', user: 'eve', row },
  ]);
  await fillWaits(kit, add, { user: 'wim', wakeAfterMs: 50_000 });
  for (let n = 0; n < 12; n++)
    await add({ id: `more-${n}`, user: `u${n % 3}`, level: n % 2 === 0 ? 3 : 5 });
  await fillOptional(kit, add);
  await store(kit, 'hourly', {}, 3_600_000);
  await kit.leaseReply({
    worker: 'idle',
    wait: true,
    limit: 1,
    queues: [{ queue: 'none', weight: 1, pass: 0 }],
  });
  return ids;
}

/** What few use: weights alone, spent rates, values, graphs; and as many users as no listpack holds. */
async function fillOptional(kit: Kit, add: (fields: TaskFields) => Promise<string>): Promise<void> {
  await kit.setUser('wes', { weight: 300 });
  for (let n = 0; n < 3; n++) await add({ id: `wes-${n}`, user: 'wes' });
  for (let n = 0; n < 25; n++) await add({ id: `plain-${n}`, user: `p${n}` });
  await kit.backend.graphs.save('h1', 'body');
  await add({ id: 'graph', user: 'gus', graph: 'h1' });
  const place = { user: 'ann', namespace: 'default', key: 'a' };
  await kit.backend.xcom.write([{ type: 'push', place, text: '1', ttlMs: YEAR }]);
  for (const id of ['one', 'two', 'three']) await kit.cancel(await kit.add({ id, user: 'eve' }));
  await kit.backend.tasks.remove('two');
}
