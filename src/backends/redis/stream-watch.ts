import { onAbort } from '../../base/abort-watch.ts';
import { clearTimeout, setTimeout } from '../../base/globals.ts';
import type { StreamPlace } from '../../domain/port/streams.ts';
import type { Hearer } from './connection/connection.ts';
import type { Session } from './connection/session.ts';

/** A reader without a subscription polls at this interval, in ms. */
const POLL_MS = 250;

/** How long a stream without waiters stays subscribed, in ms, since a reader returns after each page. */
const LINGER_MS = 1_000;

/** A subscribed stream. */
interface Ear {
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
export class StreamWatch implements Hearer {
  readonly #session: Session;
  readonly #look: (id: string, name: string) => Promise<number>;
  readonly #ears = new Map<string, Ear>();

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
    const ear = this.#earOf(id, name);
    this.#session.subscriber.waits(1);
    return new Promise((resolve) => {
      const stop = (lingerMs: number): void => {
        clearTimeout(timer);
        unwatch();
        ear.waiting.delete(look);
        this.#session.subscriber.waits(-1);
        this.#rest(ear, lingerMs);
        resolve();
      };
      const look = (): void => {
        if (ear.isLost || ear.next > from) stop(LINGER_MS);
      };
      const timer = setTimeout(stop, ms, LINGER_MS);
      const unwatch = onAbort([signal, closing.signal], () => stop(0));
      ear.waiting.add(look);
      look();
    });
  }

  received(channel: string, message: string): void {
    const ear = this.#ears.get(channel);
    if (ear !== undefined) reach(ear, Number(message));
  }

  lost(): void {
    for (const ear of [...this.#ears.values()]) this.#drop(ear);
  }

  close(): void {
    this.lost();
  }

  #earOf(id: string, name: string): Ear {
    const channel = this.#session.keys.streamNotices(id, name);
    const known = this.#ears.get(channel);
    if (known !== undefined) {
      clearTimeout(known.linger);
      return known;
    }
    const ear: Ear = { channel, next: 0, isLost: false, waiting: new Set(), linger: undefined };
    this.#ears.set(channel, ear);
    void this.#open(ear, () => this.#look(id, name));
    return ear;
  }

  /** Reads what was written before the subscription. */
  async #open(ear: Ear, look: () => Promise<number>): Promise<void> {
    try {
      const client = await this.#session.subscriber.open();
      await client.call('subscribe', [ear.channel]);
      // All waiters have left meanwhile.
      if (!this.#ears.has(ear.channel)) this.#unsubscribe(ear);
      else reach(ear, await look());
    } catch {
      setTimeout(() => this.#drop(ear), POLL_MS).unref();
    }
  }

  #drop(ear: Ear): void {
    clearTimeout(ear.linger);
    ear.isLost = true;
    if (this.#ears.get(ear.channel) === ear) this.#ears.delete(ear.channel);
    for (const look of [...ear.waiting]) look();
  }

  /** It has no waiters now. */
  #rest(ear: Ear, lingerMs: number): void {
    if (ear.waiting.size > 0 || ear.isLost) return;
    const leave = (): void => {
      if (ear.waiting.size > 0) return;
      this.#drop(ear);
      this.#unsubscribe(ear);
    };
    if (lingerMs === 0) leave();
    else ear.linger = setTimeout(leave, lingerMs).unref();
  }

  #unsubscribe({ channel }: Ear): void {
    this.#session.subscriber.sendQuietly('unsubscribe', [channel]);
  }
}

/** Stores the next offset. */
function reach(ear: Ear, next: number): void {
  if (!(next > ear.next)) return;
  ear.next = next;
  for (const look of [...ear.waiting]) look();
}
