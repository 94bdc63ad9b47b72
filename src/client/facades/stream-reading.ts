/** Reader of one stream: live, from any offset, to its end. */
import type { SharedBackend } from '../../backends/shared-backend.ts';
import { linkAbort } from '../../base/abort-watch.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import {
  CorruptRecordError,
  InvalidOptionError,
  isOwn,
  TaskNotFoundError,
} from '../../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { LIMITS } from '../../domain/limits.ts';
import { isSealed } from '../../domain/task/sealed-text.ts';
import { chunksOf, type StreamEntry, type StreamFacts } from '../../domain/task/stream.ts';
import { isEnd } from '../../domain/task/task.ts';
import type { Results } from '../../enqueue/results.ts';
import { checkSignal } from '../../enqueue/signal-option.ts';

/** An item of a stream. */
export type StreamItem<T = unknown> = StreamChunk<T> | StreamReset | StreamGap;

/** A written value. */
export interface StreamChunk<T = unknown> {
  /** Discriminant. */
  readonly type: 'chunk';
  /** Offset in the whole stream, from 0. */
  readonly offset: number;
  /** The next offset, from which a reader continues. */
  readonly next: number;
  /** Number of the attempt that wrote it, from 1. */
  readonly attempt: number;
  /** The node of a driven run that wrote it; absent for the handler of the task itself. */
  readonly node?: string;
  /** The written value. */
  readonly value: T;
}

/**
 * The writer of this node starts anew, after a failed attempt, a crash or a redrive: its earlier
 * chunks are void.
 */
export interface StreamReset {
  /** Discriminant. */
  readonly type: 'reset';
  /** Offset in the whole stream. */
  readonly offset: number;
  /** The next offset. */
  readonly next: number;
  /** Number of the new attempt, from 1. */
  readonly attempt: number;
  /** The node of a driven run that starts anew; absent for the handler of the task itself. */
  readonly node?: string;
}

/** Removed chunks: the stream was longer than is kept. */
export interface StreamGap {
  /** Discriminant. */
  readonly type: 'gap';
  /** The first missing offset. */
  readonly offset: number;
  /** The first offset that is left. */
  readonly next: number;
}

/** Dependencies on the client. */
export interface StreamReaders {
  readonly connection: SharedBackend;
  readonly codec: ValueCodec;
  readonly results: Results;
}

/** Options of reading a stream. */
export interface StreamReadOptions {
  /** The first offset: 0, or `next` of the last item that was processed. Default 0. */
  readonly from?: number | undefined;
  /** Wait for new items until the stream or its task has ended. Default true. */
  readonly follow?: boolean | undefined;
  /** Stops the reading, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const READ_KEYS: OptionKeys<StreamReadOptions> = keysOf<StreamReadOptions>()({
  from: true,
  follow: true,
  signal: true,
});

/** The checked options. */
interface ReadingOptions {
  readonly from: number;
  readonly follow: boolean;
  readonly signal: AbortSignal | undefined;
}

/** @throws {@link InvalidOptionError} for an invalid option. */
export function readingOf(
  where: string,
  options: StreamReadOptions,
  defaults: { readonly follow: boolean },
): ReadingOptions {
  checkOptions(where, options, READ_KEYS);
  const { from = 0, follow = defaults.follow, signal } = options;
  if (!Number.isSafeInteger(from) || from < 0) {
    throw new InvalidOptionError('from', 'an offset: a whole number from 0', from);
  }
  if (typeof follow !== 'boolean') throw new InvalidOptionError('follow', 'true or false', follow);
  checkSignal(signal);
  return { from, follow, signal };
}

/** One reader. */
export class StreamReading {
  readonly #tools: StreamReaders;
  readonly #id: string;
  readonly #name: string;
  readonly #from: number;
  readonly #follow: boolean;
  readonly #signal: AbortSignal | undefined;
  /** Aborts when no more items are expected. */
  readonly #quiet = new AbortController();
  /** Why it cannot continue. */
  #failure: { readonly error: unknown } | undefined;
  #at: number;
  /** The last entry closes the stream. */
  #isClosed = false;

  constructor(
    tools: StreamReaders,
    { id, name }: { readonly id: string; readonly name: string },
    { from, follow, signal }: ReadingOptions,
  ) {
    this.#tools = tools;
    this.#id = id;
    this.#name = name;
    this.#from = from;
    this.#follow = follow;
    this.#signal = signal;
    this.#at = from;
  }

  async *items(): AsyncGenerator<StreamItem, void, undefined> {
    const { inspect, streams } = await this.#tools.connection.open();
    const [status] = await inspect.status([this.#id]);
    if (status === undefined) throw new TaskNotFoundError(this.#id);
    const stopListening = this.#listen(isEnd(status.state));
    const place = { id: this.#id, name: this.#name };
    try {
      for (;;) {
        // Set before the read: what that finds is the rest.
        const isLast = this.#quiet.signal.aborted;
        if (this.#failure !== undefined) throw this.#failure.error;
        const page = await streams.read(this.#id, this.#name, this.#at, LIMITS.streamPage);
        for (const entry of page) yield* this.#itemsOf(entry);
        if (page.length === LIMITS.streamPage) continue;
        if (page.length === 0 && this.#at === this.#from && this.#from > 0) {
          this.#checkEnd(await streams.list(this.#id));
        }
        if (this.#isClosed || isLast) return;
        const { signal } = this.#quiet;
        await streams.waitForChunks({ ...place, from: this.#at }, LIMITS.streamLookMs, signal);
      }
    } finally {
      stopListening();
    }
  }

  /** Listens for the end of the task, the signal, and the end of the client. */
  #listen(hasEnded: boolean): () => void {
    this.#signal?.throwIfAborted();
    if (hasEnded || !this.#follow) {
      this.#quiet.abort();
      return () => undefined;
    }
    const leave = new AbortController();
    const signals = this.#signal === undefined ? [] : [this.#signal];
    const link = linkAbort(leave.signal, ...signals);
    const ended = (failure: { readonly error: unknown } | undefined): void => {
      this.#failure = failure;
      this.#quiet.abort();
    };
    this.#tools.results.waitForEnd(this.#id, link.signal).then(
      () => ended(undefined),
      // A removed task had ended.
      (error: unknown) => ended(isOwn(error, 'TASK_NOT_FOUND') ? undefined : { error }),
    );
    return () => {
      leave.abort();
      link.unlink();
      this.#quiet.abort();
    };
  }

  *#itemsOf(entry: StreamEntry): Generator<StreamItem> {
    const { kind, from, next, attempt, node } = entry;
    const offset = this.#at;
    if (from > offset) {
      this.#at = from;
      yield { type: 'gap', offset, next: from };
    }
    this.#isClosed = kind === 'end';
    const written = { attempt, ...(node === '' ? {} : { node }) };
    if (kind === 'chunks') {
      const chunks = this.#chunksOf(entry);
      for (let at = this.#at; at < next; at++) {
        this.#at = at + 1;
        const value = this.#tools.codec.read(chunks[at - from] ?? '');
        yield { type: 'chunk', offset: at, next: at + 1, ...written, value };
      }
    } else {
      this.#at = next;
      if (kind === 'reset') yield { type: 'reset', offset: from, next, ...written };
    }
  }

  #chunksOf({ text, from, next }: StreamEntry): readonly string[] {
    if (isSealed(text)) throw this.#tools.codec.unreadable(text);
    const chunks = chunksOf(text);
    if (chunks?.length === next - from) return chunks;
    const what = `stream ${this.#name} of task ${this.#id}`;
    throw new CorruptRecordError(what, `the chunks from ${from} on cannot be read`);
  }

  /** An empty read: ends if no more items are expected. */
  #checkEnd(facts: readonly StreamFacts[]): void {
    const { next = 0, closed = false } = facts.find(({ name }) => name === this.#name) ?? {};
    if (this.#from > next) {
      throw new InvalidOptionError('from', `at most ${next}, the next offset`, this.#from);
    }
    this.#isClosed = closed && this.#from === next;
  }
}
