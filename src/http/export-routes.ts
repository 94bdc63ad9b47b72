/** Routes that answer all pages of a listing at once, for spreadsheets and scripts. */
import { choice, type Field, integer, text } from '../operations/fields.ts';
import { EXPORT_FORMATS, EXPORT_ROWS, EXPORT_TYPES, type ExportFormat } from './export.ts';
import { type OtherRoute, ROUTES, type Route } from './routes.ts';

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
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
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
  format: choice(`The form of the rows; \`${EXPORT_FORMATS[0]}\` by default.`, EXPORT_FORMATS),
  limit: integer(`Rows at most; default: ${EXPORT_ROWS.usual}.`, {
    least: 1,
    most: EXPORT_ROWS.most,
  }),
  cursor: text('The cursor in the last line of an export that was cut.'),
};

/** `/export/…` */
export const EXPORT_ROUTES: readonly ExportRoute[] = ROUTES.flatMap((of) => {
  const columns = COLUMNS[of.name];
  return columns === undefined ? [] : [exportOf(of, columns)];
});

function exportOf(of: Route, columns: readonly string[]): ExportRoute {
  const { method, path, needs, effect, users, status, query } = of;
  return {
    name: `${method} /export${path}`,
    method,
    path: `/export${path}`,
    help: `Rows of \`${of.name}\`, page after page, as JSON lines or CSV.`,
    needs,
    effect,
    users,
    status,
    query: { ...query, ...EXPORT_FIELDS },
    types: EXPORT_FORMATS.map((format) => EXPORT_TYPES[format]),
    schema: { type: 'string' },
    of,
    columns,
  };
}
