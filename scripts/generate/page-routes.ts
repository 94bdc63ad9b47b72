/** The types of the page's reads, made from the table of operations: the answer of each route, and how it is watched. */
import { KINDS } from '../../src/http/events/subject.ts';
import { ROUTES } from '../../src/http/routes.ts';
import type { Generated } from '../generate.ts';

/** What dashboard/src/api/ reads. */
export function pageRoutes(): Generated {
  const reads = ROUTES.filter(({ method }) => method === 'GET');
  const words = Object.entries(KINDS).map(([word, [operation, ...places]]) => {
    const route = reads.find((one) => one.operation === operation)?.name ?? '';
    const query = places.flatMap((place) => (place.startsWith('?') ? [place.slice(1)] : []));
    return `  ${JSON.stringify(route)}: ${JSON.stringify([word, ...query])},`;
  });
  const text = [
    '/** Made by `npm run generate` of the table in src/operations/. */',
    "import type { Answers } from '../../../src/operations/answers.ts';",
    '/** By route that reads: its answer. */',
    'export interface ReadAnswers {',
    ...reads.map(
      ({ name, operation }) =>
        `  readonly ${JSON.stringify(name)}: Answers[${JSON.stringify(operation)}];`,
    ),
    '}',
    '/** By route: its word in the stream of changes, and the parameters that stand behind its colons. */',
    'export const WATCHED: Readonly<Record<string, readonly [word: string, ...query: string[]]>> = {',
    ...words,
    '};',
    '',
  ].join('\n');
  return {
    files: { 'dashboard/src/api/routes.generated.ts': text },
    madeOf: [
      'src/operations',
      'src/http/routes.ts',
      'src/http/events/subject.ts',
      'scripts/generate/page-routes.ts',
    ],
  };
}
