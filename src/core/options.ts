import type { Logger } from '../base/logger.ts';
import { keysIn } from '../base/records.ts';
import type { Clock, Duration } from '../base/time.ts';
import type { Codec } from '../codec/sealed-codec.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import {
  checkOptions as checkKeys,
  checkPart,
  keysOf,
  type OptionKeys,
} from '../domain/errors/options.ts';
import type { Retention } from '../domain/fairness/settings.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend } from '../domain/port/backend.ts';
import type { HandlerMap } from '../handlers/handler-source.ts';
import type { TaskSource } from '../handlers/registry.ts';
import { LOG_LEVEL_NAMES, type LogLevel } from '../logging/logger.ts';
import { AN_IANA_ZONE, isZone } from '../schedules/timing/zone.ts';
import type { Tracer } from '../tracing/tracer.ts';
import {
  ATTEMPT_KEYS,
  checkTaskOptions,
  durationOption,
  integerOption,
  PLACE_KEYS,
  type TaskOptions,
} from '../workflow/task-options.ts';
import type { Instruments } from './instruments.ts';

/** Options that hold where neither an enqueue nor a definition says anything. */
export type DefaultOptions = Pick<
  TaskOptions,
  'retries' | 'backoff' | 'timeout' | 'queue' | 'priority' | 'cost' | 'expiresIn' | 'keepLogs'
>;

/** How long ended tasks are kept. Absent fields have their defaults. */
export interface RetentionOptions {
  /** Default 24 h. */
  readonly finished?: Duration | undefined;
  /** Default 7 d. */
  readonly failed?: Duration | undefined;
  /** Default 24 h. */
  readonly canceled?: Duration | undefined;
  /** At most so many, oldest removed first. Default unlimited. */
  readonly finishedCount?: number | undefined;
  /** At most so many. Default unlimited: a dead letter dropped by count may be missed. */
  readonly failedCount?: number | undefined;
  /** At most so many. Default unlimited. */
  readonly canceledCount?: number | undefined;
}

/** What holds for schedules that do not say otherwise. */
export interface ScheduleDefaults {
  /**
   * The zone of cron patterns that name none, by its IANA name: read when a schedule is set, and stored
   * with it. Default `UTC`.
   */
  readonly timeZone?: string | undefined;
}

/** Of values that tasks hand on by name. */
export interface XComOptions {
  /** How long one is kept after the end of its writer unless its push says so. Default 1 h. */
  readonly ttl?: Duration | undefined;
}

/** What a {@link Fairloom} is made of. */
export interface FairloomOptions {
  /** Where tasks live: `memory()`, `file(…)` of `fairloom/file`, or `redis(…)` of `fairloom/redis`. Closed with the client. */
  readonly backend: Backend;
  /** Definitions that this process can run: a list, or a module (`import * as tasks`). */
  readonly tasks?: TaskSource | undefined;
  /** What runs the tasks of `handlerTask`, by the name that these use. Closed with the client. */
  readonly handlers?: HandlerMap | undefined;
  /** Refuse tasks without a user, instead of counting them as `default`'s. Default false. */
  readonly requireUser?: boolean | undefined;
  /** What holds where neither an enqueue nor a definition says anything. */
  readonly defaults?: DefaultOptions | undefined;
  /** How long ended tasks are kept. */
  readonly retention?: RetentionOptions | undefined;
  /** What holds for schedules that this client sets. */
  readonly scheduler?: ScheduleDefaults | undefined;
  /** What holds for `ctx.xcom` and `loom.xcom`. */
  readonly xcom?: XComOptions | undefined;
  /** Where lines go. Default: stderr. */
  readonly log?: Logger | undefined;
  /** How loud a line must be. Default: `info` on stderr; a `log` of your own gets all of them. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Whether lines about failed attempts have the messages of what handlers threw, which may tell of
   * inputs; its name they have in any case. Default true.
   */
  readonly logErrors?: boolean | undefined;
  /**
   * Whether this process counts what it stores and runs by minute and hour, for `loom.series`. Default true.
   */
  readonly series?: boolean | undefined;
  /** What measures the client: `prometheus(…)` or `openTelemetry(…)` of `fairloom/metrics`. */
  readonly metrics?: Instruments | undefined;
  /**
   * Where spans go: `openTelemetry()` of `fairloom/tracing`, or any other {@link Tracer}. Default:
   * nowhere; a `traceparent` is then handed on as its caller gave it.
   */
  readonly tracer?: Tracer | undefined;
  /** How values become text: `encrypted({ keys })`, or one of your own. Default: strict JSON. */
  readonly codec?: Codec | undefined;
  /** Default: the machine's clock. Give the embedded backend the same one. */
  readonly clock?: Clock | undefined;
  /** Numbers in [0, 1) for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Makes the ids of tasks. Default: UUIDs of version 7. */
  readonly newId?: (() => string) | undefined;
}

const DEFAULT_KEYS: OptionKeys<DefaultOptions> = keysOf<DefaultOptions>()({
  ...ATTEMPT_KEYS,
  ...PLACE_KEYS,
  keepLogs: true,
});

const RETENTION_KEYS: OptionKeys<RetentionOptions> = keysOf<RetentionOptions>()({
  finished: true,
  failed: true,
  canceled: true,
  finishedCount: true,
  failedCount: true,
  canceledCount: true,
});

const SCHEDULER_KEYS: OptionKeys<ScheduleDefaults> = keysOf<ScheduleDefaults>()({
  timeZone: true,
});

const XCOM_KEYS: OptionKeys<XComOptions> = keysOf<XComOptions>()({ ttl: true });

/** What may stand in {@link FairloomOptions}. */
export const CLIENT_KEYS: OptionKeys<FairloomOptions> = keysOf<FairloomOptions>()({
  backend: true,
  tasks: true,
  handlers: true,
  requireUser: true,
  defaults: true,
  retention: true,
  scheduler: true,
  xcom: true,
  log: true,
  logLevel: true,
  logErrors: true,
  series: true,
  metrics: true,
  tracer: true,
  codec: true,
  clock: true,
  random: true,
  newId: true,
});

/** Options that are on or off. */
const SWITCHES = ['requireUser', 'logErrors', 'series'] as const;

/** What an object must be able to do, to be taken for one of these. */
const METHODS = {
  log: ['debug', 'info', 'warn', 'error'],
  metrics: ['backend', 'client', 'worker', 'scheduler'],
  tracer: ['start'],
  codec: ['encode', 'decode'],
  clock: ['now', 'setTimer'],
} as const;

const THINGS = {
  log: 'a Logger: debug, info, warn, error',
  metrics: 'what prometheus() or openTelemetryMetrics() makes',
  tracer: 'a tracer such as openTelemetry()',
  codec: 'a Codec: encode and decode',
  clock: 'a Clock: now and setTimer',
} as const;

/** @throws {@link InvalidOptionError} when it is no level. */
export function logLevelOf(level: unknown): LogLevel | undefined {
  const known = LOG_LEVEL_NAMES.find((name) => name === level);
  if (level === undefined || known !== undefined) return known;
  throw new InvalidOptionError('logLevel', LOG_LEVEL_NAMES.join(', '), level);
}

const COUNT = { least: 1, most: Number.MAX_SAFE_INTEGER };

/** @throws {@link InvalidOptionError} for the first option that is not what it should be. */
export function checkOptions(options: FairloomOptions): void {
  checkKeys('new Fairloom', options, CLIENT_KEYS);
  const { backend, defaults, random, newId, scheduler } = options;
  if (typeof backend?.tasks?.enqueue !== 'function') {
    throw new InvalidOptionError('backend', 'a backend such as memory()', backend);
  }
  logLevelOf(options.logLevel);
  if (defaults !== undefined) {
    checkPart('defaults', defaults, DEFAULT_KEYS);
    checkTaskOptions('defaults', defaults);
  }
  if (scheduler !== undefined) defaultZoneOf(scheduler);
  for (const name of SWITCHES) {
    const value: unknown = options[name];
    if (value === undefined || typeof value === 'boolean') continue;
    throw new InvalidOptionError(name, 'true or false', value);
  }
  for (const option of keysIn(METHODS)) {
    const value: unknown = options[option];
    if (value !== undefined && !can(value, METHODS[option])) {
      throw new InvalidOptionError(option, THINGS[option], value);
    }
  }
  for (const [option, value] of Object.entries({ random, newId })) {
    if (value !== undefined && typeof value !== 'function') {
      throw new InvalidOptionError(option, 'a function', value);
    }
  }
}

function can(value: unknown, methods: readonly string[]): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return methods.every((method) => typeof Reflect.get(value, method) === 'function');
}

/** @throws {@link InvalidOptionError} when there is no such zone. */
export function defaultZoneOf(options: ScheduleDefaults = {}): string {
  checkPart('scheduler', options, SCHEDULER_KEYS);
  // To know any zone takes a process that has none to do with for ten milliseconds.
  const { timeZone = 'UTC' } = options;
  if (timeZone === 'UTC' || isZone(timeZone)) return timeZone;
  throw new InvalidOptionError('scheduler.timeZone', AN_IANA_ZONE, timeZone);
}

/**
 * Checked retention with all defaults, in ms: a day for what finished or was canceled, a week for
 * what failed.
 */
export function retentionOf(options: RetentionOptions = {}): Retention {
  checkPart('retention', options, RETENTION_KEYS);
  const { finished, failed, canceled } = options;
  return {
    finishedMs: kept('finished', finished, LIMITS.retainFinishedMs),
    failedMs: kept('failed', failed, LIMITS.retainFailedMs),
    canceledMs: kept('canceled', canceled, LIMITS.retainCanceledMs),
    ...count('finishedCount', options.finishedCount),
    ...count('failedCount', options.failedCount),
    ...count('canceledCount', options.canceledCount),
  };
}

/** How long XCom values are kept, in ms. @throws {@link InvalidOptionError} */
export function xcomTtlOf(options: { readonly ttl?: unknown } = {}): number {
  checkPart('xcom', options, XCOM_KEYS);
  const { ttl } = options;
  const bounds = { least: 1, most: LIMITS.delayMaxMs };
  return ttl === undefined ? LIMITS.xcomTtlMs : durationOption('xcom.ttl', ttl, bounds);
}

function kept(state: string, value: Duration | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  return durationOption(`retention.${state}`, value, { least: 0, most: LIMITS.delayMaxMs });
}

function count(name: string, value: number | undefined): { readonly [name: string]: number } {
  if (value === undefined) return {};
  return { [name]: integerOption(`retention.${name}`, value, COUNT) };
}
