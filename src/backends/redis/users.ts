import type { UserStore } from '../../domain/port/backend.ts';
import type { Page, PageRequest, UserInfo } from '../../domain/port/inspection.ts';
import {
  BUILT_IN,
  type SettingOrigins,
  type UserPatch,
  type UserSettings,
} from '../../domain/settings/settings.ts';
import type { Session } from './connection/session.ts';
import { flat, text } from './wire/decode.ts';
import { patchText } from './wire/encode.ts';
import { pageOf } from './wire/parts.ts';

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
    const [found] = flat(await this.#session.run('userGet', [user, queue]));
    return found === undefined ? undefined : decodeUser(text(found));
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

interface RawUser extends Omit<UserInfo, 'settings' | 'origins' | 'levels' | 'ahead'> {
  readonly origins: Partial<SettingOrigins> | readonly [];
  readonly settings: UserSettings | readonly [];
  readonly levels: readonly number[];
  /** Text, since a script's JSON rounds to 14 digits. */
  readonly ahead: string;
}

/** What is told of a user in a queue, of JSON. */
export function decodeUser(json: string): UserInfo {
  const raw = JSON.parse(json) as RawUser;
  return {
    ...raw,
    settings: objectOf(raw.settings),
    origins: { ...BUILT_IN, ...objectOf(raw.origins) },
    ahead: Number(raw.ahead),
  };
}

/** A script's JSON writes an empty object as an empty list. */
export function objectOf<T extends object>(value: T | readonly []): T {
  return (Array.isArray(value) ? {} : value) as T;
}
