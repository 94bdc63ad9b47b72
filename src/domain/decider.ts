import { assertNever } from '../base/never.ts';
import type { Decision } from './backend.ts';
import { LIMITS } from './limits.ts';
import { backoffMs, type RetryPolicy } from './retry-policy.ts';
import type { FailureType } from './task.ts';

/** What a handler did with its attempt. `error` is JSON text: see `TaskError`. */
export type Outcome =
  | { readonly type: 'succeeded'; readonly result: string }
  | {
      readonly type: 'failed';
      readonly failureType: FailureType;
      /** False: no retry will help. */
      readonly retryable: boolean;
      readonly error: string;
      /** The handler named its own wait, in ms. */
      readonly afterMs?: number;
    }
  | { readonly type: 'canceled'; readonly reason: string }
  /** Given back: by a shutdown (no `afterMs`), or by the handler's own wish. */
  | {
      readonly type: 'released';
      readonly reason: string;
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

/** A pure function from an outcome to what becomes of the task. */
export type Decider = (outcome: Outcome, facts: DeciderFacts) => Decision;

/** The decider that holds unless a task or worker names its own. */
export function decide(outcome: Outcome, facts: DeciderFacts): Decision {
  switch (outcome.type) {
    case 'succeeded':
      return { type: 'finish', result: outcome.result };
    case 'canceled':
      return { type: 'cancel', reason: outcome.reason };
    case 'released':
      return released(outcome, facts);
    case 'failed':
      return failed(outcome, facts);
    default:
      return assertNever(outcome);
  }
}

function released(
  { reason, afterMs, error = '' }: Outcome & { readonly type: 'released' },
  facts: DeciderFacts,
): Decision {
  if (afterMs === undefined) return { type: 'release', reason };
  if (facts.releases >= LIMITS.releases) {
    return failed({ type: 'failed', failureType: 'error', retryable: true, error }, facts);
  }
  return { type: 'release', delayMs: Math.max(afterMs, LIMITS.releaseMinMs), reason };
}

function failed(outcome: Outcome & { readonly type: 'failed' }, facts: DeciderFacts): Decision {
  const { failureType, error } = outcome;
  if (!outcome.retryable) {
    return { type: 'dead-letter', failureType, reason: 'not retryable', error };
  }
  if (facts.attempt > facts.policy.retries) {
    const reason = `failed ${facts.attempt} of ${facts.policy.retries + 1} attempts`;
    return { type: 'dead-letter', failureType, reason, error };
  }
  const delayMs = outcome.afterMs ?? backoffMs(facts.policy, facts.attempt, facts.random);
  return { type: 'retry', delayMs, reason: `attempt ${facts.attempt} failed`, error };
}
