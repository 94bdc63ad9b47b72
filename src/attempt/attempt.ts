import { apart, atRoot } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { type DeciderFacts, decide, type Outcome } from '../domain/attempt/decider.ts';
import {
  ClosedError,
  Fatal,
  LeaseLostError,
  TaskCanceledError,
  TimedOutError,
} from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Decision, Leased, Suspension, UpstreamFact } from '../domain/port/backend.ts';
import type { Cause, UpstreamCause } from '../domain/task/cause.ts';
import type { ChannelRefusal } from '../domain/task/channel.ts';
import { type AttemptPlan, functionWaitMs } from '../enqueue/attempt-plan.ts';
import { runPlaceOf } from '../runs/shared/record.ts';
import { attemptTrace, endOfDecision, leftEnd, lostEnd } from '../tracing/spans/work.ts';
import type { Trace } from '../tracing/trace.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import {
  AttemptContext,
  type ContextSource,
  LazySignal,
  type SubRunner,
} from './attempt-context.ts';
import type { AttemptHost } from './attempt-host.ts';
import { channelFailure } from './channels.ts';
import { DeadlineNode } from './deadlines.ts';
import {
  canceledOutcome,
  checkedDecision,
  failedOutcome,
  followDecision,
  ownFailure,
  releasedOutcome,
} from './decisions.ts';
import { type CallSink, callHandler, type Failure } from './handler-call.ts';
import type { KeptJournal, OwnEnd, OwnLease } from './own-lease.ts';
import { ownUpstreams } from './upstream-facts.ts';
import type { SettledWrites, WriteBook } from './write-book.ts';

/** Why an attempt was asked to end, the weightier last. */
type Ask = 'none' | 'shutdown' | 'timeout' | 'cancel' | 'lost';

/** The place of an attempt whose lease is not held, or not any more. */
export const NOWHERE = -1;

/** One leased task in one slot, from lease to decision; its handler may outlive that as a zombie. */
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
  #ask: Ask = 'none';
  readonly #host: AttemptHost<Attempt>;
  /** Present once somebody has looked at it, or it was aborted. */
  #signal: LazySignal | undefined;
  #runner: SubRunner | undefined;
  /** Present once its handler has asked for what it holds. */
  #book: WriteBook | undefined;
  /** What its handler wrote, once it has succeeded. */
  writes: SettledWrites | undefined;
  /** Present while its handler waits without a lease. */
  #parked: { readonly resolve: () => void; readonly reject: (reason: Error) => void } | undefined;
  /** False while it is parked, and after that if its stack was given up. */
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
    this.upstreams = ownUpstreams(lease);
    this.payload = lease.payload;
  }

  get taskId(): string {
    return this.lease.id;
  }

  get runId(): string | undefined {
    return runPlaceOf(this.lease.options)?.id;
  }

  /** Its lease is not settled yet, as far as its worker knows. */
  get isHeld(): boolean {
    return this.place !== NOWHERE;
  }

  get name(): string {
    return this.lease.name;
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
    this.#trace ??= attemptTrace(this.#host.tracing, this.lease, this.plan.traceparent);
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

  get book(): WriteBook {
    this.#book ??= this.#host.books.bookOf(this);
    return this.#book;
  }

  /** Ms since the epoch, on the worker's clock. */
  now(): number {
    return this.#host.now();
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

  returned(text: string): void {
    this.#over();
    if (!this.isDecided) this.#decide(this.#asked() ?? { type: 'succeeded', result: text });
  }

  /** Lets code of the engine's own work under the lease, which says what becomes of the task. */
  startOwn(code: (own: OwnLease) => Promise<OwnEnd>): void {
    this.#begin();
    void code(this).then(
      (end) => this.#ownEnd(end),
      (error: unknown) => this.threw(ownFailure(error)),
    );
  }

  suspend(suspension: Suspension, journal: KeptJournal): Promise<void> {
    if (this.isDecided || this.#ask !== 'none') return Promise.reject(this.signal.reason);
    return new Promise((resolve, reject) => {
      this.#parked = { resolve, reject };
      this.#hasSlot = false;
      this.#spentMs += this.#host.now() - this.#wentOnAt;
      this.isDecided = true;
      this.#host.clearDeadline(this);
      this.#host.parked(this, suspension, journal);
    });
  }

  /** Its worker has leased the task again: the handler goes on. */
  resume(lease: Leased): void {
    const parked = this.#parked;
    this.#parked = undefined;
    this.lease = lease;
    this.#hasSlot = true;
    this.isDecided = false;
    this.#wentOnAt = this.#host.now();
    const { timeoutMs } = this.plan;
    if (timeoutMs > 0) {
      this.#host.setDeadline(this, Math.max(1, timeoutMs - this.#spentMs), this.#wentOnAt);
    }
    parked?.resolve();
  }

  /** Nobody will go on with what it has on its stack. */
  leave(reason: Error): void {
    const parked = this.#parked;
    if (parked === undefined) return;
    this.#parked = undefined;
    this.#trace?.end(leftEnd(reason));
    this.#abort('lost', reason);
    parked.reject(reason);
  }

  /** Nothing can come next of a task that stands alone. */
  chose(): void {
    const error = new Fatal(`${this.name} chose what comes next, and is no part of a run`);
    this.threw({ error, failureType: 'error', retryable: false });
  }

  threw(failure: Failure): void {
    this.#over();
    if (!this.isDecided) this.#decide(this.#outcomeOf(failure));
  }

  /** The timeout is over, or the time that an aborted handler may take to notice. */
  due(): void {
    const asked = this.#asked();
    if (asked !== undefined) this.#decide(asked);
    else {
      this.#abort('timeout', new TimedOutError(this.taskId, this.plan.timeoutMs));
      this.#host.setDeadline(this, LIMITS.abortGraceMs, this.now());
    }
  }

  /** Somebody asked for its end; whatever it does now, it ends as canceled. */
  cancel(cause: Cause): void {
    if (this.isDecided || this.#ask === 'cancel') return;
    this.#abort('cancel', new TaskCanceledError(this.taskId, cause));
    if (this.running) this.#host.setDeadline(this, LIMITS.cancelGraceMs, this.now());
    else this.#decide(canceledOutcome(this.#signal?.reason));
  }

  canceling(): void {
    this.cancel({ type: 'request' });
  }

  /** Its lease is another's now, or nobody's: its result will not be asked for. */
  lose(): void {
    this.isDecided = true;
    this.#host.clearDeadline(this);
    this.#trace?.end(lostEnd(this.taskId));
    this.#abort('lost', new LeaseLostError(this.taskId));
  }

  /** The worker ends. Unless it finishes all the same, it is given back uncounted. */
  shutDown(): void {
    if (this.#ask === 'none') this.#abort('shutdown', new ClosedError('the worker'));
  }

  /** What it wrote to channels was refused, and nothing has changed: it has failed. */
  refused(refusal: ChannelRefusal): void {
    if (this.isHeld) this.#decide(failedOutcome(channelFailure(refusal), undefined));
  }

  /** Gives it back before it was started. */
  giveBack(cause: Cause): void {
    if (!this.isDecided) this.#decide({ type: 'released', cause });
  }

  /** Another ended, and it ends with that: no decider is asked. */
  follow(cause: UpstreamCause): void {
    if (!this.isDecided) this.#settle(followDecision(cause));
  }

  /** It is not to be started before all of these have ended. */
  waitFor(waitFor: readonly string[]): void {
    if (!this.isDecided) this.#settle({ type: 'suspend', waitFor, wakeOn: 'all' });
  }

  /** It could not be started. */
  refuse(failure: Failure): void {
    if (!this.isDecided) this.#decide(this.#outcomeOf(failure));
  }

  #begin(): void {
    this.running = true;
    const now = this.#host.now();
    this.startedAt = now;
    this.#wentOnAt = now;
    if (this.plan.timeoutMs > 0) this.#host.setDeadline(this, this.plan.timeoutMs, now);
  }

  #ownEnd(end: OwnEnd): void {
    this.#over();
    if (this.isDecided) return;
    // Its worker hears from the backend that the lease is lost.
    if (end.type === 'lost') this.#trace?.end(lostEnd(this.taskId));
    else {
      const asked = this.#asked();
      if (asked !== undefined) this.#decide(asked);
      else if (end.type === 'outcome') this.#decide(end.outcome);
      else this.#settle(end.decision);
    }
  }

  #over(): void {
    this.running = false;
    this.#host.clearDeadline(this);
    if (this.#hasSlot) this.#host.ended(this);
    else this.#host.unparked(this);
  }

  #abort(asked: Ask, reason: Error): void {
    this.#ask = asked;
    this.#signal ??= new LazySignal();
    this.#signal.abort(reason);
  }

  #outcomeOf(failure: Failure): Outcome {
    const asked = this.#asked();
    if (asked !== undefined) return asked;
    if (this.#ask === 'shutdown') return { type: 'released', cause: { type: 'shutdown' } };
    return releasedOutcome(failure) ?? failedOutcome(failure, failure.afterMs ?? this.#ownWaitMs());
  }

  /** How it ends whatever its handler makes of that; `undefined` while nobody has asked. */
  #asked(): Outcome | undefined {
    if (this.#ask === 'cancel') return canceledOutcome(this.#signal?.reason);
    return this.#ask === 'timeout' ? this.#timedOut() : undefined;
  }

  #timedOut(): Outcome {
    const error = new TimedOutError(this.taskId, this.plan.timeoutMs);
    return failedOutcome({ error, failureType: 'timeout', retryable: true }, this.#ownWaitMs());
  }

  #ownWaitMs(): number | undefined {
    try {
      return atRoot(() => functionWaitMs(this.plan, this.attempt));
    } catch (error) {
      this.#host.misbehaved(`backoff of ${this.name}`, error);
      return undefined;
    }
  }

  #decide(outcome: Outcome): void {
    // Nothing else may decide while a decider of the user does.
    this.isDecided = true;
    const decision = this.#decisionOn(outcome);
    this.writes = this.#host.books.settled(this, this.#book, { outcome, decision });
    this.#settle(decision);
  }

  #settle(decision: Decision | Suspension): void {
    this.isDecided = true;
    this.#host.clearDeadline(this);
    if (this.#host.tracing.tracer !== undefined) this.trace.end(endOfDecision(decision));
    this.#host.decided(this, decision);
  }

  #decisionOn(outcome: Outcome): Decision {
    const { decider, policy } = this.plan;
    if (decider === decide && outcome.type === 'succeeded') {
      return { type: 'finish', result: outcome.result };
    }
    const { id, name, user, attempt, releases } = this.lease;
    const random = this.#host.random();
    const facts: DeciderFacts = { id, name, user, attempt, releases, policy, random };
    if (decider === decide) return decide(outcome, facts);
    try {
      const given = atRoot(() => apart(decider, outcome, facts));
      return checkedDecision(given, outcome) ?? decide(outcome, facts);
    } catch (error) {
      this.#host.misbehaved(`decider of ${name}`, error);
      return decide(outcome, facts);
    }
  }
}
