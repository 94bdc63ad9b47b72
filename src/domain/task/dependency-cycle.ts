/** A task and the tasks that it waits for. */
export interface DependencyNode {
  /** Ids may repeat: such nodes count as one. */
  readonly id: string;
  /** Ids of its dependencies; they need not be in the batch. */
  readonly dependsOn: readonly string[];
}

/** States of a node in the search. */
const UNSEEN = 0;
const ON_PATH = 1;
const DONE = 2;

/**
 * Finds a cycle of dependencies in one batch. Iterative, so a chain may have any length. Ids
 * outside of the batch are ignored.
 *
 * @returns the ids along a cycle, the first repeated at the end; `undefined` when there is none.
 */
export function findCycle(nodes: readonly DependencyNode[]): readonly string[] | undefined {
  const waiting = nodes.filter(({ dependsOn }) => dependsOn.length > 0);
  if (waiting.length === 0) return undefined;
  const graph = graphOf(waiting);
  const seen = new Uint8Array(waiting.length);
  for (let start = 0; start < waiting.length; start++) {
    const path = seen[start] === UNSEEN ? walk(graph, start, seen) : undefined;
    if (path !== undefined) return path.map((at) => waiting[at]?.id ?? '');
  }
  return undefined;
}

/** Indices of the dependencies of each node. A repeated id has the edges of all its nodes. */
function graphOf(nodes: readonly DependencyNode[]): readonly (readonly number[])[] {
  const places = new Map<string, number>();
  const edges: string[][] = nodes.map(() => []);
  for (const [at, { id, dependsOn }] of nodes.entries()) {
    const first = places.get(id) ?? at;
    places.set(id, first);
    edges[first]?.push(...dependsOn);
  }
  return edges.map((targets) =>
    targets.map((id) => places.get(id)).filter((place) => place !== undefined),
  );
}

/** Searches depth first from a node; answers the indices along a cycle, if it finds one. */
function walk(
  graph: readonly (readonly number[])[],
  start: number,
  seen: Uint8Array,
): readonly number[] | undefined {
  const path = [start];
  /** Number of edges of each node of the path that were walked. */
  const walked = [0];
  seen[start] = ON_PATH;
  while (path.length > 0) {
    const depth = path.length - 1;
    const here = path[depth] ?? start;
    const edge = walked[depth] ?? 0;
    walked[depth] = edge + 1;
    const target = graph[here]?.[edge];
    if (target === undefined) {
      seen[here] = DONE;
      path.pop();
      walked.pop();
    } else if (seen[target] === ON_PATH) {
      return [...path.slice(path.indexOf(target)), target];
    } else if (seen[target] === UNSEEN) {
      seen[target] = ON_PATH;
      path.push(target);
      walked.push(0);
    }
  }
  return undefined;
}
