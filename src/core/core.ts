import { PlanCache } from '../attempt/attempt-plan.ts';
import { XComValues } from '../attempt/xcom.ts';
import { SharedBackend } from '../backends/shared-backend.ts';
import { KeepAlive } from '../base/keep-alive.ts';
import type { Logger } from '../base/logger.ts';
import { systemClock } from '../base/system-clock.ts';
import type { Clock } from '../base/time.ts';
import { ValueCodec } from '../codec/codec.ts';
import { sealedBackend } from '../codec/sealed-backend.ts';
import type { NewTask } from '../domain/task/task.ts';
import { Enqueuer, Turns } from '../enqueue/enqueuer.ts';
import { Results } from '../enqueue/results.ts';
import { TaskMaker } from '../enqueue/task-maker.ts';
import { CancelNotifier } from '../events/cancel-notifier.ts';
import { HandlerSource } from '../handlers/handler-source.ts';
import { Registry } from '../handlers/registry.ts';
import { safeLogger, stderrLogger } from '../logging/logger.ts';
import { GraphCache } from '../runs/graph-cache.ts';
import { discreetTracer } from '../tracing/discreet-tracer.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { createdTasks } from './created-tasks.ts';
import { uuidV7 } from './ids.ts';
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

function discreet(tracer: Tracer | undefined): Tracer | undefined {
  return tracer === undefined ? undefined : discreetTracer(tracer);
}

/** The parts of one client. */
export class Core {
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** Whether lines about failures contain the message of the error. */
  readonly logErrors: boolean;
  readonly newId: () => string;
  readonly defaults: DefaultOptions;
  /** Default time zone of schedules. */
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
  /** Absent: series are off. */
  readonly series: SeriesGatherer | undefined;
  readonly keepAlive: KeepAlive = new KeepAlive();
  readonly yields: Turns = new Turns();
  readonly enqueuer: Enqueuer;
  /** Called for each task that this client has stored. */
  readonly onCreated: (task: NewTask) => void;

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
    this.enqueuer = new Enqueuer(this);
    this.onCreated = createdTasks(this);
    connection.share();
  }
}
