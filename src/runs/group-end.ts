/** The outcome of a group when its members have ended, in both forms of runs. */
import { failureOf } from '../attempt/handler-call.ts';
import { errorFrom, thrownOf } from '../base/thrown.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { GroupFailedError } from '../domain/errors/errors.ts';
import type { FailedMember, GroupSteering } from '../domain/errors/graph-errors.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { EachNode, ParallelNode } from '../graph/graph.ts';
import { groupOutput, type NodeOutcome } from '../graph/graph-values.ts';
import { hasFinished, type RegisteredVerdict } from '../graph/group-verdict.ts';
import type { StepOutcome } from '../graph/run-walk.ts';
import { isLenient } from './group-decision.ts';

/** The end of one member. */
export type MemberEnd =
  | { readonly key: string; readonly state: 'finished'; readonly value: unknown }
  | { readonly key: string; readonly state: 'failed'; readonly error: unknown }
  /** `cause`: why a group that needs this member is canceled; absent: its group had ended. */
  | {
      readonly key: string;
      readonly state: 'canceled';
      readonly error: unknown;
      readonly cause?: Cause | undefined;
    }
  /** The member ended the whole run. */
  | { readonly key: string; readonly state: 'terminated'; readonly value: unknown }
  | { readonly key: string; readonly state: 'run-canceled'; readonly cause: Cause };

/** The end of a group. `isTimeUp`: it fails under any policy. */
export interface GroupEnd {
  readonly node: ParallelNode | EachNode;
  /** The members, in order. */
  readonly members: readonly MemberEnd[];
  readonly isTimeUp: boolean;
  readonly registered: RegisteredVerdict;
}

/** Precedence: a cancel of the run, a `terminate`, the policy. */
export function groupOutcome({ node, members, isTimeUp, registered }: GroupEnd): StepOutcome {
  let terminated: StepOutcome | undefined;
  for (const member of members) {
    if (member.state === 'run-canceled') return { type: 'canceled', cause: member.cause };
    if (member.state === 'terminated') terminated ??= { type: 'terminate', value: member.value };
  }
  if (terminated !== undefined) return terminated;
  const states = members.map(({ key, state }) => ({ key, state: stateOf(state) }));
  try {
    const canceled = isTimeUp ? undefined : cancelOf(node, members);
    if (canceled !== undefined) return { type: 'canceled', cause: canceled };
    if (isTimeUp || !hasFinished(node.policy, states, registered)) {
      const steering = steeringOf(node, members, registered);
      return { type: 'failed', error: new GroupFailedError(node.id, failedOf(members), steering) };
    }
    const outcomes = members.map((member) => [member.key, outcomeOf(member)] as const);
    return { type: 'output', value: groupOutput(node, outcomes) };
  } catch (error) {
    return { type: 'failed', error };
  }
}

/**
 * The output of a group as text. The limit of results applies to a lenient group: in a dispatched run it is a result.
 *
 * @throws `InvalidResultError` when it is longer than a result may be.
 */
export function outputText(
  codec: ValueCodec,
  { id, policy }: GroupEnd['node'],
  value: unknown,
): string {
  return isLenient(policy) ? codec.result(id, value) : codec.anyLength(value);
}

/** A strict group is canceled if one of its members was canceled and none failed. */
function cancelOf({ policy }: GroupEnd['node'], members: readonly MemberEnd[]): Cause | undefined {
  if (policy.kind !== 'strict' || members.some(({ state }) => state === 'failed')) return undefined;
  return members.flatMap((member) => (member.state === 'canceled' ? (member.cause ?? []) : []))[0];
}

/**
 * The failure is final if the group could not finish even if every retryable member finished the next
 * time; canceled members may finish.
 */
function steeringOf(
  { policy }: GroupEnd['node'],
  members: readonly MemberEnd[],
  registered: RegisteredVerdict,
): GroupSteering {
  const final = new Set<string>();
  const waits: number[] = [];
  let isCounted = false;
  for (const { key, ...end } of members) {
    if (end.state !== 'failed') continue;
    const { retryable, afterMs, uncounted } = failureOf(end.error);
    if (!retryable) final.add(key);
    if (afterMs !== undefined) waits.push(afterMs);
    if (uncounted !== true) isCounted = true;
  }
  const atBest = members.map(
    ({ key }) => ({ key, state: final.has(key) ? 'failed' : 'finished' }) as const,
  );
  return {
    isFinal: final.size > 0 && !hasFinished(policy, atBest, registered),
    wait: waits.length === 0 ? undefined : { delayMs: Math.max(...waits), countAttempt: isCounted },
  };
}

function stateOf(state: MemberEnd['state']): 'finished' | 'failed' | 'canceled' {
  return state === 'finished' || state === 'failed' ? state : 'canceled';
}

function failedOf(members: readonly MemberEnd[]): readonly FailedMember[] {
  return members.flatMap((member) =>
    'error' in member ? [{ member: member.key, error: asError(member.error) }] : [],
  );
}

/** Errors of members become plain data, as readers get them. */
function outcomeOf(member: MemberEnd): NodeOutcome {
  if (member.state === 'finished') return { ok: true, value: member.value };
  const error = 'error' in member ? member.error : undefined;
  const { name, message } = thrownOf(error);
  return { ok: false, error: { name, message } };
}

/** A thrown value as an error. */
function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : errorFrom(thrownOf(thrown));
}
