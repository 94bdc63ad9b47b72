import { impossible } from '../../base/never.ts';
import { ChannelValues } from '../../domain/task/channel.ts';
import { isEnd } from '../../domain/task/task.ts';
import { eventPlace } from '../memory/rules/events.ts';
import { isDeadLetter, setDeadline } from '../memory/rules/places.ts';
import {
  byArrival,
  byDue,
  type Grant,
  type KeyEntry,
  TaskEntry,
  type UserEntry,
} from '../memory/store/entities.ts';
import { keyScope } from '../memory/store/idempotency.ts';
import type { AskEntry } from '../memory/store/run-facts.ts';
import { SignalBox } from '../memory/store/signal-box.ts';
import { SortedList } from '../memory/store/sorted-list.ts';
import type { Store } from '../memory/store/store.ts';
import { StoredStream } from '../memory/store/stored-stream.ts';
import type { RunRow, StreamRow, TaskRow } from './image.ts';

/** Stores tasks, and puts each where it stood. Their users, queues, events and error groups are there. */
export function putTasks(store: Store, tasks: readonly TaskRow[]): void {
  const rows = [...tasks].sort((a, b) => a.order - b.order);
  const made = rows.map((row) => [row, makeEntry(store, row)] as const);
  const ended = made.filter(([{ state }]) => isEnd(state));
  for (const [row, entry] of ended.sort(([a], [b]) => (a.end?.order ?? 0) - (b.end?.order ?? 0))) {
    putEnd(store, row, entry);
  }
  for (const [row, entry] of made) {
    if (row.run !== undefined) putRun(store, row, row.run, entry);
    link(store, row, entry);
  }
  for (const [row, entry] of made) place(store, row, entry);
  putInLine(made);
}

function makeEntry(store: Store, row: TaskRow): TaskEntry {
  const owner = store.userEntry(row.queue, row.user);
  const { id, name, queue, user, level, cost, payload, options, dependsOn, edges } = row;
  const task = { id, name, queue, user, level, cost, payload, options, dependsOn, edges };
  const entry = new TaskEntry(task, owner, row.createdAt, ++store.arrivals);
  store.records.set(row.id, entry);
  entry.state = row.state;
  entry.grant = grantOf(row);
  entry.chargedEpoch = row.lease?.epoch ?? 0;
  entry.settledToken = row.settledToken;
  entry.result = row.result;
  owner.queue.counts[row.state]++;
  if (!isEnd(row.state)) owner.live++;
  putFacts(row, entry);
  return entry;
}

function grantOf({ lease }: TaskRow): Grant | undefined {
  if (lease === undefined) return undefined;
  const { token, worker, leasedAt } = lease;
  return { number: Number(token.slice(0, token.indexOf('-'))), token, worker, leasedAt };
}

/** What most tasks have none of is not written, so that those take no room for it. */
function putFacts(row: TaskRow, entry: TaskEntry): void {
  const { failures, losses, releases, readers, attempts, absent, streams } = row;
  const facts = {
    ...(failures > 0 ? { failures } : {}),
    ...(losses > 0 ? { losses } : {}),
    ...(releases > 0 ? { releases } : {}),
    ...(readers > 0 ? { readers } : {}),
    ...(attempts.length > 0 ? { attempts: [...attempts] } : {}),
    ...(absent.length > 0 ? { absent: new Set(absent) } : {}),
    ...(streams.length > 0 ? { streams: streamsOf(streams) } : {}),
    ...(row.hasLeft ? { left: true } : {}),
    ...(row.key === undefined ? {} : { key: ownKey(row, row.key, entry) }),
    ...given('expiresAt', row.expiresAt),
    ...given('expiresInMs', row.expiresInMs),
    ...given('waitUntil', row.waitUntil),
    ...given('releasedMs', row.releasedMs),
    ...given('cause', row.cause),
    ...given('error', row.error),
    ...given('cancelCause', row.cancelCause),
    ...given('firstPayload', row.firstPayload),
    ...given('charged', row.charged),
  };
  if (Object.keys(facts).length > 0) Object.assign(entry.own(), facts);
}

function given<K extends string, V>(name: K, value: V | undefined): Partial<Record<K, V>> {
  const found: Partial<Record<K, V>> = {};
  if (value !== undefined) found[name] = value;
  return found;
}

/** Its key until another row names the holder: it is remembered, and refuses no task. */
function ownKey(row: TaskRow, key: string, owner: TaskEntry): KeyEntry {
  return {
    key,
    scope: keyScope(row, key),
    owner,
    follower: undefined,
    firstPayload: row.payload,
    until: undefined,
    from: undefined,
    absorbed: [],
    endedAt: undefined,
  };
}

function streamsOf(rows: readonly StreamRow[]): Map<string, StoredStream> {
  return new Map(
    rows.map(({ name, next, bytes, closed, entries, writers }) => {
      const stream = new StoredStream();
      Object.assign(stream, { next, bytes, closed });
      stream.entries.push(...entries);
      for (const [node, call, written] of writers) stream.writers.set(node, { call, written });
      return [name, stream];
    }),
  );
}

function putEnd(store: Store, { end, state }: TaskRow, entry: TaskEntry): void {
  if (end === undefined || !isEnd(state)) return;
  entry.endOrder = ++store.endings;
  entry.endedAt = end.at;
  store.endedLast = Math.max(store.endedLast, end.at);
  store.endedIndex(entry, state).add(entry, store.endedLast);
  if (state === 'failed') store.failures.stand(entry);
  if (isDeadLetter(entry)) entry.owner.queue.deadLetters++;
}

function putRun(store: Store, task: TaskRow, row: RunRow, entry: TaskEntry): void {
  const { isJoin, owner, graph, waitFor, wakeOn, wakeAt, journal, newestWrites } = row;
  const { pause, pausedBy, asideFor, attendedBy, timeLeft, decidesAfter } = row;
  const { channels, signals, wait } = row;
  const facts = { ...entry.ownRun(), isJoin, owner, graph };
  entry.own().run = Object.assign(facts, { waitFor, wakeOn, wakeAt, newestWrites });
  Object.assign(facts, { pause, pausedBy, asideFor, attendedBy, timeLeft, decidesAfter });
  for (const [field, text] of journal) facts.journal.set(field, text);
  if (channels !== undefined) {
    facts.channels = new ChannelValues();
    facts.channels.takeOver(channels.values, channels.done);
  }
  if (signals !== undefined) {
    const box = new SignalBox();
    for (const [name, payloads] of signals.kept) {
      for (const payload of payloads) box.keep({ name, payload });
    }
    for (const id of signals.ids) box.remember(id);
    facts.signals = box;
  }
  putAsks(store, task, row, entry);
  if (wait === undefined) return;
  facts.wait = wait.wait;
  store.waiters.add(entry, wait.since);
  if (wait.wait.for.kind !== 'event') return;
  store.events.stand(eventPlace(task.user, wait.wait.for), entry, wait.number ?? 0);
}

function putAsks(store: Store, task: TaskRow, { asks }: RunRow, entry: TaskEntry): void {
  if (asks.length === 0) return;
  const rows = asks.map(({ mark, ask, askedAt, until, closing }): [string, AskEntry] => {
    const over = until === undefined ? {} : { until };
    const record = { ...ask, taskId: task.id, task: task.name, user: task.user, askedAt, ...over };
    if (closing === undefined) store.asks.add(record);
    return [mark, { record, closing }];
  });
  entry.ownRun().asks = new Map(rows);
}

/** Ties it to those that it waits for. */
function link(store: Store, row: TaskRow, entry: TaskEntry): void {
  if (row.blocked.length > 0) entry.own().blocked = new Set(row.blocked.map(([id]) => id));
  for (const [id, kind] of row.blocked) {
    if (kind === 'missing') store.missing.add(id, entry);
    if (kind !== 'end' && kind !== 'redrive') continue;
    const upstream = store.records.get(id)?.own();
    if (upstream === undefined) continue;
    const list = kind === 'end' ? 'waiting' : 'awaitingRedrive';
    upstream[list] ??= new SortedList(byArrival);
    upstream[list].add(entry);
  }
  const { asideFor } = row.run ?? {};
  if (asideFor === undefined) return;
  const run = store.records.get(asideFor)?.ownRun();
  if (run === undefined) return;
  run.aside ??= new Set();
  run.aside.add(row.id);
}

/** Puts it where its state says, but in line. */
function place(store: Store, row: TaskRow, entry: TaskEntry): void {
  const user = entry.owner;
  if (row.isInCascade && isEnd(row.state)) {
    entry.own().cascadeAt = entry.endedAt ?? 0;
    store.cascade.add(entry);
  }
  switch (row.state) {
    case 'scheduled':
      entry.dueAt = row.dueAt ?? impossible(`${row.id} is scheduled for no moment`);
      store.byState.scheduled.add(entry);
      user.scheduled ??= new SortedList(byDue);
      user.scheduled.add(entry);
      break;
    case 'deferred':
      store.byState.deferred.add(entry);
      break;
    case 'started':
      store.byState.started.add(entry, row.lease?.until ?? 0);
      user.running++;
      break;
    default:
      // Lines and ends are put in their own order.
      break;
  }
}

/** Gives places, and puts those that are queued into their lines. */
function putInLine(made: readonly (readonly [TaskRow, TaskEntry])[]): void {
  const placed = made.filter(([{ place: at, state }]) => at > 0 && !isEnd(state));
  for (const [row, entry] of placed.sort(([a], [b]) => a.place - b.place)) {
    const user = entry.owner;
    entry.seq = ++user.seq;
    if (row.state !== 'queued') continue;
    if (row.parked !== undefined) {
      user.queue.parked.add(entry, row.parked.turn);
      entry.own().parkedUntil = row.parked.until;
    } else enterLine(user, entry);
  }
}

function enterLine(user: UserEntry, entry: TaskEntry): void {
  user.level(entry.level).add(entry);
  user.counts[entry.level - 1] = (user.counts[entry.level - 1] ?? 0) + 1;
  user.queued++;
}

/** Puts tasks that have limits of their waiting where these are looked after. */
export function putDeadlines(store: Store): void {
  for (const entry of store.records.values()) {
    const { expiresAt, waitUntil, run, parkedUntil } = entry.optional;
    if ((expiresAt ?? waitUntil ?? run?.wakeAt ?? parkedUntil) === undefined) continue;
    setDeadline(store, entry);
  }
}
