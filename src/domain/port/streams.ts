/** Output of running tasks; part of the port in `backend.ts`. */

import type { StreamEntry, StreamFacts, StreamWrite } from '../task/stream.ts';
import type { LeaseRef } from './leasing.ts';

/** Streams of tasks. They are removed with the record of their task. */
export interface StreamStore {
  /**
   * Appends to a stream of a leased task, and wakes its readers. The oldest blocks are removed beyond
   * `LIMITS.streamChunks` and `streamBytes`. A repeated call changes nothing. `lost`: the lease is not in force;
   * `closed`: another node has closed the stream; `full`: the task has `LIMITS.streams` other streams.
   */
  append(lease: StreamLease, write: StreamWrite): Promise<'ok' | 'lost' | 'closed' | 'full'>;
  /**
   * Kept entries from an offset, in order, at most `limit`. The first may begin before that offset, or behind it
   * if older ones were removed. Empty for a stream without writes.
   */
  read(id: string, name: string, from: number, limit: number): Promise<readonly StreamEntry[]>;
  /**
   * Answers when there may be entries at that place or behind it, after `ms`, or when `signal` aborts. A hint
   * only: read the stream.
   */
  waitForChunks(place: StreamPlace, ms: number, signal: AbortSignal): Promise<void>;
  /** The streams of a task, by name; empty when it has none, or is not stored. */
  list(id: string): Promise<readonly StreamFacts[]>;
}

/** A place in a stream. */
export interface StreamPlace {
  /** The task. */
  readonly id: string;
  /** The stream. */
  readonly name: string;
  /** An offset. */
  readonly from: number;
}

/** A lease and its worker. */
export interface StreamLease extends LeaseRef {
  /** Worker of the lease. */
  readonly worker: string;
}
