import { InvalidOptionError } from '../domain/errors.ts';
import type { StartArgs, Task } from '../workflow/step.ts';
import { definitionOf, type TaskDefinition } from '../workflow/task-definition.ts';
import type { EnqueueOptions } from './enqueue-options.ts';
import type { TaskHandle } from './handle.ts';

/** Holds the type of the output; never a value. */
declare const output: unique symbol;

/** A task with its input, to be enqueued with others. */
export interface Call<out O> {
  /** Holds the type of the output; never a value. */
  readonly [output]: () => O;
}

/** What {@link call} makes. The engine's view; callers see {@link Call}. */
export class TaskCall {
  readonly definition: TaskDefinition;
  readonly input: unknown;
  readonly options: EnqueueOptions | undefined;

  constructor(definition: TaskDefinition, input: unknown, options: EnqueueOptions | undefined) {
    this.definition = definition;
    this.input = input;
    this.options = options;
  }
}

/** Names a task with its input and options, for `enqueueMany`. */
export function call<I, O, X>(
  step: Task<I, O, X>,
  ...args: StartArgs<I, EnqueueOptions>
): Call<O | X> {
  const [input, options] = args;
  const made = new TaskCall(definitionOf(step), input, options);
  // The type of the output is a promise of the definition, nothing at run time.
  return made as unknown as Call<O | X>;
}

/** The handles of calls, in their order. */
export type HandlesOf<C extends readonly Call<unknown>[]> = {
  -readonly [K in keyof C]: C[K] extends Call<infer O> ? TaskHandle<O> : never;
};

/** The calls behind either form of `enqueueMany`, and whether they go all or none. */
export function callsOf(
  first: unknown,
  [second, third]: readonly unknown[],
): { readonly calls: readonly TaskCall[]; readonly atomic: boolean } {
  if (Array.isArray(first)) {
    return { calls: first.map(demandCall), atomic: isAtomic(second) };
  }
  const definition = definitionOf(first);
  if (!Array.isArray(second)) throw new InvalidOptionError('inputs', 'a list', second);
  const { atomic, ...options } = (third ?? {}) as Record<string, unknown>;
  if (options['id'] !== undefined) {
    throw new InvalidOptionError('id', 'none: many tasks cannot share an id', options['id']);
  }
  const shared = Object.keys(options).length === 0 ? undefined : options;
  const calls = second.map((input: unknown) => new TaskCall(definition, input, shared));
  return { calls, atomic: atomic !== false };
}

function demandCall(value: unknown): TaskCall {
  if (value instanceof TaskCall) return value;
  throw new InvalidOptionError('calls', 'what call() makes', value);
}

function isAtomic(options: unknown): boolean {
  return (options as { readonly atomic?: boolean } | undefined)?.atomic !== false;
}
