import { startOf } from '../../domain/fairness/fair-share.ts';
import { SeriesRow } from '../../domain/series/series-row.ts';
import { eventPlace } from '../memory/rules/events.ts';
import { setDueKey } from '../memory/rules/places.ts';
import { listen } from '../memory/rules/schedule-places.ts';
import type { KeyEntry, UserEntry } from '../memory/store/entities.ts';
import { keyScope } from '../memory/store/idempotency.ts';
import { leaveAhead } from '../memory/store/leavers.ts';
import { headroomOf, reindex, standReady, throttle } from '../memory/store/ready-index.ts';
import type { Store } from '../memory/store/store.ts';
import type { Image, KeyRow, QueueRow, ScheduleRow, UserRow } from './image.ts';
import { putDeadlines, putTasks } from './tasks-into-store.ts';

/** Tells an empty store of the embedded backend what the rows tell. Counts and indexes are made of them. */
export function putImage(store: Store, image: Image): void {
  store.continueAt(image.clock.seen);
  store.now = image.clock.seen;
  store.sweepAfter = image.clock.sweepAfter;
  Object.assign(store.scheduler, image.clock.scheduler);
  for (const [name, at] of image.names) store.names.set(name, at);
  for (const row of image.queues) putQueue(store, row);
  for (const { user, queue, settings } of image.settings) {
    if (queue === undefined) store.settingsForAll.set(user, settings);
    else store.userEntry(queue, user).queue.ownSettings.set(user, settings);
  }
  for (const row of image.users) putUser(store, row);
  for (const { hash, body, until, neededBy } of image.graphs) {
    store.snapshots.set(hash, { body, until, neededBy: new Set(neededBy) });
  }
  putEvents(store, image);
  for (const group of [...image.errorGroups].sort((a, b) => a.lastAt - b.lastAt)) {
    store.failures.takeOver(group);
  }
  putTasks(store, image.tasks);
  putDeadlines(store);
  for (const row of image.keys) putKey(store, row);
  for (const row of image.schedules) putSchedule(store, row);
  for (const { place, text, ttlMs, pushedAt, writer, lookAt } of image.values) {
    store.xcom.set(place, { text, ttlMs, pushedAt, writer, lookAt });
  }
  putSeries(store, image);
  for (const row of image.users) placeUser(store, row);
  for (const queue of store.queues.values()) {
    // Who has tasks and no row of its own stands by the rules.
    for (const user of queue.users.values()) if (user.weight === 0) placeAnew(store, user);
    queue.gain = 0;
  }
  store.untouch();
}

function putQueue(store: Store, row: QueueRow): void {
  const queue = store.queue(row.queue);
  queue.settings = row.settings;
  queue.clock.v = row.v;
  queue.clock.epoch = row.epoch;
  for (const [kind, last] of Object.entries(row.lasts)) queue.lasts.set(kind, last);
  Object.assign(queue.totals, row.totals);
  queue.tat = row.arrival;
  queue.meanRun = row.mean;
}

function putUser(store: Store, row: UserRow): void {
  const user = store.userEntry(row.queue, row.user);
  const { tag, epoch, weight, arrival, mean, shares } = row;
  Object.assign(user, { tag, epoch, weight, tat: arrival, meanRun: mean });
  if (shares === undefined) return;
  user.shares.criticalRun = shares.criticalRun;
  for (const [at, turns] of shares.waited.entries()) user.shares.waited[at] = turns;
}

/** Its tasks stand in their places. */
function placeUser(store: Store, row: UserRow): void {
  const user = store.userEntry(row.queue, row.user);
  throttle(store, user, row.throttledUntil);
  if (user.scheduled !== undefined && user.scheduled.size > 0) {
    setDueKey(store, user, row.dueKey ?? user.scheduled.first()?.dueAt);
  }
  if (row.class !== undefined && user.queued > 0) {
    standReady(user, `o${row.class}`, headroomOf(user, store.settingsOf(user)));
  } else if (row.isToEnter === true) reindex(store, user);
  if (!user.ready) leaveAhead(user);
  keepIdle(user);
}

function placeAnew(store: Store, user: UserEntry): void {
  const due = user.scheduled?.first()?.dueAt;
  if (due !== undefined) setDueKey(store, user, due);
  reindex(store, user);
  keepIdle(user);
}

/** Who has nothing to do is kept for its tag, or for its rate, which `throttledUntil` tells. */
function keepIdle(user: UserEntry): void {
  const { queue } = user;
  if (user.live > 0 || queue.ownSettings.has(user.user)) return;
  const until = startOf(user.tag, user.weight);
  if (user.epoch === queue.clock.epoch && until > queue.clock.v) {
    user.idleUntil = until;
    queue.idle.add(user);
  } else if (user.throttledUntil === undefined) queue.users.delete(user.user);
}

function putKey(store: Store, row: KeyRow): void {
  const { queue, user, key, until, from, firstPayload, absorbed, endedAt } = row;
  const known = store.records.get(row.owner);
  const owner =
    known ??
    (row.ownerEndedAs === undefined ? undefined : { id: row.owner, state: row.ownerEndedAs });
  if (owner === undefined) return;
  const follower = row.follower === undefined ? undefined : store.records.get(row.follower);
  const entry: KeyEntry = {
    key,
    scope: keyScope({ queue, user }, key),
    owner,
    follower,
    firstPayload,
    until,
    from,
    absorbed: [...absorbed],
    endedAt,
  };
  store.keys.set(entry.scope, entry);
  if (known === undefined) store.goneKeys.add(entry);
  for (const one of [known, follower]) {
    if (one?.optional.key?.scope === entry.scope) one.own().key = entry;
  }
}

function putSchedule(store: Store, row: ScheduleRow): void {
  const { change, next, settledSlot, ...facts } = row;
  const entry = { id: change.id, ...facts, change, next, settledSlot };
  store.schedules.set(change.id, entry);
  store.schedulesByName.add(entry);
  if (next !== undefined) store.schedulesDue.add(entry);
  listen(store, entry, undefined);
}

function putEvents(store: Store, { events }: Image): void {
  for (const { user, name, key, newest, keptUntil, events: kept } of events) {
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
  }
}

function putSeries(store: Store, { series, looked }: Image): void {
  for (const { step, at, rows } of series) {
    const known = rows.flatMap(([name, text]) => {
      const row = SeriesRow.of(text);
      return row === undefined ? [] : [[name, row] as const];
    });
    store.series.takeOver(step, at, new Map(known));
  }
  // Queues did not begin here.
  store.series.looked.clear();
  for (const { queue, at, totals } of looked) store.series.looked.set(queue, { at, totals });
}
