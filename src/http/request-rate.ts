/** Requests of each client, counted. */
import { type Clock, elapsedMs } from '../base/time.ts';
import { Refusal } from '../operations/refusal.ts';

/** Clients that are counted at once; the one that was heard last longest ago goes. */
const CLIENTS = 10_000;

/** Lets each client make so many requests in a time: a bucket that fills evenly. */
export class RequestRate {
  readonly #limit: number;
  readonly #perMs: number;
  readonly #clock: Clock;
  /** What each may still take, and when that was; the one that was heard last stands last. */
  readonly #clients = new Map<string, { readonly left: number; readonly at: number }>();

  constructor({ limit, perMs }: { readonly limit: number; readonly perMs: number }, clock: Clock) {
    this.#limit = limit;
    this.#perMs = perMs;
    this.#clock = clock;
  }

  /** @throws {@link Refusal} with the seconds to wait. */
  demand(client: string): void {
    const now = elapsedMs(this.#clock);
    const before = this.#clients.get(client) ?? { left: this.#limit, at: now };
    const filled = ((now - before.at) * this.#limit) / this.#perMs;
    const left = Math.min(this.#limit, before.left + Math.max(0, filled));
    const isLet = left >= 1;
    this.#clients.delete(client);
    this.#clients.set(client, { left: isLet ? left - 1 : left, at: now });
    if (this.#clients.size > CLIENTS) {
      const [oldest] = this.#clients.keys();
      if (oldest !== undefined) this.#clients.delete(oldest);
    }
    if (isLet) return;
    const waitMs = ((1 - left) * this.#perMs) / this.#limit;
    const retryAfter = String(Math.ceil(waitMs / 1_000));
    throw new Refusal('TOO_MANY_REQUESTS', 'this client asks too often', {
      'retry-after': retryAfter,
    });
  }
}
