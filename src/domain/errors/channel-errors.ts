/** Errors of channels: what a run cannot keep, and what does not fit what it keeps. */

import { LIMIT_TABLE } from '../limits.ts';
import type { ChannelLimit } from '../task/channel.ts';
import { FairloomError, shown } from './fairloom-error.ts';

/** The limits of channels. */
export type ChannelLimitName = ChannelLimit | 'channelWrites';

/** A write would take the channels of a run over a limit; nothing was written. */
export class ChannelLimitError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ChannelLimitError';
  /** See `docs/errors.md`. */
  readonly code = 'CHANNEL_LIMIT';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The channel, and the key that was the last to be written. */
  readonly channel: string;
  /** See {@link ChannelLimitError.channel}. */
  readonly key: string;
  /** The name of the limit, as `docs/limits.md` lists it. */
  readonly limit: ChannelLimitName;

  constructor({ channel, key }: ChannelPlace, limit: ChannelLimitName) {
    const { value, unit } = LIMIT_TABLE[limit];
    super(`channel ${channel}, key ${shown(key)}: more than ${value} ${unit} (${limit})`);
    this.channel = channel;
    this.key = key;
    this.limit = limit;
  }
}

/** `append` to what is no list, or `add` to what is no number; nothing was written. */
export class ChannelTypeError extends FairloomError {
  /** The name of the class. */
  override readonly name = 'ChannelTypeError';
  /** See `docs/errors.md`. */
  readonly code = 'CHANNEL_TYPE';
  /** The same call will not succeed without a change. */
  readonly retryable = false;
  /** The channel. */
  readonly channel: string;
  /** The key. */
  readonly key: string;

  constructor({ channel, key }: ChannelPlace, operation: 'append' | 'add') {
    const why =
      operation === 'append' ? 'it holds no list' : 'it holds no number, or the sum would be none';
    super(`channel ${channel}, key ${shown(key)}: cannot ${operation}, ${why}`);
    this.channel = channel;
    this.key = key;
  }
}

/** Where in the channels of a run. */
export interface ChannelPlace {
  /** The channel. */
  readonly channel: string;
  /** The key. */
  readonly key: string;
}
