/** Channels of runs: what they make of writes, who may write, and how long they are kept. */

import { LIMITS } from '../../domain/limits.ts';
import type { Leased, SettleAnswer } from '../../domain/port/backend.ts';
import type { ChannelWrite } from '../../domain/task/channel.ts';
import type { Cases } from '../cases.ts';
import { type Kit, RETRIED } from '../kit.ts';

const DAY_MS = 86_400_000;

const FINISH = { type: 'finish', result: '"done"' } as const;

const set = (field: string, text: string): ChannelWrite => ({ type: 'set', field, text });
const add = (field: string, by: number): ChannelWrite => ({ type: 'add', field, by });
const append = (field: string, text: string): ChannelWrite => ({ type: 'append', field, text });
const addOnce = (field: string, by: number, once: string): ChannelWrite => ({
  type: 'add',
  field,
  by,
  once,
});
const appendOnce = (field: string, text: string, once: string): ChannelWrite => ({
  type: 'append',
  field,
  text,
  once,
});
const drop = (field: string): ChannelWrite => ({ type: 'delete', field });

/** A run that is leased; it may write to its own channels. */
async function leasedRun(kit: Kit, id = 'run'): Promise<Leased> {
  await kit.add({ id });
  return kit.leaseOne();
}

/** A run, and a member of it that is leased. */
async function leasedMember(kit: Kit): Promise<Leased> {
  await kit.add({ id: 'run', user: 'bob', delayMs: DAY_MS });
  await kit.add({ id: 'member', owner: 'run' });
  return kit.leaseOne();
}

async function settle(
  kit: Kit,
  { id, token }: Leased,
  writes: readonly ChannelWrite[],
  run = 'run',
): Promise<SettleAnswer | undefined> {
  const settlements = [{ id, token, decision: FINISH, channel: { run, writes } }];
  const { answers } = await kit.backend.tasks.settle({ worker: 'w', settlements });
  return answers[0];
}

function live(
  kit: Kit,
  leased: Leased,
  ...writes: readonly ChannelWrite[]
): ReturnType<Kit['backend']['runs']['writeChannel']> {
  return kit.backend.runs.writeChannel(leased, { run: 'run', writes });
}

/** What each kind of write makes of what is there. */
export const values: Cases = {
  'set, delete, append and add change what is there': async (kit, expect) => {
    const run = await leasedRun(kit);
    const { runs } = kit.backend;
    expect(await runs.readChannel('run')).toEqual({});
    expect(await live(kit, run, set('c:a', '{"x":[]}'), set('c:b', 'null'), add('c:n', 2))).toBe(
      'ok',
    );
    expect(await live(kit, run, append('c:l', '1,"é"'), append('c:l', '{}'), add('c:n', 0.5))).toBe(
      'ok',
    );
    expect(await live(kit, run, drop('c:a'), drop('c:nothing'), set('c:l2', '[]'))).toBe('ok');
    expect(await live(kit, run, append('c:l2', '[]'), add('c:big', -9e15), add('c:big', -1))).toBe(
      'ok',
    );
    const all = {
      'c:b': 'null',
      'c:n': '2.5',
      'c:l': '[1,"é",{}]',
      'c:l2': '[[]]',
      'c:big': '-9000000000000001',
    };
    expect(await runs.readChannel('run')).toEqual(all);
    expect(await runs.readChannel('run', ['c:n', 'c:a', 'd:n'])).toEqual({ 'c:n': '2.5' });
    expect(await runs.readChannel('run', [])).toEqual({});
  },

  'sums are those of JSON numbers': async (kit, expect) => {
    const run = await leasedRun(kit);
    const writes = [add('c:a', 0.1), add('c:a', 0.2), add('c:b', 1e21), add('c:c', 1e-7)];
    expect(await live(kit, run, ...writes, add('c:d', 1), add('c:d', -1))).toBe('ok');
    expect(await kit.backend.runs.readChannel('run')).toEqual({
      'c:a': '0.30000000000000004',
      'c:b': '1e+21',
      'c:c': '1e-7',
      'c:d': '0',
    });
    expect(await live(kit, run, set('c:e', '1.5e+300'), add('c:e', 1))).toBe('ok');
    expect(await kit.backend.runs.readChannel('run', ['c:e'])).toEqual({ 'c:e': '1.5e+300' });
  },

  'any text can be a key': async (kit, expect) => {
    const run = await leasedRun(kit);
    const keys = ['__proto__', 'a:b', 'n', ' ', '👍', 'x\0y', 'v:'];
    const writes = keys.map((key) => set(`c:${key}`, '1'));
    expect(await live(kit, run, ...writes)).toBe('ok');
    const found = await kit.backend.runs.readChannel('run');
    expect(Object.keys(found).sort()).toEqual(keys.map((key) => `c:${key}`).sort());
  },

  'what does not fit is refused, and nothing is written': async (kit, expect) => {
    const run = await leasedRun(kit);
    await live(kit, run, set('c:text', '"x"'), set('c:list', '[1]'), set('c:max', '1.7e+308'));
    const before = await kit.backend.runs.readChannel('run');
    const wrong = [
      add('c:text', 1),
      add('c:list', 1),
      add('c:max', 1.7e308),
      append('c:text', '1'),
      append('c:max', '1'),
    ];
    for (const write of wrong) {
      expect(await live(kit, run, set('c:new', '1'), write)).toEqual({
        type: 'unfit',
        field: write.field,
        operation: write.type,
      });
    }
    expect(await kit.backend.runs.readChannel('run')).toEqual(before);
  },

  'a write that is to be done once is done once': async (kit, expect) => {
    const run = await leasedRun(kit);
    const once = addOnce('c:n', 1, 'a');
    const other = addOnce('c:n', 1, 'b');
    const list = appendOnce('c:l', '1', 'a');
    expect(await live(kit, run, once, once, list)).toBe('ok');
    expect(await live(kit, run, once, other, list, add('c:n', 1))).toBe('ok');
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:n': '3', 'c:l': '[1]' });
    expect(await live(kit, run, drop('c:n'), once)).toBe('ok');
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:l': '[1]' });
  },
};

/** A JSON text of so many bytes. */
function textOf(bytes: number): string {
  return `"${'x'.repeat(bytes - 2)}"`;
}

/** How much a value and a run may hold. */
export const bounds: Cases = {
  'a value has its most bytes, also one that has grown': async (kit, expect) => {
    const run = await leasedRun(kit);
    const most = LIMITS.channelValueBytes;
    const refusal = { type: 'over', field: 'c:a', limit: 'channelValueBytes' };
    expect(await live(kit, run, set('c:a', textOf(most + 1)))).toEqual(refusal);
    expect(await live(kit, run, set('c:a', textOf(most)))).toBe('ok');
    expect(await live(kit, run, set('c:a', `[${textOf(most - 3)}]`))).toBe('ok');
    expect(await live(kit, run, append('c:a', '1'))).toEqual(refusal);
    expect(await live(kit, run, drop('c:a'), append('c:a', '1'))).toBe('ok');
  },

  'a run has its most bytes: keys, values, and what is remembered': async (kit, expect) => {
    const run = await leasedRun(kit);
    const most = LIMITS.channelBytes;
    const part = LIMITS.channelValueBytes;
    const parts = Math.floor(most / part);
    for (let at = 0; at < parts; at++) {
      const short = at === parts - 1 ? 100 : 0;
      const write = set(`c:${at}`, textOf(part - 3 - short));
      expect(await live(kit, run, write)).toBe('ok');
    }
    const refusal = { type: 'over', field: 'c:é', limit: 'channelBytes' };
    expect(await live(kit, run, set('c:é', textOf(97)))).toEqual(refusal);
    expect(await live(kit, run, set('c:é', textOf(96)))).toBe('ok');
    expect(await live(kit, run, set('c:é', textOf(70)), add('c:n', 1))).toEqual({
      ...refusal,
      field: 'c:n',
    });
    expect(await live(kit, run, set('c:é', textOf(69)), add('c:n', 1e300))).toBe('ok');
    const once = addOnce('c:n', 1, 'a');
    expect(await live(kit, run, once)).toEqual({ ...refusal, field: 'c:n' });
    expect(await live(kit, run, set('c:é', textOf(63)), once)).toBe('ok');
    expect(await live(kit, run, set('c:x', '1'), drop('c:0'))).toBe('ok');
  },

  'a run has its most keys': async (kit, expect) => {
    const run = await leasedRun(kit);
    const call = LIMITS.channelWrites;
    for (let from = 0; from < LIMITS.channelKeys; from += call) {
      const writes = Array.from({ length: call }, (_, at) => set(`c:${from + at}`, '1'));
      expect(await live(kit, run, ...writes)).toBe('ok');
    }
    const refusal = { type: 'over', field: 'd:x', limit: 'channelKeys' };
    expect(await live(kit, run, set('d:x', '1'))).toEqual(refusal);
    expect(await live(kit, run, set('c:7', '2'), drop('c:8'), set('d:x', '1'))).toBe('ok');
  },
};

/** Writes are applied once, and only those of who holds its lease. */
export const writers: Cases = {
  'a task that finishes applies what it wrote, once': async (kit, expect) => {
    const member = await leasedMember(kit);
    const writes = [add('c:n', 1), append('c:l', '1')];
    const ok = { kind: 'ok', state: 'finished', repeated: false };
    expect(await settle(kit, member, writes)).toEqual(ok);
    expect(await settle(kit, member, writes)).toEqual({ ...ok, repeated: true });
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:n': '1', 'c:l': '[1]' });
    expect(await kit.backend.runs.readChannel('member')).toEqual({});
    expect(await kit.record('member')).toMatchObject({ state: 'finished', result: '"done"' });
  },

  'members lose no update of each other': async (kit, expect) => {
    await kit.add({ id: 'run', user: 'bob', delayMs: DAY_MS });
    await kit.addMany(5, { owner: 'run' });
    const members = await kit.lease(5);
    await Promise.all(members.map((member) => settle(kit, member, [add('c:n', 1)])));
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:n': '5' });
  },

  'with every other outcome of a task its writes are dropped': async (kit, expect) => {
    const error = '{"name":"Error","message":"no"}';
    const decisions = [
      { type: 'retry', delayMs: 0, cause: RETRIED, error },
      { type: 'release', cause: { type: 'shutdown' } },
      { type: 'suspend', waitFor: [], wakeOn: 'all' },
      { type: 'dead-letter', cause: { type: 'fatal', failure: 'error' }, error },
    ] as const;
    await kit.add({ id: 'run' });
    for (const decision of decisions) {
      const { id, token } = await kit.leaseOne();
      const channel = { run: 'run', writes: [add('c:n', 1)] };
      const settlements = [{ id, token, decision, channel }];
      const { answers } = await kit.backend.tasks.settle({ worker: 'w', settlements });
      expect(answers).toMatchObject([{ kind: 'ok', repeated: false }]);
    }
    const canceled = await leasedRun(kit, 'other');
    await kit.cancel('other');
    expect(await settle(kit, canceled, [add('c:n', 1)])).toMatchObject({ state: 'canceled' });
    expect(await kit.backend.runs.readChannel('run')).toEqual({});
  },

  'a task whose lease is lost writes nothing': async (kit, expect) => {
    const slow = await leasedRun(kit);
    await kit.advance(LIMITS.leaseMs + 1);
    const next = await kit.leaseOne();
    const channel = { run: 'run', writes: [add('c:n', 1)], key: 'a' };
    expect(await settle(kit, slow, [add('c:n', 1)])).toEqual({ kind: 'leaseLost' });
    expect(await live(kit, slow, add('c:n', 1))).toBe('lost');
    expect(await kit.backend.runs.checkpoint(slow, { a: '1' }, channel)).toBe('lost');
    expect(await live(kit, { ...next, id: 'nobody' }, add('c:n', 1))).toBe('lost');
    expect(await kit.backend.runs.readChannel('run')).toEqual({});
    await kit.finish(next);
    expect(await live(kit, next, add('c:n', 1))).toBe('lost');
    expect(await kit.backend.runs.readChannel('run')).toEqual({});
  },

  'writes that are refused leave the task as it is': async (kit, expect) => {
    const member = await leasedMember(kit);
    expect(await live(kit, member, set('c:text', '"x"'))).toBe('ok');
    const refusal = { type: 'unfit', field: 'c:text', operation: 'add' };
    expect(await settle(kit, member, [set('c:a', '1'), add('c:text', 1)])).toEqual({
      kind: 'refused',
      refusal,
    });
    expect(await kit.state('member')).toBe('started');
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:text': '"x"' });
    expect(await kit.fail(member)).toMatchObject({ kind: 'ok', state: 'failed' });
  },

  'a refusal holds up no other settlement of the call': async (kit, expect) => {
    await kit.add({ id: 'run', user: 'bob', delayMs: DAY_MS });
    await kit.addMany(3, { owner: 'run' });
    const members = await kit.lease(3);
    const settlements = members.map(({ id, token }, at) => {
      const writes = at === 1 ? [set('c:n', '"x"'), add('c:n', 1)] : [add('c:n', 1)];
      return { id, token, decision: FINISH, channel: { run: 'run', writes } };
    });
    const { answers } = await kit.backend.tasks.settle({ worker: 'w', settlements });
    expect(answers.map(({ kind }) => kind)).toEqual(['ok', 'refused', 'ok']);
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:n': '2' });
  },

  'a write whose run is gone changes nothing and says so': async (kit, expect) => {
    const member = await leasedMember(kit);
    await kit.cancel('run');
    await kit.backend.tasks.remove('run');
    await kit.rest();
    const refusal = { type: 'run-gone', run: 'run' };
    expect(await live(kit, member, add('c:n', 1))).toEqual(refusal);
    const channel = { run: 'run', writes: [add('c:n', 1)], key: 'a' };
    expect(await kit.backend.runs.checkpoint(member, { a: '1' }, channel)).toEqual(refusal);
    expect(await kit.backend.runs.load('member')).toEqual({});
    expect(await settle(kit, member, [add('c:n', 1)])).toEqual({ kind: 'refused', refusal });
    expect(await kit.state('member')).toBe('started');
    await kit.add({ id: 'run' });
    expect(await kit.backend.runs.readChannel('run')).toEqual({});
  },

  'a checkpoint that is sent again applies its writes once': async (kit, expect) => {
    const run = await leasedRun(kit);
    const { runs } = kit.backend;
    const node = (key: string) => ({ run: 'run', writes: [add('c:n', 1)], key });
    expect(await runs.checkpoint(run, { a: '1' }, node('a'))).toBe('ok');
    expect(await runs.checkpoint(run, { a: '1' }, node('a'))).toBe('ok');
    expect(await runs.checkpoint(run, { x: '1' })).toBe('ok');
    expect(await runs.checkpoint(run, { a: '1' }, node('a'))).toBe('ok');
    expect(await runs.readChannel('run')).toEqual({ 'c:n': '1' });
    expect(await runs.checkpoint(run, { b: '1' }, node('b'))).toBe('ok');
    expect(await runs.readChannel('run')).toEqual({ 'c:n': '2' });
    await kit.release(run);
    const next = await kit.leaseOne();
    expect(await runs.checkpoint(next, { b: '2' }, node('b'))).toBe('ok');
    expect(await runs.readChannel('run')).toEqual({ 'c:n': '3' });
    expect(await runs.load('run')).toEqual({ a: '1', b: '2', x: '1' });
  },

  'a checkpoint whose writes are refused writes nothing down': async (kit, expect) => {
    const run = await leasedRun(kit);
    const { runs } = kit.backend;
    const wrong = { run: 'run', writes: [set('c:a', '"x"'), add('c:a', 1)], key: 'a' };
    const refusal = { type: 'unfit', field: 'c:a', operation: 'add' };
    expect(await runs.checkpoint(run, { a: '1' }, wrong)).toEqual(refusal);
    expect(await runs.load('run')).toEqual({});
    const right = { run: 'run', writes: [set('c:a', '"x"')], key: 'a' };
    expect(await runs.checkpoint(run, { a: '1' }, right)).toBe('ok');
    expect(await runs.readChannel('run')).toEqual({ 'c:a': '"x"' });
  },
};

/** How long channels are kept, and that runs do not share them. */
export const lives: Cases = {
  'two runs never meet': async (kit, expect) => {
    const [one, two] = [await leasedRun(kit, 'one'), await leasedRun(kit, 'two')];
    await settle(kit, one, [set('c:a', '1')], 'one');
    await settle(kit, two, [set('c:a', '2')], 'two');
    expect(await kit.backend.runs.readChannel('one')).toEqual({ 'c:a': '1' });
    expect(await kit.backend.runs.readChannel('two')).toEqual({ 'c:a': '2' });
  },

  'channels outlive the end of their run, and go with its record': async (kit, expect) => {
    const run = await leasedRun(kit);
    await settle(kit, run, [set('c:a', '1')]);
    await kit.advance(60_000);
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:a': '1' });
    await kit.jump(2 * DAY_MS);
    await kit.rest();
    expect(await kit.state('run')).toBe('missing');
    expect(await kit.backend.runs.readChannel('run')).toEqual({});
    const again = await leasedRun(kit);
    await settle(kit, again, [add('c:n', 1)]);
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:n': '1' });
  },

  'a redrive finds them again': async (kit, expect) => {
    const run = await leasedRun(kit);
    await live(kit, run, set('c:a', '1'));
    await kit.fail(run);
    await kit.backend.tasks.redrive('run');
    expect(await kit.backend.runs.readChannel('run')).toEqual({ 'c:a': '1' });
  },
};
