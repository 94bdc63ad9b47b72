import type { LeaseTrace, Tally } from './lease-trace.ts';
import { jainIndex, percentile } from './statistics.ts';

/** What one user of the demo got. */
export interface UserSummary {
  /** Its name. */
  readonly user: string;
  /** Its claim on turns. */
  readonly weight: number;
  /** Queued at the end of the measure. */
  readonly waiting: number;
  /** Tasks of it that were started. */
  readonly turns: number;
  /** Part of all turns, 0 to 1. */
  readonly share: number;
  /** The part that its weight entitles it to while it had work. */
  readonly fairShare: number;
  /** Turns ahead of its exact share; behind when negative. */
  readonly deviation: number;
  /** From enqueue to start, in ms: the median, and what 99 of 100 did not exceed. */
  readonly waitMs: { readonly p50: number; readonly p99: number };
}

/** The figures of the demo at some moment. */
export interface Figures {
  /** Tasks that were started. */
  readonly turns: number;
  /** Largest deviation of any backlogged user from its exact weighted share at any moment. */
  readonly maxDeviation: number;
  /** Jain's index over turns divided by fair share. */
  readonly jain: number;
  /** In the order of the cast. */
  readonly users: readonly UserSummary[];
}

/** Waits that a live figure looks at, so that it shows the present and costs little. */
export const RECENT_WAITS = 500;

/** Reads the figures off a trace; `recent` limits how many waits of each user count. */
export function figuresOf(trace: LeaseTrace, recent: number = Number.POSITIVE_INFINITY): Figures {
  const { tallies, turns, deviation } = trace;
  const due = tallies.filter((tally) => tally.due > 0);
  return {
    turns,
    maxDeviation: rounded(deviation.max, 6),
    jain: rounded(jainIndex(due.map((tally) => tally.turns / tally.due)), 6),
    users: tallies.map((tally) => userSummary(tally, trace, recent)),
  };
}

function userSummary(tally: Tally, trace: LeaseTrace, recent: number): UserSummary {
  const { user, weight, queued, turns, due } = tally;
  const waits = Number.isFinite(recent) ? tally.waits.slice(-recent) : tally.waits;
  const all = Math.max(1, trace.turns);
  return {
    user,
    weight,
    waiting: queued,
    turns,
    share: rounded(turns / all, 6),
    fairShare: rounded(due / all, 6),
    deviation: rounded(trace.deviation.of(user), 6),
    waitMs: { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) },
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
