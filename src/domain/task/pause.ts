/** That a run is paused: none of its tasks is started meanwhile. */

import { readableWords } from './sealed-text.ts';
import type { EndState } from './task.ts';

/** A pause in force. */
export interface RunPause {
  /** Since when, in ms since the epoch on the backend's clock. */
  readonly since: number;
  /** Words of whoever paused it, shown to people and never read by code. */
  readonly reason?: string;
}

/** As it may be shown: words that cannot be read by the id of their key. */
export function readablePause<T extends RunPause>(pause: T): T {
  return pause.reason === undefined ? pause : { ...pause, reason: readableWords(pause.reason) };
}

/** What a pause came to. */
export type PauseReply =
  /** The pause in force: an earlier one, where the run was paused already. */
  | { readonly kind: 'ok'; readonly pause: RunPause }
  | { readonly kind: 'not-found' }
  /** It has ended: nothing was changed. */
  | { readonly kind: 'wrong-state'; readonly state: EndState };
