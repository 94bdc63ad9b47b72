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

/** What is measured of a client: a part of `Fairloom`. */
export interface MeasuredClient {
  /** Tasks by state, and what they wait for. */
  readonly tasks: Pick<Tasks, 'dependents' | 'list' | 'missing' | 'waiting'>;
  /** Users of queues. */
  readonly users: Pick<Users, 'list' | 'get'>;
  /** Queues and their counts. */
  readonly queues: Pick<Queues, 'list'>;
  /** The live workers. */
  readonly workers: {
    /** Those of all processes. */
    list(): Promise<readonly WorkerInfo[]>;
  };
  /** How late the schedules are. */
  readonly schedules: Pick<Schedules, 'lag'>;
  /** Figures of the graph cache. */
  readonly graphs: Pick<Graphs, 'stats'>;
  /** Counts and totals. */
  stats(): Promise<Stats>;
  /** What goes wrong in the store though it answers. */
  health(): Promise<Pick<Pong, 'problems'>>;
}

/** What is measured of a worker: a part of `Worker`. */
export interface MeasuredWorker {
  /** Unique among live workers. */
  readonly id: string;
  /** Its slots. */
  readonly concurrency: number;
  /** Slots in use. */
  readonly running: number;
  /** It leases, and the backend answers. */
  readonly isHealthy: boolean;
  /** Listens to one kind of event. */
  on<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): Unsubscribe;
}

/** What is measured of a scheduler: a part of `Worker` and of `SchedulerService`. */
export interface MeasuredScheduler {
  /** Listens to one kind of event. */
  on<Name extends keyof SchedulerEvents>(
    name: Name,
    listener: (event: SchedulerEvents[Name]) => void,
  ): Unsubscribe;
}

/** What a client shows itself to, so that it can be measured: `prometheus(…)` of `fairloom/metrics`. */
export interface Instruments {
  /** The backend to use instead: the same one, with its calls timed. */
  backend(backend: Backend): Backend;
  /** A client uses these instruments; called once, when it is made. */
  client(loom: MeasuredClient, clock: Clock): void;
  /** A worker of the client was made; it has not been started. */
  worker(worker: MeasuredWorker): void;
  /** A scheduler that runs no tasks was made; it has not been started. */
  scheduler(scheduler: MeasuredScheduler): void;
  /** A task of a caller was stored. */
  enqueued(task: NewTask): void;
}
