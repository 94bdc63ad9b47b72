/** Routes that answer all pages of a listing at once, for spreadsheets and scripts. */
import { EXPORT_FORMATS, EXPORT_ROWS, EXPORT_TYPES, type ExportFormat } from '../calls/export.ts';
import { choice, type Field, integer, text } from '../calls/fields.ts';
import type { OtherRoute, Route, RouteName } from '../calls/route.ts';
import { ROUTES } from './table.ts';

/** One export. */
export interface ExportRoute extends OtherRoute {
  /** The listing whose rows it has. */
  readonly of: Route;
  /** Of its CSV: keys of a row, joined by dots. */
  readonly columns: readonly string[];
}

const TASK_COLUMNS = [
  'id',
  'name',
  'state',
  'user',
  'queue',
  'priority',
  'createdAt',
  'dueAt',
  'leasedAt',
  'endedAt',
  'failures',
  'failureType',
  'error.name',
  'error.message',
  'worker',
  'dependsOn',
] as const;

/** What of each listing is a column. */
const COLUMNS: Readonly<Partial<Record<RouteName, readonly string[]>>> = {
  'GET /tasks': TASK_COLUMNS,
  'GET /dead': TASK_COLUMNS,
  'GET /runs': [
    'id',
    'name',
    'form',
    'state',
    'user',
    'queue',
    'priority',
    'createdAt',
    'endedAt',
    'error.name',
    'error.message',
  ],
  'GET /users': [
    'user',
    'queue',
    'queued',
    'running',
    'later',
    'ready',
    'ahead',
    'share',
    'fairShare',
    'why',
    'settings.weight',
    'settings.maxRunning',
    'settings.paused',
  ],
  'GET /audit': ['at', 'by', 'action', 'target', 'status', 'outcome', 'requestId'],
};

/** How much is written, in which form. */
export const EXPORT_FIELDS: {
  readonly format: Field<ExportFormat | undefined>;
  readonly limit: Field<number | undefined>;
  readonly cursor: Field<string | undefined>;
} = {
  format: choice(
    `The form of the rows; \`${EXPORT_FORMATS[0]}\` unless it is said.`,
    EXPORT_FORMATS,
  ),
  limit: integer(`Rows at most; ${EXPORT_ROWS.usual} unless it is said.`, {
    least: 1,
    most: EXPORT_ROWS.most,
  }),
  cursor: text('What the last line of an export that was cut says.'),
};

/** `/export/…` */
export const EXPORT_ROUTES: readonly ExportRoute[] = ROUTES.flatMap((of) => {
  const columns = COLUMNS[of.name];
  return columns === undefined ? [] : [exportOf(of, columns)];
});

function exportOf(of: Route, columns: readonly string[]): ExportRoute {
  const { method, path, needs, users, query } = of;
  return {
    name: `${method} /export${path}`,
    method,
    path: `/export${path}`,
    summary: `Rows of \`${of.name}\`, page after page, as JSON lines or CSV.`,
    needs,
    users,
    query: { ...query, ...EXPORT_FIELDS },
    types: EXPORT_FORMATS.map((format) => EXPORT_TYPES[format]),
    schema: { type: 'string' },
    of,
    columns,
  };
}
