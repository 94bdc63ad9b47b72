/** Why a task was not stored. */
export type EnqueueRefusal =
  /** The id exists with another user, name or payload. */
  | { readonly type: 'task-conflict'; readonly id: string }
  /** The idempotency key is held by `id`, under the policy `reject`. */
  | {
      readonly type: 'key-taken';
      /** As its caller gave it. */
      readonly key: string;
      /** The task that has the key. */
      readonly id: string;
    }
  | {
      readonly type: 'queue-full';
      /** Whose tasks they are. */
      readonly user: string;
      /** Most tasks that may wait (`maxQueued`). */
      readonly limit: number;
      /** Tasks that wait. */
      readonly size: number;
    }
  /** It depends on a task that is not stored, and `onMissing` refuses that. */
  | { readonly type: 'unknown-dependency'; readonly dependency: string }
  /** It depends on a task of another user, and does not allow that. */
  | { readonly type: 'cross-user'; readonly dependency: string }
  /** A cycle through edges to what was missing; the path starts and ends with the same id. */
  | { readonly type: 'cycle'; readonly path: readonly string[] }
  /** It has dependents, and more than this many edges each way must be read to rule out a cycle. */
  | { readonly type: 'dependency-limit'; readonly limit: number }
  /** The lease on whose behalf it was to be stored is not in force. */
  | { readonly type: 'lease-lost' }
  /** The snapshot that it needs is not stored; save it again. */
  | { readonly type: 'graph-missing'; readonly hash: string }
  /** Another item of an atomic batch was refused; this one was not looked at or not kept. */
  | { readonly type: 'batch-refused' };
