/** Where the messages of the Redis protocol (RESP2 and RESP3) begin and end; values stay bytes. */

/** One message: its bytes, and its first character, which says what it is. */
export interface Frame {
  readonly bytes: Buffer;
  readonly type: string;
}

const CR = 13;
/** `-1` as a length: the null of RESP2. */
const NULL_LENGTH = -1;

/** Cuts a stream of bytes into messages, in chunks of any length. */
export class FrameReader {
  /** Bytes of a message whose end has not arrived. */
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): readonly Frame[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    let start = 0;
    for (;;) {
      const end = frameEnd(this.#rest, start);
      if (end === undefined) break;
      const bytes = this.#rest.subarray(start, end);
      frames.push({ bytes, type: String.fromCharCode(bytes[0] ?? 0) });
      start = end;
    }
    this.#rest = this.#rest.subarray(start);
    return frames;
  }
}

/** The words of a command; a command is an array of bulk strings. */
export function commandOf(frame: Frame): readonly string[] {
  const words: string[] = [];
  let at = lineEnd(frame.bytes, 0) ?? frame.bytes.length;
  while (at < frame.bytes.length) {
    const end = lineEnd(frame.bytes, at);
    if (end === undefined) break;
    const length = Number(frame.bytes.toString('latin1', at + 1, end - 2));
    words.push(frame.bytes.toString('utf8', end, end + length));
    at = end + length + 2;
  }
  return words;
}

/** Where the message that starts at `start` ends; undefined while its end has not arrived. */
function frameEnd(bytes: Buffer, start: number): number | undefined {
  let at = start;
  // Values still to come: an array announces its members, a map twice as many.
  for (let open = 1; open > 0; open--) {
    const end = lineEnd(bytes, at);
    if (end === undefined) return undefined;
    const type = String.fromCharCode(bytes[at] ?? 0);
    const length = Number(bytes.toString('latin1', at + 1, end - 2));
    at = end;
    if ('$=!'.includes(type)) at += length === NULL_LENGTH ? 0 : length + 2;
    else if ('*~>'.includes(type)) open += Math.max(0, length);
    else if (type === '%') open += 2 * length;
    // An attribute stands before the value that it describes.
    else if (type === '|') open += 2 * length + 1;
    if (at > bytes.length) return undefined;
  }
  return at;
}

function lineEnd(bytes: Buffer, from: number): number | undefined {
  const at = bytes.indexOf(CR, from);
  return at === -1 || at + 1 >= bytes.length ? undefined : at + 2;
}
