/** What a handler tells that need not be stored at once: gathered, and stored at most once a second. */
import type { Clock, Timer } from '../base/time.ts';
import { isOwn } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';

/** Where texts are stored. */
interface TextStore {
  write(text: string): Promise<void>;
  /** Fulfilled once what was written is stored, or cannot be. */
  sent(): Promise<void>;
}

/** What a call of a handler gathers under its lease. */
interface CoalescedParts {
  readonly clock: Clock;
  /** Opened for the first text that is stored. */
  readonly open: () => TextStore;
  /** It takes no more texts. */
  readonly left: () => void;
}

/** How it gathers. */
export interface Habits {
  /** Most texts that are kept, the newest; and their characters. */
  readonly most: number;
  readonly mostChars: number;
  /** The first text is stored at once, and not after a second. */
  readonly isEager: boolean;
  /** Asked before anything is stored by the clock, until it says false. */
  readonly mustWait?: () => Promise<boolean>;
  /** Is told once that something cannot be stored, unless the lease is lost, which is told elsewhere. */
  readonly failed: (error: unknown) => void;
}

/** Texts of one call of a handler, on their way to one stream. */
export class Coalesced {
  readonly #parts: CoalescedParts;
  readonly #habits: Habits;
  readonly #texts: string[] = [];
  #chars = 0;
  #store: TextStore | undefined;
  #timer: Timer | undefined;
  /** Present while texts are on their way. */
  #sending: Promise<void> | undefined;
  #isOver = false;
  /** Nothing holds it any more. */
  #isFree = false;
  #hasFailed = false;

  constructor(parts: CoalescedParts, habits: Habits) {
    this.#parts = parts;
    this.#habits = habits;
  }

  /** Some of it was stored, or is on its way. */
  get isStored(): boolean {
    return this.#store !== undefined;
  }

  add(text: string): void {
    if (this.#isOver) return;
    const { most, mostChars, isEager } = this.#habits;
    this.#texts.push(text);
    this.#chars += text.length;
    while (this.#texts.length > most || this.#chars > mostChars) {
      this.#chars -= this.#texts.shift()?.length ?? 0;
    }
    if (this.#timer !== undefined) return;
    if (isEager && this.#sending === undefined) void this.#send();
    this.#timer = this.#soon();
  }

  /** What is not on its way is not stored. */
  drop(): void {
    this.#texts.length = 0;
    this.#chars = 0;
  }

  /** Stores what there is; `undefined` when there is nothing to wait for. */
  store(): Promise<void> | undefined {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#texts.length === 0) return this.#sending;
    if (this.#sending === undefined) return this.#send();
    return this.#sending.then(() => this.store());
  }

  /** The handler has ended. Fulfilled once it is stored, if it is to be. */
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
      if (!this.#isFree && this.#habits.mustWait !== undefined) {
        this.#timer = this.#soon();
        void this.#free(this.#habits.mustWait);
        return;
      }
      // In an outage nothing piles up behind what is on its way.
      if (this.#sending === undefined) void this.#send();
      if (this.#texts.length > 0 || this.#habits.isEager) this.#timer = this.#soon();
    });
  }

  /** Where it cannot be told, it is asked again. */
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
    this.#habits.failed(error);
  }
}
