/** What an enqueue asks and answers; part of the port in `backend.ts`. */

import type { TaskState } from '../task/task.ts';
import type { EnqueueRefusal } from './enqueue-refusal.ts';
import type { LeaseRef } from './leasing.ts';

/** How a call stores its tasks. */
export type BatchOptions =
  /** All or none; otherwise each task stands on its own. */
  | { readonly atomic: boolean; readonly fence?: undefined }
  /**
   * On behalf of a leased task: nothing is stored unless the lease is in force, and `maxQueued` is
   * not asked.
   */
  | { readonly atomic: false; readonly fence: LeaseRef };

/** What became of one task of an enqueue. */
export type EnqueueReply =
  /** The task is stored, under this id. */
  | { readonly kind: 'created'; readonly id: string }
  /** Nothing was written: the id, or the owner of the idempotency key, was there before. */
  | {
      readonly kind: 'existing';
      /** The task that was there before. */
      readonly id: string;
      /** Where that one stands. */
      readonly state: TaskState;
      /** The key was used with another payload the first time. */
      readonly conflict: boolean;
      /** The waiting task's input and options were replaced by these. */
      readonly replaced: boolean;
    }
  /** Nothing was written for this one. */
  | { readonly kind: 'refused'; readonly refusal: EnqueueRefusal };
