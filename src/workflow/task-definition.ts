/**
 * Definitions: values that say what a task is called, what it may do and which code it runs.
 * Making one does nothing; `Fairloom` and its workers read them.
 */
import { InvalidOptionError } from '../domain/errors.ts';
import { checkName } from '../domain/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';
import type { AnyStep, Task } from './step.ts';
import type { TaskContext, ThreadContext } from './task-context.ts';
import { checkTaskOptions, type TaskOptions } from './task-options.ts';

/** A handler as the engine calls it; its types live in the definition's. */
export type Handler = (input: unknown, ctx: TaskContext) => unknown;

/** Where a handler in a thread is found. */
export interface ThreadModule {
  /** A `file:` or `data:` URL. */
  readonly url: string;
  readonly exportName: string;
}

/** Which code a definition runs: a function here, a module in a thread, or code elsewhere. */
export type TaskCode =
  | { readonly kind: 'function'; readonly handler: Handler }
  | { readonly kind: 'thread'; readonly module: ThreadModule }
  | { readonly kind: 'elsewhere' };

/** Options without the schemas, which stand beside them. */
export type DefinitionOptions = Omit<TaskOptions, 'input' | 'output'>;

interface DefinitionParts {
  readonly name: string;
  readonly options: DefinitionOptions;
  readonly code: TaskCode;
  readonly input?: StandardSchemaV1 | undefined;
  readonly output?: StandardSchemaV1 | undefined;
}

/** What `task`, `ref` and `threadTask` make. The engine's view; callers see {@link Task}. */
export class TaskDefinition {
  readonly type = 'task';
  readonly name: string;
  readonly options: DefinitionOptions;
  readonly code: TaskCode;
  readonly input: StandardSchemaV1 | undefined;
  readonly output: StandardSchemaV1 | undefined;

  constructor(parts: DefinitionParts) {
    this.name = checkName('task name', parts.name);
    this.options = parts.options;
    this.code = parts.code;
    this.input = parts.input;
    this.output = parts.output;
  }

  as(name: string): TaskDefinition {
    return new TaskDefinition({ ...this, name });
  }
}

type WithInput<I, P> = Omit<TaskOptions, 'input'> & { readonly input: StandardSchemaV1<I, P> };

/**
 * Defines a task: `task("resize", async (input: Size, ctx) => …)`.
 *
 * The handler gets the input as it was enqueued, fresh from JSON, and its result is stored as
 * JSON. It may run more than once; see `retries`.
 *
 * @throws {@link InvalidOptionError} when the name or an option is not what it should be.
 */
export function task<I = void, R = void>(
  name: string,
  fn: (input: I, ctx: TaskContext) => R,
): Task<I, Awaited<R>>;
/** Defines a task whose input is checked by a Standard Schema, at enqueue and at the worker. */
export function task<I, P, R>(
  name: string,
  options: WithInput<I, P>,
  fn: (input: P, ctx: TaskContext) => R,
): Task<I, Awaited<R>>;
/** Defines a task with options. */
export function task<I = void, R = void>(
  name: string,
  options: TaskOptions,
  fn: (input: I, ctx: TaskContext) => R,
): Task<I, Awaited<R>>;
export function task(name: string, ...rest: readonly unknown[]): Task<never, unknown> {
  const [first, second] = rest;
  const [options, handler] = typeof first === 'function' ? [{}, first] : [first, second];
  if (typeof handler !== 'function') {
    throw new InvalidOptionError(`task ${name}`, 'a function as the last argument', handler);
  }
  const code: TaskCode = { kind: 'function', handler: handler as Handler };
  return typed(define(name, options, code));
}

/**
 * A task whose code lives in another process: enqueuers need no handler.
 * `ref<typeof import('./tasks.js').invoice>('invoice')` has the types of the real one. Options of
 * the definition that concern the enqueue (queue, priority, cost) are not known here.
 *
 * @throws {@link InvalidOptionError} when the name is none.
 */
export function ref<S extends AnyStep>(name: NoInfer<string>): S {
  return typed(define(name, {}, { kind: 'elsewhere' }));
}

/** Options of {@link threadTask}. */
export interface ThreadTaskOptions extends TaskOptions {
  /** The module that holds the handler, as `new URL('./hash.js', import.meta.url)`. */
  readonly module: URL;
  /** Which of its exports is called with `(input, ctx)`. Default `default`. */
  readonly exportName?: string | undefined;
}

/**
 * Defines a task whose handler runs in a thread of its own, so that long computations do not hold
 * up this one: `threadTask<typeof import('./hash.js').default>('hash', { module })`. Its thread is
 * ended when the task is canceled, times out, or loses its lease.
 *
 * @throws {@link InvalidOptionError} when the name or an option is not what it should be.
 */
export function threadTask<F extends (input: never, ctx: ThreadContext) => unknown>(
  name: string,
  options: ThreadTaskOptions,
): Task<Parameters<F>[0], Awaited<ReturnType<F>>> {
  const { module, exportName = 'default', ...rest } = options;
  if (!(module instanceof URL)) {
    throw new InvalidOptionError(`task ${name}: module`, 'a URL', module);
  }
  const code: TaskCode = { kind: 'thread', module: { url: module.href, exportName } };
  return typed(define(name, rest, code));
}

/** The definition behind a step. */
export function definitionOf(step: unknown): TaskDefinition {
  if (step instanceof TaskDefinition) return step;
  throw new InvalidOptionError('step', 'a definition made by task(), threadTask() or ref()', step);
}

function define(name: string, options: unknown, code: TaskCode): TaskDefinition {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidOptionError(`task ${name}: options`, 'an object', options);
  }
  const { input, output, ...rest } = options as Record<string, unknown>;
  for (const [option, schema] of Object.entries({ input, output })) {
    if (schema !== undefined && !isSchema(schema)) {
      throw new InvalidOptionError(`task ${name}: ${option}`, 'a Standard Schema', schema);
    }
  }
  checkTaskOptions(`task ${name}`, rest);
  return new TaskDefinition({
    name,
    options: rest,
    code,
    input: isSchema(input) ? input : undefined,
    output: isSchema(output) ? output : undefined,
  });
}

/** Puts the caller's types on a definition: they are promises about JSON, nothing at run time. */
function typed<S extends AnyStep>(definition: TaskDefinition): S {
  return definition as unknown as S;
}
