/** That a run is paused: none of its tasks is started meanwhile. */

import { readableWords } from './sealed-text.ts';

/** A pause in force. */
export interface RunPause {
  /** Since when, in ms since the epoch on the backend's clock. */
  readonly since: number;
  /** Words of the caller that paused it, shown to people and never read by code. */
  readonly reason?: string;
}

/** As it may be shown: words that cannot be read by the id of their key. */
export function readablePause<T extends RunPause>(pause: T): T {
  return pause.reason === undefined ? pause : { ...pause, reason: readableWords(pause.reason) };
}
