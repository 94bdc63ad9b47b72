/** What each verb means to a server whose memory is full: each is called, on such a server, and what only reads also where nothing can be written. */
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import type { RedisClient } from '../../../src/backends/redis/connection/client.ts';
import { keysOf } from '../../../src/backends/redis/wire/keys.ts';
import { SCRIPTS, type Verb, WHEN_FULL } from '../../../src/backends/redis/wire/scripts.ts';
import { entriesIn } from '../../../src/base/records.ts';
import { Fairloom } from '../../../src/client/client.ts';
import type { Kit } from '../../../src/conformance/kit.ts';
import { demand, granted, store } from '../../../src/conformance/schedule-kit.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { Leased } from '../../../src/domain/port/backend.ts';
import type { Wait } from '../../../src/domain/task/wait.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import type { RedisServer } from '../../support/redis/redis-server.ts';
import { isScript } from '../../support/redis/scripts.ts';
import { adminOf, atEnd, backendOn, codeOf, freshPrefix, kitOn, ownServer } from './kit.ts';

/** Verbs that a client has sent. */
class Sent {
  readonly client: RedisClient;
  readonly verbs: Verb[] = [];
  /** Called before a script with this verb goes out. */
  before: ((verb: Verb) => Promise<void>) | undefined;

  constructor(url: string) {
    const redis = new Redis(url);
    atEnd(() => redis.disconnect());
    this.client = redis as unknown as RedisClient;
    const call = this.client.call.bind(this.client);
    this.client.call = async (command, args) => {
      const verb = isScript(command) ? verbOf(args) : undefined;
      if (verb !== undefined) {
        await this.before?.(verb);
        this.verbs.push(verb);
      }
      return call(command, args);
    };
  }
}

function verbOf([script, ...args]: readonly (string | number)[]): Verb | undefined {
  const named = /^fairloom_\w+?_(\w+)$/.exec(String(script))?.[1];
  const isWhole = named === undefined || named === 'careful';
  const word = isWhole ? String(args.at(-1)).replace(/^[!?]/, '') : named;
  return entriesIn(WHEN_FULL).find(([verb]) => verb === word)?.[0];
}

const PLACE = { user: 'ann', namespace: 'default', key: 'k' };
const PUSH = { type: 'push', place: PLACE, text: '1', ttlMs: 60_000 } as const;
const CHOICES = { choices: ['yes', 'no'], for: [], text: '{}' };
const ENTRY = '=s:1/';

/** A namespace in which every verb has something to do. */
async function sceneOn(server: RedisServer, prefix: string) {
  const sent = new Sent(server.url);
  const kit = await kitOn(sent.client, prefix);
  const { backend } = kit;
  await kit.worker('w', { queues: ['default', 'bulk', 'hands'] });
  const ended = await kit.add();
  await kit.runToEnd(ended);
  const dead = await kit.add();
  await kit.fail(await kit.leaseOne());
  const waits = await suspended(kit, (id) => ({ kind: 'signal', name: 'go', targets: [id] }));
  const asks = await suspended(kit, (id) => ({ kind: 'ask', ask: { id: `${id}.m1`, ...CHOICES } }));
  const run = await leasedBy(kit);
  const leased = await leasedBy(kit);
  const hands = { queue: 'hands' };
  await kit.leaseReply({
    wait: 'hand',
    queues: [{ queue: 'hands', weight: 1, pass: 0 }],
  });
  const told = backend.workers.waitForWork('w', 5_000, new AbortController().signal);
  const [reply] = await backend.tasks.enqueue([kit.task(hands)], { atomic: false });
  expect(reply?.kind).toBe('created');
  const handed = await told;
  if (typeof handed !== 'object') throw new TypeError(`was told ${handed}`);
  const later = await kit.add({ delayMs: 3_600_000 });
  const queued = await kit.addMany(4);
  await store(kit, 's');
  await store(kit, 'gone');
  await backend.xcom.write([PUSH]);
  await backend.graphs.save('g'.repeat(40), '{}');
  const raw = (verb: Verb, ...args: readonly (string | number)[]): Promise<unknown> =>
    sent.client.call('EVAL', [SCRIPTS.script.text, 1, keysOf(prefix).clock, ...args, verb]);
  return { sent, kit, backend, raw, ended, dead, waits, asks, run, leased, handed, later, queued };
}

type Scene = Awaited<ReturnType<typeof sceneOn>>;

async function leasedBy(kit: Kit): Promise<Leased> {
  await kit.add();
  return kit.leaseOne();
}

async function suspended(kit: Kit, waitFor: (id: string) => Wait['for']): Promise<string> {
  const leased = await leasedBy(kit);
  const answer = await kit.settle(leased, {
    type: 'suspend',
    waitFor: [],
    wakeOn: 'all',
    wait: { for: waitFor(leased.id), entry: ENTRY },
  });
  expect(answer).toMatchObject({ kind: 'ok' });
  return leased.id;
}

const soon = (): AbortSignal => AbortSignal.timeout(20);
const page = { limit: 10 };
const byRun = ({ id, token }: Leased) => ({ id, token });
const writes = ({ id }: Leased) => ({
  run: id,
  writes: [{ type: 'set', field: 'c:k', text: '1' } as const],
});

/** A call for each verb. */
const CALLS: Readonly<Record<Verb, (scene: Scene) => Promise<unknown>>> = {
  lag: ({ backend }) => backend.schedules.lag(),
  askGet: ({ backend, asks }) => backend.asks.get(`${asks}.m1`),
  askList: ({ backend }) => backend.asks.list({}, page),
  attempts: ({ backend, dead }) => backend.inspect.attempts(dead),
  dependents: ({ backend, dead }) => backend.inspect.dependents(dead, page),
  edges: ({ raw, dead }) => raw('edges', 'up', dead),
  errorGroups: ({ backend }) => backend.inspect.errorGroups(page),
  facts: ({ backend, dead }) => backend.inspect.facts(dead),
  get: ({ kit, dead }) => kit.record(dead),
  graphLoad: async ({ backend }) =>
    expect(await backend.graphs.load('g'.repeat(40))).toMatchObject({ kind: 'found' }),
  leases: async ({ backend }) => {
    const found = await backend.inspect.list({ state: 'started' }, page);
    expect(found.items.length).toBeGreaterThan(0);
  },
  list: async ({ backend }) => {
    const found = await backend.inspect.list({ state: 'failed' }, page);
    expect(found.items).toHaveLength(1);
  },
  queueList: ({ kit }) => kit.stats(),
  scheduleList: ({ backend }) => backend.schedules.list(page),
  seriesRead: ({ backend }) => backend.series.read({ step: 'minute' }),
  seriesTake: ({ raw }) => raw('seriesTake'),
  status: ({ backend, dead }) => backend.inspect.status([dead]),
  userGet: ({ kit }) => kit.user('ann'),
  userList: ({ backend }) => backend.users.list('default', page),
  userQueues: async ({ backend }) => {
    const found = await backend.users.everywhere(['ann']);
    expect(found.map(({ user }) => user)).toContain('ann');
  },
  workerList: async ({ backend }) => expect(await backend.workers.list()).not.toEqual([]),
  xcomList: ({ backend }) => backend.xcom.list({ user: 'ann', namespace: 'default' }, page),
  xcomRead: async ({ backend }) => expect((await backend.xcom.read([PLACE]))[0]?.text).toBe('1'),

  enqueue: ({ kit }) => kit.sendOne(),
  chunk: ({ kit }) => kit.send(...Array.from({ length: 1_500 }, () => ({}))),
  append: ({ backend, run }) =>
    backend.streams.append({ worker: 'w', ...byRun(run) }, {
      name: 's',
      node: '',
      call: 'c',
      attempt: 1,
      ordinal: 0,
      count: 1,
      text: '"x"',
    } as never),
  graphSave: ({ backend }) => backend.graphs.save('h'.repeat(40), '{}'),
  publish: ({ backend }) => {
    const event = { name: 'e', key: 'k', payload: '1', eventId: 'e1', keepMs: 60_000 };
    return backend.waits.publish('ann', event, []);
  },
  scheduleFire: async ({ backend, kit }) => {
    const { revision, next } = await demand(kit, 's');
    const slot = next?.slot ?? 0;
    const { fence } = await granted(kit);
    const firings = [{ slot, task: kit.task() }];
    return backend.schedules.fire({ id: 's', revision, slot, fence, firings, passed: 0 });
  },
  scheduleSet: ({ kit }) => store(kit, 'new'),
  seriesAdd: ({ raw }) => raw('seriesAdd', 'x', 'default'),
  seriesPut: ({ raw }) => raw('seriesPut', '0', 0, 2, 'default', '1'),
  xcomWrite: ({ backend }) => backend.xcom.write([{ ...PUSH, text: '2' }]),

  settle: ({ kit, leased }) => kit.finish(leased),
  extend: ({ backend, run }) =>
    backend.tasks.extend({ worker: 'w', leaseMs: 60_000, leases: [byRun(run)] }),
  lease: async ({ kit }) => expect(await kit.lease(1)).toHaveLength(1),
  checkpoint: async ({ backend, run }) =>
    expect(await backend.runs.checkpoint(byRun(run), { x: '1' })).toBe('ok'),
  writeChannel: async ({ backend, run }) =>
    expect(await backend.runs.writeChannel(byRun(run), writes(run))).toBe('ok'),
  pause: async ({ backend, run }) =>
    expect(await backend.runs.pause(run.id)).toMatchObject({ kind: 'ok' }),
  tick: ({ backend }) => backend.tasks.tick(),
  watch: ({ backend, later }) => backend.inspect.waitForEnd(later, 20, soon()),
  signal: async ({ backend, waits, kit }) => {
    const message = { name: 'go', payload: '1' };
    expect(await backend.waits.signal(waits, message)).toMatchObject({ kind: 'delivered' });
    expect(await kit.state(waits)).toBe('queued');
  },
  askAnswer: async ({ backend, asks, kit }) => {
    await backend.asks.answer(`${asks}.m1`, { choice: 'yes', by: 'bob', text: '{}', call: 'c1' });
    expect(await kit.state(asks)).toBe('queued');
  },
  cancel: async ({ kit, later }) =>
    expect(await kit.cancel(later)).toMatchObject({ kind: 'canceled' }),
  runNow: async ({ backend, later }) =>
    expect(await backend.tasks.runNow(later)).toMatchObject({ kind: 'ok' }),
  redrive: async ({ backend, dead }) =>
    expect(await backend.tasks.redrive(dead)).toMatchObject({ kind: 'ok' }),
  remove: async ({ backend, ended }) =>
    expect(await backend.tasks.remove(ended)).toMatchObject({ kind: 'ok' }),
  queueSet: ({ kit }) => kit.setQueue({ paused: true }),
  userSet: ({ kit }) => kit.setUser('ann', { paused: true }),
  scheduleDue: ({ kit }) => granted(kit),
  scheduleLeave: ({ backend }) => backend.schedules.leave('s1'),
  scheduleRemove: async ({ backend }) => expect(await backend.schedules.remove('gone')).toBe(true),
  register: ({ kit }) => kit.worker('new'),
  listJoin: ({ kit }) => kit.worker('listed', { assignedUsers: ['ann'] }),
  leaveLine: ({ backend }) => backend.workers.waitForWork('w', 5_000, soon()),
  reconcile: ({ backend }) => backend.inspect.reconcile({ repair: true }),
  unregister: ({ backend }) => backend.workers.unregister('w'),
  // Its parts were stored while there was room: see the test.
  seal: ({ kit }) => kit.send(...Array.from({ length: 1_500 }, () => ({ user: 'many' }))),
};

const VERBS = entriesIn(WHEN_FULL);

async function fullServer() {
  const server = await ownServer({ args: ['--maxmemory-policy', 'noeviction'] });
  const admin = adminOf(server.url);
  return {
    server,
    admin,
    fill: async (): Promise<void> => void (await admin.config('SET', 'maxmemory', '1')),
    empty: async (): Promise<void> => void (await admin.config('SET', 'maxmemory', '0')),
  };
}

describe('a server whose memory is full', () => {
  // F92
  it.each(VERBS)('%s: %s', async (verb, meaning) => {
    const { server, admin, fill } = await fullServer();
    const scene = await sceneOn(server, freshPrefix());
    const { sent, kit } = scene;
    if (verb === 'seal') sent.before = async (next) => (next === 'seal' ? fill() : undefined);
    else await fill();
    const keys = await admin.dbsize();
    sent.verbs.length = 0;
    const call = CALLS[verb](scene);
    if (meaning === 'grows') {
      expect(await codeOf(call.catch(fullOf))).toBe('BACKEND_FULL');
      // The lock of the scheduler may have come.
      expect(await admin.dbsize()).toBeLessThanOrEqual(keys + (verb === 'scheduleFire' ? 1 : 0));
    } else await call;
    expect(sent.verbs).toContain(verb);
    sent.before = undefined;
    expect((await kit.backend.inspect.reconcile({ repair: false })).drift).toEqual([]);
  });

  const work = task('work', { retries: 0 }, async (input: string) => input);

  // F92
  it('is opened, looked at, emptied and worked on by who comes anew', async () => {
    const { server, admin, fill, empty } = await fullServer();
    const prefix = freshPrefix();
    const loomOf = (): Fairloom => {
      const loom = new Fairloom({
        backend: backendOn(server.url, prefix),
        tasks: [work],
        log: silentLogger,
      });
      atEnd(() => loom.close({ timeout: '5s' }));
      return loom;
    };
    const first = loomOf();
    const handles = [];
    for (const who of ['a', 'b', 'c']) handles.push(await first.enqueue(work, who));
    await fill();
    const loom = loomOf();
    const health = await loom.health();
    expect(health).toMatchObject({ isHealthy: true });
    expect(health.problems?.join('\n')).toContain('memory is full');
    expect(await loom.stats()).toMatchObject({ counts: { queued: 3 } });
    await loom.queues.pause('default');
    await loom.queues.resume('default');
    expect(await codeOf(loom.enqueue(work, 'd'))).toBe('BACKEND_FULL');
    const worker = loom.worker({ concurrency: 1 });
    await worker.start();
    const results = await Promise.all(handles.map((handle) => handle.result({ timeout: '20s' })));
    expect(results).toEqual(['a', 'b', 'c']);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await empty();
    await expect.poll(() => codeOf(loom.enqueue(work, 'e', { id: 'e' }))).toBe('no error');
    expect((await loom.health()).problems).toBeUndefined();
  });
});

function fullOf(error: unknown): never {
  // What is sent past the session is named as the session would.
  if (error instanceof Error && error.message.startsWith('OOM')) {
    throw Object.assign(error, { code: 'BACKEND_FULL' });
  }
  throw error;
}

describe('where nothing can be written', () => {
  const READS = VERBS.flatMap(([verb, meaning]) => (meaning === 'reads' ? [verb] : []));

  // F92
  it('a replica is opened and read', async () => {
    const server = await ownServer();
    const scene = await sceneOn(server, 'fq');
    const replica = await ownServer({ args: ['--replicaof', '127.0.0.1', String(server.port)] });
    const looking = adminOf(replica.url);
    await expect
      .poll(async () => (await looking.info('replication')).includes('master_link_status:up'), {
        timeout: 20_000,
      })
      .toBe(true);
    await readAll(scene, replica.url);
    const loom = new Fairloom({ backend: backendOn(replica.url, 'fq'), log: silentLogger });
    expect((await loom.health()).problems?.join()).toContain('is a replica');
    expect(await codeOf(loom.queues.pause('default'))).toBe('BACKEND_UNAVAILABLE');
    await loom.close();
  });

  // F92
  it('an account that may only read opens and reads, also where nothing is stored', async () => {
    const server = await ownServer();
    const scene = await sceneOn(server, 'fq');
    const rules = [
      'on',
      '>secret',
      '~fq*',
      '~new*',
      '&fq*',
      '+@read',
      '+@connection',
      '+@scripting',
      '+info',
    ];
    await adminOf(server.url).call(
      'ACL',
      'SETUSER',
      'looker',
      ...rules,
      '+time',
      '+ping',
      '+hmget',
    );
    const url = server.url.replace('redis://', 'redis://looker:secret@');
    await readAll(scene, url);
    const empty = new Fairloom({ backend: backendOn(url, 'new'), log: silentLogger });
    expect(await empty.stats()).toMatchObject({ counts: { queued: 0 } });
    await empty.close();
  });

  async function readAll(scene: Scene, url: string): Promise<void> {
    const sent = new Sent(url);
    const kit = await kitOn(sent.client, 'fq');
    const raw: Scene['raw'] = (verb, ...args) =>
      sent.client.call('EVAL', [SCRIPTS.script.text, 1, keysOf('fq').clock, ...args, verb]);
    const there = { ...scene, sent, kit, backend: kit.backend, raw };
    for (const verb of READS) await CALLS[verb](there);
    for (const verb of READS) expect(sent.verbs).toContain(verb);
  }
});

describe('opening', () => {
  // F92
  it('a namespace that is there writes nothing', async () => {
    const server = await ownServer();
    await kitOn(server.url, 'fq');
    const admin = adminOf(server.url);
    const changes = async (): Promise<string> =>
      /rdb_changes_since_last_save:(\d+)/.exec(await admin.info('persistence'))?.[1] ?? '';
    const before = await changes();
    await kitOn(server.url, 'fq');
    expect(await changes()).toBe(before);
  });
});

// F92
it.each([
  [['--appendonly', 'yes'], true],
  [['--save', '60 1'], false],
  [[], false],
])('durable is what the server does: %j', async (args, durable) => {
  const server = await ownServer({ args });
  const loom = new Fairloom({ backend: backendOn(server.url, 'fq'), log: silentLogger });
  expect((await loom.health()).backend.durable).toBe(durable);
  await adminOf(server.url).config('SET', 'appendonly', durable ? 'no' : 'yes');
  await expect
    .poll(async () => (await loom.health()).backend.durable, { timeout: LIMITS.connectMs })
    .toBe(!durable);
  await loom.close();
});
