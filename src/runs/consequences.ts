/** Consequences: which tasks would end with a task. Reads only. */
import { inChunks } from '../base/chunks.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { LIMITS } from '../domain/limits.ts';
import { allPages } from '../domain/port/all-pages.ts';
import type { Dependent, Inspect } from '../domain/port/backend.ts';
import { type Ending, endsWith } from '../domain/task/dependents.ts';
import { type EndState, isEnd } from '../domain/task/task.ts';
import { integerOption } from '../workflow/task-options.ts';

/** A task that would end with another. */
export interface Consequence {
  /** Id of the task. */
  readonly id: string;
  /** Name of the task. */
  readonly name: string;
  /** User of the task. */
  readonly user: string;
  /** Its end state. */
  readonly state: EndState;
  /** Id of the dependency with which it would end. */
  readonly with: string;
}

/** Tasks that would end with a task, as far as known. */
export interface Consequences {
  /** The first ones, nearest first. */
  readonly tasks: readonly Consequence[];
  /** Number of all; at most 10,000 are counted. */
  readonly count: number;
  /** There are more than `count`. */
  readonly more: boolean;
}

/** Options of a search for consequences. */
export interface ConsequenceOptions {
  /** A `cancel`, a final `failure`, or the `removal` of the records of ended tasks. */
  readonly ending: Ending;
  /** Number of tasks to list, up to 10,000; the rest are counted. Default 100. */
  readonly limit?: number | undefined;
}

/** Keys of {@link ConsequenceOptions}. */
export const CONSEQUENCE_KEYS: OptionKeys<ConsequenceOptions> = keysOf<ConsequenceOptions>()({
  ending: true,
  limit: true,
});

const ENDINGS: readonly Ending[] = ['cancel', 'failure', 'removal'];

/** Default of `limit`. */
const DEFAULT_LIMIT = 100;

/** Number of tasks that are read at once. */
const AT_ONCE = 32;

/** @throws {@link InvalidOptionError} for an unknown ending. */
export function endingOf({ ending }: ConsequenceOptions): Ending {
  if (ENDINGS.includes(ending)) return ending;
  throw new InvalidOptionError('ending', '"cancel", "failure", "removal"', ending);
}

/** @throws {@link InvalidOptionError} for a limit out of bounds. */
export function consequenceLimit({
  limit = DEFAULT_LIMIT,
}: Pick<ConsequenceOptions, 'limit'>): number {
  return integerOption('limit', limit, { least: 0, most: LIMITS.bulkMax });
}

interface Ended {
  readonly id: string;
  readonly ending: Ending;
}

/** Follows dependents as far as the policies of their edges end them. */
export class ConsequenceWalk {
  readonly #inspect: Pick<Inspect, 'dependents' | 'status'>;
  readonly #limit: number;
  readonly #seen = new Set<string>();
  readonly #tasks: Consequence[] = [];
  #count = 0;

  constructor(inspect: Pick<Inspect, 'dependents' | 'status'>, limit: number) {
    this.#inspect = inspect;
    this.#limit = limit;
  }

  /** Consequences for tasks that can end now; a missing or ended task has none. */
  async from(ids: readonly string[], ending: Ending): Promise<Consequences> {
    const status = await this.#inspect.status(ids);
    const roots = ids.filter((_, at) => {
      const state = status[at]?.state;
      return state !== undefined && isEnd(state) === (ending === 'removal');
    });
    for (const id of ids) this.#seen.add(id);
    let level: readonly Ended[] = roots.map((id) => ({ id, ending }));
    while (level.length > 0) {
      const next: Ended[] = [];
      for (const some of inChunks(level, AT_ONCE)) {
        const found = await Promise.all(some.map((one) => this.#dependents(one)));
        for (const [place, { id }] of some.entries()) {
          for (const [dependent, state] of found[place] ?? []) {
            if (this.#seen.has(dependent.id)) continue;
            if (this.#count === LIMITS.bulkMax)
              return { tasks: this.#tasks, count: this.#count, more: true };
            this.#take(dependent, state, id);
            next.push({ id: dependent.id, ending: state === 'failed' ? 'failure' : 'cancel' });
          }
        }
      }
      level = next;
    }
    return { tasks: this.#tasks, count: this.#count, more: false };
  }

  #take({ id, name, user }: Dependent, state: EndState, upstream: string): void {
    this.#seen.add(id);
    this.#count++;
    if (this.#tasks.length < this.#limit)
      this.#tasks.push({ id, name, user, state, with: upstream });
  }

  /** The dependents that would end with it. */
  async #dependents({ id, ending }: Ended): Promise<readonly (readonly [Dependent, EndState])[]> {
    const found: (readonly [Dependent, EndState])[] = [];
    const pages = allPages(LIMITS.pageMax, (page) => this.#inspect.dependents(id, page));
    for await (const { items } of pages) {
      for (const one of items) {
        const state = endsWith(one, ending);
        if (state !== undefined) found.push([one, state]);
      }
      if (found.length > LIMITS.bulkMax) break;
    }
    return found;
  }
}
