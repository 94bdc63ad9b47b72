/** Why a task was not stored. */
export type EnqueueRefusal =
  /** The id exists with another user, name or payload. */
  | { readonly type: 'task-conflict'; readonly id: string }
  /** The idempotency key is held by `id`, under the policy `reject`. */
  | { readonly type: 'key-taken'; readonly key: string; readonly id: string }
  | {
      readonly type: 'queue-full';
      readonly user: string;
      readonly limit: number;
      readonly size: number;
    }
  | { readonly type: 'unknown-dependency'; readonly dependency: string }
  | { readonly type: 'cross-user'; readonly dependency: string }
  /** A cycle through edges to what was missing; the path starts and ends with the same id. */
  | { readonly type: 'cycle'; readonly path: readonly string[] }
  /** Somebody waits for it, and whether it closes a cycle shows only beyond so many edges each way. */
  | { readonly type: 'dependency-limit'; readonly limit: number }
  /** The lease on whose behalf it was to be stored is not in force. */
  | { readonly type: 'lease-lost' }
  /** The snapshot that it needs is not stored; save it again. */
  | { readonly type: 'graph-missing'; readonly hash: string }
  /** Another item of an atomic batch was refused; this one was not looked at or not kept. */
  | { readonly type: 'batch-refused' };
