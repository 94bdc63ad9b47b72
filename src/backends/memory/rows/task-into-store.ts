import { present } from '../../../base/records.ts';
import { ChannelValues } from '../../../domain/task/channel.ts';
import { isEnd } from '../../../domain/task/task.ts';
import { eventPlace } from '../rules/events.ts';
import { isDeadLetter } from '../rules/places.ts';
import {
  byArrival,
  byDue,
  type Grant,
  type KeyEntry,
  type OptionalFacts,
  TaskEntry,
  UserEntry,
} from '../store/entities.ts';
import { keyScope } from '../store/idempotency.ts';
import { type AskEntry, noRun } from '../store/run-facts.ts';
import { SignalBox } from '../store/signal-box.ts';
import { SortedList } from '../store/sorted-list.ts';
import type { Store } from '../store/store.ts';
import { StoredStream } from '../store/stored-stream.ts';
import type { RowOf, RunRow, StreamRow } from './model.ts';

type TaskRow = RowOf<'task'>;

/** Stores tasks, and puts each where it stood. Users, queues, events and error groups are there before. */
export class TasksIntoStore {
  readonly #store: Store;
  /** Of ended tasks whose users are known no more. */
  readonly #gone = new Map<string, UserEntry>();
  /** Those that wait for others: these may come later. */
  readonly #blocked: (readonly [TaskEntry, TaskRow['blocked'] & object])[] = [];
  /**
   * Stored by id once they are all there: a table of a million that grows while what it holds is young costs the garbage
   * collector more than all the rest.
   */
  #made: TaskEntry[] = [];
  /** Most tasks of one lease have the same. */
  #grant: Grant | undefined = undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  put(row: TaskRow): void {
    const store = this.#store;
    const { createdAt, order, state } = row;
    const owner = this.#ownerOf(row);
    const entry = new TaskEntry(row, owner, createdAt, order);
    this.#made.push(entry);
    entry.state = state;
    entry.seq = row.place;
    entry.dueAt = row.dueAt;
    entry.grant = this.#grantOf(row);
    entry.chargedEpoch = row.chargedEpoch;
    entry.settledToken = row.settledToken;
    entry.endedAt = row.endedAt;
    entry.endOrder = row.endOrder;
    entry.result = row.result;
    owner.queue.counts[state]++;
    const rare = rareOf(row, entry);
    if (rare !== undefined) Object.assign(entry.own(), rare);
    if (row.run !== undefined) putRun(store, row.run, entry);
    if (row.blocked !== undefined) this.#blocked.push([entry, row.blocked]);
    if (isEnd(state)) putEnd(store, row, entry);
    else putAlive(store, row, entry);
  }

  /** All tasks were there: they are found by their ids, and tied to those that they wait for. */
  end(): void {
    const store = this.#store;
    for (const entry of this.#made) store.records.set(entry.id, entry);
    this.#made = [];
    for (const [entry, blocked] of this.#blocked) {
      for (const [id, kind] of blocked) {
        if (kind === 'missing') store.missing.add(id, entry);
        if (kind !== 'end' && kind !== 'redrive') continue;
        const upstream = store.records.get(id)?.own();
        if (upstream === undefined) continue;
        const list = kind === 'end' ? 'waiting' : 'awaitingRedrive';
        upstream[list] ??= new SortedList(byArrival);
        upstream[list].add(entry);
      }
    }
    this.#blocked.length = 0;
  }

  #ownerOf({ queue, user, state }: TaskRow): UserEntry {
    const store = this.#store;
    const known = store.queue(queue).users.get(user);
    if (known !== undefined) return known;
    if (!isEnd(state)) return store.userEntry(queue, user);
    const name = `${queue.length}:${queue}${user}`;
    const gone = this.#gone.get(name) ?? new UserEntry(user, store.queue(queue));
    this.#gone.set(name, gone);
    return gone;
  }

  #grantOf({ token, worker = '', leasedAt = 0 }: TaskRow): Grant | undefined {
    if (token === undefined) return undefined;
    const last = this.#grant;
    if (last?.token === token && last.worker === worker && last.leasedAt === leasedAt) return last;
    const number = Number(token.slice(0, token.indexOf('-')));
    this.#grant = { number, token, worker, leasedAt };
    return this.#grant;
  }
}

/** What most tasks have none of; `undefined`: it has none, and takes no room for it. */
function rareOf(row: TaskRow, entry: TaskEntry): Partial<OptionalFacts> | undefined {
  const { failures, losses, releases, readers, error, cause, cancelCause, attempts } = row;
  const { blocked, absent, expiresAt, expiresInMs, waitUntil, deadline, releasedMs } = row;
  const { cascadeAt, hasLeft: left, firstPayload, charged, key, streams } = row;
  const counts = failures ?? losses ?? releases ?? readers;
  const ends = error ?? cause ?? cancelCause ?? attempts ?? cascadeAt ?? firstPayload ?? charged;
  const limits = expiresAt ?? expiresInMs ?? waitUntil ?? deadline ?? releasedMs ?? left;
  if ((counts ?? ends ?? limits ?? blocked ?? absent ?? key ?? streams) === undefined) {
    return undefined;
  }
  return present({
    ...{ failures, losses, releases, readers, error, cause, cancelCause, cascadeAt, firstPayload },
    ...{ charged, expiresAt, expiresInMs, waitUntil, deadline, releasedMs, left },
    attempts: attempts && [...attempts],
    blocked: blocked && new Set(blocked.map(([id]) => id)),
    absent: absent && new Set(absent),
    streams: streams && new Map(streams.map(streamOf)),
    key: key === undefined ? undefined : ownKey(row, key, entry),
  });
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

function streamOf({
  name,
  next,
  bytes,
  closed,
  entries,
  writers,
}: StreamRow): [string, StoredStream] {
  const stream = new StoredStream();
  Object.assign(stream, { next, bytes, closed });
  stream.entries.push(...entries);
  for (const [node, call, written] of writers) stream.writers.set(node, { call, written });
  return [name, stream];
}

function putEnd(
  store: Store,
  { endedAt = 0, endMoment = endedAt }: TaskRow,
  entry: TaskEntry,
): void {
  const { state } = entry;
  if (!isEnd(state)) return;
  store.endedIndex(entry, state).add(entry, endMoment);
  if (state === 'failed') store.failures.stand(entry);
  if (isDeadLetter(entry)) entry.owner.queue.deadLetters++;
  if (entry.optional.cascadeAt !== undefined) store.cascade.add(entry);
}

function putAlive(store: Store, { leaseUntil = 0 }: TaskRow, entry: TaskEntry): void {
  const user = entry.owner;
  user.live++;
  if (entry.optional.deadline !== undefined) store.deadlines.add(entry);
  switch (entry.state) {
    case 'queued':
      enterLine(user, entry);
      break;
    case 'scheduled':
      store.byState.scheduled.add(entry);
      user.scheduled ??= new SortedList(byDue);
      user.scheduled.add(entry);
      break;
    case 'deferred':
      store.byState.deferred.add(entry);
      break;
    case 'started':
      store.byState.started.add(entry, leaseUntil);
      user.running++;
      break;
    default:
      // It has ended.
      break;
  }
}

function enterLine(user: UserEntry, entry: TaskEntry): void {
  user.level(entry.level).add(entry);
  user.counts[entry.level - 1] = (user.counts[entry.level - 1] ?? 0) + 1;
  user.queued++;
}

/** From its line to those that wait for a worker which knows their names. */
export function putParked(store: Store, { id, until, turn }: RowOf<'parked'>): void {
  const entry = store.records.get(id);
  if (entry === undefined) return;
  const user = entry.owner;
  user.level(entry.level).delete(entry);
  user.counts[entry.level - 1] = (user.counts[entry.level - 1] ?? 1) - 1;
  user.queued--;
  entry.own().parkedUntil = until;
  user.queue.parked.stand(entry, turn);
}

function putRun(store: Store, row: RunRow, entry: TaskEntry): void {
  const { wait, waitSince = 0, waitNumber, journal, channels, signals, asks, aside } = row;
  const { isJoin, owner, graph, waitFor, wakeOn, wakeAt, attendedBy, timeLeft } = row;
  const { decidesAfter, newestWrites, pause, pausedBy, asideFor } = row;
  const run = {
    ...noRun(),
    ...{ isJoin, owner, graph, waitFor, wakeOn, wakeAt, attendedBy, timeLeft, decidesAfter },
    ...{ newestWrites, pause, pausedBy, asideFor, wait },
    aside: aside && new Set(aside),
  };
  entry.own().run = run;
  for (const [field, text] of journal) run.journal.set(field, text);
  if (channels !== undefined) {
    run.channels = new ChannelValues();
    run.channels.takeOver(channels.values, channels.done);
  }
  if (signals !== undefined) run.signals = signalsOf(signals);
  if (asks !== undefined) putAsks(store, asks, entry);
  if (wait === undefined) return;
  store.waiters.add(entry, waitSince);
  if (wait.for.kind !== 'event') return;
  store.events.stand(eventPlace(entry.owner.user, wait.for), entry, waitNumber ?? 0);
}

function signalsOf({ kept, ids }: RunRow['signals'] & object): SignalBox {
  const box = new SignalBox();
  for (const [name, payloads] of kept) for (const payload of payloads) box.keep({ name, payload });
  for (const id of ids) box.remember(id);
  return box;
}

function putAsks(store: Store, rows: RunRow['asks'] & object, entry: TaskEntry): void {
  const { id: taskId, name: task, owner } = entry;
  const asks = rows.map(({ mark, ask, askedAt, until, closing }): [string, AskEntry] => {
    const over = until === undefined ? {} : { until };
    const record = { ...ask, taskId, task, user: owner.user, askedAt, ...over };
    if (closing === undefined) store.asks.add(record);
    return [mark, { record, closing }];
  });
  entry.ownRun().asks = new Map(asks);
}
