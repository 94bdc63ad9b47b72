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

/** The time limit of a handler. Waits without a lease do not count. */
export interface TimeLimit {
  /** Stops the clock, and returns the rest in ms; `undefined` without a limit. */
  pause(): number | undefined;
  resume(): void;
}

/** One call of `ctx.run`; `signal` ends it. */
export interface RunCall {
  readonly step: unknown;
  readonly input: unknown;
  readonly id: string | undefined;
  readonly signal: AbortSignal;
  /** Trace of the handler. */
  readonly trace: Trace;
  /** The kept lines of its log; absent when there are none. */
  readonly lines?: KeptLines | undefined;
  /** Time limit of the handler, unless its attempt enforces it. */
  readonly limit?: TimeLimit | undefined;
}

/** One wait of a handler; `signal` ends it. */
export interface WaitCall {
  readonly wait: HandlerWait;
  readonly id: string | undefined;
  readonly signal: AbortSignal;
  /** As in {@link RunCall}. */
  readonly lines?: KeptLines | undefined;
  /** As in {@link RunCall}. */
  readonly limit?: TimeLimit | undefined;
}

/** Runs steps and waits for a handler. Both calls share one numbering. */
export interface SubRunner {
  run(call: RunCall): Promise<unknown>;
  wait(call: WaitCall): Promise<WaitAnswer>;
  /**
   * Whether the handler has started again, and an earlier start of the same attempt stored lines of log before a call
   * that this one has not made yet.
   */
  repeats(): Promise<boolean>;
}

/** Makes the runner for one attempt of a handler. */
export type SubRunners = (tries: Tries) => SubRunner;

/** Number of earlier calls of a handler that did not end it. */
export interface Tries {
  /** Number of failed attempts. */
  readonly failures: number;
  /** Number of releases by the handler. */
  readonly releases: number;
}

/** The values that a context shows. */
export interface ContextSource {
  readonly taskId: string;
  /** Absent for a task outside a run. */
  readonly runId?: string | undefined;
  readonly name: string;
  readonly user: string;
  readonly attempt: number;
  readonly fencingToken: number;
  /** Made on first use. */
  readonly trace: Trace;
  readonly upstreams: readonly UpstreamFact[];
  /** Made on first use. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Made when the handler streams, logs, or reports progress. */
  readonly reports: HandlerReports;
  readonly codec: ValueCodec;
  /** Made when the handler runs its first step. */
  readonly runner: SubRunner;
  /** Absent where a suspension of the attempt stops its clock. */
  readonly limit?: TimeLimit | undefined;
  /** Made when the handler first uses a channel, metadata or XCom. */
  readonly pendingWrites: PendingWrites;
  /** Present once the handler has reported something. */
  readonly reported: HandlerReports | undefined;
  /** Made by the first call that returns a promise. */
  readonly calls: HandlerCalls;
}

/** The context of an attempt's handler. Costly parts are made on first use. */
export class AttemptContext implements TaskContext {
  readonly #source: ContextSource;
  #log: Logger | undefined;
  #upstream: Upstreams | undefined;
  /** Its open waits and runs, as errors name them; made on first use. */
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
    // The definition has the type of its values.
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
    // The step's definition has the type of its output.
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
    // The definition of the signal has the type of its payload.
    return calls.hold(waitForSignal(this.#waiter, what, { options, codec })) as Promise<never>;
  }

  ask(question: AskOptions<string, unknown>): Promise<never> {
    const { codec, calls } = this.#source;
    // The question has the types of its answers.
    return calls.hold(askPeople(this.#waiter, question, codec)) as Promise<never>;
  }

  async #run(step: unknown, input: unknown, options: SubRunOptions): Promise<unknown> {
    checkOptions('ctx.run', options, SUB_RUN_KEYS);
    const { runner, trace, limit, reported } = this.#source;
    const place = { signal: this.#callSignal, lines: reported?.lines, trace, limit };
    const call = { isWait: false, what: 'a run' };
    return this.#exclusive(call, () => runner.run({ step, input, id: options.id, ...place }));
  }

  get #waiter(): Waiter {
    const { runner, limit } = this.#source;
    return (wait, { id }) => {
      const lines = this.#source.reported?.lines;
      const call = { isWait: true, what: waitText(wait) };
      return this.#exclusive(call, () =>
        runner.wait({ wait, id, signal: this.#callSignal, lines, limit }),
      );
    };
  }

  /** Refuses a wait beside other calls: in a race it would settle too late, or never. */
  async #exclusive<T>(call: OpenCall, make: () => Promise<T>): Promise<T> {
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

  /** Aborts the calls of a handler when it has ended. */
  get #callSignal(): AbortSignal {
    return this.#source.calls.signalOf(this.#source.signal);
  }
}

/** An open call of a handler. */
interface OpenCall {
  readonly isWait: boolean;
  readonly what: string;
}

/** An abort signal that is made on first use. */
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

  /** The reason of the abort; `undefined` before. */
  get reason(): unknown {
    return this.#reason?.value;
  }

  /** Aborts; later reasons are ignored. */
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
    // The definition has the type of its handler's result.
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
