import type { SharedBackend } from '../../backends/shared-backend.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkId, checkName } from '../../domain/fairness/names.ts';
import type { UserPatch } from '../../domain/fairness/settings.ts';
import type { Page, UserInfo } from '../../domain/port/backend.ts';
import { listed } from './list-cursor.ts';
import { PAGE_KEYS, type PageOptions, pageRequest } from './page.ts';
import {
  RESET_USER,
  type UserOptions,
  type UserSettingsInfo,
  userPatch,
  userSettingsInfo,
} from './settings-options.ts';
import { historyOf, type UserHistory } from './user-history.ts';

/** Which queue is meant. */
export interface InQueue {
  /** Default: for changes every queue that has no setting of its own, for reading `default`. */
  readonly queue?: string | undefined;
}

const QUEUE_KEYS: OptionKeys<InQueue> = keysOf<InQueue>()({ queue: true });

/** Which users to list. */
export interface UserListOptions extends InQueue, PageOptions {
  /**
   * Those too that have settings for all queues and nothing in this one, not even a task that has
   * just ended. Default true; `false` for who looks for work, or at a sample of those that have it.
   */
  readonly configured?: boolean | undefined;
}

const LIST_KEYS: OptionKeys<UserListOptions> = keysOf<UserListOptions>()({
  ...QUEUE_KEYS,
  ...PAGE_KEYS,
  configured: true,
});

/** One user in one queue. */
export interface UserStatus extends Omit<UserInfo, 'settings' | 'ahead'> {
  /** In force, the weight in turns. */
  readonly settings: UserSettingsInfo;
  /**
   * Turns of its own that it is ahead of its fair share; behind when negative. They count from when it last
   * joined the line, while others come and go: at most 1, and at least -2 (docs/fairness.md). A user that is
   * not ready owes and is owed nothing for that time, so it is never behind. Where the queue charges by time, a
   * turn is a second.
   */
  readonly ahead: number;
}

/** It has tasks in line, and what holds for it alone (pause, `maxRunning`, rate) keeps them there. */
export function isUnready({ queued, ready }: Pick<UserStatus, 'queued' | 'ready'>): boolean {
  return queued > 0 && !ready;
}

/** `loom.users`: who waits, who runs, and what each may. */
export class Users {
  readonly #connection: SharedBackend;

  /** @internal */
  constructor(connection: SharedBackend) {
    this.#connection = connection;
  }

  /** One page of the users of a queue, by name: those that have work in it, or settings. */
  async list(options: UserListOptions = {}): Promise<Page<UserStatus>> {
    checkOptions('users.list', options, LIST_KEYS);
    const { configured = true } = options;
    if (typeof configured !== 'boolean') {
      throw new InvalidOptionError('configured', 'true or false', configured);
    }
    const { users } = await this.#connection.open();
    const queue = queueOf(options);
    const listing = { list: 'users.list', filter: { queue, configured } };
    return listed(listing, pageRequest(options), async (request) => {
      const { items, ...rest } = await users.list(queue, request, { configured });
      return { ...rest, items: items.map(userStatus) };
    });
  }

  /** One user in one queue; `undefined` when nothing is known about it there. */
  async get(user: string, options: InQueue = {}): Promise<UserStatus | undefined> {
    const id = checkId('user', user);
    checkOptions('users.get', options, QUEUE_KEYS);
    const { users } = await this.#connection.open();
    const info = await users.get(id, queueOf(options));
    return info === undefined ? undefined : userStatus(info);
  }

  /**
   * How a user has fared in one queue of late, and how long its line will take: by what is counted in
   * {@link Series}, which knows those with the most traffic.
   */
  async history(user: string, options: InQueue = {}): Promise<UserHistory> {
    const id = checkId('user', user);
    checkOptions('users.history', options, QUEUE_KEYS);
    return historyOf(await this.#connection.open(), id, queueOf(options));
  }

  /** Changes what it says and nothing else; acts on tasks that wait already. */
  set(user: string, settings: UserOptions, options: InQueue = {}): Promise<void> {
    return this.#patch(user, () => userPatch(settings), options);
  }

  /** Takes every setting back. */
  reset(user: string, options: InQueue = {}): Promise<void> {
    return this.#patch(user, () => RESET_USER, options);
  }

  /** Starts nothing more of this user; what runs goes on. */
  pause(user: string, options: InQueue = {}): Promise<void> {
    return this.#patch(user, () => ({ paused: true }), options);
  }

  /** Starts tasks of this user again. */
  resume(user: string, options: InQueue = {}): Promise<void> {
    return this.#patch(user, () => ({ paused: null }), options);
  }

  async #patch(user: string, patch: () => UserPatch, options: InQueue): Promise<void> {
    const id = checkId('user', user);
    const change = patch();
    checkOptions('users', options, QUEUE_KEYS);
    const { queue } = options;
    const where = queue === undefined ? {} : { queue: checkName('queue', queue) };
    const { users } = await this.#connection.open();
    await users.set(id, change, where);
  }
}

function queueOf({ queue }: InQueue): string {
  return queue === undefined ? 'default' : checkName('queue', queue);
}

/** What a backend tells of a user, as callers see it. */
export function userStatus({ settings, ahead, ...rest }: UserInfo): UserStatus {
  const info = userSettingsInfo(settings);
  // One that comes back starts at the queue's virtual time, or after what it was given in advance.
  const turns = (rest.ready ? ahead : Math.max(0, ahead)) * info.weight;
  return { ...rest, settings: info, ahead: withoutSeat(turns) };
}

/** A tag tells its user from others in its last digits, which tell readers nothing. */
function withoutSeat(ahead: number): number {
  return Math.round(ahead * 1e6) / 1e6 + 0;
}
