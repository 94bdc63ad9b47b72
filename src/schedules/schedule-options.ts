/** What a caller may say about a schedule, and its timing checked. */
import type { Duration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import {
  MISSED_POLICIES,
  type MissedPolicy,
  OVERLAP_POLICIES,
  type OverlapPolicy,
} from '../domain/port/schedule.ts';
import { ENQUEUE_KEYS, type EnqueueOptions } from '../enqueue/enqueue-options.ts';
import type { RunEnqueueOptions } from '../runs/run-options.ts';
import type { Step } from '../workflow/step.ts';
import { durationOption, integerOption, oneOf } from '../workflow/task-options.ts';
import type { EventReferences, SlotReferences } from './template.ts';
import type { Timing } from './timing/timing.ts';

/** When a schedule fires. */
export interface ScheduleTiming {
  /**
   * A cron pattern of 5 fields, or 6 with seconds first; names, `L`, `W`, `#`, `@daily` and its
   * like. At most 256 characters. This or `every`.
   */
  readonly cron?: string | undefined;
  /** A length, from 1 s to ten years: counted from `start`, or from when the schedule was made. */
  readonly every?: Duration | undefined;
  /** The zone of the pattern, by its IANA name. Default that of `FairloomOptions.scheduler`, else `UTC`. */
  readonly timeZone?: string | undefined;
  /** No slot before this moment: a Date, or ms since the epoch. */
  readonly start?: Date | number | undefined;
  /** No slot after this moment. */
  readonly end?: Date | number | undefined;
  /** It is over after so many tasks. */
  readonly limit?: number | undefined;
  /** Each slot is late by up to this much, always by the same; at most a day. Default none. */
  readonly jitter?: Duration | undefined;
}

/** What happens when things do not go by the clock. */
export interface SchedulePolicies {
  /**
   * Slots that no scheduler fired within a minute: fire the latest of them (`one`, the default), none
   * (`skip`), or all. With `all` they run one after the other, unless `overlap` is set.
   */
  readonly missed?: MissedPolicy | undefined;
  /** Most missed slots that `all` fires, the newest; at most 1,000. Default 100. */
  readonly missedCap?: number | undefined;
  /**
   * At a slot while the task of an earlier one has not ended: pass over it (`skip`, the default),
   * fire anyway (`allow`), let one wait (`queue-one`), or ask the earlier one to end and start
   * behind it (`cancel-previous`).
   */
  readonly overlap?: OverlapPolicy | undefined;
}

/** Options of an enqueue that make no sense for many tasks. */
export type OneTimeOptions =
  | 'id'
  | 'executeAfter'
  | 'dependsOn'
  | 'onUpstreamFailure'
  | 'onUpstreamCancel'
  | 'onMissing'
  | 'allowCrossUser'
  | 'onDuplicate'
  | 'traceparent';

/** What holds for each task of a schedule, as for `enqueue`. */
export interface TemplateTaskOptions extends Omit<EnqueueOptions, OneTimeOptions> {
  /** See {@link RunEnqueueOptions.checkpoint}; for pipelines. */
  readonly checkpoint?: RunEnqueueOptions['checkpoint'];
}

/** Everything about a schedule but what it starts; the rest as for `enqueue`. */
export interface CommonScheduleOptions
  extends ScheduleTiming,
    SchedulePolicies,
    TemplateTaskOptions {}

/** Everything about a schedule that fires at events but what it starts. Its `user` is the one whose events they are. */
export interface CommonEventOptions extends TemplateTaskOptions {
  /** The name of the events, as `order.paid`. */
  readonly event: string;
  /** Events about this alone. Default: about anything. */
  readonly key?: string | undefined;
}

/** The input of each task: data, or a function that is called once, with references. */
export type ScheduleInput<I> = I | ((slot: SlotReferences) => I);

/** A schedule of a task or a pipeline. */
export type ScheduleOptions<I, O, X> = CommonScheduleOptions & {
  /** What is started at each slot. A pipeline becomes a driven run. */
  readonly task: Step<I, O, X>;
} & (undefined extends I
    ? {
        /** Data, or a function that is called once, with references. */
        readonly input?: ScheduleInput<NoInfer<I>> | undefined;
      }
    : {
        /** Data, or a function that is called once, with references. */
        readonly input: ScheduleInput<NoInfer<I>>;
      });

/** A schedule for callers that have the name of a task only. */
export interface NamedScheduleOptions extends CommonScheduleOptions {
  /** Of a task. */
  readonly name: string;
  /** Data, or a function that is called once, with references. */
  readonly input?: unknown;
}

/** What each event makes of the input: data, or a function that is called once, with references. */
export type EventInput<I> = I | ((event: EventReferences) => I);

/** A schedule of a task or a pipeline that events start. */
export interface EventScheduleOptions<I, O, X> extends CommonEventOptions {
  /** What is started by each event. A pipeline becomes a driven run. */
  readonly task: Step<I, O, X>;
  /** Data, or a function that is called once, with references. Default: the payload of the event. */
  readonly input?: EventInput<NoInfer<I>> | undefined;
}

/** A schedule that fires at events, for callers that have the name of a task only. */
export interface NamedEventOptions extends CommonEventOptions {
  /** Of a task. */
  readonly name: string;
  /** Data, or a function that is called once, with references. Default: the payload of the event. */
  readonly input?: unknown;
}

const {
  id: _id,
  executeAfter: _executeAfter,
  dependsOn: _dependsOn,
  onUpstreamFailure: _onUpstreamFailure,
  onUpstreamCancel: _onUpstreamCancel,
  onMissing: _onMissing,
  allowCrossUser: _allowCrossUser,
  onDuplicate: _onDuplicate,
  traceparent: _traceparent,
  ...REPEATABLE
} = ENQUEUE_KEYS;

/** What may stand in {@link ScheduleTiming}. */
export const TIMING_KEYS: OptionKeys<ScheduleTiming> = keysOf<ScheduleTiming>()({
  cron: true,
  every: true,
  timeZone: true,
  start: true,
  end: true,
  limit: true,
  jitter: true,
});

/** What may stand in {@link SchedulePolicies}. */
export const POLICY_KEYS: OptionKeys<SchedulePolicies> = keysOf<SchedulePolicies>()({
  missed: true,
  missedCap: true,
  overlap: true,
});

const COMMON_KEYS: OptionKeys<CommonScheduleOptions> = keysOf<CommonScheduleOptions>()({
  ...REPEATABLE,
  ...TIMING_KEYS,
  ...POLICY_KEYS,
  checkpoint: true,
});

const EVENT_KEYS: OptionKeys<CommonEventOptions> = keysOf<CommonEventOptions>()({
  ...REPEATABLE,
  checkpoint: true,
  event: true,
  key: true,
});

type AnyEventSchedule = EventScheduleOptions<unknown, unknown, unknown>;

/** What may stand in {@link EventScheduleOptions}. */
export const EVENT_SCHEDULE_KEYS: OptionKeys<AnyEventSchedule> = keysOf<AnyEventSchedule>()({
  ...EVENT_KEYS,
  task: true,
  input: true,
});

/** What may stand in {@link NamedEventOptions}. */
export const NAMED_EVENT_KEYS: OptionKeys<NamedEventOptions> = keysOf<NamedEventOptions>()({
  ...EVENT_KEYS,
  name: true,
  input: true,
});

type AnySchedule = ScheduleOptions<unknown, unknown, unknown>;

/** What may stand in {@link ScheduleOptions}. */
export const SCHEDULE_KEYS: OptionKeys<AnySchedule> = keysOf<AnySchedule>()({
  ...COMMON_KEYS,
  task: true,
  input: true,
});

/** What may stand in {@link NamedScheduleOptions}. */
export const NAMED_KEYS: OptionKeys<NamedScheduleOptions> = keysOf<NamedScheduleOptions>()({
  ...COMMON_KEYS,
  name: true,
  input: true,
});

/** The largest moment that a Date can hold, in ms since the epoch. */
const MOMENT_MAX_MS = 8_640_000_000_000_000;

/** The policies in force. */
export interface CheckedPolicies {
  readonly missed: MissedPolicy;
  readonly cap: number;
  readonly overlap: OverlapPolicy;
  readonly limit: number | undefined;
}

/** The field of a spec whose missed slots run one after the other; `overlap` as it was set, if it was. */
export function catchUpOf(
  missed: MissedPolicy,
  overlap: OverlapPolicy | undefined,
): { readonly catchesUp?: true } {
  return missed === 'all' && overlap === undefined ? { catchesUp: true } : {};
}

/** Options that others than schedules have: to say that there is none would puzzle the caller. */
export function demandRepeatable(options: object): void {
  if (typeof options !== 'object' || options === null) return;
  for (const option of Object.keys(ENQUEUE_KEYS)) {
    if (option in COMMON_KEYS) continue;
    const value: unknown = Reflect.get(options, option);
    if (value !== undefined) throw new InvalidOptionError(option, 'none for a schedule', value);
  }
}

/** @throws {@link InvalidOptionError} for the first option that is not what it should be. */
export function policiesOf(options: CommonScheduleOptions): CheckedPolicies {
  const { missed = 'one', missedCap = LIMITS.missedCap, overlap = 'skip', limit } = options;
  oneOf('missed', missed, MISSED_POLICIES);
  oneOf('overlap', overlap, OVERLAP_POLICIES);
  const cap = integerOption('missedCap', missedCap, { least: 1, most: LIMITS.missedCapMax });
  const bounds = { least: 1, most: Number.MAX_SAFE_INTEGER };
  const most = limit === undefined ? undefined : integerOption('limit', limit, bounds);
  return { missed, cap, overlap, limit: most };
}

/** What a timing has where nothing is said. */
export interface TimingDefaults {
  /** From where `every` counts when nothing says `start`. */
  readonly anchor: number;
  readonly timeZone: string;
}

/**
 * The timing as it is stored.
 *
 * @throws {@link InvalidOptionError} for the first option that is not what it should be.
 */
export function timingOf(options: ScheduleTiming, otherwise: TimingDefaults): Timing {
  const { cron, every, timeZone, jitter } = options;
  if ((cron === undefined) === (every === undefined)) {
    throw new InvalidOptionError('cron', 'one of cron and every', cron ?? every);
  }
  if (timeZone !== undefined && every !== undefined) {
    throw new InvalidOptionError('timeZone', 'a cron pattern beside it', timeZone);
  }
  const start = momentOption('start', options.start);
  const end = momentOption('end', options.end);
  if (start !== undefined && end !== undefined && end < start) {
    throw new InvalidOptionError('end', 'a moment after start', options.end);
  }
  const jitterBounds = { least: 0, most: LIMITS.jitterMaxMs };
  const jitterMs = jitter === undefined ? 0 : durationOption('jitter', jitter, jitterBounds);
  const everyBounds = { least: LIMITS.everyMinMs, most: LIMITS.delayMaxMs };
  return {
    ...(cron === undefined ? {} : { cron, timeZone: timeZone ?? otherwise.timeZone }),
    ...(every === undefined
      ? {}
      : {
          everyMs: durationOption('every', every, everyBounds),
          anchor: start ?? otherwise.anchor,
        }),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
    ...(jitterMs === 0 ? {} : { jitterMs }),
  };
}

/** Ms since the epoch. */
export function momentOption(option: string, value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const at = value instanceof Date ? value.getTime() : value;
  if (typeof at === 'number' && Math.abs(at) <= MOMENT_MAX_MS) return Math.ceil(at);
  throw new InvalidOptionError(option, 'a Date, or ms since the epoch', value);
}
