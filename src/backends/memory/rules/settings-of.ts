import { compareUtf8 } from '../../../base/utf8-order.ts';
import {
  originsOf,
  type QueuePatch,
  type QueueSettings,
  type SettingOrigins,
  type UserPatch,
  type UserSettings,
} from '../../../domain/fairness/settings.ts';
import type { UserInfo } from '../../../domain/port/backend.ts';
import type { UserEntry } from '../store/entities.ts';
import { recount, reindex } from '../store/ready-index.ts';
import type { Store } from '../store/store.ts';
import { startTag } from '../store/tag-order.ts';
import { resetListClocks } from './workers.ts';

/** See `UserStore.set`. */
export function setUser(
  store: Store,
  user: string,
  patch: UserPatch,
  queueName: string | undefined,
): void {
  if (queueName === undefined) {
    put(store.settingsForAll, user, merged(store.settingsForAll.get(user), patch));
    for (const queue of store.queues.values()) {
      const known = queue.users.get(user);
      if (known !== undefined) reindex(store, known);
    }
    return;
  }
  const queue = store.queue(queueName);
  put(queue.ownSettings, user, merged(queue.ownSettings.get(user), patch));
  reindex(store, store.userEntry(queueName, user));
}

/** See `QueueStore.set`. Users get new defaults when they are next touched. */
export function setQueue(store: Store, queueName: string, patch: QueuePatch): void {
  const queue = store.queue(queueName);
  const { chargesTime } = queue;
  queue.settings = merged<QueueSettings>(queue.settings, patch) ?? {};
  const recounts = queue.chargesTime !== chargesTime;
  if (recounts) {
    recount(queue);
    resetListClocks(queue);
  }
  store.touchQueue(queue);
  queue.gain += queue.runnable;
  if (!('perUser' in patch) && !recounts) return;
  // In a fixed order: a user's place may depend on those before it.
  const users = [...queue.users.values()].sort((a, b) => compareUtf8(a.user, b.user));
  for (const user of users) reindex(store, user);
}

/** A user in the form of the port. */
export function userInfo(store: Store, user: UserEntry): UserInfo {
  const { queue } = user;
  const current = user.epoch === queue.clock.epoch;
  return {
    user: user.user,
    queue: queue.queue,
    settings: store.settingsOf(user),
    origins: originsIn(store, queue.queue, user.user),
    queued: user.queued + user.parked,
    ...(user.parked === 0 ? {} : { parked: user.parked }),
    levels: LEVELS.map((level) => (user.levels[level - 1]?.size ?? 0) + parkedAt(user, level)),
    running: user.running,
    later: user.live - user.queued - user.parked - user.running,
    ready: user.ready,
    ahead: current ? startTag(user) - queue.clock.v : 0,
  };
}

/** A user of a queue with settings only. */
export function configuredInfo(store: Store, queue: string, user: string): UserInfo | undefined {
  const settings = store.settingsForAll.get(user);
  if (settings === undefined) return undefined;
  return {
    user,
    queue,
    settings: { ...store.queues.get(queue)?.settings.perUser, ...settings },
    origins: originsIn(store, queue, user),
    queued: 0,
    levels: [0, 0, 0, 0, 0, 0],
    running: 0,
    later: 0,
    ready: false,
    ahead: 0,
  };
}

function originsIn(store: Store, queueName: string, user: string): SettingOrigins {
  const queue = store.queues.get(queueName);
  const own = queue?.ownSettings.get(user);
  return originsOf({ own, all: store.settingsForAll.get(user), queue: queue?.settings.perUser });
}

function put(settings: Map<string, UserSettings>, user: string, value: UserSettings | undefined) {
  if (value === undefined) settings.delete(user);
  else settings.set(user, value);
}

/** The settings with the patch applied; `undefined` when none is left. */
function merged<T extends object>(
  settings: T | undefined,
  patch: { readonly [K in keyof T]?: T[K] | null },
): T | undefined {
  const entries = Object.entries({ ...settings, ...patch }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as T);
}

const LEVELS = [1, 2, 3, 4, 5, 6];

function parkedAt(user: UserEntry, level: number): number {
  return user.parked === 0 ? 0 : [...user.queue.parked.of(user, level)].length;
}
