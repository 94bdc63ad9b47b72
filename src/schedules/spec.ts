/** Stored text of a schedule: its timing and its task. */
import { createHash } from 'node:crypto';
import type { ValueCodec } from '../codec/codec.ts';
import {
  BackendUnsupportedError,
  DecryptionError,
  InvalidOptionError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import { eventTaskId } from '../domain/port/event-start.ts';
import { firedTaskId, type MissedPolicy } from '../domain/port/schedule.ts';
import { isSealed, sealedWith } from '../domain/task/sealed-text.ts';
import type { EdgePolicies, KeySpec, Level, NewTask } from '../domain/task/task.ts';
import {
  type Facts,
  factsOfEvent,
  factsOfSlot,
  needsPayload,
  rendered,
  withPayload,
} from './template.ts';
import { Timetable, type Timing, type UnfiredSlots } from './timing/timing.ts';

/** Version of the text's format; a process refuses an unknown one. */
const VERSION = 1;

/** Fields of a schedule's tasks; see `NewTask`. */
export interface TaskTemplate {
  readonly name: string;
  readonly queue: string;
  readonly user: string;
  readonly level: Level;
  readonly cost: number;
  /** JSON text, with references to the slot. */
  readonly payload: string;
  readonly options: string;
  readonly delayMs?: number;
  readonly expiresInMs?: number;
  readonly idempotency?: KeySpec;
  /** Pipeline: hash of its graph, and its name. */
  readonly graph?: string;
  readonly pipeline?: string;
}

/** Events that a schedule fires at, of the user of its tasks. */
export interface EventFilter {
  /** Name of the events. */
  readonly name: string;
  /** Key of the events; absent: any. */
  readonly key?: string;
}

/** The parsed text of a schedule. */
export interface ScheduleSpec {
  readonly version: number;
  /** Empty for a schedule that fires at events. */
  readonly timing: Timing;
  readonly event?: EventFilter;
  readonly missed: MissedPolicy;
  readonly cap: number;
  /** Missed slots run one after the other: `missed` is `all`, and `overlap` is not set. */
  readonly catchesUp?: true;
  /** Payload or options contain references. */
  readonly isOpen: boolean;
  readonly task: TaskTemplate;
  /** Slots that were due when it was changed or paused. They may be decided by now: see `settledSlot`. */
  readonly unfired?: UnfiredSlots;
}

const EDGES: EdgePolicies = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};

/** The same spec always gives the same text. */
export function specText(spec: Omit<ScheduleSpec, 'version'>): string {
  const text = JSON.stringify({ version: VERSION, ...spec });
  if (Buffer.byteLength(text) <= 2 * LIMITS.payloadBytes) return text;
  throw new InvalidOptionError('input', `at most ${LIMITS.payloadBytes} bytes`, 'more');
}

/** The text of the same schedule with other unfired slots, or without any. */
export function unfiredText(text: string, unfired: UnfiredSlots | undefined): string {
  const spec = JSON.parse(text) as ScheduleSpec;
  if (unfired === undefined && spec.unfired === undefined) return text;
  return JSON.stringify({ ...spec, unfired });
}

/** @throws {@link BackendUnsupportedError} when a newer process has written it. */
function readSpec(id: string, text: string): ScheduleSpec {
  const spec = JSON.parse(text) as ScheduleSpec;
  if (spec.version === VERSION) return spec;
  throw new BackendUnsupportedError(`the schedule ${id} has the unknown form ${spec.version}`);
}

/** The task of one slot. `id` differs for a manual run. */
export function taskOf(
  schedule: string,
  { task, timing, isOpen }: ScheduleSpec,
  { slot, id = firedTaskId(schedule, slot) }: { readonly slot: number; readonly id?: string },
): NewTask {
  return filledIn(task, id, isOpen ? factsOfSlot(slot, timing.timeZone ?? 'UTC', id) : undefined);
}

/** Facts of an event that its tasks need. */
export interface StartingEvent {
  readonly name: string;
  readonly key: string;
  readonly eventId: string;
  /** The published value. */
  readonly payload: unknown;
}

/** The task that an event starts; `undefined` if the schedule's filter excludes the event. */
export function taskOfEvent(
  schedule: string,
  { task, event: filter, isOpen }: ScheduleSpec,
  { event, codec }: { readonly event: StartingEvent; readonly codec: ValueCodec },
): NewTask | undefined {
  const { name, key, eventId, payload } = event;
  if (filter?.key !== undefined && filter.key !== key) return undefined;
  // Ids of events are unique per key.
  const mark = createHash('sha256').update(`${key}\n${eventId}`).digest('base64url');
  const taskId = eventTaskId(schedule, mark.slice(0, MARK_CHARS));
  const facts = isOpen ? factsOfEvent({ name, key, eventId, taskId }) : undefined;
  const made = filledIn(task, taskId, facts);
  if (!needsPayload(made.payload)) return made;
  const input = withPayload(codec.read(made.payload), payload);
  return { ...made, payload: codec.payload(task.name, input) };
}

/** Characters of base64 of the hash of an event: 132 bits. */
const MARK_CHARS = 22;

function filledIn(task: TaskTemplate, id: string, facts: Facts | undefined): NewTask {
  const { pipeline: _name, payload, options, ...rest } = task;
  if (isSealed(payload)) throw new DecryptionError(sealedWith(payload), 'unreadable');
  const base = { ...rest, id, dependsOn: [], edges: EDGES };
  if (facts === undefined) return { ...base, payload, options };
  return { ...base, payload: rendered(payload, facts), options: rendered(options, facts) };
}

/** A parsed schedule, with its slots. */
export interface KnownSchedule {
  readonly spec: ScheduleSpec;
  /** Its remaining slots. */
  readonly table: Timetable;
  /** All slots of its timing, including unfired and paused ones. */
  readonly all: Timetable;
}

/** Number of specs kept in memory, and the longest text of one. */
const MOST_KNOWN = 1_000;
const KEPT_CHARACTERS = 10_000;

/** Parsed specs by text: a schedule that fires often is parsed once. */
export class SpecCache {
  /** The least recently used first. */
  readonly #known = new Map<string, KnownSchedule>();

  of(id: string, text: string): KnownSchedule {
    if (text.length > KEPT_CHARACTERS) return newKnown(id, text);
    const key = `${id}\n${text}`;
    const known = this.#known.get(key) ?? newKnown(id, text);
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size > MOST_KNOWN) {
      for (const oldest of this.#known.keys()) {
        this.#known.delete(oldest);
        break;
      }
    }
    return known;
  }
}

function newKnown(id: string, text: string): KnownSchedule {
  const spec = readSpec(id, text);
  const all = new Timetable(id, spec.timing);
  const { unfired } = spec;
  return {
    spec,
    all,
    table: unfired === undefined ? all : new Timetable(id, spec.timing, unfired),
  };
}
