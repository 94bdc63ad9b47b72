import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEnd, TASK_STATES, type TaskState } from '../../src/domain/task/task.ts';
import {
  ALLOWED_FROM,
  allows,
  type Life,
  type TaskEvent,
  transition,
} from '../../src/domain/task/transition.ts';

const TOKEN = '7-abcdefgh';

/** One event of each type, such that nothing but the state can refuse it. */
const EVENTS: Readonly<Record<TaskEvent['type'], TaskEvent>> = {
  due: { type: 'due', at: 100 },
  unblocked: { type: 'unblocked' },
  leased: { type: 'leased', token: TOKEN },
  finished: { type: 'finished', token: TOKEN },
  retried: { type: 'retried', token: TOKEN, until: 200 },
  released: { type: 'released', token: TOKEN },
  deadLettered: { type: 'deadLettered', token: TOKEN },
  suspended: { type: 'suspended', token: TOKEN, blocked: true },
  joined: { type: 'joined' },
  leaseEnded: { type: 'leaseEnded', last: false },
  gaveUp: { type: 'gaveUp', failureType: 'expired' },
  cancelRequested: { type: 'cancelRequested' },
  canceled: { type: 'canceled' },
  redriven: { type: 'redriven' },
};

/** Where each event leads from each state that it may leave; `due` and `redriven` when not blocked. */
const LEADS_TO: Readonly<Record<TaskEvent['type'], TaskState>> = {
  due: 'queued',
  unblocked: 'queued',
  leased: 'started',
  finished: 'finished',
  retried: 'scheduled',
  released: 'queued',
  deadLettered: 'failed',
  suspended: 'deferred',
  joined: 'finished',
  leaseEnded: 'queued',
  gaveUp: 'failed',
  cancelRequested: 'started',
  canceled: 'canceled',
  redriven: 'queued',
};

const TYPES = Object.keys(EVENTS) as readonly TaskEvent['type'][];
const OUT_OF_STARTED = [
  'finished',
  'retried',
  'released',
  'deadLettered',
  'suspended',
  'leaseEnded',
] as const;
/** A join that nothing blocks. */
const JOIN: Partial<Life> = { join: true, blocked: false };

function life(state: TaskState, more: Partial<Life> = {}): Life {
  return {
    state,
    blocked: state === 'deferred',
    cancelRequested: false,
    ...(state === 'scheduled' ? { dueAt: 100 } : {}),
    ...(state === 'started' ? { token: TOKEN } : {}),
    ...more,
  };
}

describe('transition', () => {
  const pairs = TASK_STATES.flatMap((state) => TYPES.map((type) => ({ state, type })));

  it.each(pairs)('$state × $type agrees with ALLOWED_FROM', ({ state, type }) => {
    const answer = transition(life(state, type === 'joined' ? JOIN : {}), EVENTS[type]);
    expect(answer.ok).toBe(ALLOWED_FROM[type].includes(state));
    expect(allows(type, state)).toBe(answer.ok);
    if (!answer.ok) {
      expect(answer.refusal).toBe('wrongState');
      return;
    }
    const staysScheduled = type === 'unblocked' && state === 'scheduled';
    expect(answer.life.state).toBe(staysScheduled ? 'scheduled' : LEADS_TO[type]);
  });

  it('keeps only the fields that the new state has', () => {
    for (const { state, type } of pairs) {
      const answer = transition(life(state, type === 'joined' ? JOIN : {}), EVENTS[type]);
      if (!answer.ok) continue;
      expect([state, type, 'token' in answer.life]).toEqual([
        state,
        type,
        answer.life.state === 'started',
      ]);
      expect([state, type, 'dueAt' in answer.life]).toEqual([
        state,
        type,
        answer.life.state === 'scheduled',
      ]);
    }
  });

  it('refuses a due event before its time', () => {
    const early = transition(life('scheduled'), { type: 'due', at: 99 });
    expect(early).toEqual({ ok: false, refusal: 'tooEarly' });
  });

  it('defers a due or redriven task that is blocked', () => {
    const due = transition(life('scheduled', { blocked: true }), EVENTS.due);
    expect(due.ok && due.life.state).toBe('deferred');
    const redriven = transition(life('failed', { blocked: true }), EVENTS.redriven);
    expect(redriven.ok && redriven.life.state).toBe('deferred');
  });

  it('schedules a release or a lost lease that names a time', () => {
    const released = transition(life('started'), { type: 'released', token: TOKEN, until: 9 });
    expect(released.ok && released.life).toMatchObject({ state: 'scheduled', dueAt: 9 });
    const lost = transition(life('started'), { type: 'leaseEnded', until: 9, last: false });
    expect(lost.ok && lost.life).toMatchObject({ state: 'scheduled', dueAt: 9 });
  });

  it('fails a task whose lease ended for the last time', () => {
    const lost = transition(life('started'), { type: 'leaseEnded', last: true });
    expect(lost.ok && lost.life.state).toBe('failed');
  });

  it('queues a suspended run again that nothing blocks', () => {
    const answer = transition(life('started'), {
      ...EVENTS.suspended,
      blocked: false,
    } as TaskEvent);
    expect(answer.ok && answer.life).toEqual(life('queued'));
  });

  it('never queues a join: it waits as deferred until it has joined', () => {
    const moves = [
      transition(life('scheduled', JOIN), EVENTS.due),
      transition(life('deferred', { join: true }), EVENTS.unblocked),
      transition(life('failed', JOIN), EVENTS.redriven),
    ];
    for (const answer of moves) {
      expect(answer.ok && answer.life).toEqual(life('deferred', JOIN));
      const joined = answer.ok ? transition(answer.life, EVENTS.joined) : answer;
      expect(joined.ok && joined.life.state).toBe('finished');
    }
  });

  it('joins nothing while it is blocked, or when it is no join', () => {
    for (const more of [{ join: true, blocked: true }, { blocked: false }] as const) {
      const answer = transition(life('deferred', more), EVENTS.joined);
      expect(answer).toEqual({ ok: false, refusal: 'wrongState' });
    }
  });

  it('accepts no other token than the one in force', () => {
    const settled = OUT_OF_STARTED.filter((type) => type !== 'leaseEnded');
    for (const type of settled) {
      const stale = { ...EVENTS[type], token: '6-abcdefgh' } as TaskEvent;
      expect(transition(life('started'), stale)).toEqual({ ok: false, refusal: 'leaseLost' });
    }
  });

  it('ends every way out of started as canceled once a cancel was requested', () => {
    for (const type of OUT_OF_STARTED) {
      const answer = transition(life('started', { cancelRequested: true }), EVENTS[type]);
      expect(answer.ok && answer.life.state).toBe('canceled');
    }
  });
});

describe('any history', () => {
  const token = fc.constantFrom(TOKEN, '8-ijklmnop');
  const at = fc.integer({ min: 0, max: 1_000 });
  const event: fc.Arbitrary<TaskEvent> = fc.oneof(
    fc.record({ type: fc.constant('due' as const), at }),
    fc.constantFrom(EVENTS.unblocked, EVENTS.cancelRequested, EVENTS.canceled, EVENTS.redriven),
    fc.record({ type: fc.constant('leased' as const), token }),
    fc.record({ type: fc.constantFrom('finished' as const, 'deadLettered' as const), token }),
    fc.record({ type: fc.constant('retried' as const), token, until: at }),
    fc.record({ type: fc.constant('released' as const), token }),
    fc.record({ type: fc.constant('suspended' as const), token, blocked: fc.boolean() }),
    fc.constant(EVENTS.joined),
    fc.record({ type: fc.constant('leaseEnded' as const), last: fc.boolean() }),
    fc.constant(EVENTS.gaveUp),
  );
  const start = fc.constantFrom<TaskState>('scheduled', 'deferred', 'queued');

  it('never leaves an end, but for a dead letter that is redriven', () => {
    fc.assert(
      fc.property(start, fc.array(event, { maxLength: 60 }), (state, events) => {
        let now = life(state);
        for (const next of events) {
          const answer = transition(now, next);
          if (isEnd(now.state)) {
            expect(answer.ok).toBe(now.state === 'failed' && next.type === 'redriven');
          }
          if (answer.ok) now = answer.life;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('finishes only under the token that the latest lease gave', () => {
    fc.assert(
      fc.property(start, fc.array(event, { maxLength: 60 }), (state, events) => {
        let now = life(state);
        for (const next of events) {
          const answer = transition(now, next);
          const settles = 'token' in next && next.type !== 'leased';
          if (settles && now.state === 'started') expect(answer.ok).toBe(next.token === now.token);
          if (settles && now.state !== 'started') expect(answer.ok).toBe(false);
          if (answer.ok) now = answer.life;
        }
        expect(TASK_STATES).toContain(now.state);
      }),
      { numRuns: 2_000 },
    );
  });

  it('never runs a task that is blocked', () => {
    fc.assert(
      fc.property(start, fc.array(event, { maxLength: 60 }), (state, events) => {
        let now = life(state, { blocked: state !== 'queued' });
        for (const next of events) {
          const answer = transition(now, next);
          if (answer.ok) now = answer.life;
          expect(now.state === 'started' && now.blocked).toBe(false);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
