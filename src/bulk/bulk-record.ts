/** Stored data of a bulk action: its spec as the input of its task, its progress in the journal. */
import type { ValueCodec } from '../codec/codec.ts';
import { InvalidPayloadError } from '../domain/errors/errors.ts';
import type { RateLimit } from '../domain/fairness/rate-limit.ts';
import type { TaskState } from '../domain/task/task.ts';
import { BULK_TASK } from '../runs/record.ts';
import type { WalkPlace } from '../search/search-walk.ts';

/** Action on each task: redrive, cancel, remove, or make due. */
export type BulkAction = 'redrive' | 'cancel' | 'remove' | 'run-now';

/**
 * States in which each action finds its tasks, in the order of its walk: a task that moves on
 * meanwhile is met again in its new state.
 */
export const ACTION_STATES: Readonly<Record<BulkAction, readonly TaskState[]>> = {
  redrive: ['failed'],
  cancel: ['scheduled', 'deferred', 'queued', 'started'],
  remove: ['failed', 'canceled', 'finished'],
  'run-now': ['scheduled'],
};

/** User of bulk actions. */
export const BULK_USER = '~fairloom';

/** Input of a bulk action. */
export interface BulkSpec {
  readonly action: BulkAction;
  /** In the filter language. */
  readonly where: string;
  readonly rate?: RateLimit;
  readonly dryRun?: true;
  readonly by?: string;
  readonly reason?: string;
}

/** A failed change of one task. */
export interface BulkError {
  /** Id of the task. */
  readonly id: string;
  /** Message of the error. */
  readonly error: string;
}

/** Progress of a bulk action. */
export interface BulkProgress {
  /** Moment of its first lease, in ms since the epoch. */
  readonly startedAt: number;
  /** Position of the next page; absent at the end of the walk. */
  readonly place?: WalkPlace;
  /** Number of tasks of the current page that are done. */
  readonly from: number;
  /** Tasks before this index may have been changed already. */
  readonly until: number;
  /** See `allowedAt`. */
  readonly tat: number;
  /** Number of complete walks, and of changes in the current one: after the last change it walks once more. */
  readonly walks: number;
  readonly changed: number;
  readonly matched: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly errors: readonly BulkError[];
}

/** A task to change, or the run to change in its place. */
export interface BulkTarget {
  readonly id: string;
  readonly isRun: boolean;
}

/** Journal field of the progress. */
export const PROGRESS_FIELD = 'progress';

/** Journal field of the targets of the current page. */
export const PAGE_FIELD = 'page';

/** Journal entry for the end of a pause. */
export const PAUSE_ENTRY = '=bulk';

/** Channel field for the result once the journal is closed by a cancel. */
export const LAST_FIELD = '~bulk:progress';

/** Payload of its task. */
export function bulkPayload(codec: ValueCodec, spec: BulkSpec): string {
  return codec.payload(BULK_TASK, spec);
}

/** @throws {@link InvalidPayloadError} when the text is not from {@link bulkPayload}. */
export function bulkSpecIn(codec: ValueCodec, payload: string): BulkSpec {
  const spec: unknown = codec.read(payload);
  if (isSpec(spec)) return spec;
  throw new InvalidPayloadError('$', 'is no bulk action');
}

/** The stored progress; `undefined` before its first turn. */
export function progressIn(fields: Readonly<Record<string, string>>): BulkProgress | undefined {
  const text = fields[LAST_FIELD] ?? fields[PROGRESS_FIELD];
  return text === undefined ? undefined : (JSON.parse(text) as BulkProgress);
}

/** Targets as the text of a field. */
export function pageText(targets: readonly BulkTarget[]): string {
  return JSON.stringify(targets.map(({ id, isRun }) => `${isRun ? 'r' : 't'}${id}`));
}

/** Parses the text of {@link pageText}. */
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
