/** One call of a node's handler, with its timeout: the handler's context, and the end of the call. */

import {
  AttemptContext,
  type ContextSource,
  LazySignal,
  type SubRunner,
  type TimeLimit,
  type Tries,
} from '../../attempt/attempt-context.ts';
import { type CallSink, callHandler, type Failure } from '../../attempt/handler-call.ts';
import { HandlerCalls } from '../../attempt/handler-calls.ts';
import { type HandlerWrites, NO_WRITES, PendingWrites } from '../../attempt/pending-writes.ts';
import { HandlerReports } from '../../attempt/reports.ts';
import { type AbortWatcher, unwatchAbort, watchAbort } from '../../base/abort-watch.ts';
import type { Logger } from '../../base/logger.ts';
import { elapsedMs, type Timer } from '../../base/time.ts';
import type { ValueCodec } from '../../codec/codec.ts';
import { ControlNotReturnedError, TimedOutError } from '../../domain/errors/errors.ts';
import { LIMITS } from '../../domain/limits.ts';
import type { UpstreamFact } from '../../domain/port/backend.ts';
import type { Cause } from '../../domain/task/cause.ts';
import type { PartRequest, Trace } from '../../tracing/trace.ts';
import { endOfCall, partSpan } from '../../tracing/work.ts';
import type { Control } from '../../workflow/control.ts';
import { DynamicAttemptContext } from './dynamic-context.ts';
import type { NodeCall, NodeTools } from './node-call.ts';

/** The end of one call. `writes`: buffered writes of the handler, applied with the outcome. */
export type CallEnd =
  | { readonly type: 'returned'; readonly text: string; readonly writes: HandlerWrites }
  | { readonly type: 'chose'; readonly control: Control; readonly writes: HandlerWrites }
  | { readonly type: 'threw'; readonly failure: Failure }
  | { readonly type: 'canceled'; readonly cause: Cause }
  /** The handler ignores its signal: a retry would run beside it. */
  | { readonly type: 'hung'; readonly error: unknown };

const NO_UPSTREAMS: readonly UpstreamFact[] = [];

/** A run of many steps makes one per step: it has no closures, and allocates parts on first use. */
export class NodeAttempt implements ContextSource, CallSink, AbortWatcher, TimeLimit {
  readonly upstreams: readonly UpstreamFact[] = NO_UPSTREAMS;
  readonly trace: Trace;
  readonly #tools: NodeTools;
  readonly #call: NodeCall;
  readonly #tries: Tries;
  readonly #aborted = new LazySignal();
  readonly #ended: (end: CallEnd) => void;
  #pendingWrites: PendingWrites | undefined;
  reported: HandlerReports | undefined;
  openCalls: HandlerCalls | undefined;
  #runner: SubRunner | undefined;
  #isSettling = false;
  #timer: Timer | undefined;
  /** Its deadline by the clock of this process. */
  #dueAt = 0;
  /** Rest of its timeout while it waits without a lease, in ms. */
  #leftMs = 0;
  /** Present after its timeout. */
  #timeout: TimedOutError | undefined;
  /** Present for dynamic handlers, which may cancel their run. */
  #dynamic: DynamicAttemptContext | undefined;

  private constructor(
    tools: NodeTools,
    call: NodeCall,
    tries: Tries,
    ended: (end: CallEnd) => void,
  ) {
    this.#tools = tools;
    this.#call = call;
    this.#tries = tries;
    this.#ended = ended;
    this.trace = call.trace.part(() => spanOf(call, this.attempt));
  }

  /** Calls the handler, after `tries` earlier calls; the promise never rejects. */
  static run(tools: NodeTools, call: NodeCall, tries: Tries): Promise<CallEnd> {
    return new Promise((resolve) => new NodeAttempt(tools, call, tries, resolve).#begin());
  }

  /** Number of the attempt, from 1. */
  get attempt(): number {
    return this.#tries.failures + 1;
  }

  get taskId(): string {
    return this.#call.taskId;
  }

  get runId(): string | undefined {
    return this.#call.runId;
  }

  get name(): string {
    return this.#call.definition.name;
  }

  get user(): string {
    return this.#call.user;
  }

  get fencingToken(): number {
    return this.#call.holder.fencingToken;
  }

  get signal(): AbortSignal {
    return this.#aborted.signal;
  }

  get log(): Logger {
    return this.#tools.log;
  }

  get codec(): ValueCodec {
    return this.#tools.codec;
  }

  get runner(): SubRunner {
    this.#runner ??= this.#call.runnerFor(this.#tries);
    return this.#runner;
  }

  get pendingWrites(): PendingWrites {
    this.#pendingWrites ??= new PendingWrites(
      this.#call.channels,
      this.#tools.xcom,
      this.#call.user,
    );
    return this.#pendingWrites;
  }

  get calls(): HandlerCalls {
    this.openCalls ??= new HandlerCalls(this.taskId);
    return this.openCalls;
  }

  get reports(): HandlerReports {
    const { holder, writer: node, plan } = this.#call;
    this.reported ??= new HandlerReports({
      ...{ opener: holder.streams, node, attempt: this.attempt },
      ...{ clock: this.#tools.clock, log: this.log, keepLogs: plan.keepLogs },
      repeats: () => this.runner.repeats(),
    });
    return this.reported;
  }

  /** Ends the handler's waits: the next steps need the lease. */
  settling(): void {
    this.#isSettling = true;
    this.#call.holder.recall?.()?.catch(() => undefined);
  }

  reportResult(text: string): void {
    const failure = this.#failureOf(undefined);
    if (failure !== undefined) this.#end({ type: 'threw', failure });
    else this.#end({ type: 'returned', text, writes: this.#writes() });
  }

  reportChoice(control: Control): void {
    const failure = this.#failureOf(control);
    if (failure !== undefined) this.#end({ type: 'threw', failure });
    else this.#end({ type: 'chose', control, writes: this.#writes() });
  }

  reportError(failure: Failure): void {
    // An output that contains a control cannot be stored; the control is the better explanation.
    const isOutput = failure.failureType === 'invalid-result';
    const why = isOutput ? (this.#failureOf(undefined) ?? failure) : failure;
    this.#end({ type: 'threw', failure: this.#timedOut(why) });
  }

  aborted(reason: unknown): void {
    this.#aborted.abort(reason);
    if (!this.#call.isPatient) this.#end({ type: 'hung', error: reason });
  }

  #begin(): void {
    const { codec } = this.#tools;
    const { node, definition, handler, payload, cycles, plan, signal } = this.#call;
    if (plan.timeoutMs > 0) this.#dueIn(plan.timeoutMs);
    watchAbort(signal, this);
    const isDynamic = cycles !== undefined && definition.dynamic !== undefined;
    if (isDynamic)
      this.#dynamic = new DynamicAttemptContext(this, { ...cycles, node: node ?? this.name });
    const ctx = this.#dynamic ?? new AttemptContext(this);
    this.trace.within(() => callHandler({ definition, handler, payload, ctx, codec }, this));
  }

  get limit(): TimeLimit {
    return this;
  }

  pause(): number | undefined {
    const outerMs = this.#call.outer?.pause();
    if (this.#timer === undefined || this.#timeout !== undefined) return outerMs;
    this.#timer.cancel();
    this.#leftMs = Math.max(1, this.#dueAt - elapsedMs(this.#tools.clock));
    return Math.min(this.#leftMs, outerMs ?? this.#leftMs);
  }

  resume(): void {
    this.#call.outer?.resume();
    if (this.#isSettling || this.#timer === undefined || this.#timeout !== undefined) return;
    this.#dueIn(this.#leftMs);
  }

  #dueIn(ms: number): void {
    const { clock } = this.#tools;
    this.#dueAt = elapsedMs(clock) + ms;
    this.#timer = clock.setTimer(ms, () => this.#timeOut());
  }

  #timeOut(): void {
    const error = new TimedOutError(this.taskId, this.#call.plan.timeoutMs);
    this.#timeout = error;
    this.#aborted.abort(error);
    const hang = (): void => this.#end({ type: 'hung', error });
    this.#timer = this.#tools.clock.setTimer(LIMITS.abortGraceMs, hang);
  }

  /** Resolves the promise; later ends are ignored. */
  #end(end: CallEnd): void {
    this.#timer?.cancel();
    unwatchAbort(this.#call.signal, this);
    const canceled = this.#dynamic?.canceled;
    const last: CallEnd = canceled === undefined ? end : { type: 'canceled', cause: canceled.why };
    this.trace.end(endOfCall(last));
    this.#ended(last);
  }

  #writes(): HandlerWrites {
    return this.#pendingWrites === undefined ? NO_WRITES : this.#pendingWrites.take();
  }

  /** Why the return value of the handler is rejected. */
  #failureOf(control: Control | undefined): Failure | undefined {
    if (this.#timeout !== undefined) return timedOut(this.#timeout);
    const left = this.#dynamic?.unreturned(control) ?? [];
    if (left.length === 0) return undefined;
    const error = new ControlNotReturnedError(this.#call.node ?? this.name, left);
    return { error, failureType: 'invalid-result', retryable: false };
  }

  /** The timeout is a better explanation than the error that an aborted handler throws. */
  #timedOut(failure: Failure): Failure {
    return this.#timeout === undefined ? failure : timedOut(this.#timeout);
  }
}

function timedOut(error: TimedOutError): Failure {
  return { error, failureType: 'timeout', retryable: true };
}

function spanOf({ node, definition, runId }: NodeCall, attempt: number): PartRequest {
  const attributes = { 'fairloom.task.name': definition.taskName, 'fairloom.attempt': attempt };
  return partSpan({ kind: 'node', name: node ?? definition.name, runId, attributes });
}
