/**
 * What a schedule stores to make tasks of: texts in which the facts of a slot, or of an event, are left
 * open. An input that is a function is called once, with references; where they stand in what it gives,
 * each firing puts its own facts.
 */
import { isRecord } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';

/**
 * Stand-ins for what each slot will be, to be put into an input whole or inside of a text. All are
 * texts; there is nothing yet that could be computed with.
 */
export interface SlotReferences {
  /** The slot as an instant: `2026-03-29T01:00:00.000Z`. */
  readonly iso: string;
  /** Its date in the zone of the schedule: `2026-03-29`. */
  readonly date: string;
  /** Its time of day in that zone: `03:00:00`. */
  readonly time: string;
  /** Ms since the epoch: `1774746000000`. */
  readonly epochMs: string;
  /** The id of the task, or of the run. */
  readonly taskId: string;
}

/** Stand-ins for what each event will be: texts, to be put in whole or inside of a text, but for the payload. */
export interface EventReferences {
  /** The name of the event. */
  readonly name: string;
  /** What it is about. */
  readonly key: string;
  /** Of the event, also where its publisher gave none. */
  readonly eventId: string;
  /** The id of the task, or of the run. */
  readonly taskId: string;
  /** The published value, of any type: to be put in whole. */
  readonly payload: never;
}

/** What stands for references: texts by their names, as `slot.date`. */
export type Facts = ReadonlyMap<string, string>;

/** Characters for private use, which JSON leaves as they are. */
const OPEN = '\u{e000}';
const CLOSE = '\u{e001}';
const REFERENCE = /\u{e000}([a-z]+\.[a-zA-Z]+)\u{e001}/gu;
const BROKEN = /[\u{e000}\u{e001}]/u;

const SLOT_FIELDS = ['iso', 'date', 'time', 'epochMs', 'taskId'] as const;
const EVENT_FIELDS = ['name', 'key', 'eventId', 'taskId'] as const;

/** The references that an input function is called with. */
export const REFERENCES: SlotReferences = {
  iso: referenceTo('slot.iso'),
  date: referenceTo('slot.date'),
  time: referenceTo('slot.time'),
  epochMs: referenceTo('slot.epochMs'),
  taskId: referenceTo('slot.taskId'),
};

/** Stands for the payload of an event. */
const PAYLOAD: string = referenceTo('event.payload');

/** The same for a schedule that fires at events. */
export const EVENT_REFERENCES: EventReferences = {
  name: referenceTo('event.name'),
  key: referenceTo('event.key'),
  eventId: referenceTo('event.eventId'),
  taskId: referenceTo('event.taskId'),
  // A text that stands for a value of any type, and is never looked at.
  payload: PAYLOAD as never,
};

/** Stand for facts where a person looks at an input. */
export const NAMED_FACTS: Facts = new Map(
  [
    ...SLOT_FIELDS.map((field) => `slot.${field}`),
    ...EVENT_FIELDS.map((field) => `event.${field}`),
    'event.payload',
  ].map((name) => [name, `<${name}>`]),
);

/** Puts facts where references stand; those that it has none for stay. */
export function rendered(template: string, facts: Facts): string {
  if (!template.includes(OPEN)) return template;
  return template.replaceAll(REFERENCE, (whole, name: string) => facts.get(name) ?? whole);
}

/** Whether the payload of an event is to be put in. */
export function needsPayload(template: string): boolean {
  return template.includes(PAYLOAD);
}

/** The value with the payload in every place that was left open for it. */
export function withPayload(value: unknown, payload: unknown): unknown {
  if (value === PAYLOAD) return payload;
  if (Array.isArray(value)) return value.map((one: unknown) => withPayload(one, payload) ?? null);
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, withPayload(one, payload)]);
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
}

/** @throws {@link InvalidOptionError} when a reference was taken apart, or a payload stands inside of a text. */
export function checkTemplate(template: string): void {
  const isWhole = template.split(PAYLOAD).every((part, at, parts) => {
    const opens = at === parts.length - 1 || part.endsWith('"');
    return opens && (at === 0 || /^"(?!:)/.test(part));
  });
  if (isWhole && !BROKEN.test(template.replaceAll(REFERENCE, ''))) return;
  const expected = isWhole
    ? 'references as they are, whole or inside of a text'
    : 'the payload of the event whole, not inside of a text';
  throw new InvalidOptionError('input', expected, isWhole ? 'a part of one' : 'a text around it');
}

/** A slot as texts. */
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

/** An event as texts, as they stand inside of JSON. */
export function factsOfEvent(
  event: Readonly<Record<(typeof EVENT_FIELDS)[number], string>>,
): Facts {
  return new Map(
    EVENT_FIELDS.map((field) => [`event.${field}`, JSON.stringify(event[field]).slice(1, -1)]),
  );
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Few zones are in use, and making a format is slow. */
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
