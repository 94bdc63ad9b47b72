import { linkAbort, onAbort } from '../../base/abort-watch.ts';
import { clearTimeout, monotonicMs, nextTick, setTimeout } from '../../base/globals.ts';
import type { TaskStatus } from '../../domain/task/task.ts';
import type { MessageListener } from './connection/connection.ts';
import type { Session } from './connection/session.ts';
import {
  decodeNotice,
  decodeStatus,
  flat,
  type Notice,
  STATUS_FIELDS,
  text,
} from './wire/decode.ts';

/** First pause between reads without a subscription, in ms; it doubles. */
const POLL_MS = 250;
const POLL_MAX_MS = 5_000;

/** Tasks per script. */
const WATCH_STEP = 250;

/** The script's code for a task that has not ended. */
const WILL_NOTIFY = 8;

/** The end of a task; `undefined`: the caller has to read it. */
type Ended = TaskStatus | undefined;

/** The reply to a request: a message will report the end, there is no subscription, or it has ended. */
type Asked = 'will-notify' | 'silent' | { readonly ended: Ended };

/** Tasks requested in this tick of the event loop, each with its index. */
interface Asking {
  readonly places: Map<string, number>;
  readonly answers: Promise<readonly Asked[]>;
}

/**
 * Waits for the ends of tasks: one channel per process, opened by the first wait. A message contains the
 * end of the task, unless that is long. Messages only save time; without them a wait polls.
 */
export class EndWatch implements MessageListener {
  readonly #session: Session;
  readonly #waiters = new Map<string, Set<(ended: Ended) => void>>();
  #asking: Asking | undefined;
  /** The channel, once it is subscribed. */
  #channel: Promise<string> | undefined;
  /** Its name. */
  #name: string | undefined;

  constructor(session: Session) {
    this.#session = session;
    session.subscriber.join(this);
  }

  /** Answers when the task may have ended, after `ms`, or when the signal aborts. */
  async wait(id: string, ms: number, signal: AbortSignal): Promise<Ended> {
    const { closing } = this.#session;
    if (signal.aborted || closing.signal.aborted) return undefined;
    const link = linkAbort(signal, closing.signal);
    const either = link.signal;
    const until = monotonicMs() + ms;
    const notice = this.#listen(id);
    try {
      for (let pause = POLL_MS; ; pause = Math.min(2 * pause, POLL_MAX_MS)) {
        const asked = await this.#ask(id);
        if (typeof asked !== 'string') return asked.ended;
        const left = until - monotonicMs();
        if (left <= 0 || either.aborted) return undefined;
        const isNotified = await notice.ring(
          asked === 'will-notify' ? left : Math.min(left, pause),
          either,
        );
        if (isNotified || either.aborted) return notice.ended();
      }
    } finally {
      notice.stop();
      link.unlink();
    }
  }

  received(channel: string, message: string): void {
    if (channel === this.#name) this.#notify(decodeNotice(message));
  }

  /** All waiters read themselves. */
  lost(): void {
    this.#channel = undefined;
    this.close();
  }

  close(): void {
    for (const id of [...this.#waiters.keys()]) this.#notify({ id });
  }

  /** Requests of one tick share a script, up to its limit. */
  async #ask(id: string): Promise<Asked> {
    if (this.#asking === undefined || this.#asking.places.size >= WATCH_STEP) {
      this.#asking = this.#gather();
    }
    const { places, answers } = this.#asking;
    const at = places.get(id) ?? places.size;
    places.set(id, at);
    return (await answers)[at] ?? LOOK;
  }

  #gather(): Asking {
    const places = new Map<string, number>();
    const answers = endOfTick().then(() => {
      this.#asking = undefined;
      return this.#watch([...places.keys()]);
    });
    return { places, answers };
  }

  async #watch(ids: readonly string[]): Promise<readonly Asked[]> {
    const channel = await this.#subscribe().catch(() => undefined);
    if (this.#session.closing.signal.aborted) return [];
    const args = [channel ?? '', ...ids];
    const fields = flat(await this.#session.run('watch', args));
    const answers: Asked[] = [];
    for (let at = 0; at < fields.length; at += STATUS_FIELDS) {
      if (Number(fields[at]) !== WILL_NOTIFY) answers.push({ ended: decodeStatus(fields, at) });
      else answers.push(channel === undefined ? 'silent' : 'will-notify');
    }
    return answers;
  }

  #listen(id: string): {
    ring(ms: number, signal: AbortSignal): Promise<boolean>;
    ended(): Ended;
    stop(): void;
  } {
    let isNotified = false;
    let known: Ended;
    let wake: (() => void) | undefined;
    const notify = (ended: Ended): void => {
      isNotified = true;
      known ??= ended;
      wake?.();
    };
    const waiters = this.#waiters.get(id) ?? new Set();
    this.#waiters.set(id, waiters.add(notify));
    this.#session.subscriber.waits(1);
    return {
      ring: (ms, signal) =>
        new Promise((resolve) => {
          const done = (): void => {
            clearTimeout(timer);
            unwatch();
            wake = undefined;
            resolve(isNotified);
          };
          const timer = setTimeout(done, ms);
          const unwatch = onAbort([signal], done);
          wake = done;
          if (isNotified || signal.aborted) done();
        }),
      ended: () => known,
      stop: () => {
        waiters.delete(notify);
        if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
        this.#session.subscriber.waits(-1);
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
    const client = await this.#session.subscriber.open();
    const number = text(await client.call('client', ['ID']));
    const channel = this.#session.keys.notices(number);
    this.#name = channel;
    await client.call('subscribe', [channel]);
    return channel;
  }

  #notify({ id, ended }: Notice): void {
    for (const notify of [...(this.#waiters.get(id) ?? [])]) notify(ended);
  }
}

/** The backend closes: no more requests. */
const LOOK: Asked = { ended: undefined };

function endOfTick(): Promise<void> {
  return new Promise((resolve) => {
    nextTick(resolve);
  });
}
