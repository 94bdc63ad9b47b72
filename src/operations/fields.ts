/** Inputs of operations: what each field may hold, read from JSON, from a parameter, or from a command line. */
import { isPlainObject } from '../base/records.ts';
import { type Duration, isDuration } from '../base/time.ts';
import { InvalidOptionError } from '../domain/errors/errors.ts';
import { PRIORITY_NAMES, type PriorityName } from '../workflow/task-options.ts';

/** A JSON Schema, as the OpenAPI document has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a field is written on a command line. */
export interface Line {
  /**
   * `value`: one text. `list`: one text each time that it is said. `flag`: it is said or not. `json`: a text, a file
   * or stdin. `fields`: a flag for each field of the object.
   */
  readonly kind: 'value' | 'list' | 'flag' | 'json' | 'fields';
  /** Stands for the value, as `n`. */
  readonly value: string;
  /** What a shell offers. */
  readonly words?: readonly string[];
  /** The only values are those. */
  readonly isChoice?: boolean;
  /** The flag, where it is another than the name of the field: `times` for `limit`. */
  readonly flag?: string;
  /** Of `fields`. */
  readonly fields?: Fields;
  /** From a text to what JSON would have; what cannot be read stays a text. */
  readonly parse: (text: string) => unknown;
}

/** One field. */
export interface Field<T> {
  /** What it may hold. */
  readonly schema: JsonSchema;
  /** What it is for, in one sentence. */
  readonly about: string;
  /** What it may hold, in words. */
  readonly expected: string;
  /** It has to be there. */
  readonly isRequired: boolean;
  /** It is a parameter of its route also where other fields are in the body. */
  readonly isParameter: boolean;
  /** How it is written on a command line. */
  readonly line: Line;
  /** @throws {@link InvalidOptionError} for what it may not hold. `undefined`: it is not there. */
  read(name: string, given: unknown): T;
}

/** Fields by name. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

const DEFAULTS = { isRequired: false, isParameter: false } as const;

/** A length of time with its unit. */
const LENGTH = '^-?\\d+(\\.\\d+)?(ms|s|m|h|d)$';

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
  prefix = '',
): Values<F> {
  const fields: Fields = known ?? NONE;
  demandNamed(where, Object.keys(fields), given);
  const values = Object.entries(fields).map(([name, field]) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && field.isRequired) {
      throw new InvalidOptionError(`${prefix}${name}`, 'a value: it is required', value);
    }
    return [name, field.read(`${prefix}${name}`, value)] as const;
  });
  // Each was read by the field of its name.
  return Object.fromEntries(values) as Values<F>;
}

/** @throws {@link InvalidOptionError} for a field that is none of these. */
export function demandNamed(
  where: string,
  names: readonly string[],
  given: Readonly<Record<string, unknown>>,
): void {
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const known = names.join(', ') || 'none';
  throw new InvalidOptionError(unknown, `a field of ${where}: ${known}`, given[unknown]);
}

/** A text; `value` stands for it on a command line. */
export function text(about: string, value = 'text'): Field<string | undefined> {
  const facts = { about, schema: { type: 'string' }, expected: 'a text', line: lineOf(value) };
  return optional(facts, (given) => (typeof given === 'string' ? given : undefined));
}

/** One of some words. */
export function choice<const T extends string>(
  about: string,
  words: readonly T[],
  value = 'word',
): Field<T | undefined> {
  const facts = {
    about,
    schema: { type: 'string', enum: words },
    expected: `one of ${words.join(', ')}`,
    line: { ...lineOf(value), words, isChoice: true },
  };
  return optional(facts, (given) => words.find((word) => word === given));
}

/** Bounds of whole numbers that count something. */
export const COUNT: Bounds = { least: 1, most: Number.MAX_SAFE_INTEGER };

/** Bounds of whole numbers that count something, or nothing. */
export const COUNT_OR_NONE: Bounds = { least: 0, most: Number.MAX_SAFE_INTEGER };

interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** A whole number. */
export function integer(
  about: string,
  { least, most }: Bounds,
  value = 'n',
): Field<number | undefined> {
  const isOpen = most === Number.MAX_SAFE_INTEGER;
  const facts = {
    about,
    schema: { type: 'integer', minimum: least, maximum: most },
    expected: `a whole number${isOpen ? `, at least ${least}` : ` from ${least} to ${most}`}`,
    line: lineOf(value),
  };
  return optional(facts, (given) => {
    const number = typeof given === 'string' && /^-?\d{1,16}$/.test(given) ? Number(given) : given;
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return undefined;
    return number >= least && number <= most ? number : undefined;
  });
}

/** A moment, in ms since the epoch; on a command line also ISO 8601. */
export function moment(about: string): Field<number | undefined> {
  const parse = (given: string): unknown => {
    if (/^\d{9,}$/.test(given)) return Number(given);
    // A year or a small number alone is a mistake, not a moment of 1970.
    return /^\d{4}-\d\d-\d\d/.test(given) ? Date.parse(given) : Number.NaN;
  };
  return {
    ...integer(about, { least: 0, most: 8.64e15 }),
    expected: 'a moment such as 2030-01-31T08:00:00Z, or ms since the epoch',
    line: { ...lineOf('moment'), parse },
  };
}

/** Yes or no. */
export function flag(about: string): Field<boolean | undefined> {
  const line = { ...lineOf(''), kind: 'flag' as const };
  return optional(
    { about, schema: { type: 'boolean' }, expected: 'true or false', line },
    (given) => {
      if (given === 'true' || given === true) return true;
      return given === 'false' || given === false ? false : undefined;
    },
  );
}

/** A number. */
export function number(about: string): Field<number | undefined> {
  const parse = (given: string): unknown => (given.trim() === '' ? given : Number(given));
  const line = { ...lineOf('n'), parse };
  return optional({ about, schema: { type: 'number' }, expected: 'a number', line }, (given) =>
    typeof given === 'number' && Number.isFinite(given) ? given : undefined,
  );
}

/** A length of time: ms, or a number with its unit. */
export function length(about: string): Field<Duration | undefined> {
  const facts = {
    about,
    schema: { anyOf: [{ type: 'number' }, { type: 'string', pattern: LENGTH }] },
    expected: 'a length such as 250ms, 30s, 5m, 2h or 7d, or a number of ms',
    line: { ...lineOf('length'), parse: numberOr },
  };
  return optional(facts, (given) => (isDuration(given) ? given : undefined));
}

/** Any JSON; on a command line from a file or stdin, too. */
export function anything(about: string): Field<unknown> {
  const line = { ...lineOf('json'), kind: 'json' as const };
  return { ...DEFAULTS, about, schema: {}, expected: 'JSON', line, read: (_name, given) => given };
}

/** Some texts. */
export function texts(about: string, value = 'text'): Field<readonly string[] | undefined> {
  const facts = {
    about,
    schema: { type: 'array', items: { type: 'string' } },
    expected: 'a list of texts',
    line: { ...lineOf(value), kind: 'list' as const },
  };
  return optional(facts, (given) =>
    Array.isArray(given) && given.every((one) => typeof one === 'string') ? given : undefined,
  );
}

/** Five whole numbers, one for each priority that has a weight; on a command line with commas between them. */
export function weights(about: string): Field<readonly number[] | undefined> {
  const facts = {
    about,
    schema: { type: 'array', items: { type: 'number' } },
    expected: 'five whole numbers, as 1,2,4,8,16',
    line: { ...lineOf('list'), parse: (given: string) => given.split(',').map(numberOr) },
  };
  return optional(facts, (given) =>
    Array.isArray(given) && given.length === 5 && given.every(Number.isSafeInteger)
      ? given
      : undefined,
  );
}

/** A priority, by its name; on a command line by its number, too. */
export function priority(about: string): Field<PriorityName | undefined> {
  const field = choice(about, PRIORITY_NAMES);
  const parse = (given: string): unknown => PRIORITY_NAMES[Number(given) - 1] ?? given;
  const expected = `a priority from 1 to 6, or ${field.expected}`;
  return { ...field, expected, line: { ...field.line, value: '1-6|name', isChoice: false, parse } };
}

/** So many per time. */
export type Rate = Values<typeof RATE>;

/** So many per time; on a command line `100/1m`, or `100/1m/20` with a burst of 20. */
export function rate(about: string): Field<Rate | undefined> {
  const parse = (given: string): unknown => {
    const [limit = '', per = '', burst, ...rest] = given.split('/');
    if (per === '' || rest.length > 0) return given;
    const unit = /^(ms|s|m|h|d)$/.test(per) ? `1${per}` : per;
    const some = { limit: numberOr(limit), per: numberOr(unit) };
    return burst === undefined ? some : { ...some, burst: numberOr(burst) };
  };
  return {
    ...part(about, RATE),
    expected: 'a rate such as 100/1m, or 100/1m/20 with a burst',
    line: { ...lineOf('limit/per'), parse },
  };
}

const RATE: {
  readonly limit: Field<number>;
  readonly per: Field<Duration>;
  readonly burst: Field<number | undefined>;
} = {
  limit: required(integer('How many may start …', COUNT)),
  per: required(length('… in this time.')),
  burst: integer('How many may start at once after a pause.', COUNT),
};

/** An object of fields; on a command line each is a flag, with `prefix` before its name. */
export function part<F extends Fields>(
  about: string,
  fields: F,
  prefix = '',
): Field<Values<F> | undefined> {
  return {
    ...DEFAULTS,
    about,
    schema: objectSchema(fields),
    expected: 'an object',
    line: { ...lineOf(''), kind: 'fields', flag: prefix, fields },
    read: (name, given) => {
      if (given === undefined) return undefined;
      if (isPlainObject(given)) return valuesOf(name, fields, given, `${name}.`);
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
  const { line } = field;
  return {
    ...field,
    schema: { anyOf: [field.schema, { const: word }] },
    line: {
      ...line,
      ...(line.words === undefined ? {} : { words: [...line.words, word] }),
      isChoice: false,
      parse: (given) => (given === word ? word : line.parse(given)),
    },
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

/** The same under another flag of the command line, with another word for its value. */
export function flagged<T>(
  field: Field<T>,
  flag: string,
  value: string = field.line.value,
): Field<T> {
  return { ...field, line: { ...field.line, flag, value } };
}

/** The same as a parameter, where the other fields of a change are in the body. */
export function parameter<T>(field: Field<T>): Field<T> {
  return { ...field, isParameter: true };
}

function isGiven<T>(value: T): value is Exclude<T, undefined> {
  return value !== undefined;
}

function lineOf(value: string): Line {
  return { kind: 'value', value, parse: (given) => given };
}

/** A whole number of ms or of anything; other texts stay what they are. */
function numberOr(given: string): number | string {
  return /^-?\d+$/.test(given) ? Number(given) : given;
}

function optional<T>(
  facts: Pick<Field<T>, 'about' | 'schema' | 'expected' | 'line'>,
  take: (given: unknown) => T | undefined,
): Field<T | undefined> {
  return {
    ...DEFAULTS,
    ...facts,
    read: (name, given) => {
      if (given === undefined) return undefined;
      const value = take(given);
      if (value === undefined) throw new InvalidOptionError(name, facts.expected, given);
      return value;
    },
  };
}

/** Why something is changed. */
export const REASON: { readonly reason: Field<string | undefined> } = {
  reason: text('Why; stored with it, for people.'),
};
