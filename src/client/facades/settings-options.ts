/** Settings of users and queues as callers write them, and as backends store them. */
import type { Duration } from '../../base/time.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { checkOptions, checkPart, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { RateLimit } from '../../domain/fairness/rate-limit.ts';
import type {
  QueuePatch,
  QueueSettings,
  UserPatch,
  UserSettings,
} from '../../domain/fairness/settings.ts';
import { LIMITS } from '../../domain/limits.ts';
import {
  durationOption,
  integerOption,
  retriesOption,
  timeoutOption,
} from '../../workflow/task-options.ts';

/** A limit of starts per time. */
export interface RateOptions {
  /** Number of starts … */
  readonly limit: number;
  /** … in this time. */
  readonly per: Duration;
  /** Number of starts at once after a pause. Default a tenth of the limit, at least 1. */
  readonly burst?: number | undefined;
}

const RATE_KEYS: OptionKeys<RateOptions> = keysOf<RateOptions>()({
  limit: true,
  per: true,
  burst: true,
});

/** Settings of one user. `"default"` resets a field, an absent one stays. */
export interface UserOptions {
  /** Share of turns relative to other users, 0.01 to 1000, in hundredths. Default 1. */
  readonly weight?: number | 'default' | undefined;
  /** Most of its tasks that run at once, per queue. Default unlimited. */
  readonly maxRunning?: number | 'default' | undefined;
  /** Most of its tasks that wait, per queue; more are refused. Default unlimited. */
  readonly maxQueued?: number | 'default' | undefined;
  /** Limit of starts per time, per queue. Default unlimited. */
  readonly rate?: RateOptions | 'default' | undefined;
}

const USER_KEYS: OptionKeys<UserOptions> = keysOf<UserOptions>()({
  weight: true,
  maxRunning: true,
  maxQueued: true,
  rate: true,
});

/** Settings of one queue. `"default"` resets a field, an absent one stays. */
export interface QueueOptions {
  /** Most of its tasks that run at once. Default unlimited. */
  readonly maxRunning?: number | 'default' | undefined;
  /** Limit of starts per time, of all its users together. Default unlimited. */
  readonly rate?: RateOptions | 'default' | undefined;
  /**
   * Cost of a turn: `task`, the task's own cost; `time`, the seconds that it holds its lease, so
   * that users share time instead of turns. A change resets the counts. Default `task`.
   */
  readonly charge?: 'task' | 'time' | 'default' | undefined;
  /** Turns of the priorities 1 to 5, whole numbers from 1 to 1,024. Default 1, 2, 4, 8, 16. */
  readonly priorityWeights?: readonly number[] | 'default' | undefined;
  /** One normal turn of a user after this many critical ones. Default: critical always first. */
  readonly criticalBurst?: number | 'default' | undefined;
  /**
   * Retries of tasks for which neither the enqueue nor the definition sets any. Precedes
   * `FairloomOptions.defaults`, and is read with each attempt, so it applies to waiting tasks too.
   * Default: those.
   */
  readonly retries?: number | 'default' | undefined;
  /** Timeout of an attempt, as `retries`; longer than `lease`. Default: as `retries`. */
  readonly timeout?: Duration | 'none' | 'default' | undefined;
  /**
   * How long a worker of this queue may be silent before others get its tasks, 100 ms to 24 h.
   * Applies from the next lease on. Default: the setting of the worker.
   */
  readonly lease?: Duration | 'default' | undefined;
  /** Settings for users without their own. Replaces the earlier ones. */
  readonly perUser?: UserOptions | 'default' | undefined;
}

const QUEUE_KEYS: OptionKeys<QueueOptions> = keysOf<QueueOptions>()({
  maxRunning: true,
  rate: true,
  charge: true,
  priorityWeights: true,
  criticalBurst: true,
  retries: true,
  timeout: true,
  lease: true,
  perUser: true,
});

/** Effective settings, as callers read them. */
export interface UserSettingsInfo extends Omit<UserSettings, 'weight'> {
  /** Share of turns relative to other users; default 1. */
  readonly weight: number;
}

/** Weights are stored in whole hundredths, so that their sum is exact. */
const HUNDREDTHS = 100;

const LEASE_BOUNDS = { least: LIMITS.leaseMinMs, most: LIMITS.leaseMaxMs };

const MAX_COUNT = { least: 1, most: Number.MAX_SAFE_INTEGER };

/** Checked changes of a user's settings in stored form: weights in hundredths, `null` for a reset field. */
export function userPatch(options: UserOptions): UserPatch {
  checkOptions('users.set', options, USER_KEYS);
  return patchOf(options);
}

function patchOf(options: UserOptions): UserPatch {
  const { weight, maxRunning, maxQueued, rate } = options;
  return {
    ...field('weight', weight, weightOption),
    ...field('maxRunning', maxRunning, countOption),
    ...field('maxQueued', maxQueued, countOption),
    ...field('rate', rate, rateOption),
  };
}

/** The same for a queue, with its settings for users without their own. */
export function queuePatch(options: QueueOptions): QueuePatch {
  checkOptions('queues.set', options, QUEUE_KEYS);
  const { maxRunning, rate, charge, priorityWeights, criticalBurst, perUser } = options;
  return {
    ...attemptsOf(options),
    ...field('maxRunning', maxRunning, countOption),
    ...field('rate', rate, rateOption),
    ...field('charge', charge, chargeOption),
    ...field('priorityWeights', priorityWeights, weightsOption),
    ...field('criticalBurst', criticalBurst, countOption),
    ...field('perUser', perUser, perUserOption),
  };
}

/** Settings of attempts and leases. The lease is shorter than the timeout, so that a dead worker is noticed first. */
function attemptsOf({ retries, timeout, lease }: QueueOptions): QueuePatch {
  const patch = {
    ...field('retries', retries, retriesOption),
    ...field('timeoutMs', timeout, (_, value) => timeoutOption('timeout', value)),
    ...field('leaseMs', lease, (_, value) => durationOption('lease', value, LEASE_BOUNDS)),
  };
  const { leaseMs, timeoutMs } = patch;
  // A timeout of 0 is none.
  if (typeof leaseMs !== 'number' || typeof timeoutMs !== 'number') return patch;
  if (timeoutMs === 0 || leaseMs < timeoutMs) return patch;
  throw new InvalidOptionError('lease', 'less than timeout', lease);
}

/** Resets every field. */
export const RESET_USER: UserPatch = {
  weight: null,
  maxRunning: null,
  maxQueued: null,
  rate: null,
  paused: null,
};

/** Stored settings of a user as callers read them, with weights in turns. */
export function userSettingsInfo({ weight, ...rest }: UserSettings): UserSettingsInfo {
  return { ...rest, weight: weight === undefined ? 1 : weight / HUNDREDTHS };
}

/** Effective settings of a queue, as callers read them. */
export interface QueueSettingsInfo extends Omit<QueueSettings, 'perUser'> {
  /** Settings for users without their own. */
  readonly perUser?: UserSettingsInfo;
}

/** The same for a queue. */
export function queueSettingsInfo(settings: QueueSettings): QueueSettingsInfo {
  const { perUser, ...rest } = settings;
  return perUser === undefined ? rest : { ...rest, perUser: userSettingsInfo(perUser) };
}

function field<Name extends string, Value, Stored>(
  name: Name,
  value: Value | 'default' | undefined,
  check: (option: string, value: Value) => Stored,
): { readonly [K in Name]?: Stored | null } {
  if (value === undefined) return {};
  const stored = value === 'default' ? null : check(name, value);
  return { [name]: stored } as { readonly [K in Name]?: Stored | null };
}

function weightOption(option: string, value: unknown): number {
  const hundredths = typeof value === 'number' ? Math.round(value * HUNDREDTHS) : Number.NaN;
  if (hundredths >= LIMITS.weightMin && hundredths <= LIMITS.weightMax) return hundredths;
  throw new InvalidOptionError(option, 'a weight from 0.01 to 1000', value);
}

function countOption(option: string, value: unknown): number {
  return integerOption(option, value, MAX_COUNT);
}

/**
 * Checks a rate.
 *
 * @throws {@link InvalidOptionError} for an invalid rate.
 */
export function rateOption(option: string, value: unknown): RateLimit {
  checkPart(option, value, RATE_KEYS);
  const { limit, per, burst } = value;
  const most = integerOption(`${option}.limit`, limit, MAX_COUNT);
  return {
    limit: most,
    perMs: durationOption(`${option}.per`, per, { least: 1, most: LIMITS.delayMaxMs }),
    burst:
      burst === undefined
        ? Math.max(1, Math.floor(most / 10))
        : integerOption(`${option}.burst`, burst, { least: 1, most }),
  };
}

function chargeOption(option: string, value: string): 'task' | 'time' {
  if (value === 'task' || value === 'time') return value;
  throw new InvalidOptionError(option, '"task" or "time"', value);
}

function weightsOption(option: string, value: unknown): readonly number[] {
  const bounds = { least: 1, most: LIMITS.priorityWeightMax };
  if (!Array.isArray(value) || value.length !== 5) {
    throw new InvalidOptionError(option, 'five weights, of the priorities 1 to 5', value);
  }
  return value.map((weight: unknown) => integerOption(option, weight, bounds));
}

/** A patch without reset fields: those have their defaults already. */
function settingsOf(patch: UserPatch): UserSettings {
  const set = Object.entries(patch).filter(([, value]) => value !== null);
  return Object.fromEntries(set);
}

function perUserOption(option: string, value: UserOptions): UserSettings {
  checkPart(option, value, USER_KEYS);
  return settingsOf(patchOf(value));
}
