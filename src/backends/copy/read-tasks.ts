import { isRecord } from '../../base/records.ts';
import type { Cause } from '../../domain/task/cause.ts';
import {
  type AttemptRecord,
  type EdgePolicies,
  isEnd,
  type TaskState,
} from '../../domain/task/task.ts';
import type { BlockKind, RowOf, RunRow, StreamRow } from '../memory/rows/model.ts';
import { firstByDigest } from '../memory/store/first-payload.ts';
import { FLAGS, STATES_BY_CODE } from '../redis/layout/codes.ts';
import { TEXT_OFFSETS, TEXT_WIDTHS, ZERO_BYTE } from '../redis/layout/packed.ts';
import { decodeFixed } from '../redis/wire/decode.ts';
import { unpacked } from './msgpack.ts';
import { numbersIn } from './packed-bytes.ts';
import { type Fields, longNamed } from './packed-names.ts';

/** What is known of tasks beside their texts, by id. */
export interface Pieces {
  readonly payloads: ReadonlyMap<string, Buffer>;
  readonly facts: ReadonlyMap<string, Buffer>;
  readonly ends: ReadonlyMap<string, Buffer>;
  readonly results: ReadonlyMap<string, Buffer>;
  readonly errors: ReadonlyMap<string, Buffer>;
  /** The worker that has it, and its lease. */
  readonly leases: ReadonlyMap<string, readonly [worker: string, packed: Buffer]>;
  readonly attempts: ReadonlyMap<string, readonly string[]>;
  readonly blocked: ReadonlyMap<string, readonly (readonly [id: string, kind: BlockKind])[]>;
  readonly streams: ReadonlyMap<string, readonly StreamRow[]>;
  /** Of parked ones. */
  readonly parked: ReadonlyMap<string, Parking>;
  /** What ties it to a workflow. */
  run(task: RunSource): RunRow | undefined;
}

type TaskRow = RowOf<'task'>;

/** Until when a task is parked, and when those that it is parked with had their last turn. */
export type Parking = Omit<RowOf<'parked'>, 'id'>;

/** Where what ties a task to a workflow is read from. */
export interface RunSource {
  readonly id: string;
  readonly user: string;
  readonly optional: Fields<'optional'>;
  readonly changing: Fields<'changing'>;
}

/** Without dependencies these say nothing. */
const NO_EDGES: EdgePolicies = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};

const NONE: Facts = {
  state: 'queued',
  flags: 0,
  seq: 0,
  failures: 0,
  losses: 0,
  releases: 0,
  at: 0,
  readers: 0,
  optional: longNamed('optional', {}),
  changing: longNamed('changing', {}),
  latest: undefined,
};

interface Facts {
  readonly state: TaskState;
  readonly flags: number;
  readonly seq: number;
  readonly failures: number;
  readonly losses: number;
  readonly releases: number;
  readonly at: number;
  readonly readers: number;
  readonly optional: Fields<'optional'>;
  readonly changing: Fields<'changing'>;
  /** Its newest lease while it is neither started nor ended. */
  readonly latest: Lease | undefined;
}

/** A task of its text and of what is known beside that. */
export function taskOf(id: string, source: string, pieces: Pieces): TaskRow {
  const { inline, ...fixed } = decodeFixed(source);
  const kind = source.charCodeAt(TEXT_OFFSETS.kind - 1) - ZERO_BYTE;
  const isLong = kind % (2 * FLAGS.kind.long) === FLAGS.kind.long;
  const hasFacts = kind >= FLAGS.kind.facts || isAwaited(pieces.ends.get(id));
  const facts = factsIn(hasFacts ? pieces.facts.get(id) : undefined);
  const stamp = Number.parseInt(
    source.slice(TEXT_OFFSETS.stamp - 1, TEXT_OFFSETS.stamp - 1 + TEXT_WIDTHS.stamp),
    16,
  );
  const { optional, changing, failures, losses, releases, readers, flags } = facts;
  const now = newestOf(id, facts, pieces);
  const has = (flag: number): boolean => flags % (2 * flag) >= flag;
  const policies = optional.any('policies');
  const digest = optional.text('payloadDigest');
  const cancelCause = changing.text('cancelCause');
  return {
    id,
    ...fixed,
    payload: isLong ? (pieces.payloads.get(id)?.toString() ?? '') : inline,
    order: stamp,
    place: placeOf(now.state, facts, stamp),
    ...now,
    ...(now.state === 'scheduled' ? { dueAt: facts.at } : {}),
    ...(pieces.errors.has(id) ? { error: pieces.errors.get(id)?.toString() } : {}),
    ...causeIn('cause', changing.text('endCause')),
    ...(has(FLAGS.facts.canceling) ? causeIn('cancelCause', cancelCause) : {}),
    attempts: pieces.attempts.get(id)?.map(attemptIn),
    failures: failures || undefined,
    losses: losses || undefined,
    releases: releases || undefined,
    readers: readers || undefined,
    dependsOn: optional.texts('waitsOn'),
    edges: Array.isArray(policies) ? edgesOf(policies) : NO_EDGES,
    blocked: someOf(pieces.blocked.get(id)),
    absent: someOf(optional.texts('assumed')),
    expiresAt: optional.number('startUntil'),
    expiresInMs: optional.number('startWithin'),
    waitUntil: optional.number('waitUntil'),
    ...(facts.at < 0 && isInLine(now.state) ? { releasedMs: -facts.at - 1 } : {}),
    cascadeAt: has(FLAGS.facts.cascade) && isEnd(now.state) ? (now.endedAt ?? 0) : undefined,
    hasLeft: has(FLAGS.facts.left) ? true : undefined,
    ...(digest === undefined ? {} : { firstPayload: firstByDigest(digest) }),
    charged: changing.number('chargedAhead'),
    key: optional.text('keyName'),
    run: pieces.run({ id, user: fixed.user, optional, changing }),
    streams: someOf(pieces.streams.get(id)),
  };
}

/** Whether what others asked of it may stand in its facts, which its text need not tell. */
function isAwaited(ended: Buffer | undefined): boolean {
  if (ended === undefined) return false;
  return numbersIn('ending', ended).numbers.code % FLAGS.ending.bare >= FLAGS.ending.awaited;
}

/** `undefined` in place of an empty list. */
function someOf<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list?.length === 0 ? undefined : list;
}

/** A cause is JSON in JSON there. */
function attemptIn(text: string): AttemptRecord {
  const { cause, ...attempt }: Omit<AttemptRecord, 'cause'> & { readonly cause?: string } =
    JSON.parse(text);
  return cause === undefined ? attempt : { ...attempt, cause: JSON.parse(cause) };
}

function isInLine(state: TaskState): boolean {
  return state === 'queued' || state === 'started';
}

/** One that was put in line as it came stands there by its arrival. */
function placeOf(state: TaskState, { seq }: Facts, stamp: number): number {
  return seq > 0 ? seq : isInLine(state) ? stamp : 0;
}

function factsIn(bytes: Buffer | undefined): Facts {
  if (bytes === undefined) return NONE;
  const { numbers, rest } = numbersIn('facts', bytes);
  const { place, flags, seq, failures, losses, releases, at, readers } = numbers;
  const state: TaskState = place === 1 ? 'scheduled' : place === 2 ? 'deferred' : 'queued';
  const raw = rest.length === 0 ? {} : unpacked(rest);
  const more = longNamed('facts', raw);
  const latest = more.text('latestLease');
  const stop = latest?.indexOf('\0') ?? 0;
  return {
    ...{ state, flags, seq, failures, losses, releases, at, readers },
    optional: longNamed('optional', more.any('optional')),
    changing: longNamed('changing', more.any('changing')),
    latest:
      latest === undefined
        ? undefined
        : { token: latest.slice(0, stop), worker: latest.slice(stop + 1), leasedAt: 0 },
  };
}

type Lease = Pick<TaskRow, 'token' | 'worker' | 'leasedAt'>;

type Newest = Lease &
  Pick<TaskRow, 'state' | 'settledToken' | 'result' | 'leaseUntil' | 'chargedEpoch'> &
  Pick<TaskRow, 'endedAt' | 'endOrder'>;

/** Of a task that has no lease in force and has not ended. */
const NO_END = { chargedEpoch: 0, endOrder: 0 } as const;

/** How it stands, by its end, its lease, or its facts. */
function newestOf(id: string, { flags, latest, state, changing }: Facts, pieces: Pieces): Newest {
  const isSettled = flags % (2 * FLAGS.facts.settled) >= FLAGS.facts.settled;
  // What was settled before its newest lease.
  const older = isSettled ? latest?.token : changing.text('settledToken');
  const ended = pieces.ends.get(id);
  if (ended !== undefined) return endIn(id, ended, older, pieces);
  const lease = pieces.leases.get(id);
  if (lease === undefined) return { ...NO_END, ...latest, state, settledToken: older };
  const [worker, packed] = lease;
  const { numbers, rest } = numbersIn('lease', packed);
  const token = rest.toString('utf8', rest.indexOf(0) + 1);
  const { leasedAt, ends: leaseUntil, epoch: chargedEpoch } = numbers;
  return {
    state: 'started',
    settledToken: older,
    ...{ token, worker, leasedAt, leaseUntil, chargedEpoch, endOrder: 0 },
  };
}

function endIn(id: string, packed: Buffer, older: string | undefined, pieces: Pieces): Newest {
  const { numbers, rest } = numbersIn('ending', packed);
  const { code, at, leasedAt, stamp } = numbers;
  const first = rest.indexOf(0);
  const second = rest.indexOf(0, first + 1);
  const token = rest.toString('utf8', 0, first);
  const worker = rest.toString('utf8', first + 1, second);
  const isApart = code % (2 * FLAGS.ending.apart) >= FLAGS.ending.apart;
  const isSettled = code % (2 * FLAGS.ending.settled) >= FLAGS.ending.settled;
  const inline = second + 1 < rest.length ? rest.toString('utf8', second + 1) : undefined;
  const result = isApart ? pieces.results.get(id)?.toString() : inline;
  const state = STATES_BY_CODE.get(code % FLAGS.ending.settled) ?? 'finished';
  return {
    state,
    ...(token === '' ? {} : { token, worker, leasedAt }),
    settledToken: isSettled ? token : older,
    ...{ endedAt: at, endOrder: stamp, chargedEpoch: 0 },
    result,
  };
}

function edgesOf([
  onFailure,
  onCancel,
  onMissing,
  allowCrossUser,
]: readonly unknown[]): EdgePolicies {
  // They were checked when they were stored.
  return {
    onFailure,
    onCancel,
    onMissing,
    allowCrossUser: allowCrossUser === true,
  } as EdgePolicies;
}

function causeIn<K extends string>(name: K, json: string | undefined): Partial<Record<K, Cause>> {
  const found: Partial<Record<K, Cause>> = {};
  if (json !== undefined) found[name] = JSON.parse(json);
  return found;
}

/** A table of another kind than it should be has no fields. */
export function recordIn(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) && !Array.isArray(value) ? value : {};
}
