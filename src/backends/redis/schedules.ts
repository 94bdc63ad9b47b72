import { utf8Bytes } from '../../base/json.ts';
import { BackendUnsupportedError } from '../../domain/errors/errors.ts';
import type {
  EnqueueRefusal,
  Page,
  PageRequest,
  ScheduleStore,
} from '../../domain/port/backend.ts';
import {
  type DueReply,
  type DueRequest,
  type FireOutcome,
  type FireReply,
  type FireRequest,
  OVERLAP_POLICIES,
  type OverlapPolicy,
  type ScheduleChange,
  type ScheduleRecord,
  type ScheduleSetReply,
} from '../../domain/port/schedule.ts';
import type { Session } from './connection/session.ts';
import { type Flat, flat, text } from './wire/decode.ts';
import { pushTasks } from './wire/encode.ts';
import { pageOf } from './wire/parts.ts';
import type { ScriptArgument } from './wire/script.ts';

/** Fields of a schedule in a reply; see lua/lib/time/schedule.lua. */
const FIELDS = 19;

/** See `ScheduleStore`. Every method is one script. */
export class RedisSchedules implements ScheduleStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async set(change: ScheduleChange): Promise<ScheduleSetReply> {
    const { id, revision, spec, paused, overlap, limit, graph, next, on, passed } = change;
    const args = [id, revision, spec, paused ? '1' : '0', overlap, limit ?? '', graph ?? ''];
    args.push(next?.slot ?? '', next?.dueAt ?? '', on?.user ?? '', on?.event ?? '');
    if (passed !== undefined) args.push(passed.slots, passed.at ?? '');
    const reply = flat(await this.#session.run('scheduleSet', args));
    const [record] = schedulesIn(reply, 1);
    if (record !== undefined) return { kind: 'ok', record };
    switch (reply[0]) {
      case 'graph-missing':
      case 'full':
        return { kind: reply[0] };
      default:
        return { kind: 'changed' };
    }
  }

  async get(id: string): Promise<{ record: ScheduleRecord | undefined; now: number }> {
    const reply = flat(await this.#session.run('scheduleList', [id, '', 1, 0]));
    return { record: schedulesIn(reply, 2)[0], now: Number(reply[0]) };
  }

  list(page: PageRequest): Promise<Page<ScheduleRecord>> {
    return pageOf(page, async ({ cursor = '', limit, bytes: bytesLeft }) => {
      const reply = flat(await this.#session.run('scheduleList', ['', cursor, limit, bytesLeft]));
      const items = schedulesIn(reply, 2);
      const bytes = items.reduce((sum, { spec }) => sum + utf8Bytes(spec), 0);
      const last = items.at(-1);
      const isMore = Number(reply[1]) === 1 && last !== undefined;
      return isMore ? { items, bytes, cursor: last.id } : { items, bytes };
    });
  }

  async remove(id: string): Promise<boolean> {
    const [found] = flat(await this.#session.run('scheduleRemove', [id]));
    return Number(found) === 1;
  }

  async due({ owner, limit }: DueRequest): Promise<DueReply> {
    const reply = flat(await this.#session.run('scheduleDue', [owner, limit]));
    const number = (at: number): number => Number(reply[at]);
    if (reply[0] === 'locked') return { kind: 'locked', until: number(1), now: number(2) };
    return {
      kind: 'granted',
      fence: number(1),
      schedules: schedulesIn(reply, 4),
      ...(number(2) < 0 ? {} : { nextDueAt: number(2) }),
      now: number(3),
    };
  }

  async fire(request: FireRequest): Promise<FireReply> {
    const { id, revision, slot, fence, firings, passed, next, catchUp } = request;
    const args: ScriptArgument[] = [id, revision, slot, fence, passed];
    const slots = firings.map((firing) => firing.slot).join(',');
    args.push(next?.slot ?? '', next?.dueAt ?? '', catchUp === true ? `+${slots}` : slots);
    pushTasks(
      args,
      firings.map(({ task }) => task),
    );
    const reply = flat(await this.#session.run('scheduleFire', args));
    if (reply[0] === 'stale') return { kind: 'stale' };
    if (reply[0] === 'superseded') return { kind: 'superseded' };
    return { kind: 'fired', outcomes: reply.slice(1).map(decodeOutcome) };
  }

  async leave(owner: string): Promise<void> {
    await this.#session.run('scheduleLeave', [owner]);
  }

  async lag(): Promise<number> {
    const [ms] = flat(await this.#session.run('lag', []));
    return Number(ms);
  }
}

/** Parses schedules of a reply from a place on. */
export function schedulesIn(reply: Flat, from: number): readonly ScheduleRecord[] {
  const records: ScheduleRecord[] = [];
  for (let at = from; at + FIELDS <= reply.length; at += FIELDS) {
    records.push(decodeSchedule(reply.slice(at, at + FIELDS).map(text)));
  }
  return records;
}

function decodeSchedule(fields: readonly string[]): ScheduleRecord {
  const [id = '', spec = '', revision, paused, overlap, limit, graph = '', slot, ...rest] = fields;
  const [dueAt, createdAt, updatedAt, fired, missed, overlapped, settled, ...last] = rest;
  const [lastSlot, lastId, user = '', event = ''] = last;
  return {
    id,
    revision: Number(revision),
    spec,
    paused: paused === '1',
    overlap: overlapOf(overlap),
    ...(isSet(limit) ? { limit: Number(limit) } : {}),
    ...(graph === '' ? {} : { graph }),
    ...(isSet(slot) ? { next: { slot: Number(slot), dueAt: Number(dueAt) } } : {}),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
    fired: Number(fired),
    missed: Number(missed),
    overlapped: Number(overlapped),
    ...(isSet(settled) ? { settledSlot: Number(settled) } : {}),
    ...(lastId === undefined || lastId === ''
      ? {}
      : { last: { slot: Number(lastSlot), id: lastId } }),
    ...(event === '' ? {} : { on: { user, event } }),
  };
}

function isSet(field: string | undefined): boolean {
  return field !== undefined && field !== '';
}

function overlapOf(value: string | undefined): OverlapPolicy {
  const found = OVERLAP_POLICIES.find((policy) => policy === value);
  if (found !== undefined) return found;
  throw new BackendUnsupportedError(`a schedule has the unknown overlap policy ${text(value)}`);
}

function decodeOutcome(json: unknown): FireOutcome {
  const raw = JSON.parse(text(json)) as RawOutcome;
  return raw.kind === 'created' ? { kind: 'created', canceled: raw.canceled ?? [] } : raw;
}

/** A script omits an empty list. */
type RawOutcome =
  | Exclude<FireOutcome, { readonly kind: 'created' | 'refused' }>
  | { readonly kind: 'refused'; readonly refusal: EnqueueRefusal }
  | { readonly kind: 'created'; readonly canceled?: readonly string[] };
