/** Reads keys of one namespace whole, as bytes. */
import { BackendUnsupportedError } from '../../domain/errors/errors.ts';
import {
  type BinaryClient,
  binaryClient,
  nodesOf,
  type RedisClient,
} from '../redis/connection/client.ts';
import { failure } from '../redis/connection/failures.ts';

/** Rows that one command is asked for. */
const STEP = 1_000;

/** Where a namespace is. */
export interface Namespace {
  /** A connection that is open. */
  readonly client: RedisClient;
  /** Begins every key, with its colon. */
  readonly base: string;
}

/** What is done to a namespace that is copied, as errors name it. */
const OPERATION = 'copy';

/** The client for bytes. */
export function bytesOf(client: RedisClient): BinaryClient {
  const found = binaryClient(client);
  if (found !== undefined) return found;
  throw new BackendUnsupportedError('copy needs a client of ioredis, which has callBuffer');
}

/** Sends one command; what goes wrong is an error of the catalogue. */
export async function ask(
  client: BinaryClient,
  command: string,
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  try {
    return await client.callBuffer(command, args);
  } catch (cause) {
    throw failure(OPERATION, cause);
  }
}

/** All keys of the namespace, some at a time, without what begins all of them. */
export async function* keysOf({ client, base }: Namespace): AsyncGenerator<readonly string[]> {
  const pattern = `${base.replace(/[?*[\]\\]/g, '\\$&')}*`;
  const seen = new Set<string>();
  await ask(bytesOf(client), 'PING', []);
  for (const node of nodesOf(client)) {
    let cursor = '0';
    do {
      const args = [cursor, 'MATCH', pattern, 'COUNT', STEP];
      const [next, found] = listIn(await ask(bytesOf(node), 'SCAN', args));
      cursor = textIn(next);
      const fresh = listIn(found)
        .map((key) => textIn(key).slice(base.length))
        .filter((key) => !seen.has(key));
      for (const key of fresh) seen.add(key);
      yield fresh;
    } while (cursor !== '0');
  }
}

/** Reads keys by their names without the prefix. */
export class KeysReader {
  readonly #client: BinaryClient;
  readonly #base: string;

  constructor({ client, base }: Namespace) {
    this.#client = bytesOf(client);
    this.#base = base;
  }

  /** A hash by field. */
  async hash(key: string): Promise<ReadonlyMap<string, Buffer>> {
    const rows = await this.#scan('HSCAN', key, 2);
    return new Map(rows.map(([field, value]) => [textIn(field), bytesIn(value)]));
  }

  /** Members of a sorted set and their scores, in no order. */
  async scores(key: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#scan('ZSCAN', key, 2);
    const known = rows.map(([member, score]) => [textIn(member), Number(textIn(score))] as const);
    return new Map(known.filter(([, score]) => Number.isFinite(score)));
  }

  /** Members of a set. */
  async members(key: string): Promise<readonly string[]> {
    return [...new Set((await this.#scan('SSCAN', key, 1)).map(([member]) => textIn(member)))];
  }

  async list(key: string): Promise<readonly string[]> {
    return listIn(await this.#ask('LRANGE', key, 0, -1)).map(textIn);
  }

  async text(key: string): Promise<string | undefined> {
    const found = await this.#ask('GET', key);
    return found === null ? undefined : textIn(found);
  }

  /** Entries of a stream: ids, and fields by turns. */
  async entries(
    key: string,
  ): Promise<readonly (readonly [id: string, fields: readonly string[]])[]> {
    return listIn(await this.#ask('XRANGE', key, '-', '+')).map((entry) => {
      const [id, fields] = listIn(entry);
      return [textIn(id), listIn(fields).map(textIn)];
    });
  }

  /** Until a key expires, in ms; `undefined`: it does not. */
  async msLeft(key: string): Promise<number | undefined> {
    const left = Number(await this.#ask('PTTL', key));
    return left < 0 ? undefined : left;
  }

  /** What the server tells of itself. */
  async info(): Promise<string> {
    return textIn(await ask(this.#client, 'INFO', ['everything']));
  }

  /** The server's clock, in ms since the epoch. */
  async now(): Promise<number> {
    const [seconds, micros] = listIn(await ask(this.#client, 'TIME', [])).map(textIn);
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  #ask(command: string, key: string, ...args: (string | number)[]): Promise<unknown> {
    return ask(this.#client, command, [this.#base + key, ...args]);
  }

  async #scan(command: string, key: string, size: number): Promise<readonly unknown[][]> {
    const rows: unknown[][] = [];
    let cursor = '0';
    do {
      const [next, found] = listIn(await this.#ask(command, key, cursor, 'COUNT', STEP));
      cursor = textIn(next);
      const values = listIn(found);
      for (let at = 0; at < values.length; at += size) rows.push(values.slice(at, at + size));
    } while (cursor !== '0');
    return rows;
  }
}

/** A reply that has to be a list. */
function listIn(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new BackendUnsupportedError('copy: the server answered something else than a list');
}

/** A reply as text. */
function textIn(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString() : String(value ?? '');
}

function bytesIn(value: unknown): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.from(textIn(value));
}

/** Takes a pair of free texts apart: `<bytes of the first>:<first><second>`. */
export function pairIn(text: string): readonly [string, string] {
  const bytes = Buffer.from(text);
  const from = bytes.indexOf(':') + 1;
  const to = from + Number(bytes.toString('latin1', 0, from - 1));
  return [bytes.toString('utf8', from, to), bytes.toString('utf8', to)];
}

/** Two free texts as one. */
export function pairOf(first: string, second: string): string {
  return `${Buffer.byteLength(first)}:${first}${second}`;
}
