/**
 * What states of version 1 and 2 are made of, each under the name that it has there: classes, and their fields, as they
 * were. A class that has another name by now stands behind its old one; of a field, `RENAMED` says its name of today.
 */
import { type LevelTags, waitedOf } from '../../../domain/fairness/priority-shares.ts';
import { SeriesRow } from '../../../domain/series/series-row.ts';
import { ChannelValues } from '../../../domain/task/channel.ts';
import type { NewTask } from '../../../domain/task/task.ts';
import {
  byArrival,
  bySeq,
  NOTHING_RARE,
  OptionalFacts,
  QueueEntry,
  TaskEntry,
  UserEntry,
} from '../../memory/store/entities.ts';
import { Failures } from '../../memory/store/failures.ts';
import { MissingIds } from '../../memory/store/missing-ids.ts';
import { MomentIndex } from '../../memory/store/moment-index.ts';
import { OpenAsks } from '../../memory/store/open-asks.ts';
import { Parked } from '../../memory/store/parked.ts';
import { PublishedEvents } from '../../memory/store/published-events.ts';
import { SeriesSteps } from '../../memory/store/series-steps.ts';
import { SignalBox } from '../../memory/store/signal-box.ts';
import { SortedList } from '../../memory/store/sorted-list.ts';
import { Store } from '../../memory/store/store.ts';
import { StoredStream } from '../../memory/store/stored-stream.ts';
import { Waiters } from '../../memory/store/waiters.ts';
import { XComEntries } from '../../memory/store/xcom-entries.ts';
import { type Fields, hasFields } from './format.ts';

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

const STILL = { now: () => 0, setTimer: () => ({ cancel: () => undefined }) };

/** By name, how an instance is made that has its fields still to come. */
const CLASSES: Readonly<Record<string, () => object>> = {
  Store: () => new Store(STILL),
  TaskEntry: () => new TaskEntry(NO_TASK, NOBODY, 0, 0),
  OptionalFacts: () => new OptionalFacts(),
  UserEntry: () => new UserEntry('', NOBODY.queue),
  QueueEntry: () => new QueueEntry(''),
  SortedList: () => new SortedList(byArrival),
  MomentIndex: () => new MomentIndex(byArrival),
  Parked: () => new Parked(bySeq),
  MissingIds: () => new MissingIds(),
  Failures: () => new Failures(),
  Waiters: () => new Waiters(),
  OpenAsks: () => new OpenAsks(),
  PublishedEvents: () => new PublishedEvents(),
  XComEntries: () => new XComEntries(),
  SeriesSteps: () => new SeriesSteps(),
  StoredStream: () => new StoredStream(),
  SignalBox: () => new SignalBox(),
  ChannelValues: () => new ChannelValues(),
  SeriesRow: () => new SeriesRow(),
};

/** `Class.field` as it was, and the field of today. */
const RENAMED: Readonly<Record<string, string>> = {};

/** Orders: an index is only read here, and made anew. */
const LEFT: ReadonlySet<string> = new Set(['compare', 'byPlace']);

/** Makes an instance of a class without its fields; `undefined`: there was none of this name. */
export function blankOf(name: string): (() => Fields) | undefined {
  const make = CLASSES[name];
  return make === undefined ? undefined : () => fieldsOf(make());
}

function fieldsOf(made: object): Fields {
  return hasFields(made) ? made : {};
}

/** Where a field of a class goes today; `undefined`: nowhere. */
export function fieldOf(name: string, field: string): string | undefined {
  return LEFT.has(field) ? undefined : (RENAMED[`${name}.${field}`] ?? field);
}

/** What has a name in files: what most tasks have in common; orders and timers have none here. */
export function constantOf(name: string): unknown {
  return name === 'nothing rare' ? NOTHING_RARE : undefined;
}

/** The text of a row of the series goes into one of today. */
export function textInto(row: Fields, text: string): void {
  const read = SeriesRow.of(text);
  if (read !== undefined && row instanceof SeriesRow) row.add(read);
}

/** In version 1 users had tags of their levels. */
export function sharesOfVersion1(store: Store): void {
  for (const { users, priorityWeights } of store.queues.values()) {
    for (const user of users.values()) {
      const old: unknown = user.shares;
      if (!areTags(old)) continue;
      const waited = waitedOf(old, priorityWeights);
      Object.assign(user, { shares: { waited, criticalRun: old.criticalRun } });
    }
  }
}

function areTags(value: unknown): value is LevelTags & { readonly criticalRun: number } {
  return hasFields(value) && Array.isArray(value['tag']) && typeof value['v'] === 'number';
}
