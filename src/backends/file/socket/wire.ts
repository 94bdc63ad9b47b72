import type { Socket } from 'node:net';
import { nextTick } from '../../../base/globals.ts';
import { isRecord } from '../../../base/records.ts';
import { BackendUnsupportedError } from '../../../domain/errors/errors.ts';
import { LIMITS } from '../../../domain/limits.ts';
import type { SyncMode } from '../../../domain/port/backend.ts';

/**
 * What is spoken between the owner of a data folder and its guests: each message is its length as a number of four
 * bytes, and so many bytes of JSON.
 *
 * Both begin with a {@link Greeting}. Then a guest sends calls `[id,name,args]`, `[id]` when the signal of a wait has
 * aborted, and `0` to see whether the owner is there. The owner answers `[id,value]`, `[id,null,failure]` and `0`.
 *
 * An owner that leaves says `1` when it has answered every call that it took: all others it never will. The guest says
 * `1` when it has read that. From then on only signs of life pass, until the owner hangs up.
 *
 * To be raised with every change of these, of the calls of the port, of what they take and answer, and of the
 * version of snapshots: the next owner must be able to read what this one leaves.
 */
export const PROTOCOL = 3;

/** The sign of life, and the answer to it. */
export const PING = 0;

/** The farewell of an owner that leaves, and the answer to it. */
export const FAREWELL = 1;

/** No message before the greeting is longer. */
const GREETING_BYTES = 1_024;

const HEAD_BYTES = 4;

/** Small messages of one turn go out in pieces of at least so many bytes. */
const PIECE_BYTES = 1_048_576;

/** A character of a text is at most so many bytes of UTF-8. */
const CHARACTER_BYTES = 3;

/** How each side begins. */
export interface Greeting {
  /** The number of its protocol. */
  readonly fairloom: number;
  /** Of the owner; what the guest has it for. */
  readonly epoch: number;
  /** Of the process, for people. */
  readonly pid: number;
  /** Of the owner: when a commit survives a loss of power. */
  readonly sync?: SyncMode;
}

/** The other side speaks another protocol: the connection is of no use any more. */
export class WireError extends Error {
  override readonly name = 'WireError';
}

/** The greeting of this process. */
export function greetingOf(epoch: number, sync?: SyncMode): Greeting {
  return { fairloom: PROTOCOL, epoch, pid: process.pid, ...(sync === undefined ? {} : { sync }) };
}

/** @throws {@link WireError} when it is none. */
export function readGreeting(text: string): Greeting {
  const value = readMessage(text);
  const fields = isRecord(value) ? value : {};
  const { fairloom, epoch, pid } = fields;
  if (typeof fairloom !== 'number') throw new WireError('a greeting was expected');
  const sync = syncIn(fields['sync']);
  const greeting = { fairloom, epoch: Number(epoch), pid: Number(pid) };
  return sync === undefined ? greeting : { ...greeting, sync };
}

function syncIn(value: unknown): SyncMode | undefined {
  if (value === 'always') return value;
  const { everyMs } = isRecord(value) ? value : {};
  return typeof everyMs === 'number' ? { everyMs } : undefined;
}

/** @throws {@link WireError} when it is no JSON. */
export function readMessage(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WireError('a message that is no JSON');
  }
}

/** Takes messages out of what arrives in pieces. Each byte of a long one is copied once. */
export class FrameReader {
  #piece: Buffer = Buffer.alloc(0);
  /** Where the next message begins in it. */
  #at = 0;
  /** What has arrived after it. */
  #later: Buffer[] = [];
  #laterBytes = 0;
  #most = GREETING_BYTES;

  /** The greeting has come: from now on messages may be long. */
  greeted(): void {
    this.#most = LIMITS.socketBytes;
  }

  add(piece: Buffer): void {
    if (this.#at === this.#piece.length && this.#later.length === 0) {
      this.#piece = piece;
      this.#at = 0;
      return;
    }
    this.#later.push(piece);
    this.#laterBytes += piece.length;
  }

  /**
   * The next whole message, as text.
   *
   * @throws {@link WireError} when it is longer than one may be.
   */
  next(): string | undefined {
    if (!this.#gather(HEAD_BYTES)) return undefined;
    const length = this.#piece.readUInt32BE(this.#at);
    if (length > this.#most) throw new WireError(`a message of ${length} bytes`);
    if (!this.#gather(HEAD_BYTES + length)) return undefined;
    const start = this.#at + HEAD_BYTES;
    this.#at = start + length;
    return this.#piece.toString('utf8', start, this.#at);
  }

  /** Whether so many bytes are there, in one piece. */
  #gather(bytes: number): boolean {
    const left = this.#piece.length - this.#at;
    if (left >= bytes) return true;
    if (left + this.#laterBytes < bytes) return false;
    this.#piece = Buffer.concat([this.#piece.subarray(this.#at), ...this.#later]);
    this.#at = 0;
    this.#later = [];
    this.#laterBytes = 0;
    return true;
  }
}

/** Sends messages: those of one turn together. */
export class FrameWriter {
  readonly #socket: Socket;
  readonly #flushed: () => void;
  #texts: string[] = [];
  #waiting = 0;

  /** @param flushed - called when what had waited was given to the socket. */
  constructor(socket: Socket, flushed: () => void = () => undefined) {
    this.#socket = socket;
    this.#flushed = flushed;
  }

  /** About how many bytes the other side has not read. */
  get unread(): number {
    return this.#waiting + this.#socket.writableLength;
  }

  /** @throws `BackendUnsupportedError` when it is longer than one may be. */
  send(text: string): void {
    if (isTooLong(text)) {
      throw new BackendUnsupportedError(
        `a call, or its answer, of more than ${LIMITS.socketBytes} bytes (socketBytes) passes between no two processes`,
      );
    }
    this.#texts.push(text);
    this.#waiting += text.length;
    if (this.#texts.length === 1) nextTick(this.flush);
  }

  /** Sends what there is now. */
  readonly flush = (): void => {
    const texts = this.#texts;
    this.#texts = [];
    this.#waiting = 0;
    if (texts.length === 0 || !this.#socket.writable) return;
    this.#write(texts);
    this.#flushed();
  };

  #write(texts: readonly string[]): void {
    let piece: string[] = [];
    let bytes = 0;
    for (const text of texts) {
      piece.push(text);
      bytes += HEAD_BYTES + Buffer.byteLength(text);
      if (bytes < PIECE_BYTES) continue;
      this.#socket.write(joined(piece, bytes));
      piece = [];
      bytes = 0;
    }
    if (bytes > 0) this.#socket.write(joined(piece, bytes));
  }
}

function isTooLong(text: string): boolean {
  const most = LIMITS.socketBytes;
  return text.length * CHARACTER_BYTES > most && Buffer.byteLength(text) > most;
}

function joined(texts: readonly string[], bytes: number): Buffer {
  const piece = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const text of texts) {
    const length = piece.write(text, at + HEAD_BYTES);
    piece.writeUInt32BE(length, at);
    at += HEAD_BYTES + length;
  }
  return piece;
}
