import { XComValues } from '../attempt/xcom.ts';
import { Connection } from '../backends/connection.ts';
import { Turns } from '../base/event-loop.ts';
import { KeepAlive } from '../base/keep-alive.ts';
import type { Logger } from '../base/logger.ts';
import { systemClock } from '../base/system-clock.ts';
import type { Clock } from '../base/time.ts';
import { ValueCodec } from '../codec/codec.ts';
import { sealedBackend } from '../codec/encryption/sealed-backend.ts';
import type { EnqueueReply } from '../domain/port/backend.ts';
import type { NewTask } from '../domain/task/task.ts';
import { PlanBook } from '../enqueue/attempt-plan.ts';
import type { EnqueueOptions } from '../enqueue/enqueue-options.ts';
import { Enqueuer } from '../enqueue/enqueuer.ts';
import type { TaskHandle } from '../enqueue/handle.ts';
import { uuidV7 } from '../enqueue/ids.ts';
import { Results } from '../enqueue/results.ts';
import { handleOf, refusalOf } from '../enqueue/submission.ts';
import { TaskMaker } from '../enqueue/task-maker.ts';
import { CancelBell } from '../events/cancel-bell.ts';
import { HandlerSource } from '../handlers/handler-source.ts';
import { Registry } from '../handlers/registry.ts';
import { safeLogger, stderrLogger } from '../logging/logger.ts';
import { GraphCache } from '../runs/shared/graph-cache.ts';
import { discreetTracer } from '../tracing/discreet-tracer.ts';
import type { Tracer } from '../tracing/tracer.ts';
import type { Instruments } from './instruments.ts';
import {
  checkOptions,
  type DefaultOptions,
  defaultZoneOf,
  type FairloomOptions,
  retentionOf,
  xcomTtlOf,
} from './options.ts';
import { WorkerWatch } from './worker-watch.ts';

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
  readonly connection: Connection;
  readonly cancels: CancelBell;
  readonly xcom: XComValues;
  readonly maker: TaskMaker;
  readonly results: Results;
  readonly graphs: GraphCache;
  readonly registry: Registry;
  readonly handlers: HandlerSource;
  readonly plans: PlanBook;
  readonly metrics: Instruments | undefined;
  readonly keepAlive: KeepAlive = new KeepAlive();
  readonly turns: Turns = new Turns();
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
    this.cancels = CancelBell.of(backend);
    const used = options.metrics?.backend(backend) ?? backend;
    const { texts } = this.codec;
    const kept = texts === undefined ? used : sealedBackend(used, texts);
    this.connection = new Connection(kept, retentionOf(options.retention), this.log);
    this.xcom = new XComValues(this.connection, this.codec, xcomTtlOf(options.xcom));
    this.results = new Results(this);
    this.graphs = new GraphCache(this);
    this.registry = new Registry(options.tasks);
    const { registry, codec, newId, log } = this;
    this.maker = new TaskMaker({ codec, newId, requireUser, defaults, registry });
    this.handlers = new HandlerSource({ registry, handlers: options.handlers, clock, log });
    this.plans = new PlanBook(defaults, undefined);
    this.#enqueuer = new Enqueuer(this);
    this.#watch = new WorkerWatch(this.connection, clock, this.log);
  }

  /** Stores one task, with the others of this tick. */
  send(task: NewTask, options: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> {
    return this.#enqueuer.send(task, options);
  }

  /** What the caller gets for a reply; throws what it gets for a refusal. */
  answer(
    task: NewTask,
    reply: EnqueueReply,
    options: EnqueueOptions | undefined,
  ): TaskHandle<unknown> {
    const refusal = refusalOf(task, reply, options);
    if (refusal !== undefined) throw refusal;
    return handleOf(this, task, reply);
  }

  /** A task was stored by this client. */
  onCreated(task: NewTask): void {
    this.#watch.note(task);
    this.metrics?.enqueued(task);
  }
}
