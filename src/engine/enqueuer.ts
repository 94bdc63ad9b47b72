import type { EnqueueReply } from '../domain/backend.ts';
import { BackendUnavailableError, ClosedError } from '../domain/errors.ts';
import type { NewTask } from '../domain/task.ts';
import type { Connection } from './connection.ts';
import type { EnqueueOptions } from './enqueue-options.ts';
import type { TaskHandle } from './handle.ts';
import { type Turns, turn } from './turns.ts';

/** A call that waits for its answer. */
interface Waiting {
  readonly options: EnqueueOptions | undefined;
  readonly resolve: (handle: TaskHandle<unknown>) => void;
  readonly reject: (error: unknown) => void;
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
  /** Of this tick, in the order of the calls; empty between ticks. */
  #tasks: NewTask[] = [];
  #waiting: Waiting[] = [];

  constructor(parts: EnqueuerParts) {
    this.#parts = parts;
  }

  /** The promise of the handle is the only one that a call costs. */
  send(task: NewTask, options: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> {
    if (this.#parts.connection.closed) return Promise.reject(new ClosedError('this Fairloom'));
    return new Promise((resolve, reject) => {
      if (this.#tasks.length === 0) process.nextTick(this.#flush);
      this.#tasks.push(task);
      this.#waiting.push({ options, resolve, reject });
      if (this.#tasks.length >= BATCH_TASKS) this.#flush();
    });
  }

  readonly #flush = (): void => {
    const tasks = this.#tasks;
    const waiting = this.#waiting;
    if (tasks.length === 0) return;
    this.#tasks = [];
    this.#waiting = [];
    void this.#deliver(tasks, waiting);
  };

  async #deliver(tasks: readonly NewTask[], waiting: readonly Waiting[]): Promise<void> {
    const { connection, turns } = this.#parts;
    try {
      if (turns.spend(tasks.length)) await turn();
      const backend = connection.now ?? (await connection.open());
      const replies = await backend.tasks.enqueue(tasks, { atomic: false });
      for (let at = 0; at < waiting.length; at++) this.#tell(waiting[at], tasks[at], replies[at]);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }

  #tell(
    waiting: Waiting | undefined,
    task: NewTask | undefined,
    reply: EnqueueReply | undefined,
  ): void {
    if (waiting === undefined || task === undefined) return;
    try {
      if (reply === undefined) throw unanswered();
      waiting.resolve(this.#parts.answer(task, reply, waiting.options));
    } catch (error) {
      waiting.reject(error);
    }
  }
}

function unanswered(): BackendUnavailableError {
  return new BackendUnavailableError('enqueue', 'it gave no answer for a task');
}
