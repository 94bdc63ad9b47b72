/** What the port answers to a change of one task. */
import type { EndState, TaskState } from '../task/task.ts';

/** What a cancel came to. */
export type CancelReply =
  | { readonly kind: 'canceled' }
  /** It runs at this worker: its signal aborts, and it ends as canceled. */
  | { readonly kind: 'requested'; readonly worker: string }
  /** It had come to this end before; nothing was changed. */
  | { readonly kind: 'already-ended'; readonly state: EndState }
  | { readonly kind: 'not-found' };

/** With what a dead letter is put back in place of what it had. */
export interface EditedTask {
  /** Its input. Who enqueues it again is still compared with its first one. */
  readonly payload: string;
  /** Its options, as `NewTask.options`. */
  readonly options: string;
}

/** What a change of one task came to. */
export type ChangeReply =
  /** Where it stands now; absent when it was removed. */
  | { readonly kind: 'ok'; readonly state?: TaskState }
  | { readonly kind: 'not-found' }
  /** The change is not for tasks in this state; nothing was changed. */
  | { readonly kind: 'wrong-state'; readonly state: TaskState }
  /** Its dependents are still being released, or it is still read by one. */
  | { readonly kind: 'busy' }
  /** A redrive: it would wait for one that waits for it, as the cycle shows; nothing was changed. */
  | { readonly kind: 'cycle'; readonly path: readonly string[] }
  /** A redrive: whether that is so shows only beyond so many edges each way. */
  | { readonly kind: 'dependency-limit'; readonly limit: number };
