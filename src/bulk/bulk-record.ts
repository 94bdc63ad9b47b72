/** What is stored of a bulk action: what was asked for, as its input, and how far it is, in its journal. */
import type { ValueCodec } from '../codec/codec.ts';
import { InvalidPayloadError } from '../domain/errors/errors.ts';
import type { RateLimit } from '../domain/fairness/rate-limit.ts';
import type { TaskState } from '../domain/task/task.ts';
import { BULK_TASK } from '../runs/record.ts';
import type { WalkPlace } from '../search/search-walk.ts';

/** What is done to each task: put back, canceled, taken away, or made due. */
export type BulkAction = 'redrive' | 'cancel' | 'remove' | 'run-now';

/**
 * In which states each action finds its tasks, in the order in which it looks there: a task that moves on
 * meanwhile is met again where it has come to.
 */
export const ACTION_STATES: Readonly<Record<BulkAction, readonly TaskState[]>> = {
  redrive: ['failed'],
  cancel: ['scheduled', 'deferred', 'queued', 'started'],
  remove: ['failed', 'canceled', 'finished'],
  'run-now': ['scheduled'],
};

/** Whose turn bulk actions take. */
export const BULK_USER = '~fairloom';

/** What was asked for. */
export interface BulkSpec {
  readonly action: BulkAction;
  /** In the filter language. */
  readonly where: string;
  readonly rate?: RateLimit;
  readonly dryRun?: true;
  readonly by?: string;
  readonly reason?: string;
}

/** A change of one task that did not go well. */
export interface BulkError {
  /** The task. */
  readonly id: string;
  /** What was thrown: its message. */
  readonly error: string;
}

/** How far it is. */
export interface BulkProgress {
  /** When it was first leased, in ms since the epoch. */
  readonly startedAt: number;
  /** Where the next page begins; absent when the walk is at its end. */
  readonly place?: WalkPlace;
  /** Of the page in hand: so many are done with. */
  readonly from: number;
  /** Those before this one may have been changed already. */
  readonly until: number;
  /** See `allowedAt`. */
  readonly tat: number;
  /** Walks that are over, and what the one under way has changed: after the last change it walks once more. */
  readonly walks: number;
  readonly changed: number;
  readonly matched: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly errors: readonly BulkError[];
}

/** A task that is to be changed, or the run that is changed in its place. */
export interface BulkTarget {
  readonly id: string;
  readonly isRun: boolean;
}

/** The field of its journal that says how far it is. */
export const PROGRESS_FIELD = 'progress';

/** The field that names the targets of the page in hand. */
export const PAGE_FIELD = 'page';

/** The entry that the end of a pause is written to. */
export const PAUSE_ENTRY = '=bulk';

/** Where it is told by a channel, once the journal takes no more: it was canceled. */
export const LAST_FIELD = '~bulk:progress';

/** The payload of its task. */
export function bulkPayload(codec: ValueCodec, spec: BulkSpec): string {
  return codec.payload(BULK_TASK, spec);
}

/** @throws {@link InvalidPayloadError} when the text is not what {@link bulkPayload} wrote. */
export function bulkSpecIn(codec: ValueCodec, payload: string): BulkSpec {
  const spec: unknown = codec.read(payload);
  if (isSpec(spec)) return spec;
  throw new InvalidPayloadError('$', 'is no bulk action');
}

/** How far it was when it last wrote that down; `undefined` before its first turn. */
export function progressIn(fields: Readonly<Record<string, string>>): BulkProgress | undefined {
  const text = fields[LAST_FIELD] ?? fields[PROGRESS_FIELD];
  return text === undefined ? undefined : (JSON.parse(text) as BulkProgress);
}

/** Targets as the text of a field. */
export function pageText(targets: readonly BulkTarget[]): string {
  return JSON.stringify(targets.map(({ id, isRun }) => `${isRun ? 'r' : 't'}${id}`));
}

/** What {@link pageText} was given. */
export function pageIn(fields: Readonly<Record<string, string>>): readonly BulkTarget[] {
  const texts = JSON.parse(fields[PAGE_FIELD] ?? '[]') as readonly string[];
  return texts.map((text) => ({ id: text.slice(1), isRun: text.startsWith('r') }));
}

function isSpec(value: unknown): value is BulkSpec {
  if (typeof value !== 'object' || value === null) return false;
  const action: unknown = Reflect.get(value, 'action');
  const isKnown = typeof action === 'string' && Object.hasOwn(ACTION_STATES, action);
  return isKnown && typeof Reflect.get(value, 'where') === 'string';
}
