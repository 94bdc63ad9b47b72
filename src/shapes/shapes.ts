/** Shapes of JSON that the command line and the HTTP API answer alike. */

import type { SignalOutcome } from '../client/facades/signals.ts';
import type { AttemptInfo, TaskInfo } from '../client/facades/task-info.ts';
import type { TaskGraph } from '../graph/graph.ts';
import type { RunNodeInfo } from '../runs/run-info.ts';

/** A task that was stored, or was there before. */
export interface StoredTask {
  /** Its id. */
  readonly id: string;
  /** False when it was stored before. */
  readonly created: boolean;
  /** Another task has this id or key, and this one was not stored. */
  readonly conflict: boolean;
}

/** What became of a signal. */
export interface SentSignal {
  /** The task or run that it was sent to. */
  readonly id: string;
  /** Of the signal. */
  readonly name: string;
  /** It ended a wait, is kept for the next one, or was sent before. */
  readonly outcome: SignalOutcome;
}

/** What became of an event. */
export interface PublishedEvent {
  /** What has happened. */
  readonly name: string;
  /** To what. */
  readonly key: string;
  /** `repeated`: it was published before under its id. */
  readonly outcome: 'published' | 'repeated';
}

/** An answer that counts. */
export interface GivenAnswer {
  /** The question. */
  readonly id: string;
  /** What was chosen. */
  readonly choice: string;
  /** Who has answered. */
  readonly by: string;
}

/** A task with its attempts. */
export interface TaskDetails extends TaskInfo {
  /** The newest last. */
  readonly attempts: readonly AttemptInfo[];
}

/** What became of one of those that a command should change. */
export interface Change {
  /** The task, run or schedule; with `--dry-run` also the node of a run. */
  readonly id: string;
  /** Whether it was changed, or would be with `--dry-run`. */
  readonly ok: boolean;
  /** What was done or would be, or why not; for people. */
  readonly outcome: string;
  /** `--dry-run`: it was not selected; it would end with this other one. */
  readonly with?: string;
}

/** A graph, and where its nodes stand. */
export interface GraphStates {
  /** As it is stored. */
  readonly graph: TaskGraph;
  /** By node; empty for a graph without a run. */
  readonly states: Readonly<Record<string, RunNodeInfo['state']>>;
}

/** A run that was stored. */
export interface StoredRun {
  /** Its id. */
  readonly id: string;
  /** False when it was stored before. */
  readonly created: boolean;
}

/** Slots that come next. */
export interface ScheduleSlots {
  /** The schedule. */
  readonly id: string;
  /** In order, in ms since the epoch. */
  readonly slots: readonly number[];
}

/** A chunk of a stream, where an attempt begins anew, or a gap. */
export interface StreamRow {
  /** Which of these it is. */
  readonly type: 'chunk' | 'reset' | 'gap';
  /** Rises through the whole stream, from 0. */
  readonly offset: number;
  /** What `--from` goes on with. */
  readonly next: number;
  /** Who wrote it, or begins; absent for a gap. */
  readonly attempt?: number;
  /** The node of a driven run. */
  readonly node?: string;
  /** What was written. */
  readonly value?: unknown;
}
