/** What operations answer that change something, or send it. */
import type { SignalOutcome } from '../client/facades/signals.ts';

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

/** What became of one thing that an operation should change. */
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

/** A run that was stored. */
export interface StoredRun {
  /** Its id. */
  readonly id: string;
  /** False when it was stored before. */
  readonly created: boolean;
}

/** What was done about the slots of a stretch. */
export interface Backfill {
  /** The schedule. */
  readonly id: string;
  /** Slots whose task was stored, in ms since the epoch. */
  readonly created: readonly number[];
  /** Slots whose task was there before. */
  readonly existing: readonly number[];
  /** Slots whose task was not stored, and why. */
  readonly refused: readonly { readonly slot: number; readonly error: string }[];
}
