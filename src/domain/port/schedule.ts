/** Stored schedules; part of the port in `backend.ts`. */

import type { NewTask } from '../task/task.ts';
import type { EnqueueRefusal } from './enqueue-refusal.ts';

/** Policy for slots that were not fired in time: fire the latest, none, or all of them. */
export type MissedPolicy = 'one' | 'skip' | 'all';

/** All policies. */
export const MISSED_POLICIES: readonly MissedPolicy[] = ['one', 'skip', 'all'];

/**
 * Policy for a slot while the task of an earlier slot has not ended: skip the slot; fire anyway; queue one task
 * until the end; cancel the earlier task, and start when it has ended.
 */
export type OverlapPolicy = 'skip' | 'allow' | 'queue-one' | 'cancel-previous';

/** All policies. */
export const OVERLAP_POLICIES: readonly OverlapPolicy[] = [
  'skip',
  'allow',
  'queue-one',
  'cancel-previous',
];

/** A slot and the moment to fire it, in ms since the epoch. */
export interface SlotMoment {
  /** The moment that the schedule names. */
  readonly slot: number;
  /** The same moment, or later by the jitter. */
  readonly dueAt: number;
}

/** Events of one user and name, with any key. */
export interface EventSource {
  /** User of the events. */
  readonly user: string;
  /** Name of the events. */
  readonly event: string;
}

/** A schedule to store: a new one, or the new state of a stored one. */
export interface ScheduleChange {
  /** Id of the schedule. */
  readonly id: string;
  /** The revision that was read; 0: it was not stored. */
  readonly revision: number;
  /** When it fires and which task, as JSON text; the backend does not read it. */
  readonly spec: string;
  /** The schedule is paused. */
  readonly paused: boolean;
  /** Policy while the task of an earlier slot runs. */
  readonly overlap: OverlapPolicy;
  /** Number of firings after which it ends. */
  readonly limit?: number;
  /** Hash of the graph snapshot that it uses. */
  readonly graph?: string;
  /** The next slot; absent: none. */
  readonly next?: SlotMoment;
  /** It fires at these events, and has no `next`; absent: it fires by the clock. */
  readonly on?: EventSource;
  /** Due slots that this change skips; not stored. Absent: none. */
  readonly passed?: PassedSlots;
}

/** Due slots that make no task: they count as missed. */
export interface PassedSlots {
  /** The current slot of the schedule; absent: none. If the stored one differs, nothing is written. */
  readonly at?: number;
  /** Number of slots. */
  readonly slots: number;
}

/** A schedule as it is stored. */
export interface ScheduleRecord extends Omit<ScheduleChange, 'passed'> {
  /** First stored, in ms since the epoch. */
  readonly createdAt: number;
  /** Last changed, in ms since the epoch. */
  readonly updatedAt: number;
  /** Number of tasks that it has stored. */
  readonly fired: number;
  /** Number of slots that were not fired in time or were refused. */
  readonly missed: number;
  /** Number of slots skipped because an earlier task had not ended. */
  readonly overlapped: number;
  /** The latest slot with an outcome. */
  readonly settledSlot?: number;
  /** The latest slot that stored a task, and that task. */
  readonly last?: {
    /** The moment that the schedule named, or when the event was published. */
    readonly slot: number;
    /** Id of the task. */
    readonly id: string;
  };
}

/** Answer to a change. */
export type ScheduleSetReply =
  /** The schedule as it is stored now. */
  | { readonly kind: 'ok'; readonly record: ScheduleRecord }
  /** The stored revision differs, or a slot was fired meanwhile: read it again. */
  | { readonly kind: 'changed' }
  /** The snapshot that it needs is not stored; save it again. */
  | { readonly kind: 'graph-missing' }
  /** `LIMITS.eventSchedules` other schedules fire at these events. */
  | { readonly kind: 'full' };

/** Request for due schedules. */
export interface DueRequest {
  /** Id of the scheduler. */
  readonly owner: string;
  /** Most schedules in the answer. */
  readonly limit: number;
}

/** Answer to a request for due schedules. */
export type DueReply =
  | {
      readonly kind: 'granted';
      /** Rises with each owner; firings of an older one are refused. */
      readonly fence: number;
      /** Due schedules, the latest first. */
      readonly schedules: readonly ScheduleRecord[];
      /** When the next schedule beyond these is due; absent: none. */
      readonly nextDueAt?: number;
      /** The moment of this step by the backend's clock. */
      readonly now: number;
    }
  /** Another scheduler has the lock. */
  | {
      readonly kind: 'locked';
      /** When the lock of the other scheduler ends, in ms since the epoch. */
      readonly until: number;
      /** The moment of this step by the backend's clock, in ms since the epoch. */
      readonly now: number;
    };

/** The task of a schedule for one slot. */
export interface Firing {
  /** The slot. */
  readonly slot: number;
  /** Its id is `~s.{schedule}.{slot}`. */
  readonly task: NewTask;
}

/** Fires slots of a schedule and advances it. */
export interface FireRequest {
  /** The schedule. */
  readonly id: string;
  /** The revision that was read. */
  readonly revision: number;
  /** The current slot of the schedule; if it has advanced, nothing is written. */
  readonly slot: number;
  /** Fence of the due reply. */
  readonly fence: number;
  /** Tasks in the order of their slots; at most `LIMITS.scheduleFirings`. */
  readonly firings: readonly Firing[];
  /** Number of slots that count as missed. */
  readonly passed: number;
  /** The next slot; absent: the schedule ends. */
  readonly next?: SlotMoment;
  /** The slots were missed: their tasks run one after the other, with every overlap policy. */
  readonly catchUp?: true;
}

/** Outcome of a firing. The schedule has advanced in each case. */
export type FireOutcome =
  /** The task is stored; ids of tasks of earlier slots that were canceled for it (`cancel-previous`). */
  | { readonly kind: 'created'; readonly canceled: readonly string[] }
  /** The task was stored before, or its idempotency key belongs to another task. */
  | { readonly kind: 'existing'; readonly id: string }
  /** The slot is skipped: the task `id` of an earlier slot has not ended. */
  | { readonly kind: 'overlap'; readonly id: string }
  /** The limit of the schedule was reached before. */
  | { readonly kind: 'over' }
  /** The task is refused; the slot counts as missed. */
  | { readonly kind: 'refused'; readonly refusal: EnqueueRefusal };

/** Answer to a {@link FireRequest}. */
export type FireReply =
  /** One outcome for each firing, in order. */
  | { readonly kind: 'fired'; readonly outcomes: readonly FireOutcome[] }
  /** Another process fired, changed, paused or removed it; nothing was written. */
  | { readonly kind: 'stale' }
  /** Another scheduler has taken over; nothing was written. */
  | { readonly kind: 'superseded' };

/** The id under which a schedule claims its graph, among ids of tasks. */
export function scheduleHolder(schedule: string): string {
  return `~S.${schedule}`;
}

/** The id of the task that a schedule makes for a slot. */
export function firedTaskId(schedule: string, slot: number): string {
  return `~s.${schedule}.${slot}`;
}
