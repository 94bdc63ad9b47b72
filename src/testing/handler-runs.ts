/** Facts about one call of a handler. */
export interface RunFacts {
  /** Id of the task. */
  readonly taskId: string;
  /** Name of the task. */
  readonly name: string;
  /** User of the task. */
  readonly user: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
}

/** One call of a handler in a test, from its start to its end. */
export interface HandlerRun extends RunFacts {
  /** Input of the handler. */
  readonly input: unknown;
  /** `running` until the handler has ended. */
  readonly state: 'running' | 'returned' | 'threw';
  /** Its result. */
  readonly result?: unknown;
  /** Its error. */
  readonly error?: unknown;
}

interface Watcher {
  readonly matches: (run: HandlerRun) => boolean;
  readonly resolve: (run: HandlerRun) => void;
}

/** All calls of handlers since the start. */
export class HandlerRuns {
  readonly #runs: HandlerRun[] = [];
  readonly #watchers = new Set<Watcher>();

  /** Every run so far, in the order of the starts. */
  get runs(): readonly HandlerRun[] {
    return this.#runs;
  }

  /** Records the call of a handler; the returned function records its end. */
  begin(facts: RunFacts, input: unknown): (end: RunEnd) => void {
    const at = this.#runs.length;
    const run: HandlerRun = { ...facts, input, state: 'running' };
    this.#runs.push(run);
    this.#notify(run);
    return (end) => {
      const ended: HandlerRun = { ...run, ...end };
      this.#runs[at] = ended;
      this.#notify(ended);
    };
  }

  /** The first past or future run that matches. */
  first(matches: (run: HandlerRun) => boolean): Promise<HandlerRun> {
    const past = this.#runs.find(matches);
    if (past !== undefined) return Promise.resolve(past);
    return new Promise((resolve) => {
      this.#watchers.add({ matches, resolve });
    });
  }

  #notify(run: HandlerRun): void {
    for (const watcher of [...this.#watchers]) {
      if (!watcher.matches(run)) continue;
      this.#watchers.delete(watcher);
      watcher.resolve(run);
    }
  }
}

/** End of a run. */
export type RunEnd =
  | { readonly state: 'returned'; readonly result: unknown }
  | { readonly state: 'threw'; readonly error: unknown };
