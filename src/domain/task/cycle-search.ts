/**
 * Finds whether a new dependency closes a cycle, at any distance: exact, in small steps, each of
 * which a store answers on its own. A task without dependents closes no cycle and is not searched.
 */

/** Direction of a step: to the dependencies of a task, or to its dependents. */
export type EdgeSide = 'upstreams' | 'dependents';

/**
 * One step. The answer lists tasks that have not ended: upstreams by the bytes of their ids, dependents in
 * the order of their listing. `undefined`: it has more than `LIMITS.cycleFan` dependents.
 */
export interface EdgeQuestion {
  /** The edges to read. */
  readonly side: EdgeSide;
  /** The task at which the edges begin. */
  readonly id: string;
}

/** Result of a search. */
export type CycleVerdict =
  | { readonly kind: 'none' }
  /** Ids along the cycle, the first repeated at the end. */
  | { readonly kind: 'cycle'; readonly path: readonly string[] }
  /** Both directions exceed the limit. */
  | { readonly kind: 'limit' };

/** Answer to a question; see {@link EdgeQuestion} for `undefined`. */
export type EdgeAnswer = readonly string[] | undefined;

/**
 * Searches from the task in both directions in turn. Either decides alone: it finds the cycle, or
 * ends without one. So the search costs twice the cheaper direction.
 *
 * @param most edges that each direction follows before it gives up.
 */
export function* searchCycle(
  id: string,
  most: number,
): Generator<EdgeQuestion, CycleVerdict, EdgeAnswer> {
  const walks = [new CycleWalk('upstreams', id, most), new CycleWalk('dependents', id, most)];
  while (walks.some((walk) => !walk.isOver)) {
    for (const walk of walks) {
      const next = walk.next();
      if (walk.isOver) continue;
      if (next === undefined) return { kind: 'none' };
      const path = walk.follow(next, yield { side: walk.side, id: next });
      if (path !== undefined) return { kind: 'cycle', path };
    }
  }
  return { kind: 'limit' };
}

/** The same for a store that answers synchronously. */
export function cycleThrough(
  id: string,
  most: number,
  edgesOf: (question: EdgeQuestion) => EdgeAnswer,
): CycleVerdict {
  const search = searchCycle(id, most);
  let step = search.next();
  while (!step.done) step = search.next(edgesOf(step.value));
  return step.value;
}

/** Refusal of a task that closes the cycle `path`, or for which `limit` edges did not suffice to decide. */
export function cycleRefusal(
  verdict: CycleVerdict,
  most: number,
):
  | { readonly type: 'cycle'; readonly path: readonly string[] }
  | { readonly type: 'dependency-limit'; readonly limit: number }
  | undefined {
  if (verdict.kind === 'none') return undefined;
  if (verdict.kind === 'cycle') return { type: 'cycle', path: verdict.path };
  return { type: 'dependency-limit', limit: most };
}

/** Breadth-first search in one direction. */
class CycleWalk {
  readonly side: EdgeSide;
  readonly #id: string;
  readonly #most: number;
  readonly #open: string[];
  readonly #cameFrom = new Map<string, string>();
  #at = 0;
  #edges = 0;
  /** It exceeds the limit of edges. */
  isOver = false;

  constructor(side: EdgeSide, id: string, most: number) {
    this.side = side;
    this.#id = id;
    this.#most = most;
    this.#open = [id];
  }

  /** The next task to look at; `undefined` at the end of the search. */
  next(): string | undefined {
    return this.#open[this.#at++];
  }

  /** Adds these ids; answers the cycle if one of them closes it. */
  follow(from: string, ids: EdgeAnswer): readonly string[] | undefined {
    this.#edges += ids?.length ?? 0;
    if (ids?.includes(this.#id) === true) return this.#pathBack(from);
    this.isOver = ids === undefined || this.#edges > this.#most;
    for (const id of this.isOver ? [] : (ids ?? [])) {
      if (this.#cameFrom.has(id)) continue;
      this.#cameFrom.set(id, from);
      this.#open.push(id);
    }
    return undefined;
  }

  #pathBack(last: string): readonly string[] {
    const path = [this.#id];
    for (let at: string | undefined = last; at !== undefined; at = this.#cameFrom.get(at)) {
      path.push(at);
      if (at === this.#id) break;
    }
    return this.side === 'upstreams' ? path.reverse() : path;
  }
}
