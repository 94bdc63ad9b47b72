/** Which users' tasks a task may depend on: checked for every edge, not only at an enqueue. */
import type { EdgePolicies } from './task.ts';

/** Facts of a task with dependencies that the rule reads. */
export interface EdgeOwner {
  /** User of the task. */
  readonly user: string;
  /** Its policies. */
  readonly edges: Pick<EdgePolicies, 'allowCrossUser'>;
}

/**
 * Whether a task may depend on a task of this user: knowing an id gives no right to read a result.
 * A task with a refused edge is treated as if no task had that id.
 */
export function mayDependOn({ user, edges }: EdgeOwner, other: string): boolean {
  return edges.allowCrossUser || user === other;
}

/** The user that has to store a missing dependency of this task; `''`: any user. */
export function awaitedFrom({ user, edges }: EdgeOwner): string {
  return edges.allowCrossUser ? '' : user;
}
