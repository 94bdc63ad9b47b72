/** Writes what is neither a task nor a queue. */

import { LIMITS } from '../../domain/limits.ts';
import { lookedText } from '../../domain/series/additions.ts';
import { SERIES_STEPS } from '../../domain/series/series-steps.ts';
import { readEventPlace } from '../memory/rules/events.ts';
import { TaskEntry } from '../memory/store/entities.ts';
import { digestOfFirst } from '../memory/store/first-payload.ts';
import { placeOfKey } from '../memory/store/idempotency.ts';
import type { ScheduleEntry } from '../memory/store/schedule-entry.ts';
import type { Store } from '../memory/store/store.ts';
import { HASH_FIELDS } from '../redis/layout/fields.ts';
import { eventPair } from '../redis/wire/ask.ts';
import { pairOf } from './keys-reader.ts';
import type { Target } from './keys-writer.ts';
import { packedTable } from './packed-names.ts';

const { schedule: SCHEDULE, xcom: XCOM, events: EVENTS, errorGroup: GROUP } = HASH_FIELDS;

/** How long it is known that a snapshot was there, in times of its own life. */
const REMEMBERED = 8;

/** The moment that is written beside a snapshot rules; the server takes it away behind that. */
const SLACK_MS = 60_000;

/** Writes all of it. */
export async function writeOthers(target: Target, store: Store): Promise<void> {
  await writeKeys(target, store);
  for (const entry of store.schedules.values()) await writeSchedule(target, entry);
  await writeGraphs(target, store);
  await writeValues(target, store);
  await writeEvents(target, store);
  await writeSeries(target, store);
  await writeErrorGroups(target, store);
  for (const [name, at] of store.names) await target.writer.score(target.keys.names, name, at);
  const { owner, fence } = store.scheduler;
  if (fence === 0) return;
  const lock = HASH_FIELDS.schedulerLock;
  const rows = [
    [lock.owner, owner],
    [lock.till, 0],
    [lock.fence, fence],
  ] as const;
  for (const [[field], value] of rows) {
    await target.writer.hash(target.keys.schedulerLock, field, value);
  }
}

/** It goes by itself then; false: it is over. */
async function expire({ writer }: Target, key: string, ms: number): Promise<void> {
  await writer.send('PEXPIRE', key, Math.max(1, Math.ceil(ms)));
}

async function writeKeys(target: Target, store: Store): Promise<void> {
  const { writer, keys, now } = target;
  for (const entry of store.keys.values()) {
    const { key, owner, follower, firstPayload, until, from, absorbed, endedAt } = entry;
    const isGone = !(owner instanceof TaskEntry);
    if (isGone && !(until !== undefined && now < until)) continue;
    const { queue, user } = placeOfKey(entry);
    const record = packedTable('key', {
      ownerId: owner.id,
      followerId: follower?.id,
      digestFirst: digestOfFirst(firstPayload),
      holdsUntil: until,
      windowFrom: from,
      ownerEndedAt: endedAt,
      ownerEndedAs: isGone ? owner.state : undefined,
      absorbedIds: absorbed,
    });
    const name = keys.key(queue, user, key);
    await writer.hash(name, HASH_FIELDS.key.record[0], record);
    if (endedAt === undefined) continue;
    const till = Math.max(endedAt + LIMITS.resendMs, until ?? 0);
    await expire(target, name, Math.max(till - now, 0) + LIMITS.resendMs);
  }
}

async function writeSchedule({ writer, keys }: Target, entry: ScheduleEntry): Promise<void> {
  const { id, change, next, last, active, settledSlot } = entry;
  const { on } = change;
  const fields: Readonly<Record<keyof typeof SCHEDULE, string | number | undefined>> = {
    spec: change.spec,
    revision: change.revision,
    paused: change.paused ? '1' : '0',
    overlap: change.overlap,
    limit: change.limit ?? '',
    graph: change.graph ?? '',
    slot: next?.slot,
    due: next?.dueAt,
    created: entry.createdAt,
    changed: entry.updatedAt,
    fired: entry.fired,
    missed: entry.missed,
    overlapped: entry.overlapped,
    settled: settledSlot,
    lastSlot: last?.slot,
    lastId: last?.id,
    active: active.length === 0 ? undefined : active.join('\0'),
    user: on?.user,
    event: on?.event,
  };
  for (const [field, value] of Object.entries(fields)) {
    const short = new Map(Object.entries(SCHEDULE)).get(field)?.[0];
    if (value !== undefined && short !== undefined)
      await writer.hash(keys.schedule(id), short, value);
  }
  await writer.score(keys.schedules, id, 0);
  if (next !== undefined) await writer.score(keys.schedulesDue, id, next.dueAt);
  if (on !== undefined && !change.paused) {
    await writer.member(keys.eventSchedules(on.user, on.event), id);
  }
}

async function writeGraphs(target: Target, store: Store): Promise<void> {
  const { writer, keys, now } = target;
  for (const [hash, { body, until, neededBy }] of store.snapshots) {
    for (const holder of neededBy) await writer.member(keys.graphRefs(hash), holder);
    const isNeeded = neededBy.size > 0;
    const forgetAt = until + (REMEMBERED - 1) * LIMITS.graphTtlMs;
    if (!isNeeded && forgetAt <= now) continue;
    const meta = keys.graphMeta(hash);
    await writer.hash(meta, HASH_FIELDS.graphMeta.till[0], isNeeded ? 0 : until);
    if (!isNeeded) await expire(target, meta, forgetAt - now);
    if (body === undefined || (!isNeeded && until <= now)) continue;
    await writer.send('SET', keys.graph(hash), body);
    if (!isNeeded) await expire(target, keys.graph(hash), until - now + SLACK_MS);
  }
}

async function writeValues({ writer, keys }: Target, store: Store): Promise<void> {
  for (const { place, text, ttlMs, pushedAt, writer: by, lookAt } of store.xcom.all()) {
    const { user, namespace, key } = place;
    const name = pairOf(user, pairOf(namespace, key));
    const hash = keys.xcom(name);
    await writer.hash(hash, XCOM.value[0], text);
    await writer.hash(hash, XCOM.writer[0], by ?? '');
    await writer.hash(hash, XCOM.pushed[0], pushedAt);
    await writer.hash(hash, XCOM.keep[0], ttlMs);
    await writer.score(keys.xcomEnds, name, lookAt);
    await writer.score(keys.xcomKeys(pairOf(user, namespace)), key, 0);
    await writer.score(keys.xcomNamespaces(user), namespace, 0);
  }
}

async function writeEvents(target: Target, store: Store): Promise<void> {
  const { writer, keys, now } = target;
  for (const [text, { newest, events, keptUntil }] of store.events.all()) {
    if (keptUntil <= now) continue;
    const { user, ...event } = readEventPlace(text);
    const key = keys.events(pairOf(user, eventPair(event)));
    await writer.hash(key, EVENTS.newest[0], newest);
    for (const [number, { at, event: one }] of events) {
      await writer.hash(key, EVENTS.event[0] + number, `${at} ${one.payload}`);
      await writer.hash(key, EVENTS.id[0] + one.eventId, number);
      await writer.hash(key, EVENTS.idOf[0] + number, one.eventId);
    }
    await expire(target, key, keptUntil - now);
  }
}

async function writeSeries(target: Target, store: Store): Promise<void> {
  const { writer, keys, now } = target;
  for (const [step, at, rows] of store.series.all()) {
    const { letter, ms, kept } = SERIES_STEPS[step];
    const left = (at + kept + 1) * ms - now;
    if (left <= 0) continue;
    const key = keys.series(letter + at);
    for (const [name, row] of rows) await writer.hash(key, name, row.text());
    if (rows.size > 0) await expire(target, key, left);
  }
  for (const [queue, looked] of store.series.looked) {
    await writer.hash(keys.seriesTotals, queue, lookedText(looked));
  }
}

async function writeErrorGroups(target: Target, store: Store): Promise<void> {
  const { writer, keys, now } = target;
  let latest: number | undefined;
  for (const { id, attempts, firstAt, lastAt, newest } of store.failures.all()) {
    const isFailed = store.failures.of(id).size > 0;
    const left = lastAt + LIMITS.errorGroupMs - now;
    if (!isFailed && left <= 0) continue;
    const key = keys.errorGroup(id);
    await writer.hash(key, GROUP.attempts[0], attempts);
    await writer.hash(key, GROUP.first[0], firstAt);
    await writer.hash(key, GROUP.newest[0], newest);
    await writer.score(keys.errorGroups(isFailed ? 'failed' : 'retried'), id, -lastAt);
    if (isFailed) continue;
    await expire(target, key, left);
    latest = Math.max(latest ?? 0, left);
  }
  if (latest !== undefined) await expire(target, keys.errorGroups('retried'), latest);
}
