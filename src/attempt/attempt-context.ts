import type { Logger } from '../base/logger.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { errorOf } from '../codec/task-error.ts';
import { checkOptions } from '../domain/errors/options.ts';
import type { UpstreamFact } from '../domain/port/backend.ts';
import { withFields } from '../logging/logger.ts';
import type { Trace } from '../tracing/trace.ts';
import type { Channel, ChannelOf } from '../workflow/channel.ts';
import type { Step } from '../workflow/step.ts';
import {
  SUB_RUN_KEYS,
  type SubRunOptions,
  type TaskContext,
  type Upstream,
  type Upstreams,
} from '../workflow/task-context.ts';
import type { XCom } from '../workflow/xcom.ts';
import type { PendingWrites } from './pending-writes.ts';

/** Runs a step for a handler; `signal` ends it. */
export type SubRunner = (call: {
  readonly step: unknown;
  readonly input: unknown;
  readonly id: string | undefined;
  readonly signal: AbortSignal;
  /** Of the handler. */
  readonly trace: Trace;
}) => Promise<unknown>;

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
  readonly codec: ValueCodec;
  /** Asked for when the handler runs its first step. */
  readonly runner: SubRunner;
  /** Made when the handler asks for what it holds. */
  readonly pendingWrites: PendingWrites;
}

/** The handler's view of its attempt. Whatever costs something is made when it is asked for. */
export class AttemptContext implements TaskContext {
  readonly #source: ContextSource;
  #log: Logger | undefined;
  #upstream: Upstreams | undefined;

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
    this.#log ??= withFields(log, { task: taskId, name, user });
    return this.#log;
  }

  get upstream(): Upstreams {
    this.#upstream ??= new LeasedUpstreams(this.#source.upstreams, this.#source.codec);
    return this.#upstream;
  }

  channel<T extends object>(definition: Channel<T>): ChannelOf<T> {
    // The definition says of which type its values are.
    return this.#source.pendingWrites.channels.open(definition) as unknown as ChannelOf<T>;
  }

  get xcom(): XCom {
    return this.#source.pendingWrites.xcom.open();
  }

  run(step: unknown, input?: unknown, options: SubRunOptions = {}): Promise<never> {
    try {
      checkOptions('ctx.run', options, SUB_RUN_KEYS);
    } catch (error) {
      return Promise.reject(error);
    }
    const { runner, signal, trace } = this.#source;
    // The step's definition says of which type its output is.
    return runner({ step, input, id: options.id, signal, trace }) as Promise<never>;
  }
}

/** A signal that exists only once somebody looks at it. */
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
    const fact = this.#facts.find(({ name }) => name === of.name);
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
