/** Users; part of the port in `backend.ts`. */

import type { UserPatch } from '../fairness/settings.ts';
import type { Page, PageRequest, UserInfo } from './inspection.ts';

/** Users and their settings. */
export interface UserStore {
  /** Changes settings of a user. Without `queue` they apply in every queue without a setting of its own for the user. */
  set(user: string, patch: UserPatch, options: { readonly queue?: string }): Promise<void>;
  /** A user in a queue; `undefined` if nothing is stored of it there. */
  get(user: string, queue: string): Promise<UserInfo | undefined>;
  /**
   * Rows of these users in all queues that store something of them, as in `list` without `configured`; by queue,
   * then by user.
   */
  everywhere(users: readonly string[]): Promise<readonly UserInfo[]>;
  /**
   * Users of which the queue stores something, by name. With `configured` also users that have only settings for
   * all queues.
   */
  list(
    queue: string,
    page: PageRequest,
    options?: { readonly configured?: boolean },
  ): Promise<Page<UserInfo>>;
}
