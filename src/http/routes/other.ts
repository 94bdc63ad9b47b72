/** Routes that answer no JSON of the table: the stream of changes, and the document itself. */
import { type Fields, type JsonSchema, required, text } from '../calls/fields.ts';
import type { Route } from '../calls/route.ts';

/** What the document says of one. */
export interface OtherRoute
  extends Pick<Route, 'method' | 'path' | 'summary' | 'needs' | 'users' | 'status'> {
  /** Its method and its path. */
  readonly name: string;
  /** Parameters that it takes. */
  readonly query: Fields;
  /** Of its answer. */
  readonly type: string;
  /** The same. */
  readonly schema: JsonSchema;
}

/** Those that there are. */
export const OTHER_ROUTES: readonly OtherRoute[] = [
  {
    name: 'GET /events',
    method: 'GET',
    path: '/events',
    summary: 'What changes of the things that are watched, as server-sent events.',
    needs: 'read',
    users: 'rows',
    query: {
      watch: required(text('What is watched, as `overview,users:default,task:<id>`.')),
      last: text('The id of the last frame, for readers that cannot send `Last-Event-ID`.'),
    },
    type: 'text/event-stream',
    schema: { type: 'string' },
  },
  {
    name: 'GET /openapi.json',
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document.',
    needs: 'read',
    users: 'none',
    query: {},
    type: 'application/json',
    schema: { type: 'object' },
  },
];
