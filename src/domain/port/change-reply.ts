/** Answers to changes of one task; part of the port in `backend.ts`. */
import type { EndState, TaskState } from '../task/task.ts';

/** Answer to a cancel. */
export type CancelReply =
  | { readonly kind: 'canceled' }
  /** It runs at this worker: its signal aborts, and it ends as canceled. */
  | { readonly kind: 'requested'; readonly worker: string }
  /** It has ended before; nothing was changed. */
  | { readonly kind: 'already-ended'; readonly state: EndState }
  | { readonly kind: 'not-found' };

/** Input and options that replace those of a dead letter. */
export interface EditedTask {
  /** Its input. Another enqueue of its id is still compared with the first input. */
  readonly payload: string;
  /** Its options, as `NewTask.options`. */
  readonly options: string;
}

/** Answer to a change of one task. */
export type ChangeReply =
  /** Its state now; absent when it was removed. */
  | { readonly kind: 'ok'; readonly state?: TaskState }
  | { readonly kind: 'not-found' }
  /** The change is not for tasks in this state; nothing was changed. */
  | { readonly kind: 'wrong-state'; readonly state: TaskState }
  /** Its dependents are still being released, or one still reads it. */
  | { readonly kind: 'busy' }
  /** A redrive would close this cycle of dependencies; nothing was changed. */
  | { readonly kind: 'cycle'; readonly path: readonly string[] }
  /** A redrive: more than this many edges each way must be read to rule out a cycle. */
  | { readonly kind: 'dependency-limit'; readonly limit: number };
