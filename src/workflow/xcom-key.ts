/** Keys of XCom. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkId, isId } from '../domain/fairness/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';
import { TaskDefinition } from './task-definition.ts';
import type { XComKey } from './xcom.ts';

/** A key as the engine reads it. */
export interface XComKeyDefinition {
  readonly name: string;
  readonly schema: StandardSchemaV1 | undefined;
}

/** Data of the keys that callers hold. */
const DEFINITIONS = new WeakMap<object, XComKeyDefinition>();

/**
 * Defines a key: `xcomKey<number>('rows')`. A schema checks values when they are pushed and pulled.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, task, xcomKey } from 'fairloom';
 *
 * const total = xcomKey<number>('total');
 * const add = task('add', async (n: number, ctx) => {
 *   await ctx.xcom.push(total, n);
 *   return ctx.xcom.pull(total);
 * });
 * const loom = new Fairloom({ backend: memory(), tasks: [add] });
 * console.log(await loom.run(add, 7)); // prints 7
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or the schema is invalid.
 */
export function xcomKey<T>(name: string, schema?: StandardSchemaV1<unknown, T>): XComKey<T> {
  if (schema !== undefined && !isSchema(schema)) {
    throw new InvalidOptionError('schema', 'a Standard Schema', schema);
  }
  const definition = { type: 'xcom-key', name: checkId('xcom key', name) } as const;
  Object.freeze(definition);
  DEFINITIONS.set(definition, { name, schema });
  // The type exists at compile time only.
  return definition as unknown as XComKey<T>;
}

/**
 * The key that a value names: a text, the result of `xcomKey`, or the definition of a task.
 *
 * @throws {@link InvalidOptionError} for any other value.
 */
export function xcomKeyOf(value: unknown): XComKeyDefinition {
  if (typeof value === 'string') return { name: checkId('xcom key', value), schema: undefined };
  if (value instanceof TaskDefinition) return { name: value.taskName, schema: undefined };
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? DEFINITIONS.get(value) : undefined;
  if (known !== undefined) return known;
  // Made by another copy of the package, which holds its schema.
  const name = isObject && Reflect.get(value, 'type') === 'xcom-key' && Reflect.get(value, 'name');
  if (isId(name)) return { name, schema: undefined };
  throw new InvalidOptionError(
    'xcom key',
    'a text, xcomKey(…), or the definition of a task',
    value,
  );
}
