/** Options that `parallel` and `each` share, and their checks. */
import type { Duration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { type GroupPolicy, isGroupPolicy, policyOption } from './group-policy.ts';
import type { GroupSpec } from './pipeline-definition.ts';
import { durationOption, integerOption } from './task-options.ts';

/** Options of a group besides its policy. */
export interface GroupOptions {
  /** Name of the group, as `.as(name)`. */
  readonly name?: string | undefined;
  /** The group fails this long after its start, and its open members are canceled. Default: never. */
  readonly timeout?: Duration | undefined;
  /** The first failure that decides ends the group at once. Default: it waits for all members. */
  readonly failFast?: boolean | undefined;
  /** Number of members that run at once, from 1. Default: all. */
  readonly concurrency?: number | undefined;
}

/** Keys of {@link GroupOptions}. */
export const GROUP_KEYS: OptionKeys<GroupOptions> = keysOf<GroupOptions>()({
  name: true,
  timeout: true,
  failFast: true,
  concurrency: true,
});

/** Checks options of a group. `keys`: the allowed ones; `members`: its members, if known. */
export function groupSpec(
  where: string,
  options: unknown,
  keys: Readonly<Record<string, true>>,
  members?: readonly string[],
): {
  readonly name: string | undefined;
  readonly group: GroupSpec;
  readonly policy: GroupPolicy | undefined;
} {
  checkOptions(where, options, keys);
  const { name, timeout, failFast, concurrency, policy } = options;
  if (failFast !== undefined && typeof failFast !== 'boolean') {
    throw new InvalidOptionError(`${where}.failFast`, 'true or false', failFast);
  }
  const atOnce = { least: 1, most: LIMITS.graphNodes };
  const time = { least: 1, most: LIMITS.delayMaxMs };
  return {
    name: name === undefined ? undefined : checkName(`${where}.name`, name),
    policy: isGroupPolicy(policy) ? policy : undefined,
    group: Object.freeze({
      policy: Object.freeze(policyOption(`${where}.policy`, policy, members)),
      failFast: failFast === true,
      ...(concurrency === undefined
        ? {}
        : { concurrency: integerOption(`${where}.concurrency`, concurrency, atOnce) }),
      ...(timeout === undefined
        ? {}
        : { timeoutMs: durationOption(`${where}.timeout`, timeout, time) }),
    }),
  };
}
