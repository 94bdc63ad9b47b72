import { assertNever } from '../../base/never.ts';
import { LIMITS } from '../limits.ts';
import type { Decision } from '../port/backend.ts';
import type { Cause, FailureType } from '../task/cause.ts';
import { backoffMs, type RetryPolicy } from './retry-policy.ts';

/** Outcome of a handler's attempt. `error` is JSON text: see `TaskError`. */
export type Outcome =
  /** With the result as JSON text. */
  | { readonly type: 'succeeded'; readonly result: string }
  | {
      readonly type: 'failed';
      /** Kind of failure, for the retry policy. */
      readonly failureType: FailureType;
      /** Driven run: the node that failed. */
      readonly node?: string;
      /** Driven run: the failed task, if that node is a group of tasks. */
      readonly task?: string;
      /** False: no retry will help. */
      readonly retryable: boolean;
      /** JSON text of the thrown error. */
      readonly error: string;
      /** Delay before the retry that the handler asked for, in ms. */
      readonly afterMs?: number;
    }
  /** Stopped by a cancel, with its cause. */
  | { readonly type: 'canceled'; readonly cause: Cause }
  /** Released: by a shutdown (no `afterMs`), or by the handler. */
  | {
      readonly type: 'released';
      /** Cause of the release. */
      readonly cause: Cause;
      /** Delay before the next start, in ms; absent: it keeps its place in line. */
      readonly afterMs?: number;
      /** JSON text of its error if it has been released too often. */
      readonly error?: string;
    };

/** Input of a decider. The worker draws `random` in [0, 1), so deciders stay pure. */
export interface DeciderFacts {
  /** Id of the task. */
  readonly id: string;
  /** Name of the task. */
  readonly name: string;
  /** User of the task. */
  readonly user: string;
  /** Number of the attempt that has just ended, from 1. */
  readonly attempt: number;
  /** Number of releases before. */
  readonly releases: number;
  /** The task's retry policy. */
  readonly policy: RetryPolicy;
  /** In [0, 1), for jitter. */
  readonly random: number;
}

/** A decision of a custom decider; its reason is stored as `{ type: 'decider', reason }`. */
export type WordedDecision =
  | {
      readonly type: 'retry';
      /** Delay from now, in ms. */
      readonly delayMs: number;
      /** Text for people. */
      readonly reason: string;
      /** JSON text of the task's error, as in the outcome. */
      readonly error: string;
    }
  | {
      readonly type: 'dead-letter';
      /** Kind of failure. */
      readonly failureType: FailureType;
      /** Text for people. */
      readonly reason: string;
      /** JSON text of the task's error, as in the outcome. */
      readonly error: string;
    }
  /** With a text for people. */
  | { readonly type: 'cancel'; readonly reason: string }
  | {
      readonly type: 'release';
      /** Delay from now, in ms; absent: at once, at its old place in line. */
      readonly delayMs?: number;
      /** Text for people. */
      readonly reason: string;
    };

/**
 * A pure function from an outcome to a decision about the task: that of {@link decide}, or its own
 * with a reason as text.
 */
export type Decider = (outcome: Outcome, facts: DeciderFacts) => Decision | WordedDecision;

/** The default decider. */
export function decide(outcome: Outcome, facts: DeciderFacts): Decision {
  switch (outcome.type) {
    case 'succeeded':
      return { type: 'finish', result: outcome.result };
    case 'canceled':
      return { type: 'cancel', cause: outcome.cause };
    case 'released':
      return released(outcome, facts);
    case 'failed':
      return failed(outcome, facts);
    default:
      return assertNever(outcome);
  }
}

function released(
  { cause, afterMs, error = '' }: Outcome & { readonly type: 'released' },
  facts: DeciderFacts,
): Decision {
  if (afterMs === undefined) return { type: 'release', cause };
  if (facts.releases >= LIMITS.releases) {
    return failed({ type: 'failed', failureType: 'error', retryable: true, error }, facts);
  }
  return { type: 'release', delayMs: Math.max(afterMs, LIMITS.releaseMinMs), cause };
}

function failed(outcome: Outcome & { readonly type: 'failed' }, facts: DeciderFacts): Decision {
  const { failureType: failure, error } = outcome;
  const { node, task } = outcome;
  const where = {
    ...(node === undefined ? {} : { node }),
    ...(task === undefined ? {} : { task }),
  };
  if (!outcome.retryable) {
    return { type: 'dead-letter', cause: { type: 'fatal', failure, ...where }, error };
  }
  const of = facts.policy.retries + 1;
  const cause: Cause = { type: 'attempts', failure, made: facts.attempt, of, ...where };
  if (facts.attempt >= of) return { type: 'dead-letter', cause, error };
  const delayMs = outcome.afterMs ?? backoffMs(facts.policy, facts.attempt, facts.random);
  return { type: 'retry', delayMs, cause, error };
}
