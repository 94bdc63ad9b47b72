import { readEventPlace } from '../rules/events.ts';
import { type KeyEntry, NOTHING_RARE, TaskEntry, type UserEntry } from '../store/entities.ts';
import { placeOfKey } from '../store/idempotency.ts';
import type { AskEntry, RunFacts } from '../store/run-facts.ts';
import type { Store, WorkerEntry } from '../store/store.ts';
import type { StoredStream } from '../store/stored-stream.ts';
import type { AskRow, BlockKind, Kind, RowOf, Rows, RunRow, StreamRow } from './model.ts';

/** All that a store knows. Rows are made as they are read: until the last of them the store may not change. */
export function rowsOf(store: Store): Rows {
  return {
    clock: [clockOf(store)],
    name: each(store.names, ([name, at]) => ({ name, at })),
    queue: each(store.queues.values(), (queue) => ({
      queue: queue.queue,
      settings: queue.settings,
      v: queue.clock.v,
      epoch: queue.clock.epoch,
      lasts: [...queue.lasts],
      totals: queue.totals,
      arrival: queue.tat,
      mean: queue.meanRun,
      parkedTurns: queue.parked.newestTurn,
    })),
    settings: settingsOf(store),
    user: usersOf(store),
    list: listsOf(store),
    graph: each(store.snapshots, ([hash, { body, until, neededBy }]) => ({
      ...{ hash, body, until },
      neededBy: [...neededBy],
    })),
    events: each(store.events.all(), ([place, { newest, keptUntil, events }]) => ({
      ...readEventPlace(place),
      ...{ newest, keptUntil },
      events: [...events].map(
        ([
          number,
          {
            at,
            event: { payload, eventId },
          },
        ]) => {
          return { number, at, payload, eventId };
        },
      ),
    })),
    errorGroup: each(store.failures.inOrder(), ({ id, attempts, firstAt, lastAt, newest }) => {
      return { id, attempts, firstAt, lastAt, newest };
    }),
    task: each(store.records.values(), (entry) => taskOf(store, entry)),
    parked: parkedOf(store),
    key: each(store.keys.values(), keyOf),
    schedule: each(store.schedules.values(), ({ id: _id, ...row }) => row),
    value: each(store.xcom.all(), ({ place, text, ttlMs, pushedAt, writer, lookAt }) => {
      return { ...place, text, ttlMs, pushedAt, writer, lookAt };
    }),
    series: each(store.series.all(), ([step, at, rows]) => ({
      ...{ step, at },
      rows: [...rows].map(([name, row]) => [name, row.text()] as const),
    })),
    looked: each(store.series.looked, ([queue, { at, totals }]) => ({ queue, at, totals })),
    worker: workersOf(store),
  };
}

type RowsOf<K extends Kind> = Generator<RowOf<K>, void, undefined>;

function* each<T, R>(values: Iterable<T>, rowOf: (value: T) => R): Generator<R, void, undefined> {
  for (const value of values) yield rowOf(value);
}

function clockOf(store: Store): RowOf<'clock'> {
  const { seen, sweepAfter, arrivals, endings, endedLast, retention, scheduler } = store;
  return {
    ...{ seen, sweepAfter, arrivals, endings, endedLast, retention },
    schedulerOwner: scheduler.owner,
    schedulerUntil: scheduler.until,
    schedulerFence: scheduler.fence,
  };
}

function* settingsOf(store: Store): RowsOf<'settings'> {
  for (const [user, settings] of store.settingsForAll) yield { user, settings };
  for (const { queue, ownSettings } of store.queues.values()) {
    for (const [user, settings] of ownSettings) yield { user, queue, settings };
  }
}

function* usersOf(store: Store): RowsOf<'user'> {
  for (const { users } of store.queues.values()) yield* each(users.values(), userOf);
}

function userOf(entry: UserEntry): RowOf<'user'> {
  const { queue, user, tag, epoch, weight, headroom, tat, meanRun, shares, seq } = entry;
  const { throttledUntil, dueKey, idleUntil } = entry;
  return {
    queue: queue.queue,
    ...{ user, tag, epoch, weight },
    class: entry.class?.id,
    isAhead: entry.leavingIn === queue.clock.epoch ? true : undefined,
    headroom,
    arrival: tat,
    mean: meanRun,
    criticalRun: shares.criticalRun,
    waited: shares.waited,
    ...{ seq, throttledUntil, dueKey, idleUntil },
  };
}

function* listsOf(store: Store): RowsOf<'list'> {
  for (const { queue, lists } of store.queues.values()) {
    yield* each(lists.values(), ({ kind, names, workers, clock }) => {
      return { queue, side: kind, names, workers: [...workers], clock };
    });
  }
}

/** All tasks are made so: one literal is quick, and has one shape. */
function taskOf(store: Store, entry: TaskEntry): RowOf<'task'> {
  const { owner, grant, endedAt, moment, optional } = entry;
  const isStarted = entry.state === 'started';
  const row = {
    id: entry.id,
    name: entry.name,
    queue: owner.queue.queue,
    user: owner.user,
    level: entry.level,
    cost: entry.cost,
    payload: entry.payload,
    options: entry.options,
    createdAt: entry.createdAt,
    state: entry.state,
    order: entry.order,
    place: entry.seq,
    dueAt: entry.dueAt,
    token: grant?.token,
    worker: grant?.worker,
    leasedAt: grant?.leasedAt,
    leaseUntil: isStarted ? moment?.at : undefined,
    chargedEpoch: entry.chargedEpoch,
    settledToken: entry.settledToken,
    endedAt,
    endOrder: entry.endOrder,
    endMoment: isStarted || moment?.at === endedAt ? undefined : moment?.at,
    result: entry.result,
    dependsOn: entry.dependsOn,
    edges: entry.edges,
  };
  return optional === NOTHING_RARE ? row : { ...row, ...rareOf(store, entry) };
}

type Rare = Partial<RowOf<'task'>>;

function rareOf(store: Store, entry: TaskEntry): Rare {
  const { optional } = entry;
  const { failures, losses, releases, readers, error, cause, cancelCause, attempts } = optional;
  const { blocked, absent, expiresAt, expiresInMs, waitUntil, deadline, releasedMs } = optional;
  const { cascadeAt, left, firstPayload, charged, key, run, streams } = optional;
  return {
    ...{ error, cause, cancelCause, attempts },
    failures: failures || undefined,
    losses: losses || undefined,
    releases: releases || undefined,
    readers: readers || undefined,
    blocked: blocked && [...blocked].map((on) => [on, blockKind(store, entry, on)]),
    absent: absent && [...absent],
    ...{ expiresAt, expiresInMs, waitUntil, deadline, releasedMs, cascadeAt },
    hasLeft: left ? true : undefined,
    ...{ firstPayload, charged, key: key?.key },
    run: run && runOf(store, entry, run),
    streams: streams && [...streams].map(streamOf),
  };
}

/** Why a task waits for an id. */
function blockKind(store: Store, entry: TaskEntry, on: string): BlockKind {
  const { waiting, awaitingRedrive } = store.records.get(on)?.optional ?? NOTHING_RARE;
  if (waiting?.has(entry) === true) return 'end';
  if (awaitingRedrive?.has(entry) === true) return 'redrive';
  return store.missing.awaits(on, entry) ? 'missing' : 'none';
}

function runOf(store: Store, entry: TaskEntry, run: RunFacts): RunRow {
  const { wait, journal, channels, signals, asks, aside, ...facts } = run;
  return {
    ...facts,
    wait,
    waitSince: wait && store.waiters.since(entry),
    waitNumber: store.events.begunAt(entry),
    journal: [...journal],
    channels: channels && {
      values: Object.entries(channels.read()),
      done: [...channels.marks()],
    },
    signals: signals && { kept: [...signals.all()], ids: [...signals.allIds()] },
    asks: asks && [...asks].map(askOf),
    aside: aside && [...aside],
  };
}

function askOf([mark, { record, closing }]: readonly [string, AskEntry]): AskRow {
  const { taskId: _id, task: _task, user: _user, askedAt, until, closing: _how, ...ask } = record;
  return { mark, ask, askedAt, until, closing };
}

function streamOf([name, stream]: readonly [string, StoredStream]): StreamRow {
  const { next, bytes, closed, entries } = stream;
  const writers = [...stream.writers].map(
    ([node, { call, written }]) => [node, call, written] as const,
  );
  return { name, next, bytes, closed, entries, writers };
}

function* parkedOf(store: Store): RowsOf<'parked'> {
  for (const { parked } of store.queues.values()) {
    for (const entry of parked.all()) {
      const { parkedUntil: until = 0 } = entry.optional;
      yield { id: entry.id, until, turn: parked.turnOf(entry) };
    }
  }
}

function keyOf(entry: KeyEntry): RowOf<'key'> {
  const { key, owner, follower, firstPayload, until, from, absorbed, endedAt } = entry;
  return {
    ...placeOfKey(entry),
    key,
    owner: owner.id,
    ownerEndedAs: owner instanceof TaskEntry ? undefined : owner.state,
    follower: follower?.id,
    ...{ firstPayload, until, from, absorbed, endedAt },
  };
}

function* workersOf(store: Store): RowsOf<'worker'> {
  const line = new Map([...store.line].map((worker, at): [WorkerEntry, number] => [worker, at]));
  for (const worker of store.workers.values()) {
    const { spec, instance, startedAt, attempts, lastSeenAt, lastRequest, lastLeases } = worker;
    yield {
      ...{ spec, instance, startedAt, attempts, lastSeenAt, lastRequest, lastLeases },
      token: worker.token ? true : undefined,
      offLists: worker.offLists ? true : undefined,
      line: line.get(worker),
    };
  }
}
