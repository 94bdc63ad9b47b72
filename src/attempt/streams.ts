/** Streams of handlers: chunks are buffered, sent in blocks, and sent again after an outage. */
import { nextTick } from '../base/globals.ts';
import { pauseMs, sleep } from '../base/pause.ts';
import type { Clock } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { ClosedError, isOwn, LeaseLostError, StreamLimitError } from '../domain/errors/errors.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { LeaseRef, StreamStore } from '../domain/port/backend.ts';
import { blockOf, type StreamWrite } from '../domain/task/stream.ts';
import type { TaskStream } from '../workflow/task-stream.ts';
import { type BufferOptions, Coalesced } from './coalesced.ts';

/** Parts of the worker that store streams. */
export interface StreamTools {
  readonly store: StreamStore;
  /** Id of the worker. */
  readonly worker: string;
  readonly codec: ValueCodec;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Makes the streams of one call of a handler. */
export interface StreamOpener {
  /** Whether chunks are stored. */
  readonly isStored: boolean;
  /** `node`: distinguishes it from other handlers that write under the same lease. */
  streamsFor(node: string, attempt: number): HandlerStreams;
}

/** Task and lease of the writer; both may change during a wait. */
interface Holder {
  readonly lease: LeaseRef;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** Receives blocks. */
interface BlockOut {
  /** Id of the task. */
  readonly id: string;
  readonly codec: ValueCodec;
  /** Rejects when the block cannot be stored. */
  send(write: StreamWrite): Promise<void>;
  /** The stream has started or finished sending. */
  busy(stream: BlockStream, isBusy: boolean): void;
  /** A buffer for a stream has been opened or closed. */
  gathering(texts: Coalesced, isOpen: boolean): void;
}

/** Streams of a stored task, under its worker's current lease. */
export class LeaseStreams implements StreamOpener, BlockOut {
  readonly isStored = true;
  readonly #tools: StreamTools;
  readonly #holder: Holder;
  readonly #busy = new Set<BlockStream>();
  /** Buffers of handlers that have not ended. */
  readonly #gathered = new Set<Coalesced>();
  #calls = 0;
  /** Present while its handler waits without a lease. */
  #gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;

  constructor(tools: StreamTools, holder: Holder) {
    this.#tools = tools;
    this.#holder = holder;
  }

  get id(): string {
    return this.#holder.lease.id;
  }

  get codec(): ValueCodec {
    return this.#tools.codec;
  }

  streamsFor(node: string, attempt: number): HandlerStreams {
    this.#calls++;
    const call = `${this.#holder.lease.token}.${this.#calls}`;
    return new HandlerStreams(this, { node, call, attempt });
  }

  /**
   * Stops sending until {@link LeaseStreams.resume}: the lease is given up meanwhile. Resolves when the
   * written chunks are stored, or cannot be; `undefined` when there are none.
   */
  pause(): Promise<void> | undefined {
    for (const texts of this.#gathered) void texts.store();
    if (this.#busy.size === 0) {
      this.#gate ??= newGate();
      return undefined;
    }
    const sent = [...this.#busy].map((stream) => stream.sent());
    return Promise.all(sent).then(() => this.pause());
  }

  /** Resumes sending: there is a lease again, or no call waits for one. */
  resume(): void {
    this.#gate?.open();
    this.#gate = undefined;
  }

  busy(stream: BlockStream, isBusy: boolean): void {
    if (isBusy) this.#busy.add(stream);
    else this.#busy.delete(stream);
  }

  gathering(texts: Coalesced, isOpen: boolean): void {
    if (isOpen) this.#gathered.add(texts);
    else this.#gathered.delete(texts);
  }

  /** Repeats the call during outages, with pauses, until the lease has ended. */
  async send(write: StreamWrite): Promise<void> {
    const { store, worker, clock, random } = this.#tools;
    for (let failures = 1; ; failures++) {
      await this.#gate?.opened;
      const { id, token } = this.#holder.lease;
      try {
        const answer = await store.append({ worker, id, token }, write);
        if (answer === 'lost') throw new LeaseLostError(id);
        if (answer === 'full') throw new StreamLimitError(write.name, 'streams');
        if (answer === 'closed') throw new ClosedError(`stream ${write.name}`);
        return;
      } catch (error) {
        const mayPass = isOwn(error) && error.retryable;
        const { signal } = this.#holder;
        if (!mayPass || signal.aborted) throw error;
        await sleep(clock, pauseMs(failures, random()), signal);
        if (signal.aborted) throw error;
      }
    }
  }
}

/** Streams of a run that is not stored: chunks are checked and dropped. */
export class LocalStreams implements StreamOpener, BlockOut {
  readonly isStored = false;
  readonly id: string;
  readonly codec: ValueCodec;

  constructor(id: string, codec: ValueCodec) {
    this.id = id;
    this.codec = codec;
  }

  streamsFor(node: string, attempt: number): HandlerStreams {
    return new HandlerStreams(this, { node, call: 'local', attempt });
  }

  async send(): Promise<void> {
    // It has no readers.
  }

  busy(): void {
    // Nothing waits for it.
  }

  gathering(): void {
    // It never gives up a lease.
  }
}

/** The call of a handler that writes. */
type Writer = Pick<StreamWrite, 'node' | 'call' | 'attempt'>;

/** The streams that one call of a handler writes. */
export class HandlerStreams {
  readonly #out: BlockOut;
  readonly #writer: Writer;
  readonly #streams = new Map<string, BlockStream>();

  constructor(out: BlockOut, writer: Writer) {
    this.#out = out;
    this.#writer = writer;
  }

  /** @throws {@link InvalidOptionError} when the name is invalid. */
  open(name: unknown): TaskStream {
    const checked = checkName('stream', name);
    const stream = this.#streams.get(checked) ?? new BlockStream(this.#out, this.#writer, checked);
    this.#streams.set(checked, stream);
    return stream;
  }

  /** Opens a buffer for a stream of the engine's own. */
  gather(name: string, clock: Clock, options: BufferOptions): Coalesced {
    const parts = {
      clock,
      open: () => new BlockStream(this.#out, this.#writer, name),
      left: () => this.#out.gathering(texts, false),
    };
    const texts = new Coalesced(parts, options);
    this.#out.gathering(texts, true);
    return texts;
  }

  /**
   * Its handler has ended, and writes nothing more. Resolves when everything is stored, with the error
   * if that failed; `undefined` when there is nothing to wait for and no error.
   */
  ended(): Promise<unknown> | undefined {
    const all = [...this.#streams.values()].map((stream) => stream.end());
    const left = all.filter((one) => one !== undefined);
    if (left.length === 0) return undefined;
    return Promise.all(left).then((failures) => failures.find((one) => one !== undefined));
  }
}

/** Chunks that are sent together. */
interface Block {
  readonly chunks: string[];
  bytes: number;
  closes: boolean;
  readonly stored: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** One stream of one call: one block is sent at a time, which keeps their order. */
class BlockStream implements TaskStream {
  readonly name: string;
  readonly #out: BlockOut;
  readonly #writer: Writer;
  readonly #blocks: Block[] = [];
  /** Bytes that are being sent. */
  #bytes = 0;
  /** Number of stored chunks. */
  #ordinal = 0;
  /** Present while a block is being sent; never rejects. */
  #sending: Promise<void> | undefined;
  #isOver: 'closed' | 'ended' | undefined;
  /** Why no more chunks can be stored: a stream has no gaps. */
  #failure: { readonly error: unknown } | undefined;

  constructor(out: BlockOut, writer: Writer, name: string) {
    this.#out = out;
    this.#writer = writer;
    this.name = name;
  }

  get id(): string {
    return this.#out.id;
  }

  write(chunk: unknown): Promise<void> {
    try {
      this.#demandOpen();
      const { text, bytes } = this.#out.codec.chunk(this.name, chunk);
      if (this.#bytes + bytes > LIMITS.streamPendingBytes) {
        throw this.#fail(new StreamLimitError(this.name, 'streamPendingBytes'));
      }
      const block = this.#blockFor(bytes);
      block.chunks.push(text);
      block.bytes += bytes;
      this.#bytes += bytes;
      return block.stored;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  close(): Promise<void> {
    try {
      this.#demandOpen();
    } catch (error) {
      return Promise.reject(error);
    }
    this.#isOver = 'closed';
    const block = this.#blockFor(0);
    block.closes = true;
    return block.stored;
  }

  /** Resolves when the written chunks are stored, or cannot be. */
  async sent(): Promise<void> {
    await this.#sending;
  }

  /** See {@link HandlerStreams.ended}. */
  end(): Promise<unknown> | undefined {
    this.#isOver ??= 'ended';
    if (this.#sending === undefined && this.#failure === undefined) return undefined;
    return this.sent().then(() => this.#failure?.error);
  }

  #demandOpen(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isOver === undefined) return;
    const why = this.#isOver === 'closed' ? '' : ' of a handler that has ended';
    throw new ClosedError(`stream ${this.name}${why}`);
  }

  /** The last block that is not being sent, if it has room for so many bytes. */
  #blockFor(bytes: number): Block {
    const last = this.#blocks.at(-1);
    const fits =
      last !== undefined &&
      last.chunks.length < LIMITS.streamBlockChunks &&
      last.bytes + bytes <= LIMITS.streamBlockBytes;
    if (fits) return last;
    const block = newBlock();
    this.#blocks.push(block);
    this.#sending ??= this.#send();
    return block;
  }

  async #send(): Promise<void> {
    this.#out.busy(this, true);
    await endOfTick();
    for (let block = this.#blocks.shift(); block !== undefined; block = this.#blocks.shift()) {
      try {
        await this.#out.send(this.#writeOf(block));
      } catch (error) {
        this.#blocks.unshift(block);
        this.#fail(error);
        break;
      }
      this.#ordinal += block.chunks.length;
      this.#bytes -= block.bytes;
      block.resolve();
    }
    this.#sending = undefined;
    this.#out.busy(this, false);
  }

  #writeOf({ chunks, closes }: Block): StreamWrite {
    const [name, ordinal, count] = [this.name, this.#ordinal, chunks.length];
    return { ...this.#writer, name, ordinal, count, text: blockOf(chunks), closes };
  }

  /** Fails the waiting chunks too. */
  #fail<T>(error: T): T {
    this.#failure ??= { error };
    for (const block of this.#blocks.splice(0)) block.reject(error);
    return error;
  }
}

function newBlock(): Block {
  let resolve: Block['resolve'] = nothing;
  let reject: Block['reject'] = nothing;
  const stored = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  // A caller that does not await it gets the error when its handler ends.
  stored.catch(nothing);
  return { chunks: [], bytes: 0, closes: false, stored, resolve, reject };
}

function newGate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open: () => void = nothing;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function nothing(): void {
  // Initial value; the promise replaces it at once.
}

function endOfTick(): Promise<void> {
  return new Promise((resolve) => {
    nextTick(resolve);
  });
}
