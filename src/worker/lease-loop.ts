/** The lease loop: leases tasks for free slots, and settles earlier ones in the same calls. */

import { nextTick, setImmediate } from '../base/globals.ts';
import { pauseMs, sleep } from '../base/pause.ts';
import { randomName } from '../core/ids.ts';
import { isOwn } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type {
  Leased,
  LeaseReply,
  LeaseRequest,
  QueueShare,
  SettleAnswer,
  SettleReply,
} from '../domain/port/backend.ts';
import { IdleWait } from './idle-wait.ts';
import type { Line } from './line.ts';
import { QueueStride } from './queue-stride.ts';
import type { PendingSettlement, Settlements } from './settlements.ts';
import type { Slots } from './slots.ts';
import type { LeaseKeeper, Ticker } from './upkeep.ts';
import type { WorkerPlan } from './worker-options.ts';

interface Request {
  readonly pending: readonly PendingSettlement[];
  readonly lease: LeaseRequest | undefined;
}

/** Replies per turn of the event loop: the embedded backend answers without a turn. */
const REPLIES_PER_TURN = 8;

/** After so many tries the settlements of a failing call are sent singly, except in an outage. */
const TRIES_BEFORE_SPLIT = 5;

/** Number of failed calls whose settlements are resent in parallel; with one more the loop waits. */
const MOST_RESENT = 4;

/**
 * The only place where a worker settles and leases: one call at a time, which settles the pending decisions
 * and leases for the free slots in one step. Decisions of one tick of the event loop share a call; a single
 * one is not delayed. A failed call is retried forever, its settlements in parallel to later calls, so that
 * free slots are used meanwhile. Retries are idempotent: the same lease request returns the same leases, the
 * same settlement has the same result.
 */
export class LeaseLoop {
  readonly #line: Line;
  readonly #settlements: Settlements;
  readonly #slots: Slots;
  readonly #keeper: LeaseKeeper;
  readonly #ticker: Ticker;
  readonly #idle: IdleWait;
  readonly #queues: readonly QueueShare[];
  /** Absent with one queue. */
  readonly #stride: QueueStride | undefined;
  readonly #leaseMs: number;
  readonly #nonce = randomName();
  #requests = 0;
  /** Leases are wanted. */
  isOpen = false;
  /** A call is under way, or waits for a retry. */
  #inFlight = false;
  /** Number of calls whose settlements are being resent. */
  #resent = 0;
  /** More tasks may be ready to lease. */
  #wantsMore = true;
  /** A notice came since the latest lease was sent: an empty reply does not cancel it. */
  #notified = false;
  /** Tasks handed over while a lease was under way: both share the slots. */
  #handed: Leased[] = [];
  /** The loop is scheduled in this tick of the event loop, or in the next turn. */
  #scheduled = false;
  #replies = 0;

  constructor(
    line: Line,
    { queues, leaseMs }: Pick<WorkerPlan, 'queues' | 'leaseMs'>,
    next: { readonly settlements: Settlements; readonly slots: Slots },
    upkeep: { readonly keeper: LeaseKeeper; readonly ticker: Ticker },
  ) {
    this.#line = line;
    this.#settlements = next.settlements;
    this.#slots = next.slots;
    this.#keeper = upkeep.keeper;
    this.#ticker = upkeep.ticker;
    const handed = (lease: Leased): void => this.#receive(lease);
    this.#idle = new IdleWait(line, () => this.request(), handed);
    this.#queues = [...queues].map(([queue, weight]) => ({ queue, weight, pass: 0 }));
    this.#stride = queues.size === 1 ? undefined : new QueueStride(this.#queues);
    this.#leaseMs = leaseMs;
    line.notify = this.#notify;
  }

  /** True when no decision is unsettled, no call is under way, and no more tasks may be ready. */
  get isQuiet(): boolean {
    return this.isFlushed && !this.#scheduled && !this.#wantsMore;
  }

  /** True when no decision is unsettled, and no call is under way. */
  get isFlushed(): boolean {
    return this.#settlements.count === 0 && !this.#inFlight && this.#resent === 0;
  }

  /** Asks for work. */
  request(): void {
    this.#wantsMore = true;
    this.#notified = true;
    this.#schedule();
  }

  /** Settlements are pending, or slots are free again. */
  readonly #notify = (): void => {
    if (this.#wantsMore || this.#settlements.count > 0) this.#schedule();
  };

  /** Receives a task that was handed over. */
  #receive(lease: Leased): void {
    this.#handed.push(lease);
    if (this.#line.isLeasing) return;
    this.#takeHanded();
    this.#schedule();
    this.#startTaken();
  }

  /** Stops waiting for work. */
  close(): void {
    this.isOpen = false;
    this.#idle.close();
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight) return;
    this.#scheduled = true;
    nextTick(this.#run);
  }

  readonly #run = (): void => {
    this.#scheduled = false;
    this.#next();
  };

  #next(): void {
    if (this.#inFlight) return;
    const request = this.#compose();
    if (request === undefined) {
      // The latest reply may have come in an earlier turn of the event loop: check now.
      this.#line.changed.check();
      return;
    }
    this.#inFlight = true;
    if (request.lease !== undefined) {
      this.#line.isLeasing = true;
      this.#line.leasesBegun++;
      this.#notified = false;
    }
    void this.#send(request);
  }

  get #freeSlots(): number {
    return this.isOpen ? this.#slots.free : 0;
  }

  #compose(): Request | undefined {
    const free = this.#freeSlots;
    const wantsLease = free > 0 && (this.#wantsMore || this.#settlements.count > 0);
    const pending = this.#settlements.take(
      wantsLease ? LIMITS.settleLeaseBatch : LIMITS.settleBatch,
    );
    if (pending.length === 0 && !wantsLease) return undefined;
    const most = pending.length > 0 ? LIMITS.settleLeaseBatch : LIMITS.leaseBatch;
    const lease = wantsLease ? this.#leaseRequest(Math.min(free, most)) : undefined;
    return { pending, lease };
  }

  #leaseRequest(limit: number): LeaseRequest {
    const number = this.#requests++;
    return {
      requestId: `${this.#nonce}${number.toString(36).padStart(6, '0')}`,
      worker: this.#line.worker,
      limit,
      leaseMs: this.#leaseMs,
      queues: this.#stride?.shares() ?? this.#queues,
      wait: 'hand',
    };
  }

  /** After a failed call, extends leases before the next one: each call sweeps lost leases. */
  async #send(request: Request): Promise<void> {
    let rest = request;
    for (let failures = 0; ; ) {
      try {
        const isSafe = failures === 0 && this.#resent === 0;
        if (isSafe || (await this.#extend())) {
          if (this.#line.isUnknown) await this.#line.register();
          const reply = await this.#call(rest);
          // The reply may be that of the first try, when there was less work.
          if (failures > 0) this.request();
          this.#received(rest, reply);
          return;
        }
        failures++;
      } catch (error) {
        failures++;
        if (!this.#failed(error)) break;
        if (failures >= TRIES_BEFORE_SPLIT && !isOutage(error)) {
          await this.#settleSingly(rest.pending);
          rest = NOTHING_LEFT;
        } else if (rest.pending.length > 0 && this.#resent < MOST_RESENT) {
          void this.#settleAgain(rest.pending);
          rest = { ...rest, pending: NOTHING_LEFT.pending };
        }
      }
      if (!(await this.#pause(failures))) break;
      if (rest.pending.length > 0 || rest.lease !== undefined) continue;
      this.#landed();
      this.#continueLoop(false);
      return;
    }
    this.#landed();
  }

  /** Resends the settlements of a failed call, in parallel to later calls. */
  async #settleAgain(pending: readonly PendingSettlement[]): Promise<void> {
    this.#resent++;
    for (let failures = 1; await this.#pause(failures); failures++) {
      try {
        await this.#extend();
        if (this.#line.isUnknown) await this.#line.register();
        const { answers } = await this.#call({ pending, lease: undefined });
        this.#line.answered();
        this.#settled(pending, answers);
        break;
      } catch (error) {
        if (!this.#failed(error, true)) break;
        if (failures < TRIES_BEFORE_SPLIT || isOutage(error)) continue;
        await this.#settleSingly(pending);
        break;
      }
    }
    this.#resent--;
    this.#notify();
    this.#line.changed.check();
  }

  /** @returns false: do not retry. */
  #failed(error: unknown, again = false): boolean {
    this.#line.forget();
    return this.#line.failed('settle and lease', error, again);
  }

  /** @returns false: the worker has ended. */
  async #pause(failures: number): Promise<boolean> {
    const { clock, random, ended } = this.#line;
    await sleep(clock, pauseMs(failures, random()), ended.signal);
    return !ended.signal.aborted;
  }

  async #extend(): Promise<boolean> {
    if (this.#line.isUnknown) await this.#line.register();
    return this.#keeper.extendNow();
  }

  #call({ pending, lease }: Request): Promise<SettleReply> {
    const { backend, worker } = this.#line;
    if (lease !== undefined && pending.length === 0) return this.#lease(lease);
    const settlements = pending.map(({ settlement }) => settlement);
    const request = { worker, settlements };
    return backend.tasks.settle(lease === undefined ? request : { worker, settlements, lease });
  }

  async #lease(request: LeaseRequest): Promise<SettleReply> {
    return { answers: NO_ANSWERS, lease: await this.#line.backend.tasks.lease(request) };
  }

  #received({ pending, lease }: Request, reply: SettleReply): void {
    this.#line.answered();
    this.#landed();
    this.#settled(pending, reply.answers);
    if (reply.lease !== undefined) this.#leased(reply.lease);
    if (this.#handed.length > 0) this.#takeHanded();
    const wanted = lease?.limit ?? 0;
    this.#continueLoop((reply.lease?.leases.length ?? 0) < wanted);
    this.#startTaken();
  }

  #settled(pending: readonly PendingSettlement[], answers: readonly SettleAnswer[]): void {
    for (let at = 0; at < pending.length; at++) {
      const settled = pending[at];
      const answer = answers[at];
      if (settled !== undefined && answer !== undefined)
        this.#settlements.answered(settled, answer);
    }
  }

  #landed(): void {
    this.#inFlight = false;
    this.#line.isLeasing = false;
  }

  #leased(reply: LeaseReply): void {
    // Only a lease without tasks has put this worker in line for a notice; a notice during the lease
    // may be about work that arrived after it.
    this.#wantsMore = reply.more || reply.leases.length > 0 || this.#notified;
    this.#line.found(reply);
    this.#take(reply.leases);
    if (!this.#wantsMore) this.#idle.open(reply.waitMs);
  }

  #take(leases: readonly Leased[]): void {
    this.#stride?.served(leases);
    for (const lease of leases) this.#slots.take(lease);
    this.#keeper.wake(leases);
  }

  #startTaken(): void {
    if (this.#slots.used > 0) this.#ticker.wake();
    this.#slots.startTaken();
    this.#line.changed.check();
  }

  /** A task without a free slot is released. */
  #takeHanded(): void {
    const { leased } = this.#settlements;
    for (const lease of this.#handed) {
      if (leased.has(lease)) continue;
      if (this.#freeSlots > 0) this.#take([lease]);
      else this.#settlements.giveBack([lease]);
    }
    this.#handed = [];
    this.#wantsMore = true;
  }

  /**
   * Sends the next call before the new tasks start, so that both run in parallel. Exception: fewer
   * tasks than slots, and no settlement is pending. Then that call would hardly find tasks, so the
   * tasks start first, and the call takes their settlements of this tick along.
   */
  #continueLoop(isScarce: boolean): void {
    this.#replies++;
    if (this.#replies % REPLIES_PER_TURN !== 0) {
      if (isScarce && this.#settlements.count === 0) this.#schedule();
      else this.#next();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#run);
  }

  /**
   * A settlement that the backend rejects must not block the others: each is sent alone, and one
   * that fails again is dropped. Its lease ends, and the task counts as lost.
   */
  async #settleSingly(pending: readonly PendingSettlement[]): Promise<void> {
    const line = this.#line;
    for (const one of pending) {
      try {
        const request = { worker: line.worker, settlements: [one.settlement] };
        const { answers } = await line.backend.tasks.settle(request);
        if (answers[0] !== undefined) this.#settlements.answered(one, answers[0]);
      } catch (error) {
        if (isOutage(error)) this.#settlements.putBack(one);
        else this.#settlements.answered(one, LOST);
        line.failed(`settle ${one.settlement.id}`, error);
      }
    }
  }
}

const NOTHING_LEFT: Request = { pending: [], lease: undefined };
const NO_ANSWERS: readonly SettleAnswer[] = [];
const LOST: SettleAnswer = { kind: 'leaseLost' };

/** Whether the error concerns the backend, not the request; a refused account may be restored. */
function isOutage(error: unknown): boolean {
  if (!isOwn(error)) return false;
  return error.retryable || error.code === 'BACKEND_UNSUPPORTED';
}
