import { type RedisClient, sibling } from './client.ts';
import { hold } from './connection.ts';

/** Somebody who hears messages of channels. */
export interface Hearer {
  received(channel: string, message: string): void;
  /** The connection broke: messages may have been missed, and it listens to nothing any more. */
  lost(): void;
  /** Somebody waits for a message of this: it holds the process open. */
  readonly isWaiting: boolean;
}

/**
 * The connection on which this process hears messages, one for all that wait: made by the first wait,
 * and anew by the next one after it broke.
 */
export class Subscriber {
  readonly #like: RedisClient;
  readonly #hearers = new Set<Hearer>();
  #client: RedisClient | undefined;
  #opening: Promise<RedisClient> | undefined;

  constructor(like: RedisClient) {
    this.#like = like;
  }

  /** From now on it hears what is said on any channel. */
  join(hearer: Hearer): void {
    this.#hearers.add(hearer);
  }

  /** The connection; rejects when there is none to be had. */
  open(): Promise<RedisClient> {
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Sends a command when the connection is there; nobody waits for the answer. */
  sendQuietly(command: string, args: string[]): void {
    if (this.#client?.status === 'ready') this.#client.call(command, args).catch(ignore);
  }

  /** Holds the process open while anybody waits. */
  holdOpen(): void {
    if (this.#client === undefined) return;
    hold(
      this.#client,
      [...this.#hearers].some(({ isWaiting }) => isWaiting),
    );
  }

  close(): void {
    this.#client?.disconnect();
  }

  async #connect(): Promise<RedisClient> {
    const client = sibling(this.#like);
    this.#client = client;
    client.on('error', ignore);
    client.on('connect', () => this.holdOpen());
    client.on('message', (channel, message) => {
      for (const hearer of this.#hearers) hearer.received(String(channel), String(message));
    });
    client.on('end', () => this.#lost(client));
    await client.connect();
    return client;
  }

  #lost(client: RedisClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#opening = undefined;
    for (const hearer of this.#hearers) hearer.lost();
  }
}

function ignore(): void {
  // A connection that broke is told by the event 'end'.
}
