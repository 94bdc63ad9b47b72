/** Journals, channels and pauses of runs; part of the port in `backend.ts`. */

import type { ChannelRefusal, ChannelWrites } from '../task/channel.ts';
import type { RunPause } from '../task/pause.ts';
import type { EndState } from '../task/task.ts';
import type { XComWrite } from '../task/xcom.ts';
import type { ChangeReply } from './change-reply.ts';
import type { LeaseRef } from './leasing.ts';

/** The stored progress of runs, from which another worker can continue. */
export interface RunStore {
  /**
   * Writes entries of a leased task's journal (JSON text; null removes an entry), and resets its losses. All or
   * nothing. `lost`: the lease is not in force; `canceling`: a cancel of the task was requested; a refusal: the
   * writes to channels cannot be stored; `paused`: the entries are written, and the run of the task is paused.
   */
  checkpoint(
    lease: LeaseRef,
    entries: Readonly<Record<string, string | null>>,
    channel?: NodeWrites,
  ): Promise<CheckpointReply>;
  /** The journal, and as `redrives` the number of redrives since. It is removed with the record. */
  load(id: string): Promise<Readonly<Record<string, string>>>;
  /** Writes to channels at once, for a leased task. All or nothing, as `checkpoint`. */
  writeChannel(lease: LeaseRef, channel: ChannelWrites): Promise<'ok' | 'lost' | ChannelRefusal>;
  /**
   * Values of the channels of a run by field, as JSON texts: all, or those of some fields. Empty when nothing was
   * written, or the run is not stored. They are removed with the record of the run's task.
   */
  readChannel(run: string, fields?: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /**
   * Pauses the run of this task: neither the task starts nor a task that it owns, directly or through others. A task
   * whose turn comes is set aside as `deferred` and keeps its place in line until the pause ends. Started tasks
   * continue, and a task that `decides` (see `Suspension`) is leased.
   */
  pause(id: string, reason?: string): Promise<PauseReply>;
  /**
   * Makes pauses of a run apply to this task and to those that it owns, as `owner` does, for a task that was
   * stored without an owner. Refused for a finished or canceled task.
   */
  pausePart(id: string, run: string): Promise<ChangeReply>;
  /**
   * Ends the pause of a run, if it has one. Tasks that were set aside return to their places, many of them in later
   * steps of maintenance. Refused for a finished or canceled run, whose pause has ended with it.
   */
  resume(id: string): Promise<ChangeReply>;
}

/** Answer to a checkpoint; see {@link RunStore.checkpoint}. */
export type CheckpointReply = 'ok' | 'paused' | 'lost' | 'canceling' | ChannelRefusal;

/** Writes of a node beside its output, stored with a checkpoint. */
export interface NodeWrites extends ChannelWrites {
  /**
   * Identifies these writes. The latest key of a lease is stored: writes with the same key are not applied again.
   */
  readonly key: string;
  /** Values that the node pushed or deleted; their writer is the task that checkpoints. */
  readonly xcom?: readonly XComWrite[];
}

/** Answer to a pause. */
export type PauseReply =
  /** The pause in force; an earlier one if the run was paused already. */
  | { readonly kind: 'ok'; readonly pause: RunPause }
  | { readonly kind: 'not-found' }
  /** The run has ended: nothing was changed. */
  | { readonly kind: 'wrong-state'; readonly state: EndState };
