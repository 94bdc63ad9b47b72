/** Processes many items in chunks: bounds the size of a call, and the number of concurrent ones. */

/** The items in their order, in chunks of at most `size`. */
export function* inChunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

/** Answers of `change` for each item, in order, with at most `size` concurrent calls. */
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
