/** Streams of changes of one API. */
import type { Clock } from '../../base/time.ts';
import { Refusal } from '../calls/problem.ts';
import type { View } from '../calls/view.ts';
import { eventStream } from './event-stream.ts';
import { Hub, type ReadSubject } from './hub.ts';
import { subjectsIn } from './subject.ts';

/** Streams that one API has open at most: each is a connection that stays. */
const STREAMS = 2_000;

/** Opens streams, and knows how many there are. */
export class LiveChanges {
  readonly #hub: Hub;
  readonly #clock: Clock;
  #open = 0;

  constructor(read: ReadSubject, clock: Clock) {
    this.#hub = new Hub(read, clock);
    this.#clock = clock;
  }

  /**
   * A stream for one caller; `viewOf` tells again what it may.
   *
   * @throws {@link InvalidOptionError} for what cannot be watched; {@link Refusal} when too many watch.
   */
  stream(
    request: Request,
    given: Readonly<Record<string, unknown>>,
    { view, viewOf }: { readonly view: View; readonly viewOf: () => Promise<View> },
  ): ReadableStream<Uint8Array> {
    const { watch, last } = given;
    const subjects = subjectsIn(typeof watch === 'string' ? watch : undefined);
    if (this.#open >= STREAMS) {
      throw new Refusal('TOO_MANY_REQUESTS', 'too many streams are open', { 'retry-after': '10' });
    }
    this.#open++;
    return eventStream({
      hub: this.#hub,
      clock: this.#clock,
      subjects,
      view,
      lastId: request.headers.get('last-event-id') ?? (typeof last === 'string' ? last : ''),
      stillMay: async () => view.isLike(await viewOf()),
      ended: () => {
        this.#open--;
      },
    });
  }
}
