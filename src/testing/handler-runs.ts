/** Which call of a handler. */
export interface RunFacts {
  /** The task. */
  readonly taskId: string;
  /** Its name. */
  readonly name: string;
  /** Whose turn it was. */
  readonly user: string;
  /** From 1. */
  readonly attempt: number;
}

/** One call of a handler in a test, from its start to its end. */
export interface HandlerRun extends RunFacts {
  /** What the handler was given. */
  readonly input: unknown;
  /** `running` until the handler has ended. */
  readonly state: 'running' | 'returned' | 'threw';
  /** What it returned. */
  readonly result?: unknown;
  /** What it threw. */
  readonly error?: unknown;
}

interface Watcher {
  readonly matches: (run: HandlerRun) => boolean;
  readonly resolve: (run: HandlerRun) => void;
}

/** Everything that handlers did, from the first one on. */
export class HandlerRuns {
  readonly #runs: HandlerRun[] = [];
  readonly #watchers = new Set<Watcher>();

  /** Every run so far, in the order of the starts. */
  get runs(): readonly HandlerRun[] {
    return this.#runs;
  }

  /** A handler was called; the answer says how it ended. */
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

  /** The first run that matches, whether it was or is to come. */
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

/** How a run ended. */
export type RunEnd =
  | { readonly state: 'returned'; readonly result: unknown }
  | { readonly state: 'threw'; readonly error: unknown };
