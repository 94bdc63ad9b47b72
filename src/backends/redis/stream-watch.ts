import { onAbort } from '../../base/abort-watch.ts';
import { clearTimeout, setTimeout } from '../../base/globals.ts';
import type { StreamPlace } from '../../domain/port/streams.ts';
import type { MessageListener } from './connection/connection.ts';
import type { Session } from './connection/session.ts';

/** A reader without a subscription polls at this interval, in ms. */
const POLL_MS = 250;

/** How long a stream without waiters stays subscribed, in ms, since a reader returns after each page. */
const LINGER_MS = 1_000;

/** A subscribed stream. */
interface Subscription {
  readonly channel: string;
  /** The next offset, as far as it is known. */
  next: number;
  /** Messages may have been missed, or there is no subscription: waiters read themselves. */
  isLost: boolean;
  /** Waiters: each checks this state, and leaves when it is done. */
  readonly waiting: Set<() => void>;
  linger: NodeJS.Timeout | undefined;
}

/** Waits for new entries of streams: one channel each, while it has waiters. */
export class StreamWatch implements MessageListener {
  readonly #session: Session;
  readonly #look: (id: string, name: string) => Promise<number>;
  readonly #subscriptions = new Map<string, Subscription>();

  /** `look` reads the next offset of a stream. */
  constructor(session: Session, look: (id: string, name: string) => Promise<number>) {
    this.#session = session;
    this.#look = look;
    session.subscriber.join(this);
  }

  /** See `StreamStore.waitForChunks`. */
  wait({ id, name, from }: StreamPlace, ms: number, signal: AbortSignal): Promise<void> {
    const { closing } = this.#session;
    if (signal.aborted || closing.signal.aborted) return Promise.resolve();
    const stream = this.#subscriptionOf(id, name);
    this.#session.subscriber.waits(1);
    return new Promise((resolve) => {
      const stop = (lingerMs: number): void => {
        clearTimeout(timer);
        unwatch();
        stream.waiting.delete(look);
        this.#session.subscriber.waits(-1);
        this.#scheduleLeave(stream, lingerMs);
        resolve();
      };
      const look = (): void => {
        if (stream.isLost || stream.next > from) stop(LINGER_MS);
      };
      const timer = setTimeout(stop, ms, LINGER_MS);
      const unwatch = onAbort([signal, closing.signal], () => stop(0));
      stream.waiting.add(look);
      look();
    });
  }

  received(channel: string, message: string): void {
    const stream = this.#subscriptions.get(channel);
    if (stream !== undefined) reach(stream, Number(message));
  }

  lost(): void {
    for (const stream of [...this.#subscriptions.values()]) this.#drop(stream);
  }

  close(): void {
    this.lost();
  }

  #subscriptionOf(id: string, name: string): Subscription {
    const channel = this.#session.keys.streamNotices(id, name);
    const known = this.#subscriptions.get(channel);
    if (known !== undefined) {
      clearTimeout(known.linger);
      return known;
    }
    const stream: Subscription = {
      channel,
      next: 0,
      isLost: false,
      waiting: new Set(),
      linger: undefined,
    };
    this.#subscriptions.set(channel, stream);
    void this.#open(stream, () => this.#look(id, name));
    return stream;
  }

  /** Reads what was written before the subscription. */
  async #open(stream: Subscription, look: () => Promise<number>): Promise<void> {
    try {
      const client = await this.#session.subscriber.open();
      await client.call('subscribe', [stream.channel]);
      // All waiters have left meanwhile.
      if (!this.#subscriptions.has(stream.channel)) this.#unsubscribe(stream);
      else reach(stream, await look());
    } catch {
      setTimeout(() => this.#drop(stream), POLL_MS).unref();
    }
  }

  #drop(stream: Subscription): void {
    clearTimeout(stream.linger);
    stream.isLost = true;
    if (this.#subscriptions.get(stream.channel) === stream)
      this.#subscriptions.delete(stream.channel);
    for (const look of [...stream.waiting]) look();
  }

  /** It has no waiters now. */
  #scheduleLeave(stream: Subscription, lingerMs: number): void {
    if (stream.waiting.size > 0 || stream.isLost) return;
    const leave = (): void => {
      if (stream.waiting.size > 0) return;
      this.#drop(stream);
      this.#unsubscribe(stream);
    };
    if (lingerMs === 0) leave();
    else stream.linger = setTimeout(leave, lingerMs).unref();
  }

  #unsubscribe({ channel }: Subscription): void {
    this.#session.subscriber.sendQuietly('unsubscribe', [channel]);
  }
}

/** Stores the next offset. */
function reach(stream: Subscription, next: number): void {
  if (!(next > stream.next)) return;
  stream.next = next;
  for (const look of [...stream.waiting]) look();
}
