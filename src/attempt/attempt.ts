import type { Logger } from '../base/logger.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { decide, type Outcome } from '../domain/attempt/decider.ts';
import {
  ClosedError,
  Fatal,
  LeaseLostError,
  TaskCanceledError,
  TimedOutError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Decision, Leased, Suspension, UpstreamFact } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import type { ChannelRefusal } from '../domain/task/channel.ts';
import { nameIn } from '../domain/task/task-name.ts';
import type { AttemptPlan } from '../enqueue/attempt-plan.ts';
import {
  attemptTrace,
  endOfDecision,
  leftEnd,
  lostEnd,
  type TaskRun,
} from '../tracing/spans/work.ts';
import type { Trace } from '../tracing/trace.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import {
  AttemptContext,
  type ContextSource,
  LazySignal,
  type SubRunner,
} from './attempt-context.ts';
import type { AttemptHost, Interruption } from './attempt-host.ts';
import { channelFailure } from './channels.ts';
import { DeadlineNode } from './deadlines.ts';
import {
  canceledOutcome,
  decisionOn,
  failedOutcome,
  ownFailure,
  ownWaitMs,
  releasedOutcome,
} from './decisions.ts';
import { type CallSink, callHandler, type Failure } from './handler-call.ts';
import type { KeptJournal, OwnEnd, OwnLease } from './own-lease.ts';
import type { PendingWrites, SettledWrites } from './pending-writes.ts';
import { HandlerReports } from './reports.ts';
import { LeaseStreams } from './streams.ts';

/** The place of an attempt whose lease is not held, or not any more. */
export const NOWHERE = -1;

/**
 * One leased task in one slot: its handler is called, what that comes to is decided, and the decision
 * goes on to be settled. The handler may outlive that.
 */
export class Attempt extends DeadlineNode implements CallSink, ContextSource, OwnLease {
  /** In force; another one after {@link Attempt.suspend}. */
  lease: Leased;
  readonly definition: TaskDefinition;
  readonly plan: AttemptPlan;
  /** When the handler was called; 0 before. */
  startedAt = 0;
  /** Its handler was called and has not settled. */
  running = false;
  /** Its decision is on the way to the backend, or nobody wants one any more. */
  isDecided = false;
  /** Where its worker keeps it among the leases that are not settled yet. */
  place: number = NOWHERE;
  upstreams: readonly UpstreamFact[];
  /** JSON text of the input; of a node of a run it may be built after the lease. */
  payload: string;
  /** The weightiest reason to end so far. */
  #interrupted: Interruption['type'] | undefined;
  readonly #host: AttemptHost<Attempt>;
  /** Present once somebody has looked at it, or it was aborted. */
  #signal: LazySignal | undefined;
  #runner: SubRunner | undefined;
  /** Present once its handler has asked for what it holds. */
  #pendingWrites: PendingWrites | undefined;
  /** Both present once a handler has reported something. */
  #streams: LeaseStreams | undefined;
  reported: HandlerReports | undefined;
  /** What its handler wrote, once it has succeeded. */
  writes: SettledWrites | undefined;
  /** Present while its handler waits without a lease. */
  #waiting: { readonly resolve: () => void; readonly reject: (reason: Error) => void } | undefined;
  /** False while it is suspended, and after that if its handler was given up. */
  #hasSlot = true;
  /** When its handler was called, or went on. */
  #wentOnAt = 0;
  /** How long its handler has run under earlier leases, in ms. */
  #spentMs = 0;
  /** Present once its span was begun; that is over when a decision is made. */
  #trace: Trace | undefined;

  constructor(
    host: AttemptHost<Attempt>,
    lease: Leased,
    definition: TaskDefinition,
    plan: AttemptPlan,
  ) {
    super();
    this.#host = host;
    this.lease = lease;
    this.definition = definition;
    this.plan = plan;
    this.upstreams = lease.upstreams;
    this.payload = lease.payload;
    // A member of a group waits for its turn, not for what the one before it gave.
    if (this.upstreams.length > 0 && this.run?.node.includes('/') === true) this.upstreams = [];
  }

  get taskId(): string {
    return this.lease.id;
  }

  /** What it is a part of; `undefined` when it stands alone. */
  get run(): TaskRun | undefined {
    return this.#host.runOf(this.lease);
  }

  get runId(): string | undefined {
    return this.run?.id;
  }

  /** Its lease is not settled yet, as far as its worker knows. */
  get isLeased(): boolean {
    return this.place !== NOWHERE;
  }

  get name(): string {
    return nameIn(this.lease.name);
  }

  get user(): string {
    return this.lease.user;
  }

  get attempt(): number {
    return this.lease.attempt;
  }

  /** The rising number in front of the token. */
  get fencingToken(): number {
    return Number.parseInt(this.lease.token, 10);
  }

  get trace(): Trace {
    const { tracing } = this.#host;
    this.#trace ??= attemptTrace(tracing, this.lease, this.run, this.plan.traceparent);
    return this.#trace;
  }

  get signal(): AbortSignal {
    this.#signal ??= new LazySignal();
    return this.#signal.signal;
  }

  get log(): Logger {
    return this.#host.log;
  }

  get codec(): ValueCodec {
    return this.#host.codec;
  }

  get runner(): SubRunner {
    this.#runner ??= this.#host.runnerOf(this);
    return this.#runner;
  }

  get pendingWrites(): PendingWrites {
    this.#pendingWrites ??= this.#host.taskWrites.newFor(this);
    return this.#pendingWrites;
  }

  get streams(): LeaseStreams {
    this.#streams ??= new LeaseStreams(this.#host.streams, this);
    return this.#streams;
  }

  get reports(): HandlerReports {
    const { log, streams: opener, attempt, plan } = this;
    const whose = { opener, node: '', attempt, log, keepLogs: plan.keepLogs };
    this.reported ??= new HandlerReports({ ...whose, clock: this.#host.clock });
    return this.reported;
  }

  /** How long ago its handler was called, in ms; 0 when it was not. */
  get ranMs(): number {
    return this.startedAt === 0 ? 0 : this.#host.clock.now() - this.startedAt;
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

  /** Lets code of the engine's own work under the lease, which says what becomes of the task. */
  startOwn(code: (own: OwnLease) => Promise<OwnEnd>): void {
    this.#begin();
    void code(this).then(
      (end) => {
        this.#over();
        this.endWith(end);
      },
      (error: unknown) => this.threw(ownFailure(error)),
    );
  }

  returned(text: string): void {
    this.#over();
    if (!this.isDecided) this.#decide(this.#demanded() ?? { type: 'succeeded', result: text });
  }

  threw(failure: Failure): void {
    this.#over();
    this.refuse(failure);
  }

  /** Nothing can come next of a task that stands alone. */
  chose(): void {
    const error = new Fatal(`${this.name} chose what comes next, and is no part of a run`);
    this.threw({ error, failureType: 'error', retryable: false });
  }

  /** Its handler threw, or it could not be started. */
  refuse(failure: Failure): void {
    if (!this.isDecided) this.#decide(this.#outcomeOf(failure));
  }

  /** What it wrote to channels was refused, and nothing has changed: it has failed. */
  refused(refusal: ChannelRefusal): void {
    if (this.isLeased) this.#decide(failedOutcome(channelFailure(refusal), undefined));
  }

  /** Gives it back before it was started. */
  giveBack(cause: Cause): void {
    this.endWith({ type: 'outcome', outcome: { type: 'released', cause } });
  }

  /** What the engine's own code made of it, in place of a handler or before one was called. */
  endWith(end: OwnEnd): void {
    if (this.isDecided) return;
    // Its worker hears from the backend that the lease is lost.
    if (end.type === 'lost') this.#trace?.end(lostEnd(this.taskId));
    else {
      const demanded = this.#demanded();
      if (demanded !== undefined) this.#decide(demanded);
      else if (end.type === 'outcome') this.#decide(end.outcome);
      else this.#settle(end.decision);
    }
  }

  /** Whoever wants its end says so here; what weighs less than what was said before changes nothing. */
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
        else this.#decide(canceledOutcome(this.#signal?.reason));
        return;
      case 'lost':
        this.isDecided = true;
        this.#host.deadlines.clear(this);
        this.#trace?.end(lostEnd(this.taskId));
        this.#abort(why, new LeaseLostError(this.taskId));
    }
  }

  /** The timeout is over, or the time that an interrupted handler may take to notice. */
  due(): void {
    const demanded = this.#demanded();
    if (demanded === undefined) this.interrupt({ type: 'timeout' });
    else this.#decide(demanded);
  }

  async suspend(suspension: Suspension, journal: KeptJournal): Promise<void> {
    await this.#streams?.rest();
    if (this.isDecided || this.#interrupted !== undefined) {
      this.#streams?.goOn();
      throw this.signal.reason;
    }
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#hasSlot = false;
      this.#spentMs += this.#host.clock.now() - this.#wentOnAt;
      this.isDecided = true;
      this.#host.deadlines.clear(this);
      this.#host.suspended(this, suspension, journal);
    });
  }

  /** Its worker has leased the task again: the handler goes on. */
  resume(lease: Leased): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.lease = lease;
    this.#hasSlot = true;
    this.isDecided = false;
    this.#wentOnAt = this.#host.clock.now();
    const { timeoutMs } = this.plan;
    if (timeoutMs > 0) this.#dueIn(Math.max(1, timeoutMs - this.#spentMs), this.#wentOnAt);
    this.#streams?.goOn();
    waiting?.resolve();
  }

  /** Nobody will go on with its suspended handler. */
  leave(reason: Error): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.#trace?.end(leftEnd(reason));
    this.#abort({ type: 'lost' }, reason);
    this.#streams?.goOn();
    waiting.reject(reason);
  }

  #begin(): void {
    this.running = true;
    const now = this.#host.clock.now();
    this.startedAt = now;
    this.#wentOnAt = now;
    if (this.plan.timeoutMs > 0) this.#dueIn(this.plan.timeoutMs, now);
  }

  #over(): void {
    this.running = false;
    this.#host.deadlines.clear(this);
    if (this.#hasSlot) this.#host.ended(this);
    else this.#host.endedSuspended(this);
  }

  #dueIn(ms: number, now: number = this.#host.clock.now()): void {
    this.#host.deadlines.set(this, ms, now);
  }

  #abort({ type }: Interruption, reason: Error): void {
    this.#interrupted = type;
    this.#signal ??= new LazySignal();
    this.#signal.abort(reason);
  }

  #outcomeOf(failure: Failure): Outcome {
    const demanded = this.#demanded();
    if (demanded !== undefined) return demanded;
    if (this.#interrupted === 'shutdown') return { type: 'released', cause: { type: 'shutdown' } };
    return (
      releasedOutcome(failure) ??
      failedOutcome(failure, failure.afterMs ?? ownWaitMs(this, this.#host))
    );
  }

  /** How it ends whatever its handler makes of the interruption; `undefined` without such a one. */
  #demanded(): Outcome | undefined {
    if (this.#interrupted === 'cancel') return canceledOutcome(this.#signal?.reason);
    if (this.#interrupted !== 'timeout') return undefined;
    const error = new TimedOutError(this.taskId, this.plan.timeoutMs);
    return failedOutcome(
      { error, failureType: 'timeout', retryable: true },
      ownWaitMs(this, this.#host),
    );
  }

  #decide(outcome: Outcome): void {
    // Nothing else may decide while a decider of the user does.
    this.isDecided = true;
    const finishes = outcome.type === 'succeeded' && this.plan.decider === decide;
    const decision: Decision = finishes
      ? { type: 'finish', result: outcome.result }
      : decisionOn(outcome, this, this.#host);
    // Most handlers hold nothing, and most results are for nobody else.
    if (this.#pendingWrites !== undefined || this.definition.options.xcom === true) {
      this.writes = this.#host.taskWrites.settled(this, this.#pendingWrites, { outcome, decision });
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
