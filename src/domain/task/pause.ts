/** Pauses of runs: none of the tasks of a paused run starts. */

import { readableWords } from './sealed-text.ts';

/** A pause in force. */
export interface RunPause {
  /** Start of the pause, in ms since the epoch on the backend's clock. */
  readonly since: number;
  /** Text of the caller that paused it, shown to people and never read by code. */
  readonly reason?: string;
}

/** The same pause for display: an encrypted text is replaced by a note with the id of its key. */
export function readablePause<T extends RunPause>(pause: T): T {
  return pause.reason === undefined ? pause : { ...pause, reason: readableWords(pause.reason) };
}
