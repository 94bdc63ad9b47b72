import { present } from '../base/records.ts';
import type { ValueCodec } from '../codec/codec.ts';
import type { MissedPolicy, OverlapPolicy, ScheduleRecord } from '../domain/port/schedule.ts';
import type { Level } from '../domain/task/task.ts';
import { namePartsIn } from '../domain/task/task-name.ts';
import { runInputOf } from '../runs/record.ts';
import type { ScheduleSpec } from './spec.ts';
import { NAMED_FACTS, rendered } from './template.ts';

/** Facts about one schedule. Moments are ms since the epoch; durations are ms. */
export interface ScheduleInfo {
  /** Id of the schedule. */
  readonly id: string;
  /** Name of its task or pipeline. */
  readonly task: string;
  /** Version of its tasks' code; absent for a pipeline, whose graph has it. */
  readonly version?: string;
  /** Hash of the pipeline's graph. */
  readonly graph?: string;
  /** Name of its events; absent: it fires by the clock. */
  readonly event?: string;
  /** Key of its events. */
  readonly key?: string;
  /** Cron pattern; either this or `everyMs`. */
  readonly cron?: string;
  /** Time zone of the pattern. */
  readonly timeZone?: string;
  /** Period. */
  readonly everyMs?: number;
  /** Start of the period. */
  readonly anchor?: number;
  /** No slot before this moment. */
  readonly start?: number;
  /** No slot after this moment. */
  readonly end?: number;
  /** Most tasks of the schedule. */
  readonly limit?: number;
  /** Longest delay of a slot. */
  readonly jitterMs?: number;
  /** Policy for missed slots. */
  readonly missed: MissedPolicy;
  /** Policy while an earlier task has not ended. */
  readonly overlap: OverlapPolicy;
  /**
   * Input of each task, with placeholders as `<slot.date>` for facts of the slot. Absent without
   * one, or if it cannot be read.
   */
  readonly input?: unknown;
  /** User of its tasks. */
  readonly user: string;
  /** Queue of its tasks. */
  readonly queue: string;
  /** Priority of its tasks, 1 to 6. */
  readonly priority: Level;
  /** `active`: it fires; `paused`; `over`: no slot is left. */
  readonly state: 'active' | 'paused' | 'over';
  /** The next slot. */
  readonly nextAt?: number;
  /** The latest slot, or moment of an event, that stored a task. */
  readonly lastAt?: number;
  /** Id of that task. */
  readonly lastTaskId?: string;
  /** Number of its tasks. */
  readonly fired: number;
  /** Number of slots that were missed or refused. */
  readonly missedSlots: number;
  /** Number of slots skipped because an earlier task had not ended. */
  readonly overlappedSlots: number;
  /** Moment of its creation. */
  readonly createdAt: number;
  /** Moment of its last change. */
  readonly updatedAt: number;
}

/** A stored schedule as callers read it, with its input decoded. */
export function scheduleInfo(
  record: ScheduleRecord,
  spec: ScheduleSpec,
  codec: ValueCodec,
): ScheduleInfo {
  const { id, graph, limit, overlap, next, last, fired, createdAt, updatedAt } = record;
  const { cron, timeZone, everyMs, anchor, start, end, jitterMs } = spec.timing;
  const { user, queue, level, name, pipeline } = spec.task;
  return {
    id,
    ...taskOf(pipeline, name),
    ...present({ graph, event: spec.event?.name, key: spec.event?.key }),
    ...present({ cron, timeZone, everyMs, anchor, start, end, limit, jitterMs }),
    ...inputIn(spec, codec),
    ...{ missed: spec.missed, overlap, user, queue, priority: level },
    state: stateOf(record),
    ...present({ nextAt: next?.slot, lastAt: last?.slot, lastTaskId: last?.id }),
    ...{ fired, missedSlots: record.missed, overlappedSlots: record.overlapped },
    ...{ createdAt, updatedAt },
  };
}

function stateOf({ paused, next, on }: ScheduleRecord): ScheduleInfo['state'] {
  if (paused) return 'paused';
  return next === undefined && on === undefined ? 'over' : 'active';
}

function taskOf(
  pipeline: string | undefined,
  stored: string,
): Pick<ScheduleInfo, 'task' | 'version'> {
  if (pipeline !== undefined) return { task: pipeline };
  const { name, version } = namePartsIn(stored);
  return version === undefined ? { task: name } : { task: name, version };
}

/** A listing shows a schedule even if its text is damaged. */
function inputIn({ task, isOpen }: ScheduleSpec, codec: ValueCodec): { readonly input?: unknown } {
  const payload = isOpen ? rendered(task.payload, NAMED_FACTS) : task.payload;
  try {
    const isRun = task.pipeline !== undefined;
    return present({ input: isRun ? runInputOf(codec, payload) : codec.read(payload) });
  } catch {
    return {};
  }
}
