import { compareUtf8 } from '../../../base/utf8-order.ts';
import type { UserInfo } from '../../../domain/port/backend.ts';
import {
  originsOf,
  type QueuePatch,
  type QueueSettings,
  type SettingOrigins,
  type UserPatch,
  type UserSettings,
} from '../../../domain/settings/settings.ts';
import type { UserLane } from '../store/entities.ts';
import { recount, reindex } from '../store/ready-index.ts';
import type { Store } from '../store/store.ts';
import { startTag } from '../store/tag-order.ts';
import { resetListClocks } from './workers.ts';

/** See `UserStore.set`. */
export function setUser(
  store: Store,
  user: string,
  patch: UserPatch,
  queue: string | undefined,
): void {
  if (queue === undefined) {
    put(store.settingsForAll, user, merged(store.settingsForAll.get(user), patch));
    for (const lane of store.lanes.values()) {
      const known = lane.users.get(user);
      if (known !== undefined) reindex(store, known);
    }
    return;
  }
  const lane = store.lane(queue);
  put(lane.ownSettings, user, merged(lane.ownSettings.get(user), patch));
  reindex(store, store.userLane(queue, user));
}

/** See `QueueStore.set`. Users hear of new defaults when they are next touched. */
export function setQueue(store: Store, queue: string, patch: QueuePatch): void {
  const lane = store.lane(queue);
  const { chargesTime } = lane;
  lane.settings = merged<QueueSettings>(lane.settings, patch) ?? {};
  const recounts = lane.chargesTime !== chargesTime;
  if (recounts) {
    recount(lane);
    resetListClocks(lane);
  }
  store.touchLane(lane);
  lane.gain += lane.runnable;
  if (!('perUser' in patch) && !recounts) return;
  // In a settled order: where one stands may depend on those who were looked at before it.
  const users = [...lane.users.values()].sort((a, b) => compareUtf8(a.user, b.user));
  for (const user of users) reindex(store, user);
}

/** One user as callers see it. */
export function userInfo(store: Store, user: UserLane): UserInfo {
  const { lane } = user;
  const current = user.epoch === lane.clock.epoch;
  return {
    user: user.user,
    queue: lane.queue,
    settings: store.settingsOf(user),
    origins: originsIn(store, lane.queue, user.user),
    queued: user.queued + user.parked,
    ...(user.parked === 0 ? {} : { parked: user.parked }),
    levels: LEVELS.map((level) => user.level(level).size + parkedAt(user, level)),
    running: user.running,
    later: user.live - user.queued - user.parked - user.running,
    ready: user.ready,
    ahead: current ? startTag(user) - lane.clock.v : 0,
  };
}

/** A user that has settings, and nothing else, in this lane. */
export function configuredInfo(store: Store, queue: string, user: string): UserInfo | undefined {
  const settings = store.settingsForAll.get(user);
  if (settings === undefined) return undefined;
  return {
    user,
    queue,
    settings: { ...store.lanes.get(queue)?.settings.perUser, ...settings },
    origins: originsIn(store, queue, user),
    queued: 0,
    levels: [0, 0, 0, 0, 0, 0],
    running: 0,
    later: 0,
    ready: false,
    ahead: 0,
  };
}

function originsIn(store: Store, queue: string, user: string): SettingOrigins {
  const lane = store.lanes.get(queue);
  const own = lane?.ownSettings.get(user);
  return originsOf({ own, all: store.settingsForAll.get(user), queue: lane?.settings.perUser });
}

function put(settings: Map<string, UserSettings>, user: string, value: UserSettings | undefined) {
  if (value === undefined) settings.delete(user);
  else settings.set(user, value);
}

/** The settings with the patch applied; `undefined` when nothing is left. */
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

function parkedAt(user: UserLane, level: number): number {
  return user.parked === 0 ? 0 : [...user.lane.parked.of(user, level)].length;
}
