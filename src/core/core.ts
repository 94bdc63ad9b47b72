import { XComValues } from '../attempt/xcom.ts';
import { SharedBackend } from '../backends/shared-backend.ts';
import { atRoot } from '../base/async-scope.ts';
import { KeepAlive } from '../base/keep-alive.ts';
import type { Logger } from '../base/logger.ts';
import { systemClock } from '../base/system-clock.ts';
import type { Clock } from '../base/time.ts';
import { ValueCodec } from '../codec/codec.ts';
import { sealedBackend } from '../codec/sealed-backend.ts';
import { checkOptions as checkKeys } from '../domain/errors/options.ts';
import type { NewTask } from '../domain/task/task.ts';
import { PlanCache } from '../enqueue/attempt-plan.ts';
import { ENQUEUE_KEYS, type EnqueueOptions } from '../enqueue/enqueue-options.ts';
import { Enqueuer, Turns } from '../enqueue/enqueuer.ts';
import type { TaskHandle } from '../enqueue/handle.ts';
import { uuidV7 } from '../enqueue/ids.ts';
import { Results } from '../enqueue/results.ts';
import { TaskMaker } from '../enqueue/task-maker.ts';
import { CancelNotifier } from '../events/cancel-notifier.ts';
import { HandlerSource } from '../handlers/handler-source.ts';
import { Registry } from '../handlers/registry.ts';
import { say } from '../logging/log-events.ts';
import { safeLogger, stderrLogger } from '../logging/logger.ts';
import { GraphCache } from '../runs/graph-cache.ts';
import { discreetTracer } from '../tracing/discreet-tracer.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { TaskDefinition } from '../workflow/task-definition.ts';
import type { Instruments } from './instruments.ts';
import {
  checkOptions,
  type DefaultOptions,
  defaultZoneOf,
  type FairloomOptions,
  retentionOf,
  xcomTtlOf,
} from './options.ts';
import { SeriesGatherer } from './series-gatherer.ts';

/** How long after an enqueue a worker should serve it, in ms. */
const LOOK_AFTER_MS = 5_000;

/** Pairs of queue and name that are watched; beyond this something else is wrong. */
const MOST_PAIRS = 10_000;

function discreet(tracer: Tracer | undefined): Tracer | undefined {
  return tracer === undefined ? undefined : discreetTracer(tracer);
}

/** The parts of one client, put together. */
export class Core {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Lines about failures have the messages of what handlers threw. */
  readonly logErrors: boolean;
  readonly newId: () => string;
  readonly defaults: DefaultOptions;
  /** The zone of schedules that name none. */
  readonly timeZone: string;
  readonly tracer: Tracer | undefined;
  readonly codec: ValueCodec;
  readonly connection: SharedBackend;
  readonly cancels: CancelNotifier;
  readonly xcom: XComValues;
  readonly maker: TaskMaker;
  readonly results: Results;
  readonly graphs: GraphCache;
  readonly registry: Registry;
  readonly handlers: HandlerSource;
  readonly plans: PlanCache;
  readonly metrics: Instruments | undefined;
  /** Absent: nothing is counted here. */
  readonly series: SeriesGatherer | undefined;
  readonly keepAlive: KeepAlive = new KeepAlive();
  readonly yields: Turns = new Turns();
  readonly #enqueuer: Enqueuer;
  readonly #watch: WorkerWatch;

  constructor(options: FairloomOptions) {
    checkOptions(options);
    const { backend, requireUser = false, defaults = {}, clock = systemClock } = options;
    this.clock = clock;
    this.random = options.random ?? Math.random;
    const { log: given, logLevel = given === undefined ? 'info' : 'debug' } = options;
    this.log = safeLogger(given ?? stderrLogger, logLevel);
    this.logErrors = options.logErrors ?? true;
    this.newId = options.newId ?? uuidV7(clock);
    this.defaults = defaults;
    this.timeZone = defaultZoneOf(options.scheduler);
    this.codec = new ValueCodec(options.codec, this.log);
    this.tracer = this.codec.isSecret ? discreet(options.tracer) : options.tracer;
    this.metrics = options.metrics;
    this.cancels = CancelNotifier.of(backend);
    const used = options.metrics?.backend(backend) ?? backend;
    const { texts } = this.codec;
    const kept = texts === undefined ? used : sealedBackend(used, texts);
    this.connection = new SharedBackend(kept, backend, retentionOf(options.retention), this.log);
    const { connection } = this;
    this.series =
      options.series === false ? undefined : new SeriesGatherer(connection, clock, this.log);
    this.xcom = new XComValues(this.connection, this.codec, xcomTtlOf(options.xcom));
    this.results = new Results(this.connection, this.codec, clock, this.keepAlive);
    this.graphs = new GraphCache(this.connection, clock, this.codec);
    this.registry = new Registry(options.tasks);
    const { registry, codec, newId, log } = this;
    this.maker = new TaskMaker({ codec, newId, requireUser, defaults, registry });
    this.handlers = new HandlerSource(registry, options.handlers, clock, log);
    this.plans = new PlanCache(defaults, undefined);
    this.#enqueuer = new Enqueuer(this);
    this.#watch = new WorkerWatch(this.connection, clock, this.log);
    connection.share();
  }

  /**
   * Stores what is no run and is not traced, the short way; `undefined` for everything else. Not async: the
   * promise of the answer is the only one that a call costs.
   */
  enqueueUsual(
    step: unknown,
    input: unknown,
    options: EnqueueOptions | undefined,
  ): Promise<TaskHandle<unknown>> | undefined {
    const isUsual = step instanceof TaskDefinition && step.dynamic === undefined;
    if (!isUsual || this.tracer !== undefined) return undefined;
    try {
      if (options !== undefined) checkKeys('enqueue', options, ENQUEUE_KEYS);
      return this.enqueue(step, input, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Makes a task of a definition and stores it. */
  enqueue(
    definition: TaskDefinition,
    input: unknown,
    options: EnqueueOptions | undefined,
  ): Promise<TaskHandle<unknown>> {
    const task = this.maker.make(definition, input, options);
    if (!(task instanceof Promise)) return this.send(task, options);
    return task.then((checked) => this.send(checked, options));
  }

  /** Stores one task, with the others of this tick. */
  send(task: NewTask, options: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> {
    return this.#enqueuer.send(task, options);
  }

  /** A task was stored by this client. */
  onCreated(task: NewTask): void {
    this.#watch.note(task);
    this.metrics?.enqueued(task);
    this.series?.enqueued(task);
  }
}

/** Warns once when no live worker serves a task's queue and name: the usual typo. */
class WorkerWatch {
  readonly #connection: SharedBackend;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Queues by name that were looked at, or will be. */
  readonly #seen = new Map<string, Set<string>>();
  #pairs = 0;

  constructor(connection: SharedBackend, clock: Clock, log: Logger) {
    this.#connection = connection;
    this.#clock = clock;
    this.#log = log;
  }

  /** A task was enqueued. */
  note({ name, queue }: NewTask): void {
    const queues = this.#seen.get(name);
    if (queues?.has(queue) === true || this.#pairs >= MOST_PAIRS) return;
    this.#pairs++;
    if (queues === undefined) this.#seen.set(name, new Set([queue]));
    else queues.add(queue);
    this.#clock.setTimer(LOOK_AFTER_MS, () => void atRoot(() => this.#look(name, queue)));
  }

  async #look(name: string, queue: string): Promise<void> {
    if (this.#connection.closed) return;
    try {
      const workers = await this.#connection.backend.workers.list();
      const isServed = workers.some(
        ({ names, queues }) => names.includes(name) && queues.includes(queue),
      );
      if (isServed) return;
      const message = `no live worker serves task ${name} in queue ${queue}`;
      say(this.#log, 'task.unserved', message, { name, queue });
    } catch {
      // Other calls report an outage; the next enqueue of this pair looks again.
      this.#seen.get(name)?.delete(queue);
      this.#pairs--;
    }
  }
}
