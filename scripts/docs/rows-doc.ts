/** The tables of rows in docs/file-format.md, made of src/backends/memory/rows/model.ts. */
import { PARTS, ROWS } from '../../src/backends/memory/rows/model.ts';
import { withSection } from './section.ts';

interface Described {
  readonly about: string;
  readonly fields: Readonly<Record<string, readonly [type: string, sentence: string]>>;
}

/** The page with its tables made anew. */
export function renderRows(page: string): string {
  const tables = [...Object.entries<Described>(ROWS), ...Object.entries<Described>(PARTS)];
  const text = tables.map(([name, kind]) => tableOf(name, kind)).join('\n');
  return withSection(page, { start: '<!-- rows:start -->', end: '<!-- rows:end -->', text });
}

function tableOf(name: string, { about, fields }: Described): string {
  const rows = Object.entries(fields).map(
    ([field, [type, sentence]]) => `| \`${field}\` | ${type} | ${sentence} |`,
  );
  const head = ['| Field | Type | Is |', '|---|---|---|'];
  return [`**\`${name}\`**: ${about}`, '', ...head, ...rows, ''].join('\n');
}
