import { clearInterval, monotonicMs, setInterval } from '../../../base/globals.ts';
import { ClosedError } from '../../../domain/errors/errors.ts';
import { flat, text } from '../wire/decode.ts';
import type { Script, ScriptArgument } from '../wire/script.ts';
import type { Library } from '../wire/scripts.ts';
import { isCluster, nodesOf, type RedisClient, sibling } from './client.ts';
import {
  failure,
  isFunctionRefused,
  isSlotMoving,
  isUnknownCommand,
  isUnknownFunction,
  isUnknownScript,
} from './failures.ts';
import { loadLibrary, otherLibraries } from './libraries.ts';

/** Longest time without an answer, in ms; beyond it the server, or the network, is down. */
const ANSWER_MS = 5_000;
/** Interval of that check, in ms. */
const LOOK_MS: number = ANSWER_MS / 4;

/**
 * One connection for commands. It opens when a call needs it, also again after it broke, and keeps
 * the process alive only while a call is pending. A call without an answer fails; it is never sent
 * again from here, since only the caller knows whether that is safe.
 */
export class Connection {
  readonly #client: RedisClient;
  /** False for a client of the user, which is neither unreferenced nor closed. */
  readonly #owned: boolean;
  #pending = 0;
  #opening: Promise<void> | undefined;
  /** Runs while a call is pending; detects a silent server. */
  #watchdog: NodeJS.Timeout | undefined;
  #answeredAt = 0;
  /** Last run of the watchdog. */
  #lookedAt = 0;
  /** Error since the connection was last requested: ioredis reports it by an event only. */
  #trouble: unknown;
  /** The connection on which the server has answered that it has no functions: they are not tried on it again. */
  #withoutFunctions: object | undefined;
  #closed = false;

  constructor(client: RedisClient, owned: boolean) {
    this.#client = client;
    this.#owned = owned;
    // Errors reach the calls; without a listener ioredis would print them.
    if (owned) {
      client.on('error', (error) => {
        this.#trouble = error;
      });
    }
    if (owned) client.on('connect', () => hold(client, this.#pending > 0));
  }

  /** Whether it connects to a Cluster, by a client that follows keys between nodes. */
  get isCluster(): boolean {
    return isCluster(this.#client);
  }

  /**
   * Sends a ping, and answers the node that replied. For a Cluster the node that has these keys; it refuses
   * while their slot is moving, which the whole client would report only after all of its redirections.
   */
  async ping(operation: string, keys: readonly string[]): Promise<RedisClient> {
    await this.command(operation, 'PING', []);
    if (!this.isCluster) return this.#client;
    const asked = nodesOf(this.#client).map(async (node) => {
      try {
        await node.call('EXISTS', [...keys]);
        return node;
      } catch (cause) {
        if (isSlotMoving(cause)) return failure(operation, cause);
        throw cause;
      }
    });
    const answer = await Promise.any(asked).catch(async () => {
      await this.command(operation, 'EXISTS', [...keys]);
      return this.#client;
    });
    if (answer instanceof Error) throw answer;
    return answer;
  }

  /** Sends one command to the node that {@link ping} returned. */
  of(operation: string, node: RedisClient, command: string): Promise<unknown> {
    return this.#ask(operation, () => node.call(command, []));
  }

  /** Sends one command. */
  command(operation: string, command: string, args: ScriptArgument[]): Promise<unknown> {
    return this.#ask(operation, () => this.#client.call(command, args));
  }

  /** Keeps the process alive until the answer or an error. */
  async #ask<Answer>(operation: string, call: () => Promise<Answer>): Promise<Answer> {
    this.#enter();
    try {
      if (this.#client.status !== 'ready') await this.#open();
      return await call();
    } catch (cause) {
      throw failure(operation, cause);
    } finally {
      this.#leave();
    }
  }

  /** Scans the keys that match a pattern, some at a time, on every server with keys. */
  async *keys(operation: string, pattern: string, count: number): AsyncGenerator<string[]> {
    await this.command(operation, 'PING', []);
    for (const node of nodesOf(this.#client)) {
      let cursor = '0';
      do {
        const args = [cursor, 'MATCH', pattern, 'COUNT', count];
        const [next, found] = flat(await this.#ask(operation, () => node.call('SCAN', args)));
        yield flat(found).map(text);
        cursor = text(next);
      } while (cursor !== '0');
    }
  }

  /**
   * Runs a script, and loads it first if the server does not have it.
   *
   * @param given - Number of keys, the keys, and the arguments.
   */
  run(operation: string, script: Script, given: readonly ScriptArgument[]): Promise<unknown> {
    return this.#ask(operation, () =>
      this.#client.call('EVALSHA', [script.sha, ...given]).catch((cause: unknown) => {
        if (isUnknownScript(cause)) return this.#client.call('EVAL', [script.text, ...given]);
        throw cause;
      }),
    );
  }

  /**
   * Calls a function of a library; `undefined` when the server refused to start it.
   *
   * @param given - Name of the function, then as for {@link Connection.run}.
   */
  async call(operation: string, library: Library, given: ScriptArgument[]): Promise<unknown> {
    if (this.#withoutFunctions === streamOf(this.#client)) return undefined;
    // As `#ask`, inlined: every task passes here, and a call costs one promise and no closure.
    this.#enter();
    try {
      if (this.#client.status !== 'ready') await this.#open();
      return await this.#client.call('FCALL', given);
    } catch (cause) {
      return await this.#loadAndCall(operation, library, given, cause);
    } finally {
      this.#leave();
    }
  }

  /** Calls again if the server did not have the function; `undefined` if it refuses to start it. */
  async #loadAndCall(
    operation: string,
    library: Library,
    given: ScriptArgument[],
    cause: unknown,
  ): Promise<unknown> {
    let problem = cause;
    if (isUnknownFunction(cause)) {
      try {
        await loadLibrary(this.#client, library);
        return await this.#client.call('FCALL', given);
      } catch (again) {
        if (isUnknownFunction(again)) return undefined;
        problem = again;
      }
    }
    if (!isFunctionRefused(problem)) throw failure(operation, problem);
    if (isUnknownCommand(problem)) this.#withoutFunctions = streamOf(this.#client);
    return undefined;
  }

  /** See {@link otherLibraries}. */
  otherLibraries(operation: string, library: Library, remove: boolean): Promise<readonly string[]> {
    return this.#ask(operation, () => otherLibraries(this.#client, library, remove));
  }

  /** May be called again: several clients may share a backend. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#watchdog);
    if (this.#owned) this.#client.disconnect();
  }

  /** Waits for a pending connection, or opens one. */
  async #open(): Promise<void> {
    if (!this.#owned) return;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  /** Fails with the actual error, not with ioredis's "Connection is closed". */
  async #connect(): Promise<void> {
    this.#trouble = undefined;
    try {
      await this.#client.connect();
    } catch (cause) {
      throw this.#trouble ?? cause;
    }
  }

  #enter(): void {
    if (this.#closed) throw new ClosedError('the backend');
    if (this.#pending++ > 0) return;
    this.#answeredAt = monotonicMs();
    if (this.#owned) hold(this.#client, true);
    // One timer per busy period, not per call: calls are answered in order.
    if (this.#watchdog === undefined) this.#lookedAt = this.#answeredAt;
    this.#watchdog ??= setInterval(() => this.#watch(), LOOK_MS);
  }

  #leave(): void {
    this.#answeredAt = monotonicMs();
    if (--this.#pending > 0) return;
    if (this.#owned) hold(this.#client, false);
    this.#watchdog?.unref();
  }

  #watch(): void {
    const now = monotonicMs();
    const late = now - this.#lookedAt > 2 * LOOK_MS;
    this.#lookedAt = now;
    if (this.#pending === 0) {
      clearInterval(this.#watchdog);
      this.#watchdog = undefined;
      return;
    }
    // The event loop was blocked: the answer may be in the socket, unread.
    if (late || now - this.#answeredAt <= ANSWER_MS) return;
    this.#answeredAt = now;
    if (this.#owned) this.#client.disconnect();
  }
}

/** Identifies one connection of a client: after a break it has another. For a Cluster it is the client. */
function streamOf(client: RedisClient): object {
  return (client as { stream?: object }).stream ?? client;
}

/** Lets the process end while the connection is idle, or keeps it alive while a call is pending. */
export function hold(client: RedisClient, isOn: boolean): void {
  const { stream } = client as { stream?: { ref?: () => void; unref?: () => void } };
  if (isOn) stream?.ref?.();
  else stream?.unref?.();
}

/** Receives messages of channels. */
export interface MessageListener {
  received(channel: string, message: string): void;
  /** The connection broke: messages may have been missed, and all subscriptions are gone. */
  lost(): void;
}

/**
 * The connection that receives messages, one for all waits: opened by the first wait, and again by
 * the next one after it broke.
 */
export class Subscriber {
  readonly #like: RedisClient;
  readonly #hearers = new Set<MessageListener>();
  #waiting = 0;
  #client: RedisClient | undefined;
  #opening: Promise<RedisClient> | undefined;

  constructor(like: RedisClient) {
    this.#like = like;
  }

  /** Adds a receiver of all messages. */
  join(hearer: MessageListener): void {
    this.#hearers.add(hearer);
  }

  /** The connection; rejects when it cannot be opened. */
  open(): Promise<RedisClient> {
    this.#opening ??= this.#connect().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Sends a command when the connection is open, and ignores the answer. */
  sendQuietly(command: string, args: string[]): void {
    if (this.#client?.status === 'ready') this.#client.call(command, args).catch(ignore);
  }

  /** Changes the number of waits: the process is kept alive while there is any. */
  waits(change: 1 | -1): void {
    this.#waiting += change;
    this.#holdOpen();
  }

  close(): void {
    this.#client?.disconnect();
  }

  #holdOpen(): void {
    if (this.#client !== undefined) hold(this.#client, this.#waiting > 0);
  }

  async #connect(): Promise<RedisClient> {
    const client = sibling(this.#like);
    this.#client = client;
    client.on('error', ignore);
    client.on('connect', () => this.#holdOpen());
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
  // The event 'end' reports a broken connection.
}
