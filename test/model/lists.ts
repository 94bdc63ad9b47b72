/** What a backend lists, page by page, and what it should. */
import type { Backend, TaskFilter } from '../../src/domain/port/backend.ts';
import type { AskFilter } from '../../src/domain/task/ask.ts';
import type { AttemptRecord, TaskRow } from '../../src/domain/task/task.ts';
import type { WaitFigure } from '../../src/domain/task/wait.ts';
import type { XComPlace } from '../../src/domain/task/xcom.ts';
import type { Oracle } from './oracle/oracle.ts';
import { NAMES, QUEUES, USERS } from './steps.ts';
import { PLACES } from './xcom-steps.ts';

export interface Lists {
  readonly byState: Readonly<Record<string, readonly string[]>>;
  readonly queued: Readonly<Record<string, readonly string[]>>;
  /** Failed tasks, by error group and by name. */
  readonly failed: Readonly<Record<string, readonly string[]>>;
  readonly attempts: Readonly<Record<string, readonly AttemptRecord[]>>;
  /** What runs have written down, those included that are gone. */
  readonly journals: readonly Readonly<Record<string, string>>[];
  /** What their members share. */
  readonly channels: readonly Readonly<Record<string, string>>[];
  readonly schedules: readonly string[];
  /** Open questions, of all, of a user and for a name. */
  readonly asks: readonly (readonly string[])[];
  /** How many wait for what. */
  readonly waits: readonly WaitFigure[];
  /** Named values, and the keys of each namespace that has one. */
  readonly values: readonly unknown[];
  readonly valueKeys: readonly unknown[];
}

const ASK_FILTERS: readonly AskFilter[] = [
  {},
  { user: 'ann' },
  { for: 'role:x' },
  { user: 'a:b', for: 'a:b' },
];

/** Small, so that cursors are used. */
const PAGE = 7;
const STATES = ['scheduled', 'deferred', 'started', 'finished', 'failed', 'canceled'] as const;

export async function listsOf(backend: Backend, ids: readonly string[]): Promise<Lists> {
  const byState: Record<string, readonly string[]> = {};
  const attempts: [string, readonly AttemptRecord[]][] = [];
  for (const state of STATES) {
    const records = await all(backend, { state });
    byState[state] = records.map(({ id }) => id);
    for (const { id } of records) attempts.push([id, await backend.inspect.attempts(id)]);
  }
  const queued: [string, readonly string[]][] = [];
  for (const queue of QUEUES) {
    for (const user of USERS) {
      const records = await all(backend, { state: 'queued', queue, user });
      if (records.length > 0) {
        queued.push([JSON.stringify([queue, user]), records.map(({ id }) => id)]);
      }
    }
  }
  const kept = attempts.filter(([, list]) => list.length > 0);
  const journals = await Promise.all(ids.map((id) => backend.runs.load(id)));
  const channels = await Promise.all(ids.map((id) => backend.runs.readChannel(id)));
  return {
    byState,
    queued: Object.fromEntries(queued),
    failed: await failedOf(backend),
    attempts: Object.fromEntries(kept),
    journals,
    channels,
    schedules: await schedulesOf(backend),
    asks: await Promise.all(ASK_FILTERS.map((filter) => asksOf(backend, filter))),
    waits: await backend.waits.figures(),
    values: await backend.xcom.read(PLACES),
    valueKeys: await Promise.all(PLACES.map((place) => keysOf(backend, place))),
  };
}

/** Of groups of which no task is kept nothing is looked at: how long they are known is no matter of tasks. */
async function failedOf(backend: Backend): Promise<Lists['failed']> {
  const found: [string, readonly string[]][] = [];
  let cursor: string | undefined;
  do {
    const page = await backend.inspect.errorGroups({ limit: 2, ...(cursor && { cursor }) });
    for (const { id, failed } of page.items) {
      if (failed === 0) continue;
      const ids = (await all(backend, { state: 'failed', error: id })).map((row) => row.id);
      found.push([id, ids.length === failed ? ids : [...ids, `${failed} are counted`]]);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  for (const name of NAMES) {
    const rows = await all(backend, { state: 'failed', name });
    if (rows.length > 0) found.push([`name ${name}`, rows.map(({ id }) => id)]);
  }
  return Object.fromEntries(found);
}

function expectedFailed(
  failed: readonly Pick<TaskRow, 'id' | 'name' | 'cause'>[],
): Lists['failed'] {
  const groups = new Map<string, string[]>();
  const add = (group: string, id: string): void => {
    groups.set(group, [...(groups.get(group) ?? []), id]);
  };
  for (const { id, name, cause } of failed) {
    const [bare = ''] = name.split('@');
    add(`name ${bare}`, id);
    if (cause === undefined || cause.type === 'upstream') continue;
    const way = 'failure' in cause ? (cause.failure ?? cause.type) : cause.type;
    const thrown = 'fingerprint' in cause ? cause.fingerprint : undefined;
    add(thrown ?? `${way}:${bare}`, id);
  }
  return Object.fromEntries(groups);
}

/** Two by two, so that pages with less than that are met. */
async function keysOf(backend: Backend, where: XComPlace): Promise<readonly string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const after = cursor === undefined ? {} : { cursor };
    const page = await backend.xcom.list(where, { limit: 2, ...after });
    keys.push(...page.items.map(({ key }) => key));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}

/** Two by two, as keys. */
async function asksOf(backend: Backend, filter: AskFilter): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await backend.asks.list(filter, { limit: 2, ...(cursor && { cursor }) });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids;
}

/** One by one, each where the one before left off. */
async function schedulesOf(backend: Backend): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const after = cursor === undefined ? {} : { cursor };
    const page = await backend.schedules.list({ limit: 1, ...after });
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids;
}

async function all(backend: Backend, filter: TaskFilter): Promise<readonly TaskRow[]> {
  const records: TaskRow[] = [];
  let cursor: string | undefined;
  do {
    const page = await backend.inspect.list(filter, {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    records.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return records;
}

export function expectedLists(oracle: Oracle, ids: readonly string[]): Lists {
  const byState = STATES.map((state): [string, readonly string[]] => [
    state,
    oracle.list(state).map(({ id }) => id),
  ]);
  const queued = QUEUES.flatMap((queue) =>
    USERS.map((user): [string, readonly string[]] => [
      JSON.stringify([queue, user]),
      oracle.queued(queue, user),
    ]),
  ).filter(([, ids]) => ids.length > 0);
  const attempts = STATES.flatMap((state) => oracle.list(state))
    .map(({ id }): [string, readonly AttemptRecord[]] => [id, oracle.attempts(id)])
    .filter(([, list]) => list.length > 0);
  return {
    byState: Object.fromEntries(byState),
    queued: Object.fromEntries(queued),
    failed: expectedFailed(oracle.list('failed')),
    attempts: Object.fromEntries(attempts),
    journals: ids.map((id) => oracle.journal(id)),
    channels: ids.map((id) => oracle.channels(id)),
    schedules: oracle.schedules().map(({ id }) => id),
    asks: ASK_FILTERS.map((filter) => oracle.openAsks(filter)),
    waits: oracle.waitFigures(),
    values: oracle.values(PLACES),
    valueKeys: PLACES.map(({ user, namespace }) => oracle.valueKeys(user, namespace)),
  };
}
