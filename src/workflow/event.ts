/** Events: typed messages, by name and key, published to the tasks that wait for them. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkId, checkName } from '../domain/fairness/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';

/** Carries the type of the payload; absent at run time. */
declare const valueType: unique symbol;

/** The definition of events with one name and key. Making one has no effect. */
export interface EventKey<in out T> {
  /** Type tag. */
  readonly type: 'event';
  /** Kind of the event, such as `order.paid`. */
  readonly name: string;
  /** Subject of the event, such as the id of an order. */
  readonly key: string;
  /** Carries the type; absent at run time. */
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
 * Defines events with a name and a key: `ctx.waitFor(event<{ cents: number }>('order.paid', id))`. A
 * schema checks the payload.
 *
 * @example
 * ```ts
 * import { event, Fairloom, memory, task } from 'fairloom';
 *
 * const paid = (order: string) => event<{ cents: number }>('order.paid', order);
 * const ship = task('ship', async (order: string, ctx) => {
 *   const { cents } = await ctx.waitFor(paid(order), { within: '1m' });
 *   return `${order}: ${cents}`;
 * });
 * const loom = new Fairloom({ backend: memory(), tasks: [ship] });
 * await loom.worker().start();
 * await loom.publish('order.paid', 'o-7', { cents: 1_200 }, { user: 'ada' });
 * const handle = await loom.enqueue(ship, 'o-7', { user: 'ada' });
 * console.log(await handle.result()); // prints o-7: 1200
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or the schema is invalid, or the key is not a text of
 * 1–128 bytes.
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
  // The type exists at compile time only.
  return definition as unknown as EventKey<T>;
}

/** The event that a value defines, also of another copy of the package; else `undefined`. */
export function eventOf(value: unknown): EventDefinition | undefined {
  if (typeof value !== 'object' || value === null || Reflect.get(value, 'type') !== 'event') {
    return undefined;
  }
  const [name, key]: readonly unknown[] = [Reflect.get(value, 'name'), Reflect.get(value, 'key')];
  return { name: checkName('event', name), key: checkId('key', key), schema: SCHEMAS.get(value) };
}
