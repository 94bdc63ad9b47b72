import { memory } from '../backends/memory/memory-backend.ts';
import { type Duration, durationMs } from '../base/time.ts';
import { coreOf, Fairloom } from '../client/client.ts';
import type { TaskError } from '../codec/task-error.ts';
import { CLIENT_KEYS, type FairloomOptions } from '../core/options.ts';
import { InvalidOptionError, TaskFailedError, waitAskedBy } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import type { Cause } from '../domain/task/cause.ts';
import { versionedName } from '../domain/task/task-name.ts';
import type { TaskSource } from '../handlers/registry.ts';
import { tickLogged } from '../logging/dead-letter-lines.ts';
import { silentLogger } from '../logging/logger.ts';
import type { Worker } from '../worker/worker.ts';
import { type WorkerOptions, workerPlan } from '../worker/worker-options.ts';
import type { Task } from '../workflow/step.ts';
import type { TaskContext } from '../workflow/task-context.ts';
import { definitionOf, type Handler, type TaskDefinition } from '../workflow/task-definition.ts';
import { type HandlerRun, HandlerRuns } from './handler-runs.ts';
import { ManualClock, settle } from './manual-clock.ts';
import { type Spy, spyOn } from './spy.ts';
import { Stalls } from './stalls.ts';

/** Options of a {@link TestLoom} that differ from those of a `Fairloom`. */
export interface TestLoomOptions extends Omit<FairloomOptions, 'backend' | 'tasks' | 'clock'> {
  /** Initial time, in ms since the epoch. Default 2026-01-05 12:00 UTC. */
  readonly startMs?: number | undefined;
  /** Options of the worker that `drain` and `advance` run. Default one slot, for a deterministic order. */
  readonly worker?: WorkerOptions | undefined;
}

const { backend: _backend, tasks: _tasks, clock: _clock, ...COMMON } = CLIENT_KEYS;

const KEYS: OptionKeys<TestLoomOptions> = keysOf<TestLoomOptions>()({
  ...COMMON,
  startMs: true,
  worker: true,
});

/** Failures of handlers that a test expects. */
export interface FailureOptions {
  /** True: failures are part of the test. Default false. */
  readonly allowFailures?: boolean | undefined;
}

const FAILURE_KEYS: OptionKeys<FailureOptions> = keysOf<FailureOptions>()({ allowFailures: true });

const TIMES_KEYS: OptionKeys<{ times: unknown }> = keysOf<{ times: unknown }>()({ times: true });

/** The clock of a {@link TestLoom}: time passes only here. */
export interface TestClock {
  /** Ms since the epoch. */
  now(): number;
  /**
   * Advances the time and works meanwhile: delays, retries and timeouts happen on the way. Rejects
   * with the first unexpected failure.
   */
  advance(length: Duration, options?: FailureOptions): Promise<void>;
}

/** Error of a handler by {@link TestLoom.fail}. */
export class InjectedFailure extends Error {
  /** Equal across copies of the package. */
  override readonly name = 'InjectedFailure';
}

/**
 * A whole Fairloom in a test: the embedded backend on a clock that stands still, and a worker that
 * works only on request.
 */
export function testLoom(tasks: TaskSource, options: TestLoomOptions = {}): TestLoom {
  checkOptions('testLoom', options, KEYS);
  const { startMs, worker = {}, ...rest } = options;
  workerPlan(worker, () => 'test');
  const clock = new ManualClock(startMs);
  const settings = { log: silentLogger, ...rest, backend: memory({ clock }), clock, tasks };
  return new TestLoom(settings, clock, worker);
}

/** See {@link testLoom}. */
export class TestLoom extends Fairloom {
  /** Time passes only when this is advanced. */
  readonly clock: TestClock;
  readonly #manual: ManualClock;
  readonly #workerOptions: WorkerOptions;
  readonly #journal = new HandlerRuns();
  /** By name, with the version if there is one. */
  readonly #stubs = new Map<string, Handler>();
  /** Remaining failures of handlers, by name. */
  readonly #failures = new Map<string, number>();
  /** The first failure that no test asked for; the call that reports it clears it. */
  #unexpected: { readonly error: unknown } | undefined;
  /** All workers created here that have not stopped. */
  readonly #workers = new Set<Worker>();
  readonly #stalls = new Stalls(() => [...this.#workers].some(({ running }) => running > 0));
  /** Started with the first work, and kept: a handler may run across an `advance`. */
  #worker: Worker | undefined;

  constructor(options: FairloomOptions, clock: ManualClock, worker: WorkerOptions) {
    super(options);
    this.#manual = clock;
    this.#workerOptions = worker;
    for (const definition of coreOf(this).registry.all()) this.#wrap(definition);
    this.clock = {
      now: () => clock.now(),
      advance: (length, failures = {}) => this.#stalls.drive(() => this.#advance(length, failures)),
    };
    coreOf(this).results.guard = (id, end) => this.#stalls.watch(id, end);
  }

  /**
   * Works until no task can start now; time stands still. Rejects with the first unexpected
   * failure: an error of a handler without `fail`.
   */
  drain(options: FailureOptions = {}): Promise<void> {
    return this.#stalls.drive(async () => {
      checkOptions('drain', options, FAILURE_KEYS);
      const worker = await this.#awake();
      await worker.whenIdle();
      worker.pause();
      this.#report(options);
    });
  }

  /** A worker besides that of `drain` and `advance`, which works independently once it is started. */
  override worker(options: WorkerOptions = {}): Worker {
    const worker = super.worker(options);
    this.#workers.add(worker);
    worker.on('worker.stopped', () => this.#workers.delete(worker));
    return worker;
  }

  /** Replaces the task's handler, from its next start on. */
  stub<I, O, X>(
    step: Task<I, O, X>,
    handler: (input: I, ctx: TaskContext) => O | Promise<O>,
  ): void {
    const definition = definitionOf(step);
    this.#stubs.set(keyOf(definition), handler as Handler);
    this.#wrap(definition);
  }

  /** Makes the task's next attempts fail: `times` of them, by default one; 0 resets. */
  fail(step: Task<never, unknown, unknown>, options: { readonly times?: number } = {}): void {
    checkOptions('fail', options, TIMES_KEYS);
    const { times = 1 } = options;
    if (!Number.isInteger(times) || times < 0) {
      throw new InvalidOptionError('times', 'a whole number', times);
    }
    const definition = definitionOf(step);
    this.#failures.set(definition.name, times);
    this.#wrap(definition);
  }

  /** Observes the task's handler, including its earlier calls. */
  spy<I, O, X>(step: Task<I, O, X>): Spy<I, O | X> {
    return spyOn(this.#journal, definitionOf(step).name);
  }

  /** Every call of a handler, in the order of the starts. */
  get history(): readonly HandlerRun[] {
    return this.#journal.runs;
  }

  /** User and task of every call of a handler, in the order of the starts. */
  order(): readonly (readonly [user: string, name: string])[] {
    return this.#journal.runs.map(({ user, name }) => [user, name] as const);
  }

  /** Closes at once, with any `timeout`: running handlers are abandoned, since time stands still. */
  override async close(options: { readonly timeout?: Duration | undefined } = {}): Promise<void> {
    // Time stands still, so no grace would end.
    this.#worker?.abandon();
    await super.close(options);
  }

  /** In steps from one due time to the next, so that a year takes no longer than a minute. */
  async #advance(length: Duration, options: FailureOptions): Promise<void> {
    checkOptions('advance', options, FAILURE_KEYS);
    const ms = durationMs(length);
    if (ms === undefined || ms < 0) throw new InvalidOptionError('advance', 'a length', length);
    const clock = this.#manual;
    const end = clock.now() + ms;
    const worker = await this.#awake();
    await settle();
    while (clock.now() < end) {
      // A handler that its timeout could not end is not awaited.
      const isIdle = worker.leased === 0;
      if (isIdle) clock.jump(Math.min(end, await this.#nextDueAt()) - clock.now());
      await clock.advance(isIdle ? 0 : Math.min(STEP_MS, end - clock.now()));
    }
    worker.pause();
    this.#report(options);
  }

  /** At least 1 ms ahead, so that time passes. */
  async #nextDueAt(): Promise<number> {
    const { connection } = coreOf(this);
    const { nextDueAt = Number.POSITIVE_INFINITY } = await tickLogged(
      connection.backend.tasks,
      connection.log,
    );
    return Math.max(nextDueAt, this.#manual.now() + 1);
  }

  async #awake(): Promise<Worker> {
    if (this.#worker !== undefined) {
      this.#worker.resume();
      return this.#worker;
    }
    const worker = this.worker({ concurrency: 1, ...this.#workerOptions });
    this.#worker = worker;
    worker.on('task.failed', (event) => this.#note(event.taskId, event));
    worker.on('task.retried', (event) => this.#note(event.taskId, event));
    await worker.start();
    return worker;
  }

  /** Keeps the first failure that no test asked for. */
  #note(taskId: string, event: { readonly error: TaskError; readonly cause: Cause }): void {
    if (this.#unexpected !== undefined) return;
    const thrown = this.#journal.runs.findLast((run) => run.taskId === taskId)?.error;
    if (thrown instanceof InjectedFailure || waitAskedBy(thrown) !== undefined) return;
    const { error, cause } = event;
    this.#unexpected = { error: thrown ?? new TaskFailedError(taskId, cause, error) };
  }

  #report({ allowFailures = false }: FailureOptions): void {
    const failure = this.#unexpected;
    this.#unexpected = undefined;
    if (failure !== undefined && !allowFailures) throw failure.error;
  }

  /** Records every call of the task's handler in the journal. */
  #wrap(definition: TaskDefinition): void {
    const { name } = definition;
    const { registry, handlers } = coreOf(this);
    const stubOf = (): Handler | undefined =>
      this.#stubs.get(keyOf(definition)) ?? this.#stubs.get(name);
    if (!handlers.has(definition) && stubOf() === undefined) return;
    registry.setStub(definition, async (input, ctx) => {
      const { taskId, user, attempt } = ctx;
      const end = this.#journal.begin({ taskId, name, user, attempt }, input);
      try {
        this.#failIfAsked(name);
        const handler = stubOf() ?? handlers.own(definition);
        const result: unknown = await handler(input, ctx);
        end({ state: 'returned', result });
        return result;
      } catch (error) {
        end({ state: 'threw', error });
        throw error;
      }
    });
  }

  #failIfAsked(name: string): void {
    const left = this.#failures.get(name) ?? 0;
    if (left === 0) return;
    this.#failures.set(name, left - 1);
    throw new InjectedFailure(`${name} was made to fail`);
  }
}

function keyOf({ name, options }: TaskDefinition): string {
  return versionedName(name, options.version);
}

/** While a handler runs, time passes in steps of this length, in ms: it may end at any moment. */
const STEP_MS = 1_000;
