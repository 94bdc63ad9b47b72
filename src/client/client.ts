import type { Duration } from '../base/time.ts';
import { Bulk } from '../bulk/bulk-facade.ts';
import { Core } from '../core/core.ts';
import type { FairloomOptions } from '../core/options.ts';
import { ClosedError, InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import type { ReconcileReport, Stats, WorkerInfo } from '../domain/port/backend.ts';
import type { NewTask } from '../domain/task/task.ts';
import { callsOf } from '../enqueue/call.ts';
import type { ManyArgs, ManyHandles, ManySource } from '../enqueue/call-forms.ts';
import { ENQUEUE_KEYS, type EnqueueOptions } from '../enqueue/enqueue-options.ts';
import type { TaskHandle } from '../enqueue/handle.ts';
import { StoredHandle } from '../enqueue/results.ts';
import { checkSignal } from '../enqueue/signal-option.ts';
import { submitAll, submitEach } from '../enqueue/submission.ts';
import { StoredRun } from '../runs/calls/run-handle.ts';
import type { RunTools } from '../runs/calls/run-submission.ts';
import { tracedEnqueue, tracedEnqueueMany } from '../tracing/traced-enqueue.ts';
import { type SchedulerOptions, SchedulerService } from '../worker/scheduler-service.ts';
import { serveUntilSignal } from '../worker/serve.ts';
import type { StopReport } from '../worker/shutdown.ts';
import { Worker } from '../worker/worker.ts';
import type { WorkerOptions } from '../worker/worker-options.ts';
import { demandStep, PipelineDefinition } from '../workflow/pipeline-definition.ts';
import type { Signal } from '../workflow/signal.ts';
import type { StartArgs, Step, StepKind } from '../workflow/step.ts';
import { definitionOf } from '../workflow/task-definition.ts';
import { durationOption } from '../workflow/task-options.ts';
import { closeAll } from './closing.ts';
import { enqueueStep } from './enqueue-step.ts';
import { Asks } from './facades/asks-facade.ts';
import { Dead } from './facades/dead-facade.ts';
import { Graphs } from './facades/graphs-facade.ts';
import { type PublishOptions, publishEvent } from './facades/publish.ts';
import { Queues } from './facades/queue-facade.ts';
import { putBackFor, redriveBy, redriveManyBy } from './facades/redrive.ts';
import { Runs } from './facades/runs-facade.ts';
import { Schedules } from './facades/schedules-facade.ts';
import { Series } from './facades/series-facade.ts';
import { type SignalOptions, type SignalOutcome, sendSignal } from './facades/signals.ts';
import { Streams } from './facades/streams-facade.ts';
import { Tasks } from './facades/task-facade.ts';
import { Users } from './facades/user-facade.ts';
import { type VersionReport, type VersionsOptions, versionReport } from './facades/versions.ts';
import { XComs } from './facades/xcom-facade.ts';
import { type Health, healthOf } from './health.ts';
import { RUN_KEYS, type RunOptions, runHere } from './local-run.ts';
import type { HandlesByKind, OptionsByKind, StepOf } from './step-forms.ts';

const RECONCILE_KEYS: OptionKeys<{ repair: unknown }> = keysOf<{ repair: unknown }>()({
  repair: true,
});

const CLOSE_KEYS: OptionKeys<{ timeout: unknown }> = keysOf<{ timeout: unknown }>()({
  timeout: true,
});

/** Set by the class itself: the only way to its parts. */
let coreOfLoom: (loom: Fairloom) => Core;

/** The parts of a client, for what stands beside it in this package. */
export function coreOf(loom: Fairloom): Core {
  return coreOfLoom(loom);
}

/**
 * The client: enqueues tasks, waits for results, starts workers, and looks at everything. One per
 * process is enough; it connects on first use.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, task } from 'fairloom';
 *
 * const double = task('double', async (n: number) => n * 2);
 * const loom = new Fairloom({ backend: memory(), tasks: [double] });
 * await loom.worker().start();
 * const handle = await loom.enqueue(double, 21, { user: 'ada' });
 * console.log(await handle.result()); // prints 42
 * await loom.close();
 * ```
 */
export class Fairloom {
  /** Looking at tasks, and changing single ones. */
  readonly tasks: Tasks;
  /** Who waits, who runs, and what each may. */
  readonly users: Users;
  /** The queues, and what holds for each. */
  readonly queues: Queues;
  /** The failed tasks. */
  readonly dead: Dead;
  /** Workflows: what was enqueued of pipelines. */
  readonly runs: Runs;
  /** Graphs of workflows, by hash. */
  readonly graphs: Graphs;
  /** What starts by itself, at given times. */
  readonly schedules: Schedules;
  /** Values that tasks hand on by name. */
  readonly xcom: XComs;
  /** What tasks tell while they run. */
  readonly streams: Streams;
  /** What handlers ask people. */
  readonly asks: Asks;
  /** What happened by minute and hour. */
  readonly series: Series;
  /** Changes of many tasks, carried out by workers. */
  readonly bulk: Bulk;
  /** The live workers, wherever they are. */
  readonly workers: {
    /** Those of all processes. */
    list(): Promise<readonly WorkerInfo[]>;
  };
  readonly #core: Core;
  readonly #runTools: RunTools;
  /** Those that were made here and have not ended. */
  readonly #workers = new Set<Worker>();
  readonly #schedulers = new Set<SchedulerService>();
  #closing: Promise<void> | undefined;

  static {
    coreOfLoom = (loom) => loom.#core;
  }

  /** @throws {@link InvalidOptionError} for the first option that is not what it should be. */
  constructor(options: FairloomOptions) {
    const core = new Core(options);
    const { connection } = core;
    this.#core = core;
    this.tasks = new Tasks({
      ...core,
      redrive: redriveBy(core),
      putBackFor: (ids) => putBackFor(core, ids),
    });
    this.users = new Users(connection);
    this.queues = new Queues(connection);
    this.asks = new Asks(core);
    this.series = new Series(connection);
    this.dead = new Dead({ ...core, redrive: () => redriveManyBy(core) });
    this.#runTools = {
      ...core,
      handles: { ...core, cancelRun: (id, options) => this.runs.cancel(id, options) },
      schemaOf: (code) => core.handlers.definition(code)?.input,
    };
    this.runs = new Runs(this.#runTools, this.tasks);
    this.graphs = new Graphs(core);
    const parts = { ...core, send: (task: NewTask) => core.enqueuer.send(task, undefined) };
    this.schedules = new Schedules(parts);
    this.bulk = new Bulk(parts);
    this.xcom = new XComs(core.connection, core.maker, core.xcom);
    this.streams = new Streams(core);
    this.workers = { list: async () => (await connection.open()).workers.list().then(shownOf) };
    core.metrics?.client(this, core.clock);
  }

  /**
   * Runs a task or a pipeline here and now, without a backend: with its checks, retries, timeouts
   * and context, groups included. Only what handlers do with `ctx.xcom` is kept there.
   *
   * @example
   * ```ts
   * import { Fairloom, memory, task } from 'fairloom';
   *
   * const double = task('double', async (n: number) => n * 2);
   * const loom = new Fairloom({ backend: memory(), tasks: [double] });
   * console.log(await loom.run(double, 21)); // prints 42
   * await loom.close();
   * ```
   *
   * @param step - a task or a pipeline.
   * @param args - its input, and options; a step without an input takes options alone.
   * @throws what a handler threw last; {@link GroupFailedError} for a group; {@link RunCanceledError}
   * after `ctx.cancelRun`; {@link MaxStepsError}, {@link MaxCyclesError};
   * {@link InvalidPayloadError} for an input that could not be enqueued either;
   * {@link UnknownTaskError} when its code is elsewhere.
   */
  run<I, O, X>(step: Step<I, O, X>, ...args: StartArgs<I, RunOptions>): Promise<O | X>;
  async run(step: unknown, input?: unknown, options: RunOptions = {}): Promise<unknown> {
    const core = this.#core;
    if (core.connection.closed) throw new ClosedError('this Fairloom');
    checkOptions('run', options, RUN_KEYS);
    checkSignal(options.signal);
    const call = { ...options, step, input, user: core.maker.userOf(options.user) };
    core.keepAlive.hold();
    try {
      return await runHere(core, call);
    } finally {
      core.keepAlive.letGo();
    }
  }

  /**
   * Stores a task, or a run of a pipeline: all of its tasks or none. Once this is fulfilled, it will
   * end, even if this process dies.
   *
   * @example
   * ```ts
   * import { Fairloom, memory, task } from 'fairloom';
   *
   * const double = task('double', async (n: number) => n * 2);
   * const loom = new Fairloom({ backend: memory(), tasks: [double] });
   * const handle = await loom.enqueue(double, 21, { user: 'ada', delay: '5m', id: 'd-1' });
   * console.log(handle.id); // prints d-1
   * await loom.close();
   * ```
   *
   * @param step - a task or a pipeline.
   * @param args - its input, and options such as `user`, `priority` and `delay`.
   * @throws {@link InvalidPayloadError}, {@link InvalidOptionError}, {@link QueueFullError},
   * {@link TaskConflictError}, {@link KeyTakenError}, {@link UnknownDependencyError},
   * {@link CrossUserDependencyError}, {@link DependencyCycleError}, {@link DependencyLimitError},
   * {@link BackendUnavailableError}, {@link BackendFullError}, {@link ClosedError};
   * {@link DuplicateNodeError} when two nodes of a pipeline have one name.
   */
  enqueue<I, O, X, K extends StepKind>(
    step: StepOf<K, I, O, X>,
    ...args: StartArgs<I, OptionsByKind[K]>
  ): Promise<HandlesByKind<O | X>[K]>;
  enqueue(step: unknown, input?: unknown, options?: EnqueueOptions): Promise<TaskHandle<unknown>> {
    const usual = this.#core.enqueuer.enqueueUsual(step, input, options);
    return usual ?? enqueueStep(this.#core, this.#runTools, { step, input, options });
  }

  /**
   * The way back to a task or run by its id, wherever it was enqueued; the definition says what it
   * gives. The backend is not called before the first wait.
   *
   * @example
   * ```ts
   * import { Fairloom, memory, task } from 'fairloom';
   *
   * const double = task('double', async (n: number) => n * 2);
   * const loom = new Fairloom({ backend: memory(), tasks: [double] });
   * await loom.worker().start();
   * await loom.enqueue(double, 21, { id: 'd-1' });
   * console.log(await loom.handle(double, 'd-1').result()); // prints 42
   * await loom.close();
   * ```
   *
   * @param step - the task or the pipeline: it gives the result its type.
   * @param id - the id of the task or run.
   * @throws {@link InvalidOptionError} when the first is no step, or the second no id.
   */
  handle<I, O, X, K extends StepKind>(
    step: StepOf<K, I, O, X>,
    id: string,
  ): HandlesByKind<O | X>[K];
  handle(step: unknown, id: string): TaskHandle<unknown> {
    const reply = { id: checkId('id', id), created: false, conflict: false };
    if (
      demandStep('handle', step) instanceof PipelineDefinition ||
      definitionOf(step).dynamic !== undefined
    ) {
      return new StoredRun(this.#runTools.handles, reply);
    }
    return new StoredHandle(this.#core.results, { kind: 'existing', replaced: false, ...reply });
  }

  /**
   * Sends a signal to a task or run: it ends the oldest wait for it there, `ctx.waitFor` or
   * `waitFor`, or is kept for the next one. A run's signals reach every wait in it. A signal of a
   * schema is checked before it is stored.
   *
   * @throws {@link TaskNotFoundError}; {@link WrongStateError} when it has ended;
   * {@link SignalLimitError} when so many are kept for it already; {@link InvalidPayloadError},
   * {@link InvalidOptionError}.
   */
  signal<T = unknown>(
    id: string,
    what: string | Signal<T>,
    payload?: NoInfer<T>,
    options: SignalOptions = {},
  ): Promise<SignalOutcome> {
    return sendSignal(this.#core, id, { what, payload, options });
  }

  /**
   * Publishes an event: it ends all waits of this user's tasks for its name and key, `ctx.waitFor(event(…))`,
   * that began before, and is kept for a while for those that look back by `within`. What `schedules.on`
   * makes it start is stored in the same step.
   *
   * @throws {@link InvalidPayloadError}, {@link InvalidOptionError}; what `enqueue` throws when a task that it
   * starts is refused: nothing is published then.
   */
  publish<T>(
    name: string,
    key: string,
    payload?: T,
    options: PublishOptions<T> = {},
  ): Promise<'published' | 'repeated'> {
    return publishEvent(this.#core, [name, key, payload], options);
  }

  /** `enqueue` for callers that have a name only; nothing is checked by a schema. */
  async enqueueByName(
    name: string,
    input?: unknown,
    options?: EnqueueOptions,
  ): Promise<TaskHandle<unknown>> {
    const core = this.#core;
    if (options !== undefined) checkOptions('enqueueByName', options, ENQUEUE_KEYS);
    const send = async (traced: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> =>
      core.enqueuer.send(core.maker.makeByName(name, input, traced), traced);
    return tracedEnqueue(core, { name, queue: core.maker.base.queue, options, send });
  }

  /**
   * Stores many tasks, all or none: those of `call(…)`, or one task with each of these inputs. With
   * `atomic: false` each on its own: a refusal of one is told in its place, and the others are stored.
   *
   * @example
   * ```ts
   * import { Fairloom, memory, task } from 'fairloom';
   *
   * const double = task('double', async (n: number) => n * 2);
   * const loom = new Fairloom({ backend: memory(), tasks: [double] });
   * await loom.worker().start();
   * const handles = await loom.enqueueMany(double, [1, 2, 3], { user: 'ada' });
   * console.log(await Promise.all(handles.map((handle) => handle.result()))); // prints [ 2, 4, 6 ]
   * await loom.close();
   * ```
   *
   * @throws {@link BatchRefusedError} for the first task that was refused: nothing is stored then;
   * {@link DependencyCycleError} when tasks wait for each other; {@link InvalidOptionError} for a pipeline
   * or a dynamic task, which `enqueue` stores as a run.
   */
  enqueueMany<const F extends ManySource, A extends boolean = true>(
    first: F,
    ...rest: ManyArgs<F, A>
  ): Promise<ManyHandles<F, A>>;
  async enqueueMany(first: unknown, ...rest: readonly unknown[]): Promise<unknown> {
    const { calls, atomic } = callsOf(first, rest);
    const core = this.#core;
    return tracedEnqueueMany<unknown>(core, calls, (traced) =>
      atomic ? submitAll(core, traced) : submitEach(core, traced),
    );
  }

  /**
   * Makes a worker of this process's tasks; it does nothing until `start()`.
   *
   * @example
   * ```ts
   * import { Fairloom, memory, task } from 'fairloom';
   *
   * const double = task('double', async (n: number) => n * 2);
   * const loom = new Fairloom({ backend: memory(), tasks: [double] });
   * const worker = loom.worker({ concurrency: 4 });
   * worker.on('task.finished', ({ taskId }) => console.log(taskId)); // prints d-1
   * await worker.start();
   * await (await loom.enqueue(double, 21, { id: 'd-1' })).result();
   * await loom.close();
   * ```
   *
   * @param options - how many tasks it runs at once, of which queues, and for how long it holds a lease.
   * @throws {@link InvalidOptionError} for the first option that is not what it should be.
   */
  worker(options: WorkerOptions = {}): Worker {
    if (this.#core.connection.closed) throw new ClosedError('this Fairloom');
    this.#core.handlers.warnOfMissing();
    const onEnd = (ended: Worker): void => {
      this.#workers.delete(ended);
      deafen();
    };
    const worker = new Worker(this.#core, options, onEnd);
    const deafen = this.#core.cancels.subscribe((...cancel) => worker.noticeCancel(...cancel));
    this.#workers.add(worker);
    this.#core.metrics?.worker(worker);
    return worker;
  }

  /**
   * Works until the process gets SIGTERM or SIGINT and running handlers have ended, then closes
   * this client. A second signal ends them now. Names the tasks that did not end in time. A list
   * makes a worker of each; when one ends by itself, the others are stopped too.
   *
   * @throws {@link InvalidOptionError} for a list of none; what `worker` throws.
   */
  async serve(options: WorkerOptions | readonly WorkerOptions[] = {}): Promise<StopReport> {
    const several: readonly WorkerOptions[] = isList(options) ? options : [options];
    if (several.length === 0)
      throw new InvalidOptionError('options', 'at least one worker', 'none');
    try {
      const workers = several.map((one) => this.worker(one));
      return await serveUntilSignal(workers, process);
    } finally {
      await this.close();
    }
  }

  /**
   * Makes a scheduler that runs beside no worker; it does nothing until `start()`. Workers fire
   * schedules themselves unless they are told not to.
   *
   * @throws {@link InvalidOptionError} when its id is no name.
   */
  scheduler(options: SchedulerOptions = {}): SchedulerService {
    if (this.#core.connection.closed) throw new ClosedError('this Fairloom');
    const scheduler = new SchedulerService(this.#core, options);
    this.#schedulers.add(scheduler);
    this.#core.metrics?.scheduler(scheduler);
    return scheduler;
  }

  /** Counts of tasks by state, and totals, over all queues. */
  async stats(): Promise<Stats> {
    return (await this.#core.connection.open()).inspect.stats();
  }

  /**
   * Per name and version of tasks: how many that have not ended need it, and which live workers have it,
   * so that a deploy knows when the old workers may go. It reads every open task, page by page.
   *
   * @throws {@link InvalidOptionError}.
   */
  versions(options: VersionsOptions = {}): Promise<VersionReport> {
    return versionReport(this.#core, options);
  }

  /** How many more slots would start a task at once, in one queue. */
  async runnable(queue = 'default'): Promise<number> {
    const name = checkName('queue', queue);
    return (await this.#core.connection.open()).inspect.runnable(name);
  }

  /** Checks every index against the tasks' records, and mends what it finds with `repair`. */
  async reconcile(
    options: { readonly repair?: boolean | undefined } = {},
  ): Promise<ReconcileReport> {
    checkOptions('reconcile', options, RECONCILE_KEYS);
    const { inspect } = await this.#core.connection.open();
    return inspect.reconcile({ repair: options.repair === true });
  }

  /** Never rejects: that the backend is away is an answer too. */
  health(): Promise<Health> {
    return healthOf(this.#core, this.#workers);
  }

  /**
   * Stops the workers of this process, ends what waits here, and frees the backend. Always
   * settles, whether or not the backend can be reached: within `timeout`, or after the workers'
   * own grace.
   */
  close(options: { readonly timeout?: Duration | undefined } = {}): Promise<void> {
    checkOptions('close', options, CLOSE_KEYS);
    const { timeout } = options;
    const bounds = { least: 0, most: LIMITS.leaseMaxMs };
    const timeoutMs =
      timeout === undefined ? undefined : durationOption('timeout', timeout, bounds);
    for (const scheduler of this.#schedulers) void scheduler.stop();
    this.#closing ??= closeAll(this.#core, [...this.#workers], timeoutMs);
    return this.#closing;
  }

  /** The same as {@link Fairloom.close} without options. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** `Array.isArray` takes no lists that are read-only for lists. */
function isList(
  options: WorkerOptions | readonly WorkerOptions[],
): options is readonly WorkerOptions[] {
  return Array.isArray(options);
}

/** Workers without the names of tasks that every worker has code for. */
function shownOf(workers: readonly WorkerInfo[]): readonly WorkerInfo[] {
  return workers.map((worker) => ({
    ...worker,
    names: worker.names.filter((name) => !name.startsWith('~')),
  }));
}
