import type { Socket } from 'node:net';
import type { Clock, Timer } from '../../../base/time.ts';
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { SyncMode } from '../../../domain/port/backend.ts';
import { argsOf, type Carry, isRequest, jsonReply, kindOf, NOT_TAKEN } from '../log/calls.ts';
import { failureOf } from './failure.ts';
import {
  FAREWELL,
  FrameReader,
  FrameWriter,
  type Greeting,
  greetingOf,
  PING,
  PROTOCOL,
  readGreeting,
  readMessage,
  WireError,
} from './wire.ts';

/** Serves the guests of an owner: greets them at once, and carries out their calls once it is known how. */
export class GuestServer {
  readonly #epoch: number;
  readonly #clock: Clock;
  readonly #sync: SyncMode | undefined;
  readonly #guests = new Set<ServedGuest>();
  #asker: (() => Carry) | undefined;
  #isLeaving = false;
  #isClosed = false;
  #parting: Promise<void> | undefined;
  /** A guest has heard the farewell, or is gone. */
  #parted: () => void = () => undefined;

  /** @param sync - what guests hear of when a commit is durable. */
  constructor(epoch: number, clock: Clock, sync?: SyncMode) {
    this.#epoch = epoch;
    this.#clock = clock;
    this.#sync = sync;
  }

  /** A process has connected. */
  accept(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    // Guests keep no owner alive: when its own work is done, one of them is the next.
    socket.unref();
    const parted = (): void => this.#parted();
    const greeting = greetingOf(this.#epoch, this.#sync);
    const guest = new ServedGuest(socket, { greeting, clock: this.#clock, parted });
    this.#guests.add(guest);
    socket.once('close', () => {
      this.#guests.delete(guest);
      guest.end();
      parted();
    });
    if (this.#asker !== undefined) guest.serve(this.#asker());
    if (this.#isLeaving) guest.leave();
  }

  /** From now on calls are carried out: those of each guest by a carrier of its own. */
  listen(asker: () => Carry): void {
    this.#asker = asker;
    for (const guest of this.#guests) guest.serve(asker());
  }

  /** No more calls, of those who come from now on neither; each guest hears so when what was taken of it is answered. */
  leave(): void {
    this.#isLeaving = true;
    for (const guest of this.#guests) guest.leave();
  }

  /** Leaves; fulfilled when each guest has heard so, or a second later. */
  part(): Promise<void> {
    this.leave();
    this.#parting ??= new Promise((resolve) => {
      const timer = this.#clock.setTimer(LIMITS.ownerPingMs, resolve);
      this.#parted = () => {
        if ([...this.#guests].some(({ hasParted }) => !hasParted)) return;
        timer.cancel();
        resolve();
      };
      this.#parted();
    });
    return this.#parting;
  }

  /** Parts, and hangs up. */
  async close(): Promise<void> {
    await this.part();
    this.#isClosed = true;
    for (const guest of this.#guests) guest.hangUp();
  }
}

/** Of a connection. */
interface ServedOptions {
  readonly greeting: Greeting;
  readonly clock: Clock;
  /** It has heard the farewell. */
  readonly parted: () => void;
}

/** One connection. */
class ServedGuest {
  readonly #socket: Socket;
  readonly #parted: () => void;
  readonly #reader = new FrameReader();
  readonly #writer: FrameWriter;
  readonly #waits = new Map<number, AbortController>();
  /** Until then it has to say who it is. */
  #silence: Timer | undefined;
  /** What it asked before anything could be carried out. */
  #early: (() => void)[] = [];
  #carry: Carry | undefined;
  /** Calls in hand, without waits. */
  #calls = 0;
  #isPaused = false;
  #isLeaving = false;
  #hasSaidFarewell = false;
  #hasParted = false;

  constructor(socket: Socket, { greeting, clock, parted }: ServedOptions) {
    this.#socket = socket;
    this.#parted = parted;
    this.#writer = new FrameWriter(socket, () => {
      if (this.#isPaused) this.#read();
    });
    this.#silence = clock.setTimer(LIMITS.ownerSilentMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    socket.on('data', (piece: Buffer) => {
      this.#reader.add(piece);
      this.#read();
    });
    socket.on('drain', () => this.#read());
    this.#writer.send(JSON.stringify(greeting));
  }

  /** It has everything that was answered, and knows that there will be no more. */
  get hasParted(): boolean {
    return this.#hasParted;
  }

  serve(carry: Carry): void {
    this.#carry = carry;
    const early = this.#early;
    this.#early = [];
    for (const call of early) call();
  }

  /** The connection is over: its waits end. */
  end(): void {
    this.#silence?.cancel();
    for (const wait of this.#waits.values()) wait.abort();
    this.#waits.clear();
  }

  /** Takes no more calls, and says so when those in hand are answered. Waits end. */
  leave(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    if (this.#carry === undefined) {
      this.#early = [];
      this.#calls = 0;
      this.#waits.clear();
    }
    for (const wait of this.#waits.values()) wait.abort();
    this.#sayFarewell();
    this.#read();
  }

  /** Who has not parted by now may never do so. */
  hangUp(): void {
    if (this.#hasParted) this.#finish();
    else this.#socket.destroy();
  }

  #finish(): void {
    this.#writer.flush();
    this.#socket.end(() => this.#socket.destroy());
  }

  #sayFarewell(): void {
    if (this.#hasSaidFarewell || this.#calls > 0 || this.#waits.size > 0) return;
    this.#hasSaidFarewell = true;
    this.#writer.send(String(FAREWELL));
  }

  /** Takes what has come as long as there is room. What is left stays in the socket, until the guest notices. */
  #read(): void {
    try {
      while (!this.#isFull()) {
        const text = this.#reader.next();
        if (text === undefined) break;
        this.#take(text);
      }
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#socket.destroy();
    }
    const isFull = this.#isFull();
    if (isFull === this.#isPaused) return;
    this.#isPaused = isFull;
    if (isFull) this.#socket.pause();
    else this.#socket.resume();
  }

  #isFull(): boolean {
    if (!this.#socket.writable) return true;
    return this.#calls >= LIMITS.guestCalls || this.#writer.unread > LIMITS.guestUnreadBytes;
  }

  #take(text: string): void {
    if (this.#silence !== undefined) {
      this.#greet(text);
      return;
    }
    const message = readMessage(text);
    if (message === PING) {
      this.#writer.send(text);
      return;
    }
    if (message === FAREWELL) {
      if (!this.#hasSaidFarewell) throw new WireError('a farewell of a guest');
      this.#hasParted = true;
      this.#parted();
      return;
    }
    if (!Array.isArray(message)) throw new WireError('a message of no kind');
    const [id, name, args]: readonly unknown[] = message;
    if (typeof id !== 'number') throw new WireError('a call without a number');
    if (message.length === 1) {
      this.#waits.get(id)?.abort();
      return;
    }
    if (typeof name !== 'string' || !Array.isArray(args)) throw new WireError('a call of nothing');
    // It was sent before the farewell was heard: the guest knows.
    if (!this.#isLeaving) this.#call(id, name, args);
  }

  #greet(text: string): void {
    const { fairloom } = readGreeting(text);
    this.#silence?.cancel();
    this.#silence = undefined;
    this.#reader.greeted();
    // It has our number as well, and knows what to say of it.
    if (fairloom !== PROTOCOL) this.#finish();
  }

  #call(id: number, name: string, args: readonly unknown[]): void {
    const wait = kindOf(name) === 'wait' ? new AbortController() : undefined;
    if (wait === undefined) this.#calls++;
    else this.#waits.set(id, wait);
    const answer = (): void => void this.#answer(id, name, argsOf(name, args), wait);
    if (this.#carry === undefined) this.#early.push(answer);
    else answer();
  }

  async #answer(
    id: number,
    name: string,
    args: readonly unknown[],
    wait: AbortController | undefined,
  ): Promise<void> {
    try {
      const reply = await this.#carried(name, wait === undefined ? args : [...args, wait.signal]);
      // The farewell will answer it.
      if (reply !== NOT_TAKEN) {
        this.#writer.send(`[${id},${JSON.stringify(jsonReply(name, reply)) ?? null}]`);
      }
    } catch (error) {
      this.#writer.send(JSON.stringify([id, null, failureOf(error)]));
    }
    if (wait === undefined) this.#calls--;
    else this.#waits.delete(id);
    if (this.#isLeaving) this.#sayFarewell();
    if (this.#isPaused) this.#read();
  }

  #carried(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#carry === undefined || !isRequest(name)) {
      throw new BackendUnsupportedError(`the owner of the data knows no ${name}`);
    }
    return this.#carry(name, args);
  }
}
