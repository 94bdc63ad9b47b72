/** Errors of streams: what a task cannot tell any more. */

import { LIMIT_TABLE } from '../limits.ts';
import { FairloomError } from './fairloom-error.ts';

/** The limits of streams that a handler can run into. */
export type StreamLimitName = 'streams' | 'streamPendingBytes';

/**
 * A task has too many streams, or a handler writes faster than is stored and does not wait for it. The
 * chunk is not stored, and none after it.
 */
export class StreamLimitError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'StreamLimitError';
  /** See `docs/errors.md`. */
  readonly code = 'STREAM_LIMIT';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The stream. */
  readonly stream: string;
  /** The name of the limit, as `docs/limits.md` lists it. */
  readonly limit: StreamLimitName;

  constructor(stream: string, limit: StreamLimitName) {
    const { value, unit } = LIMIT_TABLE[limit];
    super(`stream ${stream}: more than ${value} ${unit} (${limit})`);
    this.stream = stream;
    this.limit = limit;
  }
}
