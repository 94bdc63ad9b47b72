/** Options of an enqueue: their checks, and the values that the backend stores. */
import type { Duration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkPart, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkId, checkName, checkTaskId, isId } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { EdgePolicies, EdgePolicy, KeyPolicy, KeySpec, Level } from '../domain/task/task.ts';
import { scopedKey, VERSIONINGS, type Versioning } from '../domain/task/task-name.ts';
import {
  ATTEMPT_KEYS,
  type AttemptOptions,
  type BackoffPolicy,
  backoffOption,
  costOption,
  durationOption,
  levelOf,
  oneOf,
  PLACE_KEYS,
  type PlaceOptions,
  retriesOption,
  timeoutOption,
} from '../workflow/task-options.ts';

/** Options of an idempotency key; see {@link EnqueueOptions.idempotencyKey}. */
export interface IdempotencyOptions {
  /**
   * Effect when another task holds the key: `return` (default) returns that task, `reject` throws, `replace-queued`
   * replaces its input and options if it has not started, `run-once-more` runs the newest input after the task that
   * runs now. With `scope: 'user'` only `reject` is possible.
   */
  readonly policy?: KeyPolicy | undefined;
  /** The key holds for this long, even if its task ends earlier. Default: until its task has ended. */
  readonly ttl?: Duration | undefined;
  /**
   * Scope of the key: `name` (default), tasks with the same name; `user`, all tasks of the user in the queue. The wider
   * scope only refuses tasks: no task gets the input of another name, and no handle its result.
   */
  readonly scope?: 'name' | 'user' | undefined;
}

/** Options that combine many calls into one task; see {@link EnqueueOptions.debounce}. */
export interface DebounceOptions {
  /** Key of the combined calls, of one name and user in one queue; at most 125 bytes. */
  readonly key: string;
  /** The task starts this long after the last call. */
  readonly wait: Duration;
  /** Longest time between the first call and the start. Default: unlimited. */
  readonly maxWait?: Duration | undefined;
}

/** Limits starts to one per period; see {@link EnqueueOptions.throttle}. */
export interface ThrottleOptions {
  /** Key of the limited calls, of one name and user in one queue; at most 125 bytes. */
  readonly key: string;
  /** The period: at most one start in this time. */
  readonly per: Duration;
  /** The newest input of a period runs at its end. Default false: it is dropped. */
  readonly trailing?: boolean | undefined;
}

/** An object with a task's id: a handle, or the result of `tasks.get`. */
export interface HasId {
  /** Id of the task. */
  readonly id: string;
}

/** Options of one task. They override the definition's options. */
export interface EnqueueOptions extends AttemptOptions, PlaceOptions {
  /**
   * Id of the task, 1–128 bytes. Default: a new UUID. A repeated enqueue with the same id, user,
   * name and input changes nothing, so a resend is safe.
   */
  readonly id?: string | undefined;
  /** User of the task. Default `default`, unless `requireUser` is set. */
  readonly user?: string | undefined;
  /** Time until the earliest start; negative means now. At most ten years. */
  readonly delay?: Duration | undefined;
  /** Moment of the earliest start. Cannot be combined with `delay`. */
  readonly executeAfter?: Date | number | undefined;
  /**
   * At most one task per key, name, user and queue at a time; if the task keeps a version, per version too. See
   * {@link IdempotencyOptions.scope}.
   */
  readonly idempotencyKey?: string | undefined;
  /** Options of the idempotency key. */
  readonly idempotency?: IdempotencyOptions | undefined;
  /**
   * Combines calls under one key into one task: each call postpones its start and replaces its
   * input. A call after the start makes a new task. Not with an atomic `enqueueMany`, `delay`,
   * `executeAfter`, `throttle` or `idempotencyKey`.
   */
  readonly debounce?: DebounceOptions | undefined;
  /**
   * Limits calls under one key to one task per period; the other calls return that task. Not with
   * `debounce`, nor with what `debounce` cannot be combined with.
   */
  readonly throttle?: ThrottleOptions | undefined;
  /** Tasks, by id or handle, that must finish before this one may start. At most 200. */
  readonly dependsOn?: readonly (string | HasId)[] | undefined;
  /** Effect of a failed dependency. Default `wait`: until it was redriven and finished. */
  readonly onUpstreamFailure?: EdgePolicy | undefined;
  /** Effect of a canceled dependency. Default `cancel`. */
  readonly onUpstreamCancel?: EdgePolicy | undefined;
  /** Effect of a missing dependency: `refuse` (default), count it as `satisfied`, or `block`. */
  readonly onMissing?: EdgePolicies['onMissing'] | undefined;
  /** Allow dependencies on other users' tasks. Default false. */
  readonly allowCrossUser?: boolean | undefined;
  /** `reject` throws when the id is stored already, even with the same input. Default `return`. */
  readonly onDuplicate?: 'return' | 'reject' | undefined;
  /**
   * Whether the task, or each task of a run, keeps the version of its definition: see
   * `TaskOptions`. Default: the option of the definition.
   */
  readonly versioning?: Versioning | undefined;
  /**
   * W3C trace context of the task, or of all tasks of a run. With a tracer it is the parent of the
   * enqueue's span, and its default is the active span. Without a tracer it is passed on unchanged.
   */
  readonly traceparent?: string | undefined;
}

const IDEMPOTENCY_KEYS: OptionKeys<IdempotencyOptions> = keysOf<IdempotencyOptions>()({
  policy: true,
  ttl: true,
  scope: true,
});

const WINDOW_KEYS = {
  debounce: keysOf<DebounceOptions>()({ key: true, wait: true, maxWait: true }),
  throttle: keysOf<ThrottleOptions>()({ key: true, per: true, trailing: true }),
} as const;

/** Keys of {@link EnqueueOptions}. */
export const ENQUEUE_KEYS: OptionKeys<EnqueueOptions> = keysOf<EnqueueOptions>()({
  ...ATTEMPT_KEYS,
  ...PLACE_KEYS,
  id: true,
  user: true,
  delay: true,
  executeAfter: true,
  idempotencyKey: true,
  idempotency: true,
  debounce: true,
  throttle: true,
  dependsOn: true,
  onUpstreamFailure: true,
  onUpstreamCancel: true,
  onMissing: true,
  allowCrossUser: true,
  onDuplicate: true,
  traceparent: true,
  versioning: true,
});

/** Default place of a definition's tasks. */
export interface Place {
  readonly queue: string;
  readonly level: Level;
  readonly cost: number;
  readonly expiresInMs: number | undefined;
}

/** Stored options of the attempts; the worker decides absent ones. */
export interface StoredOptions {
  /** Number of attempts after the first. */
  readonly retries?: number;
  /** Delays between attempts. */
  readonly backoff?: BackoffPolicy;
  /** Timeout in ms; 0: none. */
  readonly timeoutMs?: number;
  /** W3C trace context of its attempts. */
  readonly traceparent?: string;
}

/** Stored options of a task without options for its attempts. */
export const NO_OPTIONS = '{}';

/** Edges of a task without options for its dependencies. */
export const DEFAULT_EDGES: EdgePolicies = {
  onFailure: 'wait',
  onCancel: 'cancel',
  onMissing: 'refuse',
  allowCrossUser: false,
};

const EDGE_POLICIES: readonly unknown[] = ['wait', 'cancel', 'fail', 'run'];
const MISSING_POLICIES: readonly unknown[] = ['refuse', 'satisfied', 'block'];
const DUPLICATE_POLICIES: readonly unknown[] = ['return', 'reject'];
const KEY_SCOPES: readonly unknown[] = ['name', 'user'];
const KEY_POLICIES: readonly unknown[] = ['return', 'reject', 'replace-queued', 'run-once-more'];
/** Dependencies of a task without any. */
export const NO_DEPENDENCIES: readonly string[] = [];
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;
const ANY_TIME = { least: Number.NEGATIVE_INFINITY, most: LIMITS.delayMaxMs };
const TIME_AHEAD = { least: 1, most: LIMITS.delayMaxMs };

/** The effective place. Precedence: enqueue, definition, built-in. */
export function placeOf(options: PlaceOptions, below: Place): Place {
  const { queue, priority, cost, expiresIn } = options;
  if (queue === undefined && priority === undefined && cost === undefined) {
    if (expiresIn === undefined) return below;
  }
  return {
    queue: queue === undefined ? below.queue : checkName('queue', queue),
    level: priority === undefined ? below.level : levelOf('priority', priority),
    cost: cost === undefined ? below.cost : costOption('cost', cost),
    expiresInMs:
      expiresIn === undefined
        ? below.expiresInMs
        : durationOption('expiresIn', expiresIn, TIME_AHEAD),
  };
}

/** The earliest start of a task; `undefined`: at once. */
export function startOf(
  options: EnqueueOptions,
): { readonly delayMs?: number; readonly executeAfter?: number } | undefined {
  const { delay, executeAfter } = options;
  if (delay !== undefined && executeAfter !== undefined) {
    throw new InvalidOptionError('executeAfter', 'either delay or executeAfter', executeAfter);
  }
  if (delay !== undefined) {
    return { delayMs: Math.max(0, durationOption('delay', delay, ANY_TIME)) };
  }
  if (executeAfter === undefined) return undefined;
  const at = executeAfter instanceof Date ? executeAfter.getTime() : executeAfter;
  if (typeof at !== 'number' || !Number.isFinite(at) || Math.abs(at) > MOMENT_MAX_MS) {
    throw new InvalidOptionError('executeAfter', 'a Date, or ms since the epoch', executeAfter);
  }
  return { executeAfter: Math.max(0, Math.ceil(at)) };
}

/** The largest moment that a Date can hold, in ms since the epoch. */
const MOMENT_MAX_MS = 8_640_000_000_000_000;

/** Stored options of a task, as JSON text. */
export function storedOptions(options: EnqueueOptions): string {
  const { retries, backoff, timeout, traceparent } = options;
  if (retries === undefined && backoff === undefined && timeout === undefined) {
    if (traceparent === undefined) return NO_OPTIONS;
  }
  if (traceparent !== undefined && !isTraceparent(traceparent)) {
    throw new InvalidOptionError('traceparent', 'a W3C traceparent', traceparent);
  }
  return JSON.stringify({
    retries: retries === undefined ? undefined : retriesOption('retries', retries),
    backoff: backoff === undefined ? undefined : backoffOption('backoff', backoff),
    timeoutMs: timeout === undefined ? undefined : timeoutOption('timeout', timeout),
    traceparent,
  });
}

/** Whether a value is a W3C trace context. */
export function isTraceparent(value: unknown): value is string {
  return typeof value === 'string' && TRACEPARENT.test(value);
}

/** The distinct ids of a task's dependencies. */
export function dependenciesOf(options: EnqueueOptions): readonly string[] {
  const { dependsOn } = options;
  if (dependsOn === undefined) return NO_DEPENDENCIES;
  if (!Array.isArray(dependsOn)) {
    throw new InvalidOptionError('dependsOn', 'a list of ids or handles', dependsOn);
  }
  const ids = new Set<string>();
  const given: readonly (string | HasId)[] = dependsOn;
  for (const one of given) {
    const id: unknown = typeof one === 'string' ? one : one?.id;
    if (id === undefined) {
      throw new InvalidOptionError('dependsOn', 'ids, or handles of enqueue()', one);
    }
    ids.add(checkId('dependsOn', id));
  }
  if (ids.size > LIMITS.dependencies) {
    throw new InvalidOptionError('dependsOn', `at most ${LIMITS.dependencies} ids`, ids.size);
  }
  return [...ids];
}

/** Effects on the task of a failed, canceled, missing or foreign dependency. */
export function edgesOf(options: EnqueueOptions): EdgePolicies {
  const { onUpstreamFailure, onUpstreamCancel, onMissing, allowCrossUser } = options;
  if (
    onUpstreamFailure === undefined &&
    onUpstreamCancel === undefined &&
    onMissing === undefined &&
    allowCrossUser === undefined
  ) {
    return DEFAULT_EDGES;
  }
  return {
    onFailure: oneOf('onUpstreamFailure', onUpstreamFailure, EDGE_POLICIES) ?? 'wait',
    onCancel: oneOf('onUpstreamCancel', onUpstreamCancel, EDGE_POLICIES) ?? 'cancel',
    onMissing: oneOf('onMissing', onMissing, MISSING_POLICIES) ?? 'refuse',
    allowCrossUser: allowCrossUser === true,
  };
}

/** Prefixes of the keys of windows, which callers cannot use in other keys. */
const WINDOW_PREFIX = { debounce: '~d.', throttle: '~t.' };

/**
 * The key of the idempotency, debounce or throttle option, if there is one. Its scope is the name; for a task that
 * keeps a version, the versioned name; a run has no name yet, so `name` is absent.
 */
export function keyOf(options: EnqueueOptions, name: string | undefined): KeySpec | undefined {
  const { debounce, throttle } = options;
  const isWindow = debounce !== undefined || throttle !== undefined;
  const spec = isWindow ? windowOf(options) : idempotencyKeyOf(options);
  if (spec === undefined || name === undefined || isSharedKey(options)) return spec;
  return { ...spec, key: scopedKey(name, spec.key) };
}

/** Whether the key applies to all tasks of the user. */
export function isSharedKey({ idempotency }: EnqueueOptions): boolean {
  return idempotency?.scope === 'user';
}

/** Whether the enqueue sets that a version is kept, or not kept. */
export function versioningOf(
  options: Pick<EnqueueOptions, 'versioning'> | undefined,
): Versioning | undefined {
  const versioning = options?.versioning;
  return versioning === undefined ? undefined : oneOf('versioning', versioning, VERSIONINGS);
}

function windowOf(options: EnqueueOptions): KeySpec {
  const { debounce, throttle } = options;
  const name = debounce === undefined ? 'throttle' : 'debounce';
  for (const other of EXCLUSIVE) {
    if (other === name || options[other] === undefined) continue;
    throw new InvalidOptionError(other, `no value together with ${name}`, options[other]);
  }
  if (debounce !== undefined) {
    const key = windowKey(name, debounce);
    const waitMs = durationOption('debounce.wait', debounce.wait, TIME_AHEAD);
    if (debounce.maxWait === undefined) return { key, policy: 'debounce', waitMs };
    const bounds = { least: waitMs, most: LIMITS.delayMaxMs };
    const maxWaitMs = durationOption('debounce.maxWait', debounce.maxWait, bounds);
    return { key, policy: 'debounce', waitMs, maxWaitMs };
  }
  const key = windowKey(name, throttle);
  const perMs = durationOption('throttle.per', throttle?.per, TIME_AHEAD);
  const trailing = throttle?.trailing ?? false;
  if (typeof trailing === 'boolean') return { key, policy: 'throttle', perMs, trailing };
  throw new InvalidOptionError('throttle.trailing', 'true or false', trailing);
}

/** Options that determine the start of a task, or combine calls. */
const EXCLUSIVE = [
  'debounce',
  'throttle',
  'delay',
  'executeAfter',
  'idempotencyKey',
  'idempotency',
] as const;

function windowKey(
  name: keyof typeof WINDOW_PREFIX,
  options: { readonly key: string } | undefined,
): string {
  const prefix = WINDOW_PREFIX[name];
  checkPart(name, options, WINDOW_KEYS[name]);
  const { key } = options ?? {};
  if (isId(key) && isId(prefix + key)) return prefix + key;
  const most = LIMITS.idBytes - prefix.length;
  throw new InvalidOptionError(`${name}.key`, `an id of 1–${most} bytes`, key);
}

function idempotencyKeyOf(options: EnqueueOptions): KeySpec | undefined {
  const { idempotencyKey, idempotency } = options;
  if (idempotencyKey === undefined) {
    if (idempotency === undefined) return undefined;
    throw new InvalidOptionError('idempotency', 'an idempotencyKey with it', idempotency);
  }
  const key = checkTaskId('idempotencyKey', idempotencyKey);
  if (idempotency !== undefined) checkPart('idempotency', idempotency, IDEMPOTENCY_KEYS);
  const isShared = oneOf('idempotency.scope', idempotency?.scope, KEY_SCOPES) === 'user';
  const given = oneOf('idempotency.policy', idempotency?.policy, KEY_POLICIES);
  if (isShared && given !== undefined && given !== 'reject') {
    throw new InvalidOptionError('idempotency.policy', '"reject" with scope "user"', given);
  }
  const policy = isShared ? 'reject' : (given ?? 'return');
  const ttl = idempotency?.ttl;
  if (ttl === undefined) return { key, policy };
  return { key, policy, ttlMs: durationOption('idempotency.ttl', ttl, TIME_AHEAD) };
}

/** The task's id: the caller's, or a new one. */
export function idOf(options: EnqueueOptions, newId: () => string): string {
  return options.id === undefined ? newId() : checkTaskId('id', options.id);
}

/** Whether a stored id is refused instead of returned. */
export function rejectsDuplicate({ onDuplicate }: EnqueueOptions): boolean {
  if (onDuplicate === undefined) return false;
  return oneOf('onDuplicate', onDuplicate, DUPLICATE_POLICIES) === 'reject';
}
