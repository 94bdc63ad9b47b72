import { onAbort } from '../../base/abort-watch.ts';
import { clearTimeout, monotonicMs, setImmediate, setTimeout } from '../../base/globals.ts';
import { LIMITS } from '../../domain/limits.ts';
import { hold, type RedisClient, sibling } from './connection/client.ts';
import { spreadOf } from './wire/encode.ts';

/** How much longer than its block a BLPOP may take, in ms, before its connection counts as dead. */
const GRACE_MS = 2_000;

/** Longest single block, in ms; a longer wait is made of several. */
const BLOCK_MS = 2 * LIMITS.floorMs;

/**
 * The bell of one worker: blocks on its own list, on a connection of its own. Only one BLPOP is
 * ever out; a wait that was given up leaves it, and the next wait takes it over, so that no token
 * is lost in between.
 */
export class Bell {
  readonly #client: RedisClient;
  readonly #key: string;
  #popping: Promise<void> | undefined;
  /** A token came while nobody waited. */
  #rung = false;
  /** Tasks that came in place of tokens. */
  readonly #handed: string[] = [];
  #waiting = 0;
  #closed = false;

  constructor(client: RedisClient, key: string) {
    this.#client = sibling(client);
    this.#key = key;
    this.#client.on('error', ignore);
    this.#client.on('connect', () => hold(this.#client, this.#waiting > 0));
  }

  /** A lease makes tokens that came before it worthless. */
  forget(): void {
    this.#rung = false;
  }

  /** A task that has come meanwhile. */
  handed(): string | undefined {
    return this.#handed.shift();
  }

  /** Answers with a sign, or with the text of a task that was handed over. */
  async wait(ms: number, signal: AbortSignal): Promise<'woken' | 'timeout' | { task: string }> {
    if (signal.aborted || this.#closed) return 'timeout';
    this.#waiting++;
    hold(this.#client, true);
    const until = monotonicMs() + ms;
    try {
      while (!this.#rung) {
        const task = this.handed();
        if (task !== undefined) return { task };
        const left = until - monotonicMs();
        if (left <= 0 || this.#isOver(signal)) return 'timeout';
        this.#popping ??= this.#pop(Math.min(left, BLOCK_MS));
        await firstOf(this.#popping, left, signal);
      }
      this.#rung = false;
      return 'woken';
    } finally {
      this.#waiting--;
      hold(this.#client, this.#waiting > 0);
    }
  }

  close(): void {
    this.#closed = true;
    this.#client.disconnect();
  }

  #isOver(signal: AbortSignal): boolean {
    return signal.aborted || this.#closed;
  }

  /** One BLPOP. A connection that broke or went silent ends it; the next one connects anew. */
  async #pop(ms: number): Promise<void> {
    let isOut = true;
    // When the event loop was held up, the answer lies in the socket: it is read before the check.
    const silent = setTimeout(
      () => setImmediate(() => isOut && this.#client.disconnect()),
      ms + GRACE_MS,
    );
    silent.unref();
    try {
      if (this.#client.status !== 'ready') await this.#client.connect();
      const seconds = Math.max(ms, 10) / 1_000;
      const popped = await this.#client.call('blpop', [this.#key, seconds.toFixed(3)]);
      const [, sign] = Array.isArray(popped) ? popped : [];
      if (sign === '1') this.#rung = true;
      else if (typeof sign === 'string') this.#handed.push(sign);
    } catch {
      // Unreachable: the worker finds out by its next lease. Not to spin meanwhile:
      // and each at a pace of its own, or all come back at once.
      if (!this.#closed) await pause(GRACE_MS * (0.15 + 0.2 * spreadOf(this.#key)));
    } finally {
      isOut = false;
      clearTimeout(silent);
      this.#popping = undefined;
    }
  }
}

/** Answers when the promise does, after `ms`, or when the signal aborts. */
function firstOf(promise: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      unwatch();
      resolve();
    };
    const timer = setTimeout(done, ms);
    const unwatch = onAbort([signal], done);
    void promise.then(done, done);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

function ignore(): void {
  // A failed block is tried again, or its worker's next lease tells of it.
}
