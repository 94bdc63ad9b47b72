/** The OpenAPI document against the routes, both ways, and against what they answer. */
import { task } from 'fairloom';
import { beforeAll, describe, expect, it } from 'vitest';
import { OTHER_ROUTES } from '../../src/http/other-routes.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { type Ask, askerOf } from '../support/http/api.ts';
import { eachStore } from '../support/http/stores.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly operationId: string;
  readonly responses: Readonly<
    Record<string, { content: Readonly<Record<string, { schema: Schema }>> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const greet = task('greet', { keepLogs: 'always' }, async (name: string, ctx) => {
  ctx.log.info('hello', { name });
  await ctx.stream('out').write(name);
  return `hello ${name}`;
});
const fail = task('fail', { retries: 0 }, async (_words: string) => {
  throw new TypeError('no');
});
const line = greet.pipe(fail).as('line');

let ask: Ask;
let document: Document;
const ids = new Map<string, string>();

function operations(): readonly (readonly [method: string, path: string, operation: Operation])[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [method.toUpperCase(), path, operation] as const,
    ),
  );
}

eachStore(({ open }) => {
  beforeAll(async () => {
    const loom = await open([greet, fail, line]);
    ask = askerOf(loom, { access: () => ({ can: 'all', by: 'ann' }) });
    document = JSON.parse((await ask('/openapi.json')).text);
    const done = await loom.enqueue(greet, 'ann', { user: 'acme' });
    const run = await loom.enqueue(line, 'ann', { user: 'acme' });
    await loom.enqueue(fail, 'x', { user: 'acme' });
    await loom.schedules.set('nightly', { every: '1h', task: greet, input: 'x' });
    await loom.drain({ allowFailures: true });
    await loom.enqueue(greet, 'ann', { user: 'acme' });
    await ask('/users/acme/pause', { method: 'POST' });
    ids.set('tasks', done.id).set('runs', run.id).set('schedules', 'nightly').set('users', 'acme');
  });

  describe('the document', () => {
    it('has every route, once', () => {
      const documented = operations().map(([method, path]) => `${method} ${path}`);
      expect(documented.sort()).toEqual(
        [...ROUTES, ...OTHER_ROUTES].map(({ name }) => name).sort(),
      );
      expect(document.openapi).toBe('3.1.0');
      const names = operations().map(([, , { operationId }]) => operationId);
      expect(new Set(names).size).toBe(names.length);
    });

    it('names nothing that the API does not know', async () => {
      for (const [method, path] of operations().filter(([, one]) => one !== '/events')) {
        const { text } = await ask(path.replaceAll(/\{\w+\}/g, 'nothing'), { method });
        expect([method, path, text]).toEqual([
          method,
          path,
          expect.not.stringMatching(/no such route|METHOD_NOT/),
        ]);
      }
    });

    it('refers to nothing that it has not', () => {
      const text = JSON.stringify(document);
      for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/(\w+)/g)) {
        expect(document.components.schemas).toHaveProperty(name);
      }
    });

    it('says what reads answer, field by field', async () => {
      const seen = [];
      for (const [method, path, { responses }] of operations()) {
        if (method !== 'GET' || OTHER_ROUTES.some((one) => one.path === path)) continue;
        const noun = path.split('/')[1] ?? '';
        const asked = path
          .replace(/\{(id|user)\}/, ids.get(noun) ?? 'nothing')
          .replace('{queue}', 'default')
          .replace('{name}', 'out');
        const query =
          { '/tasks': '?where=', '/runs': '?state=failed', '/series': '?step=minute' }[path] ?? '';
        const { status, body } = await ask(`${asked}${query}`);
        if (status === 404) continue;
        expect([path, status]).toEqual([path, 200]);
        const schema = responses['200']?.content['application/json']?.schema ?? {};
        expect([path, faults(body, schema, '$')]).toEqual([path, []]);
        seen.push(path);
      }
      expect(seen.length).toBeGreaterThan(22);
    });
  });
});

/** Where a value is not what its schema says, fields that it does not name included. */
function faults(value: unknown, schema: Schema, at: string): readonly string[] {
  const { $ref, anyOf, type, items, properties, required, additionalProperties } = schema;
  if (typeof $ref === 'string') {
    return faults(value, document.components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, at);
  }
  if (Array.isArray(anyOf)) {
    return anyOf.some((one: Schema) => faults(value, one, at).length === 0)
      ? []
      : [`${at}: none fits`];
  }
  const words: unknown = 'const' in schema ? [schema['const']] : schema['enum'];
  if (Array.isArray(words)) return words.includes(value) ? [] : [`${at}: ${String(value)}`];
  if (type === 'array') {
    if (!Array.isArray(value)) return [`${at}: no list`];
    return value.flatMap((one, index) => faults(one, items as Schema, `${at}[${index}]`));
  }
  if (type === 'object') {
    const fields = Object.entries(Object(value));
    if (additionalProperties !== undefined) {
      return fields.flatMap(([key, one]) =>
        faults(one, additionalProperties as Schema, `${at}.${key}`),
      );
    }
    if (properties === undefined) return [];
    const missing = ((required ?? []) as string[]).filter(
      (key) => !Object.hasOwn(Object(value), key),
    );
    const known = properties as Record<string, Schema>;
    return [
      ...missing.map((key) => `${at}.${key}: missing`),
      ...fields.flatMap(([key, one]) =>
        known[key] === undefined
          ? [`${at}.${key}: not in the document`]
          : faults(one, known[key], `${at}.${key}`),
      ),
    ];
  }
  return type === undefined || typeof value === type ? [] : [`${at}: not ${String(type)}`];
}
