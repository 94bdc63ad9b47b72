import type { Logger } from '../base/logger.ts';
import type { ValueCodec } from '../codec/codec.ts';
import type { Leased, UpstreamFact } from '../domain/port/backend.ts';
import { nameIn } from '../domain/task/task-name.ts';
import type { Trace } from '../tracing/trace.ts';
import { attemptTrace, type TaskRun } from '../tracing/work.ts';
import type { TaskDefinition } from '../workflow/task-definition.ts';
import { type ContextSource, LazySignal, type SubRunner } from './attempt-context.ts';
import type { AttemptHost } from './attempt-host.ts';
import type { AttemptPlan } from './attempt-plan.ts';
import { DeadlineNode } from './deadlines.ts';
import { HandlerCalls } from './handler-calls.ts';
import type { PendingWrites } from './pending-writes.ts';
import { HandlerReports } from './reports.ts';
import { LeaseStreams } from './streams.ts';

/** Tools that make the parts of an attempt. */
type SourceTools = Pick<
  AttemptHost<never>,
  'codec' | 'log' | 'tracing' | 'clock' | 'taskWrites' | 'streams' | 'runOf'
>;

/** The facts of a leased task that its handler sees; each part is made on first use. */
export abstract class LeasedSource extends DeadlineNode implements ContextSource {
  /** The current lease; it may change during a wait. */
  lease: Leased;
  readonly definition: TaskDefinition;
  readonly plan: AttemptPlan;
  upstreams: readonly UpstreamFact[];
  /** Input as JSON text; the input of a node may be built after the lease. */
  payload: string;
  readonly #tools: SourceTools;
  /** Present after its first use, or after an abort. */
  #signal: LazySignal | undefined;
  #runner: SubRunner | undefined;
  #pendingWrites: PendingWrites | undefined;
  #streams: LeaseStreams | undefined;
  #trace: Trace | undefined;
  reported: HandlerReports | undefined;
  openCalls: HandlerCalls | undefined;

  constructor(tools: SourceTools, lease: Leased, definition: TaskDefinition, plan: AttemptPlan) {
    super();
    this.#tools = tools;
    this.lease = lease;
    this.definition = definition;
    this.plan = plan;
    this.upstreams = lease.upstreams;
    this.payload = lease.payload;
    // A member waits for its turn, not for the output of the one before it.
    if (this.upstreams.length > 0 && this.run?.node.includes('/') === true) this.upstreams = [];
  }

  get taskId(): string {
    return this.lease.id;
  }

  /** Its run; `undefined` for a task outside a run. */
  get run(): TaskRun | undefined {
    return this.#tools.runOf(this.lease);
  }

  get runId(): string | undefined {
    return this.run?.id;
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

  /** The rising number at the begin of the token. */
  get fencingToken(): number {
    return Number.parseInt(this.lease.token, 10);
  }

  get trace(): Trace {
    const { tracing } = this.#tools;
    this.#trace ??= attemptTrace(tracing, this.lease, this.run, this.plan.traceparent);
    return this.#trace;
  }

  get signal(): AbortSignal {
    this.#signal ??= new LazySignal();
    return this.#signal.signal;
  }

  get log(): Logger {
    return this.#tools.log;
  }

  get codec(): ValueCodec {
    return this.#tools.codec;
  }

  get runner(): SubRunner {
    this.#runner ??= this.newRunner();
    return this.#runner;
  }

  get pendingWrites(): PendingWrites {
    this.#pendingWrites ??= this.#tools.taskWrites.newFor(this);
    return this.#pendingWrites;
  }

  get calls(): HandlerCalls {
    this.openCalls ??= new HandlerCalls(this.taskId);
    return this.openCalls;
  }

  get streams(): LeaseStreams {
    this.#streams ??= new LeaseStreams(this.#tools.streams, this);
    return this.#streams;
  }

  get reports(): HandlerReports {
    const { log, streams: opener, attempt, plan } = this;
    const whose = { opener, node: '', attempt, log, keepLogs: plan.keepLogs };
    const repeats = (): Promise<boolean> => this.runner.repeats();
    this.reported ??= new HandlerReports({ ...whose, clock: this.#tools.clock, repeats });
    return this.reported;
  }

  protected abstract newRunner(): SubRunner;

  /** Present once its span has started; the span ends with the decision. */
  protected get begunTrace(): Trace | undefined {
    return this.#trace;
  }

  /** Present once a handler has reported something. */
  protected get openStreams(): LeaseStreams | undefined {
    return this.#streams;
  }

  /** Present once its handler has used a channel, metadata or XCom. */
  protected get begunWrites(): PendingWrites | undefined {
    return this.#pendingWrites;
  }

  /** The reason of its abort; `undefined` before. */
  protected get endReason(): unknown {
    return this.#signal?.reason;
  }

  /** Aborts; later reasons are ignored. */
  protected abort(reason: Error): void {
    this.#signal ??= new LazySignal();
    this.#signal.abort(reason);
  }
}
