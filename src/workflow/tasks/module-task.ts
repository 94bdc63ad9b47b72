/** Tasks whose handler is the export of a module and runs in a thread or a process of its own. */
import { InvalidOptionError } from '../../domain/errors/errors.ts';
import { keysOf, type OptionKeys } from '../../domain/errors/options.ts';
import type { Task } from '../step.ts';
import type { ProcessContext, ThreadContext } from '../task-context.ts';
import { checkDefinition, define, typed } from '../task-definition.ts';
import { TASK_KEYS, type TaskOptions } from '../task-options.ts';

/** Options of {@link threadTask} and {@link processTask}. */
export interface ModuleTaskOptions extends TaskOptions {
  /** Module of the handler, such as `new URL('./hash.js', import.meta.url)`. */
  readonly module: URL;
  /** Name of the export that is called with `(input, ctx)`. Default `default`. */
  readonly exportName?: string | undefined;
}

const MODULE_KEYS: OptionKeys<ModuleTaskOptions> = keysOf<ModuleTaskOptions>()({
  ...TASK_KEYS,
  module: true,
  exportName: true,
});

/**
 * Defines a task whose handler runs in a thread of its own, so that long computations do not block
 * the worker's: `threadTask<typeof import('./hash.js').default>('hash', { module })`. The thread is
 * terminated when the task is canceled, times out, or loses its lease.
 *
 * @throws {@link InvalidOptionError} when the name or an option is invalid.
 */
export function threadTask<F extends (input: never, ctx: ThreadContext) => unknown>(
  name: string,
  options: ModuleTaskOptions,
): Task<Parameters<F>[0], Awaited<ReturnType<F>>> {
  return moduleTask('thread', name, options);
}

/**
 * Defines a task whose handler runs in a process of its own, for code that may crash, leak, or hang
 * until it is killed: `processTask<typeof import('./parse.js').default>('parse', { module })`. When
 * the task is canceled, times out, or loses its lease, a handler that has read `ctx.signal` has three
 * seconds to end; any other is killed at once, with its child processes.
 *
 * @example
 * ```ts
 * import { processTask } from 'fairloom';
 *
 * const parse = processTask<(text: string) => number>('parse', {
 *   module: new URL('./parse.js', import.meta.url),
 * });
 * console.log(parse.name); // prints parse
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or an option is invalid.
 */
export function processTask<F extends (input: never, ctx: ProcessContext) => unknown>(
  name: string,
  options: ModuleTaskOptions,
): Task<Parameters<F>[0], Awaited<ReturnType<F>>> {
  return moduleTask('process', name, options);
}

function moduleTask<I, O>(
  kind: 'thread' | 'process',
  name: string,
  options: ModuleTaskOptions,
): Task<I, O> {
  checkDefinition(name, options, MODULE_KEYS);
  const { module, exportName = 'default', ...rest } = options;
  if (!(module instanceof URL)) {
    throw new InvalidOptionError(`task ${name}: module`, 'a URL', module);
  }
  if (typeof exportName !== 'string') {
    throw new InvalidOptionError(`task ${name}: exportName`, 'the name of an export', exportName);
  }
  return typed(define(name, rest, { kind, module: { url: module.href, exportName } }));
}
