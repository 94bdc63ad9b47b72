/** How calls of handlers become decisions, whoever decides. */
import type { Decision, Leased } from '../domain/backend.ts';
import type { Outcome } from '../domain/decider.ts';
import { isOwn, UnknownTaskError } from '../domain/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Failure } from './handler-call.ts';
import { errorText } from './task-error.ts';

/** The engine's own code threw: a graph that is not there may be there later, the rest stays wrong. */
export function ownFailure(error: unknown): Failure {
  const retryable = isOwn(error) && error.retryable;
  const isPayload = isOwn(error, 'INVALID_PAYLOAD');
  return { error, failureType: isPayload ? 'invalid-payload' : 'error', retryable };
}

/** The outcome of a failed call. */
export function failedOutcome(failure: Failure, afterMs: number | undefined): Outcome {
  const { error, failureType, retryable } = failure;
  const outcome = { type: 'failed', failureType, retryable, error: errorText(error) } as const;
  return afterMs === undefined ? outcome : { ...outcome, afterMs };
}

/** A task was leased whose code is not here: another worker may have it. */
export function strangerDecision(names: readonly string[], { name }: Leased): Decision {
  const known = names.filter((one) => !one.startsWith('~')).join(', ');
  const { message } = new UnknownTaskError(name);
  return { type: 'release', delayMs: STRANGER_MS, reason: `${message} (${known})` };
}

/** How long it is left to other workers, in ms. */
const STRANGER_MS = 1_000;

const DECISIONS: readonly unknown[] = ['finish', 'retry', 'dead-letter', 'cancel', 'release'];

/** A user's decider may answer anything: waits are brought into bounds, nonsense is refused. */
export function checkedDecision(decision: Decision): Decision | undefined {
  if (!DECISIONS.includes(decision?.type)) return undefined;
  if (decision.type === 'finish') {
    return typeof decision.result === 'string' ? decision : undefined;
  }
  if (decision.type !== 'retry' && decision.type !== 'release') return decision;
  if (decision.delayMs === undefined) return decision.type === 'release' ? decision : undefined;
  if (!Number.isFinite(decision.delayMs)) return undefined;
  const least = decision.type === 'release' ? LIMITS.releaseMinMs : 0;
  const delayMs = Math.min(Math.max(least, Math.round(decision.delayMs)), LIMITS.delayMaxMs);
  return { ...decision, delayMs };
}
