/** Routes that answer no JSON of the table: exports, the stream of changes, and the document itself. */
import { required, text } from '../operations/fields.ts';
import { EXPORT_ROUTES } from './export-routes.ts';
import type { OtherRoute } from './routes.ts';

const READS = { needs: 'read', effect: 'reads', status: 200 } as const;

/** Those that there are. */
export const OTHER_ROUTES: readonly OtherRoute[] = [
  ...EXPORT_ROUTES,
  {
    name: 'GET /events',
    method: 'GET',
    path: '/events',
    help: 'Changes of the things that are watched, as server-sent events.',
    ...READS,
    users: 'rows',
    query: {
      watch: required(text('What is watched, as `overview,users:default,task:<id>`.')),
      last: text('The id of the last frame, for readers that cannot send `Last-Event-ID`.'),
    },
    types: ['text/event-stream'],
    schema: { type: 'string' },
  },
  {
    name: 'GET /openapi.json',
    method: 'GET',
    path: '/openapi.json',
    help: 'This document.',
    ...READS,
    users: 'none',
    query: {},
    types: ['application/json'],
    schema: { type: 'object' },
  },
];
