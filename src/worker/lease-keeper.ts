import type { Attempt } from '../attempt/attempt.ts';
import { inChunks } from '../base/chunks.ts';
import { pauseMs } from '../base/pause.ts';
import type { Clock, Timer } from '../base/time.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Backend, ExtendReply, Leased, LeaseRef } from '../domain/port/backend.ts';

/** What the keeper asks of its worker, and tells it. */
export interface KeeperHost {
  /** Every lease that is not settled yet. */
  held(): readonly Attempt[];
  canceling(attempt: Attempt): void;
  lost(attempt: Attempt): void;
  /** Held by this worker without its knowledge. */
  unknown(refs: readonly LeaseRef[]): void;
  /** The backend answered. */
  answered(): void;
  /** Some schedule is due. */
  schedulesDue(): void;
  /** False: the worker has ended. */
  failed(operation: string, error: unknown): boolean;
  /** A lease request was under way at some time since the mark was taken. */
  leasedSince(mark: number): boolean;
  leaseMark(): number;
}

interface KeeperParts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  readonly worker: string;
  readonly host: KeeperHost;
}

interface LengthParts extends KeeperParts {
  readonly leaseMs: number;
  /** Nothing of this length is held. */
  readonly emptied: () => void;
}

/** Extensions in one call; a call for more would hold the backend up. */
const BATCH = 200;

/** Extended this many times per lease, so that one failure costs nothing. */
const PER_LEASE = 3;

/**
 * Extends the leases of one worker until they are settled, also while it shuts down: a lease ends
 * only when its handler did, or when this process no longer answers. Queues may have leases of their
 * own lengths; each is extended by the length that it was given with.
 */
export class LeaseKeeper {
  readonly #parts: KeeperParts;
  /** Of the lengths that were held of late. */
  readonly #lengths = new Map<number, LengthKeeper>();
  #stopped = false;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** These are held now: keeps them. */
  wake(leases: readonly Leased[]): void {
    if (this.#stopped) return;
    for (const lease of leases) this.#keeperOf(lengthOf(lease)).wake();
  }

  /** Extends at once: after an outage every moment counts. */
  extendNow(): void {
    for (const keeper of [...this.#lengths.values()]) keeper.extendNow();
  }

  stop(): void {
    this.#stopped = true;
    for (const keeper of this.#lengths.values()) keeper.stop();
    this.#lengths.clear();
  }

  #keeperOf(leaseMs: number): LengthKeeper {
    const known = this.#lengths.get(leaseMs);
    if (known !== undefined) return known;
    const emptied = (): void => {
      this.#lengths.delete(leaseMs);
    };
    const keeper = new LengthKeeper({ ...this.#parts, leaseMs, emptied });
    this.#lengths.set(leaseMs, keeper);
    return keeper;
  }
}

/** How long a lease was given for, in ms. A reply that is broken must not make it call all the time. */
function lengthOf({ leasedAt, leaseUntil }: Leased): number {
  return Math.max(LIMITS.leaseMinMs, leaseUntil - leasedAt);
}

/** Extends the leases of one length. */
class LengthKeeper {
  readonly #parts: LengthParts;
  /** Set while anything is held. */
  #timer: Timer | undefined;
  /** One call at a time. */
  #isExtending = false;
  /** Asked for while a call was under way. */
  #again = false;
  #failures = 0;
  #stopped = false;

  constructor(parts: LengthParts) {
    this.#parts = parts;
  }

  wake(): void {
    if (this.#timer === undefined && !this.#isExtending) this.#arm(this.#periodMs);
  }

  extendNow(): void {
    if (this.#isExtending) this.#again = true;
    else void this.#extend();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #periodMs(): number {
    return Math.floor(this.#parts.leaseMs / PER_LEASE);
  }

  #arm(ms: number): void {
    if (this.#stopped) return;
    this.#timer?.cancel();
    this.#timer = this.#parts.clock.setTimer(ms, () => {
      this.#timer = undefined;
      void this.#extend();
    });
  }

  async #extend(): Promise<void> {
    const { host, random, leaseMs, emptied } = this.#parts;
    const held = host.held().filter(({ lease }) => lengthOf(lease) === leaseMs);
    if (this.#stopped) return;
    if (held.length === 0) {
      this.#timer?.cancel();
      emptied();
      return;
    }
    this.#isExtending = true;
    this.#again = false;
    try {
      for (const some of inChunks(held, BATCH)) await this.#batch(some);
      this.#failures = 0;
    } catch (error) {
      this.#failures++;
      if (!host.failed('extend', error)) this.stop();
    }
    this.#isExtending = false;
    if (this.#again) return this.#extend();
    const pause = this.#failures > 0 ? pauseMs(this.#failures, random()) : this.#periodMs;
    this.#arm(Math.min(pause, this.#periodMs));
  }

  async #batch(attempts: readonly Attempt[]): Promise<void> {
    const { backend, worker, leaseMs, host } = this.#parts;
    const leases = attempts.map(({ lease }) => lease);
    const mark = host.leaseMark();
    const reply = await backend.tasks.extend({ worker, leaseMs, leases });
    host.answered();
    if (reply.schedulesDue) host.schedulesDue();
    this.#tell(attempts, reply);
    // What a request under way was given, its reply will bring.
    if (reply.unknown.length > 0 && !host.leasedSince(mark)) host.unknown(reply.unknown);
  }

  #tell(attempts: readonly Attempt[], { answers }: ExtendReply): void {
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at];
      if (attempt === undefined) continue;
      if (answers[at] === 'lost') this.#parts.host.lost(attempt);
      else if (answers[at] === 'canceling') this.#parts.host.canceling(attempt);
    }
  }
}
