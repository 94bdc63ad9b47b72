/** Signals: what is sent to a task or run while it waits, by name and with a type. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkName, isName } from '../domain/fairness/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';

/** Holds the type of the payload; never a value. */
declare const valueType: unique symbol;

/** The definition of a signal. Making one does nothing. */
export interface Signal<in out T> {
  /** Tells it from other definitions. */
  readonly type: 'signal';
  /** Two definitions of one name are the same signal. */
  readonly name: string;
  /** Holds the type; never a value. */
  readonly [valueType]: (payload: T) => T;
}

/** A signal as the engine reads it. */
export interface SignalDefinition {
  readonly name: string;
  readonly schema: StandardSchemaV1 | undefined;
}

/** What stands behind the definitions that callers hold. */
const DEFINITIONS = new WeakMap<object, SignalDefinition>();

/**
 * Defines a signal: `signal<{ ok: boolean }>('approved')`. A schema also checks what is sent, before
 * it is stored, and what is waited for.
 *
 * @throws {@link InvalidOptionError} when the name is none, or the schema is none.
 */
export function signal<T>(name: string, schema?: StandardSchemaV1<unknown, T>): Signal<T> {
  if (schema !== undefined && !isSchema(schema)) {
    throw new InvalidOptionError('schema', 'a Standard Schema', schema);
  }
  const definition = { type: 'signal', name: checkName('signal', name) } as const;
  Object.freeze(definition);
  DEFINITIONS.set(definition, { name, schema });
  // The type of the payload is a promise about JSON, nothing at run time.
  return definition as unknown as Signal<T>;
}

/**
 * What a caller means by a signal: its name, or what `signal` made.
 *
 * @throws {@link InvalidOptionError} when it is neither.
 */
export function signalOf(value: unknown): SignalDefinition {
  if (typeof value === 'string') return { name: checkName('signal', value), schema: undefined };
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? DEFINITIONS.get(value) : undefined;
  if (known !== undefined) return known;
  // Made by another copy of the package: its schema is not known here.
  const name = isObject && Reflect.get(value, 'type') === 'signal' && Reflect.get(value, 'name');
  if (isName(name)) return { name, schema: undefined };
  throw new InvalidOptionError('signal', 'a name, or what signal(…) made', value);
}
