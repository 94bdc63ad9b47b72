/** Policies: how the members of a group decide what becomes of it. */
import { isRecord } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkPart, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { JoinPolicy } from '../graph/graph.ts';
import { integerOption } from './task-options.ts';

/** What became of one member of a group whose policy asks for it. */
export type MemberResult<O> =
  /** It finished, with this output. */
  | { readonly ok: true; readonly value: O }
  /** It failed or was canceled; the group goes on without it. */
  | { readonly ok: false; readonly error: Error };

/** What a policy function is told of one member. */
export interface MemberFact {
  /** Its name in the group; its position in a tuple or an array. */
  readonly key: string;
  /** How it ended. */
  readonly state: 'finished' | 'failed' | 'canceled';
}

/** Decides whether a group has finished (`true`) or failed, when all its members have ended. */
export type PolicyFunction = (members: readonly MemberFact[]) => boolean;

/** A policy of one's own, registered where groups are decided and known by its name elsewhere. */
export interface GroupPolicy {
  /** Tells it from other values. */
  readonly type: 'policy';
  /** Stands in the graph. */
  readonly name: string;
  /** Asked once, when all members have ended. */
  readonly decide: PolicyFunction;
}

/** Policies under which a member may fail while its group finishes. */
export type LenientPolicy =
  | 'bestEffort'
  /** So many members must finish, from 0 to all of them. */
  | { readonly atLeast: number }
  /** A registered policy, or one by its name. */
  | { readonly name: string };

/** A policy that is an object says one thing. */
const ONE_KEY = {
  atLeast: keysOf<{ atLeast: unknown }>()({ atLeast: true }),
  critical: keysOf<{ critical: unknown }>()({ critical: true }),
  name: keysOf<{ name: unknown }>()({ name: true }),
} as const;

const POLICY_KEYS: OptionKeys<GroupPolicy> = keysOf<GroupPolicy>()({
  type: true,
  name: true,
  decide: true,
});

/**
 * Defines a policy: `groupPolicy('quorum', (members) => …)`. Its name stands in the graph; the
 * function must be pure, and is asked when all members have ended.
 *
 * @throws {@link InvalidOptionError} when the name is none, or there is no function.
 */
export function groupPolicy(name: string, decide: PolicyFunction): GroupPolicy {
  checkName('policy name', name);
  if (typeof decide !== 'function') {
    throw new InvalidOptionError(`policy ${name}`, 'a function', decide);
  }
  return Object.freeze({ type: 'policy', name, decide });
}

/** Whether a value is what {@link groupPolicy} makes. */
export function isGroupPolicy(value: unknown): value is GroupPolicy {
  return isRecord(value) && value['type'] === 'policy' && typeof value['decide'] === 'function';
}

/** A policy as data. `keys` are the group's members, when they are known. */
export function policyOption(
  where: string,
  policy: unknown,
  keys: readonly string[] | undefined,
): JoinPolicy {
  if (policy === undefined || policy === 'strict') return { kind: 'strict' };
  if (policy === 'bestEffort') return { kind: 'bestEffort' };
  if (typeof policy === 'object' && policy !== null) {
    if ('atLeast' in policy) {
      checkPart(where, policy, ONE_KEY.atLeast);
      const most = keys?.length ?? LIMITS.graphNodes;
      const count = integerOption(`${where}.atLeast`, policy.atLeast, { least: 0, most });
      return { kind: 'atLeast', count };
    }
    if ('critical' in policy) {
      checkPart(where, policy, ONE_KEY.critical);
      return criticalPolicy(where, policy.critical, keys);
    }
    if ('name' in policy) {
      checkPart(where, policy, isGroupPolicy(policy) ? POLICY_KEYS : ONE_KEY.name);
      return { kind: 'registered', name: checkName(`${where}.name`, policy.name) };
    }
  }
  const expected = '"strict", "bestEffort", { atLeast }, { critical } or { name }';
  throw new InvalidOptionError(where, expected, policy);
}

function criticalPolicy(
  where: string,
  critical: unknown,
  keys: readonly string[] | undefined,
): JoinPolicy {
  if (keys === undefined || !Array.isArray(critical)) {
    throw new InvalidOptionError(`${where}.critical`, 'a list of members of parallel()', critical);
  }
  const known = new Set(keys);
  const at = critical.findIndex((key) => !known.has(String(key)));
  if (at !== -1) {
    throw new InvalidOptionError(`${where}.critical`, 'names of members', critical[at]);
  }
  return { kind: 'critical', members: [...new Set(critical.map(String))].sort() };
}
