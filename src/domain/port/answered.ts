/** Whom a task depends on when the keys of others of its call let tasks answer for them. */

/**
 * Which task answered for each item of a call that its key absorbed; `undefined` for one that has
 * finished and is not stored any more.
 */
export type Answered = Map<string, string | undefined>;

/**
 * Who depends on an absorbed item of the same call depends on the task that answered for it; on
 * nothing, if that is itself, or has finished and is gone.
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
