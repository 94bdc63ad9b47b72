import type { Attempt } from '../attempt/attempt.ts';
import { nextTick, setImmediate } from '../base/globals.ts';
import { pauseMs, sleep } from '../base/pause.ts';
import type { Clock } from '../base/time.ts';
import { isOwn } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type {
  Backend,
  Leased,
  LeaseRef,
  LeaseReply,
  LeaseRequest,
  SettleAnswer,
  Settlement,
  SettleReply,
} from '../domain/port/backend.ts';
import { writeBytes } from '../domain/task/channel.ts';
import { xcomBytes } from '../domain/task/xcom.ts';

/** What the exchange asks of its worker, and tells it. */
export interface ExchangeHost {
  /** Slots that a lease may fill now; 0 while nothing is to be leased. */
  freeSlots(): number;
  leaseRequest(limit: number): LeaseRequest;
  /** Before anything is leased, and again after an outage. */
  register(): Promise<void>;
  settled(settlement: HeldSettlement, answer: SettleAnswer): void;
  /** Takes leases in: they have slots from now on. */
  take(leases: readonly Leased[]): void;
  /** Takes in a task that was handed over, which nobody but this process knows to be held. */
  takeHanded(lease: Leased): void;
  /** Whether the lease is held. */
  holds(ref: LeaseRef): boolean;
  /** Starts what was taken. */
  startTaken(): void;
  /** There is nothing to send. */
  rested(): void;
  /** Nothing more was to be had: wait this long for a sign. */
  idle(waitMs: number): void;
  /** A call failed. False: do not try again, the worker has ended. */
  failed(operation: string, error: unknown): boolean;
  /** The backend answers again. */
  recovered(): void;
  /** Some schedule is due. */
  schedulesDue(): void;
}

interface ExchangeParts {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly random: () => number;
  readonly worker: string;
  readonly host: ExchangeHost;
  /** Aborts when the worker gives up. */
  readonly signal: AbortSignal;
}

/** A settlement with the attempt that came to it; without one it gives a lease back. */
export interface HeldSettlement extends Settlement {
  readonly attempt: Attempt | undefined;
}

interface Request {
  readonly settlements: readonly HeldSettlement[];
  readonly lease: LeaseRequest | undefined;
}

/** After so many replies the event loop gets its turn: the embedded backend answers without one. */
const REPLIES_PER_TURN = 8;

/** A call that keeps failing with an error that is no outage is taken apart after so many tries. */
const PATIENCE = 5;

/** A worker that was silent for this long, in ms, may have been forgotten: it registers again. */
const FORGOTTEN_MS = LIMITS.workerSilenceMs / 2;

/**
 * The only place where a worker settles and leases: one call at a time, which settles what has
 * gathered and leases for the free slots in the same step. What is decided in one tick of the
 * event loop goes together; a lone settlement waits for nobody. A call that fails is sent again as
 * it was, for ever: the same request is answered with the same leases, the same settlement with
 * the same end.
 */
export class Exchange {
  readonly #parts: ExchangeParts;
  /** Decided, and not sent yet. */
  #outbox: HeldSettlement[] = [];
  /** A call is under way, or waits to be sent again. */
  #inFlight = false;
  /** The call under way may lease. */
  #leasing = false;
  /** Something may be left to lease. */
  #hungry = true;
  /** There was a sign since the newest lease was sent: its empty answer does not make that void. */
  #rung = false;
  /** Handed over while a lease was under way: the two share the slots. */
  #handed: Leased[] = [];
  /** How far the backend's clock was ahead of this one's when it last told a time; never more than it is. */
  #aheadMs = 0;
  /** Will run in this tick of the event loop, or in the next turn of it. */
  #scheduled = false;
  #replies = 0;
  #needsRegister = true;
  /** When the backend last answered, on the worker's clock. */
  lastAnswerAt: number;
  /** How many calls that may lease were begun; says whether one was under way meanwhile. */
  leasesBegun = 0;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    this.lastAnswerAt = parts.clock.now();
  }

  /** True while nothing is decided and unsettled, nothing under way, nothing left to lease. */
  get isQuiet(): boolean {
    return this.isFlushed && !this.#scheduled && !this.#hungry;
  }

  /** True while nothing is decided and unsettled, and nothing under way. */
  get isFlushed(): boolean {
    return this.#outbox.length === 0 && !this.#inFlight;
  }

  /** True while a call that may lease is under way. */
  get isLeasing(): boolean {
    return this.#leasing;
  }

  /** Sends a settlement with the others of this tick. */
  settle(settlement: HeldSettlement): void {
    const writes = settlement.attempt?.writes;
    this.#outbox.push(writes === undefined ? settlement : { ...settlement, ...writes });
    this.#schedule();
  }

  /** A task came that this worker has not asked for in this moment. */
  handed(lease: Leased): void {
    this.#handed.push(lease);
    if (this.#leasing) return;
    this.#takeHanded();
    this.#schedule();
    this.#parts.host.startTaken();
  }

  /** There may be work: asks for it. */
  hunger(): void {
    this.#hungry = true;
    this.#rung = true;
    this.#schedule();
  }

  /** Slots or permission to fill them have come back. */
  poke(): void {
    if (this.#hungry) this.#schedule();
  }

  /** Register before the next call. */
  forget(): void {
    this.#needsRegister = true;
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
      // Perhaps a turn of the event loop after the last reply, when nobody looks any more.
      this.#parts.host.rested();
      return;
    }
    this.#inFlight = true;
    this.#leasing = request.lease !== undefined;
    if (this.#leasing) this.#rung = false;
    if (this.#leasing) this.leasesBegun++;
    void this.#send(request);
  }

  #compose(): Request | undefined {
    const free = this.#parts.host.freeSlots();
    const wantsLease = free > 0 && (this.#hungry || this.#outbox.length > 0);
    const settlements = this.#gather(wantsLease ? LIMITS.settleLeaseBatch : LIMITS.settleBatch);
    if (settlements.length === 0 && !wantsLease) return undefined;
    const most = settlements.length > 0 ? LIMITS.settleLeaseBatch : LIMITS.leaseBatch;
    const lease = wantsLease ? this.#parts.host.leaseRequest(Math.min(free, most)) : undefined;
    return { settlements, lease };
  }

  /** The oldest settlements, as many as one call carries. */
  #gather(most: number): readonly HeldSettlement[] {
    const { length } = this.#outbox;
    if (length === 0) return NOTHING;
    let bytes = 0;
    let count = 0;
    let writes = 0;
    for (; count < length && count < most; count++) {
      const { decision, channel, xcom } = this.#outbox[count] ?? {};
      bytes += decision?.type === 'finish' ? decision.result.length * MAX_BYTES_PER_UNIT : 0;
      if (channel !== undefined) {
        writes += channel.writes.length;
        bytes += channel.writes.reduce((sum, write) => sum + writeBytes(write), 0);
      }
      if (xcom !== undefined) {
        writes += xcom.length;
        bytes += xcom.reduce((sum, write) => sum + xcomBytes(write), 0);
      }
      const isFull = bytes > LIMITS.scriptBytes || writes > LIMITS.channelWrites;
      if (isFull && count > 0) break;
    }
    if (count < length) return this.#outbox.splice(0, count);
    const all = this.#outbox;
    this.#outbox = [];
    return all;
  }

  async #send(request: Request): Promise<void> {
    const { clock, random, host, signal } = this.#parts;
    for (let failures = 0; ; ) {
      try {
        const reply = await this.#call(request);
        if (failures > 0) host.recovered();
        this.#received(request, reply);
        return;
      } catch (error) {
        failures++;
        this.#needsRegister = true;
        if (!host.failed('settle and lease', error)) break;
        if (failures >= PATIENCE && !isOutage(error)) {
          await this.#takeApart(request);
          return;
        }
        await sleep(clock, pauseMs(failures, random()), signal);
        if (signal.aborted) break;
      }
    }
    this.#inFlight = false;
    this.#leasing = false;
  }

  async #call({ settlements, lease }: Request): Promise<SettleReply> {
    const { backend, clock, worker, host } = this.#parts;
    if (this.#needsRegister || clock.now() - this.lastAnswerAt > FORGOTTEN_MS) {
      await host.register();
      this.#needsRegister = false;
    }
    if (lease === undefined) return backend.tasks.settle({ worker, settlements });
    if (settlements.length > 0) return backend.tasks.settle({ worker, settlements, lease });
    return { answers: NO_ANSWERS, lease: await backend.tasks.lease(lease) };
  }

  #received({ settlements, lease }: Request, reply: SettleReply): void {
    const { clock, host } = this.#parts;
    this.lastAnswerAt = clock.now();
    this.#inFlight = false;
    this.#leasing = false;
    for (let at = 0; at < settlements.length; at++) {
      const settlement = settlements[at];
      const answer = reply.answers[at];
      if (settlement !== undefined && answer !== undefined) this.#settled(settlement, answer);
    }
    if (reply.lease !== undefined) this.#leased(reply.lease);
    if (this.#handed.length > 0) this.#takeHanded();
    const wanted = lease?.limit ?? 0;
    this.#goOn((reply.lease?.leases.length ?? 0) < wanted);
    host.startTaken();
  }

  /** One whose writes to channels were refused is still leased: it settles as something else. */
  #settled(settlement: HeldSettlement, answer: SettleAnswer): void {
    if (answer.kind === 'refused') settlement.attempt?.refused(answer.refusal);
    else this.#parts.host.settled(settlement, answer);
  }

  #leased(reply: LeaseReply): void {
    const { host, clock } = this.#parts;
    this.#aheadMs = reply.now - clock.now();
    // Only a lease that gave nothing has put this worker in line for a sign; one that came while
    // the lease was under way may be about work that arrived after it.
    this.#hungry = reply.more || reply.leases.length > 0 || this.#rung;
    if (reply.schedulesDue) host.schedulesDue();
    host.take(reply.leases);
    if (!this.#hungry) host.idle(reply.waitMs);
  }

  /**
   * One that has no slot goes back. One that was long on its way (this process was held up, or its
   * own lease was) is left: it ends uncounted, and may have ended by now.
   */
  #takeHanded(): void {
    const { clock, host } = this.#parts;
    const since = clock.now() + this.#aheadMs - LIMITS.handMs / 2;
    for (const lease of this.#handed) {
      if (lease.leasedAt < since || host.holds(lease)) continue;
      if (host.freeSlots() > 0) host.takeHanded(lease);
      else this.settle({ ...GIVEN_BACK, id: lease.id, token: lease.token });
    }
    this.#handed = [];
    this.#hungry = true;
  }

  /**
   * The next call is sent before the new tasks are started, so that both go on at once. Not so when
   * there were fewer tasks than slots, and nothing is left to settle: that call would hardly find
   * anything, so the tasks come first, and what they settle in this tick goes along.
   */
  #goOn(isScarce: boolean): void {
    this.#replies++;
    if (this.#replies % REPLIES_PER_TURN !== 0) {
      if (isScarce && this.#outbox.length === 0) this.#schedule();
      else this.#next();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#run);
  }

  /**
   * One settlement that the backend cannot take must not hold up the others: each goes alone, and
   * what fails again is dropped. Its lease ends, and the task counts as lost.
   */
  async #takeApart({ settlements }: Request): Promise<void> {
    const { backend, worker, host } = this.#parts;
    for (const settlement of settlements) {
      try {
        const { answers } = await backend.tasks.settle({ worker, settlements: [settlement] });
        if (answers[0] !== undefined) this.#settled(settlement, answers[0]);
      } catch (error) {
        if (isOutage(error)) this.#outbox.push(settlement);
        else host.settled(settlement, LOST);
        host.failed(`settle ${settlement.id}`, error);
      }
    }
    const { clock, random, signal } = this.#parts;
    await sleep(clock, pauseMs(PATIENCE, random()), signal);
    this.#inFlight = false;
    this.#leasing = false;
    if (!signal.aborted) this.#goOn(false);
  }
}

/** Worst case of UTF-8: bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
const NOTHING: readonly HeldSettlement[] = [];
const NO_ANSWERS: readonly SettleAnswer[] = [];
const GIVEN_BACK = {
  decision: { type: 'release', cause: { type: 'given-up' } },
  attempt: undefined,
} as const;
const LOST: SettleAnswer = { kind: 'leaseLost' };

/** The error is about the backend, not about what was sent; a refused account may come back. */
function isOutage(error: unknown): boolean {
  if (!isOwn(error)) return false;
  return error.retryable || error.code === 'BACKEND_UNSUPPORTED';
}
