import { recordOf } from '../../../base/records.ts';
import { isEnd, TASK_STATES, type TaskState } from '../../../domain/task/task.ts';

/** What the records of one queue add up to. */
export interface QueueTally {
  readonly users: Map<string, UserTally>;
}

/** By queue. */
export type Tally = Map<string, QueueTally>;

/** One in which nothing was counted yet. */
export function newTally(): Tally {
  return new Map();
}

/** The counts of one user, which begin at nothing. */
export function tallyUser(tally: Tally, queueName: string, user: string): UserTally {
  const queue = tally.get(queueName) ?? { users: new Map<string, UserTally>() };
  tally.set(queueName, queue);
  const found = queue.users.get(user) ?? new UserTally();
  queue.users.set(user, found);
  return found;
}

/** What the records of one user in one queue add up to. */
export class UserTally {
  readonly states: Record<TaskState, number> = recordOf(TASK_STATES, () => 0);
  readonly levels: number[] = [0, 0, 0, 0, 0, 0];
  /** Of the queued ones: those in no line, since the worker that reached them did not know their names. */
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

/** What a queue remembers of a user. */
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
  /** It stands in the index that says whose turn it is, as far as it should. */
  readonly indexed: boolean;
}

/** What a queue remembers of all. */
export interface StoredQueue {
  readonly counts: Readonly<Record<TaskState, number>>;
  readonly w: number;
  readonly runnable: number;
  readonly ready: number;
  readonly parked: number;
  /** Kept tags as they are counted, and as they are. */
  readonly tags: number;
  readonly kept: number;
  /** The weights of those that left ahead, the same. */
  readonly leaving: number;
  readonly left: number;
  readonly classes: Readonly<Record<string, number>>;
}

/** Whether two say the same by each name; what is missing counts as 0. */
export function sameCounts(
  a: Readonly<Record<string, number>>,
  b: Readonly<Record<string, number>>,
): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => (a[name] ?? 0) === (b[name] ?? 0));
}
