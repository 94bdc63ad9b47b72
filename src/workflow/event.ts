/** Events: what is published to the tasks that wait for it, by name and key, and with a type. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';

/** Holds the type of the payload; never a value. */
declare const valueType: unique symbol;

/** Events of one name and key, as they are waited for. Making one does nothing. */
export interface EventKey<in out T> {
  /** Tells it from other definitions. */
  readonly type: 'event';
  /** What has happened, as `order.paid`. */
  readonly name: string;
  /** To what, as the id of an order. */
  readonly key: string;
  /** Holds the type; never a value. */
  readonly [valueType]: (payload: T) => T;
}

/** An event as the engine reads it. */
export interface EventDefinition {
  readonly name: string;
  readonly key: string;
  readonly schema: StandardSchemaV1 | undefined;
}

/** Schemas of the definitions that callers hold. */
const SCHEMAS = new WeakMap<object, StandardSchemaV1 | undefined>();

/**
 * Events of a name and a key: `ctx.waitFor(event<{ cents: number }>('order.paid', id))`. A schema checks
 * what comes.
 *
 * @throws {@link InvalidOptionError} when the name is none, the key no text of 1–128 bytes, or the schema
 * is none.
 */
export function event<T>(
  name: string,
  key: string,
  schema?: StandardSchemaV1<unknown, T>,
): EventKey<T> {
  if (schema !== undefined && !isSchema(schema)) {
    throw new InvalidOptionError('schema', 'a Standard Schema', schema);
  }
  const definition = {
    type: 'event',
    name: checkName('event', name),
    key: checkId('key', key),
  } as const;
  Object.freeze(definition);
  SCHEMAS.set(definition, schema);
  // The type of the payload is a promise about JSON, nothing at run time.
  return definition as unknown as EventKey<T>;
}

/** What `event` made, also another copy of the package; `undefined` of anything else. */
export function eventOf(value: unknown): EventDefinition | undefined {
  if (typeof value !== 'object' || value === null || Reflect.get(value, 'type') !== 'event') {
    return undefined;
  }
  const [name, key]: readonly unknown[] = [Reflect.get(value, 'name'), Reflect.get(value, 'key')];
  return { name: checkName('event', name), key: checkId('key', key), schema: SCHEMAS.get(value) };
}
