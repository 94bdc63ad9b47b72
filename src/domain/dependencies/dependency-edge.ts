/** Whose tasks a task may depend on: asked wherever an edge comes about, not only at an enqueue. */
import type { EdgePolicies } from '../task/task.ts';

/** What the rule reads of a task that depends on others. */
export interface EdgeOwner {
  /** Whose task it is. */
  readonly user: string;
  /** What was said of its edges. */
  readonly edges: Pick<EdgePolicies, 'allowCrossUser'>;
}

/**
 * Whether a task may come to depend on one of this user: whoever may read a result is said, and does
 * not come about by an id. A task whose edge is refused so goes on as if there were none of that id.
 */
export function mayDependOn({ user, edges }: EdgeOwner, other: string): boolean {
  return edges.allowCrossUser || user === other;
}

/** Who has to store an id that is missing, for this task to depend on it; `''`: anybody. */
export function awaitedFrom({ user, edges }: EdgeOwner): string {
  return edges.allowCrossUser ? '' : user;
}
