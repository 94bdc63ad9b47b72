import { isRecord } from '../base/records.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkOptions } from '../domain/errors/options.ts';
import type { StartArgs, Task } from '../workflow/step.ts';
import { loneTaskOf, type TaskDefinition } from '../workflow/task-definition.ts';
import { CALLS_KEYS, type Call, type EnqueueManyOptions, MANY_KEYS } from './call-forms.ts';
import { ENQUEUE_KEYS, type EnqueueOptions } from './enqueue-options.ts';

/** The engine's view of the result of {@link call}; callers see {@link Call}. */
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

/**
 * Combines a task with its input and options, for `enqueueMany`.
 *
 * @example
 * ```ts
 * import { call, Fairloom, memory, task } from 'fairloom';
 *
 * const resize = task('resize', async (width: number) => width);
 * const publish = task('publish', async (page: string) => page);
 * const loom = new Fairloom({ backend: memory(), tasks: [resize, publish] });
 * const [image] = await loom.enqueueMany([
 *   call(resize, 640, { id: 'image' }),
 *   call(publish, 'home', { dependsOn: ['image'] }),
 * ]);
 * console.log(image.id); // prints image
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} for an unknown option, and for a pipeline or a dynamic task: these
 * are runs, for `enqueue`.
 */
export function call<I, O, X>(
  step: Task<I, O, X>,
  ...args: StartArgs<I, EnqueueOptions>
): Call<O | X> {
  const [input, options] = args;
  const definition = loneTaskOf(step);
  if (options !== undefined) checkOptions('call', options, ENQUEUE_KEYS);
  const made = new TaskCall(definition, input, options);
  // The type exists at compile time only.
  return made as unknown as Call<O | X>;
}

/** The calls of either form of `enqueueMany`, and whether they are atomic. */
export function callsOf(
  first: unknown,
  [second, third]: readonly unknown[],
): { readonly calls: readonly TaskCall[]; readonly atomic: boolean } {
  if (Array.isArray(first)) {
    const options = second === undefined ? {} : second;
    checkOptions('enqueueMany', options, CALLS_KEYS);
    return { calls: withoutHoles('calls', first).map(demandCall), atomic: atomicOf(options) };
  }
  const definition = loneTaskOf(first);
  if (!Array.isArray(second)) throw new InvalidOptionError('inputs', 'a list', second);
  const inputs = withoutHoles('inputs', second);
  const { options, atomic } = sharedOf(third);
  const calls = inputs.map((input) => new TaskCall(definition, input, options));
  return { calls, atomic };
}

/** Shared options for a list of inputs: checked once, and copied so that they do not change. */
function sharedOf(given: unknown): {
  readonly options: EnqueueOptions | undefined;
  readonly atomic: boolean;
} {
  if (given === undefined) return { options: undefined, atomic: true };
  const id = isRecord(given) ? given['id'] : undefined;
  if (id !== undefined) {
    throw new InvalidOptionError('id', 'no value: many tasks cannot share an id', id);
  }
  checkOptions('enqueueMany', given, MANY_KEYS);
  const { atomic: _atomic, ...options } = given as EnqueueManyOptions;
  const isEmpty = Object.keys(options).length === 0;
  return { options: isEmpty ? undefined : options, atomic: atomicOf(given) };
}

/** Refuses a list with holes: the caller forgot to fill it. */
function withoutHoles(option: string, list: readonly unknown[]): readonly unknown[] {
  for (let at = 0; at < list.length; at++) {
    if (!(at in list)) throw new InvalidOptionError(`${option}[${at}]`, 'a value', 'a hole');
  }
  return list;
}

function demandCall(value: unknown): TaskCall {
  if (value instanceof TaskCall) return value;
  throw new InvalidOptionError('calls', 'a result of call()', value);
}

function atomicOf(options: { readonly atomic?: unknown }): boolean {
  const { atomic = true } = options;
  if (typeof atomic === 'boolean') return atomic;
  throw new InvalidOptionError('atomic', 'true or false', atomic);
}
