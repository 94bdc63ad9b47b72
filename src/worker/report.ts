import type { Attempt } from '../attempt/attempt.ts';
import type { Logger } from '../base/logger.ts';
import { errorOf, type TaskError } from '../codec/task-error.ts';
import type { Core } from '../core/core.ts';
import type { Decision, SettleAnswer, Suspension } from '../domain/port/backend.ts';
import type { SeriesCount } from '../domain/series/series-row.ts';
import { type Cause, failedNodeOf, failureTypeOf } from '../domain/task/cause.ts';
import { nameIn } from '../domain/task/task-name.ts';
import type { Emitter } from '../events/emitter.ts';
import type { AttemptFacts, WorkerEvents } from '../events/worker-events.ts';
import { type FailureLog, logFailure } from '../logging/failure-lines.ts';
import { type Failed, type LogEvents, say } from '../logging/log-events.ts';

/** The common fields of an attempt's events. */
function factsOf({ lease }: Attempt): AttemptFacts {
  const { id, name, user, queue, attempt } = lease;
  return { taskId: id, name: nameIn(name), user, queue, attempt };
}

/** The event of a handler's start. */
export function startOf(attempt: Attempt): WorkerEvents['task.started'] {
  const { leasedAt, createdAt, releasedMs } = attempt.lease;
  const facts = { ...factsOf(attempt), waitMs: leasedAt - createdAt };
  return releasedMs === undefined ? facts : { ...facts, releasedMs };
}

/** Reports a blocked event loop: handlers that compute should run in threads. */
export function reportBlocked(
  log: Logger,
  events: Emitter<WorkerEvents>,
  { ms, taskIds }: WorkerEvents['worker.blocked'],
): void {
  const hint = taskIds.length === 0 ? '' : '; use threadTask for handlers that compute';
  const seconds = (ms / 1_000).toFixed(1);
  const message = `the event loop was blocked ${seconds} s${hint}`;
  say(log, 'worker.blocked', message, { ms, taskIds });
  events.emit('worker.blocked', { ms, taskIds });
}

/** Reports a failed call of the backend, or of a user's decider or backoff function. */
export function reportFailedCall(log: Logger, failure: LogEvents['worker.call-failed']): void {
  const { worker, operation } = failure;
  say(log, 'worker.call-failed', `worker ${worker}: ${operation} failed`, failure);
}

/** Receivers of the outcomes of attempts. */
export interface AttemptListeners {
  readonly core: FailureLog & Pick<Core, 'series'>;
  readonly events: Emitter<WorkerEvents>;
}

/** Reports that the lease ended before it was settled. */
export function reportLost({ core, events }: AttemptListeners, attempt: Attempt): void {
  core.series?.lost(attempt.lease);
  events.emit('lease.lost', factsOf(attempt));
}

/** Reports the outcome of a decision, as the backend applied it: a cancel may have been first. */
export function reportSettled(
  { core, events }: AttemptListeners,
  attempt: Attempt,
  decision: Decision | Suspension,
  answer: SettleAnswer & { readonly kind: 'ok' },
): void {
  const name = eventOf(decision, answer);
  if (name === 'task.failed' || name === 'task.retried') {
    const event = name === 'task.failed' ? name : 'attempt.failed';
    logFailure(core, event, failedOf(attempt, decision), errorIn(decision));
  }
  const outcome = name === undefined ? undefined : COUNTED[name];
  if (outcome !== undefined) core.series?.settled(attempt.lease, outcome, attempt.ranMs);
  if (name === undefined || !events.has(name)) return;
  const facts = { ...factsOf(attempt), ms: attempt.ranMs };
  const cause: Cause = 'cause' in decision ? decision.cause : { type: 'request' };
  if (name === 'task.finished') events.emit(name, facts);
  else if (name === 'task.canceled' || name === 'task.released') {
    events.emit(name, { ...facts, cause });
  } else if (name === 'task.failed') {
    const failureType = failureTypeOf(cause) ?? 'error';
    events.emit(name, { ...facts, cause, failureType, error: errorIn(decision) });
  } else {
    const delayMs = decision.type === 'retry' ? decision.delayMs : 0;
    events.emit(name, { ...facts, cause, delayMs, error: errorIn(decision) });
  }
}

/** A run is reported under the name of its pipeline, with the node that failed. */
function failedOf({ lease, run }: Attempt, decision: Decision | Suspension): Failed {
  const { id: task, name, user, attempt } = lease;
  const node = failedNodeOf('cause' in decision ? decision.cause : undefined) ?? run?.node;
  return { task, name: run?.name ?? nameIn(name), user, attempt, run: run?.id, node };
}

type SettledEvent =
  | 'task.finished'
  | 'task.failed'
  | 'task.retried'
  | 'task.canceled'
  | 'task.released';

/** The counter of each event in the series; a release has none. */
const COUNTED: Readonly<Partial<Record<SettledEvent, SeriesCount>>> = {
  'task.finished': 'finished',
  'task.failed': 'failed',
  'task.retried': 'retried',
  'task.canceled': 'canceled',
};

/** A run that waits has not ended: it has no event. */
function eventOf(
  decision: Decision | Suspension,
  { state }: { readonly state: string },
): SettledEvent | undefined {
  if (state === 'canceled') return 'task.canceled';
  switch (decision.type) {
    case 'finish':
      return 'task.finished';
    case 'retry':
      return 'task.retried';
    case 'dead-letter':
      return 'task.failed';
    case 'cancel':
      return 'task.canceled';
    case 'release':
      return 'task.released';
    case 'suspend':
      return undefined;
  }
}

function errorIn(decision: Decision | Suspension): TaskError {
  const text = 'error' in decision ? decision.error : undefined;
  return errorOf(text) ?? { name: 'Error', message: '' };
}
