import { inChunks } from '../../base/chunks.ts';
import { CopyRefusedError, demandNoWorkers } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import { isEnd } from '../../domain/task/task.ts';
import type { BlockKind, RowOf, Rows } from '../memory/rows/model.ts';
import { isFirstPayload } from '../memory/store/first-payload.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import { KeyNames } from './key-names.ts';
import { KeysReader, keysOf, type Namespace, pairIn, pairOf } from './keys-reader.ts';
import { clockFields } from './layout-3.ts';
import { numbersIn } from './packed-bytes.ts';
import {
  errorGroupsOf,
  eventRowsOf,
  graphRowsOf,
  keyRowsOf,
  scheduleRowsOf,
  seriesOf,
  valueRowsOf,
} from './read-others.ts';
import { type FoundUser, parkedOf, queuesOf, settingsOf, usersOf } from './read-queues.ts';
import { type RunKeys, runOf, streamsOf } from './read-runs.ts';
import { type Parking, type Pieces, taskOf } from './read-tasks.ts';

/** Keys of tasks that are read at once. */
const AT_ONCE = 200;

type TaskRow = RowOf<'task'>;

/** All of a namespace: rows, and what of users follows from the tasks that they have. */
export interface FoundRows {
  readonly rows: Rows;
  readonly users: readonly FoundUser[];
  /** Users of a queue, as `pairOf` has them, some of whose tasks come into line as they are copied. */
  readonly entering: ReadonlySet<string>;
}

/** How a namespace is read. */
export interface Reading {
  /** The time of the namespace, when that is not the server's. */
  readonly clock?: (() => number) | undefined;
  /** Also while workers live there. */
  readonly force: boolean;
}

/**
 * Reads all of a namespace. It has to be at rest: no workers, and no call comes between.
 *
 * @throws `CopyRefusedError` when workers live there, unless that is forced, when a change of many parts is
 * half done, or when something has changed meanwhile.
 */
export async function rowsOfRedis(
  namespace: Namespace,
  { clock, force }: Reading,
): Promise<FoundRows> {
  const reader = new KeysReader(namespace);
  const names = new KeyNames();
  for await (const some of keysOf(namespace)) for (const name of some) names.add(name);
  const now = clock === undefined ? await reader.now() : clock();
  const before = await clockOf(reader);
  if (!force) await mustHaveNoWorkers(reader, now, 'source');
  mustBeWhole(names);
  const queues = await queuesOf(reader, names);
  const { tasks, parked } = await tasksOf(reader, names);
  const users = await usersOf(reader, names, queues);
  const { series, looked } = await seriesOf(reader, names);
  const ended = tasks.filter(({ state }) => isEnd(state));
  const endedLast = ended.reduce((last, { endMoment = 0 }) => Math.max(last, endMoment), 0);
  const { entering, rows: freed } = letGo(tasks);
  const rows: Rows = {
    clock: [{ ...before.row, arrivals: tasks.length, endings: ended.length, endedLast }],
    name: [...(await reader.scores('names'))].map(([name, at]) => ({ name, at })),
    queue: queues,
    settings: await settingsOf(reader, names),
    user: users.map(({ row }) => row),
    list: [],
    graph: await graphRowsOf(reader, names, now),
    events: await eventRowsOf(reader, names, now),
    errorGroup: await errorGroupsOf(reader, names),
    task: freed,
    parked,
    key: withPayloads(await keyRowsOf(reader, names), tasks),
    schedule: await scheduleRowsOf(reader, names),
    value: await valueRowsOf(reader, names),
    series,
    looked,
    worker: [],
  };
  if ((await clockOf(reader)).steps !== before.steps) {
    throw new CopyRefusedError(
      'the source has changed while it was copied: stop what works and enqueues there, and copy again',
    );
  }
  return { rows, users, entering };
}

/** What tasks do not tell. */
type KnownClock = Omit<RowOf<'clock'>, 'arrivals' | 'endings' | 'endedLast'>;

async function clockOf(
  reader: KeysReader,
): Promise<{ readonly row: KnownClock; readonly steps: number }> {
  const clock = await clockFields(reader);
  const packed = clock.get(HASH_FIELDS.clock.numbers[0]);
  const upkeep = clock.get(HASH_FIELDS.clock.upkeep[0]);
  const lock = await reader.hash('scheduler:lock');
  const { owner, fence } = HASH_FIELDS.schedulerLock;
  const scheduler = {
    schedulerOwner: lock.get(owner[0])?.toString() ?? '',
    // The lock itself is not copied.
    schedulerUntil: 0,
    schedulerFence: Number(lock.get(fence[0])?.toString() ?? 0),
  };
  if (packed === undefined) return { row: { seen: 0, sweepAfter: 0, ...scheduler }, steps: 0 };
  const { seen, steps } = numbersIn('clock', packed).numbers;
  const sweepAfter = upkeep === undefined ? 0 : numbersIn('upkeep', upkeep).numbers.pause;
  return { row: { seen, sweepAfter, ...scheduler }, steps };
}

/** @throws `CopyRefusedError` when workers live in a namespace. */
export async function mustHaveNoWorkers(
  reader: KeysReader,
  now: number,
  where: 'source' | 'target',
): Promise<void> {
  const workers = [...(await reader.scores('workers'))];
  const live = workers.filter(([, seen]) => now - seen <= LIMITS.workerSilenceMs);
  demandNoWorkers(
    live.map(([id]) => id),
    where,
  );
}

function mustBeWhole(names: KeyNames): void {
  if (names.has('damaged')) {
    throw new CopyRefusedError(
      'something in the source cannot be read: see fairloom doctor, and copy again',
    );
  }
  if (names.has('submissions') || names.has('refreshing')) {
    throw new CopyRefusedError(
      'a batch or a change of settings is half done in the source: let a worker run for a minute, and copy again',
    );
  }
}

/** The payload that a key came with is known in full as long as its task has it. */
function withPayloads(
  keys: readonly RowOf<'key'>[],
  tasks: readonly TaskRow[],
): readonly RowOf<'key'>[] {
  const rows = new Map(tasks.map((task) => [task.id, task]));
  return keys.map((key) => {
    const owner = rows.get(key.owner);
    const first =
      owner === undefined || owner.firstPayload !== undefined ? undefined : owner.payload;
    const isKnown = first !== undefined && isFirstPayload(key.firstPayload, first);
    return isKnown ? { ...key, firstPayload: first } : key;
  });
}

interface FoundTasks {
  /** In the order of arrival. */
  readonly tasks: readonly TaskRow[];
  readonly parked: readonly RowOf<'parked'>[];
}

async function tasksOf(reader: KeysReader, names: KeyNames): Promise<FoundTasks> {
  const texts = await reader.hash('tasks');
  const [payloads, facts, ends, results, errors] = await Promise.all([
    reader.hash('payloads'),
    reader.hash('facts'),
    reader.hash('ends'),
    reader.hash('results'),
    reader.hash('errors'),
  ]);
  const leases = new Map<string, readonly [worker: string, packed: Buffer]>();
  for (const { name, rest: worker } of names.of('hot')) {
    for (const [id, packed] of await reader.hash(name)) leases.set(id, [worker, packed]);
  }
  const attempts = await byId(names, 'attempts', (name) => reader.list(name));
  const streams = await byId(names, 'streams', async (name, id) =>
    streamsOf(reader, id, await reader.hash(name)),
  );
  const runKeys = await runKeysOf(reader, names);
  const pieces: Pieces = {
    ...{ payloads, facts, ends, results, errors, leases, attempts, streams },
    blocked: await blockedOf(reader, names, texts),
    parked: await parkedIn(reader, names, texts),
    run: (task) => runOf(task, runKeys),
  };
  const rows: TaskRow[] = [];
  for (const [id, text] of texts) rows.push(taskOf(id, text.toString(), pieces));
  const tasks = numbered(rows).map((row) => withDeadline(row, pieces.parked.get(row.id)));
  const inLine = tasks.filter(({ state }) => state === 'queued').sort((a, b) => a.place - b.place);
  const parked = inLine.flatMap(({ id }) => {
    const found = pieces.parked.get(id);
    return found === undefined ? [] : [{ id, ...found }];
  });
  return { tasks, parked };
}

/** Redis has one counter of arrivals, ends and places: each is counted for itself, from 1 on. */
function numbered(found: readonly TaskRow[]): readonly TaskRow[] {
  const ends = new Map<string, Pick<TaskRow, 'endOrder' | 'endMoment'>>();
  const places = new Map<string, number>();
  const users = new Map<string, number>();
  let endMoment = 0;
  const ended = found.filter(({ state }) => isEnd(state));
  for (const { id, endedAt = 0 } of ended.sort((a, b) => a.endOrder - b.endOrder)) {
    endMoment = Math.max(endMoment, endedAt);
    ends.set(id, { endOrder: ends.size + 1, endMoment });
  }
  const placed = found.filter(({ place, state }) => place > 0 && !isEnd(state));
  for (const { id, queue, user } of placed.sort((a, b) => a.place - b.place)) {
    const place = (users.get(pairOf(queue, user)) ?? 0) + 1;
    users.set(pairOf(queue, user), place);
    places.set(id, place);
  }
  return [...found]
    .sort((a, b) => a.order - b.order)
    .map((row, at) => {
      return { ...row, order: at + 1, place: places.get(row.id) ?? 0, ...ends.get(row.id) };
    });
}

/** With the least of its limits. */
function withDeadline(row: TaskRow, parking: Parking | undefined): TaskRow {
  const { expiresAt, waitUntil, run, state } = row;
  const limits = [expiresAt, waitUntil, run?.wakeAt, parking?.until].filter(
    (one) => one !== undefined,
  );
  return limits.length === 0 || isEnd(state) ? row : { ...row, deadline: Math.min(...limits) };
}

async function byId<T>(
  names: KeyNames,
  family: string,
  read: (name: string, id: string) => Promise<T>,
): Promise<ReadonlyMap<string, T>> {
  const found = new Map<string, T>();
  for (const some of inChunks(names.of(family), AT_ONCE)) {
    const rows = await Promise.all(some.map(({ name, rest }) => read(name, rest)));
    for (const [at, { rest }] of some.entries()) {
      const row = rows[at];
      if (row !== undefined) found.set(rest, row);
    }
  }
  return found;
}

async function runKeysOf(reader: KeysReader, names: KeyNames): Promise<RunKeys> {
  const since = new Map<string, number>();
  for (const { name } of names.of('waits')) {
    for (const [id, at] of await reader.scores(name)) since.set(id, at);
  }
  const numbers = new Map<string, number>();
  for (const { name } of names.of('event-waiters')) {
    for (const [id, number] of await reader.scores(name)) numbers.set(id, number);
  }
  return {
    journals: await byId(names, 'run', (name) => reader.hash(name)),
    channels: await byId(names, 'channel', (name) => reader.hash(name)),
    since,
    numbers,
  };
}

/** Whom each task waits for, and for what of them. */
async function blockedOf(
  reader: KeysReader,
  names: KeyNames,
  texts: ReadonlyMap<string, Buffer>,
): Promise<Pieces['blocked']> {
  const waits = new Map<string, BlockKind>();
  const deps = names.of('deps').map(({ name, rest }) => {
    const colon = rest.indexOf(':');
    return { name, kind: rest.slice(0, colon), rest: rest.slice(colon + 1) };
  });
  const named = (kind: string) => deps.filter((one) => one.kind === kind);
  const note = async (kind: string, as: BlockKind, idOf: (rest: string) => string) => {
    for (const some of inChunks(named(kind), AT_ONCE)) {
      const sets = await Promise.all(some.map(({ name }) => reader.scores(name)));
      for (const [at, { rest }] of some.entries()) {
        for (const id of sets[at]?.keys() ?? []) waits.set(pairOf(id, idOf(rest)), as);
      }
    }
  };
  await note('waiting', 'end', (rest) => rest);
  await note('redrive', 'redrive', (rest) => rest);
  await note('missing', 'missing', (rest) => pairIn(rest)[0]);
  const found = new Map<string, readonly (readonly [string, BlockKind])[]>();
  for (const some of inChunks(named('blocked'), AT_ONCE)) {
    const sets = await Promise.all(some.map(({ name }) => reader.members(name)));
    for (const [at, { rest: id }] of some.entries()) {
      if (!texts.has(id)) continue;
      const ids = sets[at] ?? [];
      found.set(
        id,
        ids.map((one) => [one, waits.get(pairOf(id, one)) ?? 'none'] as const),
      );
    }
  }
  return found;
}

/** The deadline of a parked task says when the workers that know its name are looked up again. */
async function parkedIn(
  reader: KeysReader,
  names: KeyNames,
  texts: ReadonlyMap<string, Buffer>,
): Promise<Pieces['parked']> {
  const turns = await parkedOf(reader, names);
  const deadlines =
    turns.length === 0 ? new Map<string, number>() : await reader.scores('deadlines');
  return new Map(
    turns.map(([id, turn]) => {
      const stamp = texts.get(id)?.toString('latin1', 13, 25) ?? '';
      return [id, { turn, until: deadlines.get(stamp + id) ?? 0 }];
    }),
  );
}

/** Who was set aside by a pause that is over comes into line now, where it was to come step by step. */
function letGo(tasks: readonly TaskRow[]): {
  readonly rows: readonly TaskRow[];
  readonly entering: ReadonlySet<string>;
} {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const entering = new Set<string>();
  const rows = tasks.map((task): TaskRow => {
    const run = byId.get(task.run?.asideFor ?? '');
    const isOver = run !== undefined && !isEnd(run.state) && run.run?.pause === undefined;
    if (task.run === undefined || !isOver) return task;
    entering.add(pairOf(task.queue, task.user));
    return { ...task, state: 'queued', run: { ...task.run, asideFor: undefined } };
  });
  return { rows, entering };
}
