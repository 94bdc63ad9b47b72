/** Parameters and bodies of calls: what each field may hold, read from text or JSON. */
import { isPlainObject } from '../../base/records.ts';
import { type Duration, isDuration } from '../../base/time.ts';
import { InvalidOptionError } from '../../domain/errors/errors.ts';

/** A JSON Schema, as the OpenAPI document has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** One field. */
export interface Field<T> {
  /** What it may hold. */
  readonly schema: JsonSchema;
  /** What it is for. */
  readonly about: string;
  /** It has to be there. */
  readonly isRequired: boolean;
  /** @throws {@link InvalidOptionError} for what it may not hold. `undefined`: it is not there. */
  read(name: string, given: unknown): T;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** What was read of fields. */
export type Values<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** No field at all. */
const NONE: Fields = {};

/** @throws {@link InvalidOptionError} for a field that is not named, and for what a field may not hold. */
export function valuesOf<F extends Fields>(
  where: string,
  known: F | undefined,
  given: Readonly<Record<string, unknown>>,
): Values<F> {
  const fields: Fields = known ?? NONE;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(fields, name));
  if (unknown !== undefined) {
    const names = Object.keys(fields).join(', ') || 'none';
    throw new InvalidOptionError(unknown, `a field of ${where}: ${names}`, given[unknown]);
  }
  const values = Object.entries(fields).map(([name, field]) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && field.isRequired) {
      throw new InvalidOptionError(name, 'a value: it is required', value);
    }
    return [name, field.read(name, value)] as const;
  });
  // Each was read by the field of its name.
  return Object.fromEntries(values) as Values<F>;
}

/** A text. */
export function text(about: string, schema: JsonSchema = {}): Field<string | undefined> {
  return optional(about, { type: 'string', ...schema }, 'a text', (given) =>
    typeof given === 'string' ? given : undefined,
  );
}

/** One of some words. */
export function choice<const T extends string>(
  about: string,
  words: readonly T[],
): Field<T | undefined> {
  return optional(about, { type: 'string', enum: words }, `one of ${words.join(', ')}`, (given) =>
    words.find((word) => word === given),
  );
}

/** A whole number. */
export function integer(
  about: string,
  { least, most }: { readonly least: number; readonly most: number },
): Field<number | undefined> {
  const schema = { type: 'integer', minimum: least, maximum: most };
  return optional(about, schema, `a whole number from ${least} to ${most}`, (given) => {
    const number = typeof given === 'string' && /^-?\d{1,16}$/.test(given) ? Number(given) : given;
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return undefined;
    return number >= least && number <= most ? number : undefined;
  });
}

/** Yes or no. */
export function flag(about: string): Field<boolean | undefined> {
  return optional(about, { type: 'boolean' }, 'true or false', (given) => {
    if (given === 'true' || given === true) return true;
    return given === 'false' || given === false ? false : undefined;
  });
}

/** A number. */
export function number(about: string): Field<number | undefined> {
  return optional(about, { type: 'number' }, 'a number', (given) =>
    typeof given === 'number' ? given : undefined,
  );
}

/** A length of time: ms, or a number with its unit. */
export function length(about: string): Field<Duration | undefined> {
  const schema = { anyOf: [{ type: 'number' }, { type: 'string', pattern: LENGTH }] };
  return optional(about, schema, 'ms, or a number with its unit as "30s"', (given) =>
    isDuration(given) ? given : undefined,
  );
}

const LENGTH = '^-?\\d+(\\.\\d+)?(ms|s|m|h|d)$';

/** Any JSON. */
export function anything(about: string): Field<unknown> {
  return { schema: {}, about, isRequired: false, read: (_name, given) => given };
}

/** Some texts. */
export function texts(about: string): Field<readonly string[] | undefined> {
  const schema = { type: 'array', items: { type: 'string' } };
  return optional(about, schema, 'a list of texts', (given) =>
    Array.isArray(given) && given.every((one) => typeof one === 'string') ? given : undefined,
  );
}

/** Some numbers. */
export function numbers(about: string): Field<readonly number[] | undefined> {
  const schema = { type: 'array', items: { type: 'number' } };
  return optional(about, schema, 'a list of numbers', (given) =>
    Array.isArray(given) && given.every((one) => typeof one === 'number') ? given : undefined,
  );
}

/** An object of fields. */
export function part<F extends Fields>(about: string, fields: F): Field<Values<F> | undefined> {
  return {
    schema: objectSchema(fields),
    about,
    isRequired: false,
    read: (name, given) => {
      if (given === undefined) return undefined;
      if (isPlainObject(given)) return valuesOf(name, fields, given);
      throw new InvalidOptionError(name, 'an object', given);
    },
  };
}

/** The schema of an object of fields. */
export function objectSchema(fields: Fields): JsonSchema {
  const all = Object.entries(fields);
  const required = all.flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
  return {
    type: 'object',
    properties: Object.fromEntries(
      all.map(([name, { schema, about }]) => [name, { ...schema, description: about }]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

/** The same, or a word that stands for something. */
export function or<T, const W extends string>(field: Field<T>, word: W): Field<T | W> {
  return {
    ...field,
    schema: { anyOf: [field.schema, { const: word }] },
    read: (name, given) => (given === word ? word : field.read(name, given)),
  };
}

/** The same, and it has to be there. */
export function required<T>(field: Field<T>): Field<Exclude<T, undefined>> {
  return {
    ...field,
    isRequired: true,
    read: (name, given) => {
      const value = field.read(name, given);
      if (!isGiven(value)) throw new InvalidOptionError(name, 'a value: it is required', value);
      return value;
    },
  };
}

function isGiven<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}

function optional<T>(
  about: string,
  schema: JsonSchema,
  expected: string,
  take: (given: unknown) => T | undefined,
): Field<T | undefined> {
  return {
    schema,
    about,
    isRequired: false,
    read: (name, given) => {
      if (given === undefined) return undefined;
      const value = take(given);
      if (value === undefined) throw new InvalidOptionError(name, expected, given);
      return value;
    },
  };
}

/** Why something is changed. */
export const REASON: { readonly reason: Field<string | undefined> } = {
  reason: text('Kept with it, for people.'),
};
