/**
 * The commands of a history, as plain data: what a seed file keeps and what fast-check shrinks.
 * Tasks, leases and workers are named by a place (`pick`) in what exists when the step runs.
 */

import type { QueuePatch, UserPatch } from '../../src/domain/fairness/settings.ts';
import type { OverlapPolicy } from '../../src/domain/port/schedule.ts';
import type { ChannelWrite } from '../../src/domain/task/channel.ts';
import type {
  EdgePolicy,
  KeySpec,
  Level,
  MissingPolicy,
  TaskState,
} from '../../src/domain/task/task.ts';
import type { SignalMessage, WaitEvent } from '../../src/domain/task/wait.ts';
import type { XComWrite } from '../../src/domain/task/xcom.ts';

export interface ItemStep {
  readonly user: string;
  readonly queue: string;
  readonly name: string;
  readonly level: Level;
  readonly cost: number;
  readonly payload: string;
  /** Of the ids: hashed, sequential ids would hide ties by creation. */
  readonly salt: number;
  readonly delayMs?: number | undefined;
  /** Relative to the clock. */
  readonly executeInMs?: number | undefined;
  readonly expiresInMs?: number | undefined;
  /** Each a place among the ids so far; beyond them an id of this batch, or an unknown one. */
  readonly dependsOn: readonly DependencyStep[];
  readonly onFailure: EdgePolicy;
  readonly onCancel: EdgePolicy;
  readonly onMissing: MissingPolicy;
  readonly allowCrossUser: boolean;
  /** One that gathers calls is left out of an atomic batch. */
  readonly key?: KeySpec | undefined;
  /** Use the id of a task that was there before. */
  readonly again?: number | undefined;
  /** It takes an id that others may have waited for before it. */
  readonly late?: number | undefined;
  readonly join?: true | undefined;
  readonly owner?: OwnerStep | undefined;
  /** Which of the graphs its snapshot is of. */
  readonly graph?: number | undefined;
}

/** The run that an item is a member of: one that has not ended, one that has, or none at all. */
export interface OwnerStep {
  readonly of: 'live' | 'ended' | 'unknown';
  readonly pick: number;
}

/** A lease that some worker believes in, one that it should not, or one that never was. */
export interface HolderStep {
  readonly of: 'held' | 'stale' | 'forged';
  readonly pick: number;
}

export type DependencyStep =
  | { readonly of: 'known'; readonly pick: number }
  | { readonly of: 'live'; readonly pick: number }
  | { readonly of: 'ended'; readonly pick: number }
  /** Another item of the same batch, at a distance that cannot make a cycle. */
  | { readonly of: 'batch'; readonly pick: number }
  | { readonly of: 'unknown'; readonly pick: number };

export type DecisionStep =
  | { readonly type: 'finish' }
  | { readonly type: 'retry'; readonly delayMs: number }
  | { readonly type: 'dead-letter' }
  | { readonly type: 'cancel' }
  | { readonly type: 'release'; readonly delayMs?: number | undefined }
  | {
      readonly type: 'suspend';
      readonly waitFor: readonly AwaitedStep[];
      readonly wakeOn: 'all' | 'failure';
      readonly wakeAfterMs?: number | undefined;
      /** Its handler goes on, and may end while it waits. */
      readonly attended?: true | undefined;
      /** Unless it is attended: no handler goes on when it is woken. */
      readonly decides?: true | undefined;
      /** In place of others: time, or a signal to itself or to whom it belongs to as well. */
      readonly wait?: WaitStep | undefined;
    };

export interface WaitStep {
  readonly for: 'time' | 'own' | 'both' | 'event' | 'ask';
  readonly name: string;
  readonly entry: string;
  /** Of an event: what it is about. */
  readonly key?: string | undefined;
  readonly withinMs?: number | undefined;
  /** Of a question. */
  readonly names?: readonly string[] | undefined;
}

/** What a question may be answered with, and what not. */
export const CHOICES: readonly string[] = ['yes', 'no'];

/** An answer to a question that is open, that was, or that was never asked. */
export interface AnswerStep {
  readonly of: 'open' | 'closed' | 'nobody';
  readonly pick: number;
  readonly choice: string;
  readonly by: string;
  /** Calls of one number are one call that is sent again. */
  readonly call: number;
}

/** Whom a run waits for: `member` is one of its own. */
export interface AwaitedStep {
  readonly of: 'member' | 'live' | 'ended' | 'dependency' | 'unknown';
  readonly pick: number;
}

export interface SettlementStep extends HolderStep {
  readonly decision: DecisionStep;
  readonly channel?: ChannelStep | undefined;
  readonly values?: readonly XComWrite[] | undefined;
}

/** Writes to the channels of a run: of the writer itself, of its owner, of any task, of none. */
export interface ChannelStep {
  readonly of: 'self' | 'owner' | 'known' | 'unknown';
  readonly pick: number;
  readonly writes: readonly ChannelWrite[];
}

export interface LeaseStep {
  readonly worker: number;
  readonly limit: number;
  readonly leaseMs: number;
}

/** A schedule as its client writes it, by what it read. */
export interface SetScheduleStep {
  readonly schedule: number;
  readonly spec: string;
  readonly overlap: OverlapPolicy;
  readonly limit?: number | undefined;
  readonly graph?: number | undefined;
  readonly paused: boolean;
  /** Where it is to stand: `new` is relative to the clock. */
  readonly next: 'new' | 'kept' | 'none';
  readonly inMs: number;
  readonly jitterMs: number;
  /** Other than 0: it was changed meanwhile. */
  readonly revision: number;
  /** It fires at events of this user, and stands at no slot. */
  readonly on?: string | undefined;
}

/** What a publisher makes an event start: of the schedules that fire, the first so many start nothing. */
export interface StartsStep {
  readonly item: ItemStep;
  /** Whether it knows who fires. */
  readonly knows: 'all' | 'none' | 'old';
  readonly without: number;
}

/** A scheduler fires one of the schedules that it was told of. */
export interface FireStep {
  readonly owner: number;
  readonly pick: number;
  readonly firings: number;
  readonly passed: number;
  readonly periodMs: number;
  readonly jitterMs: number;
  readonly ends: boolean;
  /** Absent in histories that were kept before there was such a thing. */
  readonly catchUp?: boolean;
  readonly item: ItemStep;
}

/** Which tasks a step may pick from; an empty group falls back to all. */
export type Among = TaskState | 'any' | 'nobody';

export type Step =
  | {
      readonly type: 'enqueue';
      readonly items: readonly ItemStep[];
      readonly atomic: boolean;
      /** On behalf of a lease of this worker; then not atomic. */
      readonly fence?: ({ readonly worker: number } & HolderStep) | undefined;
    }
  | { readonly type: 'resendEnqueue'; readonly pick: number }
  | ({ readonly type: 'lease' } & LeaseStep)
  | { readonly type: 'resendLease'; readonly worker: number }
  | {
      readonly type: 'settle';
      readonly worker: number;
      readonly settlements: readonly SettlementStep[];
      readonly lease?: LeaseStep | undefined;
    }
  | { readonly type: 'resendSettle' }
  | {
      readonly type: 'extend';
      readonly worker: number;
      readonly leaseMs: number;
      readonly stale: number;
      readonly omit: number;
    }
  | { readonly type: 'tick' }
  | ({
      readonly type: 'checkpoint';
      readonly worker: number;
      readonly entries: Readonly<Record<string, string | null>>;
      readonly channel?: (ChannelStep & { readonly key: string }) | undefined;
      /** Go with what is written to channels. */
      readonly values?: readonly XComWrite[] | undefined;
    } & HolderStep)
  /** Its answer was lost: the newest one goes once more. */
  | { readonly type: 'resendCheckpoint' }
  | ({
      readonly type: 'writeChannel';
      readonly worker: number;
      readonly channel: ChannelStep;
    } & HolderStep)
  | { readonly type: 'writeValues'; readonly writes: readonly XComWrite[] }
  | { readonly type: 'saveGraph' | 'loadGraph'; readonly graph: number }
  | ({ readonly type: 'setSchedule' } & SetScheduleStep)
  | { readonly type: 'removeSchedule' | 'getSchedule'; readonly schedule: number }
  | { readonly type: 'dueSchedules'; readonly owner: number; readonly limit: number }
  /** Whether it hears first what is due, now or when something is, or goes by what it heard before. */
  | ({ readonly type: 'fire'; readonly asks: 'now' | 'when due' | 'not' } & FireStep)
  /** Its answer was lost: the newest one goes once more. */
  | { readonly type: 'resendFire' }
  | { readonly type: 'leaveSchedules'; readonly owner: number }
  | { readonly type: 'cancel'; readonly among: Among; readonly pick: number }
  | {
      readonly type: 'redrive';
      readonly among: Among;
      readonly pick: number;
      /** Another input. */
      readonly edited?: { readonly payload: string; readonly options: string } | undefined;
    }
  | {
      readonly type: 'pauseRun';
      /** `owner`: a run with members that have not ended. */
      readonly among: Among | 'owner';
      readonly pick: number;
      readonly reason?: string | undefined;
    }
  /** A task is tied to the pauses of another. */
  | {
      readonly type: 'pausePart';
      readonly among: Among;
      readonly pick: number;
      readonly run: number;
    }
  | { readonly type: 'resumeRun'; readonly among: Among | 'paused'; readonly pick: number }
  | { readonly type: 'remove'; readonly among: Among; readonly pick: number }
  | { readonly type: 'runNow'; readonly among: Among; readonly pick: number }
  | {
      readonly type: 'signal';
      readonly among: Among;
      readonly pick: number;
      readonly signal: SignalMessage;
    }
  | {
      readonly type: 'publish';
      readonly user: string;
      readonly event: WaitEvent;
      readonly starts?: StartsStep | undefined;
    }
  | ({ readonly type: 'answerAsk' } & AnswerStep)
  /**
   * More tasks of a user than one step wakes wait for an event, which is published; then they go. `cancels`: some
   * before they are woken.
   */
  | { readonly type: 'crowd'; readonly cancels: boolean }
  | {
      readonly type: 'setUser';
      readonly user: string;
      readonly queue?: string | undefined;
      readonly patch: UserPatch;
    }
  | { readonly type: 'setQueue'; readonly queue: string; readonly patch: QueuePatch }
  | {
      readonly type: 'register';
      readonly worker: number;
      readonly spec: number;
      /** A process begins under the id of one that may be known. */
      readonly starts: boolean;
    }
  | { readonly type: 'unregister'; readonly worker: number }
  /** The worker process dies: it forgets what it holds and says nothing more. */
  | { readonly type: 'lose'; readonly worker: number }
  /** Finds nothing amiss, so a repair changes nothing. */
  | { readonly type: 'reconcile'; readonly repair: boolean }
  | { readonly type: 'advance'; readonly ms: number }
  /** To the next moment at which something falls due, and this much past it. */
  | { readonly type: 'advanceTo'; readonly offset: number }
  /** Redis forgets its scripts. */
  | { readonly type: 'flush' };

export const STEP_TYPES: readonly Step['type'][] = [
  'enqueue',
  'resendEnqueue',
  'lease',
  'resendLease',
  'settle',
  'resendSettle',
  'extend',
  'tick',
  'checkpoint',
  'resendCheckpoint',
  'writeChannel',
  'writeValues',
  'saveGraph',
  'loadGraph',
  'setSchedule',
  'removeSchedule',
  'getSchedule',
  'dueSchedules',
  'fire',
  'resendFire',
  'leaveSchedules',
  'cancel',
  'redrive',
  'pauseRun',
  'pausePart',
  'resumeRun',
  'remove',
  'runNow',
  'signal',
  'publish',
  'answerAsk',
  'crowd',
  'setUser',
  'setQueue',
  'register',
  'unregister',
  'lose',
  'reconcile',
  'advance',
  'advanceTo',
  'flush',
];

/** Queues of every history: two, so that stride and queues are met. */
export const QUEUES: readonly string[] = ['default', 'bulk'];
/**
 * Users: an ordinary one, some that break keys and maps built without care, and two whose order by
 * UTF-16 units is not their order by UTF-8 bytes.
 */
export const USERS: readonly string[] = ['ann', 'a:b', '__proto__', '\u{1F4A5}', '\uFF5E'];
export const NAMES: readonly string[] = ['mail', 'report', 'odd'];
