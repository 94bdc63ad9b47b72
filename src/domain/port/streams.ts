/** What tasks tell while they run; part of the port in `backend.ts`. */

import type { StreamEntry, StreamFacts, StreamWrite } from '../task/stream.ts';
import type { LeaseRef } from './leasing.ts';

/** Streams of tasks. They go with the record of their task. */
export interface StreamStore {
  /**
   * Adds to a stream on behalf of a leased task, and tells who waits for it; the oldest blocks go when
   * more is kept than `LIMITS.streamChunks` and `streamBytes` allow. Sent again it changes nothing.
   * `lost` when the lease is not in force, `closed` when another node has closed the stream, `full`
   * when the task has `LIMITS.streams` others.
   */
  append(lease: StreamLease, write: StreamWrite): Promise<'ok' | 'lost' | 'closed' | 'full'>;
  /**
   * What is kept from an offset on, in order, at most `limit` entries. The first may begin before that
   * offset, or behind it when older ones are gone. Empty also for a stream without writes.
   */
  read(id: string, name: string, from: number, limit: number): Promise<readonly StreamEntry[]>;
  /**
   * Answers when something may be at that place or behind it, after `ms`, or when `signal` aborts. A hint
   * only: read.
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

/** A lease, and the worker that has it. */
export interface StreamLease extends LeaseRef {
  /** Where the lease is looked for first. */
  readonly worker: string;
}
