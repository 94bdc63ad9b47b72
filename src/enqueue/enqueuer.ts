import type { Connection } from '../backends/connection.ts';
import { yieldToEventLoop } from '../base/event-loop.ts';
import { nextTick } from '../base/globals.ts';
import {
  BackendUnavailableError,
  ClosedError,
  type FairloomError,
  TaskConflictError,
} from '../domain/errors/errors.ts';
import type { EnqueueReply } from '../domain/port/backend.ts';
import { refusalError } from '../domain/port/refusal.ts';
import type { NewTask } from '../domain/task/task.ts';
import { type EnqueueOptions, rejectsDuplicate } from './enqueue-options.ts';
import type { TaskHandle } from './handle.ts';
import { type Results, StoredHandle } from './results.ts';

/** Tasks between two turns of the event loop: a few milliseconds of work. */
const TASKS_PER_TURN = 1_000;

/**
 * The embedded backend answers without any wait, so a loop over it would never let timers and
 * sockets have their turn. Whoever sends tasks counts them here, and lets the event loop turn when
 * told to.
 */
export class Turns {
  #left = TASKS_PER_TURN;

  /** Counts; true when the event loop should turn before anything more is sent. */
  spend(tasks: number): boolean {
    this.#left -= tasks;
    if (this.#left > 0) return false;
    this.#left = TASKS_PER_TURN;
    return true;
  }
}

/** What storing tasks needs of its client. */
export interface EnqueueTools {
  readonly connection: Connection;
  readonly results: Results;
  readonly yields: Turns;
  onCreated(task: NewTask): void;
}

/** The calls of one tick: they go together, and share the promise of their replies. */
interface Trip {
  readonly tasks: NewTask[];
  readonly replies: Promise<readonly EnqueueReply[]>;
  /** Says where the replies come from; called once. */
  readonly leave: (replies: Promise<readonly EnqueueReply[]>) => void;
}

/** Calls that share one trip to the backend at most: a few scripts' worth. */
const BATCH_TASKS = 1_000;

/**
 * Sends single enqueues. Those of the same tick go together, each on its own terms; a lone one
 * waits for nobody.
 */
export class Enqueuer {
  readonly #tools: EnqueueTools;
  /** Of this tick; absent between ticks. */
  #trip: Trip | undefined;

  constructor(tools: EnqueueTools) {
    this.#tools = tools;
  }

  /** The promise of the handle is the only one that a call costs. */
  send(task: NewTask, options: EnqueueOptions | undefined): Promise<TaskHandle<unknown>> {
    if (this.#tools.connection.closed) return Promise.reject(new ClosedError('this Fairloom'));
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
    const { connection, yields } = this.#tools;
    if (yields.spend(tasks.length)) await yieldToEventLoop();
    const backend = connection.now ?? (await connection.open());
    return backend.tasks.enqueue(tasks, { atomic: false });
  }

  #answer(
    task: NewTask,
    reply: EnqueueReply | undefined,
    options: EnqueueOptions | undefined,
  ): TaskHandle<unknown> {
    const refusal = refusalOf(task, reply, options);
    if (refusal !== undefined) throw refusal;
    return handleOf(this.#tools, task, reply);
  }
}

/** What is wrong with a reply to a single task, if anything. */
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

/** The handle for what was stored. */
export function handleOf(
  tools: EnqueueTools,
  task: NewTask,
  reply: EnqueueReply | undefined,
): TaskHandle<unknown> {
  if (reply === undefined || reply.kind === 'refused') {
    throw new BackendUnavailableError('enqueue', 'it gave no answer for a task');
  }
  if (reply.kind === 'created') tools.onCreated(task);
  return new StoredHandle(tools.results, reply);
}

function newTrip(): Trip {
  let leave: Trip['leave'] = () => undefined;
  const replies = new Promise<readonly EnqueueReply[]>((resolve) => {
    leave = resolve;
  });
  return { tasks: [], replies, leave };
}
