/**
 * Whether a task that others wait for waits for one of them, however far away: exact, and asked in
 * small steps, so that a store can answer each of them by itself. A task without dependents closes no
 * cycle and is not searched.
 */

/** In which direction a step looks: whom a task waits for, or who waits for it. */
export type EdgeSide = 'upstreams' | 'dependents';

/**
 * One step. Its answer are ids of tasks that have not ended: upstreams by the bytes of their ids,
 * dependents in the order in which they are told. `undefined`: more than `LIMITS.cycleFan` wait for it.
 */
export interface EdgeQuestion {
  /** Which edges are asked for. */
  readonly side: EdgeSide;
  /** The task at which they begin. */
  readonly id: string;
}

/** What a search came to. */
export type CycleVerdict =
  | { readonly kind: 'none' }
  /** The ids along it, the first repeated at the end. */
  | { readonly kind: 'cycle'; readonly path: readonly string[] }
  /** Either direction leads too far. */
  | { readonly kind: 'limit' };

/** The answer to a question; `undefined` as said there. */
export type EdgeAnswer = readonly string[] | undefined;

/**
 * Looks from the task in both directions in turn. Each decides alone: the cycle is found by the first
 * that comes back, and there is none when the first comes to its end. So it costs twice the cheaper.
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

/** The same for a store that answers at once. */
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

/** What a task is refused for that would close a cycle, along `path`, or might: `limit` edges show it not. */
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

/** Breadth first in one direction. */
class CycleWalk {
  readonly side: EdgeSide;
  readonly #id: string;
  readonly #most: number;
  readonly #open: string[];
  readonly #cameFrom = new Map<string, string>();
  #at = 0;
  #edges = 0;
  /** It leads further than it may. */
  isOver = false;

  constructor(side: EdgeSide, id: string, most: number) {
    this.side = side;
    this.#id = id;
    this.#most = most;
    this.#open = [id];
  }

  /** Where it goes on; `undefined` when it has come to its end. */
  next(): string | undefined {
    return this.#open[this.#at++];
  }

  /** The cycle, if one of these closes it. */
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
