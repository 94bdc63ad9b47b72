/** The OpenAPI document of the HTTP API: the table of routes and the shapes of answers, put together. */
import { type Fields, objectSchema } from '../operations/fields.ts';
import type { UserRule } from '../operations/operation.ts';
import { packageVersion } from '../operations/package.ts';
import { OTHER_ROUTES } from './other-routes.ts';
import type { OtherRoute, Route } from './routes.ts';
import { ANSWERS, SCHEMAS } from './schemas.generated.ts';

const RULES: Readonly<Record<UserRule, string>> = {
  subject: 'A caller that sees some users only finds only what is theirs.',
  rows: 'A caller that sees some users only gets what is theirs.',
  whole: 'For callers that see all users.',
  none: 'Shows nothing of any user.',
};

const PROBLEM = {
  type: 'object',
  description: 'What is answered when an operation is refused or fails.',
  properties: {
    type: { const: 'about:blank' },
    title: { type: 'string', description: 'The status in words.' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'Stable.' },
    detail: { type: 'string', description: 'For people.' },
    retryable: {
      type: 'boolean',
      description: 'Whether the same call may succeed later without a change.',
    },
    option: { type: 'string', description: 'The field that is wrong.' },
    requestId: { type: 'string', description: 'The log of the server has it too.' },
  },
  required: ['type', 'title', 'status', 'code', 'detail', 'retryable', 'requestId'],
} as const;

const FAILED = {
  description: 'A problem.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
} as const;

/** The document. Its address is that of the API, so its paths begin where it stands. */
export function openApiDocument(routes: readonly Route[]): object {
  const paths = new Map<string, Record<string, object>>();
  for (const one of [...routes, ...OTHER_ROUTES]) {
    const path = paths.get(one.path) ?? {};
    path[one.method.toLowerCase()] = operationOf(one);
    paths.set(one.path, path);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Fairloom',
      version: packageVersion(),
      description:
        'Tasks, runs and users of one Fairloom. Moments are ms since the epoch, lengths ms.',
    },
    servers: [{ url: '.' }],
    paths: Object.fromEntries(paths),
    components: { schemas: { ...SCHEMAS, Problem: PROBLEM } },
  };
}

function operationOf(one: Route | OtherRoute): object {
  const { name, path, help, needs, effect, users, query, status } = one;
  const body = 'body' in one ? one.body : undefined;
  return {
    operationId: name
      .toLowerCase()
      .replaceAll(/[^a-z]+([a-z])?/g, (_, letter = '') => letter.toUpperCase()),
    summary: help,
    description: `Needs the permission \`${needs}\`. ${RULES[users]}`,
    'x-effect': effect,
    parameters: [...partsOf(path), ...parametersOf(query)],
    ...(body === undefined
      ? {}
      : { requestBody: { content: { 'application/json': { schema: objectSchema(body) } } } }),
    responses: { [status]: { description: 'Done.', content: contentOf(one) }, default: FAILED },
  };
}

function contentOf(one: Route | OtherRoute): object {
  if ('types' in one) {
    return Object.fromEntries(one.types.map((type) => [type, { schema: one.schema }]));
  }
  return { 'application/json': { schema: answerOf(one.operation) } };
}

/** One that the table of answers does not have answers any JSON. */
function answerOf(operation: string): object {
  const name = ANSWERS[operation];
  return name === undefined ? {} : { $ref: `#/components/schemas/${name}` };
}

function partsOf(path: string): readonly object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function parametersOf(query: Fields): readonly object[] {
  return Object.entries(query).map(([name, { about, isRequired, schema }]) => ({
    name,
    in: 'query',
    description: about,
    required: isRequired,
    schema,
  }));
}
