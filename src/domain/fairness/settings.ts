import type { RateLimit } from './rate-limit.ts';

/** Settings of one user in one queue; absent fields are unlimited, or 1 for the weight. */
export interface UserSettings {
  /** Share of turns relative to other users, in integer hundredths: 100 is weight 1. */
  readonly weight?: number;
  /** Most tasks of the user that run at once. */
  readonly maxRunning?: number;
  /** Most tasks that wait (scheduled, deferred, queued and reserved). */
  readonly maxQueued?: number;
  /** Limit of starts per time. */
  readonly rate?: RateLimit;
  /** None of its tasks starts. */
  readonly paused?: boolean;
}

/**
 * Origin of an effective setting, the most specific first: set for the user in this queue, for the
 * user in all queues, for all users of the queue, or the default.
 */
export type SettingOrigin = 'user-in-queue' | 'user' | 'queue' | 'built-in';

/** The origin of each setting of a user in a queue, including defaults. */
export type SettingOrigins = Readonly<Record<keyof UserSettings, SettingOrigin>>;

/** Every setting at its default. */
export const BUILT_IN: SettingOrigins = {
  weight: 'built-in',
  maxRunning: 'built-in',
  maxQueued: 'built-in',
  rate: 'built-in',
  paused: 'built-in',
};

/** Settings for one user in one queue, by origin. */
export interface SettingLayers {
  /** For this queue alone. */
  readonly own: UserSettings | undefined;
  /** For all queues. */
  readonly all: UserSettings | undefined;
  /** By the queue, for all its users. */
  readonly queue: UserSettings | undefined;
}

/** The origin of each setting. */
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

/** A change of settings: `null` resets a field to its default, an absent one stays. */
export type UserPatch = { readonly [K in keyof UserSettings]?: UserSettings[K] | null };

/** Settings of one queue; absent fields are unlimited, or the default. */
export interface QueueSettings {
  /** None of its tasks starts. */
  readonly paused?: boolean;
  /** Most of its tasks that run at once. */
  readonly maxRunning?: number;
  /** Limit of starts per time, of all its users together. */
  readonly rate?: RateLimit;
  /**
   * Cost of a turn: `task`, the cost of the task (the default); `time`, the seconds that its lease
   * is held, estimated at first and corrected at the end.
   */
  readonly charge?: 'task' | 'time';
  /** Turns of the levels 1 to 5, integers from 1 to 1,024; default 1, 2, 4, 8, 16. */
  readonly priorityWeights?: readonly number[];
  /** One normal turn of a user after this many critical ones; absent: critical always first. */
  readonly criticalBurst?: number;
  /** Settings for users without their own. */
  readonly perUser?: UserSettings;
  /** Length of leases of its tasks, in ms, instead of the worker's setting. */
  readonly leaseMs?: number;
  /** Retries of tasks that have no other setting. */
  readonly retries?: number;
  /** Timeout of an attempt at such a task, in ms; 0: none. */
  readonly timeoutMs?: number;
}

/** Settings of a queue for attempts, where neither the enqueue nor the definition has one. */
export type AttemptSettings = Pick<QueueSettings, 'retries' | 'timeoutMs'>;

/** A change of settings: `null` resets a field to its default, an absent one stays. */
export type QueuePatch = { readonly [K in keyof QueueSettings]?: QueueSettings[K] | null };

/** How long ended tasks are kept, in ms; and how many, oldest removed first. */
export interface Retention {
  /** Of finished tasks. */
  readonly finishedMs: number;
  /** Of dead letters. */
  readonly failedMs: number;
  /** Of canceled tasks. */
  readonly canceledMs: number;
  /** Absent: unlimited. */
  readonly finishedCount?: number;
  /** Absent: unlimited. */
  readonly failedCount?: number;
  /** Absent: unlimited. */
  readonly canceledCount?: number;
}
