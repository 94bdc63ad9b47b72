/** Schedules as a backend keeps them; part of the port in `backend.ts`. */

import type { NewTask } from '../task/task.ts';
import type { EnqueueRefusal } from './enqueue-refusal.ts';

/** What to do about slots that were not fired in time: fire the latest, none, or all of them. */
export type MissedPolicy = 'one' | 'skip' | 'all';

/** Each of them. */
export const MISSED_POLICIES: readonly MissedPolicy[] = ['one', 'skip', 'all'];

/**
 * What to do at a slot while the task of an earlier one has not ended: pass over it; fire anyway;
 * let one wait for the end; cancel the earlier one, and start when it has ended.
 */
export type OverlapPolicy = 'skip' | 'allow' | 'queue-one' | 'cancel-previous';

/** Each of them. */
export const OVERLAP_POLICIES: readonly OverlapPolicy[] = [
  'skip',
  'allow',
  'queue-one',
  'cancel-previous',
];

/** A slot, and when it is to be fired, in ms since the epoch. */
export interface SlotMoment {
  /** The instant that the schedule names. */
  readonly slot: number;
  /** The same or later: a jitter may lie between. */
  readonly dueAt: number;
}

/** Events of one user and name, of all keys. */
export interface EventSource {
  /** Whose events. */
  readonly user: string;
  /** Their name. */
  readonly event: string;
}

/** A schedule as its client hands it over: a new one, or what becomes of a stored one. */
export interface ScheduleChange {
  /** A name. */
  readonly id: string;
  /** The revision that it was read at; 0: it was not there. */
  readonly revision: number;
  /** JSON text: when it fires and what; the backend never reads it. */
  readonly spec: string;
  /** Nothing fires. */
  readonly paused: boolean;
  /** What to do while an earlier task runs. */
  readonly overlap: OverlapPolicy;
  /** It is over after so many firings. */
  readonly limit?: number;
  /** Hash of the graph snapshot that is kept for it. */
  readonly graph?: string;
  /** What fires next; absent: nothing does. */
  readonly next?: SlotMoment;
  /** It fires at these events, and has no `next`; absent: by the clock. */
  readonly on?: EventSource;
  /** Slots that were due and that the change gives up; not stored. Absent: none. */
  readonly passed?: PassedSlots;
}

/** Slots that were due and make no task: they count as missed. */
export interface PassedSlots {
  /** The slot at which the schedule stands; absent: at none. If it is another one, nothing is written. */
  readonly at?: number;
  /** How many. */
  readonly slots: number;
}

/** Everything that is stored about a schedule. */
export interface ScheduleRecord extends Omit<ScheduleChange, 'passed'> {
  /** When it was stored first. */
  readonly createdAt: number;
  /** When it was changed last. */
  readonly updatedAt: number;
  /** Tasks that it has made. */
  readonly fired: number;
  /** Slots that were not fired in time, and those that were refused. */
  readonly missed: number;
  /** Slots passed over because an earlier task had not ended. */
  readonly overlapped: number;
  /** The latest slot that was decided, with any outcome. */
  readonly settledSlot?: number;
  /** The latest slot that made a task, and that task. */
  readonly last?: {
    /** The instant that the schedule named; when the event was published. */
    readonly slot: number;
    /** Of the task. */
    readonly id: string;
  };
}

/** What a change came to. */
export type ScheduleSetReply =
  /** As it is stored now. */
  | { readonly kind: 'ok'; readonly record: ScheduleRecord }
  /** It is not at that revision, or was fired meanwhile: read it again. */
  | { readonly kind: 'changed' }
  /** The snapshot that it needs is not stored; save it again. */
  | { readonly kind: 'graph-missing' }
  /** `LIMITS.eventSchedules` others fire at these events. */
  | { readonly kind: 'full' };

/** Who asks for schedules that are due. */
export interface DueRequest {
  /** Names a scheduler. */
  readonly owner: string;
  /** Most schedules to tell. */
  readonly limit: number;
}

/** Schedules that are due, for the one that fires them now. */
export type DueReply =
  | {
      readonly kind: 'granted';
      /** Rises with each owner; firings of an older one are refused. */
      readonly fence: number;
      /** The longest due first. */
      readonly schedules: readonly ScheduleRecord[];
      /** When the next one that was not told is due; absent: none is left. */
      readonly nextDueAt?: number;
      /** What the backend's clock showed. */
      readonly now: number;
    }
  /** Another scheduler does that, until then unless it says more. */
  | {
      readonly kind: 'locked';
      /** When the lock of the other scheduler ends, in ms since the epoch. */
      readonly until: number;
      /** What the backend's clock showed, in ms since the epoch. */
      readonly now: number;
    };

/** One task of a schedule, for one slot. */
export interface Firing {
  /** The slot. */
  readonly slot: number;
  /** Its id is `~s.{schedule}.{slot}`. */
  readonly task: NewTask;
}

/** Fires slots of one schedule, and moves it on. */
export interface FireRequest {
  /** The schedule. */
  readonly id: string;
  /** The revision that it was read at. */
  readonly revision: number;
  /** The slot that it stands at; when it has moved on, nothing happens. */
  readonly slot: number;
  /** Of the due reply. */
  readonly fence: number;
  /** In order; at most `LIMITS.scheduleFirings`. */
  readonly firings: readonly Firing[];
  /** Slots that are passed over as missed. */
  readonly passed: number;
  /** Where it stands then; absent: it is over. */
  readonly next?: SlotMoment;
  /** The slots were missed, and run one after the other, with every overlap policy. */
  readonly catchUp?: true;
}

/** The outcome of a firing. The schedule has moved on in each case. */
export type FireOutcome =
  /** Stored; tasks of earlier slots that were canceled for it (`cancel-previous`), by id. */
  | { readonly kind: 'created'; readonly canceled: readonly string[] }
  /** The task was there before, or its idempotency key answered with another. */
  | { readonly kind: 'existing'; readonly id: string }
  /** Passed over: the task `id` of an earlier slot has not ended. */
  | { readonly kind: 'overlap'; readonly id: string }
  /** It had come to its limit before. */
  | { readonly kind: 'over' }
  /** Counts as missed. */
  | { readonly kind: 'refused'; readonly refusal: EnqueueRefusal };

/** What became of a {@link FireRequest}. */
export type FireReply =
  /** One outcome for each firing, in order. */
  | { readonly kind: 'fired'; readonly outcomes: readonly FireOutcome[] }
  /** Another process fired, changed, paused or removed it; nothing was written. */
  | { readonly kind: 'stale' }
  /** Another scheduler has taken over; nothing was written. */
  | { readonly kind: 'superseded' };

/** Who needs a graph, among ids of tasks; no task has such an id. */
export function scheduleHolder(schedule: string): string {
  return `~S.${schedule}`;
}

/** The id of the task that a schedule makes for a slot. */
export function firedTaskId(schedule: string, slot: number): string {
  return `~s.${schedule}.${slot}`;
}
