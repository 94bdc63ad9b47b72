/** What is kept of waits is lost or spoilt: they are found again, and what came for them counts. */
import { describe, expect, inject, it } from 'vitest';
import { redisForTests } from '../../../src/backends/redis/manual-time.ts';
import { Kit } from '../../../src/conformance/kit.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import { readAnswer } from '../../../src/domain/task/wait.ts';
import { adminOf, atEnd, freshPrefix } from '../faults/kit.ts';
import { ENTRY, fillWaits, PAID, WAITING } from './waiting.ts';

const START = Date.UTC(2026, 0, 5, 12);
const IDS = Object.keys(WAITING);

async function setUp() {
  const prefix = freshPrefix();
  const manual = redisForTests(inject('redisPlace'), { prefix }, true);
  const now = { at: START };
  const advance = async (ms: number): Promise<void> => {
    now.at += ms;
    await manual.setTime(now.at);
  };
  await advance(0);
  const { backend } = manual;
  const day = 86_400_000;
  await backend.open({ retention: { finishedMs: day, failedMs: day, canceledMs: day } });
  atEnd(() => manual.dispose());
  const close = (): Promise<void> => manual.dispose();
  const kit = new Kit({ backend, now: () => now.at, advance, close }, expect);
  await fillWaits(kit, (fields) => kit.add(fields), { user: 'wim' });
  const raw = adminOf();
  const keysOf = async (family: string): Promise<readonly string[]> => {
    const found = await raw.keys(`${prefix}:${family}`);
    expect(found).not.toEqual([]);
    return found;
  };
  const drift = async (repair = false): Promise<readonly string[]> =>
    (await backend.inspect.reconcile({ repair })).drift;
  const answerOf = async (id: string): Promise<string> => {
    const { by, payload } = readAnswer((await backend.runs.load(id))[ENTRY] ?? '');
    return `${by} ${payload}`;
  };
  expect(await kit.states(IDS)).toEqual(IDS.map(() => 'deferred'));
  return { prefix, kit, raw, keysOf, drift, answerOf };
}

type Setup = Awaited<ReturnType<typeof setUp>>;

const signal = ({ kit }: Setup, payload: string, more: { id?: string; name?: string } = {}) => {
  const { id = 'hears', name = 'go' } = more;
  return kit.backend.waits.signal(id, { name, payload });
};
const publish = ({ kit }: Setup, payload: string) =>
  kit.backend.waits.publish('wim', { ...PAID, payload, eventId: `e ${payload}` }, []);
const openAsks = async ({ kit }: Setup, filter = {}): Promise<readonly string[]> =>
  (await kit.backend.asks.list(filter, { limit: 10 })).items.map(({ id }) => id);

/** All others are served, after any damage to those that wait. */
async function othersGoOn({ kit }: Setup): Promise<void> {
  await kit.add({ id: kit.fresh('other'), user: 'quiet' });
  const { leases } = await kit.leaseReply({ worker: 'w3', limit: 5 });
  expect(leases.map(({ user }) => user)).toContain('quiet');
  for (const leased of leases) {
    const settlements = [{ ...leased, decision: { type: 'finish', result: '1' } as const }];
    await kit.backend.tasks.settle({ worker: 'w3', settlements });
  }
}

/** What each waits for comes, and ends its wait. */
async function allEnd(setup: Setup): Promise<void> {
  const { kit, answerOf } = setup;
  expect(await openAsks(setup)).toEqual(['asks.m1']);
  expect(await openAsks(setup, { user: 'wim', for: 'role:x' })).toEqual(['asks.m1']);
  const answer = { choice: 'yes', by: 'ann', text: '{}', call: 'c' };
  expect(await kit.backend.asks.answer('asks.m1', answer)).toEqual({ kind: 'answered' });
  expect(await signal(setup, '"went"')).toEqual({ kind: 'delivered' });
  expect(await publish(setup, '1')).toEqual({ kind: 'published' });
  expect(await kit.backend.tasks.runNow('sleeps')).toMatchObject({ kind: 'ok' });
  expect(await kit.states(IDS)).toEqual(IDS.map(() => 'queued'));
  expect(await Promise.all(IDS.map(answerOf))).toEqual([
    'time ',
    'signal "went"',
    `ask ${JSON.stringify(answer)}`,
    'event 1',
  ]);
  expect(await setup.drift()).toEqual([]);
}

// F64
describe('where those are found that wait', () => {
  it.each(['waits:*', 'waits:ask', 'waiters:*', 'asks:*', 'event-waiters:*', 'events:*'])(
    '%s is made anew',
    async (family) => {
      const setup = await setUp();
      await setup.raw.del(...(await setup.keysOf(family)));
      await othersGoOn(setup);
      const isIndex = family !== 'events:*';
      expect((await setup.drift()).length > 0).toBe(isIndex);
      expect((await setup.drift(true)).length > 0).toBe(isIndex);
      expect(await setup.drift()).toEqual([]);
      await allEnd(setup);
    },
  );

  it.each(['waits:*', 'waiters:*', 'asks:*', 'event-waiters:*'])(
    'what stands in %s and does not wait stops no task, and goes',
    async (family) => {
      const setup = await setUp();
      await setup.kit.add({ id: 'line', user: 'wim' });
      for (const key of await setup.keysOf(family)) {
        await setup.raw.zadd(key, 0, Buffer.from([0xfe, 7, 1]), 0, '0000000000000001 m1.gone');
        await setup.raw.zadd(key, 0, 'line');
      }
      expect(await signal(setup, '"early"')).toEqual({ kind: 'delivered' });
      await publish(setup, '0.5');
      expect(await setup.kit.state('watches')).toBe('queued');
      expect(await openAsks(setup)).toEqual(['asks.m1']);
      await othersGoOn(setup);
      await setup.drift(true);
      expect(await setup.drift()).toEqual([]);
      const figures = await setup.kit.backend.waits.figures();
      expect(figures.map(({ kind, count }) => `${kind} ${count}`)).toEqual([
        'time 1',
        'signal 0',
        'ask 1',
        'event 0',
      ]);
    },
  );
});

// F64
describe('what came while no wait was found', () => {
  it('a signal that was kept since wakes who waits for it', async () => {
    const setup = await setUp();
    await setup.raw.del(...(await setup.keysOf('waiters:*')));
    expect(await signal(setup, '"meanwhile"')).toEqual({ kind: 'buffered' });
    await setup.drift(true);
    expect(await setup.kit.state('hears')).toBe('queued');
    expect(await setup.answerOf('hears')).toBe('signal "meanwhile"');
    expect(await setup.drift()).toEqual([]);
  });

  it('of events since it began to wait it is told, and of none before', async () => {
    const setup = await setUp();
    await setup.kit.advance(1_000);
    await setup.raw.del(...(await setup.keysOf('event-waiters:*')));
    await publish(setup, '1');
    await publish(setup, '2');
    expect(await setup.kit.state('watches')).toBe('deferred');
    await setup.drift(true);
    await setup.kit.rest();
    expect(await setup.answerOf('watches')).toBe('event 1');
    expect(await setup.drift()).toEqual([]);
  });

  it('more strays than a step wakes do not keep an event from who waits', async () => {
    const setup = await setUp();
    const [key = ''] = await setup.keysOf('event-waiters:*');
    const strays = Array.from({ length: LIMITS.cascadeStep }, (_, at) => [-1, `gone-${at}`]);
    await setup.raw.zadd(key, ...strays.flat());
    await publish(setup, '1');
    await setup.kit.rest();
    expect(await setup.answerOf('watches')).toBe('event 1');
  });
});

// F63
describe('fields of a task that waits', () => {
  const fieldsOf = async ({ raw, prefix }: Setup, id: string, begins: string) => {
    const key = `${prefix}:channel:${id}`;
    const fields = (await raw.hkeys(key)).filter((field) => field.startsWith(begins));
    expect(fields).not.toEqual([]);
    return { key, fields };
  };

  it.each(['sn', 'sq:'])('%s cannot be read, or is lost: signals come and go', async (begins) => {
    for (const spoilt of ['x y', undefined]) {
      const setup = await setUp();
      const { kit, raw } = setup;
      const { key, fields } = await fieldsOf(setup, 'sleeps', begins);
      for (const field of fields) {
        await (spoilt === undefined ? raw.hdel(key, field) : raw.hset(key, field, spoilt));
      }
      const looked = (await setup.drift()).join();
      expect(looked).toMatch(/^channel.*(signals|cannot be read)/);
      await setup.drift(true);
      expect(await setup.drift()).toEqual([]);
      expect(await signal(setup, '2', { id: 'sleeps', name: 'stop' })).toEqual({
        kind: 'buffered',
      });
      expect(await raw.hget(key, 'sn')).toBe(`2 ${'"kept"'.length + 1} 1`);
      await kit.backend.tasks.runNow('sleeps');
      const heard: string[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const leased = (await kit.leaseMany(9, { worker: 'w3' })).find(({ id }) => id === 'sleeps');
        await kit.settle(leased ?? { id: '', token: '' }, {
          type: 'suspend',
          waitFor: [],
          wakeOn: 'all',
          wait: { for: { kind: 'signal', name: 'stop', targets: ['sleeps'] }, entry: ENTRY },
        });
        heard.push(await setup.answerOf('sleeps'));
      }
      expect(heard).toEqual(['signal "kept"', 'signal 2']);
      expect(await raw.hget(key, 'sn')).toBe('0 0 1');
    }
  });

  it.each(['sn', 'sq:'])('a signal that comes where %s cannot be read is taken', async (begins) => {
    const setup = await setUp();
    const { key, fields } = await fieldsOf(setup, 'sleeps', begins);
    for (const field of fields) await setup.raw.hset(key, field, 'x y');
    const sent = await signal(setup, '2', { id: 'sleeps', name: 'stop' });
    expect(sent).toEqual({ kind: 'buffered' });
    await othersGoOn(setup);
    await setup.drift(true);
    expect(await setup.drift()).toEqual([]);
  });

  it('a kept signal that is lost is passed over', async () => {
    const setup = await setUp();
    await signal(setup, '2', { id: 'sleeps', name: 'stop' });
    const { key } = await fieldsOf(setup, 'sleeps', 'sp:1');
    await setup.raw.hdel(key, 'sp:1:stop');
    await setup.kit.add({ id: 'takes', user: 'wim' });
    const [leased] = await setup.kit.leaseMany(1, { worker: 'w3' });
    await setup.kit.settle(leased ?? { id: '', token: '' }, {
      type: 'suspend',
      waitFor: [],
      wakeOn: 'all',
      wait: { for: { kind: 'signal', name: 'stop', targets: ['sleeps'] }, entry: ENTRY },
    });
    expect(await setup.answerOf('takes')).toBe('signal 2');
  });

  it.each([
    ['lost', undefined],
    ['no question', '12  {}'],
    ['no JSON', '12  {'],
    ['cut short', '1'],
  ])('a question is %s: its task goes on, and asks anew', async (_, spoilt) => {
    const setup = await setUp();
    const { kit, raw } = setup;
    const { key, fields } = await fieldsOf(setup, 'asks', 'qa:');
    if (spoilt === undefined) await raw.hdel(key, ...fields);
    else await raw.hset(key, fields[0] ?? '', spoilt);
    expect(await kit.backend.asks.get('asks.m1').catch(() => 'error')).not.toMatchObject({
      how: 'answered',
    });
    const answer = { choice: 'yes', by: 'ann', text: '{}', call: 'c' };
    expect(await kit.backend.asks.answer('asks.m1', answer)).toEqual({ kind: 'not-found' });
    await othersGoOn(setup);
    await setup.drift(true);
    expect(await setup.drift()).toEqual([]);
    expect(await kit.state('asks')).toBe('queued');
    expect((await kit.backend.runs.load('asks'))[ENTRY]).toBeUndefined();
    const [leased] = await kit.leaseMany(9, { worker: 'w3' });
    expect(leased?.id).toBe('asks');
    const asked = WAITING['asks'];
    if (asked?.kind !== 'ask') throw new Error('asks nothing');
    const ask = { ...asked.ask, id: 'asks.m2' };
    await kit.settle(leased ?? { id: '', token: '' }, {
      type: 'suspend',
      waitFor: [],
      wakeOn: 'all',
      wait: { for: { kind: 'ask', ask }, entry: ENTRY },
    });
    expect(await openAsks(setup)).toEqual(['asks.m2']);
    expect(await kit.backend.asks.answer('asks.m2', answer)).toEqual({ kind: 'answered' });
  });

  it('how a question was closed cannot be read: it is not answered again', async () => {
    const setup = await setUp();
    const { kit, raw } = setup;
    const answer = { choice: 'yes', by: 'ann', text: '{}', call: 'c' };
    await kit.backend.asks.answer('asks.m1', answer);
    const { key, fields } = await fieldsOf(setup, 'asks', 'qc:');
    await raw.hset(key, fields[0] ?? '', 'x');
    await setup.drift(true);
    expect(await setup.drift()).toEqual([]);
    const again = { ...answer, choice: 'no', call: 'd' };
    expect(await kit.backend.asks.answer('asks.m1', again)).toMatchObject({ kind: 'closed' });
  });

  it('a channel of a task that is set aside goes with it', async () => {
    const setup = await setUp();
    await setup.raw.hset(`${setup.prefix}:tasks`, 'sleeps', 'x');
    await othersGoOn(setup);
    await setup.drift(true);
    expect(await setup.raw.exists(`${setup.prefix}:channel:sleeps`)).toBe(0);
    expect(await setup.drift()).toEqual([]);
  });
});
