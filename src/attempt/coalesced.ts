/** Reports of a handler that need not be stored at once: buffered, and stored at most once a second. */
import type { Clock, Timer } from '../base/time.ts';
import { isOwn } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';

/** A store of texts. */
interface TextStore {
  write(text: string): Promise<void>;
  /** Resolves when the written texts are stored, or cannot be. */
  sent(): Promise<void>;
}

/** Parts of a buffer for one call of a handler under its lease. */
interface CoalescedParts {
  readonly clock: Clock;
  /** Opens the store for the first text that is stored. */
  readonly open: () => TextStore;
  /** Called when the buffer accepts no more texts. */
  readonly left: () => void;
}

/** Options of a buffer. */
export interface BufferOptions {
  /** Largest number of buffered texts, the newest ones, and of their characters. */
  readonly most: number;
  readonly mostChars: number;
  /** The first text is stored at once, not after a second. */
  readonly isEager: boolean;
  /** Called before each periodic store, until it returns false; true postpones the store. */
  readonly mustWait?: () => Promise<boolean>;
  /** Called once when a text cannot be stored; not for a lost lease, which is reported elsewhere. */
  readonly failed: (error: unknown) => void;
}

/** Texts of one call of a handler for one stream. */
export class Coalesced {
  readonly #parts: CoalescedParts;
  readonly #options: BufferOptions;
  readonly #texts: string[] = [];
  #chars = 0;
  #store: TextStore | undefined;
  #timer: Timer | undefined;
  /** Present while texts are being sent. */
  #sending: Promise<void> | undefined;
  #isOver = false;
  /** No reason to postpone is left. */
  #isFree = false;
  #hasFailed = false;

  constructor(parts: CoalescedParts, options: BufferOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Whether some of it was stored, or is being sent. */
  get isStored(): boolean {
    return this.#store !== undefined;
  }

  add(text: string): void {
    if (this.#isOver) return;
    const { most, mostChars, isEager } = this.#options;
    this.#texts.push(text);
    this.#chars += text.length;
    while (this.#texts.length > most || this.#chars > mostChars) {
      this.#chars -= this.#texts.shift()?.length ?? 0;
    }
    if (this.#timer !== undefined) return;
    if (isEager && this.#sending === undefined) void this.#send();
    this.#timer = this.#soon();
  }

  /** Drops the texts that are not being sent. */
  drop(): void {
    this.#texts.length = 0;
    this.#chars = 0;
  }

  /** Stores the buffered texts; `undefined` when there is nothing to wait for. */
  store(): Promise<void> | undefined {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#texts.length === 0) return this.#sending;
    if (this.#sending === undefined) return this.#send();
    return this.#sending.then(() => this.store());
  }

  /** The handler has ended. Resolves when the texts are stored, if `isKept`. */
  ended(isKept: boolean): Promise<void> | undefined {
    this.#isOver = true;
    this.#parts.left();
    if (!isKept) this.drop();
    return this.store();
  }

  #soon(): Timer {
    return this.#parts.clock.setTimer(LIMITS.reportMs, () => {
      this.#timer = undefined;
      if (this.#texts.length === 0) return;
      if (!this.#isFree && this.#options.mustWait !== undefined) {
        this.#timer = this.#soon();
        void this.#free(this.#options.mustWait);
        return;
      }
      // During an outage, texts stay in the buffer while others are being sent.
      if (this.#sending === undefined) void this.#send();
      if (this.#texts.length > 0 || this.#options.isEager) this.#timer = this.#soon();
    });
  }

  /** If the call fails, the next store calls again. */
  async #free(mustWait: () => Promise<boolean>): Promise<void> {
    this.#isFree = !(await mustWait().catch(() => true));
    if (!this.#isFree || this.#isOver || this.#texts.length === 0) return;
    if (this.#sending === undefined) void this.#send();
  }

  #send(): Promise<void> {
    this.#store ??= this.#parts.open();
    for (const text of this.#texts.splice(0)) {
      this.#store.write(text).catch((error: unknown) => this.#failed(error));
    }
    this.#chars = 0;
    this.#sending = this.#store.sent().then(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  #failed(error: unknown): void {
    if (this.#hasFailed || isOwn(error, 'LEASE_LOST')) return;
    this.#hasFailed = true;
    this.#options.failed(error);
  }
}
