/** Errors about what tasks store and exchange: questions, channels, streams, XCom, encrypted values. */
import { LIMIT_TABLE } from '../limits.ts';
import type { AskClosing } from '../task/ask.ts';
import type { ChannelLimit } from '../task/channel.ts';
import { CodedError, shown } from './fairloom-error.ts';

/** There is no question of this id: none was asked, or the record of its task is not kept any more. */
export class AskNotFoundError extends CodedError<'ASK_NOT_FOUND'> {
  /** The question. */ readonly askId: string;
  constructor(askId: string) {
    super('ASK_NOT_FOUND', `there is no question ${askId}`);
    this.askId = askId;
  }
}

/** The question was closed before this answer came, which has changed nothing. */
export class AskClosedError extends CodedError<'ASK_CLOSED'> {
  /** The question. */ readonly askId: string;
  /** How it was closed; `canceled` and `ended`: its task was, or did. */
  readonly how: 'answered' | 'timed-out' | 'canceled' | 'ended';
  /** When, in ms since the epoch. */ readonly at: number;
  /** `answered`: who did. */ readonly by: string | undefined;
  /** `answered`: what was chosen. */ readonly choice: string | undefined;
  constructor(askId: string, closing: AskClosing) {
    super('ASK_CLOSED', `question ${askId} is closed: ${closingText(closing)}`);
    this.askId = askId;
    this.how = closing.how;
    this.at = closing.at;
    this.by = closing.how === 'answered' ? closing.by : undefined;
    this.choice = closing.how === 'answered' ? closing.choice : undefined;
  }
}

function closingText(closing: AskClosing): string {
  switch (closing.how) {
    case 'answered':
      return `${closing.by} has answered ${closing.choice}`;
    case 'timed-out':
      return 'no answer came in time';
    case 'canceled':
      return 'its task was canceled';
    case 'ended':
      return 'its task does not wait for it any more';
  }
}

/** The limits of channels. */
export type ChannelLimitName = ChannelLimit | 'channelWrites';

/** A write would take the channels of a run over a limit; nothing was written. */
export class ChannelLimitError extends CodedError<'CHANNEL_LIMIT'> {
  /** The channel, and the key that was the last to be written. */ readonly channel: string;
  /** See {@link ChannelLimitError.channel}. */ readonly key: string;
  /** The name of the limit, as `docs/limits.md` lists it. */ readonly limit: ChannelLimitName;
  constructor({ channel, key }: ChannelPlace, limit: ChannelLimitName) {
    const { value, unit } = LIMIT_TABLE[limit];
    super(
      'CHANNEL_LIMIT',
      `channel ${channel}, key ${shown(key)}: more than ${value} ${unit} (${limit})`,
    );
    this.channel = channel;
    this.key = key;
    this.limit = limit;
  }
}

/** `append` to what is no list, or `add` to what is no number; nothing was written. */
export class ChannelTypeError extends CodedError<'CHANNEL_TYPE'> {
  /** The channel. */ readonly channel: string;
  /** The key. */ readonly key: string;
  constructor({ channel, key }: ChannelPlace, operation: 'append' | 'add') {
    const why =
      operation === 'append' ? 'it holds no list' : 'it holds no number, or the sum would be none';
    super('CHANNEL_TYPE', `channel ${channel}, key ${shown(key)}: cannot ${operation}, ${why}`);
    this.channel = channel;
    this.key = key;
  }
}

/** Where in the channels of a run. */
export interface ChannelPlace {
  /** The channel. */ readonly channel: string;
  /** The key. */ readonly key: string;
}

/** The limits of streams that a handler can run into. */
export type StreamLimitName = 'streams' | 'streamPendingBytes';

/**
 * A task has too many streams, or a handler writes faster than is stored and does not wait for it. The
 * chunk is not stored, and none after it.
 */
export class StreamLimitError extends CodedError<'STREAM_LIMIT'> {
  /** The stream. */ readonly stream: string;
  /** The name of the limit, as `docs/limits.md` lists it. */ readonly limit: StreamLimitName;
  constructor(stream: string, limit: StreamLimitName) {
    const { value, unit } = LIMIT_TABLE[limit];
    super('STREAM_LIMIT', `stream ${stream}: more than ${value} ${unit} (${limit})`);
    this.stream = stream;
    this.limit = limit;
  }
}

/** The limits of what one attempt changes. */
export type XComLimitName = 'xcomWrites' | 'xcomBytes';

/** An attempt would push or delete more values than its end can write down; nothing was written. */
export class XComLimitError extends CodedError<'XCOM_LIMIT'> {
  /** The key that was the last to be written. */ readonly key: string;
  /** The name of the limit, as `docs/limits.md` lists it. */ readonly limit: XComLimitName;
  constructor(key: string, limit: XComLimitName) {
    const { value, unit } = LIMIT_TABLE[limit];
    super(
      'XCOM_LIMIT',
      `xcom key ${shown(key)}: more than ${value} ${unit} in one attempt (${limit})`,
    );
    this.key = key;
    this.limit = limit;
  }
}

/** Why a stored text cannot be decrypted. */
export type DecryptionProblem = 'unknown-key' | 'altered' | 'unreadable' | 'not-encrypted';

/** A stored value cannot be decrypted here. */
export class DecryptionError extends CodedError<'DECRYPTION_FAILED'> {
  /** The key that it was encrypted with, as it says; absent when it is not encrypted. */
  readonly keyId: string | undefined;
  /** The key is not at hand · the text was altered, or that key is another · one of these · it is not encrypted. */
  readonly problem: DecryptionProblem;
  constructor(keyId: string, problem: DecryptionProblem) {
    super('DECRYPTION_FAILED', messageOf(keyId, problem));
    this.keyId = keyId === '' ? undefined : keyId;
    this.problem = problem;
  }
}

function messageOf(keyId: string, problem: DecryptionProblem): string {
  const key = shown(keyId);
  switch (problem) {
    case 'unknown-key':
      return `a stored value is encrypted with key ${key}, which this process does not have`;
    case 'unreadable':
      return `a stored value is encrypted with key ${key}, and cannot be read here`;
    case 'altered':
      return `a stored value is not what key ${key} has encrypted: it was altered, or the key is another`;
    case 'not-encrypted':
      return 'a stored value is not encrypted, and acceptUnencrypted is not set';
  }
}
