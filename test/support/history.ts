import type { LedgerEntry, LedgerEvent } from './ledger.ts';

/** One start of one task, as the ledger tells it. */
export interface Run {
  readonly task: string;
  readonly worker: string;
  readonly fence: number;
  readonly startedAt: number;
  /** The handler did its work. */
  endedAt: number | undefined;
  /** What the backend took from this run, if the worker lived to write it down. */
  outcome: LedgerEvent | undefined;
}

const OUTCOMES: ReadonlySet<LedgerEvent> = new Set([
  'finished',
  'failed',
  'retried',
  'canceled',
  'released',
  'lost',
]);

/** Everything that the ledger says, by task. */
export class History {
  readonly #tasks = new Map<string, Run[]>();
  readonly #runs = new Map<string, Run>();
  /** Workers that are ready, by the last `up` or `down`. */
  readonly ready = new Set<string>();
  /** Moments of `start` and `finished` lines, in the order of the ledger: signs of life. */
  readonly signs: number[] = [];

  take(entries: readonly LedgerEntry[]): void {
    for (const entry of entries) this.#take(entry);
  }

  runsOf(task: string): readonly Run[] {
    return this.#tasks.get(task) ?? [];
  }

  get starts(): number {
    return this.#runs.size;
  }

  /** Runs whose handler had not ended, of one worker or of these workers. */
  inFlight(workers: ReadonlySet<string>): readonly Run[] {
    return [...this.#runs.values()].filter(
      ({ worker, endedAt, outcome }) =>
        endedAt === undefined && outcome === undefined && workers.has(worker),
    );
  }

  /** When the task was started again after this run; undefined when it was not. */
  nextStart({ task, fence }: Run): Run | undefined {
    return this.runsOf(task).find((run) => run.fence > fence);
  }

  #take({ event, at, worker, task, fence }: LedgerEntry): void {
    if (event === 'up') this.ready.add(worker);
    if (event === 'down') this.ready.delete(worker);
    if (event === 'start' || event === 'finished') this.signs.push(at);
    if (event === 'start') {
      const run: Run = {
        task,
        worker,
        fence,
        startedAt: at,
        endedAt: undefined,
        outcome: undefined,
      };
      this.#runs.set(`${task} ${fence}`, run);
      this.#tasks.set(task, [...this.runsOf(task), run]);
      return;
    }
    const run = this.#runs.get(`${task} ${fence}`);
    if (run === undefined) return;
    if (event === 'end') run.endedAt = at;
    else if (OUTCOMES.has(event)) run.outcome = event;
  }
}
