/** The table of routes in docs/http.md, made from the operations in src/operations/. */
import { OTHER_ROUTES } from '../../src/http/other-routes.ts';
import { ROUTES, type Route } from '../../src/http/routes.ts';
import { withSection } from './section.ts';

const START = '<!-- The routes are written by `npm run docs`, from src/operations/. -->';
const END = '<!-- The end of the routes. -->';

/** The page with its table regenerated. */
export function renderRoutes(page: string, routes: readonly Route[] = ROUTES): string {
  const rows = [...routes, ...OTHER_ROUTES].map(
    ({ name, needs, effect, users, query, help }) =>
      `| \`${name}\` | ${names(query)} | \`${needs}\` | ${effect} | ${users} | ${help.replaceAll('|', '\\|')} |`,
  );
  const text = [
    '| Route | Parameters | Permission | Effect | Users | |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
  return withSection(page, { start: START, end: END, text });
}

function names(query: object): string {
  return Object.keys(query)
    .map((name) => `\`${name}\``)
    .join(' ');
}
