import type { RateLimit } from './rate-limit.ts';

/** What holds for one user in one queue; absent fields are unlimited, or 1 for the weight. */
export interface UserSettings {
  /** Claim on turns relative to other users, in integer hundredths: 100 is weight 1. */
  readonly weight?: number;
  /** At most this many of the user's tasks run at once. */
  readonly maxRunning?: number;
  /** At most this many wait (scheduled, deferred, queued and reserved). */
  readonly maxQueued?: number;
  /** Starts per time. */
  readonly rate?: RateLimit;
  /** Nothing of it starts. */
  readonly paused?: boolean;
}

/**
 * Where a setting in force comes from, the nearest first: set for the user in this queue, for the user in
 * all queues, for all users of the queue, or the default.
 */
export type SettingOrigin = 'user-in-queue' | 'user' | 'queue' | 'built-in';

/** Where each setting of a user in a queue comes from, those included that are at their default. */
export type SettingOrigins = Readonly<Record<keyof UserSettings, SettingOrigin>>;

/** Every setting at its default. */
export const BUILT_IN: SettingOrigins = {
  weight: 'built-in',
  maxRunning: 'built-in',
  maxQueued: 'built-in',
  rate: 'built-in',
  paused: 'built-in',
};

/** What was said of one user in one queue, by whom. */
export interface SettingLayers {
  /** For this queue alone. */
  readonly own: UserSettings | undefined;
  /** For all queues. */
  readonly all: UserSettings | undefined;
  /** By the queue, for all its users. */
  readonly queue: UserSettings | undefined;
}

/** Which of the layers each setting is taken from. */
export function originsOf({ own, all, queue }: SettingLayers): SettingOrigins {
  const said = (settings: UserSettings | undefined, origin: SettingOrigin) =>
    Object.fromEntries(Object.keys(settings ?? {}).map((field) => [field, origin]));
  return {
    ...BUILT_IN,
    ...said(queue, 'queue'),
    ...said(all, 'user'),
    ...said(own, 'user-in-queue'),
  };
}

/** A change of settings: `null` takes a field back to its default, an absent one stays. */
export type UserPatch = { readonly [K in keyof UserSettings]?: UserSettings[K] | null };

/** What holds for one queue; absent fields are unlimited, or the default. */
export interface QueueSettings {
  /** Nothing of it starts. */
  readonly paused?: boolean;
  /** At most this many of its tasks run at once. */
  readonly maxRunning?: number;
  /** Starts per time, of all its users together. */
  readonly rate?: RateLimit;
  /**
   * What a turn costs: `task`, the cost of the task (the default); `time`, the seconds that its lease
   * is held, expected at first and corrected in the end.
   */
  readonly charge?: 'task' | 'time';
  /** Turns of the levels 1 to 5, integers from 1 to 1,024; default 1, 2, 4, 8, 16. */
  readonly priorityWeights?: readonly number[];
  /** One normal turn of a user after this many critical ones; absent: critical always first. */
  readonly criticalBurst?: number;
  /** For users without settings of their own. */
  readonly perUser?: UserSettings;
  /** How long leases of its tasks last, in ms, in place of what the worker asks for. */
  readonly leaseMs?: number;
  /** Attempts after the first, of tasks about which nothing else is said. */
  readonly retries?: number;
  /** How long an attempt at such a task may run, in ms; 0: for ever. */
  readonly timeoutMs?: number;
}

/** What a queue says of attempts at its tasks, where neither the enqueue nor the definition does. */
export type AttemptSettings = Pick<QueueSettings, 'retries' | 'timeoutMs'>;

/** A change of settings: `null` takes a field back to its default, an absent one stays. */
export type QueuePatch = { readonly [K in keyof QueueSettings]?: QueueSettings[K] | null };

/** How long ended tasks are kept, in ms; and how many, oldest removed first. */
export interface Retention {
  /** Of tasks that ended well. */
  readonly finishedMs: number;
  /** Of dead letters. */
  readonly failedMs: number;
  /** Of canceled ones. */
  readonly canceledMs: number;
  /** Absent: unlimited. */
  readonly finishedCount?: number;
  /** Absent: unlimited. */
  readonly failedCount?: number;
  /** Absent: unlimited. */
  readonly canceledCount?: number;
}
