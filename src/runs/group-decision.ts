/** What the policy of a group says about the outcomes of its members, when all have ended. */
import { type FailedMember, GroupFailedError } from '../domain/errors/errors.ts';
import type { EachNode, JoinPolicy, ParallelNode } from '../graph/graph.ts';
import { groupOutput, type NodeOutcome } from '../graph/graph-values.ts';
import { isLost } from '../graph/group-verdict.ts';

/** A member's name and outcome. */
export type MemberOutcome = readonly [string, NodeOutcome];

/** Whether a group may finish though a member did not. */
export function isLenient(policy: JoinPolicy): boolean {
  return policy.kind !== 'strict';
}

/**
 * The output of a group as JSON can hold it: errors are their names and messages.
 *
 * @throws {@link GroupFailedError} when its policy refuses.
 */
export function decideGroup(
  group: ParallelNode | EachNode,
  members: readonly MemberOutcome[],
): unknown {
  const states = members.map(
    ([key, { ok }]) => ({ key, state: ok ? 'finished' : 'failed' }) as const,
  );
  if (isLost(group.policy, states)) throw new GroupFailedError(group.id, failedOf(members));
  return groupOutput(
    group,
    members.map(([key, outcome]) => [key, storable(outcome)] as const),
  );
}

/** The members that did not finish. */
function failedOf(members: readonly MemberOutcome[]): readonly FailedMember[] {
  return members.flatMap(([member, outcome]) =>
    outcome.ok ? [] : [{ member, error: outcome.error }],
  );
}

/** An outcome whose error is plain data, which JSON keeps. */
function storable(outcome: NodeOutcome): NodeOutcome {
  if (outcome.ok) return outcome;
  const { name, message } = outcome.error;
  return { ok: false, error: { name, message } };
}
