/** Options of schedules, and the check of their timing. */
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
   * A cron pattern of 5 fields, or 6 with seconds first; names, `L`, `W`, `#`, `@daily` and
   * similar. At most 256 characters. Either this or `every`.
   */
  readonly cron?: string | undefined;
  /** A period from 1 s to ten years, counted from `start`, or from the creation of the schedule. */
  readonly every?: Duration | undefined;
  /** Time zone of the pattern, by its IANA name. Default that of `FairloomOptions.scheduler`, else `UTC`. */
  readonly timeZone?: string | undefined;
  /** No slot before this moment: a Date, or ms since the epoch. */
  readonly start?: Date | number | undefined;
  /** No slot after this moment. */
  readonly end?: Date | number | undefined;
  /** Most tasks of the schedule. */
  readonly limit?: number | undefined;
  /** Longest delay of a slot, constant for each slot; at most a day. Default none. */
  readonly jitter?: Duration | undefined;
}

/** Policies for missed and overlapping slots. */
export interface SchedulePolicies {
  /**
   * Slots that no scheduler fired within a minute: fire the latest of them (`one`, the default),
   * none (`skip`), or all (`all`), then one after the other, unless `overlap` is set.
   */
  readonly missed?: MissedPolicy | undefined;
  /** Most missed slots that `all` fires, the newest; at most 1,000. Default 100. */
  readonly missedCap?: number | undefined;
  /**
   * At a slot while the task of an earlier one has not ended: skip the slot (`skip`, the default),
   * fire it anyway (`allow`), let one task wait (`queue-one`), or cancel the earlier task and start
   * after its end (`cancel-previous`).
   */
  readonly overlap?: OverlapPolicy | undefined;
}

/** Options of an enqueue that make no sense for several tasks. */
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

/** Options of each task of a schedule, as for `enqueue`. */
export interface TemplateTaskOptions extends Omit<EnqueueOptions, OneTimeOptions> {
  /** See {@link RunEnqueueOptions.checkpoint}; for pipelines. */
  readonly checkpoint?: RunEnqueueOptions['checkpoint'];
}

/** Options of a schedule without its task; those of the tasks as for `enqueue`. */
export interface CommonScheduleOptions
  extends ScheduleTiming,
    SchedulePolicies,
    TemplateTaskOptions {}

/** Options of a schedule that fires at events, without its task. Events of its `user` start it. */
export interface CommonEventOptions extends TemplateTaskOptions {
  /** Name of the events, such as `order.paid`. */
  readonly event: string;
  /** Key of the events. Default: any. */
  readonly key?: string | undefined;
}

/** The input of each task: data, or a function that is called once, with references. */
export type ScheduleInput<I> = I | ((slot: SlotReferences) => I);

/** A schedule of a task or a pipeline. */
export type ScheduleOptions<I, O, X> = CommonScheduleOptions & {
  /** Task or pipeline to start at each slot. A pipeline becomes a driven run. */
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

/** A schedule that names its task by a text only. */
export interface NamedScheduleOptions extends CommonScheduleOptions {
  /** Name of the task. */
  readonly name: string;
  /** Data, or a function that is called once, with references. */
  readonly input?: unknown;
}

/** The input for each event: data, or a function that is called once, with references. */
export type EventInput<I> = I | ((event: EventReferences) => I);

/** A schedule of a task or a pipeline that events start. */
export interface EventScheduleOptions<I, O, X> extends CommonEventOptions {
  /** Task or pipeline to start at each event. A pipeline becomes a driven run. */
  readonly task: Step<I, O, X>;
  /** Data, or a function that is called once, with references. Default: the payload of the event. */
  readonly input?: EventInput<NoInfer<I>> | undefined;
}

/** A schedule that fires at events and names its task by a text only. */
export interface NamedEventOptions extends CommonEventOptions {
  /** Name of the task. */
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

/** Keys of {@link ScheduleTiming}. */
export const TIMING_KEYS: OptionKeys<ScheduleTiming> = keysOf<ScheduleTiming>()({
  cron: true,
  every: true,
  timeZone: true,
  start: true,
  end: true,
  limit: true,
  jitter: true,
});

/** Keys of {@link SchedulePolicies}. */
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

/** Keys of {@link EventScheduleOptions}. */
export const EVENT_SCHEDULE_KEYS: OptionKeys<AnyEventSchedule> = keysOf<AnyEventSchedule>()({
  ...EVENT_KEYS,
  task: true,
  input: true,
});

/** Keys of {@link NamedEventOptions}. */
export const NAMED_EVENT_KEYS: OptionKeys<NamedEventOptions> = keysOf<NamedEventOptions>()({
  ...EVENT_KEYS,
  name: true,
  input: true,
});

type AnySchedule = ScheduleOptions<unknown, unknown, unknown>;

/** Keys of {@link ScheduleOptions}. */
export const SCHEDULE_KEYS: OptionKeys<AnySchedule> = keysOf<AnySchedule>()({
  ...COMMON_KEYS,
  task: true,
  input: true,
});

/** Keys of {@link NamedScheduleOptions}. */
export const NAMED_KEYS: OptionKeys<NamedScheduleOptions> = keysOf<NamedScheduleOptions>()({
  ...COMMON_KEYS,
  name: true,
  input: true,
});

/** The largest moment of a Date, in ms since the epoch. */
const MOMENT_MAX_MS = 8_640_000_000_000_000;

/** Effective policies. */
export interface CheckedPolicies {
  readonly missed: MissedPolicy;
  readonly cap: number;
  readonly overlap: OverlapPolicy;
  readonly limit: number | undefined;
}

/** The spec field `catchesUp` of a schedule; `overlap` is the option of the caller. */
export function catchUpOf(
  missed: MissedPolicy,
  overlap: OverlapPolicy | undefined,
): { readonly catchesUp?: true } {
  return missed === 'all' && overlap === undefined ? { catchesUp: true } : {};
}

/** Refuses options of an enqueue that no schedule has, with a reason instead of "unknown option". */
export function demandRepeatable(options: object): void {
  if (typeof options !== 'object' || options === null) return;
  for (const option of Object.keys(ENQUEUE_KEYS)) {
    if (option in COMMON_KEYS) continue;
    const value: unknown = Reflect.get(options, option);
    if (value !== undefined) throw new InvalidOptionError(option, 'none for a schedule', value);
  }
}

/** @throws {@link InvalidOptionError} for the first invalid option. */
export function policiesOf(options: CommonScheduleOptions): CheckedPolicies {
  const { missed = 'one', missedCap = LIMITS.missedCap, overlap = 'skip', limit } = options;
  oneOf('missed', missed, MISSED_POLICIES);
  oneOf('overlap', overlap, OVERLAP_POLICIES);
  const cap = integerOption('missedCap', missedCap, { least: 1, most: LIMITS.missedCapMax });
  const bounds = { least: 1, most: Number.MAX_SAFE_INTEGER };
  const most = limit === undefined ? undefined : integerOption('limit', limit, bounds);
  return { missed, cap, overlap, limit: most };
}

/** Defaults of a timing. */
export interface TimingDefaults {
  /** Start of the period without `start`. */
  readonly anchor: number;
  readonly timeZone: string;
}

/**
 * The stored timing.
 *
 * @throws {@link InvalidOptionError} for the first invalid option.
 */
export function timingOf(options: ScheduleTiming, otherwise: TimingDefaults): Timing {
  const { cron, every, timeZone, jitter } = options;
  if ((cron === undefined) === (every === undefined)) {
    throw new InvalidOptionError('cron', 'one of cron and every', cron ?? every);
  }
  if (timeZone !== undefined && every !== undefined) {
    throw new InvalidOptionError('timeZone', 'a cron pattern too', timeZone);
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
