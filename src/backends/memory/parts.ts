import { LIMITS } from '../../domain/limits.ts';
import type {
  Backend,
  ExtendReply,
  ExtendRequest,
  Inspect,
  QueueStore,
  SettleReply,
  SettleRequest,
  TaskStore,
  TickReply,
  UserStore,
  WorkerStore,
} from '../../domain/port/backend.ts';
import { cancel, redrive, remove, runNow } from './admin.ts';
import { enqueue } from './enqueue.ts';
import { extend } from './extend.ts';
import {
  facts,
  listErrorGroups,
  listTasks,
  listUsers,
  queueInfo,
  stats,
  usersEverywhere,
} from './inspect.ts';
import { runStore } from './journals.ts';
import { lease } from './lease.ts';
import { reconcile } from './reconcile.ts';
import { askStore } from './rules/asks.ts';
import { madeDeadLetters } from './rules/dead-letters.ts';
import { dependentsOf } from './rules/dependents.ts';
import { cascade } from './rules/end.ts';
import { areSchedulesDue } from './rules/schedule-places.ts';
import { configuredInfo, setQueue, setUser, userInfo } from './rules/settings-of.ts';
import { streamStore } from './rules/streams.ts';
import { waitForEnd, waitForWork } from './rules/waits.ts';
import { liveWorkers, register, seen, unregister } from './rules/workers.ts';
import { xcomStore } from './rules/xcom.ts';
import { scheduleStore } from './schedules.ts';
import { seriesStore } from './series.ts';
import { settleOne } from './settle.ts';
import { endStep } from './step-end.ts';
import { runnableNow } from './store/ready-index.ts';
import { graphStore } from './store/snapshots.ts';
import type { Store } from './store/store.ts';
import { attemptsOf, toRecord, toStatus } from './store/task-record.ts';
import { nextDueAt, tickSteps } from './tick.ts';
import { waitStore } from './waits.ts';

/** The port over one store: each method is one step of it. */
export function partsOn(store: Store): Omit<Backend, 'name' | 'capabilities' | 'open' | 'close'> {
  const step = stepOf(store);
  const look = lookOf(store);
  return {
    tasks: taskStore(store, step),
    users: userStore(store, step, look),
    queues: queueStore(store, step, look),
    workers: workerStore(store, step, look),
    inspect: inspector(store, look),
    runs: runStore(store, step, look),
    graphs: graphStore(store, step),
    schedules: scheduleStore(store, step, look),
    xcom: xcomStore(store, step, look),
    waits: waitStore(store, step, look),
    streams: streamStore(store, step, look),
    asks: askStore(store, step, look),
    series: seriesStore(store, step, look),
  };
}

/** Ends timers and waits of a store. */
export function closeStore(store: Store): void {
  store.closed = true;
  store.alarm?.timer.cancel();
  store.reading?.timer.cancel();
  for (const worker of store.workers.values()) worker.wake?.();
  for (const waiters of store.endWaiters.values()) for (const notify of [...waiters]) notify();
  for (const waiters of store.streamWaiters.values()) for (const notify of [...waiters]) notify();
}

type Step = <T>(act: () => T) => Promise<T>;

/** One atomic step: synchronous from reading the clock to waking the waiters. */
export function stepOf(store: Store): Step {
  return async (act) => {
    store.begin();
    try {
      return act();
    } finally {
      endStep(store);
    }
  };
}

/** A read is no step: it changes nothing, and does not reset the detection of outages. */
function lookOf(store: Store): Step {
  return async (act) => {
    store.look();
    return act();
  };
}

function taskStore(store: Store, step: Step): TaskStore {
  return {
    enqueue: (tasks, options) => step(() => enqueue(store, tasks, options)),
    lease: (request) => step(() => lease(store, request)),
    settle: (request) => step(() => settle(store, request)),
    extend: (request) => step(() => extendAs(store, request)),
    tick: () => step(() => tick(store)),
    cancel: (id, cause) => step(() => cancel(store, id, cause)),
    redrive: (id, edited, endedBy) => step(() => redrive(store, id, edited, endedBy)),
    remove: async (id, endedBy) => {
      for (;;) {
        const reply = await step(() => remove(store, id, endedBy));
        if (reply.kind !== 'more') return reply;
      }
    },
    runNow: (id) => step(() => runNow(store, id)),
  };
}

function settle(store: Store, request: SettleRequest): SettleReply {
  const worker = store.workers.get(request.worker);
  if (worker !== undefined) seen(store, worker);
  const answers = request.settlements.map((settlement) => settleOne(store, settlement));
  cascade(store, LIMITS.cascadeStep);
  return request.lease === undefined
    ? { answers }
    : { answers, lease: lease(store, request.lease) };
}

function extendAs(store: Store, request: ExtendRequest): ExtendReply {
  const worker = store.workers.get(request.worker);
  if (worker !== undefined) seen(store, worker);
  const reply = extend(store, request);
  tickSteps(store);
  return { ...reply, ...madeDeadLetters(store) };
}

function tick(store: Store): TickReply {
  const more = tickSteps(store);
  const due = nextDueAt(store, [...store.queues.keys()]);
  const schedulesDue = areSchedulesDue(store);
  return {
    more,
    schedulesDue,
    now: store.now,
    ...(due === undefined ? {} : { nextDueAt: due }),
    ...madeDeadLetters(store),
  };
}

function userStore(store: Store, step: Step, look: Step): UserStore {
  return {
    set: (user, patch, { queue }) => step(() => setUser(store, user, patch, queue)),
    get: (user, queue) =>
      look(() => {
        const known = store.queues.get(queue)?.users.get(user);
        return known === undefined ? configuredInfo(store, queue, user) : userInfo(store, known);
      }),
    everywhere: (users) => look(() => usersEverywhere(store, users)),
    list: (queue, page, options = {}) => look(() => listUsers(store, { queue, ...options }, page)),
  };
}

function queueStore(store: Store, step: Step, look: Step): QueueStore {
  return {
    set: (queue, patch) => step(() => setQueue(store, queue, patch)),
    get: (queueName) =>
      look(() => {
        const queue = store.queues.get(queueName);
        return queue === undefined ? undefined : queueInfo(store, queue);
      }),
    list: () => look(() => store.queuesInOrder().map((queue) => queueInfo(store, queue))),
  };
}

function workerStore(store: Store, step: Step, look: Step): WorkerStore {
  return {
    register: (spec, registration) => step(() => register(store, spec, registration)),
    unregister: (id, instance) => step(() => unregister(store, id, instance)),
    list: () => look(() => liveWorkers(store)),
    waitForWork: (id, ms, signal) => waitForWork(store, id, ms, signal),
  };
}

function inspector(store: Store, look: Step): Inspect {
  return {
    get: (ids) =>
      look(() => {
        return ids.map((id) => {
          const entry = store.records.get(id);
          return entry === undefined ? undefined : toRecord(entry);
        });
      }),
    owners: (ids) => look(() => ids.map((id) => store.records.get(id)?.owner.user)),
    status: (ids) =>
      look(() => {
        return ids.map((id) => {
          const entry = store.records.get(id);
          return entry === undefined ? undefined : toStatus(entry);
        });
      }),
    attempts: (id) =>
      look(() => {
        const entry = store.records.get(id);
        return entry === undefined ? [] : attemptsOf(entry);
      }),
    list: (filter, page) => look(() => listTasks(store, filter, page)),
    errorGroups: (page) => look(() => listErrorGroups(store, page)),
    dependents: (id, page) => look(() => dependentsOf(store, id, page)),
    facts: (id) => look(() => facts(store, id)),
    stats: () => look(() => stats(store)),
    missing: () => look(() => store.missing.size),
    runnable: (queueName) =>
      look(() => {
        const queue = store.queues.get(queueName);
        return queue === undefined ? 0 : runnableNow(store, queue);
      }),
    waitForEnd: (id, ms, signal) => waitForEnd(store, id, ms, signal),
    reconcile: () => look(() => reconcile(store)),
    ping: () => look(() => ({ ms: 0 })),
  };
}
