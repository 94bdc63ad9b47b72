import type { SharedBackend } from '../backends/shared-backend.ts';
import { yieldToEventLoop } from '../base/event-loop.ts';
import { nextTick } from '../base/globals.ts';
import {
  BackendUnavailableError,
  ClosedError,
  type FairloomError,
  TaskConflictError,
} from '../domain/errors/errors.ts';
import { checkOptions } from '../domain/errors/options.ts';
import type { BatchOptions, EnqueueReply } from '../domain/port/backend.ts';
import { refusalError } from '../domain/port/refusal.ts';
import type { NewTask } from '../domain/task/task.ts';
import { TaskDefinition } from '../workflow/task-definition.ts';
import { ENQUEUE_KEYS, type EnqueueOptions, rejectsDuplicate } from './enqueue-options.ts';
import type { TaskHandle } from './handle.ts';
import { type Results, StoredHandle } from './results.ts';
import type { TaskMaker } from './task-maker.ts';

/** Number of tasks between two turns of the event loop: a few milliseconds of work. */
const TASKS_PER_TURN = 1_000;

/**
 * The embedded backend answers without a turn of the event loop, so a loop over it would block timers and
 * sockets. Each sender counts its tasks here, and lets the event loop turn when required.
 */
export class Turns {
  #left = TASKS_PER_TURN;

  /** Counts tasks; true when the event loop must turn before more are sent. */
  spend(tasks: number): boolean {
    this.#left -= tasks;
    if (this.#left > 0) return false;
    this.#left = TASKS_PER_TURN;
    return true;
  }
}

/** Parts of the client that store tasks. */
export interface EnqueueTools {
  readonly connection: SharedBackend;
  readonly maker: TaskMaker;
  readonly results: Results;
  /** Present: calls of clients are traced. */
  readonly tracer: object | undefined;
  readonly yields: Turns;
  onCreated(task: NewTask): void;
}

/** A call that waits for its reply. */
interface Call {
  readonly task: NewTask;
  readonly options: EnqueueOptions | undefined;
  readonly resolve: (handle: TaskHandle<unknown>) => void;
  readonly reject: (error: unknown) => void;
}

/** Largest number of calls in one request to the backend: a few scripts. */
const BATCH_TASKS = 1_000;

/**
 * Sends single enqueues. Calls of one tick share a request, with separate outcomes; a single call is not
 * delayed.
 */
export class Enqueuer {
  readonly #tools: EnqueueTools;
  /** Calls of this tick, for one request. */
  #calls: Call[] = [];

  constructor(tools: EnqueueTools) {
    this.#tools = tools;
  }

  /**
   * Stores a task that is neither traced nor a run; `undefined` for all other calls. Not async: the promise
   * of the handle is the only one per call.
   */
  enqueueUsual(
    step: unknown,
    input: unknown,
    options: EnqueueOptions | undefined,
  ): Promise<TaskHandle<unknown>> | undefined {
    const isUsual = step instanceof TaskDefinition && step.dynamic === undefined;
    if (!isUsual || this.#tools.tracer !== undefined) return undefined;
    try {
      if (options !== undefined) checkOptions('enqueue', options, ENQUEUE_KEYS);
      return this.enqueue(step, input, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Makes a task of a definition and stores it. */
  enqueue(
    definition: TaskDefinition,
    input: unknown,
    options: EnqueueOptions | undefined,
  ): Promise<TaskHandle<unknown>> {
    const task = this.#tools.maker.make(definition, input, options);
    if (!(task instanceof Promise)) return this.send(task, options);
    return task.then((checked) => this.send(checked, options));
  }

  /** Stores one task, with the others of this tick. */
  send(task: NewTask, options: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> {
    if (this.#tools.connection.closed) return Promise.reject(new ClosedError('this Fairloom'));
    return new Promise((resolve, reject) => {
      const count = this.#calls.push({ task, options, resolve, reject });
      if (count === 1) nextTick(this.#leave);
      else if (count >= BATCH_TASKS) this.#leave();
    });
  }

  readonly #leave = (): void => {
    const calls = this.#calls;
    if (calls.length === 0) return;
    this.#calls = [];
    void this.#deliver(calls);
  };

  async #deliver(calls: readonly Call[]): Promise<void> {
    const { connection, yields } = this.#tools;
    try {
      if (yields.spend(calls.length)) await yieldToEventLoop();
      const backend = connection.now ?? (await connection.open());
      const tasks = calls.map(({ task }) => task);
      const replies = await backend.tasks.enqueue(tasks, EACH_ALONE);
      for (let at = 0; at < calls.length; at++) this.#answer(calls[at], replies[at]);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }

  #answer(call: Call | undefined, reply: EnqueueReply | undefined): void {
    if (call === undefined) return;
    const { task, options, resolve, reject } = call;
    try {
      const refusal = refusalOf(task, reply, options);
      if (refusal === undefined) resolve(handleOf(this.#tools, task, reply));
      else reject(refusal);
    } catch (error) {
      reject(error);
    }
  }
}

/** The refusal of one task does not affect others. */
const EACH_ALONE: BatchOptions = { atomic: false };

/** The error of a reply to a single task, if there is one. */
export function refusalOf(
  task: NewTask,
  reply: EnqueueReply | undefined,
  options: EnqueueOptions | undefined,
): FairloomError | undefined {
  if (reply?.kind === 'refused') return refusalError(task.id, reply.refusal);
  const isSame = reply?.kind === 'existing' && reply.id === task.id;
  if (!isSame || options === undefined || !rejectsDuplicate(options)) return undefined;
  return new TaskConflictError(task.id, 'already, and onDuplicate is "reject"');
}

/** The handle of a stored task. */
export function handleOf(
  tools: EnqueueTools,
  task: NewTask,
  reply: EnqueueReply | undefined,
): TaskHandle<unknown> {
  if (reply === undefined || reply.kind === 'refused') {
    throw new BackendUnavailableError('enqueue', 'its reply has no entry for a task');
  }
  if (reply.kind === 'created') tools.onCreated(task);
  return new StoredHandle(tools.results, reply);
}
