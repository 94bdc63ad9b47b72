import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../base/time.ts';
import { checkUserSelection, type UserSelection } from '../client/facades/user-selection.ts';
import type {
  Instruments,
  MeasuredClient,
  MeasuredScheduler,
  MeasuredWorker,
} from '../core/instruments.ts';
import type { Backend } from '../domain/port/backend.ts';
import type { NewTask } from '../domain/task/task.ts';
import { nameIn } from '../domain/task/task-name.ts';
import type { AttemptFacts } from '../events/worker-events.ts';
import type { Recorder } from './recorder.ts';
import { StoreFigures } from './store-figures.ts';
import { byMetric, type Sample, type Samples } from './table.ts';
import { timedBackend } from './timed-backend.ts';

const NS_PER_SECOND = 1e9;
const MS_PER_SECOND = 1_000;

/** Resolution of the event loop monitor, in ms. */
const LOOP_RESOLUTION_MS = 10;

/** Counts what one client, its workers and its backend do. */
export class ProcessFigures implements Instruments {
  readonly #recorder: Recorder;
  readonly #users: UserSelection;
  readonly #workers = new Set<MeasuredWorker>();
  readonly #stores: StoreFigures[] = [];
  readonly #loop: IntervalHistogram = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  /** The read in progress, shared by concurrent callers. */
  #looking: Promise<Samples> | undefined;

  constructor(recorder: Recorder, users: UserSelection) {
    this.#recorder = recorder;
    this.#users = checkUserSelection('users', users);
    this.#loop.enable();
  }

  backend(backend: Backend): Backend {
    return timedBackend(backend, (operation, seconds, failed) => {
      this.#recorder.observe('calls', { operation }, seconds);
      if (failed) this.#recorder.add('callErrors', { operation });
    });
  }

  client(loom: MeasuredClient, clock: Clock): void {
    this.#stores.push(new StoreFigures(loom, clock, this.#users));
  }

  enqueued({ queue, name }: NewTask): void {
    this.#recorder.add('enqueued', { queue, name: nameIn(name) });
  }

  worker(worker: MeasuredWorker): void {
    this.#workers.add(worker);
    this.scheduler(worker);
    worker.on('worker.stopped', () => this.#workers.delete(worker));
    worker.on('task.started', (event) => {
      if (event.attempt === 1) {
        this.#recorder.observe('wait', { queue: event.queue }, event.waitMs / MS_PER_SECOND);
      }
      if (event.releasedMs !== undefined) {
        this.#recorder.observe('release', { queue: event.queue }, event.releasedMs / MS_PER_SECOND);
      }
      for (const store of this.#stores) store.turn(event.queue, event.user);
    });
    worker.on('task.finished', (event) => this.#ended('finished', event, event.ms));
    worker.on('task.failed', (event) => this.#ended('failed', event, event.ms));
    worker.on('task.canceled', (event) => this.#ended('canceled', event, event.ms));
    worker.on('task.retried', (event) => this.#attempt('retried', event, event.ms));
    worker.on('task.released', (event) => this.#attempt('released', event, event.ms));
    worker.on('lease.lost', (event) => this.#attempt('lost', event));
  }

  scheduler(scheduler: MeasuredScheduler): void {
    const fired = (outcome: string, slots = 1): void =>
      this.#recorder.add('scheduleFired', { outcome }, slots);
    scheduler.on('schedule.fired', ({ lateMs }) => {
      fired('fired');
      this.#recorder.observe('scheduleLateness', {}, lateMs / MS_PER_SECOND);
    });
    scheduler.on('schedule.missed', ({ slots, error }) => {
      fired(error === undefined ? 'missed' : 'refused', slots);
    });
    scheduler.on('schedule.skipped', ({ reason }) => fired(reason));
  }

  /** Reads all figures that are read on demand. */
  look(): Promise<Samples> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  #ended(outcome: string, event: AttemptFacts, ms: number): void {
    this.#recorder.add('ended', { name: event.name, outcome });
    this.#attempt(outcome, event, ms);
  }

  #attempt(outcome: string, { name }: AttemptFacts, ms?: number): void {
    this.#recorder.add('attempts', { name, outcome });
    if (ms !== undefined) this.#recorder.observe('run', { name }, ms / MS_PER_SECOND);
  }

  async #look(): Promise<Samples> {
    const stores = await Promise.all(this.#stores.map((store) => store.look()));
    return byMetric([...stores.flat(), ...this.#slots(), ...this.#loopLag()]);
  }

  #slots(): readonly Sample[] {
    return [...this.#workers].flatMap(({ id, running, concurrency, isHealthy }): Sample[] => [
      { key: 'slots', labels: { worker: id, state: 'busy' }, value: running },
      { key: 'slots', labels: { worker: id, state: 'free' }, value: concurrency - running },
      { key: 'workerHealthy', labels: { worker: id }, value: isHealthy ? 1 : 0 },
    ]);
  }

  #loopLag(): readonly Sample[] {
    const at = (quantile: string, nanoseconds: number): Sample => ({
      key: 'eventLoopLag',
      labels: { quantile },
      // Measures the time between ticks of a timer: the excess is the lag.
      value: Math.max(0, nanoseconds / NS_PER_SECOND - LOOP_RESOLUTION_MS / MS_PER_SECOND),
    });
    if (this.#loop.count === 0) return [];
    const samples = [
      at('0.5', this.#loop.percentile(50)),
      at('0.99', this.#loop.percentile(99)),
      at('1', this.#loop.max),
    ];
    this.#loop.reset();
    return samples;
  }
}
