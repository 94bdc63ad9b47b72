/** Streams of changes of one API. */
import type { Clock } from '../../base/time.ts';
import { ClosedError } from '../../domain/errors/errors.ts';
import { Refusal } from '../../operations/refusal.ts';
import type { View } from '../../operations/view.ts';
import { eventStream } from './event-stream.ts';
import { Hub, type ReadSubject } from './hub.ts';
import { subjectsIn } from './subject.ts';

/** Streams that are open at most, of one caller and in all: each is a connection that stays. */
const STREAMS = { ofOne: 200, ofAll: 2_000 } as const;

/** One request for a stream. */
export interface StreamWish {
  readonly view: View;
  /** Whose it is. */
  readonly caller: string;
  /** The id of the last frame that the reader has got. */
  readonly lastId: string;
  /** Asks again what the reader may. */
  readonly viewOf: () => Promise<View>;
}

/** Opens streams, and knows how many there are. */
export class LiveChanges {
  readonly #hub: Hub;
  readonly #clock: Clock;
  /** Aborts when the client closes. */
  readonly #closing: AbortSignal;
  /** How many are open, by caller. */
  readonly #open = new Map<string, number>();

  constructor(read: ReadSubject, clock: Clock, closing: AbortSignal) {
    this.#hub = new Hub(read, clock);
    this.#clock = clock;
    this.#closing = closing;
  }

  /**
   * A stream for one caller, until it goes, its server closes (the signal of its request aborts), or the client does.
   * A HEAD has no reader: nothing is opened.
   *
   * @throws {@link InvalidOptionError} for what cannot be watched; {@link Refusal} when too many watch;
   * {@link ClosedError} when the client is closed.
   */
  stream({ method, url, signal }: Request, wish: StreamWish): ReadableStream<Uint8Array> | null {
    const { view, caller, lastId, viewOf } = wish;
    const subjects = subjectsIn(url);
    if (this.#closing.aborted) throw new ClosedError('this Fairloom');
    if (method === 'HEAD') return null;
    this.#demandLimits(caller, subjects.length);
    this.#count(caller, 1);
    return eventStream({
      hub: this.#hub,
      clock: this.#clock,
      subjects,
      caller,
      view,
      lastId,
      stillMay: async () => view.isLike(await viewOf()),
      over: [signal, this.#closing],
      ended: () => this.#count(caller, -1),
    });
  }

  #demandLimits(caller: string, things: number): void {
    const own = this.#open.get(caller) ?? 0;
    const all = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    if (own < STREAMS.ofOne && all < STREAMS.ofAll && this.#hub.mayWatch(caller, things)) return;
    const detail = 'too many streams are open, or too much is watched by them';
    throw new Refusal('TOO_MANY_REQUESTS', detail, { 'retry-after': '10' });
  }

  #count(caller: string, more: number): void {
    const count = (this.#open.get(caller) ?? 0) + more;
    if (count > 0) this.#open.set(caller, count);
    else this.#open.delete(caller);
  }
}
