/** Dependents of a task, and the effect of its end on them. */
import type { EdgePolicy, EndState, TaskState } from './task.ts';

/** A task that waits for another. */
export interface Dependent {
  /** Its id. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Its user. */
  readonly user: string;
  /** `deferred`, or `scheduled` before its due time. */
  readonly state: TaskState;
  /**
   * What it waits for: the `end` of the other task; its `redrive`, after an end other than
   * `finished`; `suspended`: it is a run that continues after any end of the other task.
   */
  readonly waits: 'end' | 'redrive' | 'suspended';
  /** Reaction to a failure; absent for a suspended task. */
  readonly onFailure?: EdgePolicy;
  /** Reaction to a cancel; absent for a suspended task. */
  readonly onCancel?: EdgePolicy;
}

/** One page of the dependents of a task, or of an id that is not stored. */
export interface DependentPage {
  /**
   * First dependents that wait for the end, by creation. For an id that is not stored: by the user
   * whose task of that id they wait for, first any user's, then by creation.
   */
  readonly items: readonly Dependent[];
  /** Number of all dependents, including those of other pages. */
  readonly count: number;
  /** Number of all that wait for a redrive. */
  readonly awaitingRedrive: number;
  /** Cursor of the next page; absent on the last. */
  readonly cursor?: string;
}

/** How a task would end: by a cancel, a failure, or the removal of its record. */
export type Ending = 'cancel' | 'failure' | 'removal';

/** End state of a dependent after this end; `undefined`: it would not end. */
export function endsWith(dependent: Dependent, ending: Ending): EndState | undefined {
  if (ending === 'removal') return dependent.waits === 'redrive' ? 'canceled' : undefined;
  if (dependent.waits !== 'end') return undefined;
  const policy = ending === 'cancel' ? dependent.onCancel : dependent.onFailure;
  if (policy === 'cancel') return 'canceled';
  return policy === 'fail' ? 'failed' : undefined;
}

/** Number of dependents of a task, and the first of them. */
export interface TaskDependents {
  /** Number of all. */
  readonly count: number;
  /** Number of those that wait for a redrive. */
  readonly awaitingRedrive: number;
  /** Ids of the first five. */
  readonly ids: readonly string[];
}

/** Summary of the dependents: ids of the page, and the counts of all. */
export function dependentsIn({ items, count, awaitingRedrive }: DependentPage): TaskDependents {
  return { count, awaitingRedrive, ids: items.map(({ id }) => id) };
}

/** Number of dependents that are named with a task; the others are counted. */
export const DEPENDENTS_NAMED = 5;

/**
 * Part of the listing of dependents: those that wait for its end, for its redrive, or, for an id
 * that is not stored, by the user whose task they wait for: `@` for any user's, `@<user>`.
 */
export type DependentPart = 'waiting' | 'redrive' | `@${string}`;

/** A place in that listing: part, creation and id of the last row. */
export type DependentPlace = readonly [part: DependentPart, createdAt: number, id: string];

function isPart(part: unknown): part is DependentPart {
  return part === 'waiting' || part === 'redrive' || (typeof part === 'string' && part[0] === '@');
}

/** Parses a cursor; `undefined` for one of another listing. */
export function dependentPlace(cursor: string): DependentPlace | undefined {
  try {
    const place: unknown = JSON.parse(cursor);
    if (!Array.isArray(place) || place.length !== 3) return undefined;
    const [part, createdAt, id]: readonly unknown[] = place;
    if (!isPart(part)) return undefined;
    return Number.isFinite(createdAt) && typeof id === 'string'
      ? [part, Number(createdAt), id]
      : undefined;
  } catch {
    return undefined;
  }
}
