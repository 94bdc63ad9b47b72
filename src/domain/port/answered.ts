/** Dependencies on tasks of the same call that an idempotency key replaced by stored tasks. */

/**
 * The stored task that replaces each task of a call, by its idempotency key; `undefined` for one that has
 * finished and was removed.
 */
export type Answered = Map<string, string | undefined>;

/**
 * A dependency on a replaced task becomes one on the task that replaces it, or none if that is the dependent itself
 * or was removed.
 */
export function resolved(
  id: string,
  dependsOn: readonly string[],
  answered: ReadonlyMap<string, string | undefined>,
): readonly string[] {
  if (answered.size === 0 || !dependsOn.some((other) => answered.has(other))) return dependsOn;
  const others = new Set<string>();
  for (const other of dependsOn) {
    const known = answered.has(other) ? answered.get(other) : other;
    if (known !== undefined && known !== id) others.add(known);
  }
  return [...others];
}
