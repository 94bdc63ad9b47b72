/** What the stream of changes calls the things that are read. */

import { WATCHED } from './routes.generated.ts';

/** One thing that can be watched. */
export interface Subject {
  /** As `task:7d20`. */
  readonly name: string;
  /** The stream sends what the reading would; else it says only that there is something new. */
  readonly isWhole: boolean;
}

/** Absent where nothing of it can be watched. */
export function subjectOf(
  route: string,
  parts: readonly string[],
  query: ReadonlyMap<string, string>,
): Subject | undefined {
  const [word, ...names] = WATCHED[route] ?? [];
  if (word === undefined) return undefined;
  const values = names.flatMap((name) => query.get(name) ?? []);
  const texts = [...parts, ...values].map(encodeURIComponent);
  return {
    name: [word, ...texts].join(':'),
    isWhole: [...query.keys()].every((key) => names.includes(key)),
  };
}
