/** The OpenAPI document of the HTTP API: the table of routes and the shapes of answers, put together. */
import { type Fields, objectSchema } from './calls/fields.ts';
import { packageVersion } from './calls/package.ts';
import type { OtherRoute, Route, UserRule } from './calls/route.ts';
import { OTHER_ROUTES } from './routes/other.ts';
import { ROUTES } from './routes/table.ts';
import { ANSWERS, SCHEMAS } from './schemas.generated.ts';

const RULES: Readonly<Record<UserRule, string>> = {
  subject: 'A caller that sees some users only finds nothing but what is theirs.',
  rows: 'A caller that sees some users only gets what is theirs.',
  whole: 'For callers that see all users.',
  none: 'Shows nothing of any user.',
};

const PROBLEM = {
  type: 'object',
  description: 'What is answered instead of what was asked for.',
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
    option: { type: 'string', description: 'The field that is not what it should be.' },
    requestId: { type: 'string', description: 'The log of the server has it too.' },
  },
  required: ['type', 'title', 'status', 'code', 'detail', 'retryable', 'requestId'],
} as const;

const FAILED = {
  description: 'A problem.',
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
} as const;

/** The document. Its address is that of the API, so its paths begin where it stands. */
export function openApiDocument(): object {
  const paths = new Map<string, Record<string, object>>();
  for (const one of [...ROUTES, ...OTHER_ROUTES]) {
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
  const { name, path, summary, needs, users, query = {}, status = 200 } = one;
  const body = 'body' in one ? one.body : undefined;
  return {
    operationId: name
      .toLowerCase()
      .replaceAll(/[^a-z]+([a-z])?/g, (_, letter = '') => letter.toUpperCase()),
    summary,
    description: `Needs the permission \`${needs}\`. ${RULES[users]}`,
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
  return { 'application/json': { schema: { $ref: `#/components/schemas/${ANSWERS[one.name]}` } } };
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
