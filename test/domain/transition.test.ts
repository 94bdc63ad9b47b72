import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEnd, TASK_STATES, type TaskState } from '../../src/domain/task/task.ts';
import {
  MOVES,
  nextState,
  type Pace,
  type Situation,
  type TaskEvent,
  waitingState,
} from '../../src/domain/task/transition.ts';

const FREE: Situation = { isBlocked: false, isJoin: false, isCanceling: false };
const BLOCKED: Situation = { ...FREE, isBlocked: true };
const JOIN: Situation = { ...FREE, isJoin: true };

/** Where each event leads a task that nothing holds up; `joined`: of a join. */
const LEADS_TO: Readonly<Record<TaskEvent, TaskState>> = {
  due: 'queued',
  unblocked: 'queued',
  joined: 'finished',
  paused: 'deferred',
  resumed: 'queued',
  leased: 'started',
  finished: 'finished',
  retried: 'queued',
  released: 'queued',
  deadLettered: 'failed',
  suspended: 'queued',
  leaseEnded: 'queued',
  gaveUp: 'failed',
  cancelRequested: 'started',
  canceled: 'canceled',
  redriven: 'queued',
};

/** From which states. */
const LEAVES: Readonly<Record<TaskEvent, string>> = {
  due: 'scheduled',
  unblocked: 'deferred scheduled',
  joined: 'deferred',
  paused: 'queued',
  resumed: 'deferred',
  leased: 'queued',
  finished: 'started deferred queued',
  retried: 'started deferred queued',
  released: 'started deferred queued',
  deadLettered: 'started deferred queued',
  suspended: 'started deferred',
  leaseEnded: 'started',
  gaveUp: 'scheduled deferred queued',
  cancelRequested: 'started',
  canceled: 'scheduled deferred queued started',
  redriven: 'failed',
};

// The table has a row for each event.
const EVENTS = Object.keys(LEADS_TO) as readonly TaskEvent[];
const OUT_OF_STARTED: readonly TaskEvent[] = [
  'finished',
  'retried',
  'released',
  'deadLettered',
  'suspended',
  'leaseEnded',
];

describe('nextState', () => {
  const pairs = TASK_STATES.flatMap((state) => EVENTS.map((event) => ({ state, event })));

  it.each(pairs)('$state × $event', ({ state, event }) => {
    const next = nextState(state, event, event === 'joined' ? JOIN : FREE);
    const staysScheduled = event === 'unblocked' && state === 'scheduled';
    const leads = LEAVES[event].split(' ').includes(state);
    expect(next).toBe(!leads ? undefined : staysScheduled ? 'scheduled' : LEADS_TO[event]);
    expect(MOVES[event].from.includes(state)).toBe(leads);
  });

  it('defers what is blocked, for every event that would put it in line', () => {
    expect(nextState('scheduled', 'due', BLOCKED)).toBe('deferred');
    expect(nextState('failed', 'redriven', BLOCKED)).toBe('deferred');
    expect(nextState('started', 'suspended', BLOCKED)).toBe('deferred');
    expect([waitingState(BLOCKED), waitingState(FREE)]).toEqual(['deferred', 'queued']);
  });

  it('goes on at the pace that is asked for', () => {
    for (const event of ['retried', 'released', 'leaseEnded'] as const) {
      const paces: readonly Pace[] = ['now', 'later', 'never'];
      const states = paces.map((pace) => nextState('started', event, FREE, pace));
      expect(states).toEqual(['queued', 'scheduled', 'failed']);
    }
  });

  it('never queues a join: it waits as deferred until it has joined', () => {
    expect(nextState('scheduled', 'due', JOIN)).toBe('deferred');
    expect(nextState('deferred', 'unblocked', JOIN)).toBe('deferred');
    expect(nextState('failed', 'redriven', JOIN)).toBe('deferred');
    expect(waitingState(JOIN)).toBe('deferred');
    expect(nextState('deferred', 'joined', JOIN)).toBe('finished');
  });

  it('joins nothing while it is blocked, or when it is no join', () => {
    expect(nextState('deferred', 'joined', { ...JOIN, isBlocked: true })).toBeUndefined();
    expect(nextState('deferred', 'joined', FREE)).toBeUndefined();
  });

  it('ends every way out of started as canceled once a cancel was requested', () => {
    for (const event of OUT_OF_STARTED) {
      expect(nextState('started', event, { ...FREE, isCanceling: true }, 'later')).toBe('canceled');
    }
  });

  it('never leaves an end, but for a dead letter that is redriven', () => {
    const situation = fc.record({
      isBlocked: fc.boolean(),
      isJoin: fc.boolean(),
      isCanceling: fc.boolean(),
    });
    const happening = fc.tuple(
      fc.constantFrom(...EVENTS),
      situation,
      fc.constantFrom<Pace>('now', 'later', 'never'),
    );
    const start = fc.constantFrom<TaskState>('scheduled', 'deferred', 'queued');
    fc.assert(
      fc.property(start, fc.array(happening, { maxLength: 60 }), (state, happenings) => {
        let now = state;
        for (const [event, task, pace] of happenings) {
          const next = nextState(now, event, task, pace);
          if (isEnd(now)) expect(next !== undefined).toBe(now === 'failed' && event === 'redriven');
          now = next ?? now;
        }
      }),
    );
  });
});
