/** Enqueues many tasks: makes them, checks for cycles, stores them, and replies in their order. */

import { yieldToEventLoop } from '../base/event-loop.ts';
import {
  BatchRefusedError,
  DependencyCycleError,
  type FairloomError,
  InvalidOptionError,
  isOwn,
} from '../domain/errors/errors.ts';
import { refusalError } from '../domain/port/refusal.ts';
import { findCycle } from '../domain/task/dependency-cycle.ts';
import type { NewTask } from '../domain/task/task.ts';
import type { TaskCall } from './call.ts';
import { rejectsDuplicate } from './enqueue-options.ts';
import { type EnqueueTools, handleOf, refusalOf } from './enqueuer.ts';
import type { Enqueued, TaskHandle } from './handle.ts';

/** Stores all tasks or none; throws the reason. */
export async function submitAll(
  tools: EnqueueTools,
  calls: readonly TaskCall[],
): Promise<TaskHandle<unknown>[]> {
  if (calls.length === 0) return [];
  const tasks: NewTask[] = [];
  for (const [at, call] of calls.entries()) {
    const made = settled(() => tools.maker.make(call.definition, call.input, call.options));
    const task = made instanceof Promise ? await made : made;
    if (isOwn(task)) throw new BatchRefusedError(at, task);
    tasks.push(task);
  }
  demandNoCycle(tasks);
  demandReturn(calls);
  demandNoWindow(calls);
  if (tools.yields.spend(tasks.length)) await yieldToEventLoop();
  const backend = await tools.connection.open();
  const replies = await backend.tasks.enqueue(tasks, { atomic: true });
  const refused = replies.findIndex(
    (reply) => reply.kind === 'refused' && reply.refusal.type !== 'batch-refused',
  );
  const [task, reply] = [tasks[refused], replies[refused]];
  if (task !== undefined && reply?.kind === 'refused') {
    throw new BatchRefusedError(refused, refusalError(task.id, reply.refusal));
  }
  return tasks.map((one, at) => handleOf(tools, one, replies[at]));
}

/** Stores the tasks that it can; each has its own outcome. */
export async function submitEach(
  tools: EnqueueTools,
  calls: readonly TaskCall[],
): Promise<Enqueued<unknown>[]> {
  const made = await Promise.all(
    calls.map((call) => settled(() => tools.maker.make(call.definition, call.input, call.options))),
  );
  const tasks = made.filter((one): one is NewTask => !isOwn(one));
  demandNoCycle(tasks);
  const backend = await tools.connection.open();
  const replies = tasks.length === 0 ? [] : await backend.tasks.enqueue(tasks, { atomic: false });
  let next = 0;
  return made.map((one, at): Enqueued<unknown> => {
    if (isOwn(one)) return { ok: false, error: one };
    const reply = replies[next++];
    const error = refusalOf(one, reply, calls[at]?.options);
    if (error !== undefined) return { ok: false, error };
    return { ok: true, handle: handleOf(tools, one, reply) };
  });
}

/** An error of the caller as a value, whether it is thrown at once or later. */
function settled(
  make: () => NewTask | Promise<NewTask>,
): NewTask | FairloomError | Promise<NewTask | FairloomError> {
  try {
    const task = make();
    return task instanceof Promise ? task.catch(ownError) : task;
  } catch (error) {
    return ownError(error);
  }
}

function ownError(error: unknown): FairloomError {
  if (isOwn(error)) return error;
  throw error;
}

function demandNoCycle(tasks: readonly NewTask[]): void {
  const cycle = findCycle(tasks);
  if (cycle !== undefined) throw new DependencyCycleError(cycle);
}

/** Windows are decided when a call is stored, so they exclude an atomic batch. */
function demandNoWindow(calls: readonly TaskCall[]): void {
  for (const { options } of calls) {
    for (const option of ['debounce', 'throttle'] as const) {
      if (options?.[option] === undefined) continue;
      throw new InvalidOptionError(option, 'no value in an atomic call', options[option]);
    }
  }
}

/** Whether a stored id is refused shows after the others are stored: too late if atomic. */
function demandReturn(calls: readonly TaskCall[]): void {
  const rejecting = calls.some(({ options }) => options !== undefined && rejectsDuplicate(options));
  if (!rejecting) return;
  throw new InvalidOptionError('onDuplicate', '"return" in an atomic call', 'reject');
}
