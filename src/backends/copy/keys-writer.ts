/** Writes keys of one namespace, many commands at a time. */
import type { BinaryClient } from '../redis/connection/client.ts';
import type { Keys } from '../redis/wire/keys.ts';
import { ask, bytesOf, type Namespace } from './keys-reader.ts';

/** Values of one command. */
const VALUES = 400;
/** Bytes of one command, but for a single value that is longer. */
const BYTES = 262_144;
/** Commands under way at once. */
const UNDER_WAY = 64;

type Value = string | number | Buffer;

/** Gathers values by command and key, and sends them when they are many. */
export class KeysWriter {
  readonly #client: BinaryClient;
  readonly #rows = new Map<string, Row>();
  readonly #waiting: Promise<unknown>[] = [];

  constructor({ client }: Pick<Namespace, 'client'>) {
    this.#client = bytesOf(client);
  }

  async hash(key: string, field: string, value: Value): Promise<void> {
    await this.#gather('HSET', key, field, value);
  }

  async score(key: string, member: string | Buffer, score: number): Promise<void> {
    await this.#gather('ZADD', key, scoreText(score), member);
  }

  async member(key: string, member: string): Promise<void> {
    await this.#gather('SADD', key, member);
  }

  /** At the end of a list. */
  async push(key: string, value: Value): Promise<void> {
    await this.#gather('RPUSH', key, value);
  }

  /** A command of its own, behind all that was gathered for its key. */
  async send(command: string, key: string, ...args: Value[]): Promise<void> {
    for (const [name, row] of this.#rows) if (row.key === key) await this.#flush(name, row);
    await this.#ask(command, [key, ...args]);
  }

  /** Until everything is written. */
  async close(): Promise<void> {
    for (const [name, row] of this.#rows) await this.#flush(name, row);
    await Promise.all(this.#waiting.splice(0));
  }

  async #gather(command: string, key: string, ...values: Value[]): Promise<void> {
    const name = `${command} ${key}`;
    const row = this.#rows.get(name) ?? { command, key, values: [], bytes: 0 };
    this.#rows.set(name, row);
    for (const value of values) {
      row.values.push(value);
      row.bytes += typeof value === 'number' ? 8 : value.length;
    }
    if (row.values.length >= VALUES || row.bytes >= BYTES) await this.#flush(name, row);
    // Keys of single tasks are many: none of them is held for long.
    else if (this.#rows.size > VALUES)
      for (const [one, old] of this.#rows) await this.#flush(one, old);
  }

  async #flush(name: string, { command, key, values }: Row): Promise<void> {
    this.#rows.delete(name);
    await this.#ask(command, [key, ...values]);
  }

  async #ask(command: string, args: readonly Value[]): Promise<void> {
    const answer = ask(this.#client, command, args);
    // The caller that awaits all of them gets the error.
    answer.catch(() => undefined);
    this.#waiting.push(answer);
    if (this.#waiting.length >= UNDER_WAY) await Promise.all(this.#waiting.splice(0));
  }
}

interface Row {
  readonly command: string;
  readonly key: string;
  readonly values: Value[];
  bytes: number;
}

/** As a server reads it. */
function scoreText(score: number): string {
  if (score === Number.POSITIVE_INFINITY) return '+inf';
  return String(score);
}

/** What writes need beside what is written. */
export interface Target {
  readonly writer: KeysWriter;
  readonly keys: Keys;
  /** The moment of the namespace, in ms since the epoch: what expires is told from it. */
  readonly now: number;
}
