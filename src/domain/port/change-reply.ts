/** What the port answers to a change of one task. */
import type { EndState, TaskState } from '../task/task.ts';

/** What a cancel came to. */
export type CancelReply =
  | { readonly kind: 'canceled' }
  | { readonly kind: 'requested'; readonly worker: string }
  | { readonly kind: 'already-ended'; readonly state: EndState }
  | { readonly kind: 'not-found' };

/** What a change of one task came to. */
export type ChangeReply =
  | { readonly kind: 'ok'; readonly state?: TaskState }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'wrong-state'; readonly state: TaskState }
  /** Its dependents are still being released, or it is still read by one. */
  | { readonly kind: 'busy' }
  /** A redrive: it would wait for one that waits for it, as the cycle shows; nothing was changed. */
  | { readonly kind: 'cycle'; readonly path: readonly string[] }
  /** A redrive: whether that is so shows only beyond so many edges each way. */
  | { readonly kind: 'dependency-limit'; readonly limit: number };
