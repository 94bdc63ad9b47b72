import { epochMs } from '../../base/globals.ts';
import type { Fairloom } from '../../client/client.ts';
import type { SeriesUser } from '../../client/facades/series-report.ts';
import { lengthAt, RATE_MINUTES } from '../../client/facades/user-history.ts';
import type { TopUser } from '../../operations/shares.ts';

/** Between two looks at the series, in ms: processes add to them no more often. */
const LOOK_MS = 10_000;

const MINUTE_MS = 60_000;

/** A user, and how long its tasks wait. */
export interface TimedUser extends TopUser {
  /** Of its tasks that started in the last 10 minutes, 95 % had waited no longer; absent when none is known of. */
  readonly waitP95Ms?: number;
  /** Until its line is over, at the rate of these minutes; absent as `waitP95Ms`, and when it has none or is paused. */
  readonly etaMs?: number;
}

/** What users have started of late, for a screen that is drawn again every second. */
export class RecentStarts {
  readonly #loom: Fairloom;
  #users = new Map<string, SeriesUser>();
  #minutes = 1;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(loom: Fairloom) {
    this.#loom = loom;
  }

  /** Tells of each user what it knows; `now` in ms, by any clock that goes on. */
  async look(now: number): Promise<(user: TopUser) => TimedUser> {
    if (now - this.#lookedAt >= LOOK_MS) {
      this.#lookedAt = now;
      const at = epochMs();
      const from = at - RATE_MINUTES * MINUTE_MS;
      const { users = [], ...report } = await this.#loom.series.read({ step: 'minute', from });
      this.#minutes = Math.max(1, (at - report.from) / MINUTE_MS);
      this.#users = new Map(users.map((user) => [`${user.queue}:${user.user}`, user]));
    }
    return (user) => this.#timed(user);
  }

  #timed(user: TopUser): TimedUser {
    const recent = this.#users.get(`${user.queue}:${user.user}`);
    if (recent === undefined) return user;
    const isWaiting = user.queued > 0 && user.why !== 'paused';
    const etaMs = isWaiting ? lengthAt(recent.started / this.#minutes, user.queued) : undefined;
    return {
      ...user,
      ...(recent.wait === undefined ? {} : { waitP95Ms: recent.wait.p95 }),
      ...(etaMs === undefined ? {} : { etaMs }),
    };
  }
}
