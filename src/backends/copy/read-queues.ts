import { sharedClass, USUAL_WEIGHT } from '../../domain/fairness/fair-share.ts';
import {
  type LevelShares,
  newLevelShares,
  waitedOf,
} from '../../domain/fairness/priority-shares.ts';
import type { QueueSettings, UserSettings } from '../../domain/fairness/settings.ts';
import { PRIORITY_WEIGHTS } from '../../domain/limits.ts';
import type { RowOf } from '../memory/rows/model.ts';
import { FLAGS } from '../redis/layout/codes.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import type { KeyNames } from './key-names.ts';
import { type KeysReader, pairIn, pairOf } from './keys-reader.ts';
import { levelTags, queueNumbers } from './layout-3.ts';
import { unpacked, unpackedAll } from './msgpack.ts';
import { numbersIn, sizeOf } from './packed-bytes.ts';
import { recordIn } from './read-tasks.ts';

const { fair: FAIR, user: USER } = HASH_FIELDS;

type QueueRow = RowOf<'queue'>;

type SettingsRow = RowOf<'settings'>;

/** A user, and what its tasks decide: whether it is ready in a class of this kind, and when the first is due. */
export interface FoundUser {
  readonly row: RowOf<'user'>;
  readonly kind?: string | undefined;
  readonly dueKey?: number | undefined;
}

/** All queues that are known. */
export async function queuesOf(reader: KeysReader, names: KeyNames): Promise<readonly QueueRow[]> {
  const settingsOf = new Map(names.of('fair').map(({ queue, name }) => [queue, name]));
  const rows = [...(await queueNumbers(reader, names))].map(([queue, packed]) =>
    queueRow(reader, { queue, packed }, settingsOf.get(queue)),
  );
  return Promise.all(rows);
}

async function queueRow(
  reader: KeysReader,
  { queue, packed }: { readonly queue: string; readonly packed: Buffer },
  name: string | undefined,
): Promise<QueueRow> {
  const fields = name === undefined ? new Map<string, Buffer>() : await reader.hash(name);
  const settings = fields.get(FAIR.settings[0]);
  const mean = fields.get(FAIR.mean[0]);
  const followed = Number(fields.get(FAIR.followed[0])?.toString() ?? 0);
  return {
    queue,
    settings: settings === undefined ? {} : settingsIn(settings),
    ...numbersOf(packed, followed),
    mean: mean?.readDoubleLE(0),
    // Those of its tasks tell.
    parkedTurns: 0,
  };
}

type QueueNumbers = Omit<QueueRow, 'queue' | 'settings' | 'mean' | 'parkedTurns'>;

function numbersOf(packed: Buffer, followed: number): QueueNumbers {
  const { numbers: queue } = numbersIn('queue', packed);
  const { numbers: seldom, rest } = numbersIn('seldom', packed, sizeOf('queue'));
  const [, others] = unpackedAll(rest);
  const lasts = new Map<string, number>();
  if (queue.last >= 0) lasts.set(`w${USUAL_WEIGHT}`, queue.last);
  for (const [kind, last] of Object.entries(recordIn(others))) lasts.set(kind, Number(last));
  const { enqueued, finished } = queue;
  const { failed, canceled, retried, lost, stolen } = seldom;
  return {
    v: queue.virtual,
    epoch: queue.epoch,
    lasts: [...lasts],
    totals: {
      enqueued,
      finished,
      failed,
      canceled,
      retried,
      lost,
      stolen,
      deadLetters: failed - followed,
    },
    arrival: seldom.arrival,
  };
}

/** A script writes a table without fields as an empty list. */
function settingsIn(bytes: Buffer): QueueSettings {
  const { perUser, ...rest } = recordIn(unpacked(bytes));
  // They were checked when they were stored.
  return (perUser === undefined ? rest : { ...rest, perUser: recordIn(perUser) }) as QueueSettings;
}

/** Settings of users. */
export async function settingsOf(
  reader: KeysReader,
  names: KeyNames,
): Promise<readonly SettingsRow[]> {
  const rows = names.of('user-config').map(async ({ name, rest: user }) => {
    const fields = await reader.hash(name);
    return [...fields].map(([queue, packed]): SettingsRow => {
      const settings = recordIn(unpacked(packed)) as UserSettings;
      return queue === '*' ? { user, settings } : { user, queue, settings };
    });
  });
  return (await Promise.all(rows)).flat();
}

/** Where users stand in lists over all queues. */
interface Moments {
  readonly throttled: ReadonlyMap<string, number>;
  readonly due: ReadonlyMap<string, number>;
}

/** How users stand in their queues: those with records, with tags, or with due tasks. */
export async function usersOf(
  reader: KeysReader,
  names: KeyNames,
  queues: readonly QueueRow[],
): Promise<readonly FoundUser[]> {
  const moments = {
    throttled: await reader.scores('throttled'),
    due: await reader.scores('scheduled-users'),
  };
  const found: FoundUser[] = [];
  for (const queue of queues) found.push(...(await usersIn(reader, names, queue, moments)));
  return found;
}

async function usersIn(
  reader: KeysReader,
  names: KeyNames,
  queue: QueueRow,
  moments: Moments,
): Promise<readonly FoundUser[]> {
  const rows = new Map<string, FoundUser>();
  const isHere = ({ queue: name }: { readonly queue: string }): boolean => name === queue.queue;
  for (const { name, rest: user } of names.of('user').filter(isHere)) {
    const fields = await reader.hash(name);
    const packed = fields.get(USER.numbers[0]);
    if (packed !== undefined) rows.set(user, rowIn(queue, user, packed, fields));
  }
  // Who has no record stands there by its tag alone.
  for (const { name, rest: kind } of names.of('ready').filter(isHere)) {
    if (!kind.startsWith('p')) continue;
    for (const [user, tag] of await reader.scores(name)) {
      const weight = Number(kind.slice(2));
      rows.set(user, { row: { ...bare(queue, user), tag, weight }, kind: kind.slice(1) });
    }
  }
  for (const { name } of names.of('kept-tags').filter(isHere)) {
    for (const [user, tag] of await reader.scores(name)) {
      if (!rows.has(user)) rows.set(user, { row: { ...bare(queue, user), tag } });
    }
  }
  const start = pairOf(queue.queue, '');
  for (const [pair, dueKey] of moments.due) {
    const user = pair.slice(start.length);
    if (!pair.startsWith(start)) continue;
    rows.set(user, { ...(rows.get(user) ?? { row: bare(queue, user) }), dueKey });
  }
  return [...rows.values()].map(({ row, ...rest }) => {
    const throttledUntil = moments.throttled.get(start + row.user);
    return { ...rest, row: { ...row, throttledUntil } };
  });
}

function bare({ queue, epoch }: QueueRow, user: string): RowOf<'user'> {
  const usual = { tag: 0, weight: USUAL_WEIGHT, headroom: 0, arrival: 0, seq: 0 };
  return { queue, user, epoch, ...usual, ...newLevelShares() };
}

function rowIn(
  queue: QueueRow,
  user: string,
  packed: Buffer,
  fields: ReadonlyMap<string, Buffer>,
): FoundUser {
  const { numbers } = numbersIn('user', packed);
  const { tag, epoch, weight, flags, arrival } = numbers;
  const shares = fields.get(USER.shares[0]);
  const is = (flag: number): boolean => flags % (2 * flag) >= flag;
  const shared = is(FLAGS.user.shared);
  const kind = shared ? `s${sharedClass(weight)}` : `w${weight}`;
  return {
    kind: is(FLAGS.user.ready) ? kind : undefined,
    row: {
      ...bare(queue, user),
      ...{ tag, epoch, weight, arrival },
      mean: fields.get(USER.mean[0])?.readDoubleLE(0),
      ...(shares === undefined ? {} : sharesIn(shares, queue.settings)),
    },
  };
}

function sharesIn(bytes: Buffer, settings: QueueSettings): LevelShares {
  const old = levelTags(bytes);
  if (old !== undefined) {
    const { criticalRun } = old;
    return { criticalRun, waited: waitedOf(old, settings.priorityWeights ?? PRIORITY_WEIGHTS) };
  }
  const { numbers, rest } = numbersIn('shares', bytes);
  const { waited } = newLevelShares();
  for (let at = 0; at < rest.length; at += sizeOf('levelShare')) {
    const { numbers: share } = numbersIn('levelShare', rest, at);
    waited[share.level - 1] = share.waited;
  }
  return { criticalRun: numbers.critical, waited };
}

/** The parked tasks of all queues, with when it was the turn last of those that each is parked with. */
export async function parkedOf(
  reader: KeysReader,
  names: KeyNames,
): Promise<readonly (readonly [id: string, turn: number])[]> {
  const found: (readonly [string, number])[] = [];
  for (const { queue, name, rest: task } of names.of('parked-of-name')) {
    const turnsKey = name.replace(/parked-of-name:/, 'parked-users:');
    const turns = names.of('parked-users').find((one) => one.queue === queue && one.rest === task);
    const byUser = turns === undefined ? new Map<string, number>() : await reader.scores(turnsKey);
    for (const member of (await reader.scores(name)).keys()) {
      const [user, rest] = pairIn(member);
      found.push([rest.slice(13), byUser.get(rest.slice(0, 1) + user) ?? 0]);
    }
  }
  return found;
}
