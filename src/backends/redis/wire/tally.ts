import { recordOf } from '../../../base/records.ts';
import { isEnd, TASK_STATES, type TaskState } from '../../../domain/task/task.ts';

/** Sums over the records of one queue. */
export interface QueueTally {
  readonly users: Map<string, UserTally>;
}

/** By queue. */
export type Tally = Map<string, QueueTally>;

/** An empty tally. */
export function newTally(): Tally {
  return new Map();
}

/** The counts of one user, which start at 0. */
export function tallyUser(tally: Tally, queueName: string, user: string): UserTally {
  const queue = tally.get(queueName) ?? { users: new Map<string, UserTally>() };
  tally.set(queueName, queue);
  const found = queue.users.get(user) ?? new UserTally();
  queue.users.set(user, found);
  return found;
}

/** Sums over the records of one user in one queue. */
export class UserTally {
  readonly states: Record<TaskState, number> = recordOf(TASK_STATES, () => 0);
  readonly levels: number[] = [0, 0, 0, 0, 0, 0];
  /** Queued tasks that are parked, since the worker that reached them did not know their names. */
  parked = 0;
  live = 0;

  /** `level` 0: it is parked. */
  add(state: TaskState, level: number): void {
    this.states[state]++;
    if (!isEnd(state)) this.live++;
    if (state !== 'queued') return;
    if (level === 0) this.parked++;
    else this.levels[level - 1] = (this.levels[level - 1] ?? 0) + 1;
  }

  equals(stored: {
    readonly levels: readonly number[];
    readonly running: number;
    readonly live: number;
    readonly parked: number;
  }): boolean {
    return (
      stored.live === this.live &&
      stored.parked === this.parked &&
      stored.running === this.states.started &&
      this.levels.every((count, at) => count === stored.levels[at])
    );
  }

  toJson(): string {
    const { levels, live, parked } = this;
    return JSON.stringify({ levels, live, parked, running: this.states.started });
  }
}

/** Stored facts of a user in a queue. */
export interface StoredUser {
  readonly user: string;
  readonly levels: readonly number[];
  readonly running: number;
  readonly live: number;
  readonly parked: number;
  readonly ready: boolean;
  readonly w: number;
  readonly headroom: number;
  readonly class: string;
  /** It is in the ready index if it should be. */
  readonly indexed: boolean;
}

/** Stored facts of a queue. */
export interface StoredQueue {
  readonly counts: Readonly<Record<TaskState, number>>;
  readonly w: number;
  readonly runnable: number;
  readonly ready: number;
  readonly parked: number;
  /** Number of kept tags, as stored and as counted. */
  readonly tags: number;
  readonly kept: number;
  /** Sum of the weights of leavers, as stored and as counted. */
  readonly leaving: number;
  readonly left: number;
  readonly classes: Readonly<Record<string, number>>;
}

/** Whether both have the same value for each name; a missing one counts as 0. */
export function sameCounts(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => (a[name] ?? 0) === (b[name] ?? 0));
}
