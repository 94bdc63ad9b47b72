import { present } from '../base/records.ts';
import type { ValueCodec } from '../codec/codec.ts';
import type { MissedPolicy, OverlapPolicy, ScheduleRecord } from '../domain/port/schedule.ts';
import type { Level } from '../domain/task/task.ts';
import { namePartsIn } from '../domain/task/task-name.ts';
import { runInputOf } from '../runs/record.ts';
import type { ScheduleSpec } from './spec.ts';
import { NAMED_FACTS, rendered } from './template.ts';

/** Everything that is known about one schedule. Moments are ms since the epoch; lengths are ms. */
export interface ScheduleInfo {
  /** Its name. */
  readonly id: string;
  /** The task, or the pipeline, that it starts. */
  readonly task: string;
  /** Of the code that its tasks keep; absent of a pipeline, whose graph says it. */
  readonly version?: string;
  /** Hash of the pipeline's graph. */
  readonly graph?: string;
  /** The name of the events that it fires at; absent: it fires by the clock. */
  readonly event?: string;
  /** Events about this alone. */
  readonly key?: string;
  /** Its pattern; this or `everyMs`. */
  readonly cron?: string;
  /** The zone of the pattern. */
  readonly timeZone?: string;
  /** Its period. */
  readonly everyMs?: number;
  /** From where the period counts. */
  readonly anchor?: number;
  /** No slot before. */
  readonly start?: number;
  /** No slot after. */
  readonly end?: number;
  /** Most tasks that it makes. */
  readonly limit?: number;
  /** Longest delay of a slot. */
  readonly jitterMs?: number;
  /** How it handles missed slots. */
  readonly missed: MissedPolicy;
  /** What it does while an earlier task has not ended. */
  readonly overlap: OverlapPolicy;
  /**
   * What each task gets; where facts of the slot are put in, it says so, as `<slot.date>`. Absent when
   * there is none, or it cannot be read.
   */
  readonly input?: unknown;
  /** Whose turn its tasks take. */
  readonly user: string;
  /** Where they stand in line. */
  readonly queue: string;
  /** Where they stand among their user's tasks, 1 to 6. */
  readonly priority: Level;
  /** `active`: it fires; `paused`; `over`: no slot is left. */
  readonly state: 'active' | 'paused' | 'over';
  /** The slot that comes next. */
  readonly nextAt?: number;
  /** The latest slot, or moment of an event, that made a task. */
  readonly lastAt?: number;
  /** That task. */
  readonly lastTaskId?: string;
  /** Tasks that it has made. */
  readonly fired: number;
  /** Slots that were not fired in time, and those that were refused. */
  readonly missedSlots: number;
  /** Slots passed over because an earlier task had not ended. */
  readonly overlappedSlots: number;
  /** When it was stored first. */
  readonly createdAt: number;
  /** When it was changed last. */
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

/** A listing must show a schedule also when its text is damaged. */
function inputIn({ task, isOpen }: ScheduleSpec, codec: ValueCodec): { readonly input?: unknown } {
  const payload = isOpen ? rendered(task.payload, NAMED_FACTS) : task.payload;
  try {
    const isRun = task.pipeline !== undefined;
    return present({ input: isRun ? runInputOf(codec, payload) : codec.read(payload) });
  } catch {
    return {};
  }
}
