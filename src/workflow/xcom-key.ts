/** Keys of XCom: what callers may name a value by. */
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

/** What stands behind the keys that callers hold. */
const DEFINITIONS = new WeakMap<object, XComKeyDefinition>();

/**
 * Defines a key: `xcomKey<number>('rows')`. A schema also checks what is pushed and pulled.
 *
 * @throws {@link InvalidOptionError} when the name is no key, or the schema is none.
 */
export function xcomKey<T>(name: string, schema?: StandardSchemaV1<unknown, T>): XComKey<T> {
  if (schema !== undefined && !isSchema(schema)) {
    throw new InvalidOptionError('schema', 'a Standard Schema', schema);
  }
  const definition = { type: 'xcom-key', name: checkId('xcom key', name) } as const;
  Object.freeze(definition);
  DEFINITIONS.set(definition, { name, schema });
  // The type of the value is a promise about JSON, nothing at run time.
  return definition as unknown as XComKey<T>;
}

/**
 * What a caller means by a key: a text, what `xcomKey` made, or the definition of a task.
 *
 * @throws {@link InvalidOptionError} when it is none of these.
 */
export function xcomKeyOf(value: unknown): XComKeyDefinition {
  if (typeof value === 'string') return { name: checkId('xcom key', value), schema: undefined };
  if (value instanceof TaskDefinition) return { name: value.taskName, schema: undefined };
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? DEFINITIONS.get(value) : undefined;
  if (known !== undefined) return known;
  // Made by another copy of the package: its schema is not known here.
  const name = isObject && Reflect.get(value, 'type') === 'xcom-key' && Reflect.get(value, 'name');
  if (isId(name)) return { name, schema: undefined };
  throw new InvalidOptionError(
    'xcom key',
    'a text, xcomKey(…), or the definition of a task',
    value,
  );
}
