/** Events: the tasks of a user that wait for one go on, and no others. */

import { LIMITS } from '../../domain/limits.ts';
import type { Leased, PublishReply, SettleAnswer } from '../../domain/port/backend.ts';
import { ANSWER, readAnswer, type WaitAnswer } from '../../domain/task/wait.ts';
import { type Cases, retaining } from '../cases.ts';
import type { Kit } from '../kit.ts';

const ENTRY = `${ANSWER}s:1/`;
const PAID = { name: 'order.paid', key: 'o:7 é' } as const;

interface Waited {
  readonly withinMs?: number;
  readonly wakeAfterMs?: number;
  readonly key?: string;
  readonly entry?: string;
}

function suspend(kit: Kit, leased: Leased, waited: Waited = {}): Promise<SettleAnswer> {
  const { withinMs, wakeAfterMs, key = PAID.key, entry = ENTRY } = waited;
  return kit.settle(leased, {
    type: 'suspend',
    waitFor: [],
    wakeOn: 'all',
    wait: {
      for: { kind: 'event', name: PAID.name, key },
      entry,
      ...(withinMs === undefined ? {} : { withinMs }),
    },
    ...(wakeAfterMs === undefined ? {} : { wakeAfterMs }),
  });
}

/** A task that waits for the event. */
async function waiting(kit: Kit, id: string, waited: Waited = {}, user = 'ann'): Promise<void> {
  await kit.add({ id, user });
  const leased = await kit.leaseOne();
  kit.expect(leased.id).toBe(id);
  const answer = await suspend(kit, leased, waited);
  kit.expect(answer).toMatchObject({ kind: 'ok', state: 'deferred' });
}

let published = 0;

async function publish(
  kit: Kit,
  payload = '1',
  more: { readonly user?: string; readonly key?: string; readonly eventId?: string } = {},
): Promise<PublishReply['kind']> {
  const { user = 'ann', key = PAID.key, eventId = `event ${published++}` } = more;
  const event = { name: PAID.name, key, payload, eventId, keepMs: LIMITS.eventKeepMs };
  return (await kit.backend.waits.publish(user, event, [])).kind;
}

async function answerOf(kit: Kit, id: string, entry = ENTRY): Promise<WaitAnswer | undefined> {
  const text = (await kit.backend.runs.load(id))[entry];
  return text === undefined ? undefined : readAnswer(text);
}

/** What is published, and who hears of it. */
export const events: Cases = {
  'ends all waits of its user for its name and key': async (kit, expect) => {
    for (const id of ['a', 'b']) await waiting(kit, id);
    await waiting(kit, 'other', { key: 'o:8' });
    await waiting(kit, 'foreign', {}, 'bob');
    expect((await kit.backend.inspect.facts('a'))?.wait).toMatchObject({
      for: { kind: 'event', ...PAID },
    });
    expect(await publish(kit, '{"cents":7}')).toBe('published');
    expect(await kit.states(['a', 'b', 'other', 'foreign'])).toEqual([
      'queued',
      'queued',
      'deferred',
      'deferred',
    ]);
    const answer = { by: 'event', at: kit.now(), payload: '{"cents":7}' };
    expect([await answerOf(kit, 'a'), await answerOf(kit, 'b')]).toEqual([answer, answer]);
    expect(await publish(kit, '2', { user: 'bob' })).toBe('published');
    expect(await answerOf(kit, 'foreign')).toMatchObject({ payload: '2' });
    expect(await answerOf(kit, 'a')).toMatchObject({ payload: '{"cents":7}' });
  },

  'one that came before counts for waits that look back, the newest': async (kit, expect) => {
    await publish(kit, '1');
    await publish(kit, '2');
    await kit.advance(1_000);
    await waiting(kit, 'late');
    await waiting(kit, 'short', { withinMs: 999 });
    await kit.add({ id: 'back' });
    const answer = await suspend(kit, await kit.leaseOne(), { withinMs: 1_000 });
    expect(answer).toMatchObject({ kind: 'ok', state: 'queued' });
    expect(await answerOf(kit, 'back')).toMatchObject({ by: 'event', payload: '2' });
    await publish(kit, '3');
    expect(await answerOf(kit, 'late')).toMatchObject({ payload: '3' });
    expect(await answerOf(kit, 'short')).toMatchObject({ payload: '3' });
  },

  'published again under its id it changes nothing': async (kit, expect) => {
    expect(await publish(kit, '1', { eventId: 'x' })).toBe('published');
    await waiting(kit, 'a');
    expect(await publish(kit, '1', { eventId: 'x' })).toBe('repeated');
    expect(await kit.state('a')).toBe('deferred');
    for (let at = 0; at < LIMITS.events; at++) await publish(kit, `${at}`, { key: 'k' });
    expect(await publish(kit, '1', { eventId: 'x' })).toBe('repeated');
    for (let at = 0; at < LIMITS.events; at++) await publish(kit, `${at}`);
    expect(await publish(kit, '1', { eventId: 'x' })).toBe('published');
  },

  'of an event and the end of the time, or a cancel, one wins': async (kit, expect) => {
    await waiting(kit, 'a', { wakeAfterMs: 1_000 });
    await waiting(kit, 'b', { wakeAfterMs: 1_000 });
    await kit.cancel('b');
    await kit.advance(1_000);
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'time' });
    await publish(kit);
    expect(await answerOf(kit, 'a')).toMatchObject({ by: 'time' });
    expect(await kit.states(['a', 'b'])).toEqual(['queued', 'canceled']);
    await kit.runToEnd('a');
    await waiting(kit, 'c', { wakeAfterMs: 1_000 });
    await publish(kit);
    await kit.advance(2_000);
    expect(await answerOf(kit, 'c')).toMatchObject({ by: 'event' });
  },

  'wakes many: some at once, the rest with maintenance, also when one of these is canceled': async (
    kit,
    expect,
  ) => {
    const ids = Array.from({ length: 2 * LIMITS.cascadeStep + 20 }, (_none, at) => `w${at}`);
    for (const id of ids) await waiting(kit, id);
    await publish(kit, '"first"');
    const left = async (): Promise<readonly string[]> => {
      const states = await kit.states(ids);
      return ids.filter((_id, at) => states[at] === 'deferred');
    };
    const waits = await left();
    expect(waits).toHaveLength(ids.length - LIMITS.cascadeStep);
    for (const id of waits.slice(0, 10)) await kit.cancel(id);
    await publish(kit, '"second"');
    for (let ticks = 0; ticks < 10; ticks++) await kit.advance(1);
    expect(await left()).toEqual([]);
    for (const id of waits.slice(10)) {
      const answer = await answerOf(kit, id);
      if (answer?.payload !== '"first"') expect([id, answer]).toEqual([id, 'of the first']);
    }
  },

  'is no drift': async (kit, expect) => {
    await waiting(kit, 'a', { wakeAfterMs: 60_000 });
    const report = await kit.backend.inspect.reconcile({ repair: true });
    expect(report.drift).toEqual([]);
    await publish(kit);
    expect(await kit.state('a')).toBe('queued');
  },

  'a task of the same id does not hear of what came before it': retaining(
    { canceledMs: 1_000 },
    async (kit, expect) => {
      await waiting(kit, 'a');
      await kit.cancel('a');
      await kit.rest();
      await kit.jump(kit.leastKeptMs() + 1_000);
      expect(await kit.state('a')).toBe('missing');
      await publish(kit, '1');
      await waiting(kit, 'a');
      await publish(kit, '2');
      expect(await answerOf(kit, 'a')).toMatchObject({ payload: '2' });
    },
  ),
};
