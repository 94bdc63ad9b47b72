import type { Logger } from '../base/logger.ts';
import type { Duration, Moment } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { errorOf } from '../codec/task-error.ts';
import { WaitOpenError } from '../domain/errors/errors.ts';
import { checkOptions } from '../domain/errors/options.ts';
import type { UpstreamFact } from '../domain/port/backend.ts';
import { nameIn } from '../domain/task/task-name.ts';
import type { WaitAnswer } from '../domain/task/wait.ts';
import { withFields } from '../logging/logger.ts';
import type { Trace } from '../tracing/trace.ts';
import type { AskOptions } from '../workflow/ask.ts';
import type { Channel, ChannelOf } from '../workflow/channel.ts';
import type { RunMetadata } from '../workflow/metadata.ts';
import { demandStep } from '../workflow/pipeline-definition.ts';
import type { Step } from '../workflow/step.ts';
import {
  SUB_RUN_KEYS,
  type SubRunOptions,
  type TaskContext,
  type Upstream,
  type Upstreams,
  type WaitOptions,
} from '../workflow/task-context.ts';
import type { TaskStream } from '../workflow/task-stream.ts';
import type { XCom } from '../workflow/xcom.ts';
import type { HandlerCalls } from './handler-calls.ts';
import type { KeptLines } from './kept-log.ts';
import type { PendingWrites } from './pending-writes.ts';
import type { HandlerReports } from './reports.ts';
import {
  askPeople,
  type HandlerWait,
  sleepFor,
  sleepUntil,
  type Waiter,
  waitForSignal,
  waitText,
} from './waits.ts';

/** How long a handler may take. What it waits for without a lease does not count. */
export interface TimeLimit {
  /** What is left of it then, in ms; `undefined` without a limit. */
  pause(): number | undefined;
  resume(): void;
}

/** What a handler runs by `ctx.run`; `signal` ends it. */
export interface RunCall {
  readonly step: unknown;
  readonly input: unknown;
  readonly id: string | undefined;
  readonly signal: AbortSignal;
  /** Of the handler. */
  readonly trace: Trace;
  /** Absent when it has logged nothing that is kept. */
  readonly lines?: KeptLines | undefined;
  /** Of the handler, unless its attempt sees to that. */
  readonly limit?: TimeLimit | undefined;
}

/** What a handler waits for; `signal` ends it. */
export interface WaitCall {
  readonly wait: HandlerWait;
  readonly id: string | undefined;
  readonly signal: AbortSignal;
  /** As of {@link RunCall}. */
  readonly lines?: KeptLines | undefined;
  /** Likewise. */
  readonly limit?: TimeLimit | undefined;
}

/** Runs steps for a handler, and waits for it. Calls of one handler are counted together. */
export interface SubRunner {
  run(call: RunCall): Promise<unknown>;
  wait(call: WaitCall): Promise<WaitAnswer>;
  /**
   * Whether the handler has started anew, and an earlier part of the same attempt has logged before a call that this one
   * has yet to make.
   */
  repeats(): Promise<boolean>;
}

/** Makes what one attempt of a handler runs its steps by. */
export type SubRunners = (tries: Tries) => SubRunner;

/** How often a handler was called before, to no end. */
export interface Tries {
  /** Attempts that have failed. */
  readonly failures: number;
  /** Times that it has given itself back. */
  readonly releases: number;
}

/** Where a context gets what it shows. */
export interface ContextSource {
  readonly taskId: string;
  /** Absent for a task that stands alone. */
  readonly runId?: string | undefined;
  readonly name: string;
  readonly user: string;
  readonly attempt: number;
  readonly fencingToken: number;
  /** Made when it is first asked for. */
  readonly trace: Trace;
  readonly upstreams: readonly UpstreamFact[];
  /** Made when it is first asked for. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Made when the handler streams, logs, or says how far it has come. */
  readonly reports: HandlerReports;
  readonly codec: ValueCodec;
  /** Asked for when the handler runs its first step. */
  readonly runner: SubRunner;
  /** Absent where suspending the attempt stops its time. */
  readonly limit?: TimeLimit | undefined;
  /** Made when the handler asks for what it holds. */
  readonly pendingWrites: PendingWrites;
  /** Present once the handler has reported something. */
  readonly reported: HandlerReports | undefined;
  /** Made by the first call that gives a promise. */
  readonly calls: HandlerCalls;
}

/** The handler's view of its attempt. Parts that cost something are made on first use. */
export class AttemptContext implements TaskContext {
  readonly #source: ContextSource;
  #log: Logger | undefined;
  #upstream: Upstreams | undefined;
  /** Its waits and runs that are not over, as errors call them; made for the first. */
  #open: Set<OpenCall> | undefined;

  constructor(source: ContextSource) {
    this.#source = source;
  }

  get taskId(): string {
    return this.#source.taskId;
  }

  get runId(): string | undefined {
    return this.#source.runId;
  }

  get user(): string {
    return this.#source.user;
  }

  get attempt(): number {
    return this.#source.attempt;
  }

  get fencingToken(): number {
    return this.#source.fencingToken;
  }

  get traceparent(): string | undefined {
    return this.#source.trace.traceparent;
  }

  get signal(): AbortSignal {
    return this.#source.signal;
  }

  get log(): Logger {
    const { log, taskId, name, user } = this.#source;
    this.#log ??= this.#source.reports.keptLog(withFields(log, { task: taskId, name, user }));
    return this.#log;
  }

  progress(fraction: number, message?: string): void {
    this.#source.reports.progress(fraction, message);
  }

  get upstream(): Upstreams {
    this.#upstream ??= new LeasedUpstreams(this.#source.upstreams, this.#source.codec);
    return this.#upstream;
  }

  channel<T extends object>(definition: Channel<T>): ChannelOf<T> {
    const { calls, pendingWrites } = this.#source;
    // The definition says of which type its values are.
    return calls.view(pendingWrites.channels.open(definition)) as unknown as ChannelOf<T>;
  }

  stream(name: string): TaskStream {
    return this.#source.calls.view(this.#source.reports.stream(name));
  }

  get metadata(): RunMetadata {
    return this.#source.calls.view(this.#source.pendingWrites.metadata);
  }

  get xcom(): XCom {
    return this.#source.calls.view(this.#source.pendingWrites.xcom.open());
  }

  run(step: unknown, input?: unknown, options: SubRunOptions = {}): Promise<never> {
    // The step's definition says of which type its output is.
    return this.#source.calls.hold(this.#run(step, input, options)) as Promise<never>;
  }

  sleep(duration: Duration, options: SubRunOptions = {}): Promise<void> {
    return this.#source.calls.hold(sleepFor(this.#waiter, duration, options));
  }

  sleepUntil(at: Moment, options: SubRunOptions = {}): Promise<void> {
    return this.#source.calls.hold(sleepUntil(this.#waiter, at, options));
  }

  waitFor(what: unknown, options: WaitOptions = {}): Promise<never> {
    const { codec, calls } = this.#source;
    // The definition of the signal says of which type its payload is.
    return calls.hold(waitForSignal(this.#waiter, what, { options, codec })) as Promise<never>;
  }

  ask(question: AskOptions<string, unknown>): Promise<never> {
    const { codec, calls } = this.#source;
    // The question says of which type its answers are.
    return calls.hold(askPeople(this.#waiter, question, codec)) as Promise<never>;
  }

  async #run(step: unknown, input: unknown, options: SubRunOptions): Promise<unknown> {
    checkOptions('ctx.run', options, SUB_RUN_KEYS);
    const { runner, trace, limit, reported } = this.#source;
    const place = { signal: this.#callSignal, lines: reported?.lines, trace, limit };
    const call = { isWait: false, what: 'a run' };
    return this.#alone(call, () => runner.run({ step, input, id: options.id, ...place }));
  }

  get #waiter(): Waiter {
    const { runner, limit } = this.#source;
    return (wait, { id }) => {
      const lines = this.#source.reported?.lines;
      const call = { isWait: true, what: waitText(wait) };
      return this.#alone(call, () =>
        runner.wait({ wait, id, signal: this.#callSignal, lines, limit }),
      );
    };
  }

  /** Runs go one after the other. What a wait is raced with would be noticed too late, or not at all. */
  async #alone<T>(call: OpenCall, make: () => Promise<T>): Promise<T> {
    this.#open ??= new Set();
    const open = this.#open;
    for (const { isWait, what } of open) {
      if (isWait || call.isWait) throw new WaitOpenError(call.what, what);
    }
    open.add(call);
    try {
      return await make();
    } finally {
      open.delete(call);
    }
  }

  /** Nothing that a handler has called goes on when it has ended. */
  get #callSignal(): AbortSignal {
    return this.#source.calls.signalOf(this.#source.signal);
  }
}

/** A call of a handler that takes a while. */
interface OpenCall {
  readonly isWait: boolean;
  readonly what: string;
}

/** A signal that is made on first use. */
export class LazySignal {
  #controller: AbortController | undefined;
  /** Present once aborted. */
  #reason: { readonly value: unknown } | undefined;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason.value);
    }
    return this.#controller.signal;
  }

  /** Why it was aborted; `undefined` before. */
  get reason(): unknown {
    return this.#reason?.value;
  }

  /** Only the first reason counts. */
  abort(reason: unknown): void {
    if (this.#reason !== undefined) return;
    this.#reason = { value: reason };
    this.#controller?.abort(reason);
  }
}

class LeasedUpstreams implements Upstreams {
  readonly #facts: readonly UpstreamFact[];
  readonly #codec: ValueCodec;

  constructor(facts: readonly UpstreamFact[], codec: ValueCodec) {
    this.#facts = facts;
    this.#codec = codec;
  }

  get<O, X>(of: Step<never, O, X>): Upstream<O | X> | undefined {
    const { name: wanted } = demandStep('upstream', of);
    const fact = this.#facts.find(({ name }) => nameIn(name) === wanted);
    // The result is what that definition's handler returned; the definition says of which type.
    return fact === undefined ? undefined : (this.#view(fact) as Upstream<O | X>);
  }

  byId(taskId: string): Upstream<unknown> | undefined {
    const fact = this.#facts.find(({ id }) => id === taskId);
    return fact === undefined ? undefined : this.#view(fact);
  }

  get all(): readonly Upstream<unknown>[] {
    return this.#facts.map((fact) => this.#view(fact));
  }

  #view(fact: UpstreamFact): Upstream<unknown> {
    const { id: taskId, state } = fact;
    if (state === 'finished') {
      return { state, taskId, result: this.#codec.read(fact.result ?? '') };
    }
    const { name, message } = errorOf(fact.error) ?? { name: 'Error', message: `it is ${state}` };
    return { state, taskId, error: { name, message } };
  }
}
