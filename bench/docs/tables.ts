/** The tables of docs/performance.md, made from the newest results of each bench. */
import { BENCHES } from '../benches.ts';
import type { Bench, Figures, Goal, Row, SideName, TableName } from '../kit/bench.ts';
import { newestResults, type Result } from '../kit/results.ts';
import { median } from '../kit/statistics.ts';

interface TableSpec {
  readonly name: TableName;
  readonly title: string;
  /** Columns after that of the row's own subject. */
  readonly others: readonly (readonly [SideName, string])[];
}

const TABLES: readonly TableSpec[] = [
  {
    name: 'redis',
    title: 'On Redis',
    others: [
      ['bullmq', 'BullMQ'],
      ['bee-queue', 'bee-queue'],
    ],
  },
  {
    name: 'fairness',
    title: 'Fairness',
    others: [
      ['bullmq', 'BullMQ, one queue'],
      ['bullmq-priority', 'BullMQ, priorities'],
      ['bullmq-queues', 'BullMQ, queue per user'],
      ['bee-queue', 'bee-queue'],
    ],
  },
  {
    name: 'embedded',
    title: 'Embedded',
    others: [
      ['fastq', 'fastq (promises)'],
      ['p-queue', 'p-queue'],
    ],
  },
  {
    name: 'durable',
    title: 'On disk, without a server',
    others: [
      ['plainjob', 'plainjob (SQLite)'],
      ['bullmq', 'BullMQ, AOF `always`'],
      ['fdatasync', 'write and `fdatasync`'],
    ],
  },
  {
    name: 'workflows',
    title: 'Workflows',
    others: [
      ['fairloom-plain', 'plain tasks'],
      ['fairloom-copies', 'a graph for each run'],
      ['bullmq', 'BullMQ flows'],
    ],
  },
  {
    name: 'looking',
    title: 'Monitoring',
    others: [],
  },
  {
    name: 'scripts',
    title: 'The longest scripts',
    others: [],
  },
];

type Results = ReadonlyMap<SideName, Result>;

/** Everything between the markers of the page. */
export function renderTables(): string {
  const results = new Map(BENCHES.map((bench) => [bench, newestResults(bench)]));
  return [
    ...TABLES.flatMap((table) => renderTable(table, results)),
    '### How each is measured',
    '',
    ...BENCHES.map(({ name, about }) => `- \`${name}\`: ${about}`),
    '',
    '### Where and with what',
    '',
    ...origins([...results.values()]),
  ].join('\n');
}

function renderTable(
  { name, title, others }: TableSpec,
  results: ReadonlyMap<Bench, Results>,
): readonly string[] {
  const head = ['measure', 'Fairloom', ...others.map(([, label]) => label), 'to reach', 'reached'];
  const rows = [...results].flatMap(([bench, sides]) =>
    bench.rows
      .filter((row) => row.table === name)
      .map((row) => `| ${cells(row, sides, others).join(' | ')} |`),
  );
  const line = head.map((_, at) => (at === 0 || at > others.length + 1 ? '---' : '---:'));
  return [`### ${title}`, '', `| ${head.join(' | ')} |`, `|${line.join('|')}|`, ...rows, ''];
}

function cells(
  row: Row,
  sides: Results,
  others: readonly (readonly [SideName, string])[],
): readonly string[] {
  const subject = sides.get(row.subject ?? 'fairloom');
  return [
    row.unit === '' ? row.measure : `${row.measure}, ${row.unit}`,
    `**${shown(row, subject?.medians)}**`,
    ...others.map(([side]) => compared(row, subject, sides.get(side))),
    row.goals.map((goal) => asked(row, goal)).join(', ') || '–',
    reached(row, subject, sides),
  ];
}

/** The other side's figure, and the factor of ours. */
function compared(row: Row, subject: Result | undefined, other: Result | undefined): string {
  const figure = shown(row, other?.medians);
  const times =
    subject === undefined || other === undefined ? Number.NaN : ratio(row, subject, other);
  return Number.isFinite(times) ? `${figure} (${digits(times)}×)` : figure;
}

/** The median over the rounds, in each of which both sides ran one after the other. */
function ratio(row: Row, subject: Result, other: Result): number {
  const metric = row.metrics[0] ?? '';
  const ratios = subject.rounds.map((ours, round) => {
    const value = ours[metric] ?? Number.NaN;
    const theirs = other.rounds[round]?.[metric] ?? Number.NaN;
    return row.better === 'more' ? value / theirs : theirs / value;
  });
  return median(ratios);
}

function shown({ metrics }: Row, figures: Figures | undefined): string {
  if (figures === undefined) return '–';
  const values = metrics.map((metric) => figures[metric]);
  if (values.every((value) => value === undefined)) return '–';
  return values.map((value) => (value === undefined ? '–' : digits(value))).join(' / ');
}

function asked({ better }: Row, goal: Goal): string {
  if (goal.kind === 'most') return `${goal.of ?? ''} ≤ ${digits(goal.value)}`.trim();
  if (goal.kind === 'least') return `≥ ${digits(goal.value)}`;
  const { side, times } = goal;
  if (times === 1) return `${better === 'more' ? '≥' : '≤'} ${side}`;
  return `≥ ${digits(times)}× ${side}`;
}

function reached(row: Row, subject: Result | undefined, sides: Results): string {
  if (row.goals.length === 0 || subject === undefined) return '–';
  const missed = row.goals.filter((goal) => !holds(row, goal, { subject, sides }));
  return missed.length === 0 ? 'yes' : `no: ${missed.map((goal) => asked(row, goal)).join(', ')}`;
}

function holds(
  row: Row,
  goal: Goal,
  { subject, sides }: { readonly subject: Result; readonly sides: Results },
): boolean {
  if (goal.kind === 'times') {
    const other = sides.get(goal.side);
    return other !== undefined && ratio(row, subject, other) >= goal.times;
  }
  const value = subject.medians[goal.metric] ?? Number.NaN;
  return goal.kind === 'most' ? value <= goal.value : value >= goal.value;
}

/** Three significant digits, whole numbers from 100 on. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** One line for each machine, versions and commit that results of the page come from. */
function origins(results: readonly Results[]): readonly string[] {
  const lines = results
    .flatMap((sides) => [...sides.values()])
    .map(({ machine, versions, commit, at }) => {
      const { cores, cpu, memoryGb, os } = machine;
      const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
      const where = `${cores} cores (${cpu}), ${memoryGb} GB, ${os}`;
      return `- ${at.slice(0, 10)}, commit \`${commit}\`: ${where}; ${used.join(', ')}`;
    });
  const distinct = [...new Set(lines)];
  return distinct.length === 0 ? ['- no results yet'] : distinct;
}
