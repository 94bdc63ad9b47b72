/** The part of the port in `backend.ts` that is about users. */

import type { UserPatch } from '../fairness/settings.ts';
import type { Page, PageRequest, UserInfo } from './inspection.ts';

/** Users and what each may. */
export interface UserStore {
  /** Without `queue` the patch holds in every queue that has no setting of its own. */
  set(user: string, patch: UserPatch, options: { readonly queue?: string }): Promise<void>;
  /** One user in one queue; `undefined` when nothing is known of it there. */
  get(user: string, queue: string): Promise<UserInfo | undefined>;
  /**
   * What the queues know of these users: a row for each queue that knows one of them, as `list` without
   * `configured` tells it; by queue, then by user.
   */
  everywhere(users: readonly string[]): Promise<readonly UserInfo[]>;
  /**
   * Users of one queue of whom something is known, by name. `configured`: those too of whom there is
   * nothing in this queue, and settings for all queues. Without it only those are looked at whom the
   * queue itself knows, which is what samples and searches for work want.
   */
  list(
    queue: string,
    page: PageRequest,
    options?: { readonly configured?: boolean },
  ): Promise<Page<UserInfo>>;
}
