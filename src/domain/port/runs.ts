/** The part of the port that runs stand on: their journals, channels and pauses. */

import type { ChannelRefusal, ChannelWrites } from '../task/channel.ts';
import type { RunPause } from '../task/pause.ts';
import type { EndState } from '../task/task.ts';
import type { XComWrite } from '../task/xcom.ts';
import type { ChangeReply } from './change-reply.ts';
import type { LeaseRef } from './leasing.ts';

/** What a run writes down as it goes, so that another worker can go on from there. */
export interface RunStore {
  /**
   * Writes entries (JSON text; null takes one away) on behalf of a leased task, and forgives its
   * losses. All or nothing; `lost` when the lease is not in force, `canceling` once a cancel of the
   * task was requested, a refusal when what is written to channels cannot be stored; `paused`: it is
   * written, and the run of the task is paused.
   */
  checkpoint(
    lease: LeaseRef,
    entries: Readonly<Record<string, string | null>>,
    channel?: NodeWrites,
  ): Promise<CheckpointReply>;
  /** What was written down, and as `redrives` how often it was redriven since. Goes with the record. */
  load(id: string): Promise<Readonly<Record<string, string>>>;
  /** Writes to channels now, on behalf of a leased task. All or nothing, as `checkpoint`. */
  writeChannel(lease: LeaseRef, channel: ChannelWrites): Promise<'ok' | 'lost' | ChannelRefusal>;
  /**
   * Values of the channels of a run by field, as JSON texts: all, or those of some fields. Empty when
   * nothing was written, or the run is not stored. They go with the record of the run's task.
   */
  readChannel(run: string, fields?: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /**
   * Pauses the run that this task stands for: from now on neither it is started nor a task whose
   * `owner` it is, or the owner of that, and so on. Whose turn comes is set aside as `deferred`, with
   * its place in line, until the pause is over. What is started goes on, and one that `decides` (see
   * `Suspension`) is leased.
   */
  pause(id: string, reason?: string): Promise<PauseReply>;
  /**
   * From now on pauses of a run hold this task too, and those that it owns: what `owner` comes to, for a
   * task that was stored without. Not for one that has finished or was canceled.
   */
  pausePart(id: string, run: string): Promise<ChangeReply>;
  /**
   * Ends the pause of a run, if it has one; tasks that were set aside go back to their places, many of
   * them in later steps of maintenance. Not for one that has finished or was canceled: its pause, and what
   * that held, has ended with it.
   */
  resume(id: string): Promise<ChangeReply>;
}

/** What became of a checkpoint; see {@link RunStore.checkpoint}. */
export type CheckpointReply = 'ok' | 'paused' | 'lost' | 'canceling' | ChannelRefusal;

/** What a node wrote, beside its output: it goes with a checkpoint. */
export interface NodeWrites extends ChannelWrites {
  /**
   * What they belong to. The newest one of a lease is remembered: writes under the same name again
   * have been applied already.
   */
  readonly key: string;
  /** Values that it pushed or deleted; the task that checkpoints is their writer. */
  readonly xcom?: readonly XComWrite[];
}

/** What a pause came to. */
export type PauseReply =
  /** The pause in force: an earlier one, where the run was paused already. */
  | { readonly kind: 'ok'; readonly pause: RunPause }
  | { readonly kind: 'not-found' }
  /** It has ended: nothing was changed. */
  | { readonly kind: 'wrong-state'; readonly state: EndState };
