import type {
  SeriesPoint,
  SeriesReport,
  SeriesSums,
  SeriesUser,
} from '../../client/facades/series-report.ts';
import { SERIES_COUNTS, type SeriesCount } from '../../domain/series/series-row.ts';
import { shownLength } from '../terminal/moments.ts';
import { sparkline } from '../terminal/sparkline.ts';
import type { Style } from '../terminal/style.ts';
import { type Column, cellText, textTable } from '../terminal/text-table.ts';
import { type ShownBy, thing } from '../views/shown.ts';

/** `fairloom series` */
export const SERIES: ShownBy = thing('series', (report, { style }) => ({
  id: report.points.map(({ at }) => String(at)),
  text: reportLines(report, style),
}));

/** What is drawn, a line each. */
const DRAWN: readonly SeriesCount[] = ['enqueued', 'started', 'finished', 'failed'];

function reportLines(report: SeriesReport, style: Style): readonly string[] {
  const { points, users = [], others, from, to } = report;
  const width = Math.max(...DRAWN.map(({ length }) => length));
  const drawings = DRAWN.map((what) => {
    const line = sparkline(points.map((point) => point[what]));
    return `${style.dim(what.padEnd(width))}  ${line}`;
  });
  const busy = points.filter(hasCounts);
  const span = `${moment(from)} to ${moment(to)}`;
  if (busy.length === 0) return [`nothing was counted from ${span}`];
  const rest = others === undefined ? [] : [{ user: 'others', queue: '', ...others }];
  return [
    style.dim(span),
    ...drawings,
    '',
    ...tableOf(busy, [{ title: 'FROM', cell: ({ at }) => moment(at) }, ...COLUMNS], style),
    ...(users.length + rest.length === 0
      ? []
      : ['', ...tableOf([...users, ...rest], [...WHOSE, ...COLUMNS], style)]),
  ];
}

function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  style: Style,
): readonly string[] {
  const [heading = '', ...lines] = textTable(rows, columns);
  return [style.bold(heading), ...lines];
}

function hasCounts(point: SeriesPoint): boolean {
  return SERIES_COUNTS.some((what) => point[what] > 0);
}

const WHOSE: readonly Column<Pick<SeriesUser, 'user' | 'queue'>>[] = [
  { title: 'USER', cell: ({ user }) => cellText(user) },
  { title: 'QUEUE', cell: ({ queue }) => queue },
];

const COLUMNS: readonly Column<SeriesSums>[] = [
  ...SERIES_COUNTS.map((what): Column<SeriesSums> => {
    return { title: what.toUpperCase(), cell: (sums) => String(sums[what]), align: 'right' };
  }),
  ...(['wait', 'run'] as const).flatMap((what) =>
    (['p50', 'p95'] as const).map((rank): Column<SeriesSums> => {
      const cell = (sums: SeriesSums): string => {
        const ms = sums[what]?.[rank];
        return ms === undefined ? '–' : shownLength(ms);
      };
      return { title: `${what} ${rank}`.toUpperCase(), cell, align: 'right' };
    }),
  ),
];

/** In UTC, as far as minutes. */
function moment(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}
