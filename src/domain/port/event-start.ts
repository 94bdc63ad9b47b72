/** Events that start tasks; part of the port in `backend.ts`. */

import type { NewTask } from '../task/task.ts';
import type { EnqueueRefusal } from './enqueue-refusal.ts';
import type { EnqueueReply } from './enqueueing.ts';
import type { ScheduleRecord } from './schedule.ts';

/** A schedule that fires at events of this name, as the publisher has read it. */
export interface EventStart {
  /** The schedule. */
  readonly schedule: string;
  /** The revision that was read. */
  readonly revision: number;
  /** The task that this event starts; absent: none. */
  readonly task?: NewTask;
}

/** Answer to a published event. */
export type PublishReply =
  /** The event and the tasks that it starts are stored. */
  | { readonly kind: 'published' }
  /** An event with this id was published before. */
  | { readonly kind: 'repeated' }
  /** Other schedules fire at it than the publisher has read: these, by id. Nothing was written. */
  | { readonly kind: 'schedules'; readonly schedules: readonly ScheduleRecord[] }
  /** The task of this id was refused. Nothing was written. */
  | {
      readonly kind: 'refused';
      /** Id of the task. */
      readonly id: string;
      /** Why it cannot be stored. */
      readonly refusal: EnqueueRefusal;
    };

/** The id of the task that a schedule makes for an event; `mark` identifies the event. */
export function eventTaskId(schedule: string, mark: string): string {
  return `~e.${schedule}.${mark}`;
}

/** The refused task of an atomic batch. */
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
