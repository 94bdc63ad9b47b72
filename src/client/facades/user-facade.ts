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

/** Queue of a setting. */
export interface InQueue {
  /** Queue. Default: for changes every queue without its own setting, for reads `default`. */
  readonly queue?: string | undefined;
}

const QUEUE_KEYS: OptionKeys<InQueue> = keysOf<InQueue>()({ queue: true });

/** Filter of a listing of users. */
export interface UserListOptions extends InQueue, PageOptions {
  /**
   * Include users that only have settings for all queues, and no tasks in this one. Default true;
   * `false` lists users with work, or a sample of them.
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
  /** Effective settings, the weight in turns. */
  readonly settings: UserSettingsInfo;
  /**
   * Turns ahead of its fair share; negative behind. They count since it last joined the line: at
   * most 1, and at least -2 (docs/fairness.md). A user that is not ready owes and is owed nothing,
   * so it is never behind. Where the queue charges by time, a turn is a second.
   */
  readonly ahead: number;
}

/** It has tasks in line that its own pause, `maxRunning` or rate holds there. */
export function isUnready({ queued, ready }: Pick<UserStatus, 'queued' | 'ready'>): boolean {
  return queued > 0 && !ready;
}

/** `loom.users`: waiting and running users, and their settings. */
export class Users {
  readonly #connection: SharedBackend;

  /** @internal */
  constructor(connection: SharedBackend) {
    this.#connection = connection;
  }

  /** One page of the users of a queue, by name: those with work in it, or settings. */
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

  /** One user in one queue; `undefined` if it is unknown there. */
  async get(user: string, options: InQueue = {}): Promise<UserStatus | undefined> {
    const id = checkId('user', user);
    checkOptions('users.get', options, QUEUE_KEYS);
    const { users } = await this.#connection.open();
    const info = await users.get(id, queueOf(options));
    return info === undefined ? undefined : userStatus(info);
  }

  /**
   * Recent waits and runs of a user in one queue, and the estimated time of its line: from {@link
   * Series}, which has rows for the users with the most traffic.
   */
  async history(user: string, options: InQueue = {}): Promise<UserHistory> {
    const id = checkId('user', user);
    checkOptions('users.history', options, QUEUE_KEYS);
    return historyOf(await this.#connection.open(), id, queueOf(options));
  }

  /** Changes the given settings and no others; applies to waiting tasks too. */
  set(user: string, settings: UserOptions, options: InQueue = {}): Promise<void> {
    return this.#patch(user, () => userPatch(settings), options);
  }

  /** Resets every setting to its default. */
  reset(user: string, options: InQueue = {}): Promise<void> {
    return this.#patch(user, () => RESET_USER, options);
  }

  /** Pauses this user: none of its tasks starts; running ones continue. */
  pause(user: string, options: InQueue = {}): Promise<void> {
    return this.#patch(user, () => ({ paused: true }), options);
  }

  /** Ends the pause of this user. */
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

/** The status of a user for callers. */
export function userStatus({ settings, ahead, ...rest }: UserInfo): UserStatus {
  const info = userSettingsInfo(settings);
  // A user that returns starts at the queue's virtual time, or after the turns that it got in advance.
  const turns = (rest.ready ? ahead : Math.max(0, ahead)) * info.weight;
  return { ...rest, settings: info, ahead: withoutSeat(turns) };
}

/** The last digits of a tag make it unique to its user; readers do not need them. */
function withoutSeat(ahead: number): number {
  return Math.round(ahead * 1e6) / 1e6 + 0;
}
