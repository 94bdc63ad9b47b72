/** Decides whether a group finishes, by its policy. */
import { assertNever } from '../base/never.ts';
import type { JoinPolicy } from './graph.ts';

/** The outcome of one member. */
export interface EndedMember {
  readonly key: string;
  readonly state: 'finished' | 'failed' | 'canceled';
}

/** The state of a member that may still be open. */
export interface MemberState {
  readonly key: string;
  readonly state: EndedMember['state'] | 'open';
}

/** A registered policy: it decides when all members have ended, and whether a retry of failed ones helps. */
export type RegisteredVerdict = (members: readonly EndedMember[]) => boolean;

/** Whether a group finishes; all its members have ended. */
export function hasFinished(
  policy: JoinPolicy,
  members: readonly EndedMember[],
  registered: RegisteredVerdict,
): boolean {
  return policy.kind === 'registered' ? registered(members) : !isLost(policy, members);
}

/** Whether a group cannot finish any more, whatever the outcomes of its open members. */
export function isLost(policy: JoinPolicy, members: readonly MemberState[]): boolean {
  const bad = members.filter(({ state }) => state === 'failed' || state === 'canceled');
  switch (policy.kind) {
    case 'strict':
      return bad.length > 0;
    case 'bestEffort':
    case 'registered':
      return false;
    case 'atLeast':
      return members.length - bad.length < policy.count;
    case 'critical':
      return bad.some(({ key }) => policy.members.includes(key));
    default:
      return assertNever(policy);
  }
}

/** Whether the group is lost as soon as any of these members does not finish. */
export function needsAll(policy: JoinPolicy, keys: readonly string[]): boolean {
  switch (policy.kind) {
    case 'strict':
      return true;
    case 'bestEffort':
    case 'registered':
      return false;
    case 'atLeast':
      return policy.count >= keys.length;
    case 'critical':
      return keys.every((key) => policy.members.includes(key));
    default:
      return assertNever(policy);
  }
}
