import { keysIn, recordOf } from '../../base/records.ts';
import { compareUtf8 } from '../../base/utf8-order.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { scaleOf } from '../../domain/fairness/fair-share.ts';
import { allowedAt, boundedTat } from '../../domain/fairness/rate-limit.ts';
import { LIMITS } from '../../domain/limits.ts';
import type {
  ErrorGroupFacts,
  Page,
  PageRequest,
  QueueInfo,
  Stats,
  TaskFacts,
  TaskFilter,
  TaskPageRequest,
  UserInfo,
} from '../../domain/port/backend.ts';
import { DEPENDENTS_NAMED } from '../../domain/task/dependents.ts';
import { isEnd, rowBytes, TASK_STATES, type TaskRow } from '../../domain/task/task.ts';
import { isNamed } from '../../domain/task/task-name.ts';
import { dependentsOf } from './rules/dependents.ts';
import { upstreamOf } from './rules/edges.ts';
import { pauserOf } from './rules/pause.ts';
import { configuredInfo, userInfo } from './rules/settings-of.ts';
import { liveWorkers } from './rules/workers.ts';
import { byEnd, bySeq, type QueueEntry, type TaskEntry, type UserEntry } from './store/entities.ts';
import { NO_TOTALS } from './store/no-totals.ts';
import { runnableNow } from './store/ready-index.ts';
import type { Store } from './store/store.ts';
import { startTag } from './store/tag-order.ts';
import { blockedIds, toRecord } from './store/task-record.ts';

/**
 * See `Inspect.list`. The cursor is the place of the last row that was read, not its rank, so that
 * a removed row skips no others.
 */
export function listTasks(store: Store, filter: TaskFilter, page: TaskPageRequest): Page<TaskRow> {
  const { values = false } = page;
  const limit = Math.min(page.limit, LIMITS.pageMax);
  const items: TaskRow[] = [];
  let last: TaskEntry | undefined;
  let [looked, bytes] = [0, 0];
  for (const entry of rowsAfter(store, filter, page.cursor)) {
    if (
      last !== undefined &&
      (items.length === limit || looked >= LIMITS.pageScan || bytes >= LIMITS.pageBytes)
    ) {
      return { items, cursor: JSON.stringify(placeOf(last)) };
    }
    looked++;
    last = entry;
    if (!matches(entry, filter)) continue;
    const record = toRecord(entry);
    const { payload: _payload, result: _result, ...short } = record;
    const row = values ? record : short;
    bytes += rowBytes(row);
    items.push(row);
  }
  return { items };
}

function rowsAfter(
  store: Store,
  filter: TaskFilter,
  cursor: string | undefined,
): Iterable<TaskEntry> {
  const place = cursor === undefined ? undefined : parseCursor(cursor);
  const isBefore = (entry: TaskEntry): boolean =>
    place !== undefined && comparePlaces(placeOf(entry), place) <= 0;
  if (filter.state === 'queued') return inLine(store, filter).filter((row) => !isBefore(row));
  const behind = (rows: Rows): Iterable<TaskEntry> =>
    rows.from(place === undefined ? 0 : rows.countWhile(isBefore));
  if (filter.error !== undefined) return behind(store.failures.of(filter.error));
  if (filter.state === 'failed' && filter.name !== undefined) {
    return behind(store.failures.named(filter.name));
  }
  const rows = behind(store.byState[filter.state]);
  return isEnd(filter.state) ? merged(rows, behind(store.read[filter.state])) : rows;
}

interface Rows {
  from(rank: number): Iterable<TaskEntry>;
  countWhile(isBefore: (entry: TaskEntry) => boolean): number;
}

/** Both in the order of their ends. */
function* merged(some: Iterable<TaskEntry>, others: Iterable<TaskEntry>): Generator<TaskEntry> {
  const left = others[Symbol.iterator]();
  let next = left.next();
  for (const one of some) {
    for (; !next.done && byEnd(next.value, one) < 0; next = left.next()) yield next.value;
    yield one;
  }
  for (; !next.done; next = left.next()) yield next.value;
}

/** See `Inspect.errorGroups`. */
export function listErrorGroups(
  store: Store,
  { limit, cursor }: PageRequest,
): Page<ErrorGroupFacts> {
  const [kind, moment, id] = cursor === undefined ? [] : parseCursor(cursor);
  const place = (group: ErrorGroupFacts): Place => [
    Number(group.failed === 0),
    -group.lastAt,
    group.id,
  ];
  const after = cursor === undefined ? undefined : [kind ?? 0, moment ?? 0, id ?? ''];
  const rows = store.failures
    .groups(store.now)
    .filter((group) => after === undefined || comparePlaces(place(group), after) > 0);
  const items = rows.slice(0, Math.min(limit, LIMITS.pageMax));
  const last = items.at(-1);
  if (last === undefined || items.length === rows.length) return { items };
  return { items, cursor: JSON.stringify(place(last)) };
}

/** Place of a task in the listing of its state: its sort key. */
type Place = readonly (string | number)[];

function placeOf(entry: TaskEntry): Place {
  switch (entry.state) {
    case 'scheduled':
      return [entry.dueAt ?? 0, entry.order];
    case 'deferred':
      return [entry.order];
    case 'queued':
      return [entry.owner.queue.queue, -entry.level, entry.seq];
    case 'started':
      return [entry.leaseUntil ?? 0, entry.order];
    case 'finished':
    case 'failed':
    case 'canceled':
      return [entry.endOrder];
  }
}

function comparePlaces(a: Place, b: Place): number {
  for (const [i, one] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    if (one === other) continue;
    if (typeof one === 'number' && typeof other === 'number') return one - other;
    return compareUtf8(String(one), String(other));
  }
  return 0;
}

function parseCursor(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(cursor);
    if (Array.isArray(place)) return place;
  } catch {
    // Falls through to the refusal.
  }
  throw new InvalidOptionError('cursor', 'the cursor of a page of this listing', cursor);
}

/** A user's queued tasks: critical first, then by level. */
function inLine(store: Store, filter: TaskFilter): TaskEntry[] {
  const queues = store.queuesInOrder();
  const users = queues.flatMap((queue) => {
    if (filter.user === undefined) return [];
    if (filter.queue !== undefined && filter.queue !== queue.queue) return [];
    const user = queue.users.get(filter.user);
    return user === undefined ? [] : [user];
  });
  return users.flatMap((user) => [6, 5, 4, 3, 2, 1].flatMap((level) => inPlace(user, level)));
}

function matches(entry: TaskEntry, filter: TaskFilter): boolean {
  return (
    (filter.queue === undefined || entry.owner.queue.queue === filter.queue) &&
    (filter.user === undefined || entry.owner.user === filter.user) &&
    (filter.name === undefined || isNamed(entry.name, filter.name))
  );
}

/** See `UserStore.list`. */
export function listUsers(
  store: Store,
  { queue, configured = false }: { readonly queue: string; readonly configured?: boolean },
  page: PageRequest,
): Page<UserInfo> {
  const limit = Math.min(page.limit, LIMITS.pageMax);
  const known = store.queues.get(queue)?.users ?? new Map<string, UserEntry>();
  const names = configured ? withConfigured(store, known) : known.keys();
  const found = namesBehind(names, page.cursor, limit + 1);
  const items = found.slice(0, limit).flatMap((name) => {
    const user = known.get(name);
    return (user === undefined ? configuredInfo(store, queue, name) : userInfo(store, user)) ?? [];
  });
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, cursor: last.user } : { items };
}

/** See `UserStore.everywhere`. */
export function usersEverywhere(store: Store, users: readonly string[]): readonly UserInfo[] {
  const names = users.toSorted(compareUtf8);
  return [...store.queues.values()]
    .flatMap((queue) => names.flatMap((name) => queue.users.get(name) ?? []))
    .sort((a, b) => compareUtf8(a.queue.queue, b.queue.queue))
    .map((user) => userInfo(store, user));
}

/** Users of the queue, and those with settings for all queues only. */
function* withConfigured(
  store: Store,
  known: ReadonlyMap<string, UserEntry>,
): Generator<string, void, undefined> {
  yield* known.keys();
  for (const name of store.settingsForAll.keys()) if (!known.has(name)) yield name;
}

/** The first names after a name, in order, in one pass. */
function namesBehind(
  names: Iterable<string>,
  after: string | undefined,
  count: number,
): readonly string[] {
  const first: string[] = [];
  for (const name of names) {
    if (after !== undefined && compareUtf8(name, after) <= 0) continue;
    const last = first[count - 1];
    if (last !== undefined && compareUtf8(last, name) < 0) continue;
    if (last !== undefined) first.pop();
    first.splice(placeOfName(first, name), 0, name);
  }
  return first;
}

/** Number of these names before a name. */
function placeOfName(names: readonly string[], name: string): number {
  let [low, high] = [0, names.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareUtf8(names[middle] ?? '', name) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Facts about a queue; the counts are a copy. */
export function queueInfo(store: Store, queue: QueueEntry): QueueInfo {
  return {
    queue: queue.queue,
    settings: queue.settings,
    counts: { ...queue.counts },
    deadLetters: queue.deadLetters,
    readyUsers: queue.readyUsers,
    runnable: runnableNow(store, queue),
  };
}

/** Tasks by state over all queues, and totals since the store was created. */
export function stats(store: Store): Stats {
  const counts = recordOf(TASK_STATES, () => 0);
  const totals = { ...NO_TOTALS };
  for (const queue of store.queues.values()) {
    for (const state of TASK_STATES) counts[state] += queue.counts[state];
    for (const total of keysIn(NO_TOTALS)) totals[total] += queue.totals[total];
  }
  return { counts, totals };
}

/** See `Inspect.facts`. */
export function facts(store: Store, id: string): TaskFacts | undefined {
  const entry = store.records.get(id);
  if (entry === undefined) return undefined;
  const { queue, user: name } = entry.owner;
  // An ended task's user may have a newer record.
  const user = queue.users.get(name) ?? entry.owner;
  const { rate } = queue.settings;
  const queueUntil =
    rate === undefined ? 0 : allowedAt(rate, boundedTat(rate, queue.tat, store.now));
  return {
    record: toRecord(entry),
    now: store.now,
    blockedBy: blockedIds(entry).map((on) => {
      const isForeign = store.records.has(on) && upstreamOf(store, entry, on) === undefined;
      return { id: on, state: isForeign ? 'foreign' : (store.records.get(on)?.state ?? 'missing') };
    }),
    ...dependentFacts(store, id),
    ...runFacts(store, entry),
    user: queue.users.has(name) ? userInfo(store, user) : undefined,
    ...(user.throttledUntil === undefined
      ? {}
      : { throttledUntil: Math.ceil(user.throttledUntil) }),
    queue: queueInfo(store, queue),
    ...(queueUntil > store.now ? { queueThrottledUntil: Math.ceil(queueUntil) } : {}),
    queueRunning: queue.counts.started,
    ahead: entry.state === 'queued' ? aheadOf(entry) : 0,
    ...(entry.optional.parkedUntil === undefined ? {} : { parked: true }),
    usersAhead: entry.state === 'queued' && user.ready ? usersAhead(user) : 0,
    shares: {
      waited: [...user.shares.waited],
      weights: [...queue.priorityWeights],
    },
    liveWorkers: liveWorkers(store),
  };
}

/** A user's tasks of a level, in line or parked, in the order of their places. */
function inPlace(user: UserEntry, level: number): readonly TaskEntry[] {
  const all = [...(user.levels[level - 1] ?? [])];
  if (user.parked === 0) return all;
  return [...all, ...user.queue.parked.of(user, level)].sort(bySeq);
}

/** Number of tasks of its level before it, in line or parked. */
function aheadOf({ owner, level, seq }: TaskEntry): number {
  return inPlace(owner, level).filter((other) => other.seq < seq).length;
}

function dependentFacts(store: Store, id: string): Pick<TaskFacts, 'dependents'> {
  const dependents = dependentsOf(store, id, { limit: DEPENDENTS_NAMED });
  return dependents.count === 0 ? {} : { dependents };
}

/** Facts of joins, runs and their members. */
function runFacts(
  store: Store,
  entry: TaskEntry,
): Pick<TaskFacts, 'join' | 'suspension' | 'wait' | 'timeLeft' | 'endedRun' | 'paused'> {
  const { state, optional } = entry;
  const { run, blocked } = optional;
  if (run === undefined) return {};
  const pauser = isEnd(state) ? undefined : pauserOf(store, entry);
  const { pause } = pauser?.optional.run ?? {};
  const paused = pause === undefined ? {} : { paused: { run: pauser?.id ?? '', ...pause } };
  if (run.isJoin) return { join: true, ...paused };
  const isSuspended = state === 'deferred' && run.waitFor.some((id) => blocked?.has(id));
  const { wakeOn, wakeAt, wait, attendedBy, timeLeft } = run;
  const until = wakeAt === undefined ? {} : { wakeAt };
  const of = run.waitFor.length;
  const owner = isEnd(state) || state === 'started' ? undefined : run.owner;
  const ownerState =
    owner === undefined ? undefined : (store.records.get(owner)?.state ?? 'missing');
  const isOver = ownerState !== undefined && (ownerState === 'missing' || isEnd(ownerState));
  return {
    ...paused,
    ...(isSuspended ? { suspension: { of, wakeOn, ...until } } : {}),
    ...(wait === undefined
      ? {}
      : { wait: { for: wait.for, since: store.waiters.since(entry), ...until } }),
    ...(attendedBy === undefined || timeLeft === undefined ? {} : { timeLeft }),
    ...(owner !== undefined && isOver ? { endedRun: { id: owner, state: ownerState } } : {}),
  };
}

/** Number of ready users whose next turn starts before this user's. */
function usersAhead(user: UserEntry): number {
  const start = startTag(user);
  let ahead = 0;
  for (const { users, shared } of user.queue.classes.values()) {
    for (const other of users) {
      if (shared ? startTag(other) >= start : other.tag >= tagIn(user, other.weight)) break;
      ahead++;
    }
  }
  return ahead;
}

/** Tag of a user in turns of some weight. */
function tagIn(user: UserEntry, weight: number): number {
  return user.weight === weight ? user.tag : startTag(user) * scaleOf(weight);
}
