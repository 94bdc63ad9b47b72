import type { SharedBackend } from '../backends/shared-backend.ts';
import { atRoot } from '../base/async-scope.ts';
import type { Logger } from '../base/logger.ts';
import type { Clock } from '../base/time.ts';
import type { NewTask } from '../domain/task/task.ts';
import { say } from '../logging/log-events.ts';
import type { Instruments } from './instruments.ts';
import type { SeriesGatherer } from './series-gatherer.ts';

/** Delay of the check for a worker after an enqueue, in ms. */
const LOOK_AFTER_MS = 5_000;

/** Most watched pairs of queue and name; beyond this something else is wrong. */
const MOST_PAIRS = 10_000;

interface Watching {
  readonly connection: SharedBackend;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Instruments | undefined;
  readonly series: SeriesGatherer | undefined;
}

/** Reactions to each task that this client has stored: figures, and a check for its workers. */
export function createdTasks({
  connection,
  clock,
  log,
  metrics,
  series,
}: Watching): (task: NewTask) => void {
  const watch = new WorkerWatch(connection, clock, log);
  return (task) => {
    watch.note(task);
    metrics?.enqueued(task);
    series?.enqueued(task);
  };
}

/** Warns once when no live worker serves a task's queue and name, usually because of a typo. */
class WorkerWatch {
  readonly #connection: SharedBackend;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Checked queues by name, or those to check. */
  readonly #seen = new Map<string, Set<string>>();
  #pairs = 0;

  constructor(connection: SharedBackend, clock: Clock, log: Logger) {
    this.#connection = connection;
    this.#clock = clock;
    this.#log = log;
  }

  /** Called for each enqueued task. */
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
      // Other calls report an outage; the next enqueue of this pair checks again.
      this.#seen.get(name)?.delete(queue);
      this.#pairs--;
    }
  }
}
