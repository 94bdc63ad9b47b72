import { assertNever } from '../../base/never.ts';
import { LIMITS } from '../limits.ts';
import type { Decision } from '../port/backend.ts';
import type { Cause, FailureType } from '../task/cause.ts';
import { backoffMs, type RetryPolicy } from './retry-policy.ts';

/** What a handler did with its attempt. `error` is JSON text: see `TaskError`. */
export type Outcome =
  /** With the result as JSON text. */
  | { readonly type: 'succeeded'; readonly result: string }
  | {
      readonly type: 'failed';
      /** By which the retry policy of a task may tell failures apart. */
      readonly failureType: FailureType;
      /** Of a driven run: the node at which it failed. */
      readonly node?: string;
      /** Of a driven run: the task that was to blame, where that node is a group of tasks. */
      readonly task?: string;
      /** False: no retry will help. */
      readonly retryable: boolean;
      /** JSON text of what was thrown. */
      readonly error: string;
      /** The handler named its own wait, in ms. */
      readonly afterMs?: number;
    }
  /** Stopped by a cancel, whose cause this is. */
  | { readonly type: 'canceled'; readonly cause: Cause }
  /** Given back: by a shutdown (no `afterMs`), or by the handler's own wish. */
  | {
      readonly type: 'released';
      /** Why it was given back. */
      readonly cause: Cause;
      /** Before the next start, in ms; absent: it keeps its place in line. */
      readonly afterMs?: number;
      /** What it fails with when it has been given back too often. */
      readonly error?: string;
    };

/** What a decider may look at. `random` in [0, 1) is drawn by the worker, so deciders stay pure. */
export interface DeciderFacts {
  /** The task. */
  readonly id: string;
  /** Its name. */
  readonly name: string;
  /** Whose it is. */
  readonly user: string;
  /** Number of the attempt that has just ended, from 1. */
  readonly attempt: number;
  /** How often the handler has given it back before. */
  readonly releases: number;
  /** How often and when to try again. */
  readonly policy: RetryPolicy;
  /** In [0, 1), for jitter. */
  readonly random: number;
}

/** A decision in the words of a decider, which become `{ type: 'decider', reason }`. */
export type WordedDecision =
  | {
      readonly type: 'retry';
      /** From now, in ms. */
      readonly delayMs: number;
      /** Words for people. */
      readonly reason: string;
      /** JSON text of what the task failed with, as in the outcome. */
      readonly error: string;
    }
  | {
      readonly type: 'dead-letter';
      /** In which way it failed. */
      readonly failureType: FailureType;
      /** Words for people. */
      readonly reason: string;
      /** JSON text of what the task failed with, as in the outcome. */
      readonly error: string;
    }
  /** With words for people. */
  | { readonly type: 'cancel'; readonly reason: string }
  | {
      readonly type: 'release';
      /** From now, in ms; absent: at once, to its old place in line. */
      readonly delayMs?: number;
      /** Words for people. */
      readonly reason: string;
    };

/**
 * A pure function from an outcome to what becomes of the task: what {@link decide} says, or a decision
 * of its own with its reason in words.
 */
export type Decider = (outcome: Outcome, facts: DeciderFacts) => Decision | WordedDecision;

/** The decider that holds unless a task or worker names its own. */
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
