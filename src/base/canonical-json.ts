/**
 * JSON text that depends on content only (RFC 8785, "JCS"): keys sorted by their UTF-16 units, no
 * spaces, numbers and strings as in ECMAScript. Equal values have equal text, in any process and
 * any order of properties.
 *
 * A property whose value is `undefined` is left out, as in `JSON.stringify`.
 *
 * @throws TypeError on what has no JSON form (NaN, a function, a lone surrogate, `undefined` in an
 * array, an object of a class) and on values nested deeper than 1,000: a cycle ends there too.
 */
export function canonicalJson(value: unknown): string {
  return textOf(value, 0);
}

/** Serialization is recursive; a stack holds many times this. */
const MAX_DEPTH = 1_000;

/** A lone surrogate has no UTF-8 form. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function textOf(value: unknown, depth: number): string {
  switch (typeof value) {
    case 'string':
      return stringText(value);
    case 'boolean':
      return String(value);
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${value} has no JSON form`);
      return JSON.stringify(value);
    case 'object':
      return value === null ? 'null' : objectText(value, depth);
    default:
      throw new TypeError(`a value of type ${typeof value} has no JSON form`);
  }
}

function objectText(value: object, depth: number): string {
  if (depth >= MAX_DEPTH) throw new TypeError(`a cycle, or nested deeper than ${MAX_DEPTH}`);
  if (Array.isArray(value)) {
    return `[${Array.from(value, (item: unknown) => textOf(item, depth + 1)).join(',')}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw new TypeError('an object of a class has no canonical form');
  }
  const members: string[] = [];
  // The default order of sort() is that of UTF-16 units, as RFC 8785 requires.
  for (const key of Object.keys(value).sort()) {
    const member: unknown = Reflect.get(value, key);
    if (member !== undefined) members.push(`${stringText(key)}:${textOf(member, depth + 1)}`);
  }
  return `{${members.join(',')}}`;
}

function stringText(text: string): string {
  if (LONE_SURROGATE.test(text)) throw new TypeError('a lone surrogate has no UTF-8 form');
  return JSON.stringify(text);
}
