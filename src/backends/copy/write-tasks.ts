/** Writes records of tasks, and where they stand. */

import { LIMITS } from '../../domain/limits.ts';
import { askPlace } from '../../domain/task/ask.ts';
import { type AttemptRecord, isEnd, type TaskState } from '../../domain/task/task.ts';
import type { TaskEntry } from '../memory/store/entities.ts';
import { digestOfFirst } from '../memory/store/first-payload.ts';
import type { Store } from '../memory/store/store.ts';
import { FLAGS, PLACES, STATE_CODES } from '../redis/layout/codes.ts';
import { eventPair } from '../redis/wire/ask.ts';
import { blobOf, INLINE } from '../redis/wire/encode.ts';
import type { Target } from './keys-writer.ts';
import type { Packable } from './msgpack.ts';
import { packed } from './msgpack.ts';
import { packedBytes } from './packed-bytes.ts';
import { type Named, shortNamed } from './packed-names.ts';
import type { Stamps } from './stamps.ts';

/** What the record of a task is made of beside the task. */
export interface TaskContext extends Target {
  readonly store: Store;
  readonly stamps: Stamps;
  /** Whether its user's record counts what runs. */
  isCounted(entry: TaskEntry): boolean;
}

/** Writes everything that is a task's own. */
export async function writeTask(context: TaskContext, entry: TaskEntry): Promise<void> {
  const { writer, keys } = context;
  const { id, payload, optional } = entry;
  const facts = factsOf(context, entry);
  const isLong = payload.length > INLINE;
  const kind =
    (isLong ? FLAGS.kind.long : 0) +
    (facts?.isSpecial === true ? FLAGS.kind.special : 0) +
    (facts === undefined ? 0 : facts.isPlace ? FLAGS.kind.place : FLAGS.kind.facts);
  await writer.hash(keys.tasks, id, textOf(context, entry, kind));
  if (isLong) await writer.hash(keys.payloads, id, payload);
  if (facts !== undefined) await writer.hash(keys.facts, id, facts.bytes);
  if (optional.error !== undefined) await writer.hash(keys.errors, id, optional.error);
  for (const attempt of optional.attempts ?? []) {
    const cause = jsonOf(attempt.cause);
    await writer.push(keys.attempts(id), JSON.stringify({ ...attempt, cause }));
  }
  if (entry.state === 'started') await writeLease(context, entry, facts !== undefined);
  if (isEnd(entry.state)) await writeEnd(context, entry);
}

function textOf({ stamps }: TaskContext, entry: TaskEntry, kind: number): string {
  const created = String(entry.createdAt).padStart(13, '0');
  const { queue, user } = { queue: entry.owner.queue.queue, user: entry.owner.user };
  const { id, name, level, cost, payload, options, dependsOn, edges } = entry;
  const task = { id, name, level, cost, payload, options, dependsOn, edges, queue, user };
  return created + stamps.arrivalText(entry) + blobOf(task, kind);
}

async function writeLease(
  context: TaskContext,
  entry: TaskEntry,
  hasFacts: boolean,
): Promise<void> {
  const { writer, keys } = context;
  const { id, grant, leaseUntil = 0, chargedEpoch, owner } = entry;
  if (grant === undefined) return;
  const flags =
    (hasFacts ? FLAGS.lease.facts : 0) + (context.isCounted(entry) ? FLAGS.lease.counted : 0);
  const { leasedAt, worker, token } = grant;
  const numbers = { leasedAt, ends: leaseUntil, epoch: chargedEpoch, flags, step: 0 };
  const rest = Buffer.from(`${owner.queue.queue}\0${token}`);
  await writer.hash(keys.hot(worker), id, Buffer.concat([packedBytes('lease', numbers), rest]));
}

async function writeEnd(context: TaskContext, entry: TaskEntry): Promise<void> {
  const { writer, keys, stamps } = context;
  const { id, grant, result = '', settledToken, endedAt = 0 } = entry;
  const isApart = Buffer.byteLength(result) > LIMITS.apartBytes;
  const isSettled = settledToken !== undefined && settledToken === grant?.token;
  const numbers = {
    code:
      STATE_CODES[entry.state] +
      (isSettled ? FLAGS.ending.settled : 0) +
      (isApart ? FLAGS.ending.apart : 0),
    at: endedAt,
    leasedAt: grant?.leasedAt ?? 0,
    stamp: stamps.end(entry),
  };
  const rest = `${grant?.token ?? ''}\0${grant?.worker ?? ''}\0${isApart ? '' : result}`;
  const bytes = Buffer.concat([packedBytes('ending', numbers), Buffer.from(rest)]);
  await writer.hash(keys.ends, id, bytes);
  if (isApart) await writer.hash(keys.results, id, result);
}

interface PackedFacts {
  readonly bytes: Buffer;
  /** They only say its place in line. */
  readonly isPlace: boolean;
  /** It came with other facts. */
  readonly isSpecial: boolean;
}

/** What else there is to know of it; `undefined` when there is nothing. */
function factsOf(context: TaskContext, entry: TaskEntry): PackedFacts | undefined {
  const { stamps } = context;
  const { state, optional } = entry;
  const { failures, losses, releases, readers } = optional;
  const rare = rareOf(context, entry);
  const changing = changingOf(entry);
  const latest = isResting(state) ? entry.grant : undefined;
  const isSettled = latest !== undefined && entry.settledToken === latest.token;
  const flags = flagsOf(entry, isSettled);
  const seq = seqOf(stamps, entry);
  const at = atOf(entry);
  const counts = failures + losses + releases + readers;
  const hasMore = rare !== undefined || changing !== undefined || latest !== undefined;
  const place = placeOf(state);
  const isBare = flags + counts === 0 && !hasMore;
  const isPlace = isBare && (place === PLACES.scheduled || (place === PLACES.line && at === 0));
  if (isPlace && place === PLACES.line && seq === 0) return undefined;
  const numbers = { place, flags, seq, failures, losses, releases, at, readers };
  const more = shortNamed('facts', {
    optional: rare,
    changing,
    latestLease: latest === undefined ? undefined : `${latest.token}\0${latest.worker}`,
  });
  const head = packedBytes('facts', numbers);
  const bytes = hasMore ? Buffer.concat([head, packed(more)]) : head;
  return { bytes, isPlace, isSpecial: rare !== undefined };
}

function isResting(state: TaskState): boolean {
  return state !== 'started' && !isEnd(state);
}

function placeOf(state: TaskState): number {
  return state === 'scheduled' || state === 'deferred' ? PLACES[state] : PLACES.line;
}

/**
 * One in line stands there by its arrival, unless it says otherwise; one that has a journal or channels says it all the
 * same, and so tells its removal to look for them.
 */
function seqOf(stamps: Stamps, entry: TaskEntry): number {
  const place = stamps.place(entry);
  const isInLine = entry.state === 'queued' || entry.state === 'started';
  const isSaid = entry.optional.run !== undefined || place !== stamps.arrival(entry);
  return isInLine && !isSaid ? 0 : place;
}

function atOf({ state, dueAt = 0, optional }: TaskEntry): number {
  if (state === 'scheduled') return dueAt;
  const isInLine = state === 'queued' || state === 'started';
  return isInLine && optional.releasedMs !== undefined ? -optional.releasedMs - 1 : 0;
}

function flagsOf({ state, optional }: TaskEntry, isSettled: boolean): number {
  const { facts } = FLAGS;
  return (
    (optional.left ? facts.left : 0) +
    ((optional.attempts?.length ?? 0) > 0 ? facts.attempts : 0) +
    (state === 'started' && optional.cancelCause !== undefined ? facts.canceling : 0) +
    (isSettled ? facts.settled : 0) +
    (optional.cascadeAt === undefined ? 0 : facts.cascade) +
    (hasLongError(optional.attempts?.at(-1)) ? facts.long : 0)
  );
}

/** It is cut when there is another attempt behind it. */
function hasLongError(newest: AttemptRecord | undefined): boolean {
  return Buffer.byteLength(newest?.error ?? '') > LIMITS.oldErrorBytes;
}

/** A table that may be packed; `undefined` when it has nothing. */
function filled<T extends 'optional' | 'changing'>(
  table: T,
  fields: Named<T, Packable | undefined>,
): { readonly [name: string]: Packable | undefined } | undefined {
  const isEmpty = Object.values(fields).every((one) => one === undefined);
  return isEmpty ? undefined : shortNamed(table, fields);
}

function changingOf(entry: TaskEntry): ReturnType<typeof filled> {
  const { grant, settledToken, optional, state } = entry;
  // While it rests, and once it has ended, a flag says that its newest lease was settled.
  const isNewest = state !== 'started' && settledToken === grant?.token;
  return filled('changing', {
    settledToken: isNewest ? undefined : settledToken,
    endCause: jsonOf(optional.cause),
    cancelCause: state === 'started' ? jsonOf(optional.cancelCause) : undefined,
    checkpoint: optional.run?.newestWrites,
    chargedAhead: optional.charged,
    streamed: optional.streams === undefined ? undefined : true,
  });
}

function jsonOf(value: object | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

function rareOf({ store }: TaskContext, entry: TaskEntry): ReturnType<typeof filled> {
  const { optional, dependsOn, edges } = entry;
  const { run, key, expiresAt, waitUntil, firstPayload, absent } = optional;
  const known = key === undefined ? undefined : store.keys.get(key.scope);
  const isOwner = known !== undefined && known.owner === entry;
  const hasKey = isOwner || known?.follower === entry;
  const isOver = isOwner && known.endedAt !== undefined && !isEnd(entry.state);
  const wakeAt = run?.wakeAt;
  return filled('optional', {
    waitsOn: listOf(dependsOn),
    policies:
      dependsOn.length === 0
        ? undefined
        : [edges.onFailure, edges.onCancel, edges.onMissing, edges.allowCrossUser],
    assumed: listOf([...(absent ?? [])]),
    startWithin: optional.expiresInMs,
    startUntil: expiresAt,
    waitUntil,
    wakeDue: wakeAt,
    leastDeadline: leastOf(expiresAt, waitUntil, wakeAt),
    keyName: key?.key,
    keyPassed: key !== undefined && (!hasKey || isOver) ? true : undefined,
    keyHoldsUntil: isOwner ? known.until : undefined,
    keyWindowFrom: isOwner ? known.from : undefined,
    payloadDigest: firstPayload === undefined ? undefined : digestOfFirst(firstPayload),
    ...waitFields(entry),
    isJoin: run?.isJoin === true ? true : undefined,
    ownerRun: run?.owner,
    graphHash: run?.graph,
    attendedLease: attendedText(entry),
    decidesAfter: run?.decidesAfter,
    suspendedFor: listOf(run?.waitFor ?? []),
    pausedSince: run?.pause?.since,
    pauseReason: run?.pause?.reason,
    pausedBy: run?.pausedBy,
    asideFor: run?.asideFor,
    hasAside: (run?.aside?.size ?? 0) > 0 ? true : undefined,
    wakeWord: run?.wakeOn === 'failure' ? 'failure' : undefined,
  });
}

function attendedText({ grant, optional: { run } }: TaskEntry): string | undefined {
  if (run?.attendedBy === undefined) return undefined;
  const left = run.timeLeft === undefined ? '' : ` ${run.timeLeft}`;
  return `${grant?.leasedAt ?? 0} ${run.attendedBy}${left}`;
}

function listOf(texts: readonly string[]): readonly string[] | undefined {
  return texts.length === 0 ? undefined : texts;
}

function leastOf(...moments: readonly (number | undefined)[]): number | undefined {
  const known = moments.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function waitFields({ optional }: TaskEntry): Named<'optional', Packable | undefined> {
  const { wait } = optional.run ?? {};
  if (wait === undefined) return {};
  const { for: awaited, entry: awaitEntry } = wait;
  switch (awaited.kind) {
    case 'time':
      return { awaitKind: awaited.kind, awaitEntry };
    case 'signal': {
      const { kind: awaitKind, name: awaitName, targets: awaitTargets } = awaited;
      return { awaitKind, awaitName, awaitTargets, awaitEntry };
    }
    case 'event':
      return { awaitKind: awaited.kind, awaitName: eventPair(awaited), awaitEntry };
    case 'ask': {
      const mark = askPlace(awaited.ask.id)?.mark ?? '';
      return { awaitKind: awaited.kind, awaitName: mark, awaitEntry };
    }
  }
}
