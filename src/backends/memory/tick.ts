import { compareUtf8 } from '../../base/utf8-order.ts';
import { allowedAt, boundedTat } from '../../domain/fairness/rate-limit.ts';
import { LIMITS } from '../../domain/limits.ts';
import { STEPS } from '../../domain/step-bounds.ts';
import type { Cause } from '../../domain/task/cause.ts';
import { isEnd, type TaskState } from '../../domain/task/task.ts';
import { upstreamOf } from './rules/edges.ts';
import { cascade, end, endIfExpired, enterLine, recordAttempt } from './rules/end.ts';
import { wakeByTime } from './rules/events.ts';
import { lookAgain } from './rules/parking.ts';
import { leave, setDueKey, stateAfter } from './rules/places.ts';
import { retain } from './rules/remove.ts';
import { scheduleLookAt } from './rules/schedule-places.ts';
import { dropSilent } from './rules/workers.ts';
import { sweepXCom } from './rules/xcom.ts';
import { comeBack } from './settle.ts';
import type { TaskEntry, UserEntry } from './store/entities.ts';
import { reindex } from './store/ready-index.ts';
import { forgetSnapshots } from './store/snapshots.ts';
import type { Store } from './store/store.ts';

/** Runs every part of maintenance once, each bounded; true when any stopped at its bound. */
export function tickSteps(store: Store): boolean {
  const swept = sweep(store);
  const promoted = promote(store);
  const unthrottled = unthrottle(store);
  const expired = expire(store);
  const cascaded = cascade(store, LIMITS.cascadeStep);
  const retained = retain(store);
  const over = sweepXCom(store, STEPS.xcomStep);
  const dropped = dropIdle(store) || dropSilent(store);
  forgetSnapshots(store, STEPS.snapshotStep);
  return swept || promoted || unthrottled || expired || cascaded || retained || over || dropped;
}

/**
 * The earliest due time for these queues, or a tick. Dependents that a step could not update are
 * due at once.
 */
export function nextDueAt(store: Store, queues: readonly string[]): number | undefined {
  if (store.cascade.first() !== undefined) return store.now;
  const leaseEnd = store.byState.started.firstAt();
  const moments = [
    store.dueUsers.first()?.dueKey,
    store.throttled.first()?.throttledUntil,
    leaseEnd === undefined ? undefined : Math.max(leaseEnd, store.sweepAfter),
    store.deadlines.first()?.optional.deadline,
    scheduleLookAt(store),
    ...queues.map((queue) => rateOpensAt(store, queue)),
  ];
  let least: number | undefined;
  for (const moment of moments) {
    if (moment !== undefined && (least === undefined || moment < least)) least = moment;
  }
  return least === undefined ? undefined : Math.ceil(least);
}

function rateOpensAt(store: Store, queueName: string): number | undefined {
  const queue = store.queues.get(queueName);
  if (queue?.settings.rate === undefined) return undefined;
  if (queue.runnable === 0 && queue.parked.count === 0) return undefined;
  const { rate } = queue.settings;
  const at = allowedAt(rate, boundedTat(rate, queue.tat, store.now));
  return at > store.now ? at : undefined;
}

/** Takes back ended leases. */
function sweep(store: Store): boolean {
  if (store.now < store.sweepAfter) return false;
  for (let i = 0; i < STEPS.sweepStep; i++) {
    if (!endedLeaseLeft(store)) return false;
    const entry = store.byState.started.first();
    if (entry !== undefined) lose(store, entry);
  }
  return endedLeaseLeft(store);
}

function endedLeaseLeft(store: Store): boolean {
  const next = store.byState.started.firstAt();
  return next !== undefined && next <= store.now;
}

function lose(store: Store, entry: TaskEntry): void {
  const worker = store.workers.get(entry.grant?.worker ?? '');
  const leasedAt = entry.grant?.leasedAt ?? 0;
  entry.owner.queue.totals.lost++;
  // A lease of an earlier start of the worker is not counted.
  if (worker !== undefined && leasedAt >= worker.startedAt) worker.attempts.lost++;
  entry.own().losses++;
  const { losses, cancelCause } = entry.optional;
  const pace = losses >= LIMITS.maxLost ? 'never' : losses === 1 ? 'now' : 'later';
  const next = stateAfter(entry, 'leaseEnded', pace);
  recordAttempt(entry, {
    attempt: entry.optional.failures + 1,
    worker: entry.grant?.worker ?? '',
    leasedAt,
    endedAt: store.now,
    outcome: 'lost',
    decision: LOST[next] ?? 'release',
  });
  if (isEnd(next)) {
    const cause: Cause = cancelCause ?? { type: 'lost', leases: losses };
    end(store, entry, { event: 'leaseEnded', pace, cause });
  } else {
    comeBack(store, entry, next, LIMITS.lostBackoffMs + (entry.tokenNumber % 1_000));
  }
}

/** Stored decision for a lost attempt, by the state of its task. */
const LOST: Partial<Readonly<Record<TaskState, 'cancel' | 'dead-letter'>>> = {
  canceled: 'cancel',
  failed: 'dead-letter',
};

/** Moves due tasks on, a few of each user in turn, so that a user with a million does not delay the others. */
function promote(store: Store): boolean {
  let left = STEPS.promoteStep;
  while (left > 0) {
    const user = store.dueUsers.first();
    if (user?.dueKey === undefined || user.dueKey > store.now) return false;
    left -= promoteUser(store, user, Math.min(left, LIMITS.promoteTurn));
  }
  const next = store.dueUsers.first()?.dueKey;
  return next !== undefined && next <= store.now;
}

function promoteUser(store: Store, user: UserEntry, most: number): number {
  let moved = 0;
  for (; moved < most; moved++) {
    const entry = user.scheduled?.first();
    if (entry?.dueAt === undefined || entry.dueAt > store.now) break;
    becomeDue(store, entry);
  }
  const next = user.scheduled?.first()?.dueAt;
  setDueKey(store, user, next === undefined ? undefined : Math.max(next, store.now));
  return Math.max(moved, 1);
}

/** From `scheduled` to the line, or to the deferred tasks. */
export function becomeDue(store: Store, entry: TaskEntry): void {
  const next = stateAfter(entry, 'due');
  leave(store, entry);
  enterLine(store, entry, next);
}

function unthrottle(store: Store): boolean {
  for (let i = 0; i < STEPS.throttleStep; i++) {
    const user = store.throttled.first();
    if (user?.throttledUntil === undefined || user.throttledUntil > store.now) return false;
    reindex(store, user);
  }
  return true;
}

/** Whether a deadline has passed that no step has handled. */
export function isAnyOverdue(store: Store): boolean {
  return (store.deadlines.first()?.optional.deadline ?? Number.POSITIVE_INFINITY) <= store.now;
}

/** Ends tasks that were not started in time, or have waited too long for a failed one. */
export function expire(store: Store): boolean {
  for (let i = 0; i < STEPS.expireStep; i++) {
    const entry = store.deadlines.first();
    if (entry?.optional.deadline === undefined || entry.optional.deadline > store.now) return false;
    if (endIfExpired(store, entry)) continue;
    if (isToWake(store, entry)) {
      wakeByTime(store, entry);
    } else if (isToLookAgain(store, entry)) {
      lookAgain(store, entry);
    } else {
      const id = awaitedInVain(store, entry);
      end(store, entry, { event: 'canceled', cause: { type: 'waited', id } });
    }
  }
  return true;
}

function isToWake(store: Store, { optional }: TaskEntry): boolean {
  return optional.run?.wakeAt !== undefined && optional.run.wakeAt <= store.now;
}

function isToLookAgain(store: Store, { optional }: TaskEntry): boolean {
  return optional.parkedUntil !== undefined && optional.parkedUntil <= store.now;
}

/** The dependency that cannot end without help; the least id of several. */
function awaitedInVain(store: Store, entry: TaskEntry): string {
  const vain = [...(entry.optional.blocked ?? [])].filter((id) => {
    const upstream = upstreamOf(store, entry, id);
    return upstream === undefined || isEnd(upstream.state);
  });
  return vain.sort(compareUtf8)[0] ?? '';
}

/** Drops users whose kept tag the virtual time has passed. */
function dropIdle(store: Store): boolean {
  let left = STEPS.idleStep;
  for (const queue of store.queues.values()) {
    for (let user = queue.idle.first(); user !== undefined; user = queue.idle.first()) {
      if (user.epoch === queue.clock.epoch && (user.idleUntil ?? 0) > queue.clock.v) break;
      if (left-- === 0) return true;
      queue.idle.delete(user);
      user.idleUntil = undefined;
      store.touch(user);
    }
  }
  return false;
}
