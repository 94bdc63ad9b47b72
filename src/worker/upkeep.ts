/** Periodic work of a busy worker: extends leases, and runs the backend's maintenance. */

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

/** Number of extensions in one call; more would block the backend. */
const BATCH = 200;

/** Number of extensions per duration of a lease, so that one failure is harmless. */
const PER_LEASE = 3;

/** Spread of the period, so that workers do not tick together. */
const JITTER = 0.2;

/** Largest number of ticks in a row; the next period continues. */
const MOST_IN_A_ROW = 50;

/**
 * Extends the leases of one worker until they are settled, also during its shutdown: a lease ends
 * only when its handler has ended, or when this process no longer answers. Queues may have leases of
 * different durations; each is extended by its own.
 */
export class LeaseKeeper {
  readonly #line: Line;
  readonly #slots: Slots;
  readonly #settlements: Settlements;
  /** Keepers by recent duration. */
  readonly #lengths = new Map<number, LengthKeeper>();
  #stopped = false;

  constructor(line: Line, slots: Slots, settlements: Settlements) {
    this.#line = line;
    this.#slots = slots;
    this.#settlements = settlements;
  }

  /** Keeps these leases. */
  wake(leases: readonly Leased[]): void {
    if (this.#stopped) return;
    for (const lease of leases) this.#keeperOf(lengthOf(lease)).wake();
  }

  /** Extends at once: after an outage time is short. @returns whether all calls were answered. */
  async extendNow(): Promise<boolean> {
    const answered = [...this.#lengths.values()].map((keeper) => keeper.extendNow());
    return (await Promise.all(answered)).every(Boolean);
  }

  stop(): void {
    this.#stopped = true;
    for (const keeper of this.#lengths.values()) keeper.stop();
    this.#lengths.clear();
  }

  /** The attempts with leases of one duration. */
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
    // Leases of a request under way come with its reply.
    if (line.leasesBegun === begunBefore) this.#settlements.giveBack(reply.unknown);
  }

  #apply(
    attempts: readonly Attempt[],
    leases: readonly LeaseRef[],
    { answers }: ExtendReply,
  ): void {
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at];
      // Its handler may have waited, and have another lease by now.
      if (attempt === undefined || attempt.lease.token !== leases[at]?.token) continue;
      if (answers[at] === 'lost') this.#slots.interrupt(attempt, { type: 'lost' });
      else if (answers[at] === 'canceling') {
        this.#slots.interrupt(attempt, { type: 'cancel', cause: { type: 'request' } });
      }
    }
  }
}

/** Duration of a lease, in ms. The minimum limits the calls after an invalid reply. */
function lengthOf({ leasedAt, leaseUntil }: Leased): number {
  return Math.max(LIMITS.leaseMinMs, leaseUntil - leasedAt);
}

/** Schedules the extensions of leases of one duration. */
class LengthKeeper {
  readonly #line: Line;
  readonly #leaseMs: number;
  readonly #keeper: LeaseKeeper;
  /** Set while leases are held. */
  #timer: Timer | undefined;
  /** A call is under way; there is one at a time. */
  #isExtending = false;
  /** Whether the latest extension was answered. */
  #latest: Promise<boolean> = Promise.resolve(true);
  /** Another extension was requested while a call was under way. */
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
 * Runs the backend's maintenance while this worker is busy. Every lease, settle and extend runs it
 * too, so it is needed only after a while without them. For an idle worker the timer of its wait is
 * enough.
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

  /** Starts the timer: the worker is busy. */
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
