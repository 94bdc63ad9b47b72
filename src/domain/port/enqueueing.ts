/** Options and answers of an enqueue; part of the port in `backend.ts`. */

import type { TaskState } from '../task/task.ts';
import type { EnqueueRefusal } from './enqueue-refusal.ts';
import type { LeaseRef } from './leasing.ts';

/** How a call stores its tasks. */
export type BatchOptions =
  /** True: all or none. False: each task is stored or refused on its own. */
  | { readonly atomic: boolean; readonly fence?: undefined }
  /**
   * For a leased task: nothing is stored unless the lease is in force, and `maxQueued` does not apply.
   */
  | { readonly atomic: false; readonly fence: LeaseRef };

/** Answer for one task of an enqueue. */
export type EnqueueReply =
  /** The task is stored, under this id. */
  | { readonly kind: 'created'; readonly id: string }
  /** Nothing was written: the id or the idempotency key is taken. */
  | {
      readonly kind: 'existing';
      /** The stored task. */
      readonly id: string;
      /** Its state. */
      readonly state: TaskState;
      /** The key belongs to a task with another payload. */
      readonly conflict: boolean;
      /** The stored task waits, and its input and options were replaced. */
      readonly replaced: boolean;
    }
  /** The task was not stored. */
  | { readonly kind: 'refused'; readonly refusal: EnqueueRefusal };
