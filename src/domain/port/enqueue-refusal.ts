/** Why a task was not stored. */
export type EnqueueRefusal =
  /** The id belongs to a task with another user, name or payload. */
  | { readonly type: 'task-conflict'; readonly id: string }
  /** The idempotency key belongs to `id`, and the policy is `reject`. */
  | {
      readonly type: 'key-taken';
      /** The key. */
      readonly key: string;
      /** The task that has the key. */
      readonly id: string;
    }
  | {
      readonly type: 'queue-full';
      /** The user. */
      readonly user: string;
      /** Its `maxQueued`. */
      readonly limit: number;
      /** Its waiting tasks. */
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
  /** The lease of the fence is not in force. */
  | { readonly type: 'lease-lost' }
  /** The snapshot that it needs is not stored; save it again. */
  | { readonly type: 'graph-missing'; readonly hash: string }
  /** Another task of the atomic batch was refused. */
  | { readonly type: 'batch-refused' };
