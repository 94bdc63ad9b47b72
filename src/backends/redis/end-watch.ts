import { linkAbort, onAbort } from '../../base/abort-watch.ts';
import { clearTimeout, monotonicMs, setTimeout } from '../../base/globals.ts';
import { hold, type RedisClient, sibling } from './client.ts';
import { flat, text } from './decode.ts';
import type { Session } from './session.ts';

/** First pause between looks when nothing can be told to us, in ms; it doubles. */
const POLL_MS = 250;
const POLL_MAX_MS = 5_000;

/**
 * Waits for the ends of tasks: one connection and one channel per process, made by the first wait.
 * Messages are an accelerator only; without them a wait looks again by itself.
 */
export class EndWatch {
  readonly #session: Session;
  readonly #waiters = new Map<string, Set<() => void>>();
  #client: RedisClient | undefined;
  /** The channel, once it is subscribed. */
  #channel: Promise<string> | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Answers when the task may have ended, after `ms`, or when the signal aborts. */
  async wait(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const { closing } = this.#session;
    if (signal.aborted || closing.signal.aborted) return;
    const link = linkAbort(signal, closing.signal);
    const either = link.signal;
    const until = monotonicMs() + ms;
    const bell = this.#listen(id);
    try {
      for (let pause = POLL_MS; ; pause = Math.min(2 * pause, POLL_MAX_MS)) {
        const told = await this.#watch(id);
        if (told === 'ended' || either.aborted) return;
        const left = until - monotonicMs();
        if (left <= 0) return;
        const rang = await bell.ring(told === 'will-tell' ? left : Math.min(left, pause), either);
        if (rang || either.aborted) return;
      }
    } finally {
      bell.stop();
      link.unlink();
    }
  }

  close(): void {
    this.#client?.disconnect();
    for (const waiters of this.#waiters.values()) for (const tell of [...waiters]) tell();
  }

  async #watch(id: string): Promise<'ended' | 'will-tell' | 'silent'> {
    const channel = await this.#subscribe().catch(() => undefined);
    if (this.#session.closing.signal.aborted) return 'ended';
    const [ended] = flat(await this.#session.run('watch', [id, channel ?? '']));
    if (Number(ended) === 1) return 'ended';
    return channel === undefined ? 'silent' : 'will-tell';
  }

  #listen(id: string): {
    ring(ms: number, signal: AbortSignal): Promise<boolean>;
    stop(): void;
  } {
    let rung = false;
    let wake: (() => void) | undefined;
    const tell = (): void => {
      rung = true;
      wake?.();
    };
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(tell));
    this.#holdOpen();
    return {
      ring: (ms, signal) =>
        new Promise((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            unwatch();
            wake = undefined;
            resolve(rung);
          };
          const timer = setTimeout(done, ms);
          const unwatch = onAbort([signal], done);
          wake = done;
          if (rung || signal.aborted) done();
        }),
      stop: () => {
        waiters.delete(tell);
        if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
        this.#holdOpen();
      },
    };
  }

  #subscribe(): Promise<string> {
    this.#channel ??= this.#open().catch((error: unknown) => {
      this.#channel = undefined;
      throw error;
    });
    return this.#channel;
  }

  /** The connection's own number names the channel, so that no two processes share one. */
  async #open(): Promise<string> {
    const client = sibling(this.#session.client);
    this.#client = client;
    client.on('error', ignore);
    client.on('connect', () => this.#holdOpen());
    client.on('message', (_channel, id) => this.#tell(String(id)));
    client.on('end', () => this.#lost(client));
    await client.connect();
    const number = text(await client.call('client', ['ID']));
    const channel = this.#session.keys.told(number);
    await client.call('subscribe', [channel]);
    return channel;
  }

  #tell(id: string): void {
    for (const tell of [...(this.#waiters.get(id) ?? [])]) tell();
  }

  /** Messages may have been missed: everybody looks for itself. */
  #lost(client: RedisClient): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#channel = undefined;
    for (const id of [...this.#waiters.keys()]) this.#tell(id);
  }

  #holdOpen(): void {
    if (this.#client !== undefined) hold(this.#client, this.#waiters.size > 0);
  }
}

function ignore(): void {
  // A lost subscription is told by the event 'end'.
}
