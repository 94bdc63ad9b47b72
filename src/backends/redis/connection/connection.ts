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

/** Longest time that a call may stay unanswered, in ms; the server, or the way to it, is gone. */
const ANSWER_MS = 5_000;
/** How often that is looked at, in ms. */
const LOOK_MS: number = ANSWER_MS / 4;

/**
 * One connection for commands. It opens when a call needs it, also anew after it broke, and holds
 * the process only while a call is pending. A call that got no answer fails; it is never sent
 * again from here, since only the caller knows whether that is safe.
 */
export class Connection {
  readonly #client: RedisClient;
  /** False for a client that the user gave us: that one is neither unreferenced nor closed. */
  readonly #owned: boolean;
  #pending = 0;
  #opening: Promise<void> | undefined;
  /** Runs while a call is pending; notices a server that has gone silent. */
  #watchdog: NodeJS.Timeout | undefined;
  #answeredAt = 0;
  /** When the watchdog last looked. */
  #lookedAt = 0;
  /** What went wrong since the connection was last asked for: ioredis tells it by an event only. */
  #trouble: unknown;
  /** The connection on which the server said that it has no functions: it is not asked again on that one. */
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

  /** Whether it goes to a Cluster, as one that follows keys from node to node. */
  get isCluster(): boolean {
    return isCluster(this.#client);
  }

  /**
   * Asks for an answer, and gives who gave it. Of a Cluster that is the node that has these keys; it refuses
   * while their slot is being moved, which the whole client would say after all of its redirections.
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

  /** Sends one command to the node that {@link ping} gave. */
  of(operation: string, node: RedisClient, command: string): Promise<unknown> {
    return this.#ask(operation, () => node.call(command, []));
  }

  /** Sends one command. */
  command(operation: string, command: string, args: ScriptArgument[]): Promise<unknown> {
    return this.#ask(operation, () => this.#client.call(command, args));
  }

  /** Holds the process open until the answer is there, which is the server's or what went wrong. */
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

  /** Walks over the keys that match a pattern, some at a time, on every server that holds any. */
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
   * Runs a script, which the server is taught when it does not know it.
   *
   * @param given - how many keys there are, the keys, and the arguments.
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
   * Calls a function of a library; `undefined` when the server did not let it begin.
   *
   * @param given - the name of the function, then as {@link Connection.run} takes them.
   */
  async call(operation: string, library: Library, given: ScriptArgument[]): Promise<unknown> {
    if (this.#withoutFunctions === streamOf(this.#client)) return undefined;
    // As `#ask`, but that each task comes by here: a call costs one promise, and no function.
    this.#enter();
    try {
      if (this.#client.status !== 'ready') await this.#open();
      return await this.#client.call('FCALL', given);
    } catch (cause) {
      return await this.#taught(operation, library, given, cause);
    } finally {
      this.#leave();
    }
  }

  /** Once more, if the server did not know the function; nothing, when it does not let it begin. */
  async #taught(
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

  /** Again changes nothing: several clients may share a backend. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#watchdog);
    if (this.#owned) this.#client.disconnect();
  }

  /** Waits for a connection that is being made, or makes one. */
  async #open(): Promise<void> {
    if (!this.#owned) return;
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  /** Fails with what was wrong, not with ioredis's "Connection is closed". */
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
    // A timer per busy spell, not per call: calls are answered in order.
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
    // The event loop was blocked: the answer may lie in the socket, unread.
    if (late || now - this.#answeredAt <= ANSWER_MS) return;
    this.#answeredAt = now;
    if (this.#owned) this.#client.disconnect();
  }
}

/** Stands for one connection of a client: it has another after it broke. Of a Cluster it is the client. */
function streamOf(client: RedisClient): object {
  return (client as { stream?: object }).stream ?? client;
}

/** Lets the process end while the connection is idle, or holds it while a call is pending. */
export function hold(client: RedisClient, isOn: boolean): void {
  const { stream } = client as { stream?: { ref?: () => void; unref?: () => void } };
  if (isOn) stream?.ref?.();
  else stream?.unref?.();
}

/** Receives messages of channels. */
export interface Hearer {
  received(channel: string, message: string): void;
  /** The connection broke: messages may have been missed, and it listens to nothing any more. */
  lost(): void;
}

/**
 * The connection on which this process hears messages, one for all that wait: made by the first wait,
 * and anew by the next one after it broke.
 */
export class Subscriber {
  readonly #like: RedisClient;
  readonly #hearers = new Set<Hearer>();
  #waiting = 0;
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

  /** Sends a command when the connection is there, and ignores the answer. */
  sendQuietly(command: string, args: string[]): void {
    if (this.#client?.status === 'ready') this.#client.call(command, args).catch(ignore);
  }

  /** One more waits for a message, or one less: the process is held open while any does. */
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
  // A connection that broke is told by the event 'end'.
}
