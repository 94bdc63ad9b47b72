/**
 * The truth outside the backend: a file to which worker processes append one line per event before
 * they go on, so that it holds what `kill -9` leaves of them. Lines are short, so that each
 * append is one write and lines of different processes do not mix.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What a line may say. */
export type LedgerEvent =
  /** A worker process is ready to lease. */
  | 'up'
  /** The handler was called. */
  | 'start'
  /** The handler did its work; the backend has not heard of it yet. */
  | 'end'
  /** The backend took the result: `task.finished`. */
  | 'finished'
  | 'failed'
  | 'retried'
  | 'canceled'
  | 'released'
  /** The worker heard that the lease was not its own any more. */
  | 'lost'
  /** The process ends by itself. */
  | 'down';

export interface LedgerEntry {
  readonly event: LedgerEvent;
  /** Ms since the epoch. */
  readonly at: number;
  readonly worker: string;
  /** Empty for `up` and `down`. */
  readonly task: string;
  readonly attempt: number;
  /** The fencing token of the newest start of this task in this process. */
  readonly fence: number;
  /** Of a workflow's nodes, by `run-worker.mjs`: the run that it is of. */
  readonly run?: string;
  /** At `start`: marks of the results that it was given. */
  readonly took?: readonly string[];
  /** At `end`: the mark of its own. */
  readonly mark?: string;
  /** At `end`: the fencing token by then, another one after a wait. */
  readonly under?: number;
}

/** Reads what was appended since the last time. */
export class LedgerReader {
  readonly #path: string;
  #offset = 0;
  /** A line whose end is not written yet. */
  #rest = '';

  constructor(path: string) {
    this.#path = path;
  }

  next(): readonly LedgerEntry[] {
    const file = openSync(this.#path, 'a+');
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - this.#offset));
      const read = readSync(file, bytes, 0, bytes.length, this.#offset);
      this.#offset += read;
      const lines = (this.#rest + bytes.toString('utf8', 0, read)).split('\n');
      this.#rest = lines.pop() ?? '';
      return lines.map((line) => JSON.parse(line) as LedgerEntry);
    } finally {
      closeSync(file);
    }
  }
}
