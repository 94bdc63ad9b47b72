/** Who waits for a task, and what its end would bring about. */
import type { EdgePolicy, EndState, TaskState } from './task.ts';

/** A task that waits for another. */
export interface Dependent {
  /** Its id. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Its user. */
  readonly user: string;
  /** `deferred`, or `scheduled` while its own time has not come either. */
  readonly state: TaskState;
  /**
   * What it waits for: the other's `end`; its `redrive`, since it did not end well; `suspended`: it is a
   * run that goes on when the other has ended, however.
   */
  readonly waits: 'end' | 'redrive' | 'suspended';
  /** What it does when the other fails; absent for one that is suspended. */
  readonly onFailure?: EdgePolicy;
  /** What it does when the other is canceled; absent for one that is suspended. */
  readonly onCancel?: EdgePolicy;
}

/** One page of the dependents of a task, or of an id that is not stored. */
export interface DependentPage {
  /**
   * In the order in which they are told: first those that wait for its end, by creation. Of an id that
   * is not stored, by the user whose task of that id they wait for, first any user's, then by creation.
   */
  readonly items: readonly Dependent[];
  /** All of them, those of other pages included. */
  readonly count: number;
  /** How many of all wait for a redrive. */
  readonly awaitingRedrive: number;
  /** Give it back to get the next page; absent on the last. */
  readonly cursor?: string;
}

/** What would end a task: a cancel, its own failure, or the removal of its record. */
export type Ending = 'cancel' | 'failure' | 'removal';

/** How a dependent would end with the one that it waits for; `undefined`: it would not. */
export function endsWith(dependent: Dependent, ending: Ending): EndState | undefined {
  if (ending === 'removal') return dependent.waits === 'redrive' ? 'canceled' : undefined;
  if (dependent.waits !== 'end') return undefined;
  const policy = ending === 'cancel' ? dependent.onCancel : dependent.onFailure;
  if (policy === 'cancel') return 'canceled';
  return policy === 'fail' ? 'failed' : undefined;
}

/** How many wait for a task, and the first of them. */
export interface TaskDependents {
  /** All of them. */
  readonly count: number;
  /** How many of them wait for a redrive. */
  readonly awaitingRedrive: number;
  /** The first five. */
  readonly ids: readonly string[];
}

/** What is told of them beside the task itself: ids of the page, and how many there are in all. */
export function dependentsIn({ items, count, awaitingRedrive }: DependentPage): TaskDependents {
  return { count, awaitingRedrive, ids: items.map(({ id }) => id) };
}

/** Dependents that are named where a task itself is shown; the rest are counted. */
export const DEPENDENTS_NAMED = 5;

/**
 * Which part of the listing of dependents: those that wait for its end, for its redrive, or, of an id
 * that is not stored, by the user whose task they wait for: `@` for any user's, `@<user>`.
 */
export type DependentPart = 'waiting' | 'redrive' | `@${string}`;

/** A place in that listing: which part of it, creation and id of the last row. */
export type DependentPlace = readonly [part: DependentPart, createdAt: number, id: string];

function isPart(part: unknown): part is DependentPart {
  return part === 'waiting' || part === 'redrive' || (typeof part === 'string' && part[0] === '@');
}

/** `undefined` when the text is no cursor of this listing. */
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
