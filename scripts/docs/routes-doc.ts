/** The table of routes in docs/http.md, made from src/http/routes/. */
import { OTHER_ROUTES } from '../../src/http/routes/other.ts';
import { ROUTES } from '../../src/http/routes/table.ts';
import { withSection } from './section.ts';

const START = '<!-- The routes are written by `npm run docs`, from src/http/routes/. -->';
const END = '<!-- The end of the routes. -->';

/** The page with its table made anew. */
export function renderRoutes(page: string): string {
  const rows = [...ROUTES, ...OTHER_ROUTES].map(
    ({ method, path, needs, users, query = {}, summary }) =>
      `| \`${method} ${path}\` | ${names(query)} | \`${needs}\` | ${users} | ${summary.replaceAll('|', '\\|')} |`,
  );
  const text = [
    '| Route | Parameters | Permission | Users | |',
    '|---|---|---|---|---|',
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
