import { isRecord } from '../../../base/records.ts';
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import type { AttemptSettings, QueueSettings } from '../../../domain/fairness/settings.ts';
import type { EnqueueReply } from '../../../domain/port/backend.ts';
import type {
  ExtendReply,
  Leased,
  LeaseReply,
  SettleAnswer,
  UpstreamFact,
} from '../../../domain/port/leasing.ts';
import type { Cause } from '../../../domain/task/cause.ts';
import type { ChannelRefusal } from '../../../domain/task/channel.ts';
import type { DeadLetters } from '../../../domain/task/dead-letter.ts';
import {
  type EndState,
  isEnd,
  type Level,
  type NewTask,
  TASK_STATES,
  type TaskState,
  type TaskStatus,
} from '../../../domain/task/task.ts';
import { STATES_BY_CODE } from '../layout/codes.ts';
import { TEXT_OFFSETS, TEXT_WIDTHS, ZERO_BYTE } from '../layout/packed.ts';

/** A flat reply of a script. Numbers arrive as numbers or text, by the client's settings. */
export type Flat = readonly unknown[];

/** Constant facts of a task, in the text of its record. */
export interface Fixed {
  readonly createdAt: number;
  readonly level: Level;
  readonly cost: number;
  readonly name: string;
  readonly queue: string;
  readonly options: string;
  readonly user: string;
  /** The payload; empty when it is stored separately. */
  readonly inline: string;
}

/** A reply that has to be a list; throws for any other, which is of a foreign script. */
export function flat(reply: unknown): Flat {
  if (Array.isArray(reply)) return reply;
  throw new BackendUnsupportedError('a script did not answer a list');
}

/** A value of a reply as text; null is the empty text. */
export function text(value: unknown): string {
  return typeof value === 'string'
    ? value
    : value === null || value === undefined
      ? ''
      : String(value);
}

/** A whole hash: a list of names and values, or an object, by the client's protocol. */
export function pairsOf(reply: unknown): readonly [string, string][] {
  if (!Array.isArray(reply)) {
    const fields = isRecord(reply) ? Object.entries(reply) : [];
    return fields.map(([name, value]) => [name, text(value)]);
  }
  const entries: [string, string][] = [];
  for (let at = 0; at < reply.length; at += 2) {
    entries.push([text(reply[at]), text(reply[at + 1])]);
  }
  return entries;
}

/** State of a word; throws for one that this version does not know. */
export function stateOf(value: unknown): TaskState {
  const found = TASK_STATES.find((state) => state === value);
  if (found !== undefined) return found;
  throw new BackendUnsupportedError(`a record has the unknown state ${text(value)}`);
}

/** The same for an end state. */
export function endStateOf(value: unknown): EndState {
  const found = stateOf(value);
  if (isEnd(found)) return found;
  throw new BackendUnsupportedError(`a task that has ended is ${found}`);
}

/** A stored cause; the scripts write what the type says. */
export function causeIn(json: unknown): { readonly cause?: Cause } {
  return typeof json === 'string' ? { cause: JSON.parse(json) } : {};
}

/** Offset of the user in the text of a record, after all fields of a fixed width. */
const USER_AT = TEXT_OFFSETS.rest - 1;

/** Parses the text of a record. */
export function decodeFixed(source: string): Fixed {
  const owner = prefixOf(
    source,
    USER_AT,
    Number(source.slice(TEXT_OFFSETS.userBytes - 1, USER_AT)),
  );
  const start = USER_AT + owner.length;
  const queue = source.indexOf('\0', start);
  const name = source.indexOf('\0', queue + 1);
  const cost = source.indexOf('\0', name + 1);
  const options = source.indexOf('\0', cost + 1);
  return {
    createdAt: Number(source.slice(0, TEXT_WIDTHS.created)),
    // It was checked when it was stored.
    level: (source.charCodeAt(TEXT_OFFSETS.level - 1) - ZERO_BYTE) as Level,
    cost: Number(source.slice(name + 1, cost)),
    name: source.slice(queue + 1, name),
    queue: source.slice(start, queue),
    options: source.slice(cost + 1, options),
    user: owner,
    inline: source.slice(options + 1),
  };
}

/** The characters from `start` on that are this many bytes of UTF-8. */
function prefixOf(source: string, start: number, bytes: number): string {
  let found = source.slice(start, start + bytes);
  while (Buffer.byteLength(found) > bytes) {
    const over = Buffer.byteLength(found) - bytes;
    found = found.slice(0, found.length - Math.max(1, Math.floor(over / 3)));
  }
  return found;
}

/** Values before the tasks of a lease, and of a row after them; see lua/lib/steps/lease-step.lua. */
const LEASE_HEAD = 10;
const ROW = 9;

/** Values before the text of a handed task. */
const HANDED_HEAD = 4;

/** `undefined`: the worker is not registered. */
export function decodeLease(reply: Flat, from: number, requestId: string): LeaseReply | undefined {
  if (reply[from] === 'unregistered') return undefined;
  const isEndKnown = reply[from] === 'repeated';
  const flags = Number(reply[from + 1]);
  const due = Number(reply[from + 2]);
  const now = Number(reply[from + 4]);
  const json = text(reply[from + 7]);
  const attemptSettings = json === '' ? undefined : settingsIn(json);
  const common: Common = {
    token: `${text(reply[from + 8])}-${requestId}`,
    leaseUntil: Number(reply[from + 5]),
    leasedAt: now,
    alone: Number(reply[from + 6]) === 1,
  };
  const count = Number(reply[from + 9]);
  const ids = from + LEASE_HEAD;
  const leases: Leased[] = [];
  const rows = rowsIn(reply, ids + 2 * count, reply.length - (flags >= HAS_DEAD ? 1 : 0));
  for (let i = 0; i < count; i++) {
    const row = rows.get(i);
    const fixed = decodeFixed(text(reply[ids + count + i]));
    const first = firstLease(text(reply[ids + i]), fixed, common);
    const leased = row === undefined ? first : rowLease(reply, row, first, requestId);
    leases.push(
      attemptSettings === undefined ? leased : withSettings(leased, attemptSettings, isEndKnown),
    );
  }
  const decoded = {
    leases,
    more: flags % 2 === 1,
    schedulesDue: flags % 4 >= 2,
    waitMs: Number(reply[from + 3]),
    now,
  };
  if (due < 0 && flags < HAS_DEAD) return decoded;
  return {
    ...decoded,
    ...(due < 0 ? {} : { nextDueAt: due }),
    ...(flags >= HAS_DEAD ? deadLettersIn(reply.at(-1)) : {}),
  };
}

/** Index of the row of each task that has one, by its place among the leases; tasks may share a row. */
function rowsIn(reply: Flat, from: number, end: number): ReadonlyMap<number, number> {
  const rows = new Map<number, number>();
  for (let row = from; row < end; row += ROW) {
    for (const place of text(reply[row]).split(',')) rows.set(Math.abs(Number(place)) - 1, row);
  }
  return rows;
}

/** The lease of a task that a waiting worker was handed; see lua/lib/steps/hand.lua. */
export function decodeHanded(source: string): Leased {
  const [token = '', now, leaseMs, id = ''] = source.split('\0', HANDED_HEAD);
  const head = [token, now, leaseMs, id].join('\0').length + 1;
  const leasedAt = Number(now);
  const leaseUntil = leasedAt + Number(leaseMs);
  const fixed = decodeFixed(source.slice(head));
  return firstLease(id, fixed, { token, leasedAt, leaseUntil, alone: false });
}

/** Flag of a lease: dead letters of the step follow its rows. */
const HAS_DEAD = 4;

/** Dead letters of a step, as the last value of its answer; see lua/lib/ends/failures.lua. */
export function deadLettersIn(value: Flat[number]): { readonly deadLetters?: DeadLetters } {
  // The scripts write what the type says.
  return value === undefined ? {} : { deadLetters: JSON.parse(text(value)) };
}

/** Common facts of the tasks of a lease without a row. */
type Common = Pick<Leased, 'token' | 'leaseUntil' | 'leasedAt' | 'alone'>;

/** A task that was never leased before. Field by field: spreading would take several times as long. */
function firstLease(id: string, fixed: Fixed, common: Common): Leased {
  return {
    id,
    token: common.token,
    attempt: 1,
    losses: 0,
    releases: 0,
    alone: common.alone,
    upstreams: NO_UPSTREAMS,
    leaseUntil: common.leaseUntil,
    leasedAt: common.leasedAt,
    createdAt: fixed.createdAt,
    level: fixed.level,
    name: fixed.name,
    queue: fixed.queue,
    options: fixed.options,
    user: fixed.user,
    payload: fixed.inline,
  };
}

/** Settings of queues for the leased tasks, by queue. */
type QueueAttemptSettings = ReadonlyMap<string, AttemptSettings & Pick<QueueSettings, 'leaseMs'>>;

function settingsIn(json: string): QueueAttemptSettings {
  return new Map(Object.entries(JSON.parse(json)));
}

function withSettings(
  leased: Leased,
  attemptSettings: QueueAttemptSettings,
  isEndKnown: boolean,
): Leased {
  const own = attemptSettings.get(leased.queue);
  if (own === undefined) return leased;
  const { leaseMs, ...attempts } = own;
  const leaseUntil =
    leaseMs === undefined || isEndKnown ? leased.leaseUntil : leased.leasedAt + leaseMs;
  const hasAttempts = attempts.retries !== undefined || attempts.timeoutMs !== undefined;
  return { ...leased, leaseUntil, ...(hasAttempts ? { attemptSettings: attempts } : {}) };
}

/** A task with a row, at this place of the reply, which has its differences from the others. */
function rowLease(reply: Flat, at: number, first: Leased, requestId: string): Leased {
  const own = (place: number, otherwise: number): number =>
    text(reply[at + place]) === '' ? otherwise : Number(reply[at + place]);
  const moment = text(reply[at + 2]);
  const [releasedMs, upstreams] = decodeUpstreams(text(reply[at + 6]));
  return {
    ...first,
    token: moment === '' ? first.token : `${moment}-${requestId}`,
    attempt: Number(reply[at + 3]) + 1,
    losses: Number(reply[at + 4]),
    releases: Number(reply[at + 5]),
    leaseUntil: own(7, first.leaseUntil),
    leasedAt: own(8, first.leasedAt),
    payload: first.payload === '' ? text(reply[at + 1]) : first.payload,
    upstreams,
    ...(releasedMs < 0 ? {} : { releasedMs }),
    ...(Number(reply[at]) < 0 ? { paused: true } : {}),
  };
}

const NO_UPSTREAMS: readonly UpstreamFact[] = [];

/** See lua/lib/ends/upstreams.lua. */
function decodeUpstreams(json: string): readonly [number, readonly UpstreamFact[]] {
  if (json === '') return [-1, NO_UPSTREAMS];
  const [releasedMs, ...facts] = JSON.parse(json) as [number, ...UpstreamFact[]];
  return [releasedMs, facts];
}

const FINISHED: SettleAnswer = { kind: 'ok', state: 'finished', repeated: false };
const ONE_FINISHED: readonly SettleAnswer[] = [FINISHED];

/** The answers of a call: the listed ones, by place and word, and 'ok finished' for all others. */
export function decodeAnswers(reply: Flat, size: number, count: number): readonly SettleAnswer[] {
  if (count === 1 && size === 0) return ONE_FINISHED;
  const answers = new Array<SettleAnswer>(count).fill(FINISHED);
  for (let at = 1; at < size; at += 2) {
    answers[Number(reply[at]) - 1] = decodeAnswer(reply[at + 1]);
  }
  return answers;
}

function decodeAnswer(value: unknown): SettleAnswer {
  const word = text(value);
  if (word === 'leaseLost' || word === 'notFound') return { kind: word };
  const refusal = refusalOf(word);
  if (refusal !== undefined) return { kind: 'refused', refusal };
  const [kind, state] = word.split(' ');
  return { kind: 'ok', state: stateOf(state), repeated: kind === 'repeated' };
}

const REFUSED = 'refused ';

/** Why writes to channels were refused; `undefined` for another answer. */
export function refusalOf(word: string): ChannelRefusal | undefined {
  // The scripts write what the type says.
  return word.startsWith(REFUSED) ? JSON.parse(word.slice(REFUSED.length)) : undefined;
}

const EXTEND_ANSWERS: readonly ExtendReply['answers'][number][] = ['ok', 'canceling', 'lost'];

/** Answers in the order of the request, then id and token of leases that it did not name. */
export function decodeExtend(reply: Flat): ExtendReply {
  const count = Number(reply[2]);
  const answers = reply.slice(3, 3 + count).map((word) => {
    return EXTEND_ANSWERS.find((known) => known === word) ?? 'lost';
  });
  const flags = Number(reply[1]);
  const unknown: { id: string; token: string }[] = [];
  for (let at = 3 + count; at + 1 < reply.length; at += 2) {
    unknown.push({ id: text(reply[at]), token: text(reply[at + 1]) });
  }
  return {
    answers,
    unknown,
    now: Number(reply[0]),
    schedulesDue: flags % 2 === 1,
    ...(flags >= 2 ? deadLettersIn(reply.at(-1)) : {}),
  };
}

/** Values of one task in a reply; see lua/tasks/status.lua. */
export const STATUS_FIELDS = 4;

/** `undefined` for a task that is not stored. */
export function decodeStatus(reply: Flat, at: number): TaskStatus | undefined {
  const state = STATES_BY_CODE.get(Number(reply[at]));
  if (state === undefined) return undefined;
  const [result, error, cause] = [reply[at + 1], reply[at + 2], reply[at + 3]];
  return {
    state,
    ...(typeof result === 'string' ? { result } : {}),
    ...(typeof error === 'string' ? { error } : {}),
    ...causeIn(cause),
  };
}

/** A message about the end of a task; without the end, that has to be read. */
export interface Notice {
  readonly id: string;
  readonly ended?: TaskStatus | undefined;
}

/** See lua/lib/ends/notice.lua. The result comes last: it may contain any character. */
export function decodeNotice(message: string): Notice {
  const [id = '', code, cause, error] = message.split('\0', 4);
  if (code === undefined || cause === undefined || error === undefined) return { id };
  const result = message.slice(id.length + code.length + cause.length + error.length + 4);
  const texts = [result, error, cause].map((one) => (one === '' ? undefined : one));
  return { id, ended: decodeStatus([code, ...texts], 0) };
}

const CREATED = 'created';

/**
 * The replies of `enqueue`: 'created' and a count when all were; else 'c' for a created task, 'w'
 * for one that other tasks waited for, else the reply as JSON.
 */
export function decodeReplies(tasks: readonly NewTask[], reply: unknown): readonly EnqueueReply[] {
  const words = flat(reply);
  if (words[0] === CREATED && Number(words[1]) === tasks.length) {
    return tasks.map(({ id }) => ({ kind: 'created', id }));
  }
  return words.map((word, at) => {
    if (word === 'c' || word === 'w') return { kind: 'created', id: tasks[at]?.id ?? '' };
    return JSON.parse(text(word)) as EnqueueReply;
  });
}

/**
 * Stored tasks for which no script could decide whether they close a cycle: other tasks waited for
 * them, or an earlier aborted call has stored them.
 */
export function uncheckedIn(tasks: readonly NewTask[], reply: unknown): readonly string[] {
  const words = flat(reply);
  return tasks.flatMap(({ id }, at) => {
    const word = words[at];
    if (word === 'w') return [id];
    return word !== 'c' && kindOf(word) === 'created' ? [id] : [];
  });
}

function kindOf(word: unknown): EnqueueReply['kind'] {
  return (JSON.parse(text(word)) as EnqueueReply).kind;
}
