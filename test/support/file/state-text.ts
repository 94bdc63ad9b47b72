/**
 * What a store has, as text: the same for two that do the same from then on. It is taken off the store itself, all fields of
 * all that it is made of, so that it misses nothing that rows miss. Each record stands once; elsewhere it is named.
 */
import {
  NOTHING_RARE,
  OptionalFacts,
  QueueEntry,
  TaskEntry,
  UserEntry,
} from '../../../src/backends/memory/store/entities.ts';
import { MissingIds } from '../../../src/backends/memory/store/missing-ids.ts';
import { MomentIndex } from '../../../src/backends/memory/store/moment-index.ts';
import { SortedList } from '../../../src/backends/memory/store/sorted-list.ts';
import type { Store } from '../../../src/backends/memory/store/store.ts';
import { SeriesRow } from '../../../src/domain/series/series-row.ts';
import { isEnd } from '../../../src/domain/task/task.ts';

/** What a store does not keep: of the step in hand, of those that wait in this process, of what makes it quicker. */
export const LEFT: ReadonlySet<string> = new Set([
  ...['clock', 'leastKeptMs', 'alarm', 'reading', 'endWaiters', 'streamWaiters', 'touchedUsers'],
  ...['touchedQueues', 'ended', 'deadLetters', 'closed', 'isFiring', 'isFenced', 'now'],
  ...['queueAskedLast', 'grantGivenLast', 'grantedLast'],
]);

/** The same of other objects: orders, whom to wake, and where an item stands among those of its moment. */
const LEFT_KEYS: ReadonlySet<string> = new Set([
  ...['compare', 'byPlace', 'touched', 'wake', 'latest', 'place', 'keepMs'],
]);

/** Maps and sets whose order decides nothing. */
const UNORDERED: ReadonlySet<string> = new Set([
  ...['goneKeys', 'schedulesOn', 'failedByName', 'groupsById', 'classes', 'lists'],
  ...['begun', 'waiters', 'places', 'sets', 'users'],
]);

/** All of it, a line for each thing. */
export function stateText(store: Store): string {
  return linesOf(store).join('\n');
}

/** @throws with the first lines that differ. */
export function mustBeSameState(one: Store, other: Store): void {
  const [ours, theirs] = [linesOf(one), linesOf(other)];
  const at = ours.findIndex((line, nth) => line !== theirs[nth]);
  if (at < 0 && ours.length === theirs.length) return;
  throw new Error(`the state differs:\n${ours[Math.max(at, 0)]}\n${theirs[Math.max(at, 0)]}`);
}

function linesOf(store: Store): readonly string[] {
  const lines: string[] = [];
  const note = (path: string, value: unknown): void => {
    lines.push(`${path} = ${JSON.stringify(value)}`);
  };
  for (const [name, value] of Object.entries(store)) {
    if (LEFT.has(name) || name === 'records' || name === 'queues') continue;
    note(name, told(value, name));
  }
  for (const queue of store.queues.values()) {
    const { users, ...rest } = { ...queue };
    note(`queue ${queue.queue}`, fieldsOf(rest));
    for (const user of users.values()) note(`user ${nameOf(user)}`, userFields(user));
  }
  for (const entry of store.records.values()) note(`task ${entry.id}`, taskFields(store, entry));
  return lines;
}

function userFields(user: UserEntry): unknown {
  const { queue, levels, scheduled, leavingIn, ...rest } = { ...user };
  const isAhead = leavingIn === queue.clock.epoch;
  const lines = levels.map((list) => told(list ?? [], '')).filter((list) => !isEmpty(list));
  return { ...fieldsOf(rest), isAhead, lines, scheduled: told(scheduled ?? [], '') };
}

function taskFields(store: Store, entry: TaskEntry): unknown {
  const { owner, moment, optional, ...rest } = { ...entry };
  const { key, waiting, awaitingRedrive, ...rare } = { ...optional };
  const held = key === undefined ? undefined : store.keys.get(key.scope);
  const holder = held?.owner === entry ? 'owner' : held?.follower === entry ? 'follower' : '';
  return {
    ...fieldsOf(rest),
    owner: nameOf(owner) + (isEnd(entry.state) ? '' : isKnown(owner)),
    moment: moment?.at,
    ...fieldsOf(Object.fromEntries(Object.entries(rare).filter(isRare))),
    key: key && [key.scope, holder, holder === '' || key === held],
    waiting: told(waiting ?? [], ''),
    awaitingRedrive: told(awaitingRedrive ?? [], ''),
  };
}

function isKnown({ queue, user }: UserEntry): string {
  return queue.users.has(user) ? '' : ' unknown';
}

function isRare([name, value]: readonly [string, unknown]): boolean {
  return value !== new Map<string, unknown>(Object.entries(NOTHING_RARE)).get(name);
}

function isEmpty(list: unknown): boolean {
  return Array.isArray(list) && list.length === 0;
}

/** No task waits for this kind of thing any more. */
function isEmptyOf(row: unknown, name: string): boolean {
  return name === 'begun' && Array.isArray(row) && isEmpty(row[1]);
}

function nameOf({ queue, user }: UserEntry): string {
  return `${queue.queue}/${user}`;
}

/** Fields that have a value. */
function fieldsOf(value: object): Record<string, unknown> {
  const fields = Object.entries(value).filter(
    ([name, one]) => one !== undefined && !LEFT_KEYS.has(name),
  );
  return Object.fromEntries(fields.map(([name, one]) => [name, told(one, name)]).sort(byText));
}

function told(value: unknown, name: string): unknown {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : exact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof TaskEntry) return `task ${value.id}`;
  if (value instanceof UserEntry) return `user ${nameOf(value)}`;
  if (value instanceof QueueEntry) return `queue ${value.queue}`;
  if (value instanceof OptionalFacts) return fieldsOf(value);
  if (value instanceof SeriesRow) return value.text();
  if (Array.isArray(value)) return value.map((one) => told(one, ''));
  if (value instanceof MomentIndex || value instanceof SortedList) return list(value, '');
  if (value instanceof MissingIds) return missing(value);
  if (value instanceof Set || value instanceof Map) return list(value, name);
  return fieldsOf(value);
}

function list(values: Iterable<unknown>, name: string): unknown {
  const all = [...values].map((one) => told(one, '')).filter((one) => !isEmptyOf(one, name));
  return UNORDERED.has(name) ? all.sort(byText) : all;
}

/** Which lists come first decides nothing. */
function missing(value: MissingIds): unknown {
  const { lists, ...rest } = Object(value);
  return { ...rest, lists: list(lists, 'sets') };
}

function exact(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

function byText(a: unknown, b: unknown): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}
