/** A task and the tasks that it waits for. */
export interface DependencyNode {
  /** Ids may come twice: such nodes count as one. */
  readonly id: string;
  /** May name tasks outside of the batch. */
  readonly dependsOn: readonly string[];
}

/** Where the walk stands with a node. */
const UNSEEN = 0;
const ON_PATH = 1;
const DONE = 2;

/**
 * Finds tasks of one batch that would wait for each other for ever. Iterative, so that a chain of
 * any length is fine; a diamond is no cycle; ids outside of the batch are ignored.
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

/** Places of the nodes that each node waits for. An id that comes twice has the edges of both. */
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

/** Walks depth first from a node; the places along a cycle, if it comes upon one. */
function walk(
  graph: readonly (readonly number[])[],
  start: number,
  seen: Uint8Array,
): readonly number[] | undefined {
  const path = [start];
  /** How many edges of each node of the path were walked. */
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
