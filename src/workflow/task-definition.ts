/**
 * Definitions: names, options and code of tasks. Making one has no effect; `Fairloom` and its
 * workers read them.
 */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions, keysOf, type OptionKeys } from '../domain/errors/options.ts';
import { checkName } from '../domain/fairness/names.ts';
import { LIMITS } from '../domain/limits.ts';
import { versionedName } from '../domain/task/task-name.ts';
import type { DynamicContext, ExitOf, OutputOf, Returning } from './dynamic-context.ts';
import { demandStep, StepDefinition } from './pipeline-definition.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';
import type { AnyStep, Task } from './step.ts';
import type { Handler, TaskCode } from './task-code.ts';
import type { TaskContext } from './task-context.ts';
import { checkTaskOptions, integerOption, TASK_KEYS, type TaskOptions } from './task-options.ts';

export type { Handler } from './task-code.ts';

/** Options without the schemas, which are separate fields. */
export type DefinitionOptions = Omit<TaskOptions, 'input' | 'output'>;

/** Dynamic part of a definition. */
export interface DynamicSpec {
  /** Runs of one node in one run that `again` or a loop of `next` may cause. */
  readonly maxCycles: number;
}

interface DefinitionParts {
  readonly name: string;
  readonly taskName?: string | undefined;
  readonly dynamic?: DynamicSpec | undefined;
  readonly options: DefinitionOptions;
  readonly code: TaskCode;
  readonly input?: StandardSchemaV1 | undefined;
  readonly output?: StandardSchemaV1 | undefined;
}

/** The engine's view of what `task`, `ref`, `threadTask` and others make; callers see {@link Task}. */
export class TaskDefinition extends StepDefinition {
  readonly type = 'task';
  /** The defined name, before any `as`: it selects the handler of a node. */
  readonly taskName: string;
  /** Its name when enqueued alone: with its version, unless `versioning` is `latest`. */
  readonly storedName: string;
  readonly options: DefinitionOptions;
  readonly code: TaskCode;
  readonly input: StandardSchemaV1 | undefined;
  readonly output: StandardSchemaV1 | undefined;
  /** Present when the handler gets a `DynamicContext`. */
  readonly dynamic: DynamicSpec | undefined;

  constructor(parts: DefinitionParts) {
    super(checkName('task name', parts.name));
    this.taskName = parts.taskName ?? parts.name;
    const { version, versioning } = parts.options;
    this.storedName = versionedName(parts.name, versioning === 'latest' ? undefined : version);
    this.options = parts.options;
    this.code = parts.code;
    this.input = parts.input;
    this.output = parts.output;
    this.dynamic = parts.dynamic;
    Object.freeze(this.options);
    Object.freeze(this);
  }

  override as(name: string): TaskDefinition {
    return new TaskDefinition({ ...this, name });
  }

  /** The name of its code: with its version in any case. */
  get codeName(): string {
    return versionedName(this.taskName, this.options.version);
  }

  /** The definition inside a pipeline of this version; a version of its own wins. */
  within(version: string | undefined): TaskDefinition {
    if (version === undefined || this.options.version !== undefined) return this;
    return new TaskDefinition({ ...this, options: { ...this.options, version } });
  }
}

/** Options of a definition. With a schema, callers give `I` and handlers get `P`. */
export interface TaskOptionsOf<I, P> extends Omit<TaskOptions, 'input'> {
  /** Checks the input at enqueue and in the worker, and sets its type. */
  readonly input?: StandardSchemaV1<I, P> | undefined;
}

/**
 * Defines a task: `task("resize", async (input: Size, ctx) => …)`.
 *
 * The handler gets the enqueued input, parsed from JSON, and its result is stored as JSON. It may
 * run more than once; see `retries`.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, task } from 'fairloom';
 *
 * const charge = task('charge', { retries: 3, timeout: '30s' }, async (order: { id: string }) => {
 *   return `paid ${order.id}`;
 * });
 * const loom = new Fairloom({ backend: memory(), tasks: [charge] });
 * console.log(await loom.run(charge, { id: 'o-7' })); // prints paid o-7
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or an option is invalid.
 */
export function task<I = void, R = void>(
  name: string,
  fn: (input: I, ctx: TaskContext) => R,
): Task<I, Awaited<R>>;
/** Defines a task with options. A Standard Schema as `input` sets the type of the input. */
export function task<P = void, R = void, I = P>(
  name: string,
  options: TaskOptionsOf<I, P>,
  fn: (input: P, ctx: TaskContext) => R,
): Task<I, Awaited<R>>;
export function task(name: string, ...rest: readonly unknown[]): Task<never, unknown> {
  const { options, handler } = argumentsOf(name, rest, TASK_KEYS);
  return typed(define(name, options, { kind: 'function', handler }));
}

/** Options of {@link ref}. */
export interface RefOptions {
  /** Only workers with this version of the code run its tasks. Default: any worker. */
  readonly version?: string | undefined;
}

const REF_KEYS: OptionKeys<RefOptions> = keysOf<RefOptions>()({ version: true });

/**
 * A task whose code lives in another process: enqueuers need no handler.
 * `ref<typeof import('./tasks.js').invoice>('invoice')` has the types of the definition. Its options for the
 * enqueue (queue, priority, cost) are not known here.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, ref, type Task } from 'fairloom';
 *
 * const invoice = ref<Task<{ order: string }, { pdf: string }>>('invoice');
 * const loom = new Fairloom({ backend: memory() });
 * const handle = await loom.enqueue(invoice, { order: 'o-7' }, { id: 'i-1' });
 * console.log(handle.id); // prints i-1
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or an option is invalid.
 */
export function ref<S extends AnyStep>(name: NoInfer<string>, options: RefOptions = {}): S {
  checkDefinition(name, options, REF_KEYS);
  return typed(define(name, options, { kind: 'elsewhere' }));
}

/** Options of `dynamic`. */
export interface DynamicOptions extends TaskOptions {
  /** How often this node may run in one run, including the first time; at least 1. Default 10. */
  readonly maxCycles?: number | undefined;
}

const DYNAMIC_KEYS: OptionKeys<DynamicOptions> = keysOf<DynamicOptions>()({
  ...TASK_KEYS,
  maxCycles: true,
});

/**
 * Defines a task that chooses the next step by returning the result of `ctx.next`, `ctx.goto`,
 * `ctx.again` or `ctx.terminate`; any other value is its output. One worker at a time drives a
 * pipeline with such a task.
 *
 * When two definitions refer to each other, one needs an explicit type:
 * `const agent: Task<State, Answer> = dynamic('agent', …)`.
 *
 * @example
 * ```ts
 * import { dynamic, Fairloom, memory } from 'fairloom';
 *
 * const countdown = dynamic('countdown', async (n: number, ctx) =>
 *   n > 0 ? ctx.again(n - 1) : 'lift-off',
 * );
 * const loom = new Fairloom({ backend: memory(), tasks: [countdown] });
 * console.log(await loom.run(countdown, 3)); // prints lift-off
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or an option is invalid.
 */
export function dynamic<I = void, R = void>(
  name: string,
  fn: (input: I, ctx: DynamicContext<I>) => R & Returning<R>,
): Task<I, OutputOf<Awaited<R>>, ExitOf<Awaited<R>>>;
/** Defines a dynamic task with options. */
export function dynamic<I = void, R = void>(
  name: string,
  options: DynamicOptions,
  fn: (input: I, ctx: DynamicContext<I>) => R & Returning<R>,
): Task<I, OutputOf<Awaited<R>>, ExitOf<Awaited<R>>>;
export function dynamic(name: string, ...rest: readonly unknown[]): Task<never, unknown, unknown> {
  const { options, handler } = argumentsOf(name, rest, DYNAMIC_KEYS);
  const { maxCycles = LIMITS.maxCycles, ...others } = options;
  const bounds = { least: 1, most: LIMITS.retriesMax };
  const spec = { maxCycles: integerOption(`task ${name}.maxCycles`, maxCycles, bounds) };
  return typed(define(name, others, { kind: 'function', handler }, spec));
}

/** The definition of a step; @throws {@link InvalidOptionError} for a pipeline, which has several. */
export function definitionOf(step: unknown): TaskDefinition {
  const known = demandStep('step', step);
  if (known instanceof TaskDefinition) return known;
  throw new InvalidOptionError(
    'step',
    'one task: a pipeline has several',
    `pipeline ${known.name}`,
  );
}

/** The definition of a lone task; @throws {@link InvalidOptionError} for a step stored as a run. */
export function loneTaskOf(step: unknown): TaskDefinition {
  const known = demandStep('step', step);
  if (known instanceof TaskDefinition && known.dynamic === undefined) return known;
  const what = known instanceof TaskDefinition ? 'dynamic task' : 'pipeline';
  const wanted = 'a task that is not a run: enqueue() stores a pipeline or dynamic task';
  throw new InvalidOptionError('step', wanted, `${what} ${known.name}`);
}

/** Unchecked options of a definition. */
type Options = Readonly<Record<string, unknown>>;

function argumentsOf(
  name: string,
  [first, second]: readonly unknown[],
  keys: Readonly<Record<string, true>>,
): { readonly options: Options; readonly handler: Handler } {
  checkName('task name', name);
  const [options, handler] = typeof first === 'function' ? [{}, first] : [first, second];
  if (typeof handler !== 'function') {
    throw new InvalidOptionError(`task ${name}`, 'a function as the last argument', handler);
  }
  checkDefinition(name, options, keys);
  return { options, handler: handler as Handler };
}

/** @throws {@link InvalidOptionError} for an invalid name or an unknown option. */
export function checkDefinition(
  name: string,
  options: unknown,
  keys: Readonly<Record<string, true>>,
): asserts options is Options {
  checkOptions(`task ${checkName('task name', name)}`, options, keys);
}

/** Makes a definition; @throws {@link InvalidOptionError} for an invalid name or option. */
export function define(
  name: string,
  options: Options,
  code: TaskCode,
  dynamic?: DynamicSpec,
): TaskDefinition {
  checkName('task name', name);
  const { input, output, ...rest } = options;
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
    dynamic,
    input: isSchema(input) ? input : undefined,
    output: isSchema(output) ? output : undefined,
  });
}

/** Adds the caller's types to a definition; they exist at compile time only. */
export function typed<S extends AnyStep>(definition: TaskDefinition): S {
  return definition as unknown as S;
}
