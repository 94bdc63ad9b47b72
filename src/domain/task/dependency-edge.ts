/** Whose tasks a task may depend on: asked wherever an edge comes about, not only at an enqueue. */
import type { EdgePolicies } from './task.ts';

/** What the rule reads of a task that depends on others. */
export interface EdgeOwner {
  /** Whose task it is. */
  readonly user: string;
  /** What was said of its edges. */
  readonly edges: Pick<EdgePolicies, 'allowCrossUser'>;
}

/**
 * Whether a task may depend on a task of this user: to know an id gives no right to read a result.
 * A task whose edge is refused goes on as if no task had that id.
 */
export function mayDependOn({ user, edges }: EdgeOwner, other: string): boolean {
  return edges.allowCrossUser || user === other;
}

/** The user that has to store a missing id, for this task to depend on it; `''`: any user. */
export function awaitedFrom({ user, edges }: EdgeOwner): string {
  return edges.allowCrossUser ? '' : user;
}
