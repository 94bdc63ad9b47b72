/** JSON Schemas of the answers of the HTTP API, made from their types: for its OpenAPI document. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type TypeField, type TypeTable, typeTables } from '../docs/type-tables.ts';
import type { Generated } from '../generate.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ANSWERS = `${ROOT}src/operations/answers.ts`;

/** Types that have a format of their own. */
const OPAQUE: ReadonlySet<string> = new Set(['TaskGraph']);

type Schema = Readonly<Record<string, unknown>>;

/** What src/http/document.ts answers with: the name of the answer of each operation, and the schema of each name. */
export function answerSchemas(): Generated {
  const { root, tables, files } = typeTables(ANSWERS, 'Answers', OPAQUE);
  const schemas = Object.fromEntries([
    ...tables.map((table) => [table.name, tableSchema(table)] as const),
    ...[...OPAQUE].map((name) => [name, { type: 'object' }] as const),
  ]);
  const answers = Object.fromEntries(root.map(({ path, type }) => [path, type]));
  const text = [
    '/** Made by `npm run generate` from src/operations/answers.ts. */',
    `export const ANSWERS: Readonly<Record<string, string>> = ${JSON.stringify(answers, undefined, 1)};`,
    `export const SCHEMAS: Readonly<Record<string, unknown>> = ${JSON.stringify(schemas, undefined, 1)};`,
    '',
  ].join('\n');
  const sources = files.map((file) => relative(ROOT, file).replaceAll('\\', '/'));
  return {
    files: { 'src/http/schemas.generated.ts': text },
    madeOf: [...sources, 'scripts/generate/schemas.ts', 'scripts/docs/type-tables.ts'],
  };
}

function tableSchema({ about, fields }: TypeTable): Schema {
  return { description: about, ...objectSchema(fields) };
}

/** Of fields whose paths are those of one object; `outer.inner` and `outer[].inner` are of objects in it. */
function objectSchema(fields: readonly TypeField[]): Schema {
  const own = fields.filter(({ path }) => !/[.[]/.test(path));
  const required = own.filter(({ isOptional }) => !isOptional).map(({ path }) => path);
  const properties = own.map(({ path, type, about }) => [
    path,
    { ...fieldSchema(fields, path, type), ...(about === '' ? {} : { description: about }) },
  ]);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

function fieldSchema(fields: readonly TypeField[], path: string, type: string): Schema {
  if (type === 'object') return objectSchema(inside(fields, `${path}.`));
  if (type === 'object[]') {
    return { type: 'array', items: objectSchema(inside(fields, `${path}[].`)) };
  }
  return textSchema(type);
}

function inside(fields: readonly TypeField[], prefix: string): readonly TypeField[] {
  return fields
    .filter(({ path }) => path.startsWith(prefix))
    .map((field) => ({ ...field, path: field.path.slice(prefix.length) }));
}

/** Of a type as `typeTables` writes it. */
function textSchema(type: string): Schema {
  const parts = alternatives(type);
  if (parts.length > 1) {
    const literals = parts.map(literalOf);
    return literals.every((one) => one !== undefined)
      ? { enum: literals }
      : { anyOf: parts.map(textSchema) };
  }
  if (type.endsWith('[]')) {
    const element = type.slice(0, -2).replace(/^\((.*)\)$/, '$1');
    return { type: 'array', items: textSchema(element) };
  }
  const values = /^Record<string, (.*)>$/.exec(type)?.[1];
  if (values !== undefined) return { type: 'object', additionalProperties: textSchema(values) };
  const literal = literalOf(type);
  if (literal !== undefined) return { const: literal };
  if (type === 'unknown') return {};
  if (['string', 'number', 'boolean'].includes(type)) return { type };
  return { $ref: `#/components/schemas/${type}` };
}

function literalOf(type: string): string | number | boolean | undefined {
  if (type === 'true' || type === 'false') return type === 'true';
  if (/^\d+$/.test(type)) return Number(type);
  return /^'([^']*)'$/.exec(type)?.[1];
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
