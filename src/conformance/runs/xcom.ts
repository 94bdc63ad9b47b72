/** Named values that tasks hand on: where they are, who may write them, and how long they are kept. */

import { LIMITS } from '../../domain/limits.ts';
import type { Leased, SettleAnswer } from '../../domain/port/backend.ts';
import type { XComPlace, XComWrite } from '../../domain/task/xcom.ts';
import { type Cases, retaining } from '../cases.ts';
import { type Kit, RETRIED } from '../kit.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const FINISH = { type: 'finish', result: '"done"' } as const;

const at = (key: string, namespace = 'default', user = 'ann'): XComPlace => ({
  user,
  namespace,
  key,
});

function push(place: XComPlace, text: string, ttlMs = HOUR_MS): XComWrite {
  return { type: 'push', place, text, ttlMs };
}

const drop = (place: XComPlace): XComWrite => ({ type: 'delete', place });

async function leased(kit: Kit, id: string): Promise<Leased> {
  await kit.add({ id });
  return kit.leaseOne();
}

async function finish(
  kit: Kit,
  { id, token }: Leased,
  ...xcom: readonly XComWrite[]
): Promise<SettleAnswer | undefined> {
  const settlements = [{ id, token, decision: FINISH, xcom }];
  const { answers } = await kit.backend.tasks.settle({ worker: 'w', settlements });
  return answers[0];
}

async function textAt(kit: Kit, place: XComPlace): Promise<string | undefined> {
  const [value] = await kit.backend.xcom.read([place]);
  return value?.text;
}

async function keysOf(kit: Kit, namespace = 'default', user = 'ann'): Promise<readonly string[]> {
  const { items } = await kit.backend.xcom.list({ user, namespace }, { limit: 500 });
  return items.map(({ key }) => key);
}

/** Texts that a careless encoding of names would mix up. */
const NASTY = ['a', ':', 'a:', ':a', 'a:b', '1:a', '"', "'", ',', '{}', ' ', '\0', 'é', '👍', '*'];

/** What is read at a place after writes to it. */
export const values: Cases = {
  'a value is there until it is replaced or deleted': async (kit, expect) => {
    const { xcom } = kit.backend;
    const now = kit.now();
    await xcom.write([push(at('a'), '{"x":1}'), push(at('b'), ''), push(at('c'), '1')]);
    const fact = { user: 'ann', namespace: 'default', pushedAt: now, expiresAt: now + HOUR_MS };
    expect(await xcom.read([at('b'), at('none'), at('a')])).toEqual([
      { ...fact, key: 'b', text: '' },
      undefined,
      { ...fact, key: 'a', text: '{"x":1}' },
    ]);
    await xcom.write([drop(at('a')), push(at('a'), '2'), drop(at('b')), drop(at('none'))]);
    expect(await textAt(kit, at('a'))).toBe('2');
    expect(await keysOf(kit)).toEqual(['a', 'c']);
    expect(await xcom.read([])).toEqual([]);
  },

  'of several writes to one place the last counts': async (kit, expect) => {
    const { xcom } = kit.backend;
    await xcom.write([push(at('a'), '1'), drop(at('a'))]);
    expect(await textAt(kit, at('a'))).toBe(undefined);
    expect(await xcom.namespaces('ann', { limit: 10 })).toEqual({ items: [] });
    await xcom.write([push(at('a'), '1', 10), push(at('a'), '2')]);
    await kit.advance(1_000);
    expect(await textAt(kit, at('a'))).toBe('2');
  },

  'users and namespaces never meet': async (kit, expect) => {
    const { xcom } = kit.backend;
    await xcom.write([push(at('k', 'b:c', 'a'), '1'), push(at('k', 'c', 'a:b'), '2')]);
    expect(await textAt(kit, at('k', 'b:c', 'a'))).toBe('1');
    expect(await textAt(kit, at('k', 'c', 'a:b'))).toBe('2');
    await xcom.write([drop(at('k', 'b:c', 'a'))]);
    expect(await keysOf(kit, 'b:c', 'a')).toEqual([]);
    expect(await keysOf(kit, 'c', 'a:b')).toEqual(['k']);
  },

  'ten thousand nasty places never meet': async (kit, expect) => {
    const { xcom } = kit.backend;
    const texts = NASTY.flatMap((one) => [one, `${one}${one}`]).slice(0, 22);
    const places = texts.flatMap((user) =>
      texts.flatMap((namespace) => texts.map((key) => at(key, namespace, user))),
    );
    expect(places.length).toBe(10_648);
    for (let from = 0; from < places.length; from += LIMITS.xcomWrites) {
      const some = places.slice(from, from + LIMITS.xcomWrites);
      await xcom.write(some.map((place, nth) => push(place, String(from + nth))));
    }
    for (let from = 0; from < places.length; from += LIMITS.xcomWrites) {
      const some = places.slice(from, from + LIMITS.xcomWrites);
      const found = await xcom.read(some);
      expect(found.map((value) => value?.text)).toEqual(some.map((_, nth) => String(from + nth)));
    }
    const sorted = [...new Set(texts)].length;
    expect(await keysOf(kit, ':', ':a')).toHaveLength(sorted);
  },

  'pages go by the bytes of the keys': async (kit, expect) => {
    const { xcom } = kit.backend;
    const keys = ['a', 'B', 'é', '\u{ffff}', '👍', '__proto__', 'z'];
    await xcom.write(keys.map((key) => push(at(key), '1')));
    const sorted = ['B', '__proto__', 'a', 'z', 'é', '\u{ffff}', '👍'];
    expect(await keysOf(kit)).toEqual(sorted);
    const paged: string[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await xcom.list(
        { user: 'ann', namespace: 'default' },
        cursor === undefined ? { limit: 3 } : { limit: 3, cursor },
      );
      paged.push(...page.items.map(({ key }) => key));
      cursor = page.cursor;
    }
    expect(paged).toEqual(sorted);
  },

  'namespaces of a user are those with values': async (kit, expect) => {
    const { xcom } = kit.backend;
    await xcom.write(['x', 'y', 'z'].map((namespace) => push(at('k', namespace), '1')));
    await xcom.write([push(at('k', 'other', 'bob'), '1'), push(at('l', 'y'), '1')]);
    const first = await xcom.namespaces('ann', { limit: 2 });
    expect(first).toEqual({ items: ['x', 'y'], cursor: 'y' });
    expect(await xcom.namespaces('ann', { limit: 2, cursor: 'y' })).toEqual({ items: ['z'] });
    await xcom.write([drop(at('k', 'y')), drop(at('k', 'x'))]);
    expect(await xcom.namespaces('ann', { limit: 10 })).toEqual({ items: ['y', 'z'] });
    expect(await xcom.namespaces('nobody', { limit: 10 })).toEqual({ items: [] });
  },
};

/** Values that change with the end of a task: once, and only by who holds its lease. */
export const writers: Cases = {
  'a task changes values with its end, and is their writer': async (kit, expect) => {
    await kit.backend.xcom.write([push(at('old'), '0')]);
    const task = await leased(kit, 'extract');
    expect(await textAt(kit, at('rows'))).toBe(undefined);
    expect(await finish(kit, task, push(at('rows'), '[1]'), drop(at('old')))).toEqual({
      kind: 'ok',
      state: 'finished',
      repeated: false,
    });
    const now = kit.now();
    const [value] = await kit.backend.xcom.read([at('rows')]);
    expect(value).toEqual({
      ...at('rows'),
      text: '[1]',
      writer: 'extract',
      pushedAt: now,
      expiresAt: now + HOUR_MS,
    });
    expect(await keysOf(kit)).toEqual(['rows']);
  },

  'a settle that is sent again writes once': async (kit, expect) => {
    const task = await leased(kit, 'a');
    await finish(kit, task, push(at('k'), '1'));
    await kit.backend.xcom.write([push(at('k'), '2')]);
    expect(await finish(kit, task, push(at('k'), '1'))).toMatchObject({ repeated: true });
    expect(await textAt(kit, at('k'))).toBe('2');
  },

  'values and channels are written together': async (kit, expect) => {
    const { id, token } = await leased(kit, 'a');
    const settle = (xcom: readonly XComWrite[], by: string) =>
      kit.backend.tasks.settle({
        worker: 'w',
        settlements: [
          {
            ...{ id, token, xcom },
            decision: FINISH,
            channel: {
              run: 'a',
              writes: [
                { type: 'set', field: 'c:x', text: by },
                { type: 'add', field: 'c:x', by: 1 },
              ],
            },
          },
        ],
      });
    const refused = await settle([push(at('k'), '1')], '"text"');
    expect(refused.answers).toMatchObject([{ kind: 'refused' }]);
    expect(await textAt(kit, at('k'))).toBe(undefined);
    const done = await settle([push(at('k'), '1')], '1');
    expect(done.answers).toMatchObject([{ kind: 'ok', state: 'finished' }]);
    expect(await textAt(kit, at('k'))).toBe('1');
    expect(await kit.backend.runs.readChannel('a')).toEqual({ 'c:x': '2' });
  },

  'with every other outcome of a task its values are dropped': async (kit, expect) => {
    const error = '{"name":"Error","message":"no"}';
    const decisions = [
      { type: 'retry', delayMs: 0, cause: RETRIED, error },
      { type: 'release', cause: { type: 'shutdown' } },
      { type: 'suspend', waitFor: [], wakeOn: 'all' },
      { type: 'cancel', cause: { type: 'decider', reason: 'no' } },
    ] as const;
    await kit.add({ id: 'a' });
    for (const decision of decisions) {
      const { id, token } = await kit.leaseOne();
      const settlements = [{ id, token, decision, xcom: [push(at('k'), '1')] }];
      const { answers } = await kit.backend.tasks.settle({ worker: 'w', settlements });
      expect(answers).toMatchObject([{ kind: 'ok', repeated: false }]);
    }
    const canceled = await leased(kit, 'b');
    await kit.cancel('b');
    expect(await finish(kit, canceled, push(at('k'), '1'))).toMatchObject({ state: 'canceled' });
    expect(await keysOf(kit)).toEqual([]);
  },

  'a task whose lease is lost writes nothing': async (kit, expect) => {
    const slow = await leased(kit, 'a');
    await kit.advance(LIMITS.leaseMs + 1);
    const next = await kit.leaseOne();
    const node = { run: 'a', writes: [], key: 'n', xcom: [push(at('k'), '"late"')] };
    expect(await finish(kit, slow, push(at('k'), '"late"'))).toEqual({ kind: 'leaseLost' });
    expect(await kit.backend.runs.checkpoint(slow, { a: '1' }, node)).toBe('lost');
    expect(await keysOf(kit)).toEqual([]);
    await finish(kit, next, push(at('k'), '"in time"'));
    expect(await textAt(kit, at('k'))).toBe('"in time"');
  },

  'a checkpoint writes values, once': async (kit, expect) => {
    const run = await leased(kit, 'run');
    const { runs, xcom } = kit.backend;
    const node = { run: 'run', writes: [], key: 'n', xcom: [push(at('k'), '1', 1_000)] };
    expect(await runs.checkpoint(run, { a: '1' }, node)).toBe('ok');
    await xcom.write([push(at('k'), '2')]);
    expect(await runs.checkpoint(run, { a: '1' }, node)).toBe('ok');
    expect(await textAt(kit, at('k'))).toBe('2');
    expect(await runs.readChannel('run')).toEqual({});
  },
};

/** How long a value is kept. */
export const lives: Cases = {
  'a value that no task pushed goes when its time is over': async (kit, expect) => {
    const { xcom } = kit.backend;
    await xcom.write([push(at('short'), '1', 1_000), push(at('long'), '1', 2_000)]);
    await kit.advance(999);
    expect(await keysOf(kit)).toEqual(['long', 'short']);
    await kit.advance(1);
    expect(await keysOf(kit)).toEqual(['long']);
    expect(await textAt(kit, at('short'))).toBe(undefined);
    await kit.advance(1_000);
    await kit.rest();
    expect(await xcom.namespaces('ann', { limit: 10 })).toEqual({ items: [] });
  },

  'time counts from the end of the writer': async (kit, expect) => {
    const task = await leased(kit, 'a');
    await kit.advance(10_000);
    await finish(kit, task, push(at('k'), '1', 5_000));
    await kit.advance(4_999);
    expect(await textAt(kit, at('k'))).toBe('1');
    await kit.advance(1);
    expect(await textAt(kit, at('k'))).toBe(undefined);
  },

  'what a run has checkpointed is kept until it has ended, and then for its time': async (
    kit,
    expect,
  ) => {
    const { runs, xcom } = kit.backend;
    let run = await leased(kit, 'run');
    const node = { run: 'run', writes: [], key: 'n', xcom: [push(at('k'), '1', 1_000)] };
    await runs.checkpoint(run, {}, node);
    await kit.release(run);
    await kit.advance(10 * 60_000);
    const [kept] = await xcom.read([at('k')]);
    expect(kept).toMatchObject({ text: '1', writer: 'run' });
    expect(kept?.expiresAt).toBe(undefined);
    run = await kit.leaseOne();
    await kit.finish(run);
    await kit.advance(999);
    expect(await textAt(kit, at('k'))).toBe('1');
    await kit.advance(1);
    expect(await textAt(kit, at('k'))).toBe(undefined);
  },

  'a value is kept while a dependent of its writer lives': async (kit, expect) => {
    const { xcom } = kit.backend;
    await kit.add({ id: 'a' });
    await kit.add({ id: 'b', dependsOn: ['a'], delayMs: DAY_MS });
    await finish(kit, await kit.leaseOne(), push(at('k'), '1', 1_000));
    await kit.advance(5 * 60_000);
    expect((await xcom.read([at('k')]))[0]?.expiresAt).toBe(undefined);
    expect(await keysOf(kit)).toEqual(['k']);
    await kit.cancel('b');
    await kit.rest();
    expect(await textAt(kit, at('k'))).toBe(undefined);
    await kit.advance(LIMITS.xcomHoldMs);
    expect(await xcom.namespaces('ann', { limit: 10 })).toEqual({ items: [] });
  },

  'a value outlives the record of its writer': retaining({ finishedMs: 0 }, async (kit, expect) => {
    await finish(kit, await leased(kit, 'a'), push(at('k'), '1', DAY_MS));
    await kit.jump(HOUR_MS);
    await kit.rest();
    expect(await kit.state('a')).toBe('missing');
    expect(await textAt(kit, at('k'))).toBe('1');
    await kit.jump(DAY_MS);
    expect(await textAt(kit, at('k'))).toBe(undefined);
  }),

  'a push anew begins a new time': async (kit, expect) => {
    const { xcom } = kit.backend;
    await xcom.write([push(at('k'), '1', 1_000)]);
    await kit.advance(900);
    await xcom.write([push(at('k'), '2', 1_000)]);
    await kit.advance(900);
    expect(await textAt(kit, at('k'))).toBe('2');
    await xcom.write([push(at('k'), '3', 10)]);
    await kit.advance(10);
    expect(await textAt(kit, at('k'))).toBe(undefined);
  },

  'many that are over at once are taken away in bounded steps': async (kit, expect) => {
    const { xcom } = kit.backend;
    const keys = Array.from({ length: 120 }, (_, n) => `k${String(n).padStart(3, '0')}`);
    await xcom.write(keys.map((key) => push(at(key), '1', 1_000)));
    await kit.shift(1_000);
    const { more } = await kit.backend.tasks.tick();
    expect(more).toBe(true);
    expect(await keysOf(kit)).toEqual([]);
    await kit.rest();
    expect(await xcom.namespaces('ann', { limit: 10 })).toEqual({ items: [] });
  },
};
