/** Lines that wait for their commit, as the bytes of the frames that they will be. */
import { FRAME_HEAD } from './frame.ts';
import type { LogBrokenError } from './log-broken-error.ts';

/** A frame takes no more lines once it has so many bytes. */
const ENOUGH = 1_048_576;

/** Of a new buffer; and the most that one keeps for later. */
const SMALL = 65_536;
const MOST_KEPT = 2 * ENOUGH;

/** No unit of a text needs more bytes. */
const BYTES_PER_UNIT = 3;

/** Between lines. */
const LINE_END = 10;

/** At least as many bytes as the line needs, found without looking at it. */
export function mostBytes(line: string): number {
  return line.length * BYTES_PER_UNIT + 1;
}

/** As many bytes as the line needs. */
export function bytesOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}

/** Lines of one commit. */
export class Lines {
  /** Fulfilled when they are durable. */
  readonly written: Promise<void>;
  #fulfil: () => void = () => {};
  #refuse: (error: LogBrokenError) => void = () => {};
  #buffer: Buffer;
  #end = FRAME_HEAD;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.written = new Promise<void>((resolve, reject) => {
      [this.#fulfil, this.#refuse] = [resolve, reject];
    });
    // A refusal goes to the callers that wait; without any it must not end the process.
    this.written.catch(() => {});
  }

  /** Bytes of the frame. */
  get bytes(): number {
    return this.#end;
  }

  /** The frame, with room for its head. */
  get frame(): Buffer {
    return this.#buffer.subarray(0, this.#end);
  }

  add(line: string): void {
    const most = line.length > SMALL ? bytesOf(line) : mostBytes(line);
    if (this.#end + most > this.#buffer.length) this.#grow(this.#end + most);
    this.#end += this.#buffer.write(line, this.#end);
    this.#buffer[this.#end++] = LINE_END;
  }

  /** They are durable. */
  fulfil(): void {
    this.#fulfil();
  }

  /** Whether they are durable is unknown. */
  refuse(error: LogBrokenError): void {
    this.#refuse(error);
  }

  /** What the next lines can be written into, once the frame has been. */
  get buffer(): Buffer {
    return this.#buffer;
  }

  #grow(least: number): void {
    const buffer = Buffer.allocUnsafe(Math.max(least, 2 * this.#buffer.length));
    this.#buffer.copy(buffer, 0, 0, this.#end);
    this.#buffer = buffer;
  }
}

/** All lines that wait, in order. */
export class WaitingLines {
  readonly #waiting: Lines[] = [];
  #spare: Buffer | undefined;
  #bytes = 0;

  /** Bytes of all their frames. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Those that come last. */
  get last(): Lines | undefined {
    return this.#waiting.at(-1);
  }

  /** With the last ones, or with new ones. */
  add(line: string): Lines {
    let lines = this.#waiting.at(-1);
    if (lines === undefined || lines.bytes >= ENOUGH) {
      lines = new Lines(this.#spare ?? Buffer.allocUnsafe(SMALL));
      this.#spare = undefined;
      this.#waiting.push(lines);
      this.#bytes += lines.bytes;
    }
    const before = lines.bytes;
    lines.add(line);
    this.#bytes += lines.bytes - before;
    return lines;
  }

  /** The first ones, to be written. */
  take(): Lines | undefined {
    const lines = this.#waiting.shift();
    this.#bytes -= lines?.bytes ?? 0;
    return lines;
  }

  /** They were written: their buffer is free. */
  giveBack({ buffer }: Lines): void {
    if (buffer.length <= MOST_KEPT) this.#spare = buffer;
  }
}
