/** Reads what is neither a task nor a queue. */

import { entriesIn } from '../../base/records.ts';
import { LIMITS } from '../../domain/limits.ts';
import { lookedIn, readAdditions } from '../../domain/series/additions.ts';
import type { Looked } from '../../domain/series/growth.ts';
import { SeriesRow } from '../../domain/series/series-row.ts';
import { putRow, type SeriesRows } from '../../domain/series/series-rows.ts';
import { SERIES_STEPS, type SeriesStep } from '../../domain/series/series-steps.ts';
import { isEnd, TASK_STATES } from '../../domain/task/task.ts';
import type { RowOf, Rows } from '../memory/rows/model.ts';
import { firstByDigest } from '../memory/store/first-payload.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import { schedulesIn } from '../redis/schedules.ts';
import type { KeyNames } from './key-names.ts';
import { type KeysReader, pairIn } from './keys-reader.ts';
import { tableIn } from './packed-names.ts';

const { key: KEY, schedule: SCHEDULE, xcom: XCOM, events: EVENTS } = HASH_FIELDS;
const { errorGroup: GROUP, graphMeta: META } = HASH_FIELDS;

/** Idempotency keys. */
export async function keyRowsOf(
  reader: KeysReader,
  names: KeyNames,
): Promise<readonly RowOf<'key'>[]> {
  const found: RowOf<'key'>[] = [];
  for (const { name, rest } of names.of('key')) {
    const colon = rest.indexOf(':');
    const [user, key] = pairIn(rest.slice(colon + 1));
    const packed = (await reader.hash(name)).get(KEY.record[0]);
    const fields = packed === undefined ? undefined : tableIn('key', packed);
    const owner = fields?.text('ownerId');
    if (fields === undefined || owner === undefined) continue;
    const ended = fields.text('ownerEndedAs');
    const queue = rest.slice(0, colon);
    found.push({
      ...{ queue, user, key, owner },
      ownerEndedAs: TASK_STATES.filter(isEnd).find((state) => state === ended),
      follower: fields.text('followerId'),
      firstPayload: firstByDigest(fields.text('digestFirst') ?? ''),
      until: fields.number('holdsUntil'),
      from: fields.number('windowFrom'),
      absorbed: fields.texts('absorbedIds'),
      endedAt: fields.number('ownerEndedAt'),
    });
  }
  return found;
}

/** Schedules. */
export async function scheduleRowsOf(
  reader: KeysReader,
  names: KeyNames,
): Promise<readonly RowOf<'schedule'>[]> {
  const found: RowOf<'schedule'>[] = [];
  for (const { name, rest: id } of names.of('schedule')) {
    const fields = await reader.hash(name);
    const texts = SCHEDULE_FIELDS.map((field) => fields.get(SCHEDULE[field][0])?.toString() ?? '');
    const [record] = schedulesIn([id, ...texts], 0);
    if (record === undefined || !fields.has(SCHEDULE.revision[0])) continue;
    const { createdAt, updatedAt, fired, missed, overlapped, settledSlot, last, next, ...change } =
      record;
    const active = fields.get(SCHEDULE.active[0])?.toString() ?? '';
    found.push({
      ...{ change, next, createdAt, updatedAt, fired, missed, overlapped, settledSlot, last },
      active: active.split('\0').filter((one) => one !== ''),
    });
  }
  return found;
}

/** In the order of lua/lib/time/schedule.lua. */
const SCHEDULE_FIELDS = [
  'spec',
  'revision',
  'paused',
  'overlap',
  'limit',
  'graph',
  'slot',
  'due',
  'created',
  'changed',
  'fired',
  'missed',
  'overlapped',
  'settled',
  'lastSlot',
  'lastId',
  'user',
  'event',
] as const;

/** Snapshots of graphs, those too that are only remembered. */
export async function graphRowsOf(
  reader: KeysReader,
  names: KeyNames,
  now: number,
): Promise<readonly RowOf<'graph'>[]> {
  const found: RowOf<'graph'>[] = [];
  const hashes = [...names.of('graph'), ...names.of('graphmeta')].map(({ rest }) => rest);
  for (const hash of new Set(hashes)) {
    const till = (await reader.hash(`graphmeta:${hash}`)).get(META.till[0])?.toString();
    const body = await reader.text(`graph:${hash}`);
    const neededBy = await reader.members(`graph-refs:${hash}`);
    const until = Number(till ?? 0);
    found.push({ hash, body, until: until > 0 ? until : now + LIMITS.graphTtlMs, neededBy });
  }
  return found;
}

/** Named values. */
export async function valueRowsOf(
  reader: KeysReader,
  names: KeyNames,
): Promise<readonly RowOf<'value'>[]> {
  const looks = await reader.scores('xcom-ends');
  const found: RowOf<'value'>[] = [];
  for (const { name, rest: place } of names.of('xcom')) {
    const [user, rest] = pairIn(place);
    const [namespace, key] = pairIn(rest);
    const fields = await reader.hash(name);
    const text = fields.get(XCOM.value[0])?.toString();
    if (text === undefined) continue;
    const writer = fields.get(XCOM.writer[0])?.toString() ?? '';
    const pushedAt = Number(fields.get(XCOM.pushed[0])?.toString());
    const ttlMs = Number(fields.get(XCOM.keep[0])?.toString());
    const lookAt = looks.get(place) ?? pushedAt + ttlMs;
    const own = writer === '' ? undefined : writer;
    found.push({ user, namespace, key, text, ttlMs, pushedAt, writer: own, lookAt });
  }
  return found;
}

/** Events that are kept. */
export async function eventRowsOf(
  reader: KeysReader,
  names: KeyNames,
  now: number,
): Promise<readonly RowOf<'events'>[]> {
  const found: RowOf<'events'>[] = [];
  for (const { name: keyName, rest: place } of names.of('events')) {
    const [user, event] = pairIn(place);
    const [name, key] = pairIn(event);
    const fields = await reader.hash(keyName);
    const left = await reader.msLeft(keyName);
    const events = [...fields].flatMap(([field, value]) => {
      const number = Number(field.slice(EVENTS.event[0].length));
      const [, at, payload] = /^(\d+) (.*)$/s.exec(value.toString()) ?? [];
      if (!field.startsWith(EVENTS.event[0]) || payload === undefined) return [];
      const eventId = fields.get(EVENTS.idOf[0] + number)?.toString() ?? '';
      return [{ number, at: Number(at), payload, eventId }];
    });
    events.sort((a, b) => a.number - b.number);
    const newest = Number(fields.get(EVENTS.newest[0])?.toString() ?? 0);
    const keptUntil = now + (left ?? LIMITS.eventKeepMs);
    found.push({ user, name, key, newest, keptUntil, events });
  }
  return found;
}

/** Error groups. */
export async function errorGroupsOf(
  reader: KeysReader,
  names: KeyNames,
): Promise<readonly RowOf<'errorGroup'>[]> {
  const seen = new Map<string, number>();
  for (const { name } of names.of('error-groups')) {
    for (const [group, score] of await reader.scores(name)) seen.set(group, -score);
  }
  const found: RowOf<'errorGroup'>[] = [];
  for (const { name, rest: id } of names.of('error-group')) {
    const fields = await reader.hash(name);
    const numberOf = (field: string): number => Number(fields.get(field)?.toString() ?? 0);
    const lastAt = seen.get(id);
    if (lastAt === undefined) continue;
    const newest = fields.get(GROUP.newest[0])?.toString() ?? '';
    const [attempts, firstAt] = [numberOf(GROUP.attempts[0]), numberOf(GROUP.first[0])];
    found.push({ id, attempts, firstAt, lastAt, newest });
  }
  return found.sort((a, b) => a.lastAt - b.lastAt);
}

/** Minutes and hours, with what was added and is in none yet. */
export async function seriesOf(
  reader: KeysReader,
  names: KeyNames,
): Promise<Pick<Rows, 'series' | 'looked'>> {
  const steps = new Map<string, SeriesRows>();
  for (const { name, rest } of names.of('series')) {
    const rows = [...(await reader.hash(name))].flatMap(([field, text]) => {
      const row = SeriesRow.of(text.toString());
      return row === undefined ? [] : [[field, row] as const];
    });
    steps.set(rest, new Map(rows));
  }
  const looked = new Map<string, Looked>();
  for (const [queue, text] of await reader.hash('series-totals')) {
    const one = lookedIn(text.toString());
    if (one !== undefined) looked.set(queue, one);
  }
  const added = names.has('series-new') ? await reader.list('series-new') : [];
  for (const { at, entries } of readAdditions(added, looked)) {
    for (const [, { letter, ms }] of entriesIn(SERIES_STEPS)) {
      const name = letter + Math.floor(at / ms);
      const rows = steps.get(name) ?? new Map();
      steps.set(name, rows);
      for (const entry of entries) putRow(rows, entry);
    }
  }
  return {
    series: [...steps].map(([name, rows]) => ({
      step: stepOf(name),
      at: Number(name.slice(1)),
      rows: [...rows].map(([field, row]) => [field, row.text()] as const),
    })),
    looked: [...looked].map(([queue, one]) => ({ queue, ...one })),
  };
}

function stepOf(name: string): SeriesStep {
  return name.startsWith(SERIES_STEPS.hour.letter) ? 'hour' : 'minute';
}
