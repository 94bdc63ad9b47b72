/** Settle: every decision, in every order, and only from who holds the lease. */

import { LIMITS } from '../../domain/limits.ts';
import type { Decision } from '../../domain/port/backend.ts';
import type { Cases } from '../cases.ts';
import { LEASE_MS, RETRIED } from '../kit.ts';

const FINISH: Decision = { type: 'finish', result: '1' };

/** What each decision of a worker makes of its task. */
export const decisions: Cases = {
  'finish keeps the result': async (kit, expect) => {
    const id = await kit.add();
    const leased = await kit.leaseOne();
    await kit.advance(1_000);
    expect(await kit.finish(leased, '{"a":[1]}')).toEqual({
      kind: 'ok',
      state: 'finished',
      repeated: false,
    });
    const record = await kit.record(id);
    expect(record).toMatchObject({ state: 'finished', result: '{"a":[1]}', endedAt: kit.now() });
    expect([record?.token, record?.leaseUntil]).toEqual([undefined, undefined]);
  },

  'retry waits, and keeps the error and the place in line': async (kit, expect) => {
    const id = await kit.add();
    await kit.addMany(2);
    const leased = await kit.leaseOne();
    expect(await kit.retry(leased, 3_000)).toEqual({
      kind: 'ok',
      state: 'scheduled',
      repeated: false,
    });
    const expected = { state: 'scheduled', dueAt: kit.now() + 3_000, failures: 1 };
    expect(await kit.record(id)).toMatchObject(expected);
    expect((await kit.record(id))?.error).toContain('not yet');
    await kit.advance(3_000);
    expect(await kit.leaseOne()).toMatchObject({ id, attempt: 2 });
  },

  'retry without a wait goes back to its place at once': async (kit, expect) => {
    const id = await kit.add();
    await kit.addMany(2);
    expect(await kit.retry(await kit.leaseOne(), 0)).toMatchObject({ state: 'queued' });
    expect(await kit.leaseOne()).toMatchObject({ id, attempt: 2 });
  },

  // F13
  'dead-letter keeps its cause, as it is, and the error': async (kit, expect) => {
    const id = await kit.add();
    const error = '{"name":"E","message":"broken"}';
    const cause = { type: 'attempts', failure: 'timeout', made: 1, of: 1 } as const;
    const failed = { type: 'dead-letter', cause, error } as const;
    const answer = await kit.settle(await kit.leaseOne(), failed);
    expect(answer).toEqual({ kind: 'ok', state: 'failed', repeated: false });
    expect(await kit.record(id)).toMatchObject({
      state: 'failed',
      cause,
      error,
      failures: 1,
      endedAt: kit.now(),
    });
  },

  // F13
  'cancel keeps its cause with any words in it': async (kit, expect) => {
    const id = await kit.add();
    const answer = await kit.settle(await kit.leaseOne(), {
      type: 'cancel',
      cause: { type: 'decider', reason: 'upstream vendor is down' },
    });
    expect(answer).toMatchObject({ kind: 'ok', state: 'canceled' });
    expect(await kit.record(id)).toMatchObject({
      state: 'canceled',
      cause: { type: 'decider', reason: 'upstream vendor is down' },
    });
  },

  // O27
  'release without a wait takes the old place and is no attempt': async (kit, expect) => {
    const id = await kit.add();
    await kit.addMany(2);
    for (let i = 0; i < 3; i++) {
      const leased = await kit.leaseOne();
      expect(leased).toMatchObject({ id, attempt: 1, releases: 0 });
      expect(await kit.release(leased)).toMatchObject({ kind: 'ok', state: 'queued' });
    }
    expect(await kit.record(id)).toMatchObject({ failures: 0, losses: 0, releases: 0 });
  },

  'release with a wait goes to the tail of its level and is counted apart': async (kit, expect) => {
    const id = await kit.add();
    const others = await kit.addMany(2);
    expect(await kit.release(await kit.leaseOne(), 1_000)).toMatchObject({ state: 'scheduled' });
    expect(await kit.record(id)).toMatchObject({ releases: 1, failures: 0 });
    await kit.advance(1_000);
    const leases = await kit.lease(3);
    expect(leases.map((leased) => leased.id)).toEqual([...others, id]);
    expect(leases[2]).toMatchObject({ attempt: 1, releases: 1 });
  },

  'takes a whole batch, each on its own': async (kit, expect) => {
    await kit.addMany(LIMITS.leaseBatch);
    const leases = await kit.lease(LIMITS.leaseBatch);
    const [stale] = leases;
    const settlements = leases.map(({ id, token }) => ({ id, token, decision: FINISH }));
    const { answers } = await kit.backend.tasks.settle({
      worker: 'w',
      settlements: [
        ...settlements,
        { id: 'nowhere', token: '1-aaaaaaaa', decision: FINISH },
        { id: stale?.id ?? '', token: '1-aaaaaaaa', decision: FINISH },
      ],
    });
    expect(answers.filter(({ kind }) => kind === 'ok')).toHaveLength(LIMITS.leaseBatch);
    expect(answers.slice(-2)).toEqual([{ kind: 'notFound' }, { kind: 'leaseLost' }]);
  },

  'keeps a record of each attempt that did not end well, and of the one that did': async (
    kit,
    expect,
  ) => {
    const id = await kit.add();
    await kit.retry(await kit.leaseOne(), 0);
    await kit.release(await kit.leaseOne());
    await kit.leaseOne();
    await kit.advance(LEASE_MS + 1);
    await kit.finish(await kit.leaseOne());
    const attempts = await kit.backend.inspect.attempts(id);
    const shown = attempts.map(({ attempt, outcome }) => `${attempt} ${outcome}`);
    expect(shown).toEqual(['1 failed', '2 released', '2 lost', '2 succeeded']);
    expect(attempts[0]).toMatchObject({ worker: 'w', decision: 'retry', cause: RETRIED });
    expect(attempts[3]).toMatchObject({ decision: 'finish', endedAt: kit.now() });
  },

  'tells the attempt of a task that went well at once': async (kit, expect) => {
    const id = await kit.add();
    const leased = await kit.leaseOne();
    await kit.advance(500);
    await kit.finish(leased);
    expect(await kit.backend.inspect.attempts(id)).toMatchObject([
      {
        attempt: 1,
        worker: 'w',
        leasedAt: leased.leasedAt,
        endedAt: kit.now(),
        outcome: 'succeeded',
        decision: 'finish',
      },
    ]);
  },

  'keeps the newest attempts only': async (kit, expect) => {
    const id = await kit.add();
    for (let i = 0; i < LIMITS.attemptsKept + 5; i++) await kit.retry(await kit.leaseOne(), 0);
    const attempts = await kit.backend.inspect.attempts(id);
    expect(attempts.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: LIMITS.attemptsKept }, (_, i) => i + 6),
    );
  },
};

/** Only who holds the lease settles, and again means the same. */
export const holders: Cases = {
  'answers the same settle again with ok, repeated': async (kit, expect) => {
    await kit.add();
    const leased = await kit.leaseOne();
    await kit.finish(leased, '1');
    expect(await kit.finish(leased, '2')).toEqual({
      kind: 'ok',
      state: 'finished',
      repeated: true,
    });
    expect((await kit.record(leased.id))?.result).toBe('1');
    expect((await kit.stats()).totals.finished).toBe(1);
  },

  'answers a repeated retry with what became of the task since': async (kit, expect) => {
    await kit.add();
    const leased = await kit.leaseOne();
    await kit.retry(leased, 1_000);
    expect(await kit.retry(leased, 1_000)).toEqual({
      kind: 'ok',
      state: 'scheduled',
      repeated: true,
    });
    expect((await kit.record(leased.id))?.failures).toBe(1);
    await kit.advance(1_000);
    await kit.leaseOne();
    expect(await kit.retry(leased, 0)).toMatchObject({ repeated: true, state: 'started' });
  },

  'refuses what is not leased, and what is not stored': async (kit, expect) => {
    const id = await kit.add();
    const token = '1-aaaaaaaa';
    expect(await kit.finish({ id, token })).toEqual({ kind: 'leaseLost' });
    expect(await kit.finish({ id: 'nowhere', token })).toEqual({ kind: 'notFound' });
    expect(await kit.state(id)).toBe('queued');
  },

  // O1
  'a slow worker whose lease was taken over settles nothing': async (kit, expect) => {
    const id = await kit.add();
    const slow = await kit.leaseOne({ worker: 'slow', leaseMs: 1_000 });
    await kit.advance(1_001);
    const quick = await kit.leaseOne({ worker: 'quick' });
    expect(quick.id).toBe(id);
    expect(await kit.finish(slow, '"slow"')).toEqual({ kind: 'leaseLost' });
    expect(await kit.finish(quick, '"quick"')).toMatchObject({ kind: 'ok', repeated: false });
    expect(await kit.finish(slow, '"slow"')).toEqual({ kind: 'leaseLost' });
    expect((await kit.record(id))?.result).toBe('"quick"');
    expect((await kit.stats()).totals).toMatchObject({ finished: 1, lost: 1 });
  },

  'accepts a settle past the end of the lease while no sweep has come': async (kit, expect) => {
    await kit.add();
    const leased = await kit.leaseOne({ leaseMs: 1_000 });
    await kit.shift(4_000);
    expect(await kit.finish(leased)).toMatchObject({ kind: 'ok', state: 'finished' });
  },

  // O36
  'makes one end of fifty settles at once': async (kit, expect) => {
    await kit.add();
    const leased = await kit.leaseOne();
    const answers = await Promise.all(Array.from({ length: 50 }, () => kit.finish(leased)));
    expect(answers.filter((answer) => answer.kind === 'ok' && !answer.repeated)).toHaveLength(1);
    expect(answers.filter((answer) => answer.kind === 'ok')).toHaveLength(50);
    expect((await kit.stats()).totals.finished).toBe(1);
  },

  'takes a settlement named twice in one call once': async (kit, expect) => {
    await kit.add();
    const { id, token } = await kit.leaseOne();
    const twice = { id, token, decision: FINISH };
    const reply = await kit.backend.tasks.settle({ worker: 'w', settlements: [twice, twice] });
    expect(reply.answers).toEqual([
      { kind: 'ok', state: 'finished', repeated: false },
      { kind: 'ok', state: 'finished', repeated: true },
    ]);
  },

  'a release that is sent again does not disturb the next lease': async (kit, expect) => {
    const id = await kit.add();
    const leased = await kit.leaseOne();
    await kit.release(leased);
    const next = await kit.leaseOne();
    expect(await kit.release(leased)).toMatchObject({ kind: 'ok', repeated: true });
    expect(await kit.finish(next)).toMatchObject({ kind: 'ok', repeated: false });
    expect(await kit.state(id)).toBe('finished');
  },
};
