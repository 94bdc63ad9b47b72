/** Tasks that are run by code which the worker's process has registered under a name. */

import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkName } from '../../domain/fairness/names.ts';
import type { Task } from '../step.ts';
import type { TaskContext } from '../task-context.ts';
import { checkDefinition, define, typed } from '../task-definition.ts';
import { TASK_KEYS, type TaskOptions } from '../task-options.ts';

/** What a {@link TaskHandler} is told of the task besides its input. */
export interface HandledTask {
  /** The name of the definition. */
  readonly name: string;
  /** `settings` of the definition, as they are. */
  readonly settings: unknown;
}

/**
 * Runs tasks in some way of its own: on a machine with a GPU, in a cluster, in a sandbox. One object
 * serves all tasks that name it, several at once. It has to obey `ctx.signal`, as a function does.
 */
export interface TaskHandler {
  /** Gives the task's result, or throws; as a handler that is a function. */
  run(input: unknown, ctx: TaskContext, task: HandledTask): unknown;
  /** Frees what it holds. Called once, when the client closes. */
  close?(): void | Promise<void>;
}

/** Options of {@link handlerTask}. */
export interface HandlerTaskOptions extends TaskOptions {
  /** The name under which `FairloomOptions.handlers` has the handler. */
  readonly handler: string;
  /** Given to the handler with every task. */
  readonly settings?: unknown;
}

const HANDLER_KEYS: OptionKeys<HandlerTaskOptions> = keysOf<HandlerTaskOptions>()({
  ...TASK_KEYS,
  handler: true,
  settings: true,
});

/**
 * Defines a task that a registered {@link TaskHandler} runs:
 * `handlerTask<string, number[]>('embed', { handler: 'gpu', settings: { model: 'small' } })`.
 * A worker of a process that has no such handler does not take the task: others do.
 *
 * @throws {@link InvalidOptionError} when a name or an option is not what it should be.
 */
export function handlerTask<I = unknown, O = unknown>(
  name: string,
  options: HandlerTaskOptions,
): Task<I, O> {
  checkDefinition(name, options, HANDLER_KEYS);
  const { handler, settings, ...rest } = options;
  checkName(`task ${name}: handler`, handler);
  return typed(define(name, rest, { kind: 'registered', handler, settings }));
}
