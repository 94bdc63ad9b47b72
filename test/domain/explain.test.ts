import { describe, expect, it } from 'vitest';
import { explain, type Obstacle } from '../../src/domain/explain/explain.ts';
import { factsOf, NOW, type SaidFacts, worker } from './task-facts.ts';

type Row = readonly [
  name: string,
  facts: SaidFacts,
  kinds: readonly Obstacle['kind'][],
  text: string,
  command: string | undefined,
];

const ROWS: readonly Row[] = [
  [
    'a delay',
    { record: { state: 'scheduled', dueAt: NOW + 90_000 } },
    ['delayed'],
    'it is delayed until 2026-01-05T12:01:30Z (in 90 s)',
    'fairloom tasks run-now t1',
  ],
  [
    'the backoff of a retry',
    { record: { state: 'scheduled', dueAt: NOW + 7_200_000, failures: 2, id: "it's" } },
    ['delayed'],
    'it waits for its attempt 3 until 2026-01-05T14:00:00Z (in 2 h)',
    "fairloom tasks run-now 'it'\\''s'",
  ],
  [
    'a dependency',
    { record: { state: 'deferred' }, blockedBy: [{ id: 'a', state: 'queued' }] },
    ['blocked'],
    'it waits for a (queued)',
    'fairloom tasks explain a',
  ],
  [
    'a failed one of many',
    {
      record: { state: 'deferred' },
      blockedBy: [...'abcdefg'].map((id) => ({ id, state: id === 'c' ? 'failed' : 'started' })),
    },
    ['blocked'],
    'it waits for a (started), b (started), c (failed), d (started), e (started) and 2 more',
    'fairloom tasks redrive c',
  ],
  [
    'a suspended run',
    {
      record: { state: 'deferred' },
      blockedBy: [
        { id: 'a', state: 'queued' },
        { id: 'b', state: 'started' },
      ],
      suspension: { of: 5, wakeOn: 'all' },
    },
    ['suspended'],
    'it is suspended, waiting for 2 of 5: a (queued), b (started)',
    'fairloom tasks explain a',
  ],
  [
    'a suspended run that wakes early',
    {
      record: { state: 'deferred' },
      blockedBy: [{ id: 'a', state: 'queued' }],
      suspension: { of: 1, wakeOn: 'failure', wakeAt: NOW + 5_000 },
    },
    ['suspended'],
    'it is suspended, waiting for 1 of 1: a (queued), or until one of them does not finish, at most until 2026-01-05T12:00:05Z (5 s)',
    'fairloom tasks explain a',
  ],
  [
    'a member whose run has ended',
    { endedRun: { id: 'r 1', state: 'failed' }, ahead: 1 },
    ['run-ended'],
    'its run r 1 has ended (failed): the next worker that reaches it cancels it',
    "fairloom tasks explain 'r 1'",
  ],
  [
    'a member whose run is gone',
    { endedRun: { id: 'r1', state: 'missing' }, user: { settings: { paused: true } } },
    ['run-ended', 'user-paused'],
    'its run r1 is not stored: the next worker that reaches it cancels it',
    'fairloom tasks explain r1',
  ],
  [
    'a member whose run is paused, and which waits besides',
    {
      record: { state: 'deferred' },
      blockedBy: [{ id: 'a', state: 'queued' }],
      paused: { run: 'r 1', since: NOW - 5_000, reason: 'look first' },
    },
    ['run-paused', 'blocked'],
    'its run r 1 is paused since 2026-01-05T11:59:55Z: look first',
    "fairloom runs resume 'r 1'",
  ],
  [
    'a run that is paused, and whose reason cannot be read here',
    {
      record: { id: 'r1', state: 'deferred' },
      paused: { run: 'r1', since: NOW, reason: 'enc:k2:x' },
    },
    ['run-paused'],
    'it is paused since 2026-01-05T12:00:00Z: (encrypted with key k2)',
    'fairloom runs resume r1',
  ],
  [
    'a join, which no worker serves',
    {
      record: { state: 'deferred', name: '~join' },
      blockedBy: [{ id: 'a', state: 'queued' }],
      join: true,
    },
    ['blocked'],
    'it waits for a (queued)',
    'fairloom tasks explain a',
  ],
  [
    'a paused user',
    { user: { settings: { paused: true } } },
    ['user-paused'],
    'its user acme is paused',
    'fairloom users resume acme',
  ],
  [
    'a user at its limit',
    { user: { running: 5, settings: { maxRunning: 5 } } },
    ['user-at-limit'],
    'its user acme is at 5/5 running',
    'fairloom users set acme --max-running 6',
  ],
  [
    'a user over its rate',
    { throttledUntil: NOW + 1_000 },
    ['user-rate'],
    'its user acme is rate-limited until 2026-01-05T12:00:01Z',
    'fairloom users get acme',
  ],
  [
    'a paused queue',
    { queue: { settings: { paused: true } } },
    ['queue-paused'],
    'its queue default is paused',
    'fairloom queues resume default',
  ],
  [
    'a queue at its limit',
    { queueRunning: 3, queue: { settings: { maxRunning: 3 } } },
    ['queue-at-limit'],
    'its queue default is at 3/3 running',
    'fairloom queues set default --max-running 4',
  ],
  [
    'a queue over its rate',
    { queueThrottledUntil: NOW + 2_000 },
    ['queue-rate'],
    'its queue default is rate-limited until 2026-01-05T12:00:02Z',
    'fairloom queues list',
  ],
  [
    'a queue without a worker',
    { liveWorkers: [worker({ queues: ['other'] })] },
    ['no-worker'],
    'no live worker serves its queue default',
    'fairloom workers list',
  ],
  [
    'a name without a worker',
    { liveWorkers: [worker({ names: ['other'] })] },
    ['no-worker'],
    'no live worker of queue default knows its name resize',
    'fairloom workers list',
  ],
  [
    'a user without a worker',
    { liveWorkers: [worker({ assignedUsers: ['other'], stealTargets: ['third'] })] },
    ['no-worker'],
    'no live worker of queue default serves its user acme',
    'fairloom workers list',
  ],
  [
    'several at once',
    {
      user: { running: 1, settings: { maxRunning: 1, paused: true } },
      queue: { settings: { paused: true } },
      liveWorkers: [],
    },
    ['user-paused', 'user-at-limit', 'queue-paused', 'no-worker'],
    'its user acme is paused',
    'fairloom users resume acme',
  ],
  [
    'its place in line',
    { ahead: 1, usersAhead: 1, user: { levels: [0, 0, 2, 0, 0, 0] } },
    ['in-line'],
    'it is number 2 of its level, after 1 turn of its user acme; 1 user has the next turn before that user',
    undefined,
  ],
  [
    'a lease',
    {
      record: {
        state: 'started',
        worker: 'w7',
        leasedAt: NOW - 3_000,
        leaseUntil: NOW + 12_000,
      },
    },
    ['running'],
    'it is leased by w7 for 3 s; its lease ends in 12 s unless that is extended',
    'fairloom tasks cancel t1',
  ],
  [
    'a cancel that was requested',
    { record: { state: 'started', worker: 'w7', leaseUntil: NOW - 1, cancelRequested: true } },
    ['canceling', 'running'],
    'a cancel was requested: it ends as canceled as soon as its handler notices',
    undefined,
  ],
  [
    'a failure',
    {
      record: {
        state: 'failed',
        cause: { type: 'attempts', failure: 'timeout', made: 4, of: 4 },
        endedAt: NOW - 300_000,
      },
    },
    ['ended'],
    'it ended as failed (timeout) 5 min ago: failed 4 of 4 attempts',
    'fairloom tasks redrive t1',
  ],
  [
    'a good end',
    { record: { state: 'finished', endedAt: NOW - 259_200_000 } },
    ['ended'],
    'it ended as finished 3 d ago',
    undefined,
  ],
];

describe('explain', () => {
  it.each(ROWS)('names %s', (...[, facts, kinds, text, command]) => {
    const { id, obstacles } = explain(factsOf(facts));
    expect(id).toBe(facts.record?.id ?? 't1');
    expect(obstacles.map(({ kind }) => kind)).toEqual(kinds);
    expect(obstacles[0]?.text).toBe(text);
    expect(obstacles[0]?.command).toBe(command);
  });

  it('takes any worker that would run it', () => {
    const serving = [
      worker({ assignedUsers: ['acme'] }),
      worker({ assignedUsers: ['other'], stealTargets: 'any' }),
      worker({ assignedUsers: ['other'], stealTargets: ['acme'] }),
    ];
    for (const one of serving) {
      const { obstacles } = explain(factsOf({ liveWorkers: [one] }));
      expect(obstacles.map(({ kind }) => kind)).toEqual(['in-line']);
    }
  });

  it('says nothing else of a task that could run at once', () => {
    const { obstacles, position } = explain(factsOf({}));
    expect(obstacles.map(({ kind }) => kind)).toEqual(['in-line']);
    expect(position).toEqual({ place: 1, turnsBefore: 0, usersAhead: 0 });
  });
});

describe('what is left of a timeout', () => {
  const timeLeft = JSON.stringify({
    ...{ handlerMs: 5_000, taskMs: 8_000 },
    ...{ worker: 'w1', failures: 1, releases: 2 },
  });
  const record = { losses: 0, failures: 1, releases: 2, worker: 'w1', leasedAt: NOW - 3_000 };
  const leftOf = (said: object, timeoutMs?: number) =>
    explain(factsOf({ timeLeft, record: { ...record, ...said } }), { timeoutMs }).timeLeftMs;

  // F91
  it('is what its handler had when it began to wait', () => {
    expect(leftOf({ state: 'deferred' }, 15_000)).toBe(5_000);
  });

  // F91
  it('is less what it has worked since', () => {
    expect(leftOf({ state: 'started' }, 15_000)).toBe(5_000);
    expect(leftOf({ state: 'started', leasedAt: NOW - 60_000 }, 15_000)).toBe(0);
  });

  // F91
  it.each([{ worker: 'w2' }, { losses: 1 }, { failures: 2 }, { releases: 3 }])(
    'is all of it for a handler that starts anew: %o',
    (other) => {
      expect(leftOf({ state: 'started', ...other }, 15_000)).toBe(12_000);
      expect(leftOf({ state: 'started', ...other }, 0)).toBeUndefined();
      expect(leftOf({ state: 'started', ...other })).toBeUndefined();
    },
  );

  // F91
  it.each(['queued', 'scheduled', 'finished', 'failed'] as const)(
    'is nothing of one that is %s',
    (state) => {
      expect(leftOf({ state }, 15_000)).toBeUndefined();
    },
  );
});
