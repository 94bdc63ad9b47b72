/** Turns outcomes of handler calls into decisions, with any decider. */

import { atRoot, callUserCode } from '../base/async-scope.ts';
import { messageOf } from '../base/message-of.ts';
import { errorSaying } from '../base/thrown.ts';
import { errorText } from '../codec/task-error.ts';
import {
  type DeciderFacts,
  decide,
  type Outcome,
  type WordedDecision,
} from '../domain/attempt/decider.ts';
import { isOwn, type TaskCanceledError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Decision, Leased } from '../domain/port/backend.ts';
import {
  type Cause,
  causeText,
  type FailureType,
  type UpstreamCause,
} from '../domain/task/cause.ts';
import { shownTask } from '../domain/task/node-name.ts';
import { type AttemptPlan, functionWaitMs } from './attempt-plan.ts';
import { fingerprinted } from './fingerprint.ts';
import type { Failure } from './handler-call.ts';

/** A failure of the engine's own code: a missing graph may be stored later, other errors are final. */
export function ownFailure(error: unknown): Failure {
  const retryable = isOwn(error) && error.retryable;
  const isPayload = isOwn(error, 'INVALID_PAYLOAD');
  return { error, failureType: isPayload ? 'invalid-payload' : 'error', retryable };
}

/** Deciders and the reports of their errors. */
interface DecisionHost {
  readonly random: () => number;
  reportUserError(operation: string, error: unknown): void;
}

/** An attempt to decide on. */
interface Decided {
  readonly lease: Leased;
  readonly plan: AttemptPlan;
}

/** The decision of the task's decider, or the default one if that is invalid. */
export function decisionOn(outcome: Outcome, attempt: Decided, host: DecisionHost): Decision {
  return fingerprinted(decided(outcome, attempt, host), attempt.lease.name);
}

function decided(
  outcome: Outcome,
  { lease, plan: { decider, policy } }: Decided,
  host: DecisionHost,
): Decision {
  const { id, name, user, attempt, releases } = lease;
  const facts: DeciderFacts = { id, name, user, attempt, releases, policy, random: host.random() };
  if (decider === decide) return decide(outcome, facts);
  try {
    const given = atRoot(() => callUserCode(decider, outcome, facts));
    return checkedDecision(given, outcome) ?? decide(outcome, facts);
  } catch (error) {
    host.reportUserError(`decider of ${shownTask(name)}`, error);
    return decide(outcome, facts);
  }
}

/** The delay before the next attempt by a function of its definition; `undefined` without one. */
export function ownWaitMs(
  of: { readonly plan: AttemptPlan; readonly attempt: number; readonly name: string },
  host: { reportUserError(operation: string, error: unknown): void },
): number | undefined {
  try {
    return atRoot(() => functionWaitMs(of.plan, of.attempt));
  } catch (error) {
    host.reportUserError(`backoff of ${shownTask(of.name)}`, error);
    return undefined;
  }
}

/** The outcome of a failed call. */
export function failedOutcome(failure: Failure, afterMs: number | undefined): Outcome {
  const { error, failureType, retryable } = failure;
  const outcome = { type: 'failed', failureType, retryable, error: errorText(error) } as const;
  return afterMs === undefined ? outcome : { ...outcome, afterMs };
}

/** The outcome of a call that asked for an uncounted repetition; `undefined` for any other. */
export function releasedOutcome({ error, afterMs, uncounted }: Failure): Outcome | undefined {
  if (uncounted !== true || afterMs === undefined) return undefined;
  const cause: Cause = { type: 'retry-after', reason: messageOf(error) };
  return { type: 'released', cause, afterMs, error: errorText(error) };
}

/** The outcome of an aborted call, by the reason of its signal. */
export function canceledOutcome(reason: unknown): Outcome {
  const isCanceled = isOwn<TaskCanceledError>(reason, 'TASK_CANCELED');
  const cause: Cause = isCanceled ? reason.why : { type: 'request' };
  return { type: 'canceled', cause };
}

/** A task that ends because a dependency has, without an attempt of its own. */
export function followDecision(cause: UpstreamCause): Decision {
  if (cause.state !== 'failed') return { type: 'cancel', cause };
  return { type: 'dead-letter', cause, error: errorText(errorSaying(causeText(cause))) };
}

/** The decision for a task without code here: another worker may have it. */
export function unknownNameDecision(names: readonly string[], { name }: Leased): Decision {
  const cause: Cause = { type: 'unknown-here', task: name, known: knownNames(names) };
  return { type: 'release', delayMs: UNKNOWN_NAME_MS, cause };
}

/** The names that a worker has code for, for an attempt's record: without the engine's own, cut. */
export function knownNames(names: readonly string[]): readonly string[] {
  return names.filter((one) => !one.startsWith('~')).slice(0, KNOWN_NAMES);
}

/** How long such a task is released, in ms. */
const UNKNOWN_NAME_MS = 1_000;

/** Largest number of names in an attempt's record: a worker may know hundreds. */
const KNOWN_NAMES = 20;

const DECISIONS: readonly unknown[] = ['finish', 'retry', 'dead-letter', 'cancel', 'release'];

/** Causes of the default decider, which a decider of the user may pass on. */
const PASSED_ON: readonly unknown[] = [
  'attempts',
  'fatal',
  'request',
  'schedule',
  'group-ended',
  'retry-after',
  'shutdown',
  'unread',
] satisfies readonly Cause['type'][];

const FAILURES: readonly FailureType[] = [
  'error',
  'timeout',
  'lost',
  'expired',
  'unknown-task',
  'invalid-payload',
  'invalid-result',
  'upstream',
];

/** Checks the result of a user's decider: limits delays, and refuses invalid values. */
export function checkedDecision(
  given: Decision | WordedDecision,
  outcome: Outcome,
): Decision | undefined {
  if (!DECISIONS.includes(given?.type)) return undefined;
  if (given.type === 'finish') return typeof given.result === 'string' ? given : undefined;
  const cause = causeIn(given, outcome);
  if (given.type === 'cancel') return { type: 'cancel', cause };
  if (given.type === 'dead-letter') return { type: 'dead-letter', cause, error: given.error };
  if (given.type === 'release' && given.delayMs === undefined) return { type: 'release', cause };
  const { delayMs = Number.NaN } = given;
  if (!Number.isFinite(delayMs)) return undefined;
  const least = given.type === 'release' ? LIMITS.releaseMinMs : 0;
  const ms = Math.min(Math.max(least, Math.round(delayMs)), LIMITS.delayMaxMs);
  return given.type === 'release'
    ? { type: 'release', delayMs: ms, cause }
    : { type: 'retry', delayMs: ms, cause, error: given.error };
}

/** The cause that was passed on, or one with the decider's reason. */
function causeIn(
  given: Exclude<Decision | WordedDecision, { readonly type: 'finish' }>,
  outcome: Outcome,
): Cause {
  if ('cause' in given && PASSED_ON.includes(given.cause?.type)) return given.cause;
  const reason = 'reason' in given && typeof given.reason === 'string' ? given.reason : '';
  if (given.type !== 'dead-letter') return { type: 'decider', reason };
  const failureType = 'failureType' in given ? given.failureType : undefined;
  const failure = FAILURES.find((known) => known === failureType) ?? 'error';
  const where = 'node' in outcome ? { node: outcome.node } : {};
  return { type: 'decider', reason, failure, ...where };
}
