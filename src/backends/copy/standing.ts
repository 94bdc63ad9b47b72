/** What Redis keeps of a user in a queue: the rules of `lua/lib/records/user.lua`. */
import { USUAL_WEIGHT } from '../../domain/fairness/fair-share.ts';
import type { LevelShares } from '../../domain/fairness/priority-shares.ts';
import type { UserSettings } from '../../domain/fairness/settings.ts';
import type { UserEntry } from '../memory/store/entities.ts';
import type { Store } from '../memory/store/store.ts';
import { startTag } from '../memory/store/tag-order.ts';
import { packedBytes } from './packed-bytes.ts';

/** How a user stands. */
export interface Standing {
  /** It has a record. */
  readonly isRecord: boolean;
  /** Its live and its running tasks are counted there. */
  readonly isCounted: boolean;
  /** It has nothing to do, and a record for its tag. */
  readonly isIdle: boolean;
  /** It has no record, and its tag is kept. */
  readonly isKept: boolean;
  /** Its own settings, those of the queue over those for all. */
  readonly own: UserSettings;
  /** It has settings of its own in this queue. */
  readonly hasOwn: boolean;
}

/** How a user stands at a moment. */
export function standingOf(store: Store, user: UserEntry, now: number): Standing {
  const { queue } = user;
  const inQueue = queue.ownSettings.get(user.user);
  const own = { ...store.settingsForAll.get(user.user), ...inQueue };
  const hasOwn = inQueue !== undefined;
  const isAhead = user.epoch === queue.clock.epoch && startTag(user) > queue.clock.v;
  const isCounted = isRecorded(store, user, own);
  const set = store.settingsOf(user);
  const isOfOtherWeight =
    user.weight !== USUAL_WEIGHT || (set.weight ?? USUAL_WEIGHT) !== USUAL_WEIGHT;
  const isNeeded =
    isCounted ||
    user.class?.shared === true ||
    user.queued > (user.counts[2] ?? 0) ||
    user.throttledUntil !== undefined ||
    user.tat > now ||
    (user.queued > 0 && hasShares(user)) ||
    (isOfOtherWeight && !user.ready && isAhead);
  const hasWork = user.queued > 0 || (isCounted && user.live > 0) || hasOwn;
  const isSpent = set.rate !== undefined && user.tat > now;
  const isRecord = isNeeded && (hasWork || isAhead || isSpent);
  const isIdle = isRecord && !hasWork && isAhead;
  const isKept = !isRecord && !user.ready && isAhead && user.weight === USUAL_WEIGHT;
  return { isRecord, isCounted: isRecord && isCounted, isIdle, isKept, own, hasOwn };
}

/** Whether its settings, or those of its queue, give it a record as soon as it has a task. */
function isRecorded(store: Store, user: UserEntry, own: UserSettings): boolean {
  const set = store.settingsOf(user);
  const { queue } = user;
  const fields = Object.keys(own);
  const isWeighted = fields.length === 1 && fields[0] === 'weight';
  const hasOwn = fields.length > 0 || queue.ownSettings.has(user.user);
  return (
    (!isWeighted && hasOwn) ||
    queue.chargesTime ||
    set.paused === true ||
    set.rate !== undefined ||
    set.maxQueued !== undefined ||
    set.maxRunning !== undefined ||
    ((set.weight ?? USUAL_WEIGHT) !== USUAL_WEIGHT && !isWeighted)
  );
}

/** Whether its shares differ from those of a user who only ever had tasks of level 3. */
function hasShares({ shares }: UserEntry): boolean {
  return shares.criticalRun > 0 || (shares.waited[2] ?? 0) > 0;
}

/** Turns between levels, as they are packed. */
export function levelBytes({ criticalRun, waited }: LevelShares): Buffer {
  const levels = waited.map((turns, at) => {
    if (turns === 0) return Buffer.alloc(0);
    return packedBytes('levelShare', { level: at + 1, waited: turns });
  });
  return Buffer.concat([packedBytes('shares', { critical: criticalRun }), ...levels]);
}
