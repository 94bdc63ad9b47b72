import type { Socket } from 'node:net';
import { isSignal, onAbort } from '../../../base/abort-watch.ts';
import type { Clock } from '../../../base/time.ts';
import { BackendUnavailableError, ClosedError } from '../../../domain/errors/errors.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { SyncMode } from '../../../domain/port/backend.ts';
import {
  type Carry,
  jsonArgs,
  kindOf,
  NOT_TAKEN,
  type RequestName,
  replyOf,
} from '../log/calls.ts';
import { errorOf } from './failure.ts';
import type { Patience } from './patience.ts';
import {
  FAREWELL,
  type FrameReader,
  FrameWriter,
  type Greeting,
  PING,
  readMessage,
  WireError,
} from './wire.ts';

/** A process that asks the owner of a data folder. */
export interface Guest {
  /**
   * Has the owner carry out a call. {@link NOT_TAKEN} when that says farewell before it takes it, or has done so, or is
   * gone. One that is under way when the owner goes without a farewell is refused: what came of it is unknown.
   */
  readonly carry: Carry;
  /** Of the owner. */
  readonly epoch: number;
  /** When the owner syncs; absent: it has not said so. */
  readonly sync: SyncMode | undefined;
  /** Who answers, in words. */
  readonly description: string;
  /** Settles when the owner takes no more calls: it has said farewell, or is gone. */
  readonly left: Promise<void>;
  /** Settles when the owner is dead, silent or closed, or this guest is: another may be looked for. */
  readonly gone: Promise<void>;
  /** The owner was there and did not answer; what the next claim wants to know. */
  readonly isSilent: boolean;
  /** Waits answer at once; fulfilled when what is under way was answered, or is given up. */
  close(): Promise<void>;
}

/** A connection on which the owner has greeted. */
export interface Greeted {
  readonly socket: Socket;
  /** What came after the greeting. */
  readonly reader: FrameReader;
  readonly greeting: Greeting;
  readonly patience: Patience;
  readonly clock: Clock;
  readonly folder: string;
}

/** A call that is under way. */
interface Call {
  readonly name: RequestName;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** A wait keeps no process alive, as in memory; ends the watch over its signal. */
  readonly unwatch: (() => void) | undefined;
}

const ENDED = 'the process that has the data open has ended';

/** See {@link Guest}. */
export class SocketGuest implements Guest {
  readonly epoch: number;
  readonly sync: SyncMode | undefined;
  readonly description: string;
  readonly left: Promise<void>;
  readonly gone: Promise<void>;
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #writer: FrameWriter;
  readonly #patience: Patience;
  readonly #clock: Clock;
  readonly #calls = new Map<number, Call>();
  #lastId = 0;
  /** Calls that keep the process alive. */
  #pending = 0;
  #isSilent = false;
  #isOver = false;
  #hasLeft = false;
  #isClosed = false;
  #settleLeft: () => void = () => undefined;
  #settleGone: () => void = () => undefined;
  #idle: () => void = () => undefined;

  constructor({ socket, reader, greeting, patience, clock, folder }: Greeted) {
    this.epoch = greeting.epoch;
    this.sync = greeting.sync;
    this.description = `embedded, in ${folder}, which process ${greeting.pid} has open`;
    this.#socket = socket;
    this.#reader = reader;
    this.#writer = new FrameWriter(socket);
    this.#patience = patience;
    this.#clock = clock;
    this.left = new Promise((resolve) => {
      this.#settleLeft = resolve;
    });
    this.gone = new Promise((resolve) => {
      this.#settleGone = resolve;
    });
    reader.greeted();
    socket.unref();
    socket.on('data', (piece: Buffer) => {
      patience.sign();
      reader.add(piece);
      this.#read();
    });
    socket.on('error', () => this.#over(ENDED));
    socket.on('close', () => this.#over(ENDED));
    patience.begin({
      ask: () => this.#writer.send(String(PING)),
      silent: () => {
        this.#isSilent = true;
        this.#over('the process that has the data open does not answer');
      },
    });
    // It may leave as soon as it has greeted.
    this.#read();
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  readonly carry: Carry = (name, args) => {
    if (this.#isClosed) return Promise.reject(new ClosedError('the backend'));
    if (this.#hasLeft) return Promise.resolve(NOT_TAKEN);
    return new Promise((resolve, reject) => {
      const isWait = kindOf(name) === 'wait';
      const signal = isWait ? args.at(-1) : undefined;
      const given = jsonArgs(name, isWait ? args.slice(0, -1) : args);
      const id = this.#lastId + 1;
      this.#writer.send(JSON.stringify([id, name, given]));
      this.#lastId = id;
      const unwatch = isSignal(signal) ? this.#watch(id, signal) : undefined;
      this.#calls.set(id, { name, resolve, reject, unwatch });
      if (unwatch === undefined) this.#hold();
    });
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [id, { unwatch }] of this.#calls) if (unwatch !== undefined) this.#abort(id);
    if (this.#calls.size > 0) {
      const timer = this.#clock.setTimer(LIMITS.goodbyeMs, () => this.#idle());
      this.#hold();
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
      this.#letGo();
      timer.cancel();
    }
    this.#over(new ClosedError('the backend'));
  }

  #watch(id: number, signal: AbortSignal): () => void {
    const abort = (): void => this.#abort(id);
    if (!signal.aborted) return onAbort([signal], abort);
    abort();
    return () => undefined;
  }

  /** The answer of the owner still counts: it may be one that must not be lost. */
  #abort(id: number): void {
    this.#writer.send(`[${id}]`);
  }

  #read(): void {
    try {
      for (;;) {
        const text = this.#reader.next();
        if (text === undefined) return;
        this.#take(text);
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#over(error);
    }
  }

  #take(text: string): void {
    const message = readMessage(text);
    if (message === PING) return;
    if (message === FAREWELL) {
      this.#leave();
      return;
    }
    if (!Array.isArray(message)) throw new WireError('a message of no kind');
    const [id, value, failure]: readonly unknown[] = message;
    const call = this.#calls.get(Number(id));
    if (call === undefined) throw new WireError('an answer to nothing');
    this.#forget(Number(id), call);
    if (failure === undefined) call.resolve(replyOf(call.name, value));
    else call.reject(errorOf(call.name, failure));
  }

  #forget(id: number, { unwatch }: Call): void {
    this.#calls.delete(id);
    if (unwatch === undefined) this.#letGo();
    else unwatch();
    if (this.#calls.size === 0) this.#idle();
  }

  #hold(): void {
    this.#pending++;
    if (this.#pending === 1) this.#socket.ref();
  }

  #letGo(): void {
    this.#pending--;
    if (this.#pending === 0) this.#socket.unref();
  }

  /** What was not answered by now was not taken. It waits for the owner to be gone, and for the next one. */
  #leave(): void {
    this.#writer.send(String(FAREWELL));
    this.#hasLeft = true;
    for (const [id, call] of this.#calls) {
      this.#forget(id, call);
      call.resolve(NOT_TAKEN);
    }
    this.#settleLeft();
  }

  #over(cause: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#hasLeft = true;
    this.#patience.end();
    for (const [id, call] of this.#calls) {
      this.#forget(id, call);
      call.reject(this.#isClosed ? cause : new BackendUnavailableError(call.name, cause));
    }
    this.#socket.destroy();
    this.#settleLeft();
    this.#settleGone();
  }
}
