import type { Attempt } from '../attempt/attempt.ts';
import type { KeptJournal } from '../attempt/own-lease.ts';
import { LeaseLostError } from '../domain/errors/errors.ts';
import type { Leased } from '../domain/port/leasing.ts';

/** A handler that waits without a lease, and its journal at that time. */
export interface SuspendedHandler {
  readonly attempt: Attempt;
  readonly journal: KeptJournal;
}

function isSameAttempt(one: Leased, other: Leased): boolean {
  return one.attempt === other.attempt && one.releases === other.releases;
}

/** Largest number of suspended handlers of one worker; more end the oldest, which starts again. */
const MOST = 1_000;

/** Handlers that wait without a lease. */
export class SuspendedHandlers {
  /** Handlers by task, the oldest wait first. */
  readonly byTask: Map<string, SuspendedHandler> = new Map();

  keep(attempt: Attempt, journal: KeptJournal): void {
    const { taskId } = attempt;
    this.leave(taskId, new LeaseLostError(taskId));
    this.byTask.set(taskId, { attempt, journal });
    if (this.byTask.size <= MOST) return;
    for (const oldest of this.byTask.keys()) {
      this.leave(oldest, new LeaseLostError(oldest));
      return;
    }
  }

  /** Takes the handler of this task that waited for a lease of this attempt, if there is one. */
  take({ taskId, lease }: Attempt): SuspendedHandler | undefined {
    if (this.byTask.size === 0) return undefined;
    const suspended = this.byTask.get(taskId);
    if (suspended === undefined || !isSameAttempt(suspended.attempt.lease, lease)) {
      this.leave(taskId, new LeaseLostError(taskId));
      return undefined;
    }
    this.byTask.delete(taskId);
    return suspended;
  }

  /** Whether it is still suspended: its task was not leased again here, and it was not ended. */
  has(attempt: Attempt): boolean {
    return this.byTask.get(attempt.taskId)?.attempt === attempt;
  }

  /** Removes a handler that has settled. */
  forget(attempt: Attempt): void {
    if (this.has(attempt)) this.byTask.delete(attempt.taskId);
  }

  /** Ends the suspended handler of this task, if there is one. */
  leave(taskId: string, reason: Error): void {
    const suspended = this.byTask.get(taskId);
    this.byTask.delete(taskId);
    suspended?.attempt.abandonHandler(reason);
  }

  leaveAll(reason: Error): void {
    for (const taskId of [...this.byTask.keys()]) this.leave(taskId, reason);
  }
}
