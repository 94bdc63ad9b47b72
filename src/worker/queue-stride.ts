import type { Leased, QueueShare } from '../domain/port/backend.ts';

/**
 * Stride scheduling between the queues of one worker: each has a pass that grows by 1/weight with
 * every leased task, and the least pass is served first. An empty queue gains no credit.
 */
export class QueueStride {
  readonly #shares: readonly (Omit<QueueShare, 'pass'> & { pass: number })[];

  constructor(shares: readonly QueueShare[]) {
    this.#shares = shares.map((share) => ({ ...share }));
  }

  /** The shares for a lease request: a copy, which the backend may not change. */
  shares(): readonly QueueShare[] {
    return this.#shares.map((share) => ({ ...share }));
  }

  /** Records the leased tasks. */
  served(leases: readonly Leased[]): void {
    if (leases.length === 0) return;
    const counts = new Map<string, number>();
    for (const { queue } of leases) counts.set(queue, (counts.get(queue) ?? 0) + 1);
    /** The pass of the latest turn: a queue below it had no tasks. */
    let lastTurn = Number.NEGATIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (const share of this.#shares) {
      const count = counts.get(share.queue) ?? 0;
      if (count === 0) continue;
      lastTurn = Math.max(lastTurn, share.pass + (count - 1) / share.weight);
      share.pass += count / share.weight;
      least = Math.min(least, share.pass);
    }
    for (const share of this.#shares) {
      if (!counts.has(share.queue) && share.pass < lastTurn) share.pass = least;
    }
  }
}
