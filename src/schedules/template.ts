/**
 * What a schedule stores to make tasks of: texts in which the facts of a slot are left open. An
 * input that is a function is called once, with references; where they stand in what it gives, each
 * slot puts its own facts.
 */
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

/** The facts of one slot. */
export type SlotFacts = SlotReferences;

const FIELDS = ['iso', 'date', 'time', 'epochMs', 'taskId'] as const;

/** Characters for private use, which JSON leaves as they are. */
const OPEN = '\u{e000}slot.';
const CLOSE = '\u{e001}';
const REFERENCE = /\u{e000}slot\.(iso|date|time|epochMs|taskId)\u{e001}/gu;
const BROKEN = /[\u{e000}\u{e001}]/u;

/** The references that an input function is called with. */
export const REFERENCES: SlotReferences = {
  iso: referenceTo('iso'),
  date: referenceTo('date'),
  time: referenceTo('time'),
  epochMs: referenceTo('epochMs'),
  taskId: referenceTo('taskId'),
};

/** Stand for the facts of a slot where a person looks at an input. */
export const NAMED_FACTS: SlotFacts = {
  iso: '<slot.iso>',
  date: '<slot.date>',
  time: '<slot.time>',
  epochMs: '<slot.epochMs>',
  taskId: '<slot.taskId>',
};

/** Puts the facts of a slot where references stand. They hold nothing that JSON would escape. */
export function rendered(template: string, facts: SlotFacts): string {
  if (!template.includes(OPEN)) return template;
  return template.replaceAll(REFERENCE, (_whole, field: string) => {
    const known = FIELDS.find((one) => one === field);
    return known === undefined ? '' : facts[known];
  });
}

/** @throws {@link InvalidOptionError} when a reference was taken apart. */
export function checkTemplate(template: string): void {
  if (!BROKEN.test(template.replaceAll(REFERENCE, ''))) return;
  const expected = 'references to the slot as they are, whole or inside of a text';
  throw new InvalidOptionError('input', expected, 'a part of one');
}

/** A slot as texts. */
export function factsOfSlot(slot: number, timeZone: string, taskId: string): SlotFacts {
  const parts = new Map<string, string>();
  for (const { type, value } of formatOf(timeZone).formatToParts(slot)) parts.set(type, value);
  const part = (type: string): string => parts.get(type) ?? '';
  return {
    iso: new Date(slot).toISOString(),
    date: `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`,
    time: `${part('hour')}:${part('minute')}:${part('second')}`,
    epochMs: String(slot),
    taskId,
  };
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

function referenceTo(field: (typeof FIELDS)[number]): string {
  return `${OPEN}${field}${CLOSE}`;
}
