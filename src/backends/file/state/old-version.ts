/** Snapshots of the version before that of today: users had tags of their levels. */
import { type LevelTags, waitedOf } from '../../../domain/fairness/priority-shares.ts';
import type { Store } from '../../memory/store/store.ts';
import { hasFields } from './format.ts';

/** Its number. */
export const OLD_VERSION = 1;

/** What was read is from now on as it is today. */
export function fromOld(store: Store): void {
  for (const { users, priorityWeights } of store.queues.values()) {
    for (const user of users.values()) {
      const old: unknown = user.shares;
      if (!isOld(old)) continue;
      const waited = waitedOf(old, priorityWeights);
      Object.assign(user, { shares: { waited, criticalRun: old.criticalRun } });
    }
  }
}

function isOld(value: unknown): value is LevelTags & { readonly criticalRun: number } {
  return hasFields(value) && Array.isArray(value['tag']) && typeof value['v'] === 'number';
}
