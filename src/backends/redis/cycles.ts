import { LIMITS } from '../../domain/limits.ts';
import {
  type CycleVerdict,
  type EdgeAnswer,
  type EdgeQuestion,
  type EdgeSide,
  searchCycle,
} from '../../domain/task/cycle-search.ts';
import type { Session } from './connection/session.ts';
import { flat, text } from './wire/decode.ts';

/**
 * Searches for cycles through stored tasks that cannot be leased yet, in bounded scripts. A task
 * that is stored later searches for cycles itself, and sees these tasks.
 */
export class CycleChecks {
  readonly #session: Session;
  /** Edges read so far: a script answers more than was asked for. */
  readonly #known: Readonly<Record<EdgeSide, Map<string, EdgeAnswer>>> = {
    upstreams: new Map(),
    dependents: new Map(),
  };

  constructor(session: Session) {
    this.#session = session;
  }

  async through(id: string): Promise<CycleVerdict> {
    const search = searchCycle(id, LIMITS.cycleEdges);
    let step = search.next();
    while (!step.done) step = search.next(await this.#edgesOf(step.value));
    return step.value;
  }

  async #edgesOf({ side, id }: EdgeQuestion): Promise<EdgeAnswer> {
    const known = this.#known[side];
    if (!known.has(id)) {
      const reply = flat(await this.#session.run('edges', [side, id])).map(text);
      for (let at = 0; at < reply.length; ) {
        const [task = '', count] = reply.slice(at, at + 2);
        const edges = Number(count);
        const from = at + 2;
        at = from + Math.max(0, edges);
        if (!known.has(task)) known.set(task, edges < 0 ? undefined : reply.slice(from, at));
      }
    }
    return known.get(id);
  }
}
