/** The messages between the bench and its worker processes. */
import type { RedisSideName } from './side.ts';

export interface WorkerOrder {
  readonly side: RedisSideName;
  readonly url: string;
  readonly slots: number;
  /** How long the handler takes. 0: it is an async function that does nothing. */
  readonly handlerMs: number;
  readonly delayed: boolean;
  /** Keep each start, with its user, for the fairness figures. */
  readonly keepStarts: boolean;
}

export type ToWorker = { readonly type: 'start' } | { readonly type: 'finish' };

export type FromWorker =
  /** Everything is loaded. */
  | { readonly type: 'ready' }
  /** The library's worker runs. */
  | { readonly type: 'started' }
  | { readonly type: 'count'; readonly count: number }
  | { readonly type: 'report'; readonly report: WorkerReport };

export interface WorkerReport {
  readonly count: number;
  /** Start of the first handler and end of the last, in ms since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** From the start of the worker to its end, in µs. */
  readonly cpuUs: number;
  /** Of the whole process, in µs. */
  readonly processUs: number;
  /** Start of the handler minus `payload.t`, in ms, in the order of starts. */
  readonly latencies: readonly number[];
  /** User and moment of each start; the order of the ends. */
  readonly starts: readonly (readonly [string, number])[];
  readonly ends: readonly string[];
}
