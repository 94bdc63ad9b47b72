import type { Fairloom } from '../../client/client.ts';
import type { QueueStatus } from '../../client/facades/queue-facade.ts';
import type { UserStatus } from '../../client/facades/user-facade.ts';
import { LIMITS } from '../../domain/limits.ts';
import { allPages } from '../../domain/port/all-pages.ts';
import { type TopUser, topUsers } from '../../operations/shares.ts';
import { RecentStarts, type TimedUser } from './recent-starts.ts';

/** Users that are looked at, over all queues: a screen shows some dozens. */
const USERS_MAX = 1_000;

/** Everything that one frame shows. */
export interface TopSnapshot {
  /** Tasks in line. */
  readonly queued: number;
  /** Started tasks. */
  readonly running: number;
  /** Tasks that are not due. */
  readonly scheduled: number;
  /** Tasks that wait for others. */
  readonly deferred: number;
  /** Failed tasks, without those that only followed another. */
  readonly dead: number;
  /** Since the snapshot before, per second; absent in the first one. */
  readonly perSecond?: number;
  /** Live workers. */
  readonly workers: number;
  /** Tasks that they could run at once. */
  readonly slots: number;
  /** There are more than are looked at. */
  readonly isCut: boolean;
  /** By queue and user, at most 1,000. */
  readonly users: readonly TimedUser[];
}

/** Takes snapshots, and knows what changed between two. */
export class TopSource {
  readonly #loom: Fairloom;
  readonly #recent: RecentStarts;
  #before: { readonly ended: number; readonly at: number } | undefined;

  constructor(loom: Fairloom) {
    this.#loom = loom;
    this.#recent = new RecentStarts(loom);
  }

  /** `now` in ms, by any clock that goes on. */
  async take(now: number): Promise<TopSnapshot> {
    const [queues, timed] = await Promise.all([this.#loom.queues.list(), this.#recent.look(now)]);
    const { users, isCut } = await this.#users(queues);
    return { ...(await this.#figures(now, queues)), isCut, users: users.map(timed) };
  }

  /** The same without users. */
  async figures(now: number): Promise<TopSnapshot> {
    return this.#figures(now, await this.#loom.queues.list());
  }

  async #figures(now: number, queues: readonly QueueStatus[]): Promise<TopSnapshot> {
    const [stats, workers] = await Promise.all([this.#loom.stats(), this.#loom.workers.list()]);
    const { counts, totals } = stats;
    const ended = totals.finished + totals.failed + totals.canceled;
    const before = this.#before;
    this.#before = { ended, at: now };
    const rate =
      before === undefined || now <= before.at
        ? {}
        : { perSecond: ((ended - before.ended) * 1_000) / (now - before.at) };
    return {
      queued: counts.queued,
      running: counts.started,
      scheduled: counts.scheduled,
      deferred: counts.deferred,
      dead: queues.reduce((sum, { deadLetters }) => sum + deadLetters, 0),
      ...rate,
      workers: workers.length,
      slots: workers.reduce((sum, { concurrency }) => sum + concurrency, 0),
      isCut: false,
      users: [],
    };
  }

  async #users(
    queues: readonly QueueStatus[],
  ): Promise<{ readonly users: readonly TopUser[]; readonly isCut: boolean }> {
    const found: TopUser[] = [];
    for (const queue of queues) {
      const { users, isCut } = await this.#usersOf(queue.queue, USERS_MAX - found.length);
      found.push(...topUsers(queue, users));
      if (isCut) return { users: found, isCut };
    }
    return { users: found, isCut: false };
  }

  /** At most `most`: a page more is not asked for, so that shares are over all that are shown. */
  async #usersOf(
    queue: string,
    most: number,
  ): Promise<{ readonly users: readonly UserStatus[]; readonly isCut: boolean }> {
    const users: UserStatus[] = [];
    if (most === 0) return { users, isCut: true };
    const pages = allPages(LIMITS.pageMax, (page) =>
      this.#loom.users.list({ queue, configured: false, ...page }),
    );
    for await (const { items, cursor } of pages) {
      users.push(...items);
      if (users.length >= most && cursor !== undefined) {
        return { users: users.slice(0, most), isCut: true };
      }
    }
    return { users: users.slice(0, most), isCut: users.length > most };
  }
}
