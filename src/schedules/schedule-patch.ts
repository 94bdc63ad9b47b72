/** Changes some fields of a stored schedule and keeps the others. */
import { keysIn } from '../base/records.ts';
import type { Duration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import type { ScheduleRecord } from '../domain/port/schedule.ts';
import type { EnqueueOptions } from '../enqueue/enqueue-options.ts';
import { runPayload } from '../runs/record.ts';
import { levelOf } from '../workflow/task-options.ts';
import type { MadeSchedule, MakerParts } from './schedule-maker.ts';
import {
  catchUpOf,
  POLICY_KEYS,
  policiesOf,
  type SchedulePolicies,
  type ScheduleTiming,
  TIMING_KEYS,
  timingOf,
} from './schedule-options.ts';
import { type ScheduleSpec, specText, type TaskTemplate } from './spec.ts';
import { checkTemplate, EVENT_REFERENCES, REFERENCES } from './template.ts';
import type { Timing } from './timing/timing.ts';

/** A change of a schedule: absent fields stay, `default` resets a field. */
export interface SchedulePatch
  extends Pick<ScheduleTiming, 'cron' | 'every' | 'timeZone'>,
    SchedulePolicies,
    Pick<EnqueueOptions, 'user' | 'queue' | 'priority'> {
  /** No slot before this moment: a Date, or ms since the epoch. */
  readonly start?: Date | number | 'default' | undefined;
  /** No slot after this moment. */
  readonly end?: Date | number | 'default' | undefined;
  /** Most tasks of the schedule, including those before the change. */
  readonly limit?: number | 'default' | undefined;
  /** Longest random delay of a slot. */
  readonly jitter?: Duration | 'default' | undefined;
  /**
   * Data, or a function that is called once, with references. No schema checks it here; the handler
   * does, as for a task that is enqueued by name.
   */
  readonly input?: unknown;
}

/** Keys of {@link SchedulePatch}. */
export const PATCH_KEYS: OptionKeys<SchedulePatch> = keysOf<SchedulePatch>()({
  ...TIMING_KEYS,
  ...POLICY_KEYS,
  user: true,
  queue: true,
  priority: true,
  input: true,
});

/** @throws {@link InvalidOptionError}, {@link InvalidPayloadError} for invalid values. */
export function patchSchedule(
  parts: MakerParts,
  patch: SchedulePatch,
  { record, spec, now }: { record: ScheduleRecord; spec: ScheduleSpec; now: number },
): MadeSchedule {
  if (spec.event !== undefined) return patchEventSchedule(parts, patch, { record, spec });
  const timing = patchedTiming(parts, patch, { timing: spec.timing, now });
  const { missed, cap, overlap, limit } = policiesOf({
    missed: patch.missed ?? spec.missed,
    missedCap: patch.missedCap ?? spec.cap,
    overlap: patch.overlap ?? record.overlap,
    limit: kept(patch.limit, record.limit),
  });
  const { task, isOpen } = patchedTask(parts, patch, spec);
  // `skip` is stored for a schedule that was set without the option.
  const isUnset =
    spec.catchesUp === true || (patch.missed !== undefined && record.overlap === 'skip');
  const set = isUnset ? patch.overlap : overlap;
  return {
    graph: undefined,
    change: {
      spec: specText({ timing, missed, cap, isOpen, task, ...catchUpOf(missed, set) }),
      overlap,
      ...(limit === undefined ? {} : { limit }),
      ...(record.graph === undefined ? {} : { graph: record.graph }),
    },
  };
}

/** A schedule that fires at events has no timing: only its tasks change. */
function patchEventSchedule(
  parts: MakerParts,
  patch: SchedulePatch,
  { record, spec }: { record: ScheduleRecord; spec: ScheduleSpec },
): MadeSchedule {
  for (const option of [...keysIn(TIMING_KEYS), ...keysIn(POLICY_KEYS)]) {
    if (patch[option] === undefined) continue;
    throw new InvalidOptionError(option, 'none for a schedule that fires at events', patch[option]);
  }
  const { version: _version, ...kept } = spec;
  const { task, isOpen } = patchedTask(parts, patch, spec);
  return {
    graph: undefined,
    change: {
      spec: specText({ ...kept, isOpen, task }),
      overlap: record.overlap,
      on: { user: task.user, event: spec.event?.name ?? '' },
      ...(record.graph === undefined ? {} : { graph: record.graph }),
    },
  };
}

/** A pattern replaces a period, and a period a pattern. */
function patchedTiming(
  { timeZone }: MakerParts,
  patch: SchedulePatch,
  { timing, now }: { readonly timing: Timing; readonly now: number },
): Timing {
  const cron = patch.cron ?? (patch.every === undefined ? timing.cron : undefined);
  const every = patch.every ?? (patch.cron === undefined ? timing.everyMs : undefined);
  const zone = patch.timeZone ?? (every === undefined ? timing.timeZone : undefined);
  const options: ScheduleTiming = {
    ...{ cron, every, timeZone: zone },
    start: kept(patch.start, timing.start),
    end: kept(patch.end, timing.end),
    jitter: kept(patch.jitter, timing.jitterMs),
  };
  const anchor = timing.start === undefined ? timing.anchor : undefined;
  return timingOf(options, { anchor: anchor ?? now, timeZone });
}

function patchedTask(
  { codec, maker }: MakerParts,
  patch: SchedulePatch,
  spec: ScheduleSpec,
): Pick<ScheduleSpec, 'task' | 'isOpen'> {
  const { task } = spec;
  const { user, queue, priority } = patch;
  if (task.pipeline !== undefined && (queue ?? priority) !== undefined) {
    const option = queue === undefined ? 'priority' : 'queue';
    throw new InvalidOptionError(
      option,
      'none here: set says it for the nodes of a pipeline',
      queue ?? priority,
    );
  }
  const placed: TaskTemplate = {
    ...task,
    ...(user === undefined ? {} : { user: maker.userOf(user) }),
    ...(queue === undefined ? {} : { queue: checkName('queue', queue) }),
    ...(priority === undefined ? {} : { level: levelOf('priority', priority) }),
  };
  if (!Object.hasOwn(patch, 'input')) return { task: placed, isOpen: spec.isOpen };
  const given = patch.input;
  const isFunction = typeof given === 'function';
  const at = spec.event === undefined ? REFERENCES : EVENT_REFERENCES;
  const input: unknown = isFunction ? given(at) : given;
  const isRun = task.pipeline !== undefined;
  const payload = isRun ? runPayload(codec, { input }) : codec.payload(task.name, input);
  if (isFunction) checkTemplate(payload);
  return { task: { ...placed, payload }, isOpen: isFunction || isRun };
}

/** The patched value, or the stored one. */
function kept<T, S>(said: T | 'default' | undefined, stored: S | undefined): T | S | undefined {
  if (said === 'default') return undefined;
  return said === undefined ? stored : said;
}
