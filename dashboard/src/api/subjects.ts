/** What the stream of changes calls the things that are read. */

/** One thing that can be watched. */
export interface Subject {
  /** As `task:7d20`. */
  readonly name: string;
  /** The stream sends what the reading would; else it says only that there is something new. */
  readonly isWhole: boolean;
}

/** By route: its word in the stream, and the parameters that stand behind its colons. */
const WORDS: Readonly<Record<string, readonly [word: string, ...query: string[]]>> = {
  'GET /overview': ['overview'],
  'GET /users': ['users', 'queue'],
  'GET /users/{user}': ['user', 'queue'],
  'GET /queues': ['queues'],
  'GET /queues/{queue}': ['queue'],
  'GET /tasks/{id}': ['task'],
  'GET /tasks/{id}/logs': ['log'],
  'GET /tasks/{id}/explain': ['explain'],
  'GET /runs/{id}': ['run'],
  'GET /runs/{id}/graph': ['graph'],
  'GET /runs/{id}/timeline': ['timeline'],
  'GET /runs': ['runs', 'state'],
  'GET /tasks': ['tasks', 'where'],
  'GET /dead': ['dead'],
  'GET /dead/groups': ['errors'],
  'GET /schedules': ['schedules'],
  'GET /asks': ['asks'],
  'GET /workers': ['workers'],
  'GET /bulk': ['bulks'],
  'GET /bulk/{id}': ['bulk'],
};

/** Absent where nothing of it can be watched. */
export function subjectOf(
  route: string,
  parts: readonly string[],
  query: ReadonlyMap<string, string>,
): Subject | undefined {
  const [word, ...names] = WORDS[route] ?? [];
  if (word === undefined) return undefined;
  const values = names.flatMap((name) => query.get(name) ?? []);
  const texts = [...parts, ...values].map(encodeURIComponent);
  return {
    name: [word, ...texts].join(':'),
    isWhole: [...query.keys()].every((key) => names.includes(key)),
  };
}
