import { callUserCode } from '../base/async-scope.ts';
import { messageOf } from '../base/message-of.ts';
import { InvalidPayloadError } from '../domain/errors/errors.ts';
/**
 * The part of Standard Schema version 1 that is used here; Zod, Valibot, ArkType and others make
 * such values. `I` is the type that it accepts, `O` the type that it returns.
 */
export interface StandardSchemaV1<I = unknown, O = I> {
  /** The whole interface; the name avoids conflicts with properties of the library. */
  readonly '~standard': {
    readonly version: 1;
    /** The library, such as `zod`. */
    readonly vendor: string;
    /** Returns `{ value }` or `{ issues }`, or a promise of that. */
    readonly validate: (value: unknown) => unknown;
    /** For the compiler only; absent at run time. */
    readonly types?:
      | {
          /** The type that it accepts. */
          readonly input: I;
          /** The type that it returns. */
          readonly output: O;
        }
      | undefined;
  };
}

/** Result of `validate`. */
export type SchemaResult = { readonly ok: true; readonly value: unknown } | SchemaRefusal;

/** Why a schema refuses a value. */
export interface SchemaRefusal {
  readonly ok: false;
  readonly path: string;
  readonly message: string;
  /** The error that the schema threw, if it threw. */
  readonly cause?: unknown;
}

/** Validates a value; a throw is a refusal. Returns a promise only if the schema does. Never throws. */
export function validate(
  schema: StandardSchemaV1,
  value: unknown,
): SchemaResult | Promise<SchemaResult> {
  try {
    const answer = callUserCode(() => schema['~standard'].validate(value));
    if (!isThenable(answer)) return resultOf(answer);
    return Promise.resolve(answer).then(resultOf).catch(thrownBy);
  } catch (error) {
    return thrownBy(error);
  }
}

/** The error for a value that its schema refuses; `what` names the value where no call does. */
export function invalidPayload(
  { path, message, cause }: SchemaRefusal,
  what?: string,
): InvalidPayloadError {
  const where = what === undefined ? '' : ` (${what})`;
  return new InvalidPayloadError(path, `${message}${where}`, cause);
}

/**
 * The value that a schema returns, if there is one; a promise only when the schema returns one.
 *
 * @throws {@link InvalidPayloadError} when it refuses the value, which `what` names.
 */
export function checkedBy(
  what: string,
  schema: StandardSchemaV1 | undefined,
  value: unknown,
): unknown {
  if (schema === undefined) return value;
  const result = validate(schema, value);
  if (result instanceof Promise) return result.then((late) => passedBy(what, late));
  return passedBy(what, result);
}

function passedBy(what: string, result: SchemaResult): unknown {
  if (result.ok) return result.value;
  throw invalidPayload(result, what);
}

/** Whether a value has the shape of a Standard Schema. */
export function isSchema(value: unknown): value is StandardSchemaV1 {
  const standard = member(value, '~standard');
  return member(standard, 'version') === 1 && typeof member(standard, 'validate') === 'function';
}

function thrownBy(cause: unknown): SchemaRefusal {
  return { ok: false, path: '$', message: `its schema threw: ${messageOf(cause)}`, cause };
}

function resultOf(answer: unknown): SchemaResult {
  const issues = member(answer, 'issues');
  if (issues === undefined) return { ok: true, value: member(answer, 'value') };
  const first: unknown = Array.isArray(issues) ? issues[0] : undefined;
  const message = member(first, 'message');
  return {
    ok: false,
    path: pathOf(member(first, 'path')),
    message: typeof message === 'string' ? message : 'does not match its schema',
  };
}

/** A path of Standard Schema: keys, or segments `{ key }`. */
function pathOf(path: unknown): string {
  if (!Array.isArray(path)) return '$';
  return path.reduce<string>((text, segment: unknown) => {
    const key = typeof segment === 'object' ? member(segment, 'key') : segment;
    return text + (typeof key === 'number' ? `[${key}]` : `.${String(key)}`);
  }, '$');
}

function member(value: unknown, key: string): unknown {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
    ? Reflect.get(value, key)
    : undefined;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof member(value, 'then') === 'function';
}
