/**
 * Stored templates of a schedule's tasks: texts with references to the facts of a slot or an event.
 * An input that is a function is called once, with references; each firing replaces those in its
 * result with the facts.
 */
import { isRecord } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';

/**
 * References to facts of each slot, used as a whole value or inside of a text. All are texts; no
 * computation on them is possible.
 */
export interface SlotReferences {
  /** The slot as an instant: `2026-03-29T01:00:00.000Z`. */
  readonly iso: string;
  /** Its date in the time zone of the schedule: `2026-03-29`. */
  readonly date: string;
  /** Its time of day in that time zone: `03:00:00`. */
  readonly time: string;
  /** The slot in ms since the epoch: `1774746000000`. */
  readonly epochMs: string;
  /** Id of the task or run. */
  readonly taskId: string;
}

/** References to facts of each event: texts, used whole or inside of a text; the payload only whole. */
export interface EventReferences {
  /** Name of the event. */
  readonly name: string;
  /** Key of the event. */
  readonly key: string;
  /** Id of the event; a generated one if its publisher gave none. */
  readonly eventId: string;
  /** Id of the task or run. */
  readonly taskId: string;
  /** The published value, of any type; only as a whole value. */
  readonly payload: never;
}

/** Texts that replace references, by name, as `slot.date`. */
export type Facts = ReadonlyMap<string, string>;

/** Characters of the private use area, which JSON does not escape. */
const OPEN = '\u{e000}';
const CLOSE = '\u{e001}';
const REFERENCE = /\u{e000}([a-z]+\.[a-zA-Z]+)\u{e001}/gu;
const BROKEN = /[\u{e000}\u{e001}]/u;

const SLOT_FIELDS = ['iso', 'date', 'time', 'epochMs', 'taskId'] as const;
const EVENT_FIELDS = ['name', 'key', 'eventId', 'taskId'] as const;

/** References passed to an input function. */
export const REFERENCES: SlotReferences = {
  iso: referenceTo('slot.iso'),
  date: referenceTo('slot.date'),
  time: referenceTo('slot.time'),
  epochMs: referenceTo('slot.epochMs'),
  taskId: referenceTo('slot.taskId'),
};

/** Reference to the payload of an event. */
const PAYLOAD: string = referenceTo('event.payload');

/** References passed to an input function of a schedule that fires at events. */
export const EVENT_REFERENCES: EventReferences = {
  name: referenceTo('event.name'),
  key: referenceTo('event.key'),
  eventId: referenceTo('event.eventId'),
  taskId: referenceTo('event.taskId'),
  // A text in place of a value of any type; it is never read.
  payload: PAYLOAD as never,
};

/** Names displayed in place of facts. */
export const NAMED_FACTS: Facts = new Map(
  [
    ...SLOT_FIELDS.map((field) => `slot.${field}`),
    ...EVENT_FIELDS.map((field) => `event.${field}`),
    'event.payload',
  ].map((name) => [name, `<${name}>`]),
);

/** Replaces references by facts; those without a fact stay. */
export function rendered(template: string, facts: Facts): string {
  if (!template.includes(OPEN)) return template;
  return template.replaceAll(REFERENCE, (whole, name: string) => facts.get(name) ?? whole);
}

/** Whether a template contains a reference to the payload. */
export function needsPayload(template: string): boolean {
  return template.includes(PAYLOAD);
}

/** The value with the payload in place of each reference to it. */
export function withPayload(value: unknown, payload: unknown): unknown {
  if (value === PAYLOAD) return payload;
  if (Array.isArray(value)) return value.map((one: unknown) => withPayload(one, payload) ?? null);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, withPayload(one, payload)]);
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
}

/** @throws {@link InvalidOptionError} when a reference was split, or a payload is inside of a text. */
export function checkTemplate(template: string): void {
  const isWhole = template.split(PAYLOAD).every((part, at, parts) => {
    const opens = at === parts.length - 1 || part.endsWith('"');
    return opens && (at === 0 || /^"(?!:)/.test(part));
  });
  if (isWhole && !BROKEN.test(template.replaceAll(REFERENCE, ''))) return;
  const expected = isWhole
    ? 'unchanged references, whole or inside of a text'
    : 'the payload of the event whole, not inside of a text';
  throw new InvalidOptionError('input', expected, isWhole ? 'a part of one' : 'a text around it');
}

/** Facts of a slot as texts. */
export function factsOfSlot(slot: number, timeZone: string, taskId: string): Facts {
  const parts = new Map<string, string>();
  for (const { type, value } of formatOf(timeZone).formatToParts(slot)) parts.set(type, value);
  const part = (type: string): string => parts.get(type) ?? '';
  return new Map([
    ['slot.iso', new Date(slot).toISOString()],
    ['slot.date', `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`],
    ['slot.time', `${part('hour')}:${part('minute')}:${part('second')}`],
    ['slot.epochMs', String(slot)],
    ['slot.taskId', taskId],
  ]);
}

/** Facts of an event as texts, escaped for JSON. */
export function factsOfEvent(
  event: Readonly<Record<(typeof EVENT_FIELDS)[number], string>>,
): Facts {
  return new Map(
    EVENT_FIELDS.map((field) => [`event.${field}`, JSON.stringify(event[field]).slice(1, -1)]),
  );
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Cached: few zones are in use, and creating a format is slow. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  formats.set(timeZone, format);
  return format;
}

function referenceTo(name: string): string {
  return `${OPEN}${name}${CLOSE}`;
}
