import type { Logger } from '../base/logger.ts';
import { messageOf } from '../base/message-of.ts';
import type { Decision, Leased, UpstreamFact } from '../domain/backend.ts';
import { type DeciderFacts, decide, type Outcome } from '../domain/decider.ts';
import { ClosedError, LeaseLostError, TaskCanceledError, TimedOutError } from '../domain/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import { AttemptContext, type ContextSource, LazySignal } from './attempt-context.ts';
import { type AttemptPlan, functionWaitMs } from './attempt-plan.ts';
import type { ValueCodec } from './codec.ts';
import { DeadlineNode } from './deadlines.ts';
import { type CallSink, callHandler, type Failure } from './handler-call.ts';
import { errorText } from './task-error.ts';

/** Why an attempt was asked to end, the weightier last. */
type Cause = 'none' | 'shutdown' | 'timeout' | 'cancel' | 'lost';

/** What an attempt needs of its worker. */
export interface AttemptHost {
  readonly codec: ValueCodec;
  readonly log: Logger;
  random(): number;
  /** Ms since the epoch, for how long the attempt took. */
  now(): number;
  setDeadline(attempt: Attempt, ms: number): void;
  clearDeadline(attempt: Attempt): void;
  /** The decision is made: from now on the handler changes nothing. */
  decided(attempt: Attempt, decision: Decision): void;
  /** The handler's promise has settled: its slot is free. */
  ended(attempt: Attempt): void;
  /** A decider or backoff function of the user threw. */
  misbehaved(operation: string, error: unknown): void;
}

/** One leased task in one slot, from lease to decision; its handler may outlive that as a zombie. */
export class Attempt extends DeadlineNode implements CallSink, ContextSource {
  readonly lease: Leased;
  readonly definition: TaskDefinition;
  readonly plan: AttemptPlan;
  /** When the handler was called; 0 before. */
  startedAt = 0;
  /** Its handler was called and has not settled. */
  running = false;
  /** Its decision is on the way to the backend, or nobody wants one any more. */
  isDecided = false;
  upstreams: readonly UpstreamFact[];
  #cause: Cause = 'none';
  readonly #host: AttemptHost;
  readonly #signal = new LazySignal();

  constructor(host: AttemptHost, lease: Leased, definition: TaskDefinition, plan: AttemptPlan) {
    super();
    this.#host = host;
    this.lease = lease;
    this.definition = definition;
    this.plan = plan;
    this.upstreams = lease.upstreams;
  }

  get taskId(): string {
    return this.lease.id;
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

  get traceparent(): string | undefined {
    return this.plan.traceparent;
  }

  get signal(): AbortSignal {
    return this.#signal.signal;
  }

  get log(): Logger {
    return this.#host.log;
  }

  get codec(): ValueCodec {
    return this.#host.codec;
  }

  /** Ms since the epoch, on the worker's clock. */
  now(): number {
    return this.#host.now();
  }

  /** Calls the handler. */
  start(handler: Handler): void {
    this.running = true;
    this.startedAt = this.#host.now();
    if (this.plan.timeoutMs > 0) this.#host.setDeadline(this, this.plan.timeoutMs);
    const { definition, lease, codec } = this;
    const ctx = new AttemptContext(this);
    callHandler({ definition, handler, payload: lease.payload, ctx, codec }, this);
  }

  returned(text: string): void {
    this.#over();
    if (this.isDecided) return;
    if (this.#cause === 'cancel') this.#decide(this.#canceled());
    else this.#decide({ type: 'succeeded', result: text });
  }

  threw(failure: Failure): void {
    this.#over();
    if (!this.isDecided) this.#decide(this.#outcomeOf(failure));
  }

  /** The timeout is over, or the time that an aborted handler may take to notice. */
  due(): void {
    if (this.#cause === 'timeout') this.#decide(this.#timedOut());
    else if (this.#cause === 'cancel') this.#decide(this.#canceled());
    else {
      this.#abort('timeout', new TimedOutError(this.taskId, this.plan.timeoutMs));
      this.#host.setDeadline(this, LIMITS.abortGraceMs);
    }
  }

  /** Somebody asked for its end; whatever it does now, it ends as canceled. */
  cancel(reason: string): void {
    if (this.isDecided || this.#cause === 'cancel') return;
    this.#abort('cancel', new TaskCanceledError(this.taskId, reason));
    if (this.running) this.#host.setDeadline(this, LIMITS.cancelGraceMs);
    else this.#decide(this.#canceled());
  }

  /** Its lease is another's now, or nobody's: its result will not be asked for. */
  lose(): void {
    this.isDecided = true;
    this.#host.clearDeadline(this);
    this.#abort('lost', new LeaseLostError(this.taskId));
  }

  /** The worker ends. Unless it finishes all the same, it is given back uncounted. */
  shutDown(): void {
    if (this.#cause === 'none') this.#abort('shutdown', new ClosedError('the worker'));
  }

  /** Gives it back before it was started. */
  giveBack(reason: string): void {
    if (!this.isDecided) this.#decide({ type: 'released', reason });
  }

  /** It could not be started. */
  refuse(failure: Failure): void {
    if (!this.isDecided) this.#decide(this.#outcomeOf(failure));
  }

  #over(): void {
    this.running = false;
    this.#host.clearDeadline(this);
    this.#host.ended(this);
  }

  #abort(cause: Cause, reason: Error): void {
    this.#cause = cause;
    this.#signal.abort(reason);
  }

  #outcomeOf(failure: Failure): Outcome {
    if (this.#cause === 'cancel') return this.#canceled();
    if (this.#cause === 'timeout') return this.#timedOut();
    if (this.#cause === 'shutdown') return { type: 'released', reason: 'the worker shut down' };
    const { afterMs } = failure;
    if (failure.uncounted === true && afterMs !== undefined) {
      return { type: 'released', reason: messageOf(failure.error), afterMs };
    }
    return failedOutcome(failure, afterMs ?? this.#ownWaitMs());
  }

  #timedOut(): Outcome {
    const error = new TimedOutError(this.taskId, this.plan.timeoutMs);
    return failedOutcome({ error, failureType: 'timeout', retryable: true }, this.#ownWaitMs());
  }

  #canceled(): Outcome {
    return { type: 'canceled', reason: 'cancel was requested' };
  }

  #ownWaitMs(): number | undefined {
    try {
      return functionWaitMs(this.plan, this.attempt);
    } catch (error) {
      this.#host.misbehaved(`backoff of ${this.name}`, error);
      return undefined;
    }
  }

  #decide(outcome: Outcome): void {
    this.isDecided = true;
    this.#host.clearDeadline(this);
    this.#host.decided(this, this.#decisionOn(outcome));
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
      return checkedDecision(decider(outcome, facts)) ?? decide(outcome, facts);
    } catch (error) {
      this.#host.misbehaved(`decider of ${name}`, error);
      return decide(outcome, facts);
    }
  }
}

/** The outcome of a failed call. */
export function failedOutcome(failure: Failure, afterMs: number | undefined): Outcome {
  const { error, failureType, retryable } = failure;
  const outcome = { type: 'failed', failureType, retryable, error: errorText(error) } as const;
  return afterMs === undefined ? outcome : { ...outcome, afterMs };
}

const DECISIONS: readonly unknown[] = ['finish', 'retry', 'dead-letter', 'cancel', 'release'];

/** A user's decider may answer anything: waits are brought into bounds, nonsense is refused. */
export function checkedDecision(decision: Decision): Decision | undefined {
  if (!DECISIONS.includes(decision?.type)) return undefined;
  if (decision.type === 'finish') {
    return typeof decision.result === 'string' ? decision : undefined;
  }
  if (decision.type !== 'retry' && decision.type !== 'release') return decision;
  if (decision.delayMs === undefined) return decision.type === 'release' ? decision : undefined;
  if (!Number.isFinite(decision.delayMs)) return undefined;
  const least = decision.type === 'release' ? LIMITS.releaseMinMs : 0;
  const delayMs = Math.min(Math.max(least, Math.round(decision.delayMs)), LIMITS.delayMaxMs);
  return { ...decision, delayMs };
}
