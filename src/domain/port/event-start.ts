/** Events that start tasks; part of the port in `backend.ts`. */

import type { NewTask } from '../task/task.ts';
import type { EnqueueRefusal } from './enqueue-refusal.ts';
import type { EnqueueReply } from './enqueueing.ts';
import type { ScheduleRecord } from './schedule.ts';

/** One schedule that fires at events of this name, as the publisher knows it. */
export interface EventStart {
  /** The schedule. */
  readonly schedule: string;
  /** The revision that it was read at. */
  readonly revision: number;
  /** What this event makes it start; absent: nothing. */
  readonly task?: NewTask;
}

/** What became of an event. */
export type PublishReply =
  /** Kept, and everything that it starts is stored. */
  | { readonly kind: 'published' }
  /** It was published before under this id. */
  | { readonly kind: 'repeated' }
  /** Other schedules fire at it than the publisher knows: these, by name. Nothing was written. */
  | { readonly kind: 'schedules'; readonly schedules: readonly ScheduleRecord[] }
  /** The task of this id was refused. Nothing was written. */
  | {
      readonly kind: 'refused';
      /** Of the task. */
      readonly id: string;
      /** Why it cannot be stored. */
      readonly refusal: EnqueueRefusal;
    };

/** The id of the task that a schedule makes for an event, by what tells that from all others. */
export function eventTaskId(schedule: string, mark: string): string {
  return `~e.${schedule}.${mark}`;
}

/** Of tasks that are stored all or none, the one that kept the others out. */
export function refusedStart(
  tasks: readonly NewTask[],
  replies: readonly EnqueueReply[],
): Extract<PublishReply, { readonly kind: 'refused' }> | undefined {
  for (const [at, reply] of replies.entries()) {
    if (reply.kind !== 'refused' || reply.refusal.type === 'batch-refused') continue;
    return { kind: 'refused', id: tasks[at]?.id ?? '', refusal: reply.refusal };
  }
  return undefined;
}
