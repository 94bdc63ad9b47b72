/** Questions of suspended tasks: one answer counts, and nothing but an answer is one. */

import type { Leased, SettleAnswer } from '../../domain/port/backend.ts';
import type { AskFilter, AskReply, AskSpec } from '../../domain/task/ask.ts';
import { ANSWER, readAnswer, type WaitAnswer } from '../../domain/task/wait.ts';
import { type Cases, retaining } from '../cases.ts';
import type { Kit } from '../kit.ts';

const ENTRY = `${ANSWER}s:1/`;
const CHOICES = ['approve', 'reject'];

/** How a question is put where that matters. */
interface Asked {
  readonly for?: readonly string[];
  readonly mark?: string;
  readonly wakeAfterMs?: number;
  readonly entry?: string;
}

function questionOf(id: string, { for: names = [], mark = 'm1' }: Asked): AskSpec {
  return { id: `${id}.${mark}`, choices: CHOICES, for: names, text: '{"title":"é \\"x\\""}' };
}

function suspend(kit: Kit, leased: Leased, asked: Asked = {}): Promise<SettleAnswer> {
  const { entry = ENTRY, wakeAfterMs } = asked;
  const ask = questionOf(leased.id, asked);
  return kit.settle(leased, {
    type: 'suspend',
    waitFor: [],
    wakeOn: 'all',
    wait: { for: { kind: 'ask', ask }, entry },
    ...(wakeAfterMs === undefined ? {} : { wakeAfterMs }),
  });
}

/** A task that asks; gives the id of the question. */
async function asking(kit: Kit, id: string, asked: Asked = {}, user = 'ann'): Promise<string> {
  await kit.add({ id, user });
  const leased = await kit.leaseOne();
  kit.expect(leased.id).toBe(id);
  const answer = await suspend(kit, leased, asked);
  kit.expect(answer).toEqual({ kind: 'ok', state: 'deferred', repeated: false });
  return questionOf(id, asked).id;
}

let calls = 0;

function answer(
  kit: Kit,
  id: string,
  more: { readonly choice?: string; readonly by?: string; readonly call?: string } = {},
): Promise<AskReply> {
  const { choice = 'approve', by = 'bob', call = `call${calls++}` } = more;
  return kit.backend.asks.answer(id, { choice, by, text: '{"comment":"fine"}', call });
}

async function answerOf(kit: Kit, id: string, entry = ENTRY): Promise<WaitAnswer | undefined> {
  const text = (await kit.backend.runs.load(id))[entry];
  return text === undefined ? undefined : readAnswer(text);
}

async function openIds(kit: Kit, filter: AskFilter = {}): Promise<readonly string[]> {
  const { items } = await kit.backend.asks.list(filter, { limit: 100 });
  return items.map(({ id }) => id);
}

/** What people are asked, and what they answer. */
export const asks: Cases = {
  'stands open as it was put, and is closed by its answer': async (kit, expect) => {
    const asked = { for: ['role:finance', 'ann'], wakeAfterMs: 60_000 };
    const id = await asking(kit, 'a', asked);
    const askedAt = kit.now();
    const open = {
      ...questionOf('a', asked),
      taskId: 'a',
      task: (await kit.backend.inspect.get(['a']))[0]?.name,
      user: 'ann',
      askedAt,
      until: askedAt + 60_000,
    };
    expect(await kit.backend.asks.get(id)).toEqual(open);
    expect((await kit.backend.inspect.facts('a'))?.wait).toEqual({
      for: { kind: 'ask', ask: questionOf('a', asked) },
      since: askedAt,
      wakeAt: askedAt + 60_000,
    });
    await kit.advance(5);
    expect(await answer(kit, id)).toEqual({ kind: 'answered' });
    expect(await kit.state('a')).toBe('queued');
    const given = await answerOf(kit, 'a');
    expect(given).toMatchObject({ by: 'ask', at: kit.now() });
    expect(JSON.parse(given?.payload ?? '')).toMatchObject({ choice: 'approve', by: 'bob' });
    const closing = {
      how: 'answered',
      at: kit.now(),
      choice: 'approve',
      by: 'bob',
      text: '{"comment":"fine"}',
    };
    expect(await kit.backend.asks.get(id)).toEqual({ ...open, closing });
    expect(await openIds(kit)).toEqual([]);
    expect(await kit.leaseOne()).toMatchObject({ id: 'a', attempt: 1 });
  },

  'of two answers the first counts, and the other hears of it': async (kit, expect) => {
    const id = await asking(kit, 'a');
    const replies = await Promise.all([
      answer(kit, id, { choice: 'reject', by: 'bob' }),
      answer(kit, id, { choice: 'approve', by: 'cid' }),
    ]);
    const lost = replies.findIndex(({ kind }) => kind === 'closed');
    expect(replies[1 - lost]).toEqual({ kind: 'answered' });
    const [choice, by] = lost === 1 ? ['reject', 'bob'] : ['approve', 'cid'];
    expect(replies[lost]).toMatchObject({ closing: { how: 'answered', choice, by } });
    expect(JSON.parse((await answerOf(kit, 'a'))?.payload ?? '')).toMatchObject({ choice, by });
  },

  'the same call again is the same answer': async (kit, expect) => {
    const id = await asking(kit, 'a');
    expect(await answer(kit, id, { call: 'x' })).toEqual({ kind: 'answered' });
    expect(await answer(kit, id, { call: 'x' })).toEqual({ kind: 'answered' });
    expect(await answer(kit, id, { call: 'y' })).toMatchObject({ kind: 'closed' });
  },

  'time closes it, and is no answer': async (kit, expect) => {
    const id = await asking(kit, 'a', { wakeAfterMs: 1_000 });
    await kit.advance(999);
    expect(await openIds(kit)).toEqual([id]);
    await kit.advance(1);
    expect(await kit.state('a')).toBe('queued');
    expect(await answerOf(kit, 'a')).toEqual({ by: 'time', at: kit.now(), payload: '' });
    expect(await openIds(kit)).toEqual([]);
    const closed = { how: 'timed-out', at: kit.now() };
    expect(await answer(kit, id)).toEqual({ kind: 'closed', closing: closed });
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'time', payload: '' });
  },

  'an answer before the end of its time wins': async (kit, expect) => {
    const id = await asking(kit, 'a', { wakeAfterMs: 1_000 });
    expect(await answer(kit, id)).toEqual({ kind: 'answered' });
    await kit.advance(2_000);
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'ask' });
    expect(await kit.state('a')).toBe('queued');
  },

  'a cancel closes it; after an answer it ends the task alone': async (kit, expect) => {
    const id = await asking(kit, 'a');
    expect(await kit.cancel('a')).toEqual({ kind: 'canceled' });
    const closed = { how: 'canceled', at: kit.now() };
    expect(await answer(kit, id)).toEqual({ kind: 'closed', closing: closed });
    expect(await answerOf(kit, 'a')).toBeUndefined();
    expect(await openIds(kit)).toEqual([]);
    const other = await asking(kit, 'b');
    expect(await answer(kit, other)).toEqual({ kind: 'answered' });
    await kit.cancel('b');
    expect(await kit.state('b')).toBe('canceled');
    expect((await kit.backend.asks.get(other))?.closing).toMatchObject({ how: 'answered' });
  },

  'an unknown choice changes nothing; an id without a question is not found': async (
    kit,
    expect,
  ) => {
    const id = await asking(kit, 'a');
    expect(await answer(kit, id, { choice: 'maybe' })).toEqual({
      kind: 'no-choice',
      choices: CHOICES,
    });
    expect(await openIds(kit)).toEqual([id]);
    for (const other of ['a.m2', 'b.m1', 'a', '.', 'a.', '.m1']) {
      expect(await answer(kit, other)).toEqual({ kind: 'not-found' });
      expect(await kit.backend.asks.get(other)).toBeUndefined();
    }
  },

  'two questions of one task are not confused': async (kit, expect) => {
    const first = await asking(kit, 'a.b');
    expect(await answer(kit, first, { choice: 'reject' })).toEqual({ kind: 'answered' });
    const asked = { mark: 'm2', entry: '=s:2/' };
    await suspend(kit, await kit.leaseOne(), asked);
    const second = questionOf('a.b', asked).id;
    expect(await answer(kit, first)).toMatchObject({ closing: { choice: 'reject' } });
    expect(await kit.state('a.b')).toBe('deferred');
    expect(await answer(kit, second)).toEqual({ kind: 'answered' });
    const given = [await answerOf(kit, 'a.b'), await answerOf(kit, 'a.b', '=s:2/')];
    expect(given.map((one) => JSON.parse(one?.payload ?? '').choice)).toEqual([
      'reject',
      'approve',
    ]);
  },

  'open ones are listed by user and by name, the oldest first': async (kit, expect) => {
    const finance = await asking(kit, 'z', { for: ['role:finance'] });
    await kit.advance(1);
    const both = await asking(kit, 'y', { for: ['ann', 'role:finance'] }, 'bob');
    await kit.advance(1);
    const anybody = await asking(kit, 'x', {}, 'bob');
    expect(await openIds(kit)).toEqual([finance, both, anybody]);
    expect(await openIds(kit, { user: 'bob' })).toEqual([both, anybody]);
    expect(await openIds(kit, { for: 'role:finance' })).toEqual([finance, both]);
    expect(await openIds(kit, { user: 'bob', for: 'ann' })).toEqual([both]);
    expect(await openIds(kit, { user: 'ann', for: 'ann' })).toEqual([]);
    expect(await openIds(kit, { user: 'nobody' })).toEqual([]);
    await answer(kit, both);
    expect(await openIds(kit)).toEqual([finance, anybody]);
    expect(await openIds(kit, { for: 'role:finance' })).toEqual([finance]);
  },

  'pages give each once': async (kit, expect) => {
    const ids: string[] = [];
    for (let at = 0; at < 7; at++) ids.push(await asking(kit, `t${at}`));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const request = cursor === undefined ? { limit: 3 } : { limit: 3, cursor };
      const page = await kit.backend.asks.list({}, request);
      expect(page.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(ids);
  },

  'the same settle again opens nothing': async (kit, expect) => {
    await kit.add({ id: 'a' });
    const leased = await kit.leaseOne();
    await suspend(kit, leased);
    expect(await answer(kit, 'a.m1')).toEqual({ kind: 'answered' });
    expect(await suspend(kit, leased)).toMatchObject({ kind: 'ok', repeated: true });
    expect(await openIds(kit)).toEqual([]);
  },

  'is no drift': async (kit, expect) => {
    const id = await asking(kit, 'a', { for: ['ann'], wakeAfterMs: 60_000 });
    const report = await kit.backend.inspect.reconcile({ repair: true });
    expect(report.drift).toEqual([]);
    expect(await openIds(kit, { for: 'ann' })).toEqual([id]);
    expect(await answer(kit, id)).toEqual({ kind: 'answered' });
  },

  'they go with the record, and a task of the same id begins without': retaining(
    { canceledMs: 1_000 },
    async (kit, expect) => {
      const id = await asking(kit, 'a', { for: ['ann'] });
      await kit.cancel('a');
      expect(await kit.backend.asks.get(id)).toMatchObject({ closing: { how: 'canceled' } });
      await kit.rest();
      await kit.jump(kit.leastKeptMs() + 1_000);
      expect(await kit.state('a')).toBe('missing');
      expect(await kit.backend.asks.get(id)).toBeUndefined();
      expect(await answer(kit, id)).toEqual({ kind: 'not-found' });
      const next = await asking(kit, 'a', { mark: 'm2' });
      expect(await answer(kit, id)).toEqual({ kind: 'not-found' });
      expect(await answer(kit, next)).toEqual({ kind: 'answered' });
    },
  ),
};
