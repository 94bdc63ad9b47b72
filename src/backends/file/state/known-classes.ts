/** What a state is made of, each under the name that it has in files for ever. */
import type { Clock } from '../../../base/time.ts';
import { SeriesRow } from '../../../domain/series/series-row.ts';
import { ChannelValues } from '../../../domain/task/channel.ts';
import type { NewTask } from '../../../domain/task/task.ts';
import {
  byArrival,
  byDeadline,
  byDue,
  byDueKey,
  byEnd,
  bySeq,
  byThrottle,
  byUntil,
  NOTHING_RARE,
  OptionalFacts,
  QueueEntry,
  TaskEntry,
  UserEntry,
} from '../../memory/store/entities.ts';
import { Failures } from '../../memory/store/failures.ts';
import { MissingIds } from '../../memory/store/missing-ids.ts';
import { byMoment as byMomentOfItems, MomentIndex } from '../../memory/store/moment-index.ts';
import { byKey as byKeyOfAsk, OpenAsks } from '../../memory/store/open-asks.ts';
import { Parked } from '../../memory/store/parked.ts';
import { byNumber, PublishedEvents } from '../../memory/store/published-events.ts';
import { byMoment, byName } from '../../memory/store/schedule-entry.ts';
import { SeriesSteps } from '../../memory/store/series-steps.ts';
import { SignalBox } from '../../memory/store/signal-box.ts';
import { SortedList } from '../../memory/store/sorted-list.ts';
import { Store } from '../../memory/store/store.ts';
import { StoredStream } from '../../memory/store/stored-stream.ts';
import { byFinish, byIdle, byStart, byTag } from '../../memory/store/tag-order.ts';
import { Waiters } from '../../memory/store/waiters.ts';
import { byKey, byLook, byNamespace, XComEntries } from '../../memory/store/xcom-entries.ts';
import { type Fields, hasFields } from './format.ts';

/** A class whose instances are carried. */
export interface KnownClass {
  /** Never changes. */
  readonly name: string;
  readonly prototype: unknown;
  /** As its constructor makes it: of the shape that all others have. */
  blank(): Fields;
  /** What is carried of it, and in which order it is written. */
  readonly fields: readonly string[];
  /** What is not: it has what the blank has. */
  readonly left: readonly string[];
  /** Fields with plain data that does not change in place: equal ones may share an object. */
  readonly data: ReadonlySet<string>;
  /** The whole of it as text, in place of fields. */
  readonly text?: TextForm;
}

/** Of a class that has a text of its own. */
interface TextForm {
  write(instance: unknown): string;
  /** Into a blank. */
  read(blank: unknown, text: string): void;
}

/** The one field of a class that has a text. */
export const TEXT = 'text';

/** Of the step in hand, of those that wait in this process, of timers; and what is only remembered to be quicker. */
const LEFT_OF_STORE = [
  'clock',
  'alarm',
  'endWaiters',
  'streamWaiters',
  'touchedUsers',
  'touchedQueues',
  'ended',
  'deadLetters',
  'closed',
  'isFiring',
  'isFenced',
  'queueAskedLast',
  'grantGivenLast',
  'grantedLast',
] as const;

const NOBODY = new UserEntry('', new QueueEntry(''));

const NO_TASK: NewTask = {
  id: '',
  name: '',
  queue: '',
  user: '',
  level: 3,
  cost: 1,
  payload: '',
  options: '',
  dependsOn: [],
  edges: { onFailure: 'cancel', onCancel: 'cancel', onMissing: 'block', allowCrossUser: false },
};

/** All of them; the store is the first. */
export function knownClasses(clock: Clock): readonly KnownClass[] {
  return [
    known('Store', () => new Store(clock), { left: LEFT_OF_STORE }),
    known('TaskEntry', () => new TaskEntry(NO_TASK, NOBODY, 0, 0), {
      data: ['dependsOn', 'edges'],
    }),
    known('OptionalFacts', () => new OptionalFacts()),
    known('UserEntry', () => new UserEntry('', NOBODY.queue), { left: ['touched'] }),
    known('QueueEntry', () => new QueueEntry(''), { left: ['touched'] }),
    known('SortedList', () => new SortedList(byArrival)),
    known('MomentIndex', () => new MomentIndex(byArrival)),
    known('Parked', () => new Parked(bySeq)),
    known('MissingIds', () => new MissingIds()),
    known('Failures', () => new Failures()),
    known('Waiters', () => new Waiters()),
    known('OpenAsks', () => new OpenAsks()),
    known('PublishedEvents', () => new PublishedEvents()),
    known('XComEntries', () => new XComEntries()),
    known('SeriesSteps', () => new SeriesSteps()),
    known('StoredStream', () => new StoredStream()),
    known('SignalBox', () => new SignalBox()),
    known('ChannelValues', () => new ChannelValues()),
    known('SeriesRow', () => new SeriesRow(), { text: SERIES_ROW }),
  ];
}

const SERIES_ROW: TextForm = {
  write: (row) => (row instanceof SeriesRow ? row.text() : ''),
  read: (blank, text) => {
    const row = SeriesRow.of(text);
    if (row !== undefined && blank instanceof SeriesRow) blank.add(row);
  },
};

interface Rules {
  readonly left?: readonly string[];
  readonly data?: readonly string[];
  readonly text?: TextForm;
}

function known(name: string, make: () => object, rules: Rules = {}): KnownClass {
  const { left = [], data = [], text } = rules;
  const sample = make();
  const fields = text === undefined ? Object.keys(sample) : [TEXT];
  return {
    name,
    prototype: Object.getPrototypeOf(sample),
    blank: () => fieldsOf(make()),
    fields: fields.filter((field) => !left.includes(field)),
    left,
    data: new Set(data),
    ...(text === undefined ? {} : { text }),
  };
}

function fieldsOf(made: object): Fields {
  return hasFields(made) ? made : {};
}

/** A timer that has been set in another process. */
const NO_TIMER = { cancel: (): void => undefined };

/** Orders and constants by name. What two indexes share has one name. */
export const NAMED: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['byArrival', byArrival],
  ['byDeadline', byDeadline],
  ['byDue', byDue],
  ['byDueKey', byDueKey],
  ['byEnd', byEnd],
  ['byFinish', byFinish],
  ['byIdle', byIdle],
  ['bySeq', bySeq],
  ['byStart', byStart],
  ['byTag', byTag],
  ['byThrottle', byThrottle],
  ['byUntil', byUntil],
  ['ask.byKey', byKeyOfAsk],
  ['event.byNumber', byNumber],
  ['moment.byMoment', byMomentOfItems],
  ['schedule.byMoment', byMoment],
  ['schedule.byName', byName],
  ['xcom.byKey', byKey],
  ['xcom.byLook', byLook],
  ['xcom.byNamespace', byNamespace],
  ['nothing rare', NOTHING_RARE],
  ['no timer', NO_TIMER],
]);

/** The name of what has one, else `undefined`. Whom to wake, and timers, are of this process alone. */
export function nameOf(value: unknown): string | undefined {
  return NAMES.get(value);
}

const NAMES: ReadonlyMap<unknown, string> = new Map(
  [...NAMED].map(([name, value]) => [value, name]),
);

/** What is written of a field of a plain object: timers and functions that wake a waiter stay behind. */
export function carriedOf(key: string, value: unknown): unknown {
  if (key === 'wake' && typeof value === 'function') return undefined;
  if (key === 'timer' && hasFields(value) && typeof value['cancel'] === 'function') return NO_TIMER;
  return value;
}
