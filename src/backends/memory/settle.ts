import type { Decision, SettleAnswer, Settlement } from '../../domain/backend.ts';
import type { AttemptRecord } from '../../domain/task.ts';
import { end, recordAttempt } from './end.ts';
import type { TaskEntry } from './entities.ts';
import { enterQueue, enterScheduled, leave } from './places.ts';
import { giveBack, reindex } from './ready-index.ts';
import type { Store } from './store.ts';

/** Applies one decision, if the lease that it speaks for is still in force. */
export function settleOne(store: Store, { id, token, decision }: Settlement): SettleAnswer {
  const entry = store.records.get(id);
  if (entry === undefined) return { kind: 'notFound' };
  if (entry.settledToken === token) return { kind: 'ok', state: entry.state, repeated: true };
  if (entry.state !== 'started' || entry.token !== token) return { kind: 'leaseLost' };
  const wanted: Decision =
    entry.cancelReason === undefined ? decision : { type: 'cancel', reason: entry.cancelReason };
  apply(store, entry, wanted);
  entry.settledToken = token;
  return { kind: 'ok', state: entry.state, repeated: false };
}

function apply(store: Store, entry: TaskEntry, decision: Decision): void {
  switch (decision.type) {
    case 'finish':
      if (entry.attempts !== undefined) keep(store, entry, decision);
      end(store, entry, { state: 'finished', result: decision.result });
      break;
    case 'retry':
      keep(store, entry, decision);
      entry.failures++;
      entry.error = decision.error;
      store.totals.retried++;
      comeBack(store, entry, decision.delayMs);
      break;
    case 'dead-letter': {
      const { failureType, reason, error } = decision;
      keep(store, entry, decision);
      entry.failures++;
      end(store, entry, { state: 'failed', failureType, reason, error });
      break;
    }
    case 'cancel':
      keep(store, entry, decision);
      end(store, entry, { state: 'canceled', reason: decision.reason });
      break;
    case 'release':
      keep(store, entry, decision);
      giveBack(store, entry);
      if (decision.delayMs !== undefined) {
        entry.releases++;
        entry.seq = 0;
      }
      comeBack(store, entry, decision.delayMs ?? 0);
      break;
  }
}

/** From `started` back to the line, or to the waiting room until the delay is over. */
export function comeBack(store: Store, entry: TaskEntry, delayMs: number): void {
  leave(store, entry);
  entry.token = undefined;
  entry.leaseUntil = undefined;
  if (delayMs > 0) enterScheduled(store, entry, store.now + delayMs);
  else enterQueue(store, entry);
  reindex(store, entry.owner);
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
    attempt: entry.failures + 1,
    worker: entry.worker ?? '',
    leasedAt: entry.leasedAt ?? 0,
    endedAt: store.now,
    outcome: OUTCOMES[decision.type],
    decision: decision.type,
    ...('reason' in decision ? { reason: decision.reason } : {}),
    ...('error' in decision ? { error: decision.error } : {}),
  };
}
