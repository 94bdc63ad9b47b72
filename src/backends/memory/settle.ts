import type { Decision, SettleAnswer, Settlement, Suspension } from '../../domain/port/backend.ts';
import type { AttemptRecord, TaskState } from '../../domain/task/task.ts';
import {
  nextState,
  type Pace,
  type Situation,
  type TaskEvent,
} from '../../domain/task/transition.ts';
import { isAttendedBy } from './rules/attended.ts';
import { writeChannel } from './rules/channels.ts';
import { dropWaits, end, recordAttempt } from './rules/end.ts';
import { enterQueue, enterScheduled, leave } from './rules/places.ts';
import { suspend } from './rules/suspend.ts';
import { writeXCom } from './rules/xcom.ts';
import type { TaskEntry } from './store/entities.ts';
import { giveBack, reindex } from './store/ready-index.ts';
import type { Store } from './store/store.ts';

/** Applies one decision, if its lease is still in force. */
export function settleOne(store: Store, settlement: Settlement): SettleAnswer {
  const { id, token, decision, channel, xcom } = settlement;
  const entry = store.records.get(id);
  if (entry === undefined) return NOT_FOUND;
  const isWaiting = waits(entry, settlement);
  if (entry.settledToken === token && !isWaiting) {
    return { kind: 'ok', state: entry.state, repeated: true };
  }
  if (entry.token !== token && !isWaiting) return LEASE_LOST;
  const situation = isWaiting ? FREE : entry;
  const next = nextState(entry.state, EVENTS[decision.type], situation, paceOf(decision));
  if (next === undefined) return LEASE_LOST;
  const { cancelCause } = entry.optional;
  const isFinished = next === 'finished';
  if (channel !== undefined && isFinished) {
    const refusal = writeChannel(store, channel);
    if (refusal !== undefined) return { kind: 'refused', refusal };
  }
  if (xcom !== undefined && isFinished) writeXCom(store, xcom, id);
  if (isWaiting) callBack(store, entry);
  if (cancelCause !== undefined) apply(store, entry, { type: 'cancel', cause: cancelCause }, next);
  else if (decision.type === 'suspend') suspend(store, entry, decision);
  else apply(store, entry, decision, next);
  entry.settledToken = token;
  return answerOf(entry);
}

/** Its handler has ended during the wait; a repeated suspension changes nothing. */
function waits(entry: TaskEntry, { token, decision }: Settlement): boolean {
  if (entry.state === 'started' || !isAttendedBy(entry, token)) return false;
  return decision.type !== 'suspend' || (entry.state === 'deferred' && isForNothing(decision));
}

function isForNothing({ waitFor, wait, wakeAfterMs }: Suspension): boolean {
  return waitFor.length === 0 && wait === undefined && wakeAfterMs === undefined;
}

/** It stops waiting, and its handler is done. */
function callBack(store: Store, entry: TaskEntry): void {
  dropWaits(store, entry);
  entry.ownRun().attendedBy = undefined;
}

const FREE: Situation = { isBlocked: false, isJoin: false, isCanceling: false };

/** The event of each decision. */
const EVENTS: Readonly<Record<Settlement['decision']['type'], TaskEvent>> = {
  finish: 'finished',
  retry: 'retried',
  'dead-letter': 'deadLettered',
  cancel: 'canceled',
  suspend: 'suspended',
  release: 'released',
};

function paceOf(decision: Settlement['decision']): Pace {
  return 'delayMs' in decision && (decision.delayMs ?? 0) > 0 ? 'later' : 'now';
}

function answerOf({ state }: TaskEntry): SettleAnswer {
  return state === 'finished' ? FINISHED : { kind: 'ok', state, repeated: false };
}

const NOT_FOUND: SettleAnswer = { kind: 'notFound' };
const LEASE_LOST: SettleAnswer = { kind: 'leaseLost' };
const FINISHED: SettleAnswer = { kind: 'ok', state: 'finished', repeated: false };

function apply(store: Store, entry: TaskEntry, decision: Decision, next: TaskState): void {
  switch (decision.type) {
    case 'finish':
      count(store, entry, 'succeeded');
      if (entry.optional.attempts !== undefined) keep(store, entry, decision);
      end(store, entry, { event: 'finished', result: decision.result });
      break;
    case 'retry':
      count(store, entry, 'failed');
      keep(store, entry, decision);
      entry.own().failures++;
      entry.own().error = decision.error;
      store.failures.count(entry, decision.cause, store.now);
      entry.owner.queue.totals.retried++;
      comeBack(store, entry, next, decision.delayMs);
      break;
    case 'dead-letter': {
      const { cause, error } = decision;
      count(store, entry, 'failed');
      keep(store, entry, decision);
      entry.own().failures++;
      end(store, entry, { event: 'deadLettered', cause, error });
      break;
    }
    case 'cancel':
      keep(store, entry, decision);
      end(store, entry, { event: 'canceled', cause: decision.cause });
      break;
    case 'release':
      keep(store, entry, decision);
      // A waiting task has finished its turn.
      if (entry.state === 'started') giveBack(store, entry);
      if (decision.delayMs !== undefined) entry.own().releases++;
      // A woken task keeps its place in line until it leaves.
      leave(store, entry);
      if (decision.delayMs !== undefined) entry.seq = 0;
      goBack(store, entry, next, decision.delayMs);
      break;
  }
}

/** From `started` back to the line, or to the scheduled tasks until the delay has passed. */
export function comeBack(store: Store, entry: TaskEntry, next: TaskState, delayMs = 0): void {
  leave(store, entry);
  goBack(store, entry, next, delayMs);
}

function goBack(store: Store, entry: TaskEntry, next: TaskState, delayMs = 0): void {
  if (next === 'scheduled') enterScheduled(store, entry, store.now + delayMs);
  else enterQueue(store, entry);
  reindex(store, entry.owner);
}

/** Counts an attempt of the worker that has settled it. */
function count(store: Store, { grant }: TaskEntry, outcome: 'succeeded' | 'failed'): void {
  const worker = grant === undefined ? undefined : store.workers.get(grant.worker);
  if (worker !== undefined) worker.attempts[outcome]++;
}

function keep(store: Store, entry: TaskEntry, decision: Decision): void {
  recordAttempt(entry, attemptOf(store, entry, decision));
}

const OUTCOMES: Readonly<Record<Decision['type'], AttemptRecord['outcome']>> = {
  finish: 'succeeded',
  retry: 'failed',
  'dead-letter': 'failed',
  cancel: 'canceled',
  release: 'released',
};

function attemptOf(store: Store, entry: TaskEntry, decision: Decision): AttemptRecord {
  return {
    attempt: entry.optional.failures + 1,
    worker: entry.grant?.worker ?? '',
    leasedAt: entry.grant?.leasedAt ?? 0,
    endedAt: store.now,
    outcome: OUTCOMES[decision.type],
    decision: decision.type,
    ...('cause' in decision ? { cause: decision.cause } : {}),
    ...('error' in decision ? { error: decision.error } : {}),
  };
}
