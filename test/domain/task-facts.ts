/** Facts about a task for tests: only what matters is said, the rest is a quiet default. */

import { BUILT_IN } from '../../src/domain/fairness/settings.ts';
import { PRIORITY_WEIGHTS } from '../../src/domain/limits.ts';
import type { QueueInfo, TaskFacts, UserInfo, WorkerInfo } from '../../src/domain/port/backend.ts';
import type { TaskRecord } from '../../src/domain/task/task.ts';

export const NOW = Date.UTC(2026, 0, 5, 12);

const COUNTS = {
  scheduled: 0,
  deferred: 0,
  queued: 1,
  started: 0,
  finished: 0,
  failed: 0,
  canceled: 0,
};

export function worker(facts: Partial<WorkerInfo> = {}): WorkerInfo {
  return {
    id: 'w1',
    queues: ['default'],
    names: ['resize'],
    concurrency: 10,
    host: 'host:1',
    startedAt: NOW - 60_000,
    lastSeenAt: NOW,
    running: 0,
    attempts: { succeeded: 0, failed: 0, lost: 0 },
    ...facts,
  };
}

export interface SaidFacts extends Partial<Omit<TaskFacts, 'record' | 'user' | 'queue'>> {
  readonly record?: Partial<TaskRecord>;
  readonly user?: Partial<UserInfo>;
  readonly queue?: Partial<QueueInfo>;
}

export function factsOf({ record, user, queue, ...rest }: SaidFacts): TaskFacts {
  return {
    record: {
      id: 't1',
      name: 'resize',
      queue: 'default',
      user: 'acme',
      level: 3,
      cost: 1,
      payload: '',
      options: '{}',
      state: 'queued',
      createdAt: NOW - 1_000,
      failures: 0,
      losses: 0,
      releases: 0,
      dependsOn: [],
      blockedBy: [],
      cancelRequested: false,
      ...record,
    },
    now: NOW,
    blockedBy: [],
    user: {
      user: 'acme',
      queue: 'default',
      settings: {},
      origins: BUILT_IN,
      queued: 1,
      levels: [0, 0, 1, 0, 0, 0],
      running: 0,
      later: 0,
      ready: true,
      ahead: 0,
      ...user,
    },
    queue: {
      queue: 'default',
      settings: {},
      counts: COUNTS,
      deadLetters: 0,
      readyUsers: 1,
      runnable: 1,
      ...queue,
    },
    queueRunning: 0,
    ahead: 0,
    usersAhead: 0,
    shares: { waited: [0, 0, 0, 0, 0], weights: PRIORITY_WEIGHTS },
    liveWorkers: [worker()],
    ...rest,
  };
}
