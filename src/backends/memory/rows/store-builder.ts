import { SeriesRow } from '../../../domain/series/series-row.ts';
import { eventPlace } from '../rules/events.ts';
import { setDueKey } from '../rules/places.ts';
import { listen } from '../rules/schedule-places.ts';
import { putList } from '../rules/workers.ts';
import type { KeyEntry } from '../store/entities.ts';
import { keyScope } from '../store/idempotency.ts';
import { standAhead } from '../store/leavers.ts';
import { standReady, throttle } from '../store/ready-index.ts';
import type { Store, WorkerEntry } from '../store/store.ts';
import { type Kind, ROWS, type RowOf, type Rows } from './model.ts';
import { putParked, TasksIntoStore } from './task-into-store.ts';

/** Tells an empty store what rows tell, in the order of their kinds. Indexes and counts are made of them. */
export class StoreBuilder {
  readonly #store: Store;
  readonly #put: Puts;
  readonly #tasks: TasksIntoStore;
  readonly #line: WorkerEntry[] = [];

  constructor(store: Store) {
    this.#store = store;
    this.#tasks = new TasksIntoStore(store);
    this.#put = {
      ...PUTS,
      task: (_store, row) => this.#tasks.put(row),
      worker: (_store, row) => this.#putWorker(row),
    };
  }

  put<K extends Kind>(kind: K, rows: Iterable<RowOf<K>>): void {
    // What comes behind tasks looks for them.
    if (kind !== 'task') this.#tasks.end();
    const put = this.#put[kind];
    for (const row of rows) put(this.#store, row);
  }

  /** All rows were there. */
  end(): Store {
    const store = this.#store;
    this.#tasks.end();
    for (const worker of this.#line) store.line.add(worker);
    store.untouch();
    return store;
  }

  #putWorker({ line, token = false, offLists = false, ...row }: RowOf<'worker'>): void {
    const { spec, instance, attempts } = row;
    const worker: WorkerEntry = {
      ...row,
      instance,
      names: new Set(spec.names),
      attempts: { ...attempts },
      ...{ token, offLists },
      wake: undefined,
    };
    this.#store.workers.set(spec.id, worker);
    if (line !== undefined) this.#line[line] = worker;
  }
}

/** The same of all rows at once. */
export function storeOfRows(store: Store, rows: Rows): Store {
  const builder = new StoreBuilder(store);
  for (const kind of KINDS) putAll(builder, kind, rows);
  return builder.end();
}

function putAll<K extends Kind>(builder: StoreBuilder, kind: K, rows: Rows): void {
  builder.put<K>(kind, rows[kind]);
}

/** All kinds, in the order in which rows are written and read. */
export const KINDS: readonly Kind[] = Object.keys(ROWS) as Kind[];

type Puts = { readonly [K in Kind]: (store: Store, row: RowOf<K>) => void };

const PUTS: Omit<Puts, 'task' | 'worker'> = {
  clock: (store, row) => {
    const { seen, retention, schedulerOwner: owner, schedulerUntil, schedulerFence: fence } = row;
    const { sweepAfter, arrivals, endings, endedLast } = row;
    store.continueAt(seen);
    Object.assign(store, { now: seen, sweepAfter, arrivals, endings, endedLast });
    if (retention !== undefined) store.retention = retention;
    Object.assign(store.scheduler, { owner, until: schedulerUntil, fence });
  },
  name: (store, { name, at }) => store.names.set(name, at),
  queue: (store, row) => {
    const queue = store.queue(row.queue);
    // It did not begin here.
    store.series.looked.delete(row.queue);
    queue.settings = row.settings;
    queue.clock.v = row.v;
    queue.clock.epoch = row.epoch;
    for (const [kind, last] of row.lasts) queue.lasts.set(kind, last);
    Object.assign(queue.totals, row.totals);
    queue.tat = row.arrival;
    queue.meanRun = row.mean;
    queue.parked.takeOver(row.parkedTurns);
  },
  settings: (store, { user, queue, settings }) => {
    if (queue === undefined) store.settingsForAll.set(user, settings);
    else store.queue(queue).ownSettings.set(user, settings);
  },
  user: putUser,
  list: (store, { queue, side: kind, ...list }) => putList(store.queue(queue), { kind, ...list }),
  graph: (store, { hash, body, until, neededBy }) => {
    store.snapshots.set(hash, { body, until, neededBy: new Set(neededBy) });
  },
  events: (store, { user, name, key, newest, keptUntil, events: kept }) => {
    const rows = kept.map(({ number, at, payload, eventId }) => {
      const event = { name, key, payload, eventId, keepMs: Math.max(0, keptUntil - at) };
      return [number, { at, event }] as const;
    });
    store.events.takeOver(eventPlace(user, { name, key }), {
      newest,
      keptUntil,
      events: new Map(rows),
      ids: new Set(kept.map(({ eventId }) => eventId)),
    });
  },
  errorGroup: (store, group) => store.failures.takeOver({ ...group }),
  parked: putParked,
  key: putKey,
  schedule: (store, { change, next, settledSlot, last, ...facts }) => {
    const entry = { id: change.id, ...facts, change, next, settledSlot, last };
    store.schedules.set(change.id, entry);
    store.schedulesByName.add(entry);
    if (next !== undefined) store.schedulesDue.add(entry);
    listen(store, entry, undefined);
  },
  value: (store, { user, namespace, key, writer, ...facts }) => {
    store.xcom.set({ user, namespace, key }, { ...facts, writer });
  },
  series: (store, { step, at, rows }) => {
    const known = rows.flatMap(([name, text]) => {
      const row = SeriesRow.of(text);
      return row === undefined ? [] : [[name, row] as const];
    });
    store.series.takeOver(step, at, new Map(known));
  },
  looked: (store, { queue, at, totals }) => store.series.looked.set(queue, { at, totals }),
};

function putUser(store: Store, row: RowOf<'user'>): void {
  const user = store.userEntry(row.queue, row.user);
  const { tag, epoch, weight, headroom, seq, idleUntil } = row;
  Object.assign(user, { tag, epoch, weight, seq, tat: row.arrival, meanRun: row.mean });
  user.shares.criticalRun = row.criticalRun;
  for (const [at, turns] of row.waited.entries()) user.shares.waited[at] = turns;
  throttle(store, user, row.throttledUntil);
  setDueKey(store, user, row.dueKey);
  if (row.class !== undefined) standReady(user, row.class, headroom);
  if (row.isAhead === true) standAhead(user);
  if (idleUntil === undefined) return;
  user.idleUntil = idleUntil;
  user.queue.idle.add(user);
}

function putKey(store: Store, row: RowOf<'key'>): void {
  const { queue, user, key, ownerEndedAs: state, until, from, firstPayload, endedAt } = row;
  const known = state === undefined ? store.records.get(row.owner) : undefined;
  const owner = known ?? (state === undefined ? undefined : { id: row.owner, state });
  if (owner === undefined) return;
  const follower = row.follower === undefined ? undefined : store.records.get(row.follower);
  const scope = keyScope({ queue, user }, key);
  const absorbed = [...row.absorbed];
  const entry: KeyEntry = {
    ...{ key, scope, owner, follower, firstPayload, until, from, absorbed, endedAt },
  };
  store.keys.set(scope, entry);
  if (known === undefined) store.goneKeys.add(entry);
  for (const one of [known, follower]) {
    if (one?.optional.key?.scope === scope) one.own().key = entry;
  }
}
