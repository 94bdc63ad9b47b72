/** What can be read, by the route of the server that answers it. */
import type { Source } from '../state/readings.ts';
import type { ReadAnswers } from './routes.generated.ts';
import { subjectOf } from './subjects.ts';

/** A route that reads. */
export type ReadRoute = keyof ReadAnswers;

/** Values of parameters; those that are absent are left out. */
export type Query = Readonly<Record<string, number | string | undefined>>;

/** What a route answers about the parts of its path that stand in braces, in their order. */
export function source<R extends ReadRoute>(
  route: R,
  parts: readonly string[] = [],
  query: Query = {},
): Source<ReadAnswers[R]> {
  const left = [...parts];
  const path = route
    .slice('GET /'.length)
    .replaceAll(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? ''));
  const given = Object.entries(query).flatMap(([key, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[key, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  return {
    path: search === '' ? path : `${path}?${search}`,
    subject: subjectOf(route, parts, new Map(given)),
  };
}
