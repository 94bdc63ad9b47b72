/** The end of the pipe: leases until they are settled, and the decisions that settle them. */
import { type Attempt, NOWHERE } from '../attempt/attempt.ts';
import { LeaseLostError, TaskCanceledError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { LeaseRef, SettleAnswer, Settlement } from '../domain/port/backend.ts';
import { writeBytes } from '../domain/task/channel.ts';
import { isEnd } from '../domain/task/task.ts';
import { xcomBytes } from '../domain/task/xcom.ts';
import type { Line } from './line.ts';
import { reportLost, reportSettled } from './report.ts';
import type { SuspendedHandlers } from './suspended-handlers.ts';

/** A settlement, and the attempt that came to it; without one it gives a lease back. */
export interface PendingSettlement {
  readonly settlement: Settlement;
  readonly attempt: Attempt | undefined;
}

/** Worst case of UTF-8: bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

const NOTHING: readonly PendingSettlement[] = [];

/** Attempts whose leases are not settled yet. */
export class LeasedAttempts {
  /**
   * Each at its `place`. No map: tables that are rehashed under way refer to each other, so a
   * collection of the young would keep what they held.
   */
  readonly #attempts: Attempt[] = [];

  get count(): number {
    return this.#attempts.length;
  }

  all(): readonly Attempt[] {
    return [...this.#attempts];
  }

  /** Whether the lease that another part names is held. */
  has({ id, token }: LeaseRef): boolean {
    return this.#attempts.some(({ lease }) => lease.id === id && lease.token === token);
  }

  add(attempt: Attempt): void {
    attempt.place = this.#attempts.length;
    this.#attempts.push(attempt);
  }

  /** The attempt's lease is not held any more; false when it was not before. */
  drop(attempt: Attempt): boolean {
    const { place } = attempt;
    if (place === NOWHERE) return false;
    const last = this.#attempts.pop();
    if (last !== undefined && last !== attempt) {
      this.#attempts[place] = last;
      last.place = place;
    }
    attempt.place = NOWHERE;
    return true;
  }

  /** One whose handler has waited goes on under a fresh lease, in place of the attempt that has it. */
  standIn(attempt: Attempt, fresh: Attempt): void {
    // The reply that says that it waits may be lost still.
    this.drop(attempt);
    this.#attempts[fresh.place] = attempt;
    attempt.place = fresh.place;
    fresh.place = NOWHERE;
  }
}

/** Decisions on their way to the backend, which the next call of the lease loop takes along. */
export class Settlements {
  readonly leased: LeasedAttempts = new LeasedAttempts();
  readonly #line: Line;
  readonly #suspended: SuspendedHandlers;
  /** Decided, and not sent yet. */
  #pending: PendingSettlement[] = [];

  constructor(line: Line, suspended: SuspendedHandlers) {
    this.#line = line;
    this.#suspended = suspended;
  }

  get count(): number {
    return this.#pending.length;
  }

  /** Settles with the others of this tick. */
  settle(
    { id, token }: LeaseRef,
    decision: Settlement['decision'],
    attempt: Attempt | undefined,
  ): void {
    const settlement = { id, token, decision };
    const writes = attempt?.writes;
    this.#pending.push({
      settlement: writes === undefined ? settlement : { ...settlement, ...writes },
      attempt,
    });
    this.#line.notify();
  }

  /** Leases that the backend knows of and this worker does not: they go back. */
  giveBack(refs: readonly LeaseRef[]): void {
    const decision = { type: 'release', cause: { type: 'given-up' } } as const;
    for (const ref of refs) if (!this.leased.has(ref)) this.settle(ref, decision, undefined);
  }

  /** One that could not be sent. */
  putBack(pending: PendingSettlement): void {
    this.#pending.push(pending);
  }

  /** The oldest settlements, as many as one call carries. */
  take(most: number): readonly PendingSettlement[] {
    const { length } = this.#pending;
    if (length === 0) return NOTHING;
    let bytes = 0;
    let count = 0;
    let writes = 0;
    for (; count < length && count < most; count++) {
      const { decision, channel, xcom } = this.#pending[count]?.settlement ?? {};
      bytes += decision?.type === 'finish' ? decision.result.length * MAX_BYTES_PER_UNIT : 0;
      if (channel !== undefined) {
        writes += channel.writes.length;
        bytes += channel.writes.reduce((sum, write) => sum + writeBytes(write), 0);
      }
      if (xcom !== undefined) {
        writes += xcom.length;
        bytes += xcom.reduce((sum, write) => sum + xcomBytes(write), 0);
      }
      const isFull = bytes > LIMITS.scriptBytes || writes > LIMITS.channelWrites;
      if (isFull && count > 0) break;
    }
    if (count < length) return this.#pending.splice(0, count);
    const all = this.#pending;
    this.#pending = [];
    return all;
  }

  /** What the backend made of it. One whose writes were refused is still leased: it settles as something else. */
  answered({ attempt, settlement }: PendingSettlement, answer: SettleAnswer): void {
    if (answer.kind === 'refused') {
      attempt?.failOnRefusedWrites(answer.refusal);
      return;
    }
    // One that has ended while it waited settles once more, by the lease that it waits under or the next.
    if (attempt === undefined || settlement.token !== attempt.lease.token) return;
    if (settlement.decision.type === 'suspend' && attempt.hasEnded) return;
    if (!this.leased.drop(attempt)) return;
    const { events, core } = this.#line;
    if (attempt.hasEnded && answer.kind === 'ok') this.#suspended.forget(attempt);
    if (answer.kind !== 'ok') {
      if (!attempt.hasEnded)
        this.#suspended.leave(attempt.taskId, new LeaseLostError(attempt.taskId));
      reportLost(this.#line, attempt);
      return;
    }
    if (attempt.hasGroups && isEnd(answer.state)) attempt.giveUpGroups();
    if (answer.state === 'canceled') {
      const { taskId } = attempt;
      this.#suspended.leave(taskId, new TaskCanceledError(taskId, { type: 'request' }));
    }
    // Most tasks finish and need no report.
    const { decision } = settlement;
    const isUsual = decision.type === 'finish' && answer.state === 'finished';
    if (isUsual && !events.has('task.finished')) {
      core.series?.settled(attempt.lease, 'finished', attempt.ranMs);
      return;
    }
    reportSettled(this.#line, attempt, decision, answer);
  }
}
