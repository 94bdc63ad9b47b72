import { Attempt } from '../attempt/attempt.ts';
import type { SubRunner } from '../attempt/attempt-context.ts';
import type { AttemptHost, Interruption } from '../attempt/attempt-host.ts';
import { type AttemptPlan, PlanCache } from '../attempt/attempt-plan.ts';
import { Deadlines } from '../attempt/deadlines.ts';
import { unknownNameDecision } from '../attempt/decisions.ts';
import type { KeptJournal } from '../attempt/own-lease.ts';
import { TaskWrites } from '../attempt/pending-writes.ts';
import type { StreamTools } from '../attempt/streams.ts';
import { atRoot } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import type { ValueCodec } from '../codec/codec.ts';
import { ClosedError, LeaseLostError } from '../domain/errors/errors.ts';
import { LIMITS } from '../domain/limits.ts';
import type { Decision, Leased, Suspension } from '../domain/port/backend.ts';
import type { Cause } from '../domain/task/cause.ts';
import { NO_OPTIONS } from '../enqueue/enqueue-options.ts';
import { runPlaceOf } from '../runs/record.ts';
import type { Tracing } from '../tracing/trace.ts';
import { type TaskRun, traceUnknownName } from '../tracing/work.ts';
import type { Handler, TaskDefinition } from '../workflow/task-definition.ts';
import type { Line } from './line.ts';
import { reportLost, startOf } from './report.ts';
import { RunWork } from './run-work.ts';
import type { Settlements } from './settlements.ts';
import type { SuspendedHandler, SuspendedHandlers } from './suspended-handlers.ts';
import type { WorkerPlan } from './worker-options.ts';

/** Largest number of remembered cancels of tasks in a reply: the number of its leases. */
const MOST_CANCELED = LIMITS.leaseBatch;

/** The definition of a name in this worker, and the settings of its attempts. */
interface Code {
  readonly definition: TaskDefinition;
  readonly plan: AttemptPlan;
  /** Set at the first call. */
  handler: Handler | undefined;
}

/**
 * The slots of one worker: between the lease of a task and its settlement. A slot is in use from the
 * lease until the handler's promise has settled, which may be later than its decision: a handler that
 * ignores its signal keeps its slot, and no other attempt of the task runs beside it here.
 */
export class Slots implements AttemptHost<Attempt> {
  readonly codec: ValueCodec;
  readonly log: Logger;
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly random: () => number;
  readonly deadlines: Deadlines;
  readonly taskWrites: TaskWrites;
  readonly streams: StreamTools;
  readonly #line: Line;
  readonly #concurrency: number;
  readonly #plans: PlanCache;
  readonly #runs: RunWork;
  /** Code by name of the task. */
  readonly #codes = new Map<string, Code>();
  /** Revision of the registry for which these are valid. */
  #revision = 0;
  readonly #suspended: SuspendedHandlers;
  readonly #settlements: Settlements;
  /** Attempts that are decided while their handlers still run, by task. */
  readonly #outliving = new Map<string, Attempt>();
  /** Leased tasks that cannot start yet, while a handler of theirs or a task alone runs. */
  readonly #waiting = new Set<Attempt>();
  /** Leases of the latest reply, to be started. */
  #taken: Attempt[] = [];
  /** Causes of cancels of tasks in a pending reply, by task: they end before their handlers start. */
  readonly #canceled = new Map<string, Cause>();
  /** Number of slots in use. */
  #used = 0;
  /** Number of running handlers, without those of decided attempts. */
  #active = 0;
  /** The task that must run alone: nothing is leased until it has ended. */
  #alone: Attempt | undefined;
  /** No more tasks are leased or started. */
  #closing = false;

  constructor(
    line: Line,
    { concurrency, decider }: Pick<WorkerPlan, 'concurrency' | 'decider'>,
    settlements: Settlements,
    suspended: SuspendedHandlers,
  ) {
    const { core, backend } = line;
    this.codec = core.codec;
    this.log = core.log;
    this.tracing = core;
    this.clock = core.clock;
    this.random = core.random;
    this.deadlines = new Deadlines(core.clock);
    this.taskWrites = new TaskWrites({ backend, xcom: core.xcom });
    const { codec, clock, random } = core;
    this.streams = { store: backend.streams, worker: line.worker, codec, clock, random };
    this.#line = line;
    this.#concurrency = concurrency;
    this.#plans = new PlanCache(core.defaults, decider);
    this.#runs = new RunWork(line, this.#plans);
    this.#suspended = suspended;
    this.#settlements = settlements;
  }

  get used(): number {
    return this.#used;
  }

  /** Number of slots that a lease may fill now. */
  get free(): number {
    if (this.#closing || this.#alone !== undefined) return 0;
    return Math.max(0, this.#concurrency - this.#used);
  }

  /** Tasks whose handlers run, including those of decided attempts. */
  runningIds(): readonly string[] {
    const running = this.#settlements.leased.all().filter((attempt) => attempt.running);
    return [...running, ...this.#outliving.values()].map(({ taskId }) => taskId);
  }

  /** Receives a lease, or releases its task during a shutdown or without code for it. */
  take(lease: Leased): void {
    const code = this.#codeOf(lease.name);
    if (this.#closing || code === undefined) {
      if (!this.#closing) traceUnknownName(this.tracing, lease, this.runOf(lease));
      const names = this.#line.core.handlers.names();
      const decision = this.#closing ? SHUT_DOWN : unknownNameDecision(names, lease);
      this.#settlements.settle(lease, decision, undefined);
      return;
    }
    const { definition } = code;
    const isUsual =
      lease.options.length <= NO_OPTIONS.length && lease.attemptSettings === undefined;
    const plan = isUsual
      ? code.plan
      : this.#plans.planFor(definition, lease.options, lease.attemptSettings);
    const attempt = new Attempt(this, lease, definition, plan);
    this.#settlements.leased.add(attempt);
    this.#used++;
    if (lease.alone) this.#alone = attempt;
    this.#taken.push(attempt);
  }

  /** Starts the received tasks. */
  startTaken(): void {
    const taken = this.#taken;
    if (taken.length > 0) {
      this.#taken = [];
      atRoot(() => {
        for (const attempt of taken) {
          const cause = this.#canceled.get(attempt.taskId);
          if (cause !== undefined) attempt.interrupt({ type: 'cancel', cause });
          this.#start(attempt);
        }
      });
    }
    if (this.#canceled.size > 0) this.#canceled.clear();
  }

  /** Records a cancel by this process of a task that is leased here but still in a pending reply. */
  canceledOnItsWay(taskId: string, cause: Cause): void {
    if (this.#canceled.size < MOST_CANCELED) this.#canceled.set(taskId, cause);
  }

  /** Releases tasks that have not started, and starts no more. */
  close(): void {
    this.#closing = true;
    this.#suspended.leaveAll(new ClosedError('the worker'));
    const waiting = [...this.#taken, ...this.#waiting];
    this.#taken = [];
    this.#waiting.clear();
    for (const attempt of waiting) {
      attempt.giveBack({ type: 'shutdown' });
      this.#free(attempt);
    }
  }

  /** Asks every handler to end. */
  shutDown(): void {
    for (const attempt of this.#settlements.leased.all()) attempt.interrupt({ type: 'shutdown' });
  }

  /** Abandons the running handlers: their results are dropped, their leases expire. */
  abandon(): void {
    this.#suspended.leaveAll(new ClosedError('the worker'));
    for (const attempt of this.#settlements.leased.all()) {
      this.#settlements.leased.drop(attempt);
      attempt.interrupt(LOST);
    }
    this.deadlines.stop();
  }

  /** Ends an attempt that was canceled, or whose lease was lost. */
  interrupt(attempt: Attempt, why: Interruption & { readonly type: 'cancel' | 'lost' }): void {
    if (!attempt.isLeased) return;
    if (why.type === 'lost') {
      // Its settlement is under way: the reply has the outcome.
      if (attempt.isDecided) return;
      this.#settlements.leased.drop(attempt);
    }
    attempt.interrupt(why);
    if (attempt.isDecided && this.#waiting.delete(attempt)) this.#free(attempt);
    else if (why.type === 'lost' && attempt.running) this.#outlive(attempt);
    if (why.type === 'lost') reportLost(this.#line, attempt);
  }

  runOf(lease: Leased): TaskRun | undefined {
    return runPlaceOf(lease.options);
  }

  runnerOf(attempt: Attempt): SubRunner {
    return this.#runs.runnerOf(attempt);
  }

  decided(attempt: Attempt, decision: Decision | Suspension): void {
    if (!attempt.isLeased) this.#settlements.leased.add(attempt);
    this.#settlements.settle(attempt.lease, decision, attempt);
    if (attempt.running) this.#outlive(attempt);
  }

  ended(attempt: Attempt): void {
    if (this.#outliving.get(attempt.taskId) === attempt) this.#outliving.delete(attempt.taskId);
    else this.#active--;
    this.#free(attempt);
  }

  suspended(attempt: Attempt, suspension: Suspension, journal: KeptJournal): void {
    this.#suspended.keep(attempt, journal);
    this.#active--;
    this.#settlements.settle(attempt.lease, suspension, attempt);
    this.#free(attempt);
    if (this.#closing) this.#suspended.leaveAll(new ClosedError('the worker'));
  }

  recalled({ lease }: Attempt): void {
    this.#settlements.settle(lease, NO_WAIT, undefined);
  }

  endedSuspended(attempt: Attempt): boolean {
    return this.#suspended.has(attempt);
  }

  reportUserError(operation: string, error: unknown): void {
    this.#line.report(operation, error);
  }

  #start(attempt: Attempt): void {
    if (attempt.isDecided) this.#free(attempt);
    else if (this.#mustWait(attempt)) this.#waiting.add(attempt);
    else {
      this.#active++;
      const isCallOnly = this.#suspended.byTask.size === 0 && isBare(attempt);
      if (isCallOnly) this.#call(attempt);
      else this.#startOther(attempt);
    }
  }

  /** Starts a task that may continue a suspended handler, or be a part of a run. */
  #startOther(attempt: Attempt): void {
    const suspended = this.#suspended.take(attempt);
    if (suspended === undefined) this.#begin(attempt);
    else void this.#resumeHandler(attempt, suspended);
  }

  /** Continues a handler that waited for this lease, unless its task ran elsewhere meanwhile. */
  async #resumeHandler(fresh: Attempt, { attempt, journal }: SuspendedHandler): Promise<void> {
    let isSame = false;
    try {
      isSame = journal.matches(await this.#line.backend.runs.load(fresh.taskId));
    } catch (error) {
      this.#line.report(`read the journal of ${fresh.taskId}`, error);
      fresh.giveBack({ type: 'unread', what: 'journal' });
    }
    if (fresh.isDecided || !isSame) {
      attempt.abandonHandler(new LeaseLostError(fresh.taskId));
      if (fresh.isDecided) this.#drop(fresh);
      else this.#begin(fresh);
      return;
    }
    // The suspended attempt replaces the one that was made for the lease.
    this.#settlements.leased.takeOver(attempt, fresh);
    if (this.#alone === fresh) this.#alone = attempt;
    attempt.resume(fresh.lease);
  }

  /** Starts from the beginning: a run is driven; a part of one may need more than the lease has. */
  #begin(attempt: Attempt): void {
    const code = this.#runs.driveOf(attempt);
    if (code !== undefined) {
      this.#reportStart(attempt);
      attempt.startOwn(code);
      return;
    }
    const ready = this.#runs.prepare(attempt);
    if (ready === undefined) this.#call(attempt);
    else void ready.then(() => (attempt.isDecided ? this.#drop(attempt) : this.#call(attempt)));
  }

  #call(attempt: Attempt): void {
    const { handlers } = this.#line.core;
    const code = this.#codeOf(attempt.lease.name);
    const handler = code?.handler ?? handlers.handler(attempt.definition);
    if (code !== undefined) code.handler = handler;
    this.#reportStart(attempt);
    attempt.start(handler);
  }

  /** `undefined` for a name without code here. Tests may replace the code. */
  #codeOf(name: string): Code | undefined {
    const { handlers, registry } = this.#line.core;
    if (registry.revision !== this.#revision) this.#codes.clear();
    this.#revision = registry.revision;
    const known = this.#codes.get(name);
    if (known !== undefined) return known;
    const definition = handlers.definition(name);
    if (definition === undefined) return undefined;
    const plan = this.#plans.planFor(definition, NO_OPTIONS, undefined);
    const code = { definition, plan, handler: undefined };
    this.#codes.set(name, code);
    return code;
  }

  #reportStart(attempt: Attempt): void {
    this.#line.core.series?.started(attempt.lease);
    const { events } = this.#line;
    if (events.has('task.started')) events.emit('task.started', startOf(attempt));
  }

  #mustWait(attempt: Attempt): boolean {
    if (this.#outliving.has(attempt.taskId)) return true;
    return this.#alone === attempt && this.#active > 0;
  }

  #free(attempt: Attempt): void {
    this.#used--;
    if (this.#alone === attempt) this.#alone = undefined;
    if (this.#waiting.size > 0) this.#retryWaiting();
    this.#line.notify();
    this.#line.changed.check();
  }

  #retryWaiting(): void {
    const waiting = [...this.#waiting].filter((attempt) => !this.#mustWait(attempt));
    atRoot(() => {
      for (const attempt of waiting) if (this.#waiting.delete(attempt)) this.#start(attempt);
    });
  }

  #outlive(attempt: Attempt): void {
    this.#active--;
    this.#outliving.set(attempt.taskId, attempt);
    if (this.#waiting.size > 0) this.#retryWaiting();
  }

  /** Frees an attempt that was decided before its handler was called. */
  #drop(attempt: Attempt): void {
    this.#active--;
    this.#free(attempt);
  }
}

const SHUT_DOWN: Decision = { type: 'release', cause: { type: 'shutdown' } };
const LOST = { type: 'lost' } as const;
/** A suspension that ends at once. */
const NO_WAIT: Suspension = { type: 'suspend', waitFor: [], wakeOn: 'all', attended: true };

/** A task outside runs, without options of its enqueue. */
function isBare({ lease: { name, upstreams, options } }: Attempt): boolean {
  const isOwn = name.startsWith('~');
  return upstreams.length === 0 && options.length <= NO_OPTIONS.length && !isOwn;
}
