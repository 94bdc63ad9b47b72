import { startOf } from '../../domain/fairness/fair-share.ts';
import { storeOfRows } from '../memory/rows/store-builder.ts';
import { setDueKey } from '../memory/rules/places.ts';
import type { UserEntry } from '../memory/store/entities.ts';
import { leaveAhead } from '../memory/store/leavers.ts';
import { headroomOf, reindex, standReady } from '../memory/store/ready-index.ts';
import type { Store } from '../memory/store/store.ts';
import { pairOf } from './keys-reader.ts';
import type { FoundUser } from './read-queues.ts';
import type { FoundRows } from './rows-of-redis.ts';

/** Tells an empty store what was found in a namespace. What Redis does not say follows from tasks, by the rules. */
export function storeOfFound(store: Store, { rows, users, entering }: FoundRows): void {
  storeOfRows(store, rows);
  for (const { id, owner, seq, optional } of store.records.values()) {
    owner.seq = Math.max(owner.seq, seq);
    const { asideFor } = optional.run ?? {};
    const run = asideFor === undefined ? undefined : store.records.get(asideFor)?.ownRun();
    if (run === undefined) continue;
    run.aside ??= new Set();
    run.aside.add(id);
  }
  for (const found of users) {
    const { queue, user } = found.row;
    place(store, found, entering.has(pairOf(queue, user)));
  }
  for (const queue of store.queues.values()) {
    for (const user of queue.ownSettings.keys()) store.userEntry(queue.queue, user);
    // Who has tasks and no row of its own stands by the rules.
    for (const user of queue.users.values()) if (user.weight === 0) placeAnew(store, user);
    queue.gain = 0;
  }
  store.untouch();
}

/** Its tasks stand in their places. */
function place(store: Store, { row, kind, dueKey }: FoundUser, enters: boolean): void {
  const user = store.userEntry(row.queue, row.user);
  const due = user.scheduled?.first()?.dueAt;
  if (due !== undefined) setDueKey(store, user, dueKey ?? due);
  if (kind !== undefined && user.queued > 0) {
    standReady(user, `o${kind}`, headroomOf(user, store.settingsOf(user)));
  } else if (enters) reindex(store, user);
  if (!user.ready) leaveAhead(user);
  keepIdle(user);
}

function placeAnew(store: Store, user: UserEntry): void {
  const due = user.scheduled?.first()?.dueAt;
  if (due !== undefined) setDueKey(store, user, due);
  reindex(store, user);
  keepIdle(user);
}

/** Who has nothing to do is kept for its tag, or for its rate, which `throttledUntil` tells. */
function keepIdle(user: UserEntry): void {
  const { queue } = user;
  if (user.live > 0 || queue.ownSettings.has(user.user)) return;
  const until = startOf(user.tag, user.weight);
  if (user.epoch === queue.clock.epoch && until > queue.clock.v) {
    user.idleUntil = until;
    queue.idle.add(user);
  } else if (user.throttledUntil === undefined) queue.users.delete(user.user);
}
