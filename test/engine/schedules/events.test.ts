/** Schedules that fire at events, as a user sees them, on every backend. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Fairloom } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec/encrypted.ts';
import {
  InvalidOptionError,
  InvalidPayloadError,
  QueueFullError,
  ScheduleNotFoundError,
} from '../../../src/domain/errors/errors.ts';
import { LIMITS } from '../../../src/domain/limits.ts';
import type { EventScheduleOptions } from '../../../src/schedules/schedule-options.ts';
import { signal } from '../../../src/workflow/signal.ts';
import type { StandardSchemaV1 } from '../../../src/workflow/standard-schema.ts';
import { task } from '../../../src/workflow/task-definition.ts';
import { waitFor } from '../../../src/workflow/waits.ts';
import { eachBackend, opened } from '../../support/backends.ts';
import { refusal, settled } from '../../support/runs.ts';

interface Paid {
  readonly cents: number;
}

interface Told {
  readonly of: string;
  readonly paid: Paid;
  readonly list: readonly unknown[];
  readonly id: string;
}

const ship = task('ship', async (paid: Paid) => paid.cents);
const tell = task('tell', async (told: Told) => told);
const none = task('none', async (input: unknown) => (input === undefined ? 'nothing' : input));
const double = task('double', async (n: number) => 2 * n);
const pair = double.pipe(double.as('again')).as('pair');

eachBackend((open) => {
  const harness = opened(open);
  let loom: Fairloom;
  beforeEach(async () => {
    loom = harness.loom([ship, tell, none, double, pair]);
  });

  /** What waits for its turn, with its input, by id. */
  const stored = async (user = 'default'): Promise<Readonly<Record<string, unknown>>> => {
    const page = { state: 'queued', user, limit: 500, values: true } as const;
    const { items } = await loom.tasks.list(page);
    return Object.fromEntries(items.map(({ id, input }) => [id, input]));
  };
  const inputs = async (user?: string): Promise<readonly unknown[]> =>
    Object.values(await stored(user));

  const ended = (on: Fairloom, id: string): Promise<void> =>
    harness.until(async () => (await on.tasks.get(id))?.state === 'finished');

  describe('on', () => {
    it('starts a task with what was published, and tells of it', async () => {
      const info = await loom.schedules.on('ship', {
        ...{ event: 'order.paid', task: ship, user: 'ann', priority: 'high', retries: 1 },
      });
      expect(info).toEqual({
        ...{ id: 'ship', task: 'ship', event: 'order.paid', user: 'ann', queue: 'default' },
        ...{ missed: 'skip', overlap: 'allow', priority: 4, state: 'active' },
        input: '<event.payload>',
        ...{ fired: 0, missedSlots: 0, overlappedSlots: 0 },
        ...{ createdAt: harness.clock.now(), updatedAt: harness.clock.now() },
      });
      const options = { user: 'ann', eventId: 'e1' };
      expect(await loom.publish('order.paid', 'o-7', { cents: 7 }, options)).toBe('published');
      expect(await loom.publish('order.paid', 'o-7', { cents: 8 }, options)).toBe('repeated');
      expect(await loom.publish('order.paid', 'o-7', { cents: 9 })).toBe('published');
      expect(await loom.publish('order.sent', 'o-7', 1, { user: 'ann' })).toBe('published');
      const [[id = '', input] = [], ...others] = Object.entries(await stored('ann'));
      expect([input, others]).toEqual([{ cents: 7 }, []]);
      const after = { fired: 1, lastTaskId: id, lastAt: harness.clock.now(), state: 'active' };
      expect(await loom.schedules.get('ship')).toEqual({ ...info, ...after });
      await loom.worker().start();
      await ended(loom, id);
      expect(await loom.tasks.get(id)).toMatchObject({ user: 'ann', result: 7, priority: 4 });
    });

    it('puts what is known of the event into the input', async () => {
      await loom.schedules.on('tell', {
        event: 'paid',
        task: tell,
        input: (event) => ({
          of: `${event.name} ${event.key} ${event.eventId}`,
          paid: event.payload,
          list: [event.payload, { in: event.payload }, event.key],
          id: event.taskId,
        }),
      });
      const key = 'o:"7"\\ é';
      await loom.publish('paid', key, { cents: 7 }, { eventId: 'a "b"' });
      const [[id, input] = []] = Object.entries(await stored());
      const paid = { cents: 7 };
      expect(input).toEqual({
        of: `paid ${key} a "b"`,
        paid,
        list: [paid, { in: paid }, key],
        id,
      });
      const shownPaid = '<event.payload>';
      expect(await loom.schedules.get('tell')).toMatchObject({
        input: {
          of: '<event.name> <event.key> <event.eventId>',
          paid: shownPaid,
          list: [shownPaid, { in: shownPaid }, '<event.key>'],
          id: '<event.taskId>',
        },
      });
    });

    it('takes events about one thing alone, data as input, and events without a payload', async () => {
      await loom.schedules.on('one', { event: 'paid', key: 'o-7', task: none, input: 'given' });
      await loom.schedules.on('all', { event: 'paid', task: none });
      expect(await loom.schedules.get('one')).toMatchObject({ key: 'o-7', input: 'given' });
      await loom.publish('paid', 'o-8');
      expect(await inputs()).toEqual([undefined]);
      await loom.publish('paid', 'o-7', 0);
      expect([...(await inputs())].sort()).toEqual([0, 'given', undefined]);
      expect((await loom.schedules.get('one'))?.fired).toBe(1);
    });

    it('starts a task for each key under one id of an event', async () => {
      await loom.schedules.on('ship', { event: 'paid', task: ship });
      for (const key of ['a', 'b']) await loom.publish('paid', key, { cents: 1 }, { eventId: 'e' });
      expect(await inputs()).toHaveLength(2);
    });

    it('starts runs, and what a worker of another version keeps', async () => {
      const v2 = task('double', { version: 'v2' }, async (n: number) => 20 * n);
      const newer = harness.loom([v2]);
      await loom.schedules.on('pair', { event: 'counted', task: pair });
      await loom.schedules.on('given', { event: 'counted', task: pair, input: 3 });
      await newer.schedules.on('v2', { event: 'counted', task: v2 });
      expect(await loom.schedules.get('v2')).toMatchObject({ task: 'double', version: 'v2' });
      expect(await loom.schedules.get('pair')).toMatchObject({ task: 'pair' });
      await loom.publish('counted', 'k', 5);
      await loom.worker().start();
      await newer.worker().start();
      const results = async (): Promise<readonly unknown[]> => {
        const last = async (id: string): Promise<unknown> => {
          const { lastTaskId = '' } = (await loom.schedules.get(id)) ?? {};
          return (await loom.tasks.get(lastTaskId))?.result;
        };
        return Promise.all(['pair', 'given', 'v2'].map(last));
      };
      await harness.until(async () => !(await results()).includes(undefined));
      expect(await results()).toEqual([20, 12, 100]);
      const { lastTaskId = '' } = (await loom.schedules.get('pair')) ?? {};
      expect(await loom.runs.get(lastTaskId)).toMatchObject({ id: lastTaskId, input: 5 });
    });

    it('needs no code where it is published, and no more than a name where it is set', async () => {
      const elsewhere = harness.loom([]);
      await elsewhere.schedules.onByName('ship', { event: 'paid', name: 'ship', queue: 'bulk' });
      await elsewhere.publish('paid', 'o-7', { cents: 4 });
      await loom.worker({ queues: ['bulk'] }).start();
      const { lastTaskId = '' } = (await loom.schedules.get('ship')) ?? {};
      await ended(loom, lastTaskId);
      expect(await loom.tasks.get(lastTaskId)).toMatchObject({ result: 4, queue: 'bulk' });
    });

    it('ends waits and starts tasks by one event, which may come from a handler', async () => {
      const say = task('say', (n: number, ctx) => loom.publish('said', 'k', n, { user: ctx.user }));
      const here = harness.loom([say, none]);
      await here.schedules.on('heard', { event: 'said', task: none, user: 'ann' });
      await here.worker().start();
      await settled(harness, (await here.enqueue(say, 6, { user: 'ann' })).result());
      const { lastTaskId = '' } = (await here.schedules.get('heard')) ?? {};
      await ended(here, lastTaskId);
      expect(await here.tasks.get(lastTaskId)).toMatchObject({ result: 6, user: 'ann' });
    });

    it('starts what waits: a run that goes on by a signal', async () => {
      const go = signal<number>('go');
      const run = none.pipe(waitFor(go)).as('held');
      const here = harness.loom([none, run]);
      await here.schedules.on('held', { event: 'begun', task: run });
      await here.publish('begun', 'k', 1);
      const { lastTaskId = '' } = (await here.schedules.get('held')) ?? {};
      await here.worker().start();
      await here.signal(lastTaskId, go, 9);
      await ended(here, lastTaskId);
      expect((await here.tasks.get(lastTaskId))?.result).toBe(9);
    });
  });

  describe('an event whose task is refused', () => {
    it('is not published, and its waits go on waiting', async () => {
      await loom.schedules.on('ship', { event: 'paid', task: ship, user: 'ann' });
      await loom.users.set('ann', { maxQueued: 1 });
      const publish = () => loom.publish('paid', 'o', { cents: 1 }, { user: 'ann', eventId: 'e2' });
      await loom.enqueue(ship, { cents: 0 }, { user: 'ann' });
      expect(await refusal(publish())).toBeInstanceOf(QueueFullError);
      expect(await inputs('ann')).toEqual([{ cents: 0 }]);
      await loom.users.set('ann', { maxQueued: 2 });
      expect(await publish()).toBe('published');
      expect(await inputs('ann')).toHaveLength(2);
    });
  });

  describe('life', () => {
    it('the same again changes nothing; paused it starts nothing; removed it is gone', async () => {
      const options = { event: 'paid', task: ship } as const;
      const first = await loom.schedules.on('ship', options);
      await harness.clock.advance('1s');
      expect(await loom.schedules.on('ship', options)).toEqual(first);
      expect(await loom.schedules.pause('ship')).toMatchObject({ state: 'paused' });
      await loom.publish('paid', 'o', { cents: 1 });
      expect(await loom.schedules.on('ship', { ...options, queue: 'bulk' })).toMatchObject({
        state: 'paused',
      });
      expect(await loom.schedules.resume('ship')).toMatchObject({ state: 'active' });
      expect(await inputs()).toEqual([]);
      await loom.publish('paid', 'o', { cents: 2 });
      expect(await inputs()).toEqual([{ cents: 2 }]);
      expect(await loom.schedules.next('ship')).toEqual([]);
      expect(await loom.schedules.remove('ship')).toBe(true);
      await loom.publish('paid', 'o', { cents: 3 });
      expect(await inputs()).toHaveLength(1);
    });

    it('becomes one that fires by the clock, and back', async () => {
      await loom.schedules.on('s', { event: 'paid', task: none });
      const clock = await loom.schedules.set('s', { every: '1s', task: none, input: 1 });
      expect(clock).toMatchObject({ everyMs: 1_000, state: 'active' });
      expect(clock.event).toBeUndefined();
      await loom.publish('paid', 'o');
      expect(await inputs()).toEqual([]);
      const back = await loom.schedules.on('s', { event: 'paid', task: none });
      expect(back).toMatchObject({ event: 'paid', state: 'active' });
      expect(back.nextAt ?? back.everyMs).toBeUndefined();
      await loom.worker().start();
      await harness.clock.advance('3s');
      expect(await inputs()).toEqual([]);
    });

    it('is changed in a part', async () => {
      await loom.schedules.on('s', { event: 'paid', key: 'k', task: none, user: 'ann' });
      const changed = await loom.schedules.update('s', { user: 'bob', priority: 'low' });
      expect(changed).toMatchObject({ user: 'bob', priority: 2, event: 'paid', key: 'k' });
      await loom.publish('paid', 'k', 1, { user: 'ann' });
      await loom.publish('paid', 'k', 2, { user: 'bob' });
      expect([await inputs('ann'), await inputs('bob')]).toEqual([[], [2]]);
      await loom.schedules.update('s', { input: (event: { key: string }) => [event.key] });
      await loom.publish('paid', 'k', 2, { user: 'bob' });
      expect(await inputs('bob')).toEqual([2, ['k']]);
      for (const patch of [{ cron: '* * * * *' }, { overlap: 'skip' }, { limit: 3 }] as const) {
        expect(await refusal(loom.schedules.update('s', patch))).toBeInstanceOf(InvalidOptionError);
      }
    });

    it('has no slots to run by hand', async () => {
      await loom.schedules.on('s', { event: 'paid', task: none });
      const calls = [
        () => loom.schedules.run('s'),
        () => loom.schedules.backfill('s', { from: 0 }),
      ];
      for (const call of calls) {
        expect(await refusal(call())).toMatchObject({
          message: expect.stringContaining('publish paid instead'),
        });
      }
      expect(await refusal(loom.schedules.run('t'))).toBeInstanceOf(ScheduleNotFoundError);
    });

    it('so many fire at one event', async () => {
      for (let n = 0; n < LIMITS.eventSchedules; n++) {
        await loom.schedules.on(`s${n}`, { event: 'paid', task: none });
      }
      const more = loom.schedules.on('more', { event: 'paid', task: none });
      expect(await refusal(more)).toMatchObject({
        message: expect.stringContaining('at most 16 schedules'),
      });
      expect(await loom.schedules.get('more')).toBeUndefined();
      await loom.publish('paid', 'o', 'x'.repeat(30_000));
      expect(await inputs()).toHaveLength(LIMITS.eventSchedules);
    });
  });

  it('bad input is refused before anything is stored', async () => {
    const only: StandardSchemaV1<unknown, number> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) =>
          typeof value === 'number' ? { value } : { issues: [{ message: 'is no number' }] },
      },
    };
    const strict = task('strict', { input: only }, async (n: number) => n);
    const bad: readonly object[] = [
      { task: none },
      { event: '', task: none },
      { event: 'two words', task: none },
      { event: 'paid', key: '', task: none },
      { event: 'paid', key: 'k'.repeat(200), task: none },
      { event: 'paid', task: none, cron: '* * * * *' },
      { event: 'paid', task: none, overlap: 'skip' },
      { event: 'paid', task: none, limit: 3 },
      { event: 'paid', task: none, dependsOn: ['a'] },
      { event: 'paid', task: none, id: 'a' },
      { event: 'paid', task: none, name: 'none' },
      { event: 'paid', task: {} },
      { event: 'paid' },
      { event: 'paid', task: none, input: (e: { payload: unknown }) => `the ${e.payload}` },
      { event: 'paid', task: none, input: (e: { payload: string }) => ({ [e.payload]: 1 }) },
      { event: 'paid', task: none, input: (e: { key: string }) => e.key.slice(1) },
      { event: 'paid', task: none, input: 'x'.repeat(LIMITS.eventInputBytes) },
      { event: 'paid', task: pair, form: 'dispatched' },
      { event: 'paid', task: strict, input: 'no number' },
    ];
    for (const options of bad) {
      // What a caller without types may write.
      const said = options as EventScheduleOptions<unknown, unknown, unknown>;
      const error = await refusal(loom.schedules.on('s', said));
      const isTyped = error instanceof InvalidOptionError || error instanceof InvalidPayloadError;
      expect([options, isTyped]).toEqual([options, true]);
    }
    expect(await loom.schedules.list()).toEqual({ items: [] });
    expect(await loom.schedules.on('s', { event: 'paid', task: strict })).toMatchObject({
      state: 'active',
    });
  });

  it('inputs and payloads are encrypted where they are stored', async () => {
    const codec = encrypted({ keys: [{ id: 'k1', key: Buffer.alloc(32, 1) }] });
    const secret = harness.loom([none], { codec });
    await secret.schedules.on('s', {
      event: 'paid',
      task: none,
      input: (event) => ({ word: 'xyzzy', paid: event.payload }),
    });
    await secret.publish('paid', 'o', 'plugh');
    const { lastTaskId = '' } = (await secret.schedules.get('s')) ?? {};
    const input = { word: 'xyzzy', paid: 'plugh' };
    expect(await secret.tasks.get(lastTaskId)).toMatchObject({ input });
    const kept = [
      await harness.backend.inspect.get([lastTaskId]),
      await harness.backend.schedules.get('s'),
    ];
    expect(JSON.stringify(kept)).not.toMatch(/xyzzy|plugh/);
    const blind = await refusal(loom.publish('paid', 'o', 1));
    expect(blind).toMatchObject({ code: 'DECRYPTION_FAILED' });
  });
});
