import { compareUtf8 } from '../../base/utf8-order.ts';
import {
  BUILT_IN,
  type SettingOrigins,
  type UserPatch,
  type UserSettings,
} from '../../domain/fairness/settings.ts';
import type { UserStore } from '../../domain/port/backend.ts';
import type { Page, PageRequest, UserInfo } from '../../domain/port/inspection.ts';
import type { Session } from './connection/session.ts';
import { flat, text } from './wire/decode.ts';
import { patchText } from './wire/encode.ts';
import { answersFor, pageOf } from './wire/parts.ts';

/** A user in a queue. */
interface UserPlace {
  readonly user: string;
  readonly queue: string;
}

/** Most places in the answer of one script. */
const PLACES_STEP = 100;

/** Users per script when searching the queues. */
const USERS_STEP = 100;

/** See `UserStore`. */
export class RedisUsers implements UserStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async set(user: string, patch: UserPatch, options: { readonly queue?: string }): Promise<void> {
    const { queue = '' } = options;
    let said = patchText(patch);
    for (;;) {
      const [word] = flat(await this.#session.run('userSet', [user, queue, said]));
      if (word === 'ok') return;
      said = '';
    }
  }

  async get(user: string, queue: string): Promise<UserInfo | undefined> {
    const [found] = await this.#infosOf([{ user, queue }], true);
    return found;
  }

  async everywhere(users: readonly string[]): Promise<readonly UserInfo[]> {
    const places = await placesOf(this.#session, users);
    return (await this.#infosOf(places, false)).filter((one) => one !== undefined);
  }

  /** Facts of users; `configured`: also of those with settings for all queues only. */
  #infosOf(
    places: readonly UserPlace[],
    configured: boolean,
  ): Promise<readonly (UserInfo | undefined)[]> {
    return answersFor(places, PLACES_STEP, async (some) => {
      const pairs = some.flatMap(({ user, queue }) => [user, queue]);
      const reply = flat(await this.#session.run('userGet', [configured ? 1 : 0, ...pairs]));
      return reply.map((one) => (text(one) === '' ? undefined : decodeUser(text(one))));
    });
  }

  list(
    queue: string,
    page: PageRequest,
    { configured = false }: { readonly configured?: boolean } = {},
  ): Promise<Page<UserInfo>> {
    return pageOf(page, async ({ cursor = '', limit }) => {
      const args = [queue, cursor, limit, configured ? 1 : 0];
      const reply = flat(await this.#session.run('userList', args));
      const items = reply.slice(1).map((user) => decodeUser(text(user)));
      const next = text(reply[0]);
      return next === '' ? { items } : { items, cursor: next };
    });
  }
}

/**
 * Queues in which these users have work or settings, by queue, then by user. There is no index of it, which
 * every enqueue would pay for: each queue is asked for all users at once, hundreds of queues per script.
 */
export async function placesOf(
  session: Session,
  users: readonly string[],
): Promise<readonly UserPlace[]> {
  const found = new Map<string, UserPlace>();
  for (let at = 0; at < users.length; at += USERS_STEP) {
    const some = users.slice(at, at + USERS_STEP);
    let cursor = '0';
    do {
      const reply = flat(await session.run('userQueues', [cursor, ...some])).map(text);
      cursor = reply[0] ?? '0';
      for (let i = 1; i < reply.length; i += 2) {
        const [queue = '', user = ''] = reply.slice(i, i + 2);
        found.set(`${queue} ${user}`, { user, queue });
      }
    } while (cursor !== '0');
  }
  return [...found.values()].sort(
    (a, b) => compareUtf8(a.queue, b.queue) || compareUtf8(a.user, b.user),
  );
}

interface RawUser extends Omit<UserInfo, 'settings' | 'origins' | 'levels' | 'ahead'> {
  readonly origins: Partial<SettingOrigins> | readonly [];
  readonly settings: UserSettings | readonly [];
  readonly levels: readonly number[];
  /** Text, since a script's JSON rounds to 14 digits. */
  readonly ahead: string;
}

/** Parses a user in a queue from JSON. */
export function decodeUser(json: string): UserInfo {
  const raw = JSON.parse(json) as RawUser;
  return {
    ...raw,
    settings: objectOf(raw.settings),
    origins: { ...BUILT_IN, ...objectOf(raw.origins) },
    ahead: Number(raw.ahead),
  };
}

/** A script's JSON has an empty list for an empty object. */
export function objectOf<T extends object>(value: T | readonly []): T {
  return (Array.isArray(value) ? {} : value) as T;
}
