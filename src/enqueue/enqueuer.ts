import type { Connection } from '../backends/connection.ts';
import { type Turns, turn } from '../base/event-loop.ts';
import { nextTick } from '../base/globals.ts';
import { BackendUnavailableError, ClosedError } from '../domain/errors/errors.ts';
import type { EnqueueReply } from '../domain/port/backend.ts';
import type { NewTask } from '../domain/task/task.ts';
import type { EnqueueOptions } from './enqueue-options.ts';
import type { TaskHandle } from './handle.ts';

/** The calls of one tick: they go together, and share the promise of their replies. */
interface Trip {
  readonly tasks: NewTask[];
  readonly replies: Promise<readonly EnqueueReply[]>;
  /** Says where the replies come from; called once. */
  readonly leave: (replies: Promise<readonly EnqueueReply[]>) => void;
}

interface EnqueuerParts {
  readonly connection: Connection;
  readonly turns: Turns;
  /** What the caller gets for a reply; throws what it gets for a refusal. */
  answer(
    task: NewTask,
    reply: EnqueueReply,
    options: EnqueueOptions | undefined,
  ): TaskHandle<unknown>;
}

/** Calls that share one trip to the backend at most: a few scripts' worth. */
const BATCH_TASKS = 1_000;

/**
 * Sends single enqueues. Those of the same tick go together, each on its own terms; a lone one
 * waits for nobody.
 */
export class Enqueuer {
  readonly #parts: EnqueuerParts;
  /** Of this tick; absent between ticks. */
  #trip: Trip | undefined;

  constructor(parts: EnqueuerParts) {
    this.#parts = parts;
  }

  /** The promise of the handle is the only one that a call costs. */
  send(task: NewTask, options: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> {
    if (this.#parts.connection.closed) return Promise.reject(new ClosedError('this Fairloom'));
    const { tasks, replies } = this.#openTrip();
    const at = tasks.push(task) - 1;
    if (tasks.length >= BATCH_TASKS) this.#leave();
    return replies.then((all) => this.#answer(task, all[at], options));
  }

  #openTrip(): Trip {
    if (this.#trip !== undefined) return this.#trip;
    nextTick(this.#leave);
    this.#trip = newTrip();
    return this.#trip;
  }

  readonly #leave = (): void => {
    const trip = this.#trip;
    if (trip === undefined) return;
    this.#trip = undefined;
    trip.leave(this.#deliver(trip.tasks));
  };

  async #deliver(tasks: readonly NewTask[]): Promise<readonly EnqueueReply[]> {
    const { connection, turns } = this.#parts;
    if (turns.spend(tasks.length)) await turn();
    const backend = connection.now ?? (await connection.open());
    return backend.tasks.enqueue(tasks, { atomic: false });
  }

  #answer(
    task: NewTask,
    reply: EnqueueReply | undefined,
    options: EnqueueOptions | undefined,
  ): TaskHandle<unknown> {
    if (reply === undefined) throw unanswered();
    return this.#parts.answer(task, reply, options);
  }
}

function newTrip(): Trip {
  let leave: Trip['leave'] = () => undefined;
  const replies = new Promise<readonly EnqueueReply[]>((resolve) => {
    leave = resolve;
  });
  return { tasks: [], replies, leave };
}

function unanswered(): BackendUnavailableError {
  return new BackendUnavailableError('enqueue', 'it gave no answer for a task');
}
