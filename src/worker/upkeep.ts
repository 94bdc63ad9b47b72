/** What a worker does while tasks run in it: their leases are extended, and the backend is kept up. */

import type { Attempt } from '../attempt/attempt.ts';
import { inChunks } from '../base/chunks.ts';
import { pauseMs } from '../base/pause.ts';
import { elapsedMs, type Timer } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import type { ExtendReply, Leased, LeaseRef } from '../domain/port/backend.ts';
import { refOf } from '../domain/port/leasing.ts';
import type { Line } from './line.ts';
import type { Settlements } from './settlements.ts';
import type { Slots } from './slots.ts';

/** Extensions in one call; a call for more would hold the backend up. */
const BATCH = 200;

/** Extended this many times per lease, so that one failure costs nothing. */
const PER_LEASE = 3;

/** Spread of the period, so that workers do not tick together. */
const JITTER = 0.2;

/** Ticks in one go at most; the rest comes with the next period. */
const MOST_IN_A_ROW = 50;

/**
 * Extends the leases of one worker until they are settled, also while it shuts down: a lease ends
 * only when its handler did, or when this process no longer answers. Queues may have leases of their
 * own lengths; each is extended by the length that it was given with.
 */
export class LeaseKeeper {
  readonly #line: Line;
  readonly #slots: Slots;
  readonly #settlements: Settlements;
  /** Of the lengths that were held of late. */
  readonly #lengths = new Map<number, LengthKeeper>();
  #stopped = false;

  constructor(line: Line, slots: Slots, settlements: Settlements) {
    this.#line = line;
    this.#slots = slots;
    this.#settlements = settlements;
  }

  /** These are held now: keeps them. */
  wake(leases: readonly Leased[]): void {
    if (this.#stopped) return;
    for (const lease of leases) this.#keeperOf(lengthOf(lease)).wake();
  }

  /** Extends at once: after an outage every moment counts. Whether all was answered. */
  async extendNow(): Promise<boolean> {
    const answered = [...this.#lengths.values()].map((keeper) => keeper.extendNow());
    return (await Promise.all(answered)).every(Boolean);
  }

  stop(): void {
    this.#stopped = true;
    for (const keeper of this.#lengths.values()) keeper.stop();
    this.#lengths.clear();
  }

  /** Everything of one length that is held; without anything it need not be kept. */
  leasedFor(leaseMs: number): readonly Attempt[] {
    const leased = this.#settlements.leased
      .all()
      .filter(({ lease }) => lengthOf(lease) === leaseMs);
    if (leased.length === 0) this.#lengths.delete(leaseMs);
    return leased;
  }

  #keeperOf(leaseMs: number): LengthKeeper {
    const known = this.#lengths.get(leaseMs);
    if (known !== undefined) return known;
    const keeper = new LengthKeeper(this.#line, leaseMs, this);
    this.#lengths.set(leaseMs, keeper);
    return keeper;
  }

  async extend(attempts: readonly Attempt[], leaseMs: number): Promise<void> {
    const line = this.#line;
    const leases = attempts.map(({ lease }) => refOf(lease));
    const begunBefore = line.leasesBegun + (line.isLeasing ? -1 : 0);
    const reply = await line.backend.tasks.extend({ worker: line.worker, leaseMs, leases });
    line.answered();
    line.found(reply);
    this.#apply(attempts, leases, reply);
    // What a request under way was given, its reply will bring.
    if (line.leasesBegun === begunBefore) this.#settlements.giveBack(reply.unknown);
  }

  #apply(
    attempts: readonly Attempt[],
    leases: readonly LeaseRef[],
    { answers }: ExtendReply,
  ): void {
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at];
      // Its handler may have waited, and go on under another lease by now.
      if (attempt === undefined || attempt.lease.token !== leases[at]?.token) continue;
      if (answers[at] === 'lost') this.#slots.interrupt(attempt, { type: 'lost' });
      else if (answers[at] === 'canceling') {
        this.#slots.interrupt(attempt, { type: 'cancel', cause: { type: 'request' } });
      }
    }
  }
}

/** How long a lease was given for, in ms. A reply that is broken must not make it call all the time. */
function lengthOf({ leasedAt, leaseUntil }: Leased): number {
  return Math.max(LIMITS.leaseMinMs, leaseUntil - leasedAt);
}

/** Says when the leases of one length are to be extended. */
class LengthKeeper {
  readonly #line: Line;
  readonly #leaseMs: number;
  readonly #keeper: LeaseKeeper;
  /** Set while anything is held. */
  #timer: Timer | undefined;
  /** One call at a time. */
  #isExtending = false;
  /** The newest extension: whether it was answered. */
  #latest: Promise<boolean> = Promise.resolve(true);
  /** Asked for while a call was under way. */
  #again = false;
  #failures = 0;
  #stopped = false;

  constructor(line: Line, leaseMs: number, keeper: LeaseKeeper) {
    this.#line = line;
    this.#leaseMs = leaseMs;
    this.#keeper = keeper;
  }

  wake(): void {
    if (this.#timer === undefined && !this.#isExtending) this.#arm(this.#periodMs);
  }

  extendNow(): Promise<boolean> {
    if (this.#isExtending) this.#again = true;
    else this.#latest = this.#extend();
    return this.#latest;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #periodMs(): number {
    return Math.floor(this.#leaseMs / PER_LEASE);
  }

  #arm(ms: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#line.clock.setTimer(ms, () => {
      this.#timer = undefined;
      this.#latest = this.#extend();
    });
  }

  async #extend(): Promise<boolean> {
    if (this.#stopped) return true;
    const leased = this.#keeper.leasedFor(this.#leaseMs);
    if (leased.length === 0) {
      this.#timer?.cancel();
      return true;
    }
    this.#isExtending = true;
    this.#again = false;
    try {
      for (const some of inChunks(leased, BATCH)) await this.#keeper.extend(some, this.#leaseMs);
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      if (!this.#line.failed('extend', error)) this.stop();
    }
    this.#isExtending = false;
    if (this.#again) return this.#extend();
    const isAnswered = this.#failures === 0;
    const pause = isAnswered ? this.#periodMs : pauseMs(this.#failures, this.#line.random());
    this.#arm(Math.min(pause, this.#periodMs));
    return isAnswered;
  }
}

/**
 * Runs the backend's maintenance while this worker is busy: every lease, settle and extend does it
 * too, so it is needed only when none of them came for a while. An idle worker leaves it to the alarm
 * of its wait.
 */
export class Ticker {
  readonly #line: Line;
  readonly #slots: Slots;
  /** Set while the worker is busy. */
  #timer: Timer | undefined;
  #isTicking = false;
  #stopped = false;

  constructor(line: Line, slots: Slots) {
    this.#line = line;
    this.#slots = slots;
  }

  /** The worker has become busy. */
  wake(): void {
    if (this.#timer === undefined && !this.#isTicking) this.#arm(this.#periodMs());
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #periodMs(): number {
    return LIMITS.tickMs * (1 - JITTER + 2 * JITTER * this.#line.random());
  }

  #arm(ms: number): void {
    if (this.#stopped) return;
    this.#timer = this.#line.clock.setTimer(Math.max(1, Math.round(ms)), () => {
      this.#timer = undefined;
      void this.#fire();
    });
  }

  async #fire(): Promise<void> {
    if (this.#slots.used === 0) return;
    const { clock, lastAnswerAt } = this.#line;
    const restMs = lastAnswerAt + LIMITS.tickMs * (1 - JITTER) - elapsedMs(clock);
    if (restMs <= 0) await this.#tick();
    this.#arm(restMs > 0 ? restMs : this.#periodMs());
  }

  async #tick(): Promise<void> {
    const line = this.#line;
    this.#isTicking = true;
    try {
      for (let count = 0; count < MOST_IN_A_ROW && !this.#stopped; count++) {
        const reply = await line.backend.tasks.tick();
        line.answered();
        line.found(reply);
        if (!reply.more) break;
      }
    } catch (error) {
      if (!line.failed('tick', error)) this.stop();
    }
    this.#isTicking = false;
  }
}
