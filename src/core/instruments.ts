import type { Clock } from '../base/time.ts';
import type { Graphs } from '../client/facades/graphs-facade.ts';
import type { Queues } from '../client/facades/queue-facade.ts';
import type { Schedules } from '../client/facades/schedules-facade.ts';
import type { Tasks } from '../client/facades/task-facade.ts';
import type { Users } from '../client/facades/user-facade.ts';
import type { Backend, Pong, Stats, WorkerInfo } from '../domain/port/backend.ts';
import type { NewTask } from '../domain/task/task.ts';
import type { Unsubscribe } from '../events/emitter.ts';
import type { WorkerEvents } from '../events/worker-events.ts';
import type { SchedulerEvents } from '../schedules/scheduler.ts';

/** The measured part of a client, see `Fairloom`. */
export interface MeasuredClient {
  /** Tasks by state, and their waits. */
  readonly tasks: Pick<Tasks, 'dependents' | 'list' | 'missing' | 'waiting'>;
  /** Users of queues. */
  readonly users: Pick<Users, 'list' | 'get'>;
  /** Queues and their counts. */
  readonly queues: Pick<Queues, 'list'>;
  /** The live workers. */
  readonly workers: {
    /** Workers of all processes. */
    list(): Promise<readonly WorkerInfo[]>;
  };
  /** Lag of the schedules. */
  readonly schedules: Pick<Schedules, 'lag'>;
  /** Figures of the graph cache. */
  readonly graphs: Pick<Graphs, 'stats'>;
  /** Counts and totals. */
  stats(): Promise<Stats>;
  /** Problems of the store that make no call fail. */
  health(): Promise<Pick<Pong, 'problems'>>;
}

/** The measured part of a worker, see `Worker`. */
export interface MeasuredWorker {
  /** Unique among live workers. */
  readonly id: string;
  /** Number of its slots. */
  readonly concurrency: number;
  /** Slots in use. */
  readonly running: number;
  /** It leases, and the backend answers. */
  readonly isHealthy: boolean;
  /** Adds a listener for one kind of event. */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): Unsubscribe;
}

/** The measured part of a scheduler, see `Worker` and `SchedulerService`. */
export interface MeasuredScheduler {
  /** Adds a listener for one kind of event. */
  on<Name extends keyof SchedulerEvents>(
    name: Name,
    listener: (event: SchedulerEvents[Name]) => void,
  ): Unsubscribe;
}

/** Measures a client: `prometheus(…)` of `fairloom/metrics`. */
export interface Instruments {
  /** Wraps the backend, to time its calls. */
  backend(backend: Backend): Backend;
  /** Called once, by a new client. */
  client(loom: MeasuredClient, clock: Clock): void;
  /** Called for a new worker, before its start. */
  worker(worker: MeasuredWorker): void;
  /** Called for a new scheduler without tasks, before its start. */
  scheduler(scheduler: MeasuredScheduler): void;
  /** Called for each stored task of a caller. */
  enqueued(task: NewTask): void;
}
