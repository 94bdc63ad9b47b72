import { nextLevel } from '../../../domain/fairness/priority-shares.ts';
import { LIMITS } from '../../../domain/limits.ts';
import { givenUpField } from '../../../domain/task/journal.ts';
import { isEnd } from '../../../domain/task/task.ts';
import type { NameList, QueueEntry, TaskEntry, UserEntry } from '../store/entities.ts';
import { chooseUser } from '../store/ready-index.ts';
import type { Store } from '../store/store.ts';
import { compareFinish } from '../store/tag-order.ts';

/** The lists of a restricted worker in one queue. */
export interface Scope {
  readonly assigned: NameList | undefined;
  readonly steal: NameList | 'any' | undefined;
}

/** The user of the next turn, and the clocks that the turn moves. */
export interface Choice {
  readonly user: UserEntry;
  /** The queue's virtual time after the jump to the least tag; absent for a choice by a list. */
  readonly v?: number;
  /** The list whose clock the turn moves. */
  readonly list?: NameList;
  readonly stolen: boolean;
}

/** The user with the next turn in this queue, for a worker with this scope. */
export function choose(queue: QueueEntry, scope: Scope | undefined): Choice | undefined {
  if (scope === undefined) return unrestricted(queue, false, false);
  return chooseAssigned(queue, scope) ?? chooseStolen(queue, scope);
}

function unrestricted(
  queue: QueueEntry,
  unassignedOnly: boolean,
  stolen: boolean,
): Choice | undefined {
  const chosen = chooseUser(queue, unassignedOnly);
  return chosen === undefined ? undefined : { user: chosen.user, v: chosen.v, stolen };
}

/** The fairest of the assigned users and the users without an assignment. */
function chooseAssigned(queue: QueueEntry, scope: Scope): Choice | undefined {
  const own = scope.assigned?.ready.first();
  if (scope.steal === 'any') {
    const unassigned = unrestricted(queue, true, false);
    if (
      unassigned !== undefined &&
      (own === undefined || compareFinish(unassigned.user, own) < 0)
    ) {
      return unassigned;
    }
    return byList(own, scope.assigned, false);
  }
  const unassigned = scope.steal?.unassigned.first();
  if (unassigned !== undefined && (own === undefined || compareFinish(unassigned, own) < 0)) {
    return byList(unassigned, scope.steal, false);
  }
  return byList(own, scope.assigned, false);
}

function chooseStolen(queue: QueueEntry, scope: Scope): Choice | undefined {
  if (scope.steal === 'any') return unrestricted(queue, false, true);
  return byList(scope.steal?.ready.first(), scope.steal, true);
}

function byList(
  user: UserEntry | undefined,
  list: NameList | undefined,
  stolen: boolean,
): Choice | undefined {
  return user === undefined || list === undefined ? undefined : { user, list, stolen };
}

/**
 * Whether a task need not start: its run has ended, or gave its group up, or is itself abandoned.
 * Owners may form a cycle.
 */
export function isAbandoned(store: Store, entry: TaskEntry): boolean {
  let one = entry;
  for (let depth = 0; depth < LIMITS.graphDepth; depth++) {
    const owner = one.optional.run?.owner;
    if (owner === undefined) return false;
    const run = store.records.get(owner);
    if (run === undefined || isEnd(run.state)) return true;
    if (run.optional.run?.journal.has(givenUpField(one.id)) === true) return true;
    one = run;
  }
  return false;
}

/** The task for the user's turn. */
export function headOf(user: UserEntry): TaskEntry | undefined {
  const { settings, priorityWeights } = user.queue;
  const level = nextLevel(user.shares, user.counts, priorityWeights, settings.criticalBurst);
  return level === 0 ? undefined : user.level(level).first();
}
