/** msgpack, as far as scripts write it: numbers, texts, truth values, lists and tables. */

import { CorruptRecordError } from '../../domain/errors/errors.ts';

/** What can be packed. */
export type Packable =
  | number
  | string
  | boolean
  | readonly Packable[]
  | { readonly [name: string]: Packable | undefined };

/** Packs a value as scripts unpack it. Fields that are `undefined` are left out. */
export function packed(value: Packable): Buffer {
  const parts: Buffer[] = [];
  write(value, parts);
  return Buffer.concat(parts);
}

/** All values that stand behind each other. A table without fields is an empty list to a script, and here. */
export function unpackedAll(bytes: Buffer): readonly unknown[] {
  const reader = new Reader(bytes);
  const found: unknown[] = [];
  while (!reader.isAtEnd) found.push(reader.next());
  return found;
}

/** The only value. */
export function unpacked(bytes: Buffer): unknown {
  return new Reader(bytes).next();
}

function write(value: Packable, parts: Buffer[]): void {
  if (typeof value === 'boolean') parts.push(Buffer.of(value ? 0xc3 : 0xc2));
  else if (typeof value === 'number') writeNumber(value, parts);
  else if (typeof value === 'string') {
    const text = Buffer.from(value);
    writeHead(text.length, { small: 0xa0, most: 31, two: 0xda }, parts);
    parts.push(text);
  } else if (isList(value)) {
    writeHead(value.length, { small: 0x90, most: 15, two: 0xdc }, parts);
    for (const one of value) write(one, parts);
  } else {
    const fields = Object.entries(value).filter(([, one]) => one !== undefined);
    writeHead(fields.length, { small: 0x80, most: 15, two: 0xde }, parts);
    for (const [name, one] of fields) {
      write(name, parts);
      if (one !== undefined) write(one, parts);
    }
  }
}

function isList(value: object): value is readonly Packable[] {
  return Array.isArray(value);
}

function writeNumber(value: number, parts: Buffer[]): void {
  if (Number.isInteger(value) && value >= 0 && value < 128) {
    parts.push(Buffer.of(value));
    return;
  }
  const bytes = Buffer.alloc(9);
  if (Number.isSafeInteger(value)) {
    bytes[0] = 0xd3;
    bytes.writeBigInt64BE(BigInt(value), 1);
  } else {
    bytes[0] = 0xcb;
    bytes.writeDoubleBE(value, 1);
  }
  parts.push(bytes);
}

/** How the length of a kind of value is told: in the first byte, or in two or four behind it. */
interface Head {
  readonly small: number;
  readonly most: number;
  readonly two: number;
}

function writeHead(length: number, { small, most, two }: Head, parts: Buffer[]): void {
  if (length <= most) {
    parts.push(Buffer.of(small + length));
  } else if (length < 0x1_00_00) {
    parts.push(Buffer.of(two, length >> 8, length & 0xff));
  } else {
    const bytes = Buffer.alloc(5);
    bytes[0] = two + 1;
    bytes.writeUInt32BE(length, 1);
    parts.push(bytes);
  }
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  next(): unknown {
    const head = this.#byte();
    if (head < 0x80) return head;
    if (head < 0x90) return this.#table(head - 0x80);
    if (head < 0xa0) return this.#list(head - 0x90);
    if (head < 0xc0) return this.#text(head - 0xa0);
    if (head >= 0xe0) return head - 0x1_00;
    return this.#long(head);
  }

  #long(head: number): unknown {
    switch (head) {
      case 0xc0:
        return undefined;
      case 0xc2:
      case 0xc3:
        return head === 0xc3;
      case 0xc4:
      case 0xd9:
        return this.#text(this.#uint(1));
      case 0xc5:
      case 0xda:
        return this.#text(this.#uint(2));
      case 0xc6:
      case 0xdb:
        return this.#text(this.#uint(4));
      case 0xdc:
        return this.#list(this.#uint(2));
      case 0xdd:
        return this.#list(this.#uint(4));
      case 0xde:
        return this.#table(this.#uint(2));
      case 0xdf:
        return this.#table(this.#uint(4));
      default:
        return this.#number(head);
    }
  }

  #number(head: number): number {
    switch (head) {
      case 0xca:
        return this.#take(4).readFloatBE(0);
      case 0xcb:
        return this.#take(8).readDoubleBE(0);
      case 0xcc:
        return this.#uint(1);
      case 0xcd:
        return this.#uint(2);
      case 0xce:
        return this.#uint(4);
      case 0xcf:
        return Number(this.#take(8).readBigUInt64BE(0));
      case 0xd0:
        return this.#take(1).readInt8(0);
      case 0xd1:
        return this.#take(2).readInt16BE(0);
      case 0xd2:
        return this.#take(4).readInt32BE(0);
      case 0xd3:
        return Number(this.#take(8).readBigInt64BE(0));
      default:
        throw new CorruptRecordError('a packed record', `no value begins with byte ${head}`);
    }
  }

  #byte(): number {
    return this.#uint(1);
  }

  #uint(bytes: number): number {
    return this.#take(bytes).readUIntBE(0, bytes);
  }

  #text(bytes: number): string {
    return this.#take(bytes).toString();
  }

  #take(bytes: number): Buffer {
    const from = this.#at;
    this.#at += bytes;
    if (this.#at > this.#bytes.length)
      throw new CorruptRecordError('a packed record', 'it was cut short');
    return this.#bytes.subarray(from, this.#at);
  }

  #list(length: number): readonly unknown[] {
    return Array.from({ length }, () => this.next());
  }

  #table(length: number): unknown {
    const fields: [string, unknown][] = [];
    for (let i = 0; i < length; i++) fields.push([String(this.next()), this.next()]);
    return Object.fromEntries(fields);
  }
}
