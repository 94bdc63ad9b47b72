/** Leases until they are settled, and the decisions that settle them. */
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

/** A settlement and its attempt; without an attempt it releases a lease. */
export interface PendingSettlement {
  readonly settlement: Settlement;
  readonly attempt: Attempt | undefined;
}

/** Worst case of UTF-8: bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;

const NOTHING: readonly PendingSettlement[] = [];

/** Attempts with unsettled leases. */
export class LeasedAttempts {
  /**
   * Indexed by `place`. Not a map: rehashed tables refer to each other, so a young-generation
   * collection would keep their contents.
   */
  readonly #attempts: Attempt[] = [];

  get count(): number {
    return this.#attempts.length;
  }

  all(): readonly Attempt[] {
    return [...this.#attempts];
  }

  /** Whether this lease is held. */
  has({ id, token }: LeaseRef): boolean {
    return this.#attempts.some(({ lease }) => lease.id === id && lease.token === token);
  }

  add(attempt: Attempt): void {
    attempt.place = this.#attempts.length;
    this.#attempts.push(attempt);
  }

  /** Removes an attempt; false when its lease is not held. */
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

  /** An attempt whose handler waited replaces the one that was made for its new lease. */
  takeOver(attempt: Attempt, fresh: Attempt): void {
    // The reply to its suspension may be lost.
    this.drop(attempt);
    this.#attempts[fresh.place] = attempt;
    attempt.place = fresh.place;
    fresh.place = NOWHERE;
  }
}

/** Decisions to settle, which the next call of the lease loop sends. */
export class Settlements {
  readonly leased: LeasedAttempts = new LeasedAttempts();
  readonly #line: Line;
  readonly #suspended: SuspendedHandlers;
  /** Decisions that are not sent yet. */
  #pending: PendingSettlement[] = [];

  constructor(line: Line, suspended: SuspendedHandlers) {
    this.#line = line;
    this.#suspended = suspended;
  }

  get count(): number {
    return this.#pending.length;
  }

  /** Settles with the other decisions of this tick. */
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

  /** Releases leases that the backend has and this worker does not. */
  giveBack(refs: readonly LeaseRef[]): void {
    const decision = { type: 'release', cause: { type: 'given-up' } } as const;
    for (const ref of refs) if (!this.leased.has(ref)) this.settle(ref, decision, undefined);
  }

  /** Returns a settlement that could not be sent. */
  putBack(pending: PendingSettlement): void {
    this.#pending.push(pending);
  }

  /** The oldest settlements, as many as one call can carry. */
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

  /** Handles the backend's answer. A task whose writes were refused is still leased and is settled again. */
  answered({ attempt, settlement }: PendingSettlement, answer: SettleAnswer): void {
    if (answer.kind === 'refused') {
      attempt?.failOnRefusedWrites(answer.refusal);
      return;
    }
    // An attempt that ended during its wait settles again, under the lease of the wait or the next one.
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
    if (attempt.hasGroups && isEnd(answer.state)) attempt.abandonGroups();
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
