/** docs/cli-output.md as something that output can be held to. */
import { read } from '../files.ts';

interface DocumentedField {
  readonly path: string;
  readonly isOptional: boolean;
  readonly type: string;
}

const page = read('docs/cli-output.md');
const [head = '', body = ''] = page.split('## Types');

/** What each command prints, as `TaskInfo[]`. */
export const PRINTED: ReadonlyMap<string, string> = new Map(
  [...head.matchAll(/^\| `([a-z -]+)` \| `(.+)` \|$/gm)].map(([, name = '', type = '']) => [
    name,
    type,
  ]),
);

/** The fields of each type; a type without a table has a format of its own, and none here. */
const TYPES: ReadonlyMap<string, readonly DocumentedField[]> = new Map(
  body
    .split('### ')
    .slice(1)
    .map((section) => [section.split('\n')[0] ?? '', fieldsOf(section)]),
);

function fieldsOf(section: string): readonly DocumentedField[] {
  return [...section.matchAll(/^\| `([^`?]+)(\?)?` \| `([^`]+)` \|/gm)].map(
    ([, path = '', optional, type = '']) => ({
      path,
      isOptional: optional !== undefined,
      type: type.replaceAll('\\|', '|'),
    }),
  );
}

/** Where a value is not what the page says of its type, each with its place. */
export function differences(value: unknown, type: string, at = '$'): readonly string[] {
  if (type === 'unknown') return [];
  const types = alternatives(type);
  if (types.length > 1) {
    const fits = types.some((one) => differences(value, one, at).length === 0);
    return fits ? [] : [`${at}: ${JSON.stringify(value)} is not ${type}`];
  }
  if (type.endsWith('[]')) {
    if (!Array.isArray(value)) return [`${at}: not ${type}`];
    const element = type.slice(0, -2).replace(/^\((.*)\)$/, '$1');
    return value.flatMap((one, index) => differences(one, element, `${at}[${index}]`));
  }
  const inner = /^Record<string, (.*)>$/.exec(type)?.[1];
  if (inner !== undefined) {
    if (!isObject(value)) return [`${at}: not ${type}`];
    return Object.entries(value).flatMap(([key, one]) => differences(one, inner, `${at}.${key}`));
  }
  const fields = TYPES.get(type);
  if (fields !== undefined) return fields.length === 0 ? [] : fieldDifferences(value, fields, at);
  const expected = /^'(.*)'$/.exec(type)?.[1];
  const fits = expected === undefined ? isOfType(value, type) : value === expected;
  return fits ? [] : [`${at}: ${JSON.stringify(value)} is not ${type}`];
}

/** The parts of `'a' | 'b[]' | Record<string, 'c' | 'd'>` between the outer bars. */
function alternatives(type: string): readonly string[] {
  const parts: string[] = [];
  for (const part of type.split(' | ')) {
    const last = parts.at(-1) ?? '';
    const isOpen = last.replaceAll(/[^<(]/g, '').length > last.replaceAll(/[^>)]/g, '').length;
    if (isOpen) parts[parts.length - 1] = `${last} | ${part}`;
    else parts.push(part);
  }
  return parts;
}

/** Of an object whose fields have these paths; `outer.inner` and `outer[].inner` are its objects'. */
function fieldDifferences(
  value: unknown,
  fields: readonly DocumentedField[],
  at: string,
): readonly string[] {
  if (!isObject(value)) return [`${at}: not an object`];
  const own = fields.filter(({ path }) => !/[.[]/.test(path));
  const names = new Set(own.map(({ path }) => path));
  const unknown = Object.keys(value).filter((key) => !names.has(key));
  return [
    ...unknown.map((key) => `${at}.${key}: not documented`),
    ...own.flatMap(({ path, isOptional, type }) => {
      const place = `${at}.${path}`;
      const inner: unknown = value[path];
      if (inner === undefined) return isOptional ? [] : [`${place}: missing`];
      if (type === 'object') return fieldDifferences(inner, inside(fields, `${path}.`), place);
      if (type !== 'object[]') return differences(inner, type, place);
      if (!Array.isArray(inner)) return [`${place}: not an array`];
      return inner.flatMap((one, index) =>
        fieldDifferences(one, inside(fields, `${path}[].`), `${place}[${index}]`),
      );
    }),
  ];
}

function inside(fields: readonly DocumentedField[], prefix: string): readonly DocumentedField[] {
  return fields
    .filter(({ path }) => path.startsWith(prefix))
    .map((field) => ({ ...field, path: field.path.slice(prefix.length) }));
}

function isOfType(value: unknown, type: string): boolean {
  if (['string', 'number', 'boolean'].includes(type)) return typeof value === type;
  return String(value) === type;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
