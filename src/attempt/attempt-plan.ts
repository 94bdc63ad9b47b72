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

/** What holds for the attempts of one task. */
export interface AttemptPlan {
  readonly policy: RetryPolicy;
  /** 0: none. */
  readonly timeoutMs: number;
  /** Says the wait in place of the policy. */
  readonly backoff: BackoffFunction | undefined;
  readonly decider: Decider;
  readonly keepLogs: KeepLogs;
  readonly traceparent: string | undefined;
}

/** What a definition may leave open. */
export type AttemptDefaults = Pick<TaskOptions, 'retries' | 'backoff' | 'timeout' | 'keepLogs'>;

/** The default wait between attempts. */
const BUILT_IN_BACKOFF = backoffOption('backoff', {});

/** Plans per definition, so that the usual task costs a look-up. */
export class PlanCache {
  readonly #defaults: AttemptDefaults;
  readonly #decider: Decider;
  readonly #plans = new WeakMap<TaskDefinition, AttemptPlan>();

  /** `defaults` is `FairloomOptions.defaults`; the decider is the worker's, if it has one. */
  constructor(defaults: AttemptDefaults, decider: Decider | undefined) {
    this.#defaults = defaults;
    this.#decider = decider ?? decide;
  }

  /** The enqueue goes before the definition, that before the queue, that before the defaults. */
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

/** The wait that a definition's function says, in ms; `undefined` when it says nothing usable. */
export function functionWaitMs(plan: AttemptPlan, attempt: number): number | undefined {
  if (plan.backoff === undefined) return undefined;
  const ms = durationMs(callUserCode(plan.backoff, attempt));
  return ms === undefined ? undefined : Math.min(Math.max(0, ms), LIMITS.delayMaxMs);
}

/** What the queue says, where the definition says nothing. */
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
