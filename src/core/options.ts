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

/** Options of tasks, unless the enqueue or the definition sets them. */
export type DefaultOptions = Pick<
  TaskOptions,
  'retries' | 'backoff' | 'timeout' | 'queue' | 'priority' | 'cost' | 'expiresIn' | 'keepLogs'
>;

/** Retention of ended tasks. Absent fields have their defaults. */
export interface RetentionOptions {
  /** Default 24 h. */
  readonly finished?: Duration | undefined;
  /** Default 7 d. */
  readonly failed?: Duration | undefined;
  /** Default 24 h. */
  readonly canceled?: Duration | undefined;
  /** Most finished tasks that are kept; the oldest are removed first. Default unlimited. */
  readonly finishedCount?: number | undefined;
  /** Most failed tasks that are kept. Default unlimited: a dead letter removed by count may go unnoticed. */
  readonly failedCount?: number | undefined;
  /** Most canceled tasks that are kept. Default unlimited. */
  readonly canceledCount?: number | undefined;
}

/** Defaults of schedules. */
export interface ScheduleDefaults {
  /**
   * Default time zone of cron patterns, by its IANA name: read when a schedule is set, and stored
   * with it. Default `UTC`.
   */
  readonly timeZone?: string | undefined;
}

/** Options of XCom, named values that tasks pass on. */
export interface XComOptions {
  /** How long a value is kept after the end of its writer, unless its push sets it. Default 1 h. */
  readonly ttl?: Duration | undefined;
}

/** Options of a {@link Fairloom}. */
export interface FairloomOptions {
  /**
   * Store of tasks: `memory()`, `file(…)` of `fairloom/file`, or `redis(…)` of `fairloom/redis`. Closed
   * with the client.
   */
  readonly backend: Backend;
  /** Definitions that this process can run: a list, or a module (`import * as tasks`). */
  readonly tasks?: TaskSource | undefined;
  /** Runtimes of the tasks of `handlerTask`, by the name that these use. Closed with the client. */
  readonly handlers?: HandlerMap | undefined;
  /** Refuse tasks without a user, instead of using `default`. Default false. */
  readonly requireUser?: boolean | undefined;
  /** Options of tasks, unless the enqueue or the definition sets them. */
  readonly defaults?: DefaultOptions | undefined;
  /** Retention of ended tasks. */
  readonly retention?: RetentionOptions | undefined;
  /** Defaults of schedules that this client sets. */
  readonly scheduler?: ScheduleDefaults | undefined;
  /** Options of `ctx.xcom` and `loom.xcom`. */
  readonly xcom?: XComOptions | undefined;
  /** Receiver of log lines. Default: stderr. */
  readonly log?: Logger | undefined;
  /** Lowest level of logged lines. Default: `info` on stderr; all for your own `log`. */
  readonly logLevel?: LogLevel | undefined;
  /**
   * Include the message of the error in lines about failed attempts, which may reveal inputs; the
   * name of the error is always included. Default true.
   */
  readonly logErrors?: boolean | undefined;
  /** Count what this process stores and runs by minute and hour, for `loom.series`. Default true. */
  readonly series?: boolean | undefined;
  /** Metrics of the client: `prometheus(…)` or `openTelemetry(…)` of `fairloom/metrics`. */
  readonly metrics?: Instruments | undefined;
  /**
   * Tracing system: `openTelemetry()` of `fairloom/tracing`, or any other {@link Tracer}. Default:
   * none; a `traceparent` is then passed on unchanged.
   */
  readonly tracer?: Tracer | undefined;
  /** Codec between values and texts: `encrypted({ keys })`, or your own. Default: strict JSON. */
  readonly codec?: Codec | undefined;
  /** Default: the machine's clock. Give the embedded backend the same one. */
  readonly clock?: Clock | undefined;
  /** Random numbers in [0, 1) for jitter. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Generator of task ids. Default: UUIDs of version 7. */
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

/** Keys of {@link FairloomOptions}. */
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

/** Boolean options. */
const SWITCHES = ['requireUser', 'logErrors', 'series'] as const;

/** Required methods of objects in these options. */
const METHODS = {
  log: ['debug', 'info', 'warn', 'error'],
  metrics: ['backend', 'client', 'worker', 'scheduler'],
  tracer: ['start'],
  codec: ['encode', 'decode'],
  clock: ['now', 'setTimer'],
} as const;

const THINGS = {
  log: 'a Logger: debug, info, warn, error',
  metrics: 'the result of prometheus() or openTelemetryMetrics()',
  tracer: 'a tracer such as openTelemetry()',
  codec: 'a Codec: encode and decode',
  clock: 'a Clock: now and setTimer',
} as const;

/** @throws {@link InvalidOptionError} for an invalid level. */
export function logLevelOf(level: unknown): LogLevel | undefined {
  const known = LOG_LEVEL_NAMES.find((name) => name === level);
  if (level === undefined || known !== undefined) return known;
  throw new InvalidOptionError('logLevel', LOG_LEVEL_NAMES.join(', '), level);
}

const COUNT = { least: 1, most: Number.MAX_SAFE_INTEGER };

/** @throws {@link InvalidOptionError} for the first invalid option. */
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

/** @throws {@link InvalidOptionError} for an unknown zone. */
export function defaultZoneOf(options: ScheduleDefaults = {}): string {
  checkPart('scheduler', options, SCHEDULER_KEYS);
  // Checking a zone takes ten milliseconds, in a process that may have no schedules.
  const { timeZone = 'UTC' } = options;
  if (timeZone === 'UTC' || isZone(timeZone)) return timeZone;
  throw new InvalidOptionError('scheduler.timeZone', AN_IANA_ZONE, timeZone);
}

/** Checked retention with defaults, in ms: a day for finished and canceled tasks, a week for failed ones. */
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

/** Retention of XCom values, in ms. @throws {@link InvalidOptionError} */
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
