/** Many items, so many at a time: what is sent in one call or is under way at once stays bounded. */

/** The items in their order, in chunks of at most `size`. */
export function* inChunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** What `change` answers for each, in their order, with at most `size` calls under way at once. */
export async function mapInChunks<T, R>(
  items: readonly T[],
  size: number,
  change: (item: T) => Promise<R>,
): Promise<R[]> {
  const answers: R[] = [];
  for (const some of inChunks(items, size)) {
    answers.push(...(await Promise.all(some.map((item) => change(item)))));
  }
  return answers;
}
