/** Options of definitions and of single tasks, and their checks. */
import { type Duration, durationMs } from '../base/time.ts';
import type { Decider } from '../domain/attempt/decider.ts';
import type { RetryPolicy } from '../domain/attempt/retry-policy.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkPart, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Level } from '../domain/task/task.ts';
import { KEEP_LOGS, type KeepLogs } from '../domain/task/task-log.ts';
import { VERSIONINGS, type Versioning } from '../domain/task/task-name.ts';
import type { StandardSchemaV1 } from './standard-schema.ts';

/** Names of the priorities 1 to 6. */
export type PriorityName = 'very-low' | 'low' | 'normal' | 'high' | 'very-high' | 'critical';

/** Order within one user: 6, `critical`, is first; default 3, `normal`. */
export type Priority = Level | PriorityName;

/** Delay before the next attempt. */
export interface BackoffOptions {
  /** Default `exponential`: `base`, twice that, four times that… */
  readonly kind?: 'exponential' | 'fixed' | undefined;
  /** The first delay (`exponential`) or every delay (`fixed`). Default 1 s. */
  readonly base?: Duration | undefined;
  /** Longest delay. Default 1 h. */
  readonly max?: Duration | undefined;
  /** `full`: random from 0 to the delay. `equal`: random from half the delay. Default `full`. */
  readonly jitter?: 'full' | 'equal' | 'none' | undefined;
}

const BACKOFF_KEYS: OptionKeys<BackoffOptions> = keysOf<BackoffOptions>()({
  kind: true,
  base: true,
  max: true,
  jitter: true,
});

/** The delay after the failed attempt of this number (from 1). */
export type BackoffFunction = (attempt: number) => Duration;

/** Options of an attempt. Only those that the enqueue sets are stored with a task. */
export interface AttemptOptions {
  /** Number of attempts after the first. Default 3. */
  readonly retries?: number | undefined;
  /** Delays between attempts; data, so that it can be stored. */
  readonly backoff?: BackoffOptions | undefined;
  /** Longest run time of one attempt, without its waits. Default 15 min. */
  readonly timeout?: Duration | 'none' | undefined;
}

/** Keys of {@link AttemptOptions}. */
export const ATTEMPT_KEYS: OptionKeys<AttemptOptions> = keysOf<AttemptOptions>()({
  retries: true,
  backoff: true,
  timeout: true,
});

/** Queue, priority and cost of a task. */
export interface PlaceOptions {
  /** Name of the queue. Default `default`. */
  readonly queue?: string | undefined;
  /** Order among the user's own tasks. Default `normal`. */
  readonly priority?: Priority | undefined;
  /** Number of turns that the task takes from its user, above 0. Default 1. */
  readonly cost?: number | undefined;
  /** If it has not started this long after it was due, it ends as `failed(expired)`. */
  readonly expiresIn?: Duration | undefined;
}

/** Keys of {@link PlaceOptions}. */
export const PLACE_KEYS: OptionKeys<PlaceOptions> = keysOf<PlaceOptions>()({
  queue: true,
  priority: true,
  cost: true,
  expiresIn: true,
});

/** Options of a definition. Options of an enqueue override them. */
export interface TaskOptions extends PlaceOptions {
  /** Number of attempts after the first. Default 3. */
  readonly retries?: number | undefined;
  /** Delays between attempts. Default: exponential from 1 s to 1 h with full jitter. */
  readonly backoff?: BackoffOptions | BackoffFunction | undefined;
  /** Longest run time of one attempt, without its waits. Default 15 min. */
  readonly timeout?: Duration | 'none' | undefined;
  /** Decides what follows an attempt; must be pure. Default: the rules of `retries` and `backoff`. */
  readonly decider?: Decider | undefined;
  /** Checks the handler's result; the output of the schema is stored. */
  readonly output?: StandardSchemaV1 | undefined;
  /**
   * Shares its result: `ctx.xcom.pull(definition)` returns the latest of the same user. Default
   * false.
   */
  readonly xcom?: boolean | undefined;
  /**
   * Which lines of `ctx.log` are stored, for `loom.tasks.logs`: the newest 200 of attempts that fail or
   * take longer than a second (`failures`), of all (`always`) or of none (`never`). Default `failures`.
   */
  readonly keepLogs?: KeepLogs | undefined;
  /**
   * Version of the handler: raise it when new code cannot continue what old code has begun. Only
   * workers with this version run the enqueued tasks, and graphs of workflows get another hash.
   * Default: none; any worker that knows the name runs them.
   */
  readonly version?: string | undefined;
  /**
   * `pin` (default): an enqueued task keeps the version of its definition. `latest`: it runs with
   * the newest version that its worker has.
   */
  readonly versioning?: Versioning | undefined;
  /** Set by a schema, which also sets the type of the input. */
  readonly input?: never;
}

/** Keys of {@link TaskOptions}. */
export const TASK_KEYS: OptionKeys<TaskOptions> = keysOf<TaskOptions>()({
  ...ATTEMPT_KEYS,
  ...PLACE_KEYS,
  decider: true,
  input: true,
  output: true,
  xcom: true,
  keepLogs: true,
  version: true,
  versioning: true,
});

/** Names of the priorities 1 to 6. */
export const PRIORITY_NAMES: readonly PriorityName[] = [
  'very-low',
  'low',
  'normal',
  'high',
  'very-high',
  'critical',
];

const LEVELS: ReadonlyMap<unknown, Level> = new Map<unknown, Level>(
  ([1, 2, 3, 4, 5, 6] as const).flatMap((level) => [
    [PRIORITY_NAMES[level - 1], level],
    [level, level],
  ]),
);

const BACKOFF_KINDS = ['exponential', 'fixed'] as const;
const JITTERS = ['full', 'equal', 'none'] as const;

/** The level of a priority. */
export function levelOf(option: string, priority: unknown): Level {
  const level = LEVELS.get(priority);
  if (level !== undefined) return level;
  throw new InvalidOptionError(option, 'a priority from 1 to 6, or its name', priority);
}

/** A duration within bounds, in ms; negative ones count as `least`. */
export function durationOption(
  option: string,
  value: unknown,
  bounds: { readonly least: number; readonly most: number },
): number {
  const ms = durationMs(value);
  if (ms === undefined || ms > bounds.most || ms < bounds.least) {
    const range = Number.isFinite(bounds.least) ? `from ${bounds.least} to` : 'at most';
    const expected = `ms or a text such as "30s", ${range} ${bounds.most} ms`;
    throw new InvalidOptionError(option, expected, value);
  }
  return ms;
}

/** A number of retries: a non-negative integer. */
export function retriesOption(option: string, value: unknown): number {
  return integerOption(option, value, { least: 0, most: LIMITS.retriesMax });
}

/** An integer within bounds. */
export function integerOption(
  option: string,
  value: unknown,
  bounds: { readonly least: number; readonly most: number },
): number {
  const { least, most } = bounds;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) {
    return value;
  }
  throw new InvalidOptionError(option, `a whole number from ${least} to ${most}`, value);
}

/** One of some texts, or `undefined`. */
export function oneOf<T>(option: string, value: T, allowed: readonly unknown[]): T {
  if (value === undefined || allowed.includes(value)) return value;
  throw new InvalidOptionError(option, allowed.map((one) => `"${one}"`).join(', '), value);
}

/** A timeout in ms; 0 means none. */
export function timeoutOption(option: string, value: unknown): number {
  if (value === 'none') return 0;
  return durationOption(option, value, { least: 1, most: LIMITS.delayMaxMs });
}

/** A cost in turns. */
export function costOption(option: string, value: unknown): number {
  if (typeof value === 'number' && value > 0 && value <= LIMITS.costMax) return value;
  throw new InvalidOptionError(option, `a number above 0, at most ${LIMITS.costMax}`, value);
}

/** Backoff as it is stored: durations in ms. */
export type BackoffPolicy = Omit<RetryPolicy, 'retries'>;

/** Checks a backoff and adds the defaults. */
export function backoffOption(option: string, value: unknown): BackoffPolicy {
  checkPart(option, value, BACKOFF_KEYS);
  const {
    kind: givenKind = 'exponential',
    base = LIMITS.backoffMs,
    jitter: givenJitter = 'full',
  } = value;
  const { max = LIMITS.backoffMaxMs } = value;
  const kind = BACKOFF_KINDS.find((one) => one === givenKind);
  if (kind === undefined) {
    throw new InvalidOptionError(`${option}.kind`, '"exponential" or "fixed"', givenKind);
  }
  const jitter = JITTERS.find((one) => one === givenJitter);
  if (jitter === undefined) {
    throw new InvalidOptionError(`${option}.jitter`, '"full", "equal" or "none"', givenJitter);
  }
  const bounds = { least: 0, most: LIMITS.delayMaxMs };
  const baseMs = durationOption(`${option}.base`, base, bounds);
  const maxMs = durationOption(`${option}.max`, max, bounds);
  return { kind, baseMs, maxMs: Math.max(maxMs, kind === 'fixed' ? baseMs : 0), jitter };
}

/** Checks options of a definition or `FairloomOptions.defaults`, so that a typo fails at once. */
export function checkTaskOptions(where: string, options: TaskOptions): void {
  const { retries, backoff, timeout, queue, priority, cost, expiresIn } = options;
  if (retries !== undefined) retriesOption(`${where}.retries`, retries);
  if (backoff !== undefined && typeof backoff !== 'function') {
    backoffOption(`${where}.backoff`, backoff);
  }
  if (timeout !== undefined) timeoutOption(`${where}.timeout`, timeout);
  if (queue !== undefined) checkName(`${where}.queue`, queue);
  if (priority !== undefined) levelOf(`${where}.priority`, priority);
  if (cost !== undefined) costOption(`${where}.cost`, cost);
  if (expiresIn !== undefined) {
    durationOption(`${where}.expiresIn`, expiresIn, { least: 1, most: LIMITS.delayMaxMs });
  }
  if (options.xcom !== undefined && typeof options.xcom !== 'boolean') {
    throw new InvalidOptionError(`${where}.xcom`, 'true or false', options.xcom);
  }
  if (options.version !== undefined) checkName(`${where}.version`, options.version);
  oneOf(`${where}.keepLogs`, options.keepLogs, KEEP_LOGS);
  oneOf(`${where}.versioning`, options.versioning, VERSIONINGS);
  if (options.decider !== undefined && typeof options.decider !== 'function') {
    throw new InvalidOptionError(`${where}.decider`, 'a function', options.decider);
  }
}
