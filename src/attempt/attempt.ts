import { elapsedMs } from '../base/time.ts';
import { decide, type Outcome } from '../domain/attempt/decider.ts';
import {
  ClosedError,
  Fatal,
  isOwn,
  LeaseLostError,
  TaskCanceledError,
  TimedOutError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Decision, Leased, Suspension } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { ChannelRefusal } from '../domain/task/channel.ts';
import { timeLeftText } from '../domain/task/time-left.ts';
import { endOfDecision, leftEnd, lostEnd } from '../tracing/work.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import { AttemptContext, type SubRunner } from './attempt-context.ts';
import type { AttemptHost, Interruption } from './attempt-host.ts';
import type { AttemptPlan } from './attempt-plan.ts';
import { channelFailure } from './channels.ts';
import {
  canceledOutcome,
  decisionOn,
  failedOutcome,
  ownFailure,
  ownWaitMs,
  releasedOutcome,
} from './decisions.ts';
import { type CallSink, callHandler, type Failure } from './handler-call.ts';
import { LeasedSource } from './leased-source.ts';
import type { KeptJournal, OpenGroups, OwnEnd, OwnLease } from './own-lease.ts';
import type { SettledWrites } from './pending-writes.ts';

/** A handler that waits without a lease. */
interface Waiting {
  readonly done: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
  /** The worker was asked to lease its task again. */
  isRecalled: boolean;
}

function newWaiting(): Waiting {
  let resolve: Waiting['resolve'] = () => undefined;
  let reject: Waiting['reject'] = () => undefined;
  const over = new Promise<void>((resolved, rejected) => {
    resolve = resolved;
    reject = rejected;
  });
  return { done: over, resolve, reject, isRecalled: false };
}

/** Place of an attempt without a lease. */
export const NOWHERE = -1;

/**
 * One leased task in one slot: calls its handler, decides on the outcome, and passes the decision on to be
 * settled. The handler may run longer.
 */
export class Attempt extends LeasedSource implements CallSink, OwnLease {
  /** When the handler was called; 0 before. */
  startedAt = 0;
  /** Its handler was called and has not settled. */
  running = false;
  /** Its decision is being settled, or is not needed any more. */
  isDecided = false;
  /** Its index among the worker's unsettled leases. */
  place: number = NOWHERE;
  /** The interruption with the highest precedence so far. */
  #interrupted: Interruption['type'] | undefined;
  readonly #host: AttemptHost<Attempt>;
  /** Writes of its handler, once it has succeeded. */
  writes: SettledWrites | undefined;
  /** Present while its handler waits without a lease. */
  #waiting: Waiting | undefined;
  /** The outcome of its handler during a wait; settled under the lease of the wait, or the next one. */
  #outcomeWhileWaiting: Outcome | undefined;
  /** False while it is suspended, and afterwards if its handler was abandoned. */
  #hasSlot = true;
  /** When its handler was called, or was resumed. */
  #resumedAt = 0;
  /** Run time of its handler under earlier leases, in ms. */
  #spentMs = 0;
  /** Present once a handler has waited for a group. */
  #openGroups: OpenGroups | undefined;

  constructor(
    host: AttemptHost<Attempt>,
    lease: Leased,
    definition: TaskDefinition,
    plan: AttemptPlan,
  ) {
    super(host, lease, definition, plan);
    this.#host = host;
  }

  /** Its lease is unsettled, as far as its worker knows. */
  get isLeased(): boolean {
    return this.place !== NOWHERE;
  }

  /** Its handler has settled during a wait. */
  get hasEnded(): boolean {
    return this.#outcomeWhileWaiting !== undefined;
  }

  /** Time since its handler was called, in ms; 0 before. */
  get ranMs(): number {
    return this.startedAt === 0 ? 0 : elapsedMs(this.#host.clock) - this.startedAt;
  }

  /** Its handler has waited for a group. */
  get hasGroups(): boolean {
    return this.#openGroups !== undefined;
  }

  get openGroups(): OpenGroups {
    this.#openGroups ??= new Map();
    return this.#openGroups;
  }

  /** Calls the handler. */
  start(handler: Handler): void {
    this.#begin();
    const { definition, payload, codec } = this;
    const ctx = new AttemptContext(this);
    const call = { definition, handler, payload, ctx, codec };
    if (this.#host.tracing.tracer === undefined) callHandler(call, this);
    else this.trace.within(() => callHandler(call, this));
  }

  /** Runs the engine's own code under the lease; the code returns how the lease ends. */
  startOwn(code: (own: OwnLease) => Promise<OwnEnd>): void {
    this.#begin();
    void code(this).then(
      (end) => {
        this.#handlerSettled();
        this.endWith(end);
      },
      (error: unknown) => this.reportError(ownFailure(error)),
    );
  }

  settling(): void {
    if (this.#waiting !== undefined) this.openStreams?.resume();
  }

  reportResult(text: string): void {
    this.#handlerEnded({ type: 'succeeded', result: text });
  }

  reportError(failure: Failure): void {
    this.#handlerEnded(failure);
  }

  /** A task outside a run has no next step. */
  reportChoice(): void {
    const error = new Fatal(`${this.name} returned a control outside a run`);
    this.reportError({ error, failureType: 'error', retryable: false });
  }

  /** Its handler threw, or could not be started. */
  failWith(failure: Failure): void {
    if (!this.isDecided) this.#decide(this.#outcomeOf(failure));
  }

  /** Its writes to channels were refused, and nothing has changed: the attempt fails. */
  failOnRefusedWrites(refusal: ChannelRefusal): void {
    if (this.isLeased) this.#decide(failedOutcome(channelFailure(refusal), undefined));
  }

  /** Releases the task before it was started. */
  giveBack(cause: Cause): void {
    this.endWith({ type: 'outcome', outcome: { type: 'released', cause } });
  }

  /** Ends the attempt as the engine's own code decided, instead of or before a handler. */
  endWith(end: OwnEnd): void {
    if (this.isDecided) return;
    // The worker gets the loss of the lease from the backend.
    if (end.type === 'lost') this.begunTrace?.end(lostEnd(this.taskId));
    else {
      const demanded = this.#forcedOutcome();
      if (demanded !== undefined) this.#decide(demanded);
      else if (end.type === 'outcome') this.#decide(end.outcome);
      else this.#settle(end.decision);
    }
  }

  /** Interrupts the attempt; a reason with lower precedence than an earlier one is ignored. */
  interrupt(why: Interruption): void {
    switch (why.type) {
      case 'shutdown':
        if (this.#interrupted !== undefined) return;
        this.#abort(why, new ClosedError('the worker'));
        return;
      case 'timeout':
        if (this.isDecided) return;
        this.#abort(why, new TimedOutError(this.taskId, this.plan.timeoutMs));
        this.#dueIn(LIMITS.abortGraceMs);
        return;
      case 'cancel':
        if (this.isDecided || this.#interrupted === 'cancel') return;
        this.#abort(why, new TaskCanceledError(this.taskId, why.cause));
        if (this.running) this.#dueIn(LIMITS.cancelGraceMs);
        else this.#decide(canceledOutcome(this.endReason));
        return;
      case 'lost':
        this.isDecided = true;
        this.#host.deadlines.clear(this);
        this.begunTrace?.end(lostEnd(this.taskId));
        this.#abort(why, new LeaseLostError(this.taskId));
    }
  }

  /** The timeout is over, or the grace of an interrupted handler. */
  due(): void {
    const demanded = this.#forcedOutcome();
    if (demanded === undefined) this.interrupt({ type: 'timeout' });
    else this.#decide(demanded);
  }

  async suspend(suspension: Suspension, journal: KeptJournal, leftMs?: number): Promise<void> {
    await this.openStreams?.pause();
    if (this.isDecided || this.#interrupted !== undefined) {
      this.openStreams?.resume();
      throw this.signal.reason;
    }
    const waiting = newWaiting();
    this.#waiting = waiting;
    this.#hasSlot = false;
    this.#spentMs += elapsedMs(this.#host.clock) - this.#resumedAt;
    this.isDecided = true;
    this.#host.deadlines.clear(this);
    const timeLeft = this.#timeLeft(leftMs);
    this.#host.suspended(this, { ...suspension, attended: true, ...timeLeft }, journal);
    return waiting.done;
  }

  recall(): Promise<void> | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    if (!waiting.isRecalled) this.#host.recalled(this);
    waiting.isRecalled = true;
    return waiting.done;
  }

  /** The worker has leased the task again: the handler continues. */
  resume(lease: Leased): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.lease = lease;
    this.#hasSlot = true;
    this.isDecided = false;
    this.#resumedAt = elapsedMs(this.#host.clock);
    const { timeoutMs } = this.plan;
    if (timeoutMs > 0) this.#dueIn(Math.max(1, timeoutMs - this.#spentMs), this.#resumedAt);
    this.openStreams?.resume();
    if (this.#outcomeWhileWaiting === undefined) waiting?.resolve();
    else this.#handlerEnded(this.#outcomeWhileWaiting);
  }

  /** Ends its suspended handler, which no worker continues. */
  abandonHandler(reason: Error): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.begunTrace?.end(leftEnd(reason));
    this.#abort({ type: 'lost' }, reason);
    this.openStreams?.resume();
    waiting.reject(reason);
  }

  /** Its task has ended: asks the members of its open groups to end. */
  abandonGroups(canceled?: Cause): void {
    for (const giveUp of this.openGroups.values()) {
      giveUp(canceled).catch((error: unknown) => {
        if (isOwn(error, 'CLOSED')) return;
        this.#host.reportUserError(`cancel the open groups of ${this.taskId}`, error);
      });
    }
    this.#openGroups = undefined;
  }

  protected override newRunner(): SubRunner {
    return this.#host.runnerOf(this);
  }

  /** `leftMs` as in {@link OwnLease.suspend}. */
  #timeLeft(leftMs: number | undefined): Pick<Suspension, 'timeLeft'> {
    const { timeoutMs } = this.plan;
    const taskMs = timeoutMs > 0 ? Math.max(0, timeoutMs - this.#spentMs) : undefined;
    const handlerMs = Math.min(
      leftMs ?? Number.POSITIVE_INFINITY,
      taskMs ?? Number.POSITIVE_INFINITY,
    );
    if (!Number.isFinite(handlerMs)) return {};
    const { attempt, releases } = this.lease;
    const { worker } = this.#host.streams;
    const call = { worker, failures: attempt - 1, releases };
    return {
      timeLeft: timeLeftText({ handlerMs, ...(taskMs === undefined ? {} : { taskMs }), ...call }),
    };
  }

  #begin(): void {
    this.running = true;
    const now = elapsedMs(this.#host.clock);
    this.startedAt = now;
    this.#resumedAt = now;
    if (this.plan.timeoutMs > 0) this.#dueIn(this.plan.timeoutMs, now);
  }

  #handlerSettled(): void {
    this.running = false;
    this.#host.deadlines.clear(this);
    if (this.#hasSlot) this.#host.ended(this);
  }

  /** Its handler has ended: ends its open calls. */
  #handlerEnded(end: Outcome | Failure): void {
    this.#handlerSettled();
    if (this.#hasSlot) {
      if (!this.isDecided) this.#decide(this.#outcomeOfEnd(end));
      return;
    }
    if (this.#waiting === undefined) return;
    this.#outcomeWhileWaiting = this.#outcomeOfEnd(end);
    if (this.#host.endedSuspended(this)) this.#decide(this.#outcomeWhileWaiting);
  }

  /** A late outcome has been checked against the interruption already. */
  #outcomeOfEnd(end: Outcome | Failure): Outcome {
    if (!('type' in end)) return this.#outcomeOf(end);
    return end === this.#outcomeWhileWaiting ? end : (this.#forcedOutcome() ?? end);
  }

  #dueIn(ms: number, now: number = elapsedMs(this.#host.clock)): void {
    this.#host.deadlines.set(this, ms, now);
  }

  #abort({ type }: Interruption, reason: Error): void {
    this.#interrupted = type;
    this.abort(reason);
  }

  #outcomeOf(failure: Failure): Outcome {
    const demanded = this.#forcedOutcome();
    if (demanded !== undefined) return demanded;
    if (this.#interrupted === 'shutdown') return { type: 'released', cause: { type: 'shutdown' } };
    return (
      releasedOutcome(failure) ??
      failedOutcome(failure, failure.afterMs ?? ownWaitMs(this, this.#host))
    );
  }

  /** The outcome that an interruption forces, whatever the handler returns; `undefined` without one. */
  #forcedOutcome(): Outcome | undefined {
    if (this.#interrupted === 'cancel') return canceledOutcome(this.endReason);
    if (this.#interrupted !== 'timeout') return undefined;
    const error = new TimedOutError(this.taskId, this.plan.timeoutMs);
    return failedOutcome(
      { error, failureType: 'timeout', retryable: true },
      ownWaitMs(this, this.#host),
    );
  }

  #decide(outcome: Outcome): void {
    // A decider of the user must not be interrupted by another decision.
    this.isDecided = true;
    const finishes = outcome.type === 'succeeded' && this.plan.decider === decide;
    const decision: Decision = finishes
      ? { type: 'finish', result: outcome.result }
      : decisionOn(outcome, this, this.#host);
    // Most handlers have no writes, and most results are not shared.
    if (this.begunWrites !== undefined || this.definition.options.xcom === true) {
      this.writes = this.#host.taskWrites.settled(this, this.begunWrites, { outcome, decision });
    }
    this.#settle(decision);
  }

  #settle(decision: Decision | Suspension): void {
    this.isDecided = true;
    this.#host.deadlines.clear(this);
    if (this.#host.tracing.tracer !== undefined) this.trace.end(endOfDecision(decision));
    this.#host.decided(this, decision);
  }
}
