/** Signals: typed messages, by name, sent to a task or run that waits. */
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { checkName, isName } from '../domain/fairness/names.ts';
import { isSchema, type StandardSchemaV1 } from './standard-schema.ts';

/** Carries the type of the payload; absent at run time. */
declare const valueType: unique symbol;

/** The definition of a signal. Making one has no effect. */
export interface Signal<in out T> {
  /** Type tag. */
  readonly type: 'signal';
  /** Its name. Two definitions with one name are the same signal. */
  readonly name: string;
  /** Carries the type; absent at run time. */
  readonly [valueType]: (payload: T) => T;
}

/** A signal as the engine reads it. */
export interface SignalDefinition {
  readonly name: string;
  readonly schema: StandardSchemaV1 | undefined;
}

/** Data of the definitions that callers hold. */
const DEFINITIONS = new WeakMap<object, SignalDefinition>();

/**
 * Defines a signal: `signal<{ ok: boolean }>('approved')`. A schema checks the payload before it is
 * stored and when it is received.
 *
 * @example
 * ```ts
 * import { Fairloom, memory, signal, task } from 'fairloom';
 *
 * const paid = signal<{ amount: number }>('paid');
 * const ship = task('ship', async (order: string, ctx) => {
 *   const { amount } = await ctx.waitFor(paid);
 *   return `${order}: ${amount}`;
 * });
 * const loom = new Fairloom({ backend: memory(), tasks: [ship] });
 * await loom.worker().start();
 * const handle = await loom.enqueue(ship, 'o-7');
 * await loom.signal(handle.id, paid, { amount: 12 });
 * console.log(await handle.result()); // prints o-7: 12
 * await loom.close();
 * ```
 *
 * @throws {@link InvalidOptionError} when the name or the schema is invalid.
 */
export function signal<T>(name: string, schema?: StandardSchemaV1<unknown, T>): Signal<T> {
  if (schema !== undefined && !isSchema(schema)) {
    throw new InvalidOptionError('schema', 'a Standard Schema', schema);
  }
  const definition = { type: 'signal', name: checkName('signal', name) } as const;
  Object.freeze(definition);
  DEFINITIONS.set(definition, { name, schema });
  // The type exists at compile time only.
  return definition as unknown as Signal<T>;
}

/**
 * The signal that a value names: a name, or the result of `signal`.
 *
 * @throws {@link InvalidOptionError} for any other value.
 */
export function signalOf(value: unknown): SignalDefinition {
  if (typeof value === 'string') return { name: checkName('signal', value), schema: undefined };
  const isObject = typeof value === 'object' && value !== null;
  const known = isObject ? DEFINITIONS.get(value) : undefined;
  if (known !== undefined) return known;
  // Made by another copy of the package, which holds its schema.
  const name = isObject && Reflect.get(value, 'type') === 'signal' && Reflect.get(value, 'name');
  if (isName(name)) return { name, schema: undefined };
  throw new InvalidOptionError('signal', 'a name, or the result of signal(…)', value);
}
