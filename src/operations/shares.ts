/** Shares of users, as `fairloom top` and the HTTP API show them. */

import type { QueueStatus } from '../client/facades/queue-facade.ts';
import { isUnready, type UserStatus } from '../client/facades/user-facade.ts';

/** One user at one moment; part of the JSON of `fairloom top`. */
export interface TopUser {
  /** The user. */
  readonly user: string;
  /** The queue. */
  readonly queue: string;
  /** Its claim on turns. */
  readonly weight: number;
  /** Tasks in line. */
  readonly queued: number;
  /** Started tasks. */
  readonly running: number;
  /**
   * Part of the running tasks of its queue, 0 to 1, over users that nothing holds back; absent for one
   * that is held back itself.
   */
  readonly share?: number;
  /** The part that its weight claims among those with work, 0 to 1; absent as `share`. */
  readonly fairShare?: number;
  /** Turns of its own ahead of its fair share; behind when negative, which one that is held back never is. */
  readonly ahead: number;
  /** What holds it back, or that nothing does. */
  readonly why: string;
}

/** Users of one queue with their shares, and what holds each back. */
export function topUsers(queue: QueueStatus, users: readonly UserStatus[]): readonly TopUser[] {
  const busy = users.filter((one) => one.queued + one.running > 0 && !isUnready(one));
  const weights = busy.reduce((sum, { settings }) => sum + settings.weight, 0);
  const running = busy.reduce((sum, one) => sum + one.running, 0);
  const sharesOf = (one: UserStatus): Pick<TopUser, 'share' | 'fairShare'> => ({
    share: running === 0 ? 0 : one.running / running,
    fairShare: one.queued + one.running === 0 ? 0 : one.settings.weight / weights,
  });
  return users.map((one) => ({
    user: one.user,
    queue: one.queue,
    weight: one.settings.weight,
    queued: one.queued,
    running: one.running,
    ...(isUnready(one) ? {} : sharesOf(one)),
    ahead: one.ahead,
    why: whyOf(queue, one),
  }));
}

/** What holds a user back, or that nothing does. */
function whyOf(
  queue: QueueStatus,
  { settings, queued, running, later, ready }: UserStatus,
): string {
  if (queued === 0) return later > 0 ? `${later} later` : 'nothing in line';
  if (settings.paused === true) return 'paused';
  if (queue.settings.paused === true) return 'its queue is paused';
  const most = settings.maxRunning;
  if (most !== undefined && running >= most) return `at its limit of ${most} running`;
  const all = queue.settings.maxRunning;
  if (all !== undefined && queue.counts.started >= all) return `its queue runs ${all}, its limit`;
  if (!ready && settings.rate !== undefined) return 'at its rate';
  return ready ? 'in line' : 'held back';
}
