/** Tasks that run by an object which the worker's process has registered under a name. */

import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import { checkName } from '../../domain/fairness/names.ts';
import type { Task } from '../step.ts';
import type { TaskContext } from '../task-context.ts';
import { checkDefinition, define, typed } from '../task-definition.ts';
import { TASK_KEYS, type TaskOptions } from '../task-options.ts';

/** The task that a {@link TaskHandler} runs, besides its input. */
export interface HandledTask {
  /** Name of the definition. */
  readonly name: string;
  /** `settings` of the definition, unchanged. */
  readonly settings: unknown;
}

/**
 * Runs tasks in a custom way: on a machine with a GPU, in a cluster, in a sandbox. One object runs
 * all tasks that name it, several at once. It must obey `ctx.signal`, as a function does.
 */
export interface TaskHandler {
  /** Returns the task's result, or throws, as a handler function does. */
  run(input: unknown, ctx: TaskContext, task: HandledTask): unknown;
  /** Frees its resources. Called once, when the client closes. */
  close?(): void | Promise<void>;
}

/** Options of {@link handlerTask}. */
export interface HandlerTaskOptions extends TaskOptions {
  /** Name of the handler in `FairloomOptions.handlers`. */
  readonly handler: string;
  /** Passed to the handler with every task. */
  readonly settings?: unknown;
}

const HANDLER_KEYS: OptionKeys<HandlerTaskOptions> = keysOf<HandlerTaskOptions>()({
  ...TASK_KEYS,
  handler: true,
  settings: true,
});

/**
 * Defines a task that a registered {@link TaskHandler} runs:
 * `handlerTask<string, number[]>('embed', { handler: 'gpu', settings: { model: 'small' } })`. A worker without this
 * handler does not take the task; other workers do.
 *
 * @example
 * ```ts
 * import { handlerTask } from 'fairloom';
 *
 * const embed = handlerTask<string, number[]>('embed', { handler: 'gpu', settings: { model: 'small' } });
 * console.log(embed.name); // prints embed
 * ```
 *
 * @throws {@link InvalidOptionError} when a name or an option is invalid.
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
