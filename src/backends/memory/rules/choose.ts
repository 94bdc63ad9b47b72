import { nextLevel } from '../../../domain/fairness/priority-shares.ts';
import { isEnd } from '../../../domain/task/task.ts';
import type { Lane, NameList, TaskEntry, UserLane } from '../store/entities.ts';
import { chooseUser } from '../store/ready-index.ts';
import type { Store } from '../store/store.ts';
import { compareFinish } from '../store/tag-order.ts';

/** The lists of a restricted worker in one lane. */
export interface Reach {
  readonly assigned: NameList | undefined;
  readonly steal: NameList | 'any' | undefined;
}

/** Whose turn it is, and how the turn moves the clocks. */
export interface Choice {
  readonly user: UserLane;
  /** The lane's virtual time after the jump to the least tag; absent for a choice by a list. */
  readonly v?: number;
  /** The list whose clock the turn moves. */
  readonly list?: NameList;
  readonly stolen: boolean;
}

/** Who has the next turn in this lane, for a worker with this reach. */
export function choose(lane: Lane, reach: Reach | undefined): Choice | undefined {
  if (reach === undefined) return unrestricted(lane, false, false);
  return chooseAssigned(lane, reach) ?? chooseStolen(lane, reach);
}

function unrestricted(lane: Lane, orphansOnly: boolean, stolen: boolean): Choice | undefined {
  const chosen = chooseUser(lane, orphansOnly);
  return chosen === undefined ? undefined : { user: chosen.user, v: chosen.v, stolen };
}

/** The fairest among the assigned users and the users that nobody is assigned to. */
function chooseAssigned(lane: Lane, reach: Reach): Choice | undefined {
  const own = reach.assigned?.ready.first();
  if (reach.steal === 'any') {
    const orphan = unrestricted(lane, true, false);
    if (orphan !== undefined && (own === undefined || compareFinish(orphan.user, own) < 0)) {
      return orphan;
    }
    return byList(own, reach.assigned, false);
  }
  const orphan = reach.steal?.orphans.first();
  if (orphan !== undefined && (own === undefined || compareFinish(orphan, own) < 0)) {
    return byList(orphan, reach.steal, false);
  }
  return byList(own, reach.assigned, false);
}

function chooseStolen(lane: Lane, reach: Reach): Choice | undefined {
  if (reach.steal === 'any') return unrestricted(lane, false, true);
  return byList(reach.steal?.ready.first(), reach.steal, true);
}

function byList(
  user: UserLane | undefined,
  list: NameList | undefined,
  stolen: boolean,
): Choice | undefined {
  return user === undefined || list === undefined ? undefined : { user, list, stolen };
}

/** A task whose run has ended has nothing to be started for. */
export function isOrphan(store: Store, { rare }: TaskEntry): boolean {
  const owner = rare.run?.owner;
  if (owner === undefined) return false;
  const run = store.records.get(owner);
  return run === undefined || isEnd(run.state);
}

/** The task that has the user's turn. Gives levels their tags, so it is asked once per turn. */
export function headOf(user: UserLane): TaskEntry | undefined {
  const { settings, priorityWeights } = user.lane;
  const level = nextLevel(user.shares, user.counts, priorityWeights, settings.criticalBurst);
  return level === 0 ? undefined : user.level(level).first();
}
