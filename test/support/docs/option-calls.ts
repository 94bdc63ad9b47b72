/** Every public type of options, with an object that is right and the calls that take one. */
import { metrics, trace } from '@opentelemetry/api';
import type { Fairloom } from 'fairloom';
import * as fairloom from 'fairloom';
import { loadConfig, toYaml } from 'fairloom/config';
import { file } from 'fairloom/file';
import { httpApi } from 'fairloom/http';
import { openTelemetryMetrics, prometheus, serveMonitoring } from 'fairloom/metrics';
import { redis } from 'fairloom/redis';
import { ManualClock, testLoom } from 'fairloom/testing';
import { openTelemetry } from 'fairloom/tracing';
import * as promClient from 'prom-client';

const { task, memory, parallel, each, flow, channel, call, event, waitFor } = fairloom;

/** Takes any options, so that a table may hold wrong ones. */
export type OptionCall = (options: never) => unknown;

export interface OptionCase {
  /** To be had with nothing wrong in it. */
  readonly valid: object;
  readonly calls: Readonly<Record<string, OptionCall>>;
  /** Where in the options the type stands, when inside of others. */
  readonly at?: (options: object) => object;
}

export const plainTask = task('plain', async (n: number) => n);
export const line = plainTask.pipe(task('after', async (n: number) => n)).as('line');
const chooser = fairloom.dynamic('chooser', async (n: number) => n);
const notes = channel<{ count: number }>('notes');
const module = new URL('data:text/javascript,export default () => 1');

/** What a handler is refused, that gets these options. */
function inHandler(
  loom: Fairloom,
  act: (ctx: fairloom.TaskContext) => Promise<unknown>,
): Promise<unknown> {
  const once = { retries: 0 };
  return loom.run(task('inside', once, async (_: undefined, ctx) => void (await act(ctx))));
}

/** The table. A type that is not in it fails `test/tidy/options.test.ts`. */
export function optionCases(loom: Fairloom): Readonly<Record<string, OptionCase>> {
  const client = (options: object): Fairloom =>
    new fairloom.Fairloom({ backend: memory(), ...options } as never);
  const enqueue = (options: object): unknown => loom.enqueue(plainTask, 1, options as never);
  const within = (name: string) => (options: object) => ({ [name]: options });
  const anyTask = (options: object): unknown => task('one', options as never, async () => 1);
  return {
    VersionsOptions: { valid: { limit: 5 }, calls: { versions: (x) => loom.versions(x) } },
    AttemptOptions: { valid: { retries: 1 }, calls: { enqueue, task: anyTask } },
    BackfillOptions: {
      valid: { from: 0 },
      calls: { backfill: (x) => loom.schedules.backfill('s', x) },
    },
    BackoffOptions: {
      valid: { base: 1 },
      at: within('backoff'),
      calls: {
        enqueue,
        task: anyTask,
        defaults: (x: object) => client({ defaults: x }),
      },
    },
    CallsOptions: {
      valid: { atomic: false },
      calls: { calls: (x) => loom.enqueueMany([call(plainTask, 1)], x) },
    },
    ChannelOptions: { valid: {}, calls: { channel: (x) => channel('c', x) } },
    CommandTaskOptions: {
      valid: { command: 'true' },
      calls: { commandTask: (x) => fairloom.commandTask('c', x) },
    },
    ConsequenceOptions: {
      valid: { ending: 'cancel' },
      calls: { consequences: (x) => loom.tasks.consequences('t', x) },
    },
    ContainerMount: {
      valid: { source: '/a', target: '/a' },
      calls: {
        containerTask: (x) => fairloom.containerTask('c', { image: 'a', mounts: [x] }),
      },
    },
    ContainerOptions: {
      valid: { image: 'a' },
      calls: { containerTask: (x) => fairloom.containerTask('c', x) },
    },
    ContainerTaskOptions: {
      valid: { image: 'a' },
      calls: { containerTask: (x) => fairloom.containerTask('c', x) },
    },
    DeadBulkOptions: { valid: { user: 'u' }, calls: { remove: (x) => loom.dead.remove(x) } },
    DeadRedriveOptions: {
      valid: { user: 'u', rate: { limit: 9, per: '1s' } },
      calls: { redrive: (x) => loom.dead.redrive(x) },
    },
    DeadFilter: { valid: { user: 'u' }, calls: { list: (x) => loom.dead.list(x) } },
    BulkOptions: {
      valid: { where: 'state:failed', action: 'redrive' },
      calls: { start: (x) => loom.bulk.start(x) },
    },
    DeadListOptions: { valid: { followers: true }, calls: { list: (x) => loom.dead.list(x) } },
    DebounceOptions: { valid: { key: 'k', wait: 1 }, at: within('debounce'), calls: { enqueue } },
    DefaultOptions: {
      valid: { retries: 1 },
      calls: { client: (x) => client({ defaults: x }) },
    },
    ForkOptions: { valid: { from: 'a' }, calls: { fork: (x) => loom.runs.fork('r', x) } },
    DynamicOptions: {
      valid: {},
      calls: { dynamic: (x) => fairloom.dynamic('d', x, async () => 1) },
    },
    EachOptions: { valid: { policy: 'strict' }, calls: { each: (x) => each(plainTask, x) } },
    EncryptionOptions: {
      valid: { keys: [{ id: 'a', key: new Uint8Array(32) }] },
      calls: { encrypted: (x) => fairloom.encrypted(x) },
    },
    EnqueueManyOptions: {
      valid: { atomic: true },
      calls: {
        inputs: (x) => loom.enqueueMany(plainTask, [1], x),
      },
    },
    EnqueueOptions: {
      valid: { user: 'u' },
      calls: {
        enqueue,
        call: (x) => call(plainTask, 1, x),
        enqueueByName: (x) => loom.enqueueByName('plain', 1, x),
      },
    },
    FailureOptions: {
      valid: {},
      calls: {
        drain: (x) => testLoom([plainTask]).drain(x),
        advance: (x) => testLoom([plainTask]).clock.advance(1, x),
      },
    },
    FairloomOptions: {
      valid: { backend: memory() },
      calls: { client: (x) => new fairloom.Fairloom(x) },
    },
    FileOptions: { valid: { sync: 'always' }, calls: { file: (x) => file('data', x) } },
    FlowStepOptions: {
      valid: { as: 'b' },
      calls: { step: (x) => flow<number, number>('f', (f) => f.step(plainTask, f.input, x)) },
    },
    GroupOptions: {
      valid: { concurrency: 1 },
      calls: {
        parallel: (x) => parallel({ plain: plainTask }, x),
        each: (x) => each(plainTask, x),
      },
    },
    HandlerTaskOptions: {
      valid: { handler: 'h' },
      calls: { handlerTask: (x) => fairloom.handlerTask('h', x) },
    },
    IdempotencyOptions: {
      valid: { policy: 'return' },
      at: (idempotency) => ({ idempotencyKey: 'k', idempotency }),
      calls: { enqueue },
    },
    InQueue: {
      valid: { queue: 'q' },
      calls: {
        list: (x) => loom.users.list(x),
        get: (x) => loom.users.get('u', x),
        set: (x) => loom.users.set('u', {}, x),
        reset: (x) => loom.users.reset('u', x),
        pause: (x) => loom.users.pause('u', x),
        resume: (x) => loom.users.resume('u', x),
      },
    },
    LenientPolicy: {
      valid: { atLeast: 1 },
      at: within('policy'),
      calls: {
        parallel: (x) => parallel({ plain: plainTask }, x),
        each: (x) => each(plainTask, x),
      },
    },
    LoadConfigOptions: { valid: { file: false }, calls: { loadConfig: (x) => loadConfig(x) } },
    ManualClockHooks: { valid: {}, calls: { clock: (x) => new ManualClock(0, x) } },
    MemoryOptions: { valid: {}, calls: { memory: (x) => memory(x) } },
    ModuleTaskOptions: {
      valid: { module },
      calls: {
        threadTask: (x) => fairloom.threadTask('m', x),
        processTask: (x) => fairloom.processTask('m', x),
      },
    },
    MonitoringOptions: {
      valid: { port: 0 },
      calls: { serveMonitoring: (x) => serveMonitoring(loom, x) },
    },
    HttpApiOptions: { valid: { hidePayloads: true }, calls: { httpApi: (x) => httpApi(loom, x) } },
    EventScheduleOptions: {
      valid: { event: 'paid', task: plainTask },
      calls: { on: (x) => loom.schedules.on('s', x) },
    },
    NamedEventOptions: {
      valid: { event: 'paid', name: 'plain' },
      calls: { onByName: (x) => loom.schedules.onByName('s', x) },
    },
    NamedScheduleOptions: {
      valid: { name: 'plain', every: '1h' },
      calls: { setByName: (x) => loom.schedules.setByName('s', x) },
    },
    OnceOptions: {
      valid: { once: 'a' },
      calls: {
        add: (x) => inHandler(loom, (ctx) => ctx.channel(notes).live.add('count', 1, x)),
        append: (x) =>
          inHandler(loom, (ctx) => ctx.channel(notes).live.append('count' as never, 1 as never, x)),
      },
    },
    OpenTelemetryMetricsOptions: {
      valid: { meter: metrics.getMeter('test') },
      calls: { openTelemetryMetrics: (x) => openTelemetryMetrics(x) },
    },
    OpenTelemetryOptions: {
      valid: { tracerProvider: trace.getTracerProvider() },
      calls: { openTelemetry: (x) => openTelemetry(x) },
    },
    PageOptions: {
      valid: { limit: 1 },
      calls: {
        schedules: (x) => loom.schedules.list(x),
        users: (x) => loom.users.list(x),
        dead: (x) => loom.dead.list(x),
        groups: (x) => loom.dead.groups(x),
        xcom: (x) => loom.xcom.list(x),
        namespaces: (x) => loom.xcom.namespaces(x),
      },
    },
    ParallelOptions: {
      valid: { policy: { critical: ['plain'] } },
      calls: { parallel: (x) => parallel({ plain: plainTask }, x) },
    },
    PlaceOptions: { valid: { queue: 'q' }, calls: { enqueue, task: anyTask } },
    ProgramOptions: {
      valid: { command: 'true', args: [] },
      calls: { commandTask: (x) => fairloom.commandTask('c', x) },
    },
    PrometheusOptions: {
      valid: { client: promClient },
      calls: { prometheus: (x) => prometheus(x) },
    },
    QueueOptions: { valid: {}, calls: { set: (x) => loom.queues.set('q', x) } },
    RateOptions: {
      valid: { limit: 1, per: '1s' },
      at: within('rate'),
      calls: {
        users: (x) => loom.users.set('u', x),
        queues: (x) => loom.queues.set('q', x),
        perUser: (x) => loom.queues.set('q', { perUser: x }),
      },
    },
    RedisOptions: {
      valid: { prefix: 'a' },
      calls: { redis: (x) => redis('redis://localhost:1', x) },
    },
    RerunOptions: { valid: { input: 1 }, calls: { rerun: (x) => loom.runs.rerun('r', x) } },
    RunResumeOptions: { valid: { node: 'a' }, calls: { resume: (x) => loom.runs.resume('r', x) } },
    ResultOptions: {
      valid: { timeout: 1 },
      calls: {
        task: async (x) => (await loom.enqueue(plainTask, 1)).result(x),
        run: async (x) => (await loom.enqueue(line, 1)).result(x),
      },
    },
    RetentionOptions: {
      valid: { failed: '1d' },
      calls: { client: (x) => client({ retention: x }) },
    },
    RetryAfterOptions: { valid: {}, calls: { retryAfter: (x) => fairloom.retryAfter(1, x) } },
    RunCancelOptions: {
      valid: {},
      calls: {
        runs: (x) => loom.runs.cancel('r', x),
        handle: async (x) => (await loom.enqueue(line, 1)).cancel(x),
      },
    },
    RunEnqueueOptions: {
      valid: { form: 'driven', maxSteps: 9, startAt: 'plain' },
      calls: {
        pipeline: (x) => loom.enqueue(line, 1, x),
        dynamic: (x) => loom.enqueue(chooser, 1, x),
      },
    },
    RunImportOptions: {
      valid: {},
      calls: { import: (x) => loom.runs.import({} as never, x) },
    },
    RunListOptions: { valid: { state: 'failed' }, calls: { list: (x) => loom.runs.list(x) } },
    RunPauseOptions: { valid: {}, calls: { pause: (x) => loom.runs.pause('r', x) } },
    RunOptions: { valid: { user: 'u' }, calls: { run: (x) => loom.run(plainTask, 1, x) } },
    ScheduleDefaults: {
      valid: { timeZone: 'UTC' },
      calls: { client: (x) => client({ scheduler: x }) },
    },
    ScheduleOptions: {
      valid: { task: plainTask, input: 1, cron: '@daily' },
      calls: { set: (x) => loom.schedules.set('s', x) },
    },
    SchedulePatch: {
      valid: { jitter: '1m' },
      calls: { update: (x) => loom.schedules.update('s', x) },
    },
    SchedulePolicies: {
      valid: { task: plainTask, input: 1, cron: '@daily', missed: 'skip' },
      calls: { set: (x) => loom.schedules.set('s', x) },
    },
    SchedulerOptions: { valid: {}, calls: { scheduler: (x) => loom.scheduler(x) } },
    StopOptions: { valid: { grace: 0 }, calls: { stop: (x) => loom.worker().stop(x) } },
    SignalOptions: {
      valid: { signalId: 's' },
      calls: { signal: (x) => loom.signal('t', 's', 1, x) },
    },
    PublishOptions: {
      valid: { keep: '1h' },
      calls: { publish: (x) => loom.publish('paid', 'o-7', 1, x) },
    },
    AskAnswerOptions: {
      valid: {},
      calls: { answer: (x) => loom.asks.answer('t.1', { choice: 'yes', by: 'ann' }, x) },
    },
    SeriesOptions: {
      valid: { step: 'hour' },
      calls: { read: (x) => loom.series.read(x) },
    },
    AskListOptions: { valid: { for: 'ann' }, calls: { list: (x) => loom.asks.list(x) } },
    AskOptions: {
      valid: { title: 'Q', choices: ['yes'] },
      calls: { ask: (x) => inHandler(loom, (ctx) => ctx.ask(x)) },
    },
    AskStepOptions: {
      valid: { title: 'Q', choices: ['yes'] },
      calls: { ask: (x) => fairloom.ask(x) },
    },
    PipelineOptions: { valid: { version: '1' }, calls: { as: (x) => line.as('named', x) } },
    RefOptions: { valid: { version: '1' }, calls: { ref: (x) => fairloom.ref('there', x) } },
    SubRunOptions: {
      valid: { id: 'a' },
      calls: { run: (x) => inHandler(loom, (ctx) => ctx.run(plainTask, 1, x)) },
    },
    WaitStepOptions: {
      valid: { name: 'paid', timeout: '1s' },
      calls: { waitFor: async (x) => waitFor(() => event('paid', 'k'), x) },
    },
    WaitOptions: {
      valid: { timeout: '1s' },
      calls: { waitFor: (x) => inHandler(loom, (ctx) => ctx.waitFor('s' as never, x)) },
    },
    TaskPageOptions: {
      valid: { state: 'failed', values: true },
      calls: { list: (x) => loom.tasks.list(x), runs: (x) => loom.runs.list(x) },
    },
    TaskListOptions: { valid: { state: 'failed' }, calls: { list: (x) => loom.tasks.list(x) } },
    TaskSearchOptions: {
      valid: { where: 'state:failed' },
      calls: { search: (x) => loom.tasks.search(x) },
    },
    TaskOptions: { valid: {}, calls: { task: anyTask } },
    TestLoomOptions: { valid: {}, calls: { testLoom: (x) => testLoom([plainTask], x) } },
    ThrottleOptions: { valid: { key: 'k', per: 1 }, at: within('throttle'), calls: { enqueue } },
    ToYamlOptions: {
      valid: {},
      calls: {
        toYaml: async (x) => toYaml((await loadConfig({ file: false, env: {} })).config, x),
      },
    },
    UserListOptions: { valid: { configured: false }, calls: { list: (x) => loom.users.list(x) } },
    UserOptions: {
      valid: {},
      calls: {
        set: (x) => loom.users.set('u', x),
        perUser: (x) => loom.queues.set('q', { perUser: x }),
      },
    },
    WorkerOptions: {
      valid: { concurrency: 1 },
      calls: {
        worker: (x) => loom.worker(x),
        testLoom: (x) => testLoom([plainTask], { worker: x }),
      },
    },
    XComOptions: { valid: { ttl: 1 }, calls: { client: (x) => client({ xcom: x }) } },
    StreamReadOptions: {
      valid: { follow: false },
      calls: { read: (x) => loom.streams.read('t', 'tokens', x) },
    },
    TaskLogOptions: {
      valid: { follow: true },
      calls: { logs: (x) => loom.tasks.logs('t', x) },
    },
    XComPushOptions: {
      valid: { ttl: 1 },
      calls: {
        loom: (x) => loom.xcom.push('k', 1, x),
        handler: (x) => inHandler(loom, (ctx) => ctx.xcom.push('k', 1, x)),
      },
    },
    XComWhere: {
      valid: { user: 'u' },
      calls: {
        push: (x) => loom.xcom.push('k', 1, x),
        pull: (x) => loom.xcom.pull('k', x),
        delete: (x) => loom.xcom.delete('k', x),
        list: (x) => loom.xcom.list(x),
        namespaces: (x) => loom.xcom.namespaces(x),
      },
    },
    // Options whose type has no name.
    '{ reason }': { valid: {}, calls: { cancel: (x) => loom.tasks.cancel('t', x) } },
    '{ limit }': {
      valid: { limit: 1 },
      calls: { consequences: (x) => loom.runs.consequences('r', x) },
    },
    '{ repair }': { valid: {}, calls: { reconcile: (x) => loom.reconcile(x) } },
    '{ timeout }': { valid: { timeout: 0 }, calls: { close: (x) => client({}).close(x) } },
    '{ times }': { valid: {}, calls: { fail: (x) => testLoom([plainTask]).fail(plainTask, x) } },
  };
}
