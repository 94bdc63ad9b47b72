import { callUserCode } from '../base/async-scope.ts';
import { durationMs } from '../base/time.ts';
import { type Decider, decide } from '../domain/attempt/decider.ts';
import type { RetryPolicy } from '../domain/attempt/retry-policy.ts';
import type { AttemptSettings } from '../domain/fairness/settings.ts';
import { LIMITS } from '../domain/limits.ts';
import type { KeepLogs } from '../domain/task/task-log.ts';
import { NO_OPTIONS } from '../enqueue/enqueue-options.ts';
import { readStoredOptions } from '../enqueue/stored-options.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';
import {
  type BackoffFunction,
  backoffOption,
  retriesOption,
  type TaskOptions,
  timeoutOption,
} from '../workflow/task-options.ts';

/** Settings of the attempts of one task. */
export interface AttemptPlan {
  readonly policy: RetryPolicy;
  /** Timeout in ms; 0: none. */
  readonly timeoutMs: number;
  /** Computes the delay instead of the policy. */
  readonly backoff: BackoffFunction | undefined;
  readonly decider: Decider;
  readonly keepLogs: KeepLogs;
  readonly traceparent: string | undefined;
}

/** Options that a definition may omit. */
export type AttemptDefaults = Pick<TaskOptions, 'retries' | 'backoff' | 'timeout' | 'keepLogs'>;

/** The default delay between attempts. */
const BUILT_IN_BACKOFF = backoffOption('backoff', {});

/** Plans by definition, so that a task without options of its own needs only a look-up. */
export class PlanCache {
  readonly #defaults: AttemptDefaults;
  readonly #decider: Decider;
  readonly #plans = new WeakMap<TaskDefinition, AttemptPlan>();

  /** `defaults`: `FairloomOptions.defaults`; `decider`: the worker's, if it has one. */
  constructor(defaults: AttemptDefaults, decider: Decider | undefined) {
    this.#defaults = defaults;
    this.#decider = decider ?? decide;
  }

  /** Precedence: enqueue, definition, queue, defaults. */
  planFor(
    definition: TaskDefinition,
    stored: string,
    attemptSettings: AttemptSettings | undefined,
  ): AttemptPlan {
    const known = this.#planOf(definition);
    const plan =
      attemptSettings === undefined ? known : withSettings(known, definition, attemptSettings);
    return stored === NO_OPTIONS || stored === '' ? plan : joined(plan, stored);
  }

  #planOf(definition: TaskDefinition): AttemptPlan {
    const known = this.#plans.get(definition);
    if (known !== undefined) return known;
    const { options } = definition;
    const {
      retries = this.#defaults.retries,
      timeout = this.#defaults.timeout,
      backoff = this.#defaults.backoff,
      keepLogs = this.#defaults.keepLogs ?? 'failures',
    } = options;
    const isFunction = typeof backoff === 'function';
    const waits =
      backoff === undefined || isFunction ? BUILT_IN_BACKOFF : backoffOption('backoff', backoff);
    const plan: AttemptPlan = {
      policy: {
        ...waits,
        retries: retries === undefined ? LIMITS.retries : retriesOption('retries', retries),
      },
      timeoutMs: timeout === undefined ? LIMITS.timeoutMs : timeoutOption('timeout', timeout),
      backoff: isFunction ? backoff : undefined,
      decider: options.decider ?? this.#decider,
      keepLogs,
      traceparent: undefined,
    };
    this.#plans.set(definition, plan);
    return plan;
  }
}

/** The delay that a definition's function returns, in ms; `undefined` if it is unusable. */
export function functionWaitMs(plan: AttemptPlan, attempt: number): number | undefined {
  if (plan.backoff === undefined) return undefined;
  const ms = durationMs(callUserCode(plan.backoff, attempt));
  return ms === undefined ? undefined : Math.min(Math.max(0, ms), LIMITS.delayMaxMs);
}

/** Adds the queue's settings that the definition does not set. */
function withSettings(
  plan: AttemptPlan,
  { options }: TaskDefinition,
  attemptSettings: AttemptSettings,
): AttemptPlan {
  const retries = options.retries === undefined ? attemptSettings.retries : undefined;
  const timeoutMs = options.timeout === undefined ? attemptSettings.timeoutMs : undefined;
  return {
    ...plan,
    policy: retries === undefined ? plan.policy : { ...plan.policy, retries },
    timeoutMs: timeoutMs ?? plan.timeoutMs,
  };
}

function joined(plan: AttemptPlan, stored: string): AttemptPlan {
  const { retries, backoff, timeoutMs, traceparent } = readStoredOptions(stored);
  return {
    policy: {
      ...plan.policy,
      ...backoff,
      retries: retries ?? plan.policy.retries,
    },
    timeoutMs: timeoutMs ?? plan.timeoutMs,
    backoff: backoff === undefined ? plan.backoff : undefined,
    decider: plan.decider,
    keepLogs: plan.keepLogs,
    traceparent,
  };
}
