/** What the policy of a group makes of its members. */
import { assertNever } from '../base/never.ts';
import type { JoinPolicy } from './graph.ts';

/** The outcome of one member. */
export interface EndedMember {
  readonly key: string;
  readonly state: 'finished' | 'failed' | 'canceled';
}

/** The same of one that may be open yet. */
export interface MemberState {
  readonly key: string;
  readonly state: EndedMember['state'] | 'open';
}

/** A policy of one's own: asked when all members have ended, and by what failed for good whether a retry helps. */
export type RegisteredVerdict = (members: readonly EndedMember[]) => boolean;

/** Whether a group whose members have all ended has finished. */
export function hasFinished(
  policy: JoinPolicy,
  members: readonly EndedMember[],
  registered: RegisteredVerdict,
): boolean {
  return policy.kind === 'registered' ? registered(members) : !isLost(policy, members);
}

/** Whether a group cannot finish any more, with any outcome of its open members. */
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

/** Whether a group is lost with the first of these members that does not finish, whichever it is. */
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
