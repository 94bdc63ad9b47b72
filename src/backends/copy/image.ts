/**
 * Everything of one backend, row by row, as it stands between two backends: what is told of a thing, and
 * nothing of how either of them keeps it. Counts and indexes are no rows: they follow from these.
 */

import type { QueueSettings, UserSettings } from '../../domain/fairness/settings.ts';
import type { Total } from '../../domain/port/inspection.ts';
import type { ScheduleChange, ScheduleRecord } from '../../domain/port/schedule.ts';
import type { Looked } from '../../domain/series/growth.ts';
import type { SeriesStep } from '../../domain/series/series-steps.ts';
import type { AskSpec } from '../../domain/task/ask.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { RunPause } from '../../domain/task/pause.ts';
import type { StreamEntry } from '../../domain/task/stream.ts';
import type {
  AttemptRecord,
  EdgePolicies,
  EndState,
  Level,
  TaskState,
} from '../../domain/task/task.ts';
import type { Wait } from '../../domain/task/wait.ts';
import type { XComPlace } from '../../domain/task/xcom.ts';

/** All rows by what they are of. */
export interface Image {
  readonly clock: ClockRow;
  readonly queues: readonly QueueRow[];
  readonly settings: readonly SettingsRow[];
  readonly users: readonly UserRow[];
  readonly tasks: readonly TaskRow[];
  readonly keys: readonly KeyRow[];
  readonly schedules: readonly ScheduleRow[];
  readonly graphs: readonly GraphRow[];
  readonly values: readonly ValueRow[];
  readonly events: readonly EventsRow[];
  readonly series: readonly SeriesStepRow[];
  readonly looked: readonly (Looked & { readonly queue: string })[];
  readonly errorGroups: readonly ErrorGroupRow[];
  /** Names of tasks that workers knew which are gone, and when these left. */
  readonly names: readonly (readonly [name: string, at: number])[];
}

/** What a backend remembers from step to step. */
export interface ClockRow {
  /** The moment of its latest step. */
  readonly seen: number;
  /** No lease is taken back before. */
  readonly sweepAfter: number;
  /** The last scheduler and its fence: another one gets a greater fence. The lock itself is not copied. */
  readonly scheduler: { readonly owner: string; readonly fence: number };
}

/** A queue. */
export interface QueueRow {
  readonly queue: string;
  readonly settings: QueueSettings;
  /** Virtual time. */
  readonly v: number;
  readonly epoch: number;
  /** By kind of class in use: what it remembers of the user that entered last. */
  readonly lasts: Readonly<Record<string, number>>;
  /** Ever. */
  readonly totals: Readonly<Record<Total, number>>;
  /** Theoretical arrival time of its rate. */
  readonly arrival: number;
  /** Mean time that leases are held, in seconds, where time is charged. */
  readonly mean?: number | undefined;
}

/** Settings of a user, for one queue or for all. */
export interface SettingsRow {
  readonly user: string;
  readonly queue?: string | undefined;
  readonly settings: UserSettings;
}

/** How a user stands in a queue. */
export interface UserRow {
  readonly queue: string;
  readonly user: string;
  /** In grains of its own turns. */
  readonly tag: number;
  /** Of the queue, to which the tag belongs. */
  readonly epoch: number;
  /** With which its tag was given. */
  readonly weight: number;
  /** The kind of class in which it stands while it is ready. */
  readonly class?: string | undefined;
  /** Some of its tasks come into line as they are copied: it joins by the rules. */
  readonly isToEnter?: boolean | undefined;
  /** Theoretical arrival time of its rate. */
  readonly arrival: number;
  readonly mean?: number | undefined;
  readonly shares?: SharesRow | undefined;
  /** When its rate is looked at again. */
  readonly throttledUntil?: number | undefined;
  /** Its key among the users with due tasks. */
  readonly dueKey?: number | undefined;
}

/** Turns between the levels of a user. */
export interface SharesRow {
  readonly criticalRun: number;
  readonly waited: readonly number[];
}

/** Why a task waits for an id: for its end, for its redrive, for its enqueue; or for nothing any more. */
export type BlockKind = 'end' | 'redrive' | 'missing' | 'none';

/** A task. */
export interface TaskRow {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly user: string;
  readonly level: Level;
  readonly cost: number;
  readonly payload: string;
  readonly options: string;
  readonly createdAt: number;
  readonly state: TaskState;
  /** The order of arrivals. */
  readonly order: number;
  /** Among the tasks of its user; 0: it was never in line. */
  readonly place: number;
  readonly dueAt?: number | undefined;
  /** Its newest lease; `until` while that is in force. */
  readonly lease?: LeaseRow | undefined;
  /** The token of its newest settlement. */
  readonly settledToken?: string | undefined;
  readonly end?: { readonly at: number; readonly order: number } | undefined;
  readonly result?: string | undefined;
  readonly error?: string | undefined;
  readonly cause?: Cause | undefined;
  readonly cancelCause?: Cause | undefined;
  readonly attempts: readonly AttemptRecord[];
  readonly failures: number;
  readonly losses: number;
  readonly releases: number;
  readonly readers: number;
  readonly dependsOn: readonly string[];
  readonly edges: EdgePolicies;
  readonly blocked: readonly (readonly [id: string, kind: BlockKind])[];
  /** Missing ones that counted as satisfied. */
  readonly absent: readonly string[];
  readonly expiresAt?: number | undefined;
  readonly expiresInMs?: number | undefined;
  readonly waitUntil?: number | undefined;
  readonly parked?: { readonly until: number; readonly turn: number } | undefined;
  readonly releasedMs?: number | undefined;
  /** Others are still to be told of its end. */
  readonly isInCascade: boolean;
  /** It waits for none of its dependencies any more. */
  readonly hasLeft: boolean;
  /** See `firstPayloadOf`. */
  readonly firstPayload?: string | undefined;
  readonly charged?: number | undefined;
  readonly key?: string | undefined;
  readonly run?: RunRow | undefined;
  readonly streams: readonly StreamRow[];
}

/** A lease. */
export interface LeaseRow {
  readonly token: string;
  readonly worker: string;
  readonly leasedAt: number;
  readonly until?: number | undefined;
  /** Of its queue when it was charged. */
  readonly epoch: number;
}

/** What ties a task to a workflow. */
export interface RunRow {
  readonly isJoin: boolean;
  readonly owner?: string | undefined;
  readonly graph?: string | undefined;
  readonly waitFor: readonly string[];
  readonly wakeOn: 'all' | 'failure';
  readonly wakeAt?: number | undefined;
  readonly attendedBy?: string | undefined;
  readonly timeLeft?: string | undefined;
  readonly decidesAfter?: string | undefined;
  readonly wait?: WaitRow | undefined;
  readonly journal: readonly (readonly [field: string, text: string])[];
  readonly channels?: ChannelsRow | undefined;
  readonly newestWrites?: string | undefined;
  readonly signals?: SignalsRow | undefined;
  readonly asks: readonly AskRow[];
  readonly pause?: RunPause | undefined;
  readonly pausedBy?: string | undefined;
  readonly asideFor?: string | undefined;
}

/** What a suspended task waits for that is no task. */
export interface WaitRow {
  readonly wait: Wait;
  readonly since: number;
  /** Of an event: the number of the newest when it began. */
  readonly number?: number | undefined;
}

/** Channels of a run: values by field, and marks of writes that count once and were done. */
export interface ChannelsRow {
  readonly values: readonly (readonly [field: string, text: string])[];
  readonly done: readonly string[];
}

/** Signals that are kept for a task, oldest first, and the newest ids of those that were sent. */
export interface SignalsRow {
  readonly kept: readonly (readonly [name: string, payloads: readonly string[]])[];
  readonly ids: readonly string[];
}

/** A question of a task. */
export interface AskRow {
  readonly mark: string;
  readonly ask: AskSpec;
  readonly askedAt: number;
  readonly until?: number | undefined;
  readonly closing?: string | undefined;
}

/** A stream of a task. */
export interface StreamRow {
  readonly name: string;
  readonly next: number;
  readonly bytes: number;
  readonly closed: boolean;
  readonly entries: readonly StreamEntry[];
  /** By node: its newest call, and how many chunks that has written. */
  readonly writers: readonly (readonly [node: string, call: string, written: number])[];
}

/** An idempotency key. */
export interface KeyRow {
  readonly queue: string;
  readonly user: string;
  readonly key: string;
  readonly owner: string;
  /** How the owner ended, once its record is gone. */
  readonly ownerEndedAs?: EndState | undefined;
  readonly follower?: string | undefined;
  /** See `firstPayloadOf`. */
  readonly firstPayload: string;
  readonly until?: number | undefined;
  readonly from?: number | undefined;
  readonly absorbed: readonly string[];
  readonly endedAt?: number | undefined;
}

/** A schedule. */
export interface ScheduleRow {
  readonly change: Omit<ScheduleChange, 'next'>;
  readonly next: ScheduleRecord['next'];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly fired: number;
  readonly missed: number;
  readonly overlapped: number;
  readonly settledSlot?: number | undefined;
  readonly last: ScheduleRecord['last'];
  readonly active: readonly string[];
}

/** A snapshot of a graph; without a body it is only remembered. */
export interface GraphRow {
  readonly hash: string;
  readonly body?: string | undefined;
  readonly until: number;
  /** Ids of tasks, and holders of schedules. */
  readonly neededBy: readonly string[];
}

/** A named value. */
export interface ValueRow {
  readonly place: XComPlace;
  readonly text: string;
  readonly ttlMs: number;
  readonly pushedAt: number;
  readonly writer?: string | undefined;
  /** When to look whether it is over. */
  readonly lookAt: number;
}

/** Events that are kept of one user, name and key. */
export interface EventsRow {
  readonly user: string;
  readonly name: string;
  readonly key: string;
  readonly newest: number;
  readonly keptUntil: number;
  readonly events: readonly EventRow[];
}

/** One of them. */
export interface EventRow {
  readonly number: number;
  readonly at: number;
  readonly payload: string;
  readonly eventId: string;
}

/** A minute or an hour of the series: rows by name. */
export interface SeriesStepRow {
  readonly step: SeriesStep;
  /** Counted from the epoch. */
  readonly at: number;
  readonly rows: readonly (readonly [name: string, text: string])[];
}

/** An error group, beside its failed tasks. */
export interface ErrorGroupRow {
  readonly id: string;
  readonly attempts: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly newest: string;
}
