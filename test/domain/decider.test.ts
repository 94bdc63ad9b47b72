import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DeciderFacts, decide, type Outcome } from '../../src/domain/attempt/decider.ts';
import { LIMITS } from '../../src/domain/limits.ts';
import type { Cause } from '../../src/domain/task/cause.ts';

const ERROR = JSON.stringify({ name: 'Error', message: 'no' });
const FAILED: Outcome = { type: 'failed', failureType: 'error', retryable: true, error: ERROR };
const ASKED: Cause = { type: 'request', reason: 'asked' };
const LATER: Cause = { type: 'retry-after', reason: 'later' };

function facts(more: Partial<DeciderFacts> = {}): DeciderFacts {
  return {
    id: 'a',
    name: 'work',
    user: 'u',
    attempt: 1,
    releases: 0,
    policy: { retries: 3, kind: 'fixed', baseMs: 10, maxMs: 1_000, jitter: 'none' },
    random: 0,
    ...more,
  };
}

/** Starts that count until the task is a dead letter. */
function starts(retries: number, outcome: (attempt: number) => Outcome): number {
  const policy = { ...facts().policy, retries };
  for (let attempt = 1; ; attempt++) {
    const decision = decide(outcome(attempt), facts({ attempt, policy }));
    if (decision.type === 'dead-letter') return attempt;
    expect(decision.type).toBe('retry');
  }
}

describe('decide', () => {
  // O70
  it('N retries make exactly N + 1 counted starts', () => {
    for (const retries of [0, 1, 2, 3, 10, 1_000]) {
      expect([retries, starts(retries, () => FAILED)]).toEqual([retries, retries + 1]);
    }
  });

  // O70
  it('also when each attempt failed of something else', () => {
    const kinds = fc.array(fc.constantFrom('error' as const, 'timeout' as const), {
      minLength: 12,
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), kinds, (retries, failureTypes) => {
        const outcome = (attempt: number): Outcome => ({
          ...FAILED,
          failureType: failureTypes[attempt - 1] ?? 'error',
          ...(attempt % 2 === 0 ? { afterMs: 5 } : {}),
        });
        expect(starts(retries, outcome)).toBe(retries + 1);
      }),
    );
  });

  it('finishes with the result', () => {
    expect(decide({ type: 'succeeded', result: '42' }, facts())).toEqual({
      type: 'finish',
      result: '42',
    });
  });

  // F13
  it('cancels with the cause', () => {
    expect(decide({ type: 'canceled', cause: ASKED }, facts())).toEqual({
      type: 'cancel',
      cause: ASKED,
    });
  });

  it('makes a dead letter at once of what no retry can help', () => {
    const decision = decide({ ...FAILED, retryable: false } as Outcome, facts());
    expect(decision).toEqual({
      type: 'dead-letter',
      cause: { type: 'fatal', failure: 'error' },
      error: ERROR,
    });
  });

  it('keeps the type of the failure and the newest error', () => {
    const timeout: Outcome = { ...FAILED, failureType: 'timeout' } as Outcome;
    const decision = decide(timeout, facts({ attempt: 4 }));
    const cause = { type: 'attempts', failure: 'timeout', made: 4, of: 4 };
    expect(decision).toEqual({ type: 'dead-letter', cause, error: ERROR });
  });

  it('waits as long as the handler asked', () => {
    const decision = decide({ ...FAILED, afterMs: 77 } as Outcome, facts());
    expect(decision).toMatchObject({ type: 'retry', delayMs: 77 });
  });

  it('releases to the old place without a wait', () => {
    const decision = decide(
      { type: 'released', cause: { type: 'shutdown' } },
      facts({ releases: 5_000 }),
    );
    expect(decision).toEqual({ type: 'release', cause: { type: 'shutdown' } });
  });

  it('lets no handler that always gives its task back spin', () => {
    const decision = decide({ type: 'released', cause: LATER, afterMs: 0 }, facts());
    expect(decision).toMatchObject({ type: 'release', delayMs: LIMITS.releaseMinMs });
  });

  it('counts a release as a failed attempt once there were too many', () => {
    const outcome: Outcome = { type: 'released', cause: LATER, afterMs: 500 };
    const last = decide(outcome, facts({ releases: LIMITS.releases - 1 }));
    expect(last.type).toBe('release');
    const over = decide(outcome, facts({ releases: LIMITS.releases }));
    expect(over.type).toBe('retry');
    const ended = decide(outcome, facts({ releases: LIMITS.releases, attempt: 4 }));
    expect(ended.type).toBe('dead-letter');
  });
});
