/** The tables of names in docs/guide/coming-from.md. */
import { FOREIGN_NAMES, type ForeignName } from '../../src/base/foreign-names.ts';
import { withSection } from './section.ts';

const KINDS: Readonly<Record<ForeignName['kind'], string>> = {
  config: 'in a configuration',
  flag: 'on the command line',
  code: 'in code',
  metric: 'as a metric',
};

/** The page with both tables regenerated. */
export function renderForeign(page: string): string {
  return (['FairQueue', 'Graflow'] as const).reduce(
    (text, of) =>
      withSection(text, {
        start: `<!-- The names of ${of} are written by \`npm run docs\`, from src/base/foreign-names.ts. -->`,
        end: `<!-- end of the names of ${of} -->`,
        text: table(FOREIGN_NAMES.filter((name) => name.of === of)),
      }),
    page,
  );
}

function table(names: readonly ForeignName[]): string {
  const lines = names.map(
    ({ kind, name, ours }) =>
      `| \`${name}\` | ${KINDS[kind]} | ${ours.replaceAll('|', '\\|').replaceAll('<', '&lt;')} |`,
  );
  return ['| Name | Where | Here |', '|---|---|---|', ...lines, ''].join('\n');
}
