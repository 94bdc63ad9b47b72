import { LeaseLostError } from '../domain/errors/errors.ts';
import type { Leased } from '../domain/port/leasing.ts';
import type { Attempt } from './attempt.ts';
import type { KeptJournal } from './own-lease.ts';

/** A handler that waits without a lease, and its journal as it was then. */
export interface ParkedStack {
  readonly attempt: Attempt;
  readonly journal: KeptJournal;
}

function isSameAttempt(one: Leased, other: Leased): boolean {
  return one.attempt === other.attempt && one.releases === other.releases;
}

/** Handlers of one worker that may wait at once; the oldest starts anew when there are more. */
const MOST = 1_000;

/** Handlers that wait for groups of theirs, by task. Their tasks are nobody's meanwhile. */
export class ParkedStacks {
  /** The one that waits longest first. */
  readonly #stacks = new Map<string, ParkedStack>();

  keep(attempt: Attempt, journal: KeptJournal): void {
    const { taskId } = attempt;
    this.leave(taskId, new LeaseLostError(taskId));
    this.#stacks.set(taskId, { attempt, journal });
    if (this.#stacks.size <= MOST) return;
    for (const oldest of this.#stacks.keys()) {
      this.leave(oldest, new LeaseLostError(oldest));
      return;
    }
  }

  /** The handler of this task that waited for a lease of the same attempt, if there is one. */
  take({ taskId, lease }: Attempt): ParkedStack | undefined {
    if (this.#stacks.size === 0) return undefined;
    const stack = this.#stacks.get(taskId);
    if (stack === undefined || !isSameAttempt(stack.attempt.lease, lease)) {
      this.leave(taskId, new LeaseLostError(taskId));
      return undefined;
    }
    this.#stacks.delete(taskId);
    return stack;
  }

  forget(attempt: Attempt): void {
    if (this.#stacks.get(attempt.taskId)?.attempt === attempt) this.#stacks.delete(attempt.taskId);
  }

  leave(taskId: string, reason: Error): void {
    const stack = this.#stacks.get(taskId);
    this.#stacks.delete(taskId);
    stack?.attempt.leave(reason);
  }

  leaveAll(reason: Error): void {
    for (const taskId of [...this.#stacks.keys()]) this.leave(taskId, reason);
  }
}
