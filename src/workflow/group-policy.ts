/** Policies: whether a group finishes or fails, given the outcomes of its members. */
import { isRecord } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkPart, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { JoinPolicy } from '../graph/graph.ts';
import { integerOption } from './task-options.ts';

/** Outcome of one member of a group with a lenient policy. */
export type MemberResult<O> =
  /** The member finished with this output. */
  | { readonly ok: true; readonly value: O }
  /** The member failed or was canceled. */
  | { readonly ok: false; readonly error: Error };

/** The argument of a policy function for one member. */
export interface MemberFact {
  /** Name of the member in the group; its position in a tuple or an array. */
  readonly key: string;
  /** End state of the member. */
  readonly state: 'finished' | 'failed' | 'canceled';
}

/** Decides, when all members have ended, whether the group finishes (`true`) or fails. */
export type PolicyFunction = (members: readonly MemberFact[]) => boolean;

/** A custom policy: workers register its function, graphs contain its name. */
export interface GroupPolicy {
  /** Type tag. */
  readonly type: 'policy';
  /** Its name in graphs. */
  readonly name: string;
  /** Called when all members have ended. */
  readonly decide: PolicyFunction;
}

/** Policies under which a group can finish although a member failed. */
export type LenientPolicy =
  | 'bestEffort'
  /** At least this many members must finish, from 0 to all of them. */
  | { readonly atLeast: number }
  /** A registered policy, or its name. */
  | { readonly name: string };

/** A policy that is an object has one of these keys. */
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
 * Defines a policy: `groupPolicy('quorum', (members) => …)`. Graphs contain its name. The function
 * must be pure; it is called when all members have ended.
 *
 * @example
 * ```ts
 * import { Fairloom, groupPolicy, memory, parallel, task } from 'fairloom';
 *
 * const quorum = groupPolicy('quorum', (members) => {
 *   const finished = members.filter(({ state }) => state === 'finished');
 *   return finished.length > members.length / 2;
 * });
 * const good = task('good', async (n: number) => n);
 * const also = task('also', async (n: number) => n + 1);
 * const loom = new Fairloom({ backend: memory(), tasks: [good, also] });
 * const both = await loom.run(parallel({ good, also }, { policy: quorum }), 1);
 * console.log(both.good.ok && both.also.ok); // prints true
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name is invalid, or there is no function.
 */
export function groupPolicy(name: string, decide: PolicyFunction): GroupPolicy {
  checkName('policy name', name);
  if (typeof decide !== 'function') {
    throw new InvalidOptionError(`policy ${name}`, 'a function', decide);
  }
  return Object.freeze({ type: 'policy', name, decide });
}

/** Whether a value was made by {@link groupPolicy}. */
export function isGroupPolicy(value: unknown): value is GroupPolicy {
  return isRecord(value) && value['type'] === 'policy' && typeof value['decide'] === 'function';
}

/** A policy as data. `keys`: the keys of the group's members, if known. */
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
