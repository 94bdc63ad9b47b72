/** Applies the policy of a group to the outcomes of its members, when all have ended. */
import { type FailedMember, GroupFailedError } from '../domain/errors/errors.ts';
import type { EachNode, JoinPolicy, ParallelNode } from '../graph/graph.ts';
import { groupOutput, type NodeOutcome } from '../graph/graph-values.ts';
import { isLost } from '../graph/group-verdict.ts';

/** Key and outcome of a member. */
export type MemberOutcome = readonly [string, NodeOutcome];

/** Whether a group may finish although a member did not. */
export function isLenient(policy: JoinPolicy): boolean {
  return policy.kind !== 'strict';
}

/**
 * The output of a group as JSON: errors become names and messages.
 *
 * @throws {@link GroupFailedError} when its policy makes it fail.
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

/** An outcome whose error is plain data. */
function storable(outcome: NodeOutcome): NodeOutcome {
  if (outcome.ok) return outcome;
  const { name, message } = outcome.error;
  return { ok: false, error: { name, message } };
}
